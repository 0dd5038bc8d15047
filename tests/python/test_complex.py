"""Complex matrices and blocks: dense LAPACK is the truth, and what is for real matrices only is refused."""

import numpy as np
import pytest
import scipy.linalg as dense
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from conftest import path_laplacian, residuals

import heddle

N = 180


def random_hermitian(n, seed, shift=0.0):
    """A sparse Hermitian matrix with eigenvalues of both signs for shift 0."""
    rng = np.random.default_rng(seed)
    A, B = (sp.random_array((n, n), density=0.05, rng=rng, format="csr") for _ in range(2))
    A = A + 1j * B
    return sp.csr_array((A + A.conj().T) / 2 - 0.1 * sp.eye_array(n) + shift * sp.eye_array(n))


def random_block(n, columns, seed=7):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, columns)) + 1j * rng.standard_normal((n, columns))


def gram(v, M=None):
    return v.conj().T @ (v if M is None else M @ v)


@pytest.fixture(scope="module")
def hermitian():
    A = random_hermitian(N, 5)
    return A, np.linalg.eigvalsh(A.toarray())


@pytest.fixture(scope="module")
def definite():
    return random_hermitian(N, 6, shift=20.0)


def wanted(values, which, k):
    """The k values that `which` names, ascending."""
    size = np.argsort(np.abs(values), kind="stable")
    chosen = {
        "SA": values[:k],
        "LA": values[-k:],
        "BE": np.r_[values[: k // 2], values[k // 2 - k :]],
        "LM": values[size[-k:]],
        "SM": values[size[:k]],
    }
    return np.sort(chosen[which])


@pytest.mark.parametrize("which", ["SA", "LA", "BE", "LM"])
def test_eigsh_against_dense_lapack(hermitian, which):
    A, values = hermitian
    w, v = heddle.eigsh(A, 5, which=which)
    np.testing.assert_allclose(w, wanted(values, which, 5), atol=1e-11)
    assert v.dtype == np.complex128 and w.dtype == np.float64
    assert residuals(A, w, v).max() < 1e-12
    np.testing.assert_allclose(gram(v), np.eye(5), atol=1e-11)


@pytest.mark.parametrize("which", ["SA", "LA", "BE", "LM"])
@pytest.mark.parametrize("complex_mass", [False, True])
def test_pencils_against_dense_lapack(hermitian, definite, which, complex_mass):
    A = hermitian[0]
    M = definite if complex_mass else sp.csr_array(definite.real)
    w, v = heddle.eigsh(A, 4, M=M, which=which)
    values = dense.eigh(A.toarray(), M.toarray(), eigvals_only=True)
    np.testing.assert_allclose(w, wanted(values, which, 4), atol=1e-12)
    assert residuals(A, w, v, M).max() < 1e-12
    np.testing.assert_allclose(gram(v, M), np.eye(4), atol=1e-11)


def test_a_real_matrix_with_a_complex_mass(definite):
    A = path_laplacian(N)
    w, v = heddle.eigsh(A, 3, M=definite, which="LA")
    truth = dense.eigh(A.toarray(), definite.toarray(), eigvals_only=True)
    np.testing.assert_allclose(w, truth[-3:], rtol=1e-11)
    assert residuals(A, w, v, definite).max() < 1e-12


@pytest.mark.parametrize("sign", [1, -1])
def test_smallest_magnitudes_of_definite_matrices(definite, sign):
    A = sign * definite
    w = heddle.eigsh(A, 3, which="SM", return_eigenvectors=False)
    values = np.linalg.eigvalsh(A.toarray())
    np.testing.assert_allclose(w, wanted(values, "SM", 3), rtol=1e-12)


def test_smallest_magnitudes_inside_a_small_and_a_large_spectrum(hermitian):
    small = random_hermitian(30, 8)
    w = heddle.eigsh(small, 4, which="SM", return_eigenvectors=False)
    truth = wanted(np.linalg.eigvalsh(small.toarray()), "SM", 4)
    np.testing.assert_allclose(w, truth, atol=1e-12)
    A, values = hermitian
    w = heddle.eigsh(A, 4, which="SM", return_eigenvectors=False)
    np.testing.assert_allclose(w, wanted(values, "SM", 4), atol=1e-12)


@pytest.mark.parametrize("mass", [None, "real", "complex"])
def test_pairs_nearest_to_a_number_and_in_an_interval(hermitian, definite, mass):
    A = hermitian[0]
    M = {None: None, "real": sp.csr_array(definite.real), "complex": definite}[mass]
    values = dense.eigh(A.toarray(), None if M is None else M.toarray(), eigvals_only=True)
    sigma = values[N // 2] + 1e-4
    w, v = heddle.eigsh(A, 5, M=M, sigma=sigma)
    nearest = values[np.argsort(np.abs(values - sigma))[:5]]
    np.testing.assert_allclose(w, np.sort(nearest), atol=1e-11)
    assert residuals(A, w, v, M).max() < 1e-11
    np.testing.assert_allclose(gram(v, M), np.eye(5), atol=1e-10)
    a, b = (values[60] + values[61]) / 2, (values[68] + values[69]) / 2
    w, v = heddle.eigsh_interval(A, (a, b), M=M)
    np.testing.assert_allclose(w, values[61:69], atol=1e-11)
    assert residuals(A, w, v, M).max() < 1e-11


def test_copies_at_an_end_of_an_interval():
    A = heddle.generate("haldane", 12, 12)
    values = np.linalg.eigvalsh(A.toarray())
    with pytest.warns(UserWarning, match="beyond an end of the interval"):
        w, v = heddle.eigsh_interval(A, (1.0, 1.2))  # 1 is an eigenvalue
    np.testing.assert_allclose(w, values[(values > 1 - 1e-9) & (values < 1.2)], atol=1e-12)
    assert residuals(A, w, v).max() < 1e-12


def test_counts_prove_the_ends(hermitian):
    A, values = hermitian
    result = heddle.solve(A, nev=3, certify="inertia")
    assert result.converged and result.completeness.proven
    np.testing.assert_allclose(result.eigenvalues, values[:3], atol=1e-11)


@pytest.mark.parametrize("scalar", [np.complex64, np.complex128])
@pytest.mark.parametrize("stored", [True, False])
def test_densities(lattice, scalar, stored):
    A, values = lattice
    A = A.astype(scalar)
    density = heddle.spectral_density(A if stored else sla.aslinearoperator(A))
    assert density.order == len(values)
    assert density.bounds[0] <= values[0] and values[-1] <= density.bounds[1]
    middle = np.median(values)
    expected, deviation = density.count(-np.inf, middle)
    assert abs(expected - len(values) / 2) <= 4 * deviation + 0.02 * len(values)


@pytest.mark.parametrize("which", ["LM", "SM"])
def test_largest_and_smallest_magnitudes_of_an_operator(definite, which):
    operator = sla.aslinearoperator(definite)
    w = heddle.eigsh(operator, 3, which=which, return_eigenvectors=False)
    values = np.linalg.eigvalsh(definite.toarray())
    np.testing.assert_allclose(w, wanted(values, which, 3), rtol=1e-11)


@pytest.fixture(scope="module")
def lattice():
    """A particle among random phases, with more rows than a dense solve is taken for."""
    A = heddle.generate("random_flux3d", 8, 8, 8)
    return A, np.linalg.eigvalsh(A.toarray())


@pytest.mark.parametrize("method", ["lobpcg", "block_lanczos"])
@pytest.mark.parametrize("which", ["smallest", "largest"])
def test_iterations_on_a_lattice(lattice, method, which):
    A, values = lattice
    result = heddle.solve(A, nev=4, which=which, method=method, tolerance=1e-9)
    truth = values[:4] if which == "smallest" else values[:-5:-1]
    assert result.converged and result.iterations > 0
    np.testing.assert_allclose(result.eigenvalues, truth, rtol=1e-8)
    assert residuals(A, result.eigenvalues, result.vectors).max() < 1e-6


def test_matrices_in_all_forms(hermitian):
    A, values = hermitian
    forms = [A.asformat(kind) for kind in ("csc", "coo", "lil", "bsr")]
    forms += [sp.csr_matrix(A), A.toarray(), np.asfortranarray(A.toarray()), A.toarray().tolist()]
    forms += [A.toarray().astype(">c16"), sla.aslinearoperator(A), lambda X: A @ X]
    for form in forms:
        v0 = random_block(N, 1) if callable(form) else None
        w, v = heddle.eigsh(form, 3, which="SA", v0=v0)
        np.testing.assert_allclose(w, values[:3], atol=1e-11)
        assert residuals(A, w, v).max() < 1e-11


def test_csr_is_taken_without_a_copy(hermitian):
    A = hermitian[0]
    values = heddle._inputs.matrix(A, "A").core.arrays()[2]
    assert np.shares_memory(values, A.data)
    X = random_block(50, 4)
    for same in (X, X[:, :3], X[::2]):
        assert np.shares_memory(heddle._inputs.block(same, "X")[0], same)


def test_complex64_is_computed_in_double_precision(hermitian, definite):
    A, values = hermitian
    single = A.astype(np.complex64)
    w, v, result = heddle.eigsh(single, 4, which="SA", return_stats=True)
    assert w.dtype == np.float32 and v.dtype == np.complex64
    assert np.abs(result.eigenvalues - values[:4]).max() < 1e-6
    x, info = heddle.cg(definite.astype(np.complex64), np.ones(N, np.float32), rtol=1e-6)
    assert info == 0 and x.dtype == np.complex64
    np.testing.assert_allclose(definite @ x, np.ones(N), atol=1e-4)
    assert heddle.cg(definite, np.ones(N, np.complex64))[0].dtype == np.complex128
    X = random_block(N, 2).astype(np.complex64)
    assert heddle.lobpcg(path_laplacian(N).astype(np.float32), X)[1].dtype == np.complex64


@pytest.mark.parametrize("largest", [False, True])
def test_lobpcg_with_a_guess_constraints_and_a_preconditioner(definite, largest):
    mass = random_hermitian(N, 9, shift=10.0)
    values, vectors = dense.eigh(definite.toarray(), mass.toarray())
    order = values.argsort()[:: -1 if largest else 1]
    X = random_block(N, 3)
    factor = dense.cho_factor(definite.toarray())
    inverse = lambda R: dense.cho_solve(factor, R)  # noqa: E731
    w, v, lambdas = heddle.lobpcg(
        definite,
        X,
        B=mass,
        M=inverse,
        Y=vectors[:, order[:2]],
        largest=largest,
        tol=1e-9,
        maxiter=500,
        retLambdaHistory=True,
    )
    np.testing.assert_allclose(w, values[order[2:5]], rtol=1e-9)
    assert abs(gram(np.hstack([vectors[:, order[:2]], v]), mass)[:2, 2:]).max() < 1e-9
    assert len(lambdas) and v.dtype == np.complex128


def test_complex_parts_of_a_real_problem():
    """Each part alone makes the vectors complex, and leaves the values as they are."""
    A = path_laplacian(N)
    values, vectors = np.linalg.eigh(A.toarray())
    X, Y = random_block(N, 2), vectors[:, :1] * np.exp(0.7j)
    w, v = heddle.eigsh(A, 2, which="SA", v0=X[:, 0])
    np.testing.assert_allclose(w, values[:2], rtol=1e-10)
    assert np.iscomplexobj(v)
    w, v = heddle.lobpcg(A, X.real, Y=Y, largest=False, maxiter=500)
    np.testing.assert_allclose(w, values[1:3], rtol=1e-6)
    assert np.iscomplexobj(v)
    unit = sp.csr_array(np.diag(np.full(N, 1 + 0j)))
    result = heddle.solve(heddle.Problem(A, preconditioner=unit), nev=2, method="lobpcg")
    np.testing.assert_allclose(result.eigenvalues, values[:2], rtol=1e-6)
    assert np.iscomplexobj(result.vectors)


@pytest.mark.parametrize("columns", [0, 1, 5])
@pytest.mark.parametrize("real_matrix", [False, True])
def test_cg_with_complex_right_hand_sides(definite, columns, real_matrix):
    A = path_laplacian(N) + 0.1 * sp.eye_array(N) if real_matrix else definite
    b = random_block(N, columns)
    for form in (A, sla.aslinearoperator(A), A.toarray()):
        x, info = heddle.cg(form, b, rtol=1e-10)
        assert info == 0 and x.shape == b.shape and x.dtype == np.complex128
        np.testing.assert_allclose(x, np.linalg.solve(A.toarray(), b), rtol=1e-8, atol=1e-8)


def test_cg_with_a_guess_and_preconditioners(definite):
    b = random_block(N, 2)
    truth = np.linalg.solve(definite.toarray(), b)
    x, info, result = heddle.cg(definite, b, x0=truth, rtol=1e-8, return_stats=True)
    assert info == 0 and result.iterations <= 1
    jacobi = sp.diags_array(1 / definite.diagonal().real).tocsr()
    for M in (jacobi, sla.aslinearoperator(jacobi), lambda R: jacobi @ R):
        x, info = heddle.cg(definite, b, M=M, rtol=1e-10)
        np.testing.assert_allclose(x, truth, rtol=1e-8, atol=1e-9)
    for name in ("none", "jacobi", "chebyshev"):
        x, info = heddle.cg(definite, b, rtol=1e-10, preconditioner=name)
        np.testing.assert_allclose(x, truth, rtol=1e-8, atol=1e-9)


def test_an_operator_that_is_declared_as_real_gets_real_blocks():
    A, seen = path_laplacian(N), []

    def product(X):
        seen.append(X.dtype)
        return A @ X

    operator = sla.LinearOperator(A.shape, matvec=product, matmat=product, dtype=float)
    x, info = heddle.cg(operator, random_block(N, 2), rtol=1e-10)
    assert info == 0 and set(seen) == {np.dtype(float)}
    np.testing.assert_allclose(A @ x, random_block(N, 2), atol=1e-8)


@pytest.fixture(scope="module")
def rectangular():
    """A sparse complex matrix of 90 x 60 with singular values that differ."""
    rng = np.random.default_rng(8)
    values = rng.standard_normal((90, 60)) + 1j * rng.standard_normal((90, 60))
    A = np.where(rng.random((90, 60)) < 0.2, values, 0)
    A[range(60), range(60)] += np.arange(1, 61) * np.exp(1j * np.arange(60))
    return sp.csr_array(A)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("form", ["csr", "csc", "dense", "operator", "complex64"])
@pytest.mark.parametrize("which", ["LM", "SM"])
def test_svds_against_dense_lapack(rectangular, wide, form, which):
    A = sp.csr_array(rectangular.conj().T) if wide else rectangular
    dense = A.toarray()
    single = form == "complex64"
    given = {"csr": A, "csc": sp.csc_array(A), "dense": dense, "complex64": A.astype(np.complex64),
             "operator": sla.aslinearoperator(A)}[form]
    u, s, vh = heddle.svds(given, 4, which=which)
    exact = np.linalg.svd(dense, compute_uv=False)
    exact = exact[:4][::-1] if which == "LM" else exact[-4:][::-1]
    assert s.dtype == (np.float32 if single else np.float64)
    assert u.dtype == vh.dtype == (np.complex64 if single else np.complex128)
    tolerance = 1e-4 if single else 1e-8
    assert np.allclose(s, exact, rtol=tolerance)
    assert abs(A @ vh.conj().T - u * s).max() <= tolerance * exact.max()
    assert abs(A.conj().T @ u - vh.conj().T * s).max() <= tolerance * exact.max()
    assert abs(u.conj().T @ u - np.eye(4)).max() <= tolerance
    _, again, rows = sla.svds(A, 4, which=which)
    order = np.argsort(again)
    assert np.allclose(s, again[order], rtol=tolerance)
    assert np.allclose(abs(np.sum(rows[order].conj() * vh, axis=1)), 1, atol=10 * tolerance)


@pytest.mark.parametrize("part", ["A", "b", "both"])
def test_least_squares_against_dense_lapack(rectangular, part):
    A = rectangular if part != "b" else sp.csr_array(rectangular.real)
    rng = np.random.default_rng(5)
    b = rng.standard_normal((90, 2)) + (1j * rng.standard_normal((90, 2)) if part != "A" else 0)
    exact = np.linalg.lstsq(A.toarray(), b, rcond=None)[0]
    x, squares, _, _ = heddle.lstsq(A, b, rtol=1e-12)
    assert x.dtype == np.complex128
    assert np.linalg.norm(x - exact) <= 1e-9 * np.linalg.norm(exact)
    assert np.allclose(squares, np.sum(abs(b - A @ exact) ** 2, axis=0))
    for function in (heddle.lsqr, heddle.lsmr):
        for damp in (0.0, 3.0):
            found = function(A, b[:, 0], damp=damp, atol=1e-12, btol=1e-12)[0]
            stacked = np.vstack([A.toarray(), damp * np.eye(60)])
            right = np.concatenate([b[:, 0], np.zeros(60)])
            truth = np.linalg.lstsq(stacked, right, rcond=None)[0]
            assert np.linalg.norm(found - truth) <= 1e-8 * np.linalg.norm(truth)


def test_least_squares_with_complex_guesses_and_operators(rectangular):
    rng = np.random.default_rng(6)
    real = sp.csr_array(rectangular.real)
    b = rng.standard_normal(90)
    guess = rng.standard_normal(60) + 1j * rng.standard_normal(60)
    cases = [(real, b, guess), (rectangular, b, guess.real), (rectangular, b + 1j, guess)]
    for function in (heddle.lsqr, heddle.lsmr):
        for A, rhs, x0 in cases:
            dense = A.toarray()
            shift = rhs - dense @ x0
            stacked = np.vstack([dense, np.eye(60)])
            exact = x0 + np.linalg.lstsq(stacked, np.concatenate([shift, np.zeros(60)]), rcond=None)[0]
            for given in (A, sla.aslinearoperator(A)):
                x = function(given, rhs, damp=1.0, x0=x0, atol=1e-12, btol=1e-12)[0]
                assert np.iscomplexobj(x)
                assert np.linalg.norm(x - exact) <= 1e-8 * np.linalg.norm(exact)
                x = function(given, rhs, atol=1e-12, btol=1e-12)[0]
                exact_free = np.linalg.lstsq(dense, rhs, rcond=None)[0]
                assert np.linalg.norm(x - exact_free) <= 1e-8 * np.linalg.norm(exact_free)
        wide = sp.csr_array(real.T)
        x = function(wide, rng.standard_normal(60), x0=1j * np.ones(90), atol=1e-12, btol=1e-12)[0]
        assert np.iscomplexobj(x) and abs(x.imag).max() > 0.1


def test_iterated_singular_values_and_least_squares_of_a_large_matrix():
    """Too large for a dense decomposition: the first differences of a twisted chain, whose values
    are those of the ring with a flux."""
    n, flux = 3000, 0.3
    phase = np.exp(2j * np.pi * flux / n)
    A = sp.eye_array(n, format="csr") - phase * sp.csr_array(
        (np.ones(n), ((np.arange(n) + 1) % n, np.arange(n))), shape=(n, n))
    A = sp.csr_array(sp.diags_array(np.linspace(1, 2, n)) @ A)
    u, s, vh, result = heddle.svds(A, 5, return_stats=True)
    assert result.iterations > 0
    exact = np.linalg.svd(A.toarray(), compute_uv=False)[:5][::-1]
    assert np.allclose(s, exact, rtol=1e-10)
    assert abs(A @ vh.conj().T - u * s).max() <= 1e-7 * s.max()
    b = np.exp(1j * np.arange(n))
    wide = sp.csr_array(A[: n - 100])
    x, squares, _, _ = heddle.lstsq(wide, b[: n - 100], rtol=1e-10)
    assert np.linalg.norm(wide @ x - b[: n - 100]) <= 1e-5 * np.linalg.norm(b)


@pytest.mark.parametrize("mass", [None, "real", "complex"])
@pytest.mark.parametrize("scalar", [np.complex64, np.complex128])
def test_factorisations_of_hermitian_matrices(hermitian, definite, mass, scalar):
    A = hermitian[0].astype(scalar)
    M = {None: None, "real": sp.csr_array(definite.real), "complex": definite}[mass]
    dense_M = np.eye(N) if M is None else M.toarray()
    F = heddle.factorized(A, M=M, sigma=0.3)
    shifted = A.toarray() - 0.3 * dense_M
    negative = int((np.linalg.eigvalsh(shifted) < 0).sum())
    assert F.inertia == (negative, 0, N - negative)
    for b in (random_block(N, 3), np.ones(N), np.arange(N)):
        x = F(b)
        assert x.shape == b.shape and np.iscomplexobj(x)
        tolerance = 1e-4 if x.dtype == np.complex64 else 1e-10
        assert np.linalg.norm(shifted @ x - b) <= tolerance * np.linalg.norm(b) * N
    F.refactor(2 * A, sigma=0.0)
    x = F(np.ones(N))
    assert np.linalg.norm(2 * A @ x - 1) <= (1e-3 if scalar == np.complex64 else 1e-10) * N
    F.refactor(sp.csr_array(A.real))  # as complex numbers
    with pytest.raises(TypeError, match="^A is complex, the factorised matrices are real"):
        heddle.factorized(sp.csr_array(definite.real)).refactor(definite)
    with pytest.raises(ValueError, match=r"not Hermitian.*pass \(A \+ A\.conj\(\)\.T\) / 2|not Hermitian"):
        heddle.factorized(sp.csr_array(A + 1j * sp.eye_array(N)))


def test_a_factorisation_of_a_real_matrix_takes_complex_blocks():
    A, b = path_laplacian(N), random_block(N, 2)
    F = heddle.factorized(A)
    np.testing.assert_allclose(A @ F(b), b, atol=1e-10)
    assert F(b[:, 0]).shape == (N,)
    x, info = heddle.cg(A, b, M=F, rtol=1e-10)
    np.testing.assert_allclose(A @ x, b, atol=1e-7)


def test_symmetrize_knows_the_hermitian_part(definite):
    noise = 1e-6 * random_hermitian(N, 4).toarray() * np.tri(N)
    rough = sp.csr_array(definite.toarray() + noise)
    with pytest.raises(ValueError, match=r"A: the matrix is not Hermitian: .*A\[\d+, \d+\].*conj\(\)\.T"):
        heddle.eigsh(rough, 2, which="SA")
    w, v, result = heddle.eigsh(rough, 2, which="SA", symmetrize="average", return_stats=True)
    part = (rough.toarray() + rough.toarray().conj().T) / 2
    np.testing.assert_allclose(w, np.linalg.eigvalsh(part)[:2], rtol=1e-12)
    assert 0 < result.asymmetry < 1e-4
    for half in (sp.tril(definite), sp.triu(definite)):
        with pytest.raises(ValueError, match="symmetrize='triangle' mirrors them"):
            heddle.eigsh(half, 2, which="SA")
        w = heddle.eigsh(half, 2, which="SA", symmetrize="triangle", return_eigenvectors=False)
        np.testing.assert_allclose(w, np.linalg.eigvalsh(definite.toarray())[:2], rtol=1e-12)


def test_matrices_that_are_not_hermitian_are_refused_by_an_entry(definite):
    diagonal = definite.copy()
    diagonal.setdiag(diagonal.diagonal() + 3j)
    symmetric = sp.csr_array(1j * (abs(definite) - sp.diags_array(definite.diagonal().real)))
    for bad, message in (
        (diagonal, r"diagonal entry A\[0, 0\] is .*\+3i, not real"),
        (symmetric, r"A\[\d+, \d+\] is .* not its conjugate; complex symmetric"),
        (definite @ random_hermitian(N, 3), "not its conjugate$|not real$"),
    ):
        with pytest.raises(ValueError, match=f"^A: the matrix is not Hermitian: .*{message}"):
            heddle.eigsh(bad, 2, which="SA")
    with pytest.raises(ValueError, match="^M: the mass matrix is not positive definite"):
        heddle.eigsh(definite, 2, M=random_hermitian(N, 3), which="SA")


def test_files_and_generated_matrices(tmp_path):
    import scipy.io

    A = heddle.generate("peierls2d", 5, 4, density=0.2)
    assert A.dtype == np.complex128 and A.shape == (20, 20)
    assert abs(A - A.conj().T).max() == 0 and abs(A.imag).max() > 0.1
    assert heddle.generate("laplace2d", 5, 4).dtype == np.float64
    scipy.io.mmwrite(tmp_path / "A.mtx", sp.coo_array(A), symmetry="hermitian")
    sp.save_npz(tmp_path / "A.npz", A)
    np.save(tmp_path / "A.npy", A.toarray().astype(np.complex64))
    for name, tolerance in (("A.mtx", 1e-15), ("A.npz", 0), ("A.npy", 1e-6)):
        read = heddle.read_matrix(tmp_path / name)
        assert read.dtype == np.complex128 and abs(read - A).max() <= tolerance
    k = np.arange(9)
    ring = np.sort(2 - 2 * np.cos((2 * np.pi * k + 0.6 * np.pi) / 9))
    w = heddle.eigsh(heddle.generate("ring_flux", 9, density=0.3), 9, which="SA")[0]
    np.testing.assert_allclose(w, ring, atol=1e-14)


def test_plans_results_and_callbacks(lattice):
    A = lattice[0]
    plan = heddle.plan(A, nev=3)
    assert plan.method == "block_lanczos" and plan.host_bytes > 0
    states = []
    result = heddle.solve(A, nev=3, method="lobpcg", callback=states.append)
    assert len(states) == len(result.history) > 1 and result.device in ("host", "cuda")
    chosen = result.select(np.array([1]))
    np.testing.assert_array_equal(chosen.vectors, result.vectors[:, 1:2])
    again = heddle.solve(A, nev=3, method="lobpcg")
    np.testing.assert_array_equal(again.vectors, result.vectors)


B = random_block(N, 2)
REFUSED = {
    "fiedler": (TypeError, "^graph has the type complex128; Laplacians", lambda A, P: heddle.fiedler(abs(A) * 1j)),
    "embedding": (TypeError, "^graph has the type complex128; Laplacians",
                  lambda A, P: heddle.spectral_embedding(abs(A) * 1j)),
    "buckling": (ValueError, "^KG: load factors are those of real matrices only",
                 lambda A, P: heddle.buckling(P, A)),
    "precision": (ValueError, "^precision: .*real matrices only",
                  lambda A, P: heddle.solve(A, nev=2, precision="single")),
    "preconditioner": (ValueError, "^preconditioner: multigrid takes real matrices only",
                       lambda A, P: heddle.cg(P, B, preconditioner="multigrid")),
    "reorder": (ValueError, "^reorder: .*real matrices only", lambda A, P: heddle.solve(A, nev=2, reorder="rcm")),
    "project_rhs": (ValueError, "^project_rhs: .*real matrices only",
                    lambda A, P: heddle.cg(P, B, project_rhs=True)),
    "near_null": (ValueError, "^near_null: .*real matrices only",
                  lambda A, P: heddle.solve(heddle.Problem(A, near_null=B.real), nev=2)),
    "complex_near_null": (TypeError, "^near_null has the type complex128; .*real matrices only",
                          lambda A, P: heddle.solve(heddle.Problem(A.real, near_null=B), nev=2)),
    "coordinates": (ValueError, "^coordinates: .*real matrices only",
                    lambda A, P: heddle.solve(heddle.Problem(A, coordinates=B.real), nev=2)),
    "null_vector_sizes": (ValueError, "^null_vector_sizes: .*real matrices only",
                          lambda A, P: heddle.solve(heddle.Problem(A, null_vector_sizes=np.ones(N)), nev=2)),
    "complex_sizes": (TypeError, "^null_vector_sizes has the type complex128",
                      lambda A, P: heddle.solve(heddle.Problem(A.real, null_vector_sizes=B[:, 0]), nev=2)),
    "real_result": (TypeError, "^the result of A has the type float64 for a block of complex128",
                    lambda A, P: heddle.cg(lambda X: (P @ X).real, B)),
    "complex_result": (TypeError, "^the result of A has the type complex128 for a block of float64",
                       lambda A, P: heddle.cg(lambda X: P @ X, B.real)),
    "not_finite": (ValueError, "^b contains NaN or infinity$", lambda A, P: heddle.cg(P, B * complex(0, np.inf))),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_real_matrices_have_alone_is_refused_by_name(hermitian, definite, case):
    error, message, call = REFUSED[case]
    with pytest.raises(error, match=message):
        call(hermitian[0], definite)


def test_graphs_with_complex_weights_are_refused():
    networkx = pytest.importorskip("networkx")
    G = networkx.Graph()
    G.add_edge(0, 1, weight=1j)
    for call in (heddle.eigsh, heddle.fiedler):
        with pytest.raises(TypeError, match="^the graph has weights that are not real numbers"):
            call(G, 1)


def test_the_device_is_chosen_as_for_real_matrices(hermitian, monkeypatch):
    asked = []
    device = heddle._core.Device

    def recorded(name, threads, *arguments, **others):
        asked.append(name)
        return device("host", threads)

    monkeypatch.setattr(heddle._core, "has_cuda", False)  # no device is kept for the next solve
    monkeypatch.setattr(heddle._core, "Device", recorded)
    heddle.solve(hermitian[0], nev=2)
    heddle.plan(heddle.Problem(path_laplacian(N), rhs=B), device="cuda")
    heddle.plan(sla.aslinearoperator(hermitian[0]), nev=2)
    assert asked == ["auto", "cuda", "host"]
