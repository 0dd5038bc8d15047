"""cg and lstsq for one and many columns."""

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from conftest import path_laplacian

import heddle


@pytest.fixture(scope="module")
def system():
    A = (path_laplacian(300) + 0.05 * sp.eye_array(300)).tocsr()
    return A, np.random.default_rng(1).standard_normal((300, 4))


def test_shapes_of_right_hand_sides(system):
    A, B = system
    for b in (B[:, 0], B[:, :1], B, B[:, ::2], np.asfortranarray(B)):
        x, info = heddle.cg(A, b, rtol=1e-10)
        assert info == 0 and x.shape == b.shape
        assert np.linalg.norm(A @ x - b) <= 1e-9 * np.linalg.norm(b)


def test_same_solution_as_scipy(system):
    A, B = system
    ours, theirs = heddle.cg(A, B[:, 0], rtol=1e-12), sla.cg(A, B[:, 0], rtol=1e-12)
    assert ours[1] == theirs[1] == 0
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize(("rtol", "atol"), [(1e-4, 0), (0, 1e-3), (1e-12, 1e-2), (1e-3, 1e-9)])
def test_tolerances_are_those_of_scipy(system, rtol, atol):
    A, B = system
    scaled = B * np.array([1, 10, 100, 1000])
    x, info = heddle.cg(A, scaled, rtol=rtol, atol=atol)
    norms, wanted = np.linalg.norm(A @ x - scaled, axis=0), np.linalg.norm(scaled, axis=0)
    assert info == 0 and np.all(norms <= 1.01 * np.maximum(rtol * wanted, atol))


def test_guess_and_zero_right_hand_sides(system):
    A, B = system
    exact, _ = heddle.cg(A, B, rtol=1e-12)
    x, info, result = heddle.cg(A, B, exact, rtol=1e-8, return_stats=True)
    assert info == 0 and result.iterations <= 1
    x, info = heddle.cg(A, np.zeros(300))
    assert info == 0 and not x.any()
    x, info = heddle.cg(A, np.empty((300, 0)))
    assert info == 0 and x.shape == (300, 0)
    x, info, result = heddle.cg(A, np.empty((300, 0), np.float32), return_stats=True)
    assert info == 0 and x.shape == (300, 0) and x.dtype == np.float64
    assert result.converged and result.residuals.size == 0
    x, squares, _, _ = heddle.lstsq(A[:, :200], np.empty((300, 0)))
    assert x.shape == (200, 0) and squares.shape == (0,)


def test_preconditioners(system):
    A, B = system
    factor = sla.splu(A.tocsc())
    operator = sla.LinearOperator(A.shape, matvec=factor.solve, matmat=factor.solve, dtype=float)
    for M in (operator, factor.solve, sp.diags_array(1 / A.diagonal())):
        x, info, result = heddle.cg(A, B, M=M, rtol=1e-10, return_stats=True)
        assert info == 0
        np.testing.assert_allclose(A @ x, B, atol=1e-8)
    exact = heddle.cg(A, B, M=operator, rtol=1e-8, return_stats=True)[2].iterations
    none = heddle.cg(A, B, preconditioner="none", rtol=1e-8, return_stats=True)[2].iterations
    assert exact <= 2 < 20 < none


def test_matrix_free(system):
    A, B = system
    for operator in (sla.aslinearoperator(A), lambda X: A @ X):
        x, info = heddle.cg(operator, B, rtol=1e-9)
        assert info == 0
        np.testing.assert_allclose(A @ x, B, atol=1e-6)


def test_info_and_failures(system):
    A, B = system
    x, info = heddle.cg(A, B, rtol=1e-12, maxiter=3, preconditioner="none")
    assert info == 3 and np.isfinite(x).all()
    x, info = heddle.cg(-A, B[:, 0])
    assert info < 0
    with pytest.raises(heddle.NotConverged, match="indefinite") as caught:
        heddle.cg(-A, B[:, 0], on_failure="raise")
    assert caught.value.result.status == "indefinite"
    with pytest.warns(heddle.ConvergenceWarning):
        heddle.cg(A, B, rtol=1e-12, maxiter=2, on_failure="warn", preconditioner="none")


def test_callback_sees_residuals_fall_and_can_stop(system):
    A, B = system
    seen = []
    heddle.cg(A, B, rtol=1e-10, callback=seen.append, preconditioner="none")
    assert seen[-1].worst_residual <= 1e-10 < seen[0].worst_residual
    assert [s.iteration for s in seen] == list(range(seen[0].iteration, len(seen) + seen[0].iteration))
    _, info, result = heddle.cg(
        A, B, callback=lambda state: state.iteration < 3, return_stats=True, preconditioner="none"
    )
    assert result.status == "interrupted" and info == result.iterations == 3


