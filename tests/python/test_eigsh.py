"""eigsh and eigsh_interval against dense LAPACK, spectra in closed form and SciPy."""

import time
import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from conftest import mass_matrix, path_eigenvalues, path_laplacian, residuals

import heddle
from heddle._pencil import Pencil
from heddle._result import joined
from heddle._solve import Options, judge


def expected(truth, k, which):
    """The k eigenvalues that `which` means, ascending."""
    if which == "BE":
        return np.concatenate([truth[: k // 2], truth[len(truth) - (k - k // 2) :]])
    keys = {"LA": -truth, "SA": truth, "LM": -abs(truth), "SM": abs(truth)}
    return np.sort(truth[np.argsort(keys[which], kind="stable")[:k]])


@pytest.mark.parametrize("which", ["LM", "SM", "LA", "SA", "BE"])
@pytest.mark.parametrize("k", [1, 2, 5])
def test_which_of_an_indefinite_matrix(indefinite, which, k):
    A, truth = indefinite
    w, v = heddle.eigsh(A, k, which=which)
    np.testing.assert_allclose(w, expected(truth, k, which), atol=1e-12 * abs(truth).max())
    assert residuals(A, w, v).max() < 1e-12
    np.testing.assert_allclose(v.T @ v, np.eye(k), atol=1e-12)


@pytest.mark.parametrize("k", [1, 4, 6, 7, 8])
@pytest.mark.parametrize("which", ["LM", "SM", "LA", "SA", "BE"])
def test_nearly_all_pairs_of_a_small_matrix(which, k):
    A = np.random.default_rng(3).standard_normal((8, 8))
    A = A + A.T
    w, v = heddle.eigsh(A, k, which=which)
    np.testing.assert_allclose(w, expected(np.linalg.eigvalsh(A), k, which), atol=1e-12)
    np.testing.assert_allclose(v.T @ v, np.eye(k), atol=1e-12)
    nearest = heddle.eigsh(A, k, sigma=0.7, return_eigenvectors=False)
    truth = np.linalg.eigvalsh(A)
    np.testing.assert_allclose(nearest, np.sort(truth[np.argsort(abs(truth - 0.7))[:k]]), atol=1e-12)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("which", ["LM", "SM", "LA", "SA", "BE"])
def test_which_of_a_definite_matrix(which, sign):
    A = sign * path_laplacian(300)
    truth = np.sort(sign * path_eigenvalues(300))
    w, v = heddle.eigsh(A, 6, which=which)
    np.testing.assert_allclose(w, expected(truth, 6, which), rtol=1e-10)
    assert residuals(A, w, v).max() < 1e-12


@pytest.mark.parametrize("which", ["LM", "SM", "LA", "SA", "BE"])
def test_which_of_a_pencil(pencil, which):
    A, B, truth = pencil
    w, v = heddle.eigsh(A, 4, M=B, which=which)
    np.testing.assert_allclose(w, expected(truth, 4, which), rtol=1e-9)
    np.testing.assert_allclose(v.T @ (B @ v), np.eye(4), atol=1e-12)
    assert residuals(A, w, v, B).max() < 1e-11


@pytest.mark.parametrize("sigma", [-1.0, 0.0, 0.3, 1.7, 3.9, 5.0])
def test_pairs_nearest_to_sigma(sigma):
    A, truth = path_laplacian(200), path_eigenvalues(200)
    w, v = heddle.eigsh(A, 5, sigma=sigma)
    nearest = np.sort(truth[np.argsort(abs(truth - sigma))[:5]])
    np.testing.assert_allclose(w, nearest, rtol=1e-9)
    assert residuals(A, w, v).max() < 1e-10


def test_sigma_at_an_eigenvalue_with_many_copies():
    values = np.repeat([-2.0, -1, 0, 1, 2, 3], 65)
    w, v = heddle.eigsh(diagonal(values), 1, which="SM")
    np.testing.assert_allclose(w, [0], atol=1e-12)
    assert np.linalg.norm(v[values != 0]) < 1e-10


def test_sigma_of_a_pencil_at_its_end_and_inside(pencil):
    A, B, truth = pencil
    w, _ = heddle.eigsh(A, 3, M=B, sigma=0)
    np.testing.assert_allclose(w, truth[:3], rtol=1e-9)
    inside = 0.3 * truth[100] + 0.7 * truth[101]
    w, v, result = heddle.eigsh(A, 3, M=B, sigma=inside, return_stats=True)
    np.testing.assert_allclose(w, np.sort(truth[np.argsort(abs(truth - inside))[:3]]), rtol=1e-9)
    assert residuals(A, w, v, B).max() < 1e-11
    assert result.completeness == ("inertia", True)
    for sigma in (truth[-1], 100.0):
        w, v = heddle.eigsh(A, 3, M=B, sigma=sigma)
        np.testing.assert_allclose(w, truth[-3:], rtol=1e-9)
        assert residuals(A, w, v, B).max() < 1e-11


def test_counts_prove_that_no_pair_near_sigma_is_missing():
    A, B = path_laplacian(400), diagonal(np.linspace(1, 2, 400))
    truth = scipy.linalg.eigh(A.toarray(), B.toarray(), eigvals_only=True)
    inside = 0.3 * truth[100] + 0.7 * truth[101]
    w, v, result = heddle.eigsh(A, 5, M=B, sigma=inside, return_stats=True)
    np.testing.assert_allclose(w, np.sort(truth[np.argsort(abs(truth - inside))[:5]]), rtol=1e-9)
    assert residuals(A, w, v, B).max() < 1e-11
    assert result.completeness == ("inertia", True)


@pytest.mark.parametrize("which", ["LM", "LA", "SA"])
def test_sides_of_sigma_are_those_of_scipy(pencil, which):
    A, B, truth = pencil
    sigma = 0.4 * truth[150] + 0.6 * truth[151]
    w, v = heddle.eigsh(A, 4, M=B, sigma=sigma, which=which)
    theirs = sla.eigsh(A, 4, M=B, sigma=sigma, which=which, return_eigenvectors=False)
    np.testing.assert_allclose(w, np.sort(theirs), rtol=1e-9)
    assert residuals(A, w, v, B).max() < 1e-11


NO_NUMBERS = ["1", "x", [1.0], np.array([1.0]), 1 + 2j, np.complex128(1), np.complex64(1j), True, 10**400]


@pytest.mark.parametrize("sigma", NO_NUMBERS)
def test_a_sigma_that_is_no_real_number_is_refused(sigma):
    A = path_laplacian(60)
    for call in (lambda: heddle.eigsh(A, 2, sigma=sigma), lambda: heddle.solve(A, nev=2, sigma=sigma)):
        with pytest.raises(ValueError, match="^sigma is .*, not a "):
            call()


@pytest.mark.parametrize("end", [1 + 2j, np.complex128(1), np.complex64(1), "1", [1.0], None])
def test_an_end_of_an_interval_that_is_no_real_number_is_refused(end):
    A = path_laplacian(60)
    for call in (lambda: heddle.eigsh_interval(A, (end, 2.0)), lambda: heddle.solve(A, interval=(end, 2))):
        with pytest.raises(ValueError, match="^interval is .*, not a list of two numbers"):
            call()


def test_sigma_of_a_function_with_a_mass_is_refused(pencil):
    A, B, truth = pencil
    product = sla.LinearOperator(A.shape, matvec=lambda x: A @ x, matmat=lambda X: A @ X, dtype=float)
    with pytest.raises(ValueError, match="A - sigma M must be factored"):
        heddle.eigsh(product, 3, M=B, sigma=float(truth[100]))


def diagonal(values):
    return sp.diags_array(np.asarray(values, dtype=float), format="csr")


def test_completeness_says_whether_it_is_proven():
    A = diagonal(np.arange(1.0, 5001))
    small = heddle.solve(A[:100, :100], nev=3)
    assert small.completeness == ("dense", True)
    assert small.completeness.proven
    large = heddle.solve(A, nev=3, method="lobpcg", certify="no")
    assert large.completeness == ("search of stiff rows", False)
    assert heddle.solve(A, nev=3, method="lobpcg").completeness == ("inertia", True)
    *_, both = heddle.eigsh(A[:100, :100], 4, which="BE", return_stats=True)
    assert both.completeness == ("dense", True)


@pytest.mark.parametrize("guided", [False, True])
@pytest.mark.parametrize(
    ("values", "k", "which"),
    [
        (np.ones(400), 6, "BE"),
        (np.r_[np.zeros(395), 1:6], 20, "BE"),
        (np.r_[np.zeros(395), 1:6], 20, "LM"),
        (np.r_[np.ones(30), -np.ones(30)], 40, "LM"),
        (np.r_[np.ones(7), 2], 7, "BE"),
    ],
)
def test_eigenspaces_that_both_ends_share(values, k, which, guided):
    A = diagonal(values)
    v0 = np.linspace(1, 2, len(values)) if guided else None
    w, v, result = heddle.eigsh(A, k, which=which, v0=v0, return_stats=True)
    assert result.status != "verification_failed"
    np.testing.assert_allclose(w, expected(np.sort(values), k, which), atol=1e-13)
    np.testing.assert_allclose(v.T @ v, np.eye(k), atol=1e-12)
    assert residuals(A, w, v).max() < 1e-12


@pytest.mark.parametrize(
    ("form", "method"), [(sp.csr_array, "auto"), (sla.aslinearoperator, "lobpcg")]
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_eigenspaces_of_a_pencil_that_both_ends_share(dtype, form, method):
    B = mass_matrix(300).astype(dtype)
    A = (2 * B).tocsr()
    w, v = heddle.eigsh(A, 6, M=form(B), which="BE", tol=1e-5, method=method)
    tolerance = 1e-10 if dtype == np.float64 else 1e-4
    np.testing.assert_allclose(w, np.full(6, 2), rtol=tolerance)
    np.testing.assert_allclose(v.T @ (B @ v), np.eye(6), atol=tolerance)


def test_a_second_end_that_repeats_the_first_is_sought_again(monkeypatch):
    A, calls, end = diagonal(np.ones(50)), [], Pencil.end

    def repeating(self, which, count=None, **changes):
        result = end(self, which, count, **changes)
        calls.append((which, result))
        return calls[0][1] if len(calls) <= lost else result

    monkeypatch.setattr(Pencil, "end", repeating)
    lost = 2
    w, v = heddle.eigsh(A, 4, which="BE")
    assert [which for which, _ in calls] == ["largest", "smallest", "smallest"]
    np.testing.assert_allclose(v.T @ v, np.eye(4), atol=1e-12)
    calls.clear()
    lost = 100
    with pytest.raises(heddle.NotConverged, match="linearly dependent"):
        heddle.eigsh(A, 4, which="BE")


@pytest.mark.parametrize(
    "arguments",
    [{"which": "LM"}, {"which": "BE"}, {"which": "SM"}, {"sigma": 0.3}, {"sigma": -1.0}],
)
def test_a_callback_that_returns_false_ends_the_whole_call(arguments):
    A, calls = heddle.generate("laplace2d", 60, 60) - 3.9 * sp.eye_array(3600), []

    def stop(state):
        calls.append(state.iteration)
        return False

    *_, result = heddle.eigsh(A.tocsr(), 5, callback=stop, return_stats=True, **arguments)
    assert result.status == "interrupted" and len(calls) == 1


def test_a_callback_that_returns_false_at_the_end_of_the_first_solve_prevents_the_second():
    A, calls = (heddle.generate("laplace2d", 60, 60) - 4 * sp.eye_array(3600)).tocsr(), []
    heddle.eigsh(A, 3, which="LA", callback=calls.append)
    count = len(calls)
    calls.clear()

    def stop(state):
        calls.append(state)
        return len(calls) < count

    *_, result = heddle.eigsh(A, 6, which="BE", callback=stop, return_stats=True)
    assert result.status == "interrupted" and "returned False" in result.reason
    assert len(calls) == count and result.passed.all() and len(result.eigenvalues) == 3


def test_a_time_limit_ends_the_whole_call(monkeypatch, indefinite):
    calls, end = [], Pencil.end

    def late(self, which, count=None, **changes):
        calls.append(which)
        return replace(end(self, which, count, **changes), status="time_limit", reason="late")

    monkeypatch.setattr(Pencil, "end", late)
    for arguments in ({"which": "LM"}, {"which": "BE"}, {"sigma": -1.0}):
        calls.clear()
        with pytest.raises(heddle.NotConverged, match="time_limit: late"):
            heddle.eigsh(indefinite[0], 5, time_limit=60, **arguments)
        assert len(calls) == 1


def test_status_of_two_solves(indefinite):
    result = heddle.solve(indefinite[0], nev=2, which="largest")
    mild, severe = replace(result, status="stagnated"), replace(result, status="time_limit")
    for first, second in ((mild, severe), (severe, mild), (result, severe), (severe, result)):
        assert joined(first, second).status == "time_limit"
    assert joined(result, mild).status == joined(mild, result).status == "stagnated"
    options = Options({}, "raise")
    none = replace(mild, residuals=np.empty(0))
    with pytest.raises(heddle.NotConverged, match="stagnated"):
        judge(none, options)


@pytest.mark.parametrize("which", ["LA", "SA", "LM", "BE"])
def test_same_values_as_scipy(indefinite, which):
    A, _ = indefinite
    ours, theirs = heddle.eigsh(A, 4, which=which), sla.eigsh(A, 4, which=which)
    np.testing.assert_allclose(ours[0], np.sort(theirs[0]), atol=1e-11)
    assert ours[1].shape == theirs[1].shape
    assert ours[0].dtype == theirs[0].dtype and ours[1].dtype == theirs[1].dtype


def test_multiple_eigenvalues_are_all_found():
    A = sp.block_diag([path_laplacian(40)] * 5, format="csr")
    w, v = heddle.eigsh(A, 10, which="SA")
    np.testing.assert_allclose(w, np.repeat(path_eigenvalues(40)[:2], 5), rtol=1e-10)
    np.testing.assert_allclose(v.T @ v, np.eye(10), atol=1e-12)


def test_values_alone_and_stats(indefinite):
    A, truth = indefinite
    w = heddle.eigsh(A, 3, which="LA", return_eigenvectors=False)
    np.testing.assert_allclose(w, truth[-3:], atol=1e-12)
    w, result = heddle.eigsh(A, 3, which="LA", return_eigenvectors=False, return_stats=True)
    assert result.converged and result.method == "block_lanczos"
    w, v, result = heddle.eigsh(A, 3, which="LA", return_stats=True)
    np.testing.assert_array_equal(np.sort(result.eigenvalues), w)


def test_tolerance_saves_products():
    A, truth = path_laplacian(2000), path_eigenvalues(2000)
    rough, fine = (
        heddle.eigsh(A, 3, which="LA", tol=tol, return_stats=True)[2] for tol in (1e-3, 1e-12)
    )
    assert rough.operator_applications < fine.operator_applications
    np.testing.assert_allclose(rough.eigenvalues, truth[:-4:-1], rtol=1e-3)
    np.testing.assert_allclose(fine.eigenvalues, truth[:-4:-1], rtol=1e-12)


def test_start_vectors(indefinite):
    A, truth = indefinite
    v0 = np.linspace(1, 2, A.shape[0])
    for guess in (v0, v0[:, None]):
        w, _ = heddle.eigsh(A, 3, which="LA", v0=guess)
        np.testing.assert_allclose(w, truth[-3:], atol=1e-12)


def test_seeds():
    A = path_laplacian(500)
    one, again, other = (heddle.eigsh(A, 2, which="LA", seed=s)[1] for s in (1, 1, 2))
    assert np.array_equal(one, again) and not np.array_equal(one, other)
    rng = heddle.eigsh(A, 2, which="LA", rng=1)[1]
    assert np.array_equal(one, rng)
    generator = heddle.eigsh(A, 2, which="LA", rng=np.random.default_rng(0))[0]
    np.testing.assert_allclose(generator, path_eigenvalues(500)[-2:], rtol=1e-10)


def test_single_precision(indefinite):
    A, truth = indefinite
    w, v = heddle.eigsh(A.astype(np.float32), 3, which="LA")
    assert w.dtype == v.dtype == np.float32
    np.testing.assert_allclose(w, truth[-3:], atol=1e-5 * abs(truth).max())


@pytest.mark.parametrize("method", ["lobpcg", "block_lanczos"])
@pytest.mark.parametrize("preconditioner", ["auto", "none", {"type": "chebyshev", "degree": 4}])
def test_methods_and_preconditioners(method, preconditioner):
    if method == "block_lanczos":
        preconditioner = "auto"
    A = path_laplacian(300) + sp.eye_array(300) * 0.1
    w, _, result = heddle.eigsh(
        A, 3, which="SA", tol=1e-8, method=method, preconditioner=preconditioner, return_stats=True
    )
    np.testing.assert_allclose(w, path_eigenvalues(300)[:3] + 0.1, rtol=1e-7)
    assert result.method == method
    if isinstance(preconditioner, dict):
        assert "chebyshev" in result.preconditioner


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"which": "XX"}, "which is 'XX', not one of"),
        ({"mode": "shear"}, "mode is 'shear', not one of 'normal', 'buckling', 'cayley'"),
        ({"mode": "buckling"}, "mode='buckling' needs M"),
        ({"mode": "cayley", "sigma": 0}, "sigma is 0, for which w'"),
        ({"Minv": np.eye(50)}, "Minv: heddle solves with M itself"),
        ({"OPinv": np.eye(50)}, "OPinv: heddle factors"),
        ({"sigma": 1j}, "not a real number"),
        ({"k": 51, "which": "LA"}, "k is 51, but the matrix has order 50: k must be at most 50"),
        ({"k": 0, "which": "LA"}, "k is 0, not 1 or more"),
        ({"k": 0, "sigma": 2.0}, "k is 0, not 1 or more"),
        ({"k": 0, "which": "LM"}, "k is 0, not 1 or more"),
        ({"k": 51, "which": "BE"}, "k is 51, but the matrix has order 50"),
        ({"maxiter": 0}, "maxiter is 0, not 1 or more"),
        ({"ncv": 6}, "ncv is 6, but must be above k = 6"),
        ({"v0": np.ones(3)}, "v0 has 3 rows where 50 are needed"),
        ({"M": np.eye(4)}, "M: the mass matrix has order 4, the matrix has order 50"),
        ({"M": -np.eye(50)}, "^M: "),
        ({"tol": 2.0, "which": "LA"}, "tol"),
        ({"method": "arnoldi"}, "method is 'arnoldi', not one of 'auto', 'lobpcg'"),
        ({"criterion": "best"}, "criterion is 'best', not one of 'eigenvalue'"),
        ({"preconditioner": "magic", "which": "SA"}, "magic"),
        ({"preconditioner": 3}, "not a name such as 'chebyshev'"),
        ({"device": "tpu"}, "device is 'tpu', not one of"),
        ({"seed": "x"}, "seed is 'x', not an integer"),
        ({"threads": -1}, "threads"),
        ({"on_failure": "ignore"}, "on_failure is 'ignore', not one of"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        heddle.eigsh(path_laplacian(50), **arguments)


def test_unknown_options_are_named():
    for word, near in (("max_iter", "maxiter"), ("toll", "tol"), ("block", "block_size")):
        with pytest.raises(TypeError, match=f"^heddle knows no option {word}; did you mean {near}[?]$"):
            heddle.eigsh(path_laplacian(50), 2, **{word: 8})
    with pytest.raises(TypeError, match="heddle knows no option xyz; it knows k, tol"):
        heddle.eigsh(path_laplacian(50), 2, xyz=1e-3)


@pytest.mark.parametrize("k", ["3", 3.0, None])
def test_a_number_of_pairs_is_an_integer(k):
    with pytest.raises(TypeError, match=f"^k is {k!r}, not an integer$"):
        heddle.eigsh(path_laplacian(50), k)
    with pytest.raises(TypeError, match=f"^k is {k!r}, not an integer$"):
        heddle.buckling(path_laplacian(50), path_laplacian(50), k)


def test_options_that_are_arguments_are_refused():
    with pytest.raises(TypeError, match="nev, tolerance: this function has an argument of its own for it: k, tol"):
        heddle.eigsh(path_laplacian(50), 2, which="LA", nev=3, tolerance=1e-3)


@pytest.mark.parametrize("which", ["LM", "SM", "SA"])
def test_matrices_with_nan(which):
    A = path_laplacian(50)
    A.data[0] = np.nan
    with pytest.raises(ValueError, match="A contains NaN"):
        heddle.eigsh(A, 2, which=which)
    product = lambda X: A @ X
    operator = sla.LinearOperator(A.shape, matvec=product, matmat=product, dtype=float)
    with pytest.raises((ValueError, heddle.NotConverged), match="finite"):
        heddle.eigsh(operator, 2, which=which)


@pytest.mark.parametrize("which", ["LM", "BE"])
def test_time_limit_is_shared_by_both_ends(which):
    A = heddle.generate("laplace2d", 150, 150) - 4 * sp.eye_array(150**2)
    start = time.perf_counter()
    with pytest.raises(heddle.NotConverged, match="time_limit"):
        heddle.eigsh(A.tocsr(), 20, which=which, time_limit=0.1)
    assert time.perf_counter() - start < 5


def test_unsymmetric_matrix_is_refused():
    A = path_laplacian(50).tolil()
    A[3, 4] = 7
    with pytest.raises(ValueError, match="^A: .*symmetric"):
        heddle.eigsh(A.tocsr(), 2)


def test_interval():
    A, truth = path_laplacian(400), path_eigenvalues(400)
    w, v = heddle.eigsh_interval(A, (1.0, 1.1))
    inside = truth[(truth >= 1) & (truth <= 1.1)]
    np.testing.assert_allclose(w, inside, rtol=1e-10)
    assert residuals(A, w, v).max() < 1e-10
    empty, none = heddle.eigsh_interval(A, (5.0, 6.0))
    assert empty.shape == (0,) and none.shape == (400, 0)
    everything, _ = heddle.eigsh_interval(path_laplacian(12), (-1.0, 5.0))
    np.testing.assert_allclose(everything, path_eigenvalues(12), rtol=1e-10)


def test_interval_of_a_pencil_has_all_pairs_proven():
    A, M = path_laplacian(400), sp.diags_array(np.linspace(1, 3, 400)).tocsr()
    truth = scipy.linalg.eigh(A.toarray(), M.toarray(), eigvals_only=True)
    inside = truth[(truth >= 0.3) & (truth <= 0.9)]
    w, v, stats = heddle.eigsh_interval(A, (0.3, 0.9), M=M, return_stats=True)
    np.testing.assert_allclose(w, inside, rtol=1e-10)
    np.testing.assert_allclose(v.T @ (M @ v), np.eye(len(w)), atol=1e-9)
    assert stats.completeness == ("inertia", True)
    with pytest.raises(heddle.NotConverged, match=f"holds {len(inside)} eigenvalues"):
        heddle.eigsh_interval(A, (0.3, 0.9), k=3, M=M)


def test_symmetrize_takes_the_average_and_says_by_how_much():
    A = path_laplacian(60).tolil()
    A[3, 4] *= 1 + 1e-9
    A = A.tocsr()
    with pytest.raises(ValueError, match="not symmetric.*symmetrize=.average"):
        heddle.eigsh(A, 2, which="SA")
    w, _, stats = heddle.eigsh(A, 2, which="SA", symmetrize="average", return_stats=True)
    exact = np.linalg.eigvalsh((A.toarray() + A.toarray().T) / 2)[:2]
    np.testing.assert_allclose(w, exact, rtol=1e-10)
    assert stats.asymmetry == pytest.approx(5e-10, rel=1e-3)
    mass = sp.eye_array(60).tolil()
    mass[0, 1] = 1e-6
    pencil = heddle.solve(
        heddle.Problem(path_laplacian(60), B=mass.tocsr()), nev=2, symmetrize="average"
    )
    assert pencil.converged and pencil.asymmetry == pytest.approx(1e-6)


@pytest.mark.parametrize("word", ["larger", True])
def test_symmetrize_knows_two_words(word):
    with pytest.raises(ValueError, match="not one of 'average', 'triangle', None"):
        heddle.eigsh(path_laplacian(60), 2, symmetrize=word)
    operator = sla.aslinearoperator(path_laplacian(60))
    with pytest.raises(ValueError, match="must be stored"):
        heddle.eigsh(operator, 2, symmetrize="average")


def test_eigenvalues_at_the_ends_of_an_interval_are_named():
    A = sp.diags_array(np.arange(1.0, 501.0)).tocsr()
    with pytest.warns(UserWarning, match="beyond an end of the interval.*: 100, 105"):
        w, _, stats = heddle.eigsh_interval(A, (100.0, 105.0), return_stats=True)
    np.testing.assert_allclose(w, np.arange(100.0, 106.0), rtol=1e-10)
    np.testing.assert_array_equal(stats.straddles, [True, False, False, False, False, True])


@pytest.mark.parametrize("interval", [(1.0, 3.0), (0.0, 0.5), (2.0, 2.2)])
def test_copies_in_an_interval_are_found_to_rounding(interval):
    """A ring, whose eigenvalues have two copies, also at ends of the interval."""
    n = 600
    A = (2 * sp.eye_array(n) - sp.eye_array(n, k=1) - sp.eye_array(n, k=-1)).tolil()
    A[0, n - 1] = A[n - 1, 0] = -1
    exact = np.sort(2 - 2 * np.cos(2 * np.pi * np.arange(n) / n))
    inside = exact[(exact > interval[0] - 1e-12) & (exact < interval[1] + 1e-12)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of values at the ends
        w, v, stats = heddle.eigsh_interval(A.tocsr(), interval, return_stats=True)
    assert stats.completeness.proven
    np.testing.assert_allclose(w, inside, atol=1e-13)
    np.testing.assert_allclose(v.T @ v, np.eye(len(w)), atol=1e-12)


def test_interval_with_too_many_pairs_says_so():
    with pytest.raises(heddle.NotConverged, match="max_iterations") as caught:
        heddle.eigsh_interval(path_laplacian(400), (0.0, 4.0), k=10)
    assert caught.value.result.status == "max_iterations"


@pytest.mark.parametrize("interval", [(2.0, 1.0), (1.0,), ("a", "b"), (np.nan, 1.0)])
def test_bad_intervals(interval):
    with pytest.raises(ValueError, match="interval|lower|upper"):
        heddle.eigsh_interval(path_laplacian(50), interval)


def test_copies_beside_sigma_are_found_where_no_factor_counts():
    """Nine equal chains, soft and stiff by halves: more copies of each value than a block has columns."""
    h, copies = 120, 9
    links = np.where(np.arange(h - 1) < h // 2, 1.0, 1e8)
    diagonal = np.r_[links, 0] + np.r_[0, links]
    diagonal[0] += 1e-3
    chain = sp.diags_array([diagonal, -links, -links], offsets=[0, 1, -1])
    K = sp.block_diag([chain] * copies).tocsr()
    result = heddle.solve(heddle.Problem(K), nev=copies + 2, sigma=-1e-3, side="above", on_failure="return")
    if result.converged:
        assert (result.eigenvalues < 5 * result.eigenvalues[0]).sum() == copies


@pytest.mark.parametrize("nev", [10, 45])
def test_groups_of_values_that_are_larger_than_the_basis(nev):
    """150 zeros beside 150 values of 1e-8: the search for missed pairs ends with a larger basis."""
    rng = np.random.default_rng(3)
    values = np.r_[np.zeros(150), 1e-8 * rng.random(150), 1e-4 * rng.random(150), rng.random(150)]
    Q = np.linalg.qr(rng.standard_normal((600, 600)))[0]
    A = (Q * values) @ Q.T
    A = (A + A.T) / 2
    iterations = []
    result = heddle.solve(A, nev=nev, callback=lambda state: iterations.append(state.iteration))
    assert result.iterations < 300
    assert iterations == list(range(1, len(iterations) + 1))
    exact = np.linalg.eigvalsh(A)[:nev]
    assert (abs(result.eigenvalues - exact) <= result.error_bounds + 1e-15).all()
