"""One factorisation for many solves, against dense LAPACK and SciPy."""

import copy
import gc
import pickle
import threading

import numpy as np
import pytest
import scipy.linalg as dense
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from conftest import mass_matrix, path_eigenvalues, path_laplacian, random_symmetric

import heddle

EPSILON = np.finfo(float).eps


def backward_error(A, x, b):
    """max |b - A x|_i / (|A| |x| + |b|)_i in units of rounding."""
    return float((abs(A @ x - b) / (abs(A) @ abs(x) + abs(b))).max() / EPSILON)


def saddle_point(n, m):
    """[K Cᵀ; C 0], K definite."""
    C = sp.csr_array((np.tile([1.0, -1.0], m), (np.repeat(range(m), 2), range(2 * m))), shape=(m, n))
    return sp.csr_array(sp.block_array([[random_symmetric(n, 3, 8), C.T], [C, None]]))


def graded(n):
    """Rows whose sizes span 2^60."""
    D = sp.diags_array(2.0 ** (np.arange(n) % 31))
    return sp.csr_array(D @ random_symmetric(n, 4, 4) @ D)


MATRICES = {
    "definite": random_symmetric(150, 1, 8),
    "negative": random_symmetric(150, 2, -8),
    "indefinite": random_symmetric(150, 5, 0),
    "saddle point": saddle_point(120, 30),
    "graded": graded(150),
    "tiny": 1e-200 * random_symmetric(100, 6, 4),
    "order 1": sp.csr_array([[-3.0]]),
}


@pytest.fixture(params=MATRICES)
def matrix(request):
    return MATRICES[request.param]


def test_solves_are_exact_to_rounding(matrix, rng=np.random.default_rng(1)):
    F = heddle.factorized(matrix)
    n = matrix.shape[0]
    for shape in [(n,), (n, 1), (n, 3), (n, 40)]:
        b = rng.standard_normal(shape)
        x = F(b)
        assert x.shape == shape and x.dtype == np.float64
        assert backward_error(matrix, x, b) < 20
    assert F(np.empty((n, 0))).shape == (n, 0)


def test_large_solutions_are_arrays_of_their_own():
    """Blocks of more than 64 KiB come from memory that a context keeps."""
    A = heddle.generate("laplace1d", 20000)
    F = heddle.factorized(A)
    B = np.random.default_rng(2).standard_normal((20000, 3))
    X = [F(B) for _ in range(3)]
    assert all(np.array_equal(each, X[0]) for each in X)
    assert backward_error(A, X[0], B) < 20
    assert heddle.cg(A, B[:, 0], M=F)[1] == 0


def test_solutions_are_those_of_scipy(matrix):
    b = np.random.default_rng(2).standard_normal(matrix.shape[0])
    x, truth = heddle.factorized(matrix)(b), np.linalg.solve(matrix.toarray(), b)
    forward = np.linalg.cond(matrix.toarray() / abs(matrix).max()) * EPSILON
    assert abs(x - truth).max() <= max(100 * forward, 1e-12) * abs(truth).max()
    superlu = sla.factorized(sp.csc_array(matrix))(b)
    assert backward_error(matrix, x, b) <= max(backward_error(matrix, superlu, b), 20)


def test_inertia_is_that_of_a_dense_solve(matrix):
    values = np.linalg.eigvalsh(matrix.toarray() / abs(matrix).max())
    if abs(values).min() > 1e-12:
        F = heddle.factorized(matrix)
        assert F.inertia == ((values < 0).sum(), 0, (values > 0).sum())


def test_shifts_and_pencils():
    A, M = random_symmetric(150, 5), mass_matrix(150)
    values = dense.eigvalsh(A.toarray(), M.toarray())
    b = np.ones((150, 2))
    F = heddle.factorized(A, M=M)
    assert F.shape == (150, 150) and F.sigma == 0 and F.library in ("MUMPS", "Eigen")
    for sigma in (0.5, -0.2, np.float32(0.25), 1):
        F.refactor(sigma=sigma)
        assert F.sigma == sigma and F.inertia[0] == (values < sigma).sum()
        assert backward_error(A - float(sigma) * M, F(b), b) < 20
    assert heddle.factorized(A, sigma=0.5).inertia[0] == (np.linalg.eigvalsh(A.toarray()) < 0.5).sum()