def test_single_precision(system):
    A, B = system
    x, info = heddle.cg(A.astype(np.float32), B.astype(np.float32), rtol=1e-4)
    assert info == 0 and x.dtype == np.float32
    assert heddle.cg(A.astype(np.float32), B, rtol=1e-4)[0].dtype == np.float64


@pytest.mark.parametrize(
    ("b", "arguments", "message"),
    [
        (np.ones(7), {}, "b has 7 rows where 300 are needed"),
        (np.ones((300, 2)), {"x0": np.ones(300)}, "x0 has the shape"),
        (np.ones((300, 2, 1)), {}, "b has 3 dimensions"),
        (np.ones(300), {"rtol": -1}, "rtol is -1"),
        (np.ones(300), {"rtol": 0}, "both 0"),
        (np.ones(300), {"maxiter": 0}, "maxiter is 0, not 1 or more"),
        (np.empty((300, 0)), {"method": "lobpcg"}, "lobpcg"),
        (np.ones(300), {"M": np.eye(3)}, "^M: is 3 x 3"),
        (np.ones(300), {"M": np.eye(300), "preconditioner": "jacobi"}, "^M: "),
        (np.ones(300), {"method": "lobpcg"}, "lobpcg"),
    ],
)
def test_bad_arguments_are_named(system, b, arguments, message):
    with pytest.raises(ValueError, match=message):
        heddle.cg(system[0], b, **arguments)


@pytest.mark.parametrize("shape", [(200, 60), (60, 60)])
def test_least_squares(shape):
    rng = np.random.default_rng(2)
    A = sp.random_array(shape, density=0.2, rng=rng, format="csr") + sp.eye_array(*shape)
    for b in (rng.standard_normal(shape[0]), rng.standard_normal((shape[0], 3))):
        x, squares, rank, s = heddle.lstsq(A, b, rtol=1e-12)
        truth = np.linalg.lstsq(A.toarray(), b, rcond=None)[0]
        np.testing.assert_allclose(x, truth, atol=1e-7 * abs(truth).max())
        assert x.shape == truth.shape and rank is None and s is None
        square = np.linalg.norm(A @ x - b, axis=0) ** 2
        np.testing.assert_allclose(squares, np.atleast_1d(square), atol=1e-12, rtol=1e-8)


@pytest.mark.parametrize("shape", [(200, 60), (60, 200)])
def test_damped_least_squares(shape):
    rng = np.random.default_rng(4)
    A = sp.random_array(shape, density=0.2, rng=rng, format="csr")
    b = rng.standard_normal(shape[0])
    for damp in (1e-3, 0.5, 20.0):
        truth = sla.lsqr(A, b, damp=damp, atol=1e-14, btol=1e-14, iter_lim=5000)[0]
        x = heddle.lstsq(A, b, damp=damp, rtol=1e-10)[0]
        np.testing.assert_allclose(x, truth, atol=1e-6 * abs(truth).max())
    with pytest.raises(ValueError, match="damp is -1"):
        heddle.lstsq(A, b, damp=-1)
    with pytest.raises(ValueError, match="damp belongs to least squares, the method is block_cg"):
        heddle.cg(sp.eye_array(9).tocsr(), np.ones(9), damp=1.0)


def test_a_line_far_from_zero():
    t = np.linspace(0, 4, 500)
    x = heddle.lstsq(np.column_stack([np.ones(500), t + 1e4]), 2 * t)[0]
    np.testing.assert_allclose(x, [-2e4, 2], rtol=1e-8)


@pytest.mark.parametrize("size", [1e-150, 1e-46, 1e46, 1e150])
def test_damping_of_matrices_of_any_size(size):
    """Matrices far from 1 are scaled, and the damping with them."""
    rng = np.random.default_rng(0)
    A, b = rng.standard_normal((12, 4)), rng.standard_normal(12)
    truth = np.linalg.lstsq(np.vstack([A, np.eye(4)]), np.r_[b, np.zeros(4)], rcond=None)[0]
    x = heddle.lstsq(A * size, b, damp=size)[0]
    np.testing.assert_allclose(x * size, truth, rtol=1e-12)


def test_least_squares_of_operators():
    rng = np.random.default_rng(2)
    A = sp.random_array((90, 30), density=0.3, rng=rng, format="csr")
    b = rng.standard_normal(90)
    truth = np.linalg.lstsq(A.toarray(), b, rcond=None)[0]
    for operator in (sla.aslinearoperator(A), A.tocsc(), A.toarray()):
        np.testing.assert_allclose(heddle.lstsq(operator, b, rtol=1e-11)[0], truth, atol=1e-7)
    with pytest.raises(ValueError, match="b has 3 rows"):
        heddle.lstsq(A, np.ones(3))


