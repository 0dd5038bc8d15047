"""svds against dense LAPACK and SciPy."""

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import heddle


def rectangular(rows, cols, seed=1):
    return sp.random_array((rows, cols), density=0.2, rng=np.random.default_rng(seed), format="csr")


@pytest.mark.parametrize("shape", [(120, 60), (60, 120), (70, 70)])
@pytest.mark.parametrize("which", ["LM", "SM"])
def test_shapes_and_ends(shape, which):
    A = rectangular(*shape)
    truth = np.linalg.svd(A.toarray(), compute_uv=False)
    u, s, vh = heddle.svds(A, 4, which=which)
    wanted = np.sort(truth[:4] if which == "LM" else truth[-4:])
    np.testing.assert_allclose(s, wanted, atol=1e-9 * truth[0])
    assert u.shape == (shape[0], 4) and vh.shape == (4, shape[1])
    assert np.linalg.norm(A @ vh.T - u * s) < 1e-9 * truth[0]
    np.testing.assert_allclose(u.T @ u, np.eye(4), atol=1e-8)
    np.testing.assert_allclose(vh @ vh.T, np.eye(4), atol=1e-8)


def test_same_values_as_scipy_and_what_is_returned():
    A = rectangular(100, 50)
    theirs = sla.svds(A, 5)
    ours = heddle.svds(A, 5)
    np.testing.assert_allclose(ours[1], theirs[1], rtol=1e-11)
    np.testing.assert_allclose((ours[0] * ours[1]) @ ours[2], (theirs[0] * theirs[1]) @ theirs[2])
    np.testing.assert_array_equal(heddle.svds(A, 5, return_singular_vectors=False), ours[1])
    for no in (0, np.False_):
        np.testing.assert_array_equal(heddle.svds(A, 5, return_singular_vectors=no), ours[1])
    u, s, none = heddle.svds(A, 5, return_singular_vectors="u")
    assert none is None and u.shape == (100, 5)
    none, s, vh = heddle.svds(A, 5, return_singular_vectors="vh")
    assert none is None and vh.shape == (5, 50)


@pytest.mark.parametrize("solver", ["arpack", "lobpcg", "propack"])
def test_solvers(solver):
    A = rectangular(80, 60)
    _, s, _, result = heddle.svds(A, 3, solver=solver, tol=1e-8, return_stats=True)
    truth = np.linalg.svd(A.toarray(), compute_uv=False)
    np.testing.assert_allclose(s[::-1], truth[:3], rtol=1e-8)
    assert result.converged


def test_formats_and_operators():
    A = rectangular(90, 40)
    reference = heddle.svds(A, 3)[1]
    for other in (A.tocsc(), A.tocoo(), A.toarray(), sla.aslinearoperator(A)):
        np.testing.assert_allclose(heddle.svds(other, 3)[1], reference, rtol=1e-12)


@pytest.mark.parametrize("length", [90, 40])
def test_start_vectors_and_seeds(length):
    A = rectangular(90, 40)
    truth = np.linalg.svd(A.toarray(), compute_uv=False)
    s = heddle.svds(A, 2, v0=np.ones(length), rng=3)[1]
    np.testing.assert_allclose(s[::-1], truth[:2], rtol=1e-10)
    s = heddle.svds(A.toarray().tolist(), 2, v0=np.ones(length))[1]
    np.testing.assert_allclose(s[::-1], truth[:2], rtol=1e-10)
    s = heddle.svds(A, 2, random_state=np.random.RandomState(0))[1]
    np.testing.assert_allclose(s[::-1], truth[:2], rtol=1e-10)


def test_low_rank():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 40))
    u, s, vh = heddle.svds(A, 3)
    np.testing.assert_allclose((u * s) @ vh, A, atol=1e-10)


def test_single_precision():
    A = rectangular(90, 40)
    u, s, vh = heddle.svds(A.astype(np.float32), 2)
    assert u.dtype == s.dtype == vh.dtype == np.float32
    truth = np.linalg.svd(A.toarray(), compute_uv=False)
    np.testing.assert_allclose(s[::-1], truth[:2], rtol=1e-5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": 41}, "k is 41, but a matrix of 90 x 40 has 40 singular values"),
        ({"maxiter": 0}, "maxiter is 0, not 1 or more"),
        ({"which": "LA"}, "which is 'LA', not 'LM' or 'SM'"),
        ({"solver": "magic"}, "solver is 'magic'"),
        ({"return_singular_vectors": "both"}, "return_singular_vectors is 'both'"),
        ({"options": {"x": 1}}, "options are those of ARPACK"),
        ({"v0": np.ones(7)}, "v0 has the shape"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        heddle.svds(rectangular(90, 40), **arguments)


def test_operators_without_a_transpose_are_refused():
    A = rectangular(90, 40)
    operator = sla.LinearOperator(A.shape, matvec=lambda x: A @ x, dtype=float)
    with pytest.raises(TypeError, match="an operator needs rmatvec or rmatmat"):
        heddle.svds(operator, 2)
