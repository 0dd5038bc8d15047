"""lobpcg: kinds of problems that SciPy's users give it."""

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from conftest import path_eigenvalues, path_laplacian, residuals

import heddle


def start(n, k, seed=0):
    return np.random.default_rng(seed).standard_normal((n, k))


@pytest.mark.parametrize("largest", [True, False])
def test_diagonal_matrix(largest):
    A = sp.diags_array(np.arange(1.0, 101.0), format="csr")
    w, v = heddle.lobpcg(A, start(100, 3), largest=largest)
    np.testing.assert_allclose(w, [100, 99, 98] if largest else [1, 2, 3], rtol=1e-7)
    assert v.shape == (100, 3)


def test_pencil_with_preconditioner_and_constraints(pencil):
    A, B, truth = pencil
    M = sp.diags_array(1 / A.diagonal(), format="csr")
    w, v = heddle.lobpcg(A, start(200, 3), B=B, M=M, largest=False)
    np.testing.assert_allclose(w, truth[:3], rtol=1e-7)
    further, u = heddle.lobpcg(A, start(200, 2), B=B, Y=v, largest=False)
    np.testing.assert_allclose(further, truth[3:5], rtol=1e-6)
    assert abs(v.T @ (B @ u)).max() < 1e-6


@pytest.mark.parametrize("kind", ["operator", "function", "matrix"])
def test_kinds_of_operators(kind, pencil):
    A, B, truth = pencil
    factor = sla.splu(A.tocsc())
    make = {
        "operator": sla.aslinearoperator,
        "function": lambda X: lambda block: X @ block,
        "matrix": lambda X: X,
    }[kind]
    M = sla.LinearOperator(A.shape, matvec=factor.solve, matmat=factor.solve, dtype=float)
    preconditioner = M if kind == "operator" else factor.solve
    w, v = heddle.lobpcg(make(A), start(200, 4), B=make(B), M=preconditioner, largest=False)
    np.testing.assert_allclose(w, truth[:4], rtol=1e-7)
    assert residuals(A, w, v, B).max() < 1e-6


def test_histories_are_norms_of_residuals():
    A = path_laplacian(300)
    w, v, values, norms = heddle.lobpcg(
        A,
        start(300, 3),
        tol=1e-6,
        largest=False,
        retLambdaHistory=True,
        retResidualNormsHistory=True,
    )
    assert values.shape == norms.shape and values.shape[1] == 3
    final = np.linalg.norm(A @ v - v * w, axis=0)
    assert final.max() <= 1e-6
    np.testing.assert_allclose(values[-1], w, rtol=1e-6)
    assert norms[-1].max() <= 1e-5 and norms[0].max() > 100 * norms[-1].max()
    only_values = heddle.lobpcg(A, start(300, 2), largest=False, retLambdaHistory=True)
    assert len(only_values) == 3


def test_absolute_tolerance_of_a_large_matrix():
    A = 1e6 * path_laplacian(300)
    w, v = heddle.lobpcg(A, start(300, 3), tol=10.0, largest=True)
    assert 1e-3 < np.linalg.norm(A @ v - v * w, axis=0).max() <= 10


def test_failure_warns_and_keeps_what_there_is():
    A = path_laplacian(500)
    with pytest.warns(heddle.ConvergenceWarning, match="max_iterations"):
        w, v = heddle.lobpcg(A, start(500, 2), maxiter=2, largest=False, preconditioner="none")
    assert w.shape == (2,) and v.shape == (500, 2)
    with pytest.raises(heddle.NotConverged):
        heddle.lobpcg(A, start(500, 2), maxiter=2, largest=False, on_failure="raise")


def test_same_values_as_scipy():
    A = path_laplacian(80)
    X = start(80, 4)
    ours = heddle.lobpcg(A, X, largest=True)
    theirs = sla.lobpcg(A, X, largest=True, tol=1e-9, maxiter=500)
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-8)
    np.testing.assert_allclose(ours[0], path_eigenvalues(80)[::-1][:4], rtol=1e-8)


def test_single_precision():
    A = path_laplacian(100).astype(np.float32)
    w, v = heddle.lobpcg(A, start(100, 2).astype(np.float32), largest=True)
    assert w.dtype == v.dtype == np.float32
    np.testing.assert_allclose(w, path_eigenvalues(100)[::-1][:2], rtol=1e-5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"X": start(9, 2)}, "X has 9 rows where 50 are needed"),
        ({"Y": start(9, 2)}, "Y has 9 rows"),
        ({"B": np.eye(9)}, "B: the mass matrix has order 9"),
        ({"M": np.eye(9)}, "^M: is 9 x 9"),
        ({"X": start(50, 0)}, "the number of columns of X is 0"),
        ({"X": start(50, 51)}, "the number of columns of X is 51"),
        ({"restartControl": 5}, "restartControl"),
        ({"A": lambda X: 2 * X, "retResidualNormsHistory": True}, "1-norm of A"),
        ({"A": lambda X: X[:3]}, "A returned the shape"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        heddle.lobpcg(**{"A": path_laplacian(50), "X": start(50, 2), **arguments})


@pytest.mark.parametrize("tol", [0, 0.0, -1])
def test_tolerances_that_ask_for_the_default(tol):
    """SciPy takes them as None."""
    A, X = path_laplacian(60), np.random.default_rng(0).standard_normal((60, 2))
    found = heddle.lobpcg(A, X, tol=tol, largest=False)
    for ours, default in zip(found, heddle.lobpcg(A, X, largest=False)):
        np.testing.assert_array_equal(ours, default)
    with pytest.raises(ValueError, match="tol"):
        heddle.lobpcg(A, X, tol=np.nan, largest=False)
