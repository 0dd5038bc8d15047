"""Problems in the memory of a device: with CuPy and PyTorch where there is a GPU, and with a stand-in
for both everywhere, whose memory is that of the host."""

import gc

import numpy as np
import pytest
import scipy.linalg as dense
import scipy.sparse as sp
from conftest import mass_matrix, path_eigenvalues, path_laplacian, residuals
from device_stand_in import Array, Operator, StandIn, install, on_device

import heddle
from heddle import _inputs


def host(X):
    """An array of any library as one of NumPy."""
    if hasattr(X, "get"):
        return X.get()
    return X.cpu().numpy() if hasattr(X, "cpu") else np.asarray(X)


class Stand:
    """The stand-in, as `Cupy` and `Torch` are for their libraries."""

    array = staticmethod(on_device)
    matrix = staticmethod(on_device)
    kind = Array

    @staticmethod
    def operator(A):
        return Operator(A)

    @staticmethod
    def address(A):
        return A.data.__array_interface__["data"][0]

    @staticmethod
    def order(X):
        return on_device(np.asfortranarray(X))


class Cupy:
    def __init__(self):
        import cupy
        import cupyx.scipy.sparse as sparse
        import cupyx.scipy.sparse.linalg as linalg

        self.array, self.matrix, self.kind = cupy.asarray, sparse.csr_matrix, cupy.ndarray
        self.operator, self.order = linalg.aslinearoperator, cupy.asfortranarray
        self.sparse, self.cupy = sparse, cupy

    @staticmethod
    def address(A):
        return A.data.data.ptr


class Torch:
    def __init__(self, place):
        import torch

        self.torch, self.kind, self.place = torch, torch.Tensor, place

    def array(self, x):
        return self.torch.from_numpy(np.ascontiguousarray(x)).to(self.place)

    def matrix(self, A, index=np.int64):
        parts = [self.torch.from_numpy(part.astype(index)) for part in (A.indptr, A.indices)]
        values = self.torch.from_numpy(A.data)
        return self.torch.sparse_csr_tensor(*parts, values, size=A.shape).to(self.place)

    @staticmethod
    def address(A):
        return A.values().data_ptr()

    @staticmethod
    def order(X):
        return X.T.contiguous().T


def _gpu_is_missing():
    if not heddle.has_cuda:
        return "this build has no CUDA"
    try:
        heddle._core.Device("cuda")
    except heddle.DeviceError as error:
        return str(error)
    return ""


@pytest.fixture(params=["stand-in", "torch-on-host", "cupy", "torch"])
def library(request, monkeypatch):
    """A library of arrays, and how the tests make arrays of it."""
    if request.param == "stand-in":
        install(monkeypatch)
        return Stand()
    if request.param == "torch-on-host":
        pytest.importorskip("torch")
        install(monkeypatch)
        return Torch("cpu")
    module = pytest.importorskip(request.param)
    if reason := _gpu_is_missing():
        pytest.skip(reason)
    return Cupy() if module.__name__ == "cupy" else Torch("cuda")