def test_other_values_in_the_pattern():
    A, b = random_symmetric(150, 5, 8), np.ones(150)
    F = heddle.factorized(A, sigma=0.1)
    other = A.copy()
    other.data = np.sin(3 * other.data)
    other = sp.csr_array((other + other.T) / 2)
    F.refactor(other)
    assert F.sigma == 0.1
    assert backward_error(other - 0.1 * sp.eye_array(150), F(b), b) < 20
    fresh = heddle.factorized(other, sigma=0.1)
    assert F.inertia == fresh.inertia and np.array_equal(F(b), fresh(b))
    F.refactor(A, sigma=0)
    assert np.array_equal(F(b), heddle.factorized(A)(b))
    F.refactor(sp.eye_array(150, format="csr"))  # entries that are not there are 0
    assert np.array_equal(F(b), b)
    with pytest.raises(ValueError, match="A: the matrix has entries outside of the pattern"):
        F.refactor(random_symmetric(150, 6, 8))
    with pytest.raises(ValueError, match="A: the matrix has order 149, A had 150"):
        F.refactor(random_symmetric(149, 6, 8))
    assert np.array_equal(F(b), b)  # refused values change nothing


def test_a_singular_matrix_is_an_error_of_numpy():
    singular = [
        sp.csr_array((3, 3)),
        np.ones((4, 4)),
        sp.csr_array(path_laplacian(50) - path_eigenvalues(50)[7] * sp.eye_array(50)),
        sp.block_diag([path_laplacian(20), sp.csr_array((1, 1))], format="csr"),
    ]
    for A in singular:
        with pytest.raises(np.linalg.LinAlgError, match="the matrix is singular to rounding"):
            heddle.factorized(A)
    F = heddle.factorized(path_laplacian(50))
    gone = "the matrix is singular to rounding.*; the factor before is gone, the next refactor makes"
    with pytest.raises(np.linalg.LinAlgError, match=rf"A - 0\.0\d+ I, by {F.library}: {gone}"):
        F.refactor(sigma=path_eigenvalues(50)[3])
    with pytest.raises(ValueError, match="there is no factor to solve with"):
        F(np.ones(50))
    with pytest.raises(np.linalg.LinAlgError, match="the inertia is not certain"):
        F.inertia  # noqa: B018
    F.refactor(sigma=0)
    assert F.inertia == (0, 0, 50)


def test_a_failed_refactor_says_what_is_there():
    M = mass_matrix(50)
    F = heddle.factorized(path_laplacian(50), M=M, sigma=-1)
    singular = sp.csr_array(2.0 * M)
    with pytest.raises(np.linalg.LinAlgError, match=f"A - 2 M, by {F.library}: .*factor before is gone"):
        F.refactor(singular, sigma=2)
    F.refactor(sigma=1)  # 2 M - M
    assert backward_error(M, F(np.ones(50)), np.ones(50)) < 20
    with pytest.raises(np.linalg.LinAlgError, match=f"^A, by {F.library}: the matrix is singular"):
        heddle.factorized(np.ones((4, 4)))


def test_solutions_beyond_the_range_of_numbers():
    A, b = np.diag([1e-200, 1.0, 2.0]), np.ones((3, 4))
    F = heddle.factorized(A)
    for size in (1e150, 1e250, 1e300):
        b[0, 2] = size
        with pytest.raises(OverflowError, match="column 2 leaves the range of float64 numbers: scale"):
            F(b)
    with pytest.raises(OverflowError, match="column 0 leaves"):
        F(b[:, 2])
    with pytest.raises(OverflowError, match="range of float32 numbers"):
        heddle.factorized(np.diag([1e-30, 1]).astype(np.float32))(np.float32([1e30, 1]))


def test_signs_that_are_not_certain_leave_solves():
    A = np.kron(np.eye(10), [[1 + 3e-14, 1], [1, 1 + 3e-14]])
    F, b = heddle.factorized(A), np.arange(20.0)
    with pytest.raises(np.linalg.LinAlgError, match="the inertia is not certain"):
        F.inertia  # noqa: B018
    assert backward_error(A, F(b), b) < 20