def test_coordinates_and_near_null_vectors_for_multigrid():
    """Two unknowns per node: a plane truss of which only the sizes matter here."""
    A = sp.kron(path_laplacian(600), sp.eye_array(2)).tocsr() + 1e-4 * sp.eye_array(1200)
    B = np.random.default_rng(2).standard_normal((1200, 2))
    points = np.column_stack([np.arange(600.0), np.zeros(600)])
    for known in ({"coordinates": points}, {"near_null": np.ones((1200, 1))}):
        problem = heddle.Problem(A.tocsr(), rhs=B, **known)
        result = heddle.solve(problem, preconditioner="multigrid")
        assert result.status == "converged"
        assert np.linalg.norm(A @ result.vectors - B) <= 1e-7 * np.linalg.norm(B)
    for wrong in (points[:7], points[:, :1], points[:, 0]):
        with pytest.raises(ValueError, match="coordinates"):
            heddle.solve(heddle.Problem(A.tocsr(), rhs=B, coordinates=wrong))


def penalised_path(n, penalty):
    """Unit springs in a row, held at 3 and -1 by the penalty. The flux is the same everywhere."""
    A = path_laplacian(n).tolil()
    A[0, 0] = A[n - 1, n - 1] = 1 + penalty
    b = np.zeros(n)
    b[0], b[-1] = 3 * penalty, -penalty
    flux = 4 / (n - 1 + 2 / penalty)
    return A.tocsr(), b, 3 - flux / penalty - flux * np.arange(n)


@pytest.mark.parametrize("penalty", [1e4, 1e8, 1e14, 1e30])
def test_held_rows(penalty):
    A, b, x = penalised_path(200, penalty)
    for rhs in (b, np.outer(b, [1, -2, 1e5])):
        for extras in ({}, {"preconditioner": "jacobi"}, {"preconditioner": "none"}):
            found, info, stats = heddle.cg(A, rhs, rtol=1e-10, return_stats=True, **extras)
            assert info == 0, stats.reason
            exact = x if rhs.ndim == 1 else np.outer(x, [1, -2, 1e5])
            assert np.max(np.abs(found - exact) / np.max(np.abs(exact), axis=0)) <= 1e-7
            assert "2 rows are held" in stats.reason


def test_right_hand_sides_without_solution():
    n = 50
    A = path_laplacian(n).tolil()
    A[0, 0] = A[n - 1, n - 1] = 1
    A = A.tocsr()
    wave = np.cos(np.pi * (np.arange(n) + 0.5) / n)
    exact = wave / (4 * np.sin(np.pi / (2 * n)) ** 2)
    x, info, stats = heddle.cg(A, wave + 0.01, rtol=1e-9, return_stats=True)
    assert info == -1 and stats.status == "breakdown" and "project_rhs" in stats.reason
    np.testing.assert_allclose(x - x.mean(), exact, atol=1e-4)
    x, info, stats = heddle.cg(A, wave + 0.01, rtol=1e-9, project_rhs=True, return_stats=True)
    assert info == 0 and "1.4e-02 |b|" in stats.reason
    np.testing.assert_allclose(x - x.mean(), exact, atol=1e-4)
    with pytest.raises(ValueError, match="project_rhs"):
        heddle.cg(A, wave, project_rhs="yes")


def test_error_estimates(system):
    A, B = system
    _, _, stats = heddle.cg(A, B, rtol=1e-6, preconditioner="jacobi", return_stats=True)
    X = np.linalg.solve(A.toarray(), B)
    E = stats.vectors - X
    errors = np.sqrt(np.sum(E * (A @ E), axis=0) / np.sum(X * (A @ X), axis=0))
    assert stats.error_estimates.shape == (4,)
    assert np.all(stats.error_estimates <= 10 * errors)
    assert np.all(stats.error_estimates >= errors / 10)


def test_residuals_that_grow_again_at_rounding_are_brought_back():
    """Residuals replaced at the level of rounding spoil the directions of a slow solve."""
    rng = np.random.default_rng(1)
    Q, _ = np.linalg.qr(rng.standard_normal((80, 80)))
    A = (Q * np.geomspace(1, 1e7, 80)) @ Q.T
    problem = heddle.Problem(sp.csr_array((A + A.T) / 2), rhs=rng.standard_normal((80, 4)))
    result = heddle.solve(problem, tolerance=1e-14, algorithm="pseudo_block", preconditioner="chebyshev")
    assert not result.passed.any()
    assert result.residuals.max() < 1e-6