@pytest.mark.parametrize("which", ["SA", "LA", "LM", "BE"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_eigsh(library, which, dtype):
    A = path_laplacian(200).astype(dtype)
    w, v = heddle.eigsh(library.matrix(A), 4, which=which)
    assert isinstance(w, library.kind) and isinstance(v, library.kind)
    w, v = host(w), host(v)
    assert w.dtype == dtype and v.dtype == dtype
    truth = path_eigenvalues(200)
    chosen = {"SA": truth[:4], "LA": truth[-4:], "LM": truth[-4:], "BE": truth[[0, 1, -2, -1]]}[which]
    eps = np.finfo(dtype).eps
    np.testing.assert_allclose(w, chosen, atol=200 * eps)
    np.testing.assert_allclose(v.T @ v, np.eye(4), atol=1000 * eps)
    assert residuals(A.astype(float), w.astype(float), v.astype(float)).max() < 1e-6


@pytest.mark.parametrize("method", ["auto", "lobpcg", "block_lanczos"])
def test_pencils(library, pencil, method):
    A, M, truth = pencil
    w, v = heddle.eigsh(library.matrix(A), 5, M=library.matrix(M), which="SA", method=method)
    np.testing.assert_allclose(host(w), truth[:5], rtol=1e-9)
    v = host(v)
    np.testing.assert_allclose(v.T @ (M @ v), np.eye(5), atol=1e-8)
    diagonal = sp.diags_array(np.linspace(1, 2, 200), format="csr")
    w = heddle.eigsh(library.matrix(A), 2, M=library.matrix(diagonal), which="LA", method=method)[0]
    wanted = dense.eigh(A.toarray(), diagonal.toarray(), eigvals_only=True)[-2:]
    np.testing.assert_allclose(host(w), wanted, rtol=1e-9)


def test_shift_and_interval(library):
    A, truth = path_laplacian(120), path_eigenvalues(120)
    w = heddle.eigsh(library.matrix(A), 3, sigma=0, return_eigenvectors=False)
    np.testing.assert_allclose(host(w), truth[:3], rtol=1e-9)
    w, v = heddle.eigsh_interval(library.matrix(A), (1.0, 1.2))
    np.testing.assert_allclose(host(w), truth[(truth >= 1) & (truth <= 1.2)], rtol=1e-9)
    density = heddle.spectral_density(library.matrix(A))
    assert abs(density.count(0, 2)[0] - 60) < 10


def test_lobpcg_with_start_constraints_and_preconditioner(library):
    A, truth = path_laplacian(150), path_eigenvalues(150)
    vectors = dense.eigh(A.toarray())[1]
    X = np.random.default_rng(0).standard_normal((150, 3))
    D = sp.diags_array(np.full(150, 0.5), format="csr")
    start, first = library.order(library.array(X)), library.array(vectors[:, :2].copy())
    w, v = heddle.lobpcg(
        library.matrix(A), start, M=library.matrix(D), Y=first, largest=False, tol=1e-8, maxiter=3000
    )
    assert isinstance(v, library.kind)
    np.testing.assert_allclose(host(w), truth[2:5], rtol=1e-6)
    np.testing.assert_allclose(host(start), X)


@pytest.mark.parametrize("which", ["LM", "SM"])
def test_svds(library, which):
    A = sp.random_array((120, 80), density=0.2, rng=np.random.default_rng(1), format="csr")
    truth = np.linalg.svd(A.toarray(), compute_uv=False)
    u, s, vh = (host(part) for part in heddle.svds(library.matrix(A), 4, which=which))
    np.testing.assert_allclose(s, np.sort(truth[:4] if which == "LM" else truth[-4:]), rtol=1e-8)
    np.testing.assert_allclose(A @ vh.T, u * s, atol=1e-7)
    v0 = np.random.default_rng(2).standard_normal(120)
    s = heddle.svds(library.matrix(A), 2, v0=library.array(v0), return_singular_vectors=False)
    np.testing.assert_allclose(host(s), truth[:2][::-1], rtol=1e-8)


@pytest.mark.parametrize("shape", [(300,), (300, 1), (300, 5), (300, 0)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_cg(library, shape, dtype):
    A = (path_laplacian(300) + sp.eye_array(300) * 0.01).tocsr().astype(dtype)
    b = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    given = library.array(b)
    x, info = heddle.cg(library.matrix(A), given, rtol=1e-5)
    assert info == 0 and isinstance(x, library.kind) and tuple(x.shape) == shape
    np.testing.assert_allclose(A @ host(x), b, atol=1e-4 * max(1, np.abs(b).max(initial=0)))
    np.testing.assert_array_equal(host(given), b)
    if shape == (300, 5):
        again, info = heddle.cg(library.matrix(A), library.order(given), x0=x, rtol=1e-5)
        np.testing.assert_allclose(A @ host(again), b, atol=1e-4 * np.abs(b).max())


def test_lstsq_and_the_result_of_solve(library):
    A = sp.random_array((200, 60), density=0.1, rng=np.random.default_rng(1), format="csr")
    b = np.random.default_rng(2).standard_normal(200)
    x, squares, rank, s = heddle.lstsq(library.matrix(A), library.array(b))
    wanted, error = np.linalg.lstsq(A.toarray(), b)[:2]
    np.testing.assert_allclose(host(x), wanted, atol=1e-6)
    np.testing.assert_allclose(host(squares), error, rtol=1e-9)
    assert isinstance(x, library.kind) and rank is None and s is None
    result = heddle.solve(library.matrix(path_laplacian(80)), nev=3, which="largest")
    assert result.converged and isinstance(result.vectors, library.kind)
    assert isinstance(result.eigenvalues, np.ndarray) and "converged" in repr(result)


def test_functions_and_operators(library):
    A = path_laplacian(200) + sp.eye_array(200) * 0.1
    B = library.matrix(A.tocsr())
    b = library.array(np.ones((200, 3)))
    seen = []

    def product(X):
        assert isinstance(X, library.kind) and X.shape[0] == 200
        seen.append(X)  # which belongs to the function
        return B @ X

    x, info = heddle.cg(product, b, rtol=1e-8)
    assert info == 0 and seen
    np.testing.assert_allclose(A @ host(x), np.ones((200, 3)), atol=1e-7)
    np.testing.assert_allclose(host(B @ seen[-1]), A @ host(seen[-1]), atol=1e-12)
    x = heddle.cg(B, b, M=lambda X: 0.4 * X, rtol=1e-8)[0]
    np.testing.assert_allclose(A @ host(x), np.ones((200, 3)), atol=1e-7)
    X = library.array(np.random.default_rng(0).standard_normal((200, 2)))
    w = heddle.lobpcg(product, X, largest=True, tol=1e-8, maxiter=2000)[0]
    np.testing.assert_allclose(host(w), path_eigenvalues(200)[:-3:-1] + 0.1, rtol=1e-6)
    if hasattr(library, "operator"):
        w = heddle.eigsh(library.operator(B), 2, which="LA", return_eigenvectors=False)
        np.testing.assert_allclose(host(w), path_eigenvalues(200)[-2:] + 0.1, rtol=1e-9)


def test_what_functions_return_is_checked(library):
    b = library.array(np.ones((50, 2)))
    with pytest.raises(ValueError, match=r"A returned the shape \(50, 1\) for .* \(50, 2\)"):
        heddle.cg(lambda X: X[:, :1], b)
    with pytest.raises(TypeError, match="the result of A lies in host memory"):
        heddle.cg(lambda X: host(X), b)
    with pytest.raises(ZeroDivisionError):
        heddle.cg(lambda X: X / (1 // 0), b)


def test_values_are_not_copied(library):
    A = library.matrix(path_laplacian(1000))
    operand, kept = _inputs.matrix(A, "A"), []
    assert operand.core(np.dtype(float), kept).values == library.address(A)
    assert operand.core(np.dtype(np.float32), kept).values != library.address(A)


def test_dense_matrices_and_strided_vectors(library):
    A = path_laplacian(60)
    w = heddle.eigsh(library.array(A.toarray()), 3, which="SA", return_eigenvectors=False)
    np.testing.assert_allclose(host(w), path_eigenvalues(60)[:3], rtol=1e-9)
    wide = library.array(np.arange(240.0).reshape(60, 4))
    for part, given in ((wide[:, 1], np.arange(1.0, 240, 4)), (wide[:, 1:3], None)):
        x, info = heddle.cg(library.matrix(A), part, rtol=1e-9)
        wanted = host(wide)[:, 1:3] if given is None else given
        assert info == 0
        np.testing.assert_allclose(A @ host(x), wanted, atol=1e-6 * np.abs(wanted).max())


def test_equal_bits(library):
    """The same call gives the same bits, and on the stand-in those of the host."""
    A, b = path_laplacian(500) + sp.eye_array(500), np.random.default_rng(0).standard_normal((500, 4))
    A = A.tocsr()
    solve = lambda: host(heddle.cg(library.matrix(A), library.array(b), rtol=1e-8, method="block_cg")[0])
    np.testing.assert_array_equal(solve(), solve())
    if isinstance(library, Stand):
        x = heddle.cg(A, b, rtol=1e-8, preconditioner="jacobi", device="host")[0]
        y = heddle.cg(library.matrix(A), library.array(b), rtol=1e-8, preconditioner="jacobi")[0]
        np.testing.assert_array_equal(x, host(y))


def test_limits_callbacks_and_failures(library):
    A, b = library.matrix(path_laplacian(2000)), library.array(np.ones(2000))
    with pytest.raises(heddle.NotConverged) as failure:
        heddle.cg(A, b, rtol=1e-12, maxiter=3, preconditioner="none", on_failure="raise")
    assert isinstance(failure.value.result.vectors, library.kind)
    states = []
    heddle.cg(A, b, rtol=1e-12, preconditioner="none", callback=lambda s: states.append(s) or False)
    assert len(states) == 1


def hermitian(n):
    """A chain with complex hopping, and its dense form."""
    hop = np.exp(0.3j * np.arange(n - 1))
    A = sp.diags_array([3 + np.arange(n) % 3 + 0j, -hop, -hop.conj()], offsets=[0, 1, -1]).tocsr()
    return A, A.toarray()


@pytest.mark.parametrize("scalar", [np.complex64, np.complex128])
def test_complex_numbers(library, scalar):
    A, full = hermitian(400)
    there = library.matrix(A.astype(scalar))
    digits = {"rtol": 1e-5 if scalar == np.complex64 else 1e-9}
    exact = np.linalg.eigvalsh(full)
    largest = np.sort(exact[np.argsort(-abs(exact))[:4]])
    both = np.concatenate([exact[:2], exact[-2:]])
    for which, truth in (("SA", exact[:4]), ("LA", exact[-4:]), ("LM", largest), ("BE", both)):
        w, v = heddle.eigsh(there, 4, which=which)
        w = host(w)
        assert isinstance(v, library.kind) and str(v.dtype).endswith(np.dtype(scalar).name)
        np.testing.assert_allclose(w, truth, **digits)
        x = host(v).astype(complex)
        assert np.linalg.norm(full @ x - x * w) < 1e-4
    near = exact[np.argsort(abs(exact - 3.3))[:4]]
    np.testing.assert_allclose(host(heddle.eigsh(there, 4, sigma=3.3)[0]), np.sort(near), **digits)
    inside = exact[(exact > 3) & (exact < 3.2)]
    np.testing.assert_allclose(host(heddle.eigsh_interval(there, (3, 3.2))[0]), inside, **digits)
    b = np.exp(1j * np.arange(400))
    x, info = heddle.cg(there, library.array(b.astype(scalar)), rtol=1e-6)
    assert info == 0 and isinstance(x, library.kind)
    assert np.linalg.norm(full @ host(x) - b) < 1e-4 * np.linalg.norm(b)
    density = heddle.spectral_density(there)
    assert abs(density.count(0, 100)[0] - 400) < 1e-6


def test_a_complex_pencil_with_a_real_mass_has_orthonormal_pairs_of_both_ends(library):
    A, full = hermitian(300)
    M = mass_matrix(300)
    w, v = heddle.eigsh(library.matrix(A), 6, M=library.matrix(M), which="BE")
    exact = dense.eigh(full, M.toarray(), eigvals_only=True)
    np.testing.assert_allclose(host(w), np.concatenate([exact[:3], exact[-3:]]), rtol=1e-9)
    x = host(v)
    np.testing.assert_allclose(x.conj().T @ (M @ x), np.eye(6), atol=1e-9)
    assert np.linalg.norm(full @ x - (M @ x) * host(w)) < 1e-5


def test_a_complex_block_makes_a_problem_complex(library):
    A = path_laplacian(200)
    rng = np.random.default_rng(1)
    X = rng.standard_normal((200, 3)) + 1j * rng.standard_normal((200, 3))
    Y = np.linalg.eigh(A.toarray())[1][:, :2] @ np.array([[1], [1j]]) / np.sqrt(2)
    w, v = heddle.lobpcg(library.matrix(A), library.array(X), Y=library.array(Y), largest=False, tol=1e-9)
    assert np.linalg.norm(Y.conj().T @ host(v)) < 1e-6
    exact = path_eigenvalues(200)
    np.testing.assert_allclose(np.sort(host(w))[1:], exact[2:4], rtol=1e-6)


def test_conjugates_are_no_views_of_other_numbers(library):
    """PyTorch conjugates by a bit of a view."""
    A, full = hermitian(60)
    b = library.array(np.exp(1j * np.arange(60))).conj()
    x, _ = heddle.cg(library.matrix(A), b, rtol=1e-10)
    np.testing.assert_allclose(host(x), np.linalg.solve(full, np.exp(-1j * np.arange(60))), rtol=1e-7)


def test_complex_columns_are_not_taken_for_rows(library):
    """A matrix by columns is the conjugate of its arrays read as rows."""
    if not hasattr(library, "sparse"):
        pytest.skip("CuPy has matrices by columns")
    A, full = hermitian(60)
    b = np.exp(1j * np.arange(60))
    x, _ = heddle.cg(library.sparse.csc_matrix(library.matrix(A)), library.array(b), rtol=1e-10)
    np.testing.assert_allclose(host(x), np.linalg.solve(full, b), rtol=1e-7)


def test_a_real_matrix_with_complex_right_hand_sides(library):
    A = path_laplacian(60) + sp.eye_array(60)
    b = np.exp(1j * np.arange(60))
    x, info = heddle.cg(library.matrix(A.tocsr()), library.array(b), rtol=1e-10)
    assert info == 0
    np.testing.assert_allclose(host(x), np.linalg.solve(A.toarray(), b), rtol=1e-7)


def test_refusals(library):
    A = library.matrix(path_laplacian(40))
    b = library.array(np.ones(40))
    with pytest.raises(TypeError, match="A lies in host memory, but b on GPU 0, in"):
        heddle.cg(path_laplacian(40), b)
    with pytest.raises(TypeError, match="A lies on GPU 0, in .*, but b in host memory"):
        heddle.cg(A, np.ones(40))
    with pytest.raises(TypeError, match="but M in host memory"):
        heddle.eigsh(A, 2, M=mass_matrix(40))
    with pytest.raises(ValueError, match="device is 'host', but the problem lies on GPU 0"):
        heddle.cg(A, b, device="host")
    with pytest.raises(ValueError, match="devices is 2, but the problem lies on GPU 0, which solves it"):
        heddle.cg(A, b, devices=2)
    with pytest.raises(TypeError, match="A lies on GPU 0, in .*, but b in host memory"):
        heddle.cg(A, np.ones(40, dtype=complex))
    with pytest.raises(ValueError, match="multigrid takes real matrices only"):
        heddle.cg(A, library.array(np.ones(40, dtype=complex)), preconditioner="multigrid")
    with pytest.raises(ValueError, match="A: the matrix is not Hermitian"):
        heddle.eigsh(library.array(1j * np.eye(40)), 2, which="SA")
    with pytest.raises(TypeError, match="the result of A has the type float64 for a block of complex128"):
        heddle.cg(lambda X: (X * 2).real, library.array(np.ones((40, 1), dtype=complex)))
    with pytest.raises(TypeError, match="b is sparse, it must be an array"):
        heddle.cg(A, A)
    with pytest.raises(ValueError, match="b has 39 rows where 40 are needed"):
        heddle.cg(A, b[:39])
    with pytest.raises(ValueError, match="precision: arrays on a device are used as they are"):
        heddle.cg(A, b, precision="mixed")
    with pytest.raises(TypeError, match="graph lies in the memory of a GPU; here it must be in host"):
        heddle.fiedler(A)
    skew = path_laplacian(40).tolil()
    skew[3, 4] = 7
    with pytest.raises(ValueError, match="A: the matrix is not symmetric: .* differ by up to 8"):
        heddle.eigsh(library.matrix(skew.tocsr()), 2)
    with pytest.raises(ValueError, match="A: the matrix is 3 x 4, it must be square"):
        heddle.eigsh(library.matrix(sp.csr_array(np.ones((3, 4)))), 2)
    negative = library.matrix(sp.diags_array(np.arange(40.0) - 1, format="csr"))
    with pytest.raises(ValueError, match=r"M: .* not positive definite: diagonal entry M\[0, 0\] is -1"):
        heddle.eigsh(A, 2, M=negative, which="SA")
    with pytest.raises(ValueError, match="A: the largest entry of the matrix is 2e-200: pass all matrices"):
        tiny = library.matrix(path_laplacian(40) * 1e-200)
        heddle.cg(tiny, b, M=lambda X: X)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64])
def test_integers_become_doubles(library, dtype):
    A = path_laplacian(60)
    dense_A = library.array(A.toarray().astype(np.int64))
    b = library.array(np.arange(60).astype(dtype))
    x, info = heddle.cg(dense_A, b, rtol=1e-12)
    assert info == 0 and isinstance(x, library.kind) and host(x).dtype == np.float64
    np.testing.assert_allclose(A @ host(x), np.arange(60), atol=1e-9)
    w, _ = heddle.eigsh(dense_A, 3, which="SA", v0=b)
    np.testing.assert_allclose(host(w), path_eigenvalues(60)[:3], atol=1e-13)
    counted = heddle.cg(lambda X: library.array(host(X) * 2), library.array(np.ones(60, bool)))[0]
    np.testing.assert_array_equal(host(counted), np.full(60, 0.5))


def test_sparse_integers_and_booleans_become_doubles(library):
    flags = sp.csr_array(np.eye(9, dtype=bool) | np.eye(9, k=1, dtype=bool) | np.eye(9, k=-1, dtype=bool))
    w, _ = heddle.eigsh(library.matrix(flags), 2, which="LA")
    np.testing.assert_allclose(host(w), 1 + 2 * np.cos(np.pi * np.array([2, 1]) / 10), atol=1e-13)
    if isinstance(library, Cupy):
        pytest.skip("sparse matrices of CuPy hold no integers")
    w, _ = heddle.eigsh(library.matrix(flags.astype(np.int64)), 2, which="LA")
    np.testing.assert_allclose(host(w), 1 + 2 * np.cos(np.pi * np.array([2, 1]) / 10), atol=1e-13)
    large = flags.astype(np.int64)
    large[3, 4] = large[4, 3] = 2**53 + 1
    with pytest.raises(ValueError, match=r"A\[3, 4\] is 9007199254740993"):
        heddle.eigsh(library.matrix(large), 2)


def test_integers_that_doubles_do_not_hold_are_refused(library):
    A = library.matrix(path_laplacian(9))
    b = np.ones(9, dtype=np.int64)
    b[5] = -(2**53) - 1
    with pytest.raises(ValueError, match=r"b\[5\] is -9007199254740993"):
        heddle.cg(A, library.array(b))
    large = np.eye(9, dtype=np.int64)
    large[2, 2] = 2**53 + 1
    with pytest.raises(ValueError, match=r"A\[2, 2\] is 9007199254740993"):
        heddle.cg(library.array(large), library.array(np.ones(9)))


def _held_chain(n, s):
    A = path_laplacian(n).tolil()  # which holds both ends
    A[0, 0] = 1 + s
    return A.tocsr()


@pytest.mark.parametrize("s", [1e10, 1e14, 1e20, 1e30])
def test_penalties_are_solved_from_host_memory(library, s):
    """Rigid except for 1/s, the penalty leaves the chain of the other unknowns."""
    A = _held_chain(300, s)
    w, v = heddle.eigsh(library.matrix(A), 3, which="SA")
    assert isinstance(w, library.kind) and isinstance(v, library.kind)
    np.testing.assert_allclose(host(w), path_eigenvalues(299)[:3], rtol=1e-11 + 1 / s)
    np.testing.assert_allclose(host(v).T @ host(v), np.eye(3), atol=1e-10)
    result = heddle.solve(library.matrix(A), nev=3)
    assert "copied to host memory" in result.reason and isinstance(result.vectors, library.kind)
    b = np.zeros(300)
    b[0] = 3 * s
    x, info = heddle.cg(library.matrix(A), library.array(b), rtol=1e-10)
    assert info == 0 and isinstance(x, library.kind)
    line = 3 - 3 * np.arange(300) / 300  # the last one is held at 0 by a spring
    np.testing.assert_allclose(host(x), line, atol=1e-6)


def test_masses_of_zero_and_entries_of_any_size(library):
    A = path_laplacian(301)
    M = sp.diags_array(np.arange(301) % 2 * 1.0, format="csr")
    w = heddle.eigsh(library.matrix(A), 3, M=library.matrix(M), which="SA", return_eigenvectors=False)
    np.testing.assert_allclose(host(w), path_eigenvalues(150)[:3] / 2, rtol=1e-11)
    for size in (1e-200, 1e200):
        w = heddle.eigsh(library.matrix(A * size), 3, which="SA", return_eigenvectors=False)
        np.testing.assert_allclose(host(w), path_eigenvalues(301)[:3] * size, rtol=1e-11)


def test_project_rhs(library):
    A = path_laplacian(60).tolil()
    A[0, 0] = A[59, 59] = 1
    A = A.tocsr()
    b = np.random.default_rng(0).standard_normal((60, 2))
    x, info = heddle.cg(library.matrix(A), library.array(b), rtol=1e-10, project_rhs=True)
    assert info == 0 and isinstance(x, library.kind)
    np.testing.assert_allclose(A @ host(x), b - b.mean(axis=0), atol=1e-8)


def test_tensors_in_host_memory():
    """They are taken as arrays of NumPy and SciPy on the same memory."""
    torch = pytest.importorskip("torch")
    A, truth = path_laplacian(100), path_eigenvalues(100)
    parts = [torch.from_numpy(part.astype(np.int32)) for part in (A.indptr, A.indices)]
    tensor = torch.sparse_csr_tensor(*parts, torch.from_numpy(A.data), size=A.shape)
    values = _inputs.matrix(tensor, "A").core.arrays()[2]
    assert values.__array_interface__["data"][0] == tensor.values().data_ptr()
    for given in (tensor, tensor.to_dense(), tensor.to_sparse_coo()):
        w = heddle.eigsh(given, 3, which="SA", return_eigenvectors=False)
        np.testing.assert_allclose(w, truth[:3], rtol=1e-9)
    x, info = heddle.cg(tensor, torch.ones(100, dtype=torch.float64, requires_grad=True))
    assert info == 0 and isinstance(x, np.ndarray)


def test_invalid_sparse_rows(monkeypatch):
    install(monkeypatch)
    A = on_device(path_laplacian(20))
    A.indices[5] = 99
    with pytest.raises(ValueError, match="A: row 2 is not in compressed sparse rows"):
        heddle.eigsh(A, 2)


def test_arrays_of_two_devices(monkeypatch):
    install(monkeypatch)
    A, b = on_device(path_laplacian(40)), on_device(np.ones(40), gpu=1)
    with pytest.raises(TypeError, match="A lies on GPU 0, in StandIn, but b on GPU 1, in StandIn"):
        heddle.cg(A, b)
    assert StandIn(0) != StandIn(1)


def test_many_solves_leave_nothing(library):
    resource = pytest.importorskip("resource")
    A, b = library.matrix(path_laplacian(20_000)), library.array(np.ones((20_000, 4)))

    def peak_after(count):
        for _ in range(count):
            heddle.cg(A, b, maxiter=2, preconditioner="none")
        gc.collect()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = peak_after(50)
    assert peak_after(200) - before < 20_000  # kB; the solutions of 200 solves are 128 MB


def test_streams_of_cupy():
    """Arrays that are still being computed on a stream of the caller are waited for, and so are the
    results."""
    cupy = pytest.importorskip("cupy")
    if reason := _gpu_is_missing():
        pytest.skip(reason)
    from cupyx.scipy import sparse

    A = sparse.csr_matrix(path_laplacian(1000) + sp.eye_array(1000))
    slow = cupy.random.standard_normal((3000, 3000))
    for stream in (cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream.null):
        with stream:
            b = cupy.zeros((1000, 2))
            for _ in range(5):
                slow = slow @ slow / 3000
            b += 1 + 0 * slow[:1000, :2]  # after the products
            x, info = heddle.cg(A, b, rtol=1e-9)
            error = cupy.abs(A @ x - b).max()
        stream.synchronize()
        assert info == 0 and float(error) < 1e-6 and float(b.min()) == 1