@pytest.mark.parametrize(
    ("act", "error", "message"),
    [
        (lambda F: heddle.factorized(np.eye(3) * 1j), ValueError, "A.*not real"),
        (lambda F: heddle.factorized(np.eye(3), M=np.eye(3) * 1j), ValueError, "M.*not real"),
        (lambda F: F.refactor(path_laplacian(60) * 1j), TypeError, "A is complex, the factorised"),
        (lambda F: F(np.ones(59)), ValueError, "b has 59 rows where 60 are needed"),
        (lambda F: F(np.ones((60, 1, 1))), ValueError, "b has 3 dimensions"),
        (lambda F: F(sp.eye_array(60)), TypeError, "b is sparse"),
        (lambda F: F(np.full(60, np.nan)), ValueError, "b contains NaN or infinity"),
        (lambda F: heddle.factorized(np.full((2, 2), np.inf)), ValueError, "A contains NaN"),
        (lambda F: heddle.factorized(np.ones((3, 4))), ValueError, "A: the matrix is 3 x 4"),
        (lambda F: heddle.factorized(np.zeros((0, 0))), ValueError, "A: the matrix has no rows"),
        (lambda F: heddle.factorized([[1, 2], [3, 4]]), ValueError, r"A\[0, 1\] is 2, A\[1, 0\] is 3; "
         "scipy.sparse.linalg.splu takes unsymmetric matrices"),
        (lambda F: heddle.factorized([[1, 2], [2.001, 4]]), ValueError, r"pass \(A \+ A.T\) / 2"),
        (lambda F: heddle.factorized(np.eye(2), M=[[1, 2], [3, 4]]), ValueError, "M: the matrix is n"),
        (lambda F: heddle.factorized(np.eye(3), M=np.eye(4)), ValueError, "M: the matrix has order 4"),
        (lambda F: heddle.factorized(lambda x: x), TypeError, "A must be a matrix whose entries"),
        (lambda F: heddle.factorized(sla.aslinearoperator(np.eye(3))), TypeError, "A must be a mat"),
        (lambda F: heddle.factorized("A"), TypeError, "A is a str"),
        (lambda F: heddle.factorized(np.eye(3), sigma=1j), ValueError, "sigma is 1j, it must be"),
        (lambda F: heddle.factorized(np.eye(3), sigma=np.nan), ValueError, "sigma is nan"),
        (lambda F: F.refactor(sigma="1"), ValueError, "sigma is '1', it must be a real number"),
        (pickle.dumps, TypeError, "a factorisation cannot be pickled or copied"),
        (copy.copy, TypeError, "a factorisation cannot be pickled or copied"),
        (copy.deepcopy, TypeError, "a factorisation cannot be pickled or copied"),
    ],
)  # fmt: skip
def test_what_is_refused(act, error, message):
    with pytest.raises(error, match=message):
        act(heddle.factorized(path_laplacian(60)))


def test_types_and_formats():
    A, b = random_symmetric(60, 7, 8), np.ones(60)
    x = heddle.factorized(A)(b)
    for other in (A.tocsc(), A.tocoo(), A.toarray(), sp.csr_matrix(A), A.toarray().tolist()):
        assert np.array_equal(heddle.factorized(other)(b), x)
    assert np.array_equal(heddle.factorized(A)(b.tolist()), x)
    assert np.array_equal(heddle.factorized(A)(np.asfortranarray(np.c_[b, 2 * b]))[:, 0], x)
    single = A.astype(np.float32)
    assert heddle.factorized(single)(b).dtype == np.float64
    narrow = heddle.factorized(single)(b.astype(np.float32))
    assert narrow.dtype == np.float32
    assert np.array_equal(narrow, heddle.factorized(single.astype(float))(b).astype(np.float32))
    F = heddle.factorized(path_laplacian(60).astype(int))
    assert backward_error(path_laplacian(60), F(b), b) < 20


def test_the_matrix_is_copied():
    A, b = random_symmetric(150, 8, 8), np.ones(150)
    F = heddle.factorized(A)
    x = F(b)
    A.data[:] = np.nan
    del A
    gc.collect()
    assert np.array_equal(F(b), x)
    y = F(b)
    del F
    gc.collect()
    assert np.array_equal(y, x)


def test_threads_share_a_factorisation():
    A = random_symmetric(400, 9)
    F = heddle.factorized(A)
    blocks = [np.random.default_rng(seed).standard_normal((400, 3)) for seed in range(4)]
    truth, found = [F(b) for b in blocks], [None] * 4

    def work(k):
        for _ in range(20):
            found[k] = F(blocks[k])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(x, y) for x, y in zip(found, truth, strict=True))


def test_it_is_a_preconditioner():
    A = path_laplacian(300)
    _, info, stats = heddle.cg(A, np.ones(300), rtol=1e-10, M=heddle.factorized(A), return_stats=True)
    assert info == 0 and stats.iterations <= 2


def test_it_says_what_it_is():
    F = heddle.factorized(path_laplacian(60), sigma=0.5)
    assert repr(F) == f"<Factorized 60 x 60, sigma=0.5, {F.library}>"
