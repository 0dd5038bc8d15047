"""lsqr and lsmr against those of SciPy."""

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from conftest import path_laplacian

import heddle

TIGHT = {"atol": 1e-13, "btol": 1e-13}


def system(rows, cols, seed=3):
    rng = np.random.default_rng(seed)
    A = sp.random_array((rows, cols), density=0.2, rng=rng, format="csr")
    return A, rng.standard_normal(rows), rng.standard_normal(cols)


PAIRS = [(heddle.lsqr, sla.lsqr), (heddle.lsmr, sla.lsmr)]


@pytest.mark.parametrize("with_x0", [False, True])
@pytest.mark.parametrize("damp", [0.0, 0.3, 4.0])
@pytest.mark.parametrize("shape", [(200, 60), (60, 200), (80, 80)])
@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_values_are_those_of_scipy(ours, theirs, shape, damp, with_x0):
    A, b, x0 = system(*shape)
    x0 = x0 if with_x0 else None
    found = ours(A, b, damp, x0=x0, **TIGHT)
    limit = {"iter_lim" if theirs is sla.lsqr else "maxiter": 20000}
    truth = theirs(A, b, damp, x0=x0, **TIGHT, conlim=0, **limit)
    assert len(found) == len(truth)
    if damp or x0 is None or shape[0] > shape[1]:  # otherwise there are many solutions
        np.testing.assert_allclose(found[0], truth[0], atol=1e-6 * abs(truth[0]).max())
        at = 8 if theirs is sla.lsqr else 7
        np.testing.assert_allclose(found[at], np.linalg.norm(found[0]), rtol=1e-10)
    # lsmr of SciPy has a norm of the residual that contains the damping, lsqr has both.
    here, there = found[3:5 if theirs is sla.lsqr else 4], truth[3:5 if theirs is sla.lsqr else 4]
    np.testing.assert_allclose(here, there, rtol=1e-7, atol=1e-7)
    dense = np.linalg.norm(np.vstack([A.toarray(), damp * np.eye(shape[1])]))
    np.testing.assert_allclose(found[5], dense, rtol=1e-12)


@pytest.mark.parametrize("ours", [heddle.lsqr, heddle.lsmr])
@pytest.mark.parametrize("tolerance", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("noise", [0, 1e-7, 1e-3, 1])
def test_the_criterion_of_scipy_holds(ours, tolerance, noise):
    """Residuals from 0 to the size of b: each way to end is met."""
    A = path_laplacian(400)[:, :300].tocsr()
    rng = np.random.default_rng(5)
    b = A @ rng.standard_normal(300) + noise * rng.standard_normal(400)
    x, istop, *_ = ours(A, b, atol=tolerance, btol=tolerance)
    r, norm = b - A @ x, np.linalg.norm(A.data)
    if istop == 5:  # the criterion asks for less than rounding leaves
        assert tolerance == 1e-9 and noise == 1e-7
        assert np.linalg.norm(A.T @ r) <= 1e-13 * norm * np.linalg.norm(b)
    elif istop == 1:
        size = np.linalg.norm(x)
        assert np.linalg.norm(r) <= tolerance * (norm * size + np.linalg.norm(b)) * (1 + 1e-9)
    else:
        assert istop == 2
        assert np.linalg.norm(A.T @ r) <= tolerance * norm * np.linalg.norm(r) * (1 + 1e-9)


def test_forms_of_matrices_and_right_hand_sides():
    A, b, _ = system(90, 30)
    truth = np.linalg.lstsq(A.toarray(), b, rcond=None)[0]
    for form in (A, A.tocsc(), A.tocoo(), A.toarray(), A.toarray().tolist(), sla.aslinearoperator(A)):
        for rhs in (b, b[:, None], b.tolist()):
            x, istop, *_ = heddle.lsqr(form, rhs, **TIGHT)
            assert x.shape == (30,) and istop in (1, 2, 5)
            np.testing.assert_allclose(x, truth, atol=1e-7)
    integers = (10 * A).astype(int)
    truth = np.linalg.lstsq(integers.toarray(), np.arange(90), rcond=None)[0]
    np.testing.assert_allclose(heddle.lsmr(integers, np.arange(90), **TIGHT)[0], truth, atol=1e-6)


def test_norm_of_an_operator_is_about_that_of_its_matrix():
    A, b, _ = system(90, 30)
    norm = heddle.lsqr(sla.aslinearoperator(A), b)[5]
    assert abs(norm / np.linalg.norm(A.data) - 1) < 0.5


def test_endings():
    A, b, x0 = system(400, 300)
    assert heddle.lsqr(A, np.zeros(400))[:2][1] == 0
    operator = sla.aslinearoperator(path_laplacian(400))
    x, istop, itn, *_ = heddle.lsqr(operator, b, iter_lim=3)
    assert istop == 7 and itn == 3 and np.isfinite(x).all()
    x, istop, itn, *_, result = heddle.lsmr(operator, b, maxiter=3, return_stats=True)
    assert istop == 7 and itn == 3 and result.status == "max_iterations"
    with pytest.raises(heddle.NotConverged):
        heddle.lsqr(operator, b, iter_lim=3, on_failure="raise")


def test_show(capsys):
    heddle.lsqr(np.eye(3), np.ones(3), show=True)
    assert "converged" in capsys.readouterr().out


def test_single_precision():
    A, b, _ = system(90, 30)
    x = heddle.lsqr(A.astype(np.float32), b.astype(np.float32))[0]
    assert x.dtype == np.float32
    np.testing.assert_allclose(x, np.linalg.lstsq(A.toarray(), b, rcond=None)[0], atol=1e-3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"conlim": 1e4}, "^conlim: lsqr of heddle"),
        ({"calc_var": True}, "^calc_var: "),
        ({"atol": -1}, "atol is -1.0 and btol is 1e-06"),
        ({"btol": np.inf}, "btol is inf"),
        ({"iter_lim": 0}, "^iter_lim is 0, not 1 or more"),
        ({"damp": -1}, "^damp is -1"),
        ({"x0": np.ones(7)}, "^x0 has 7 rows where 20 are needed"),
        ({"x0": np.ones((20, 2))}, "^x0 has 2 columns"),
        ({"b": np.ones((40, 2))}, "^b has 2 columns: lsqr takes one, lstsq takes many"),
        ({"b": np.ones(7)}, "^b has 7 rows where 40"),
        ({"symmetrize": "average"}, "with lsqr"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    A, b, _ = system(40, 20)
    with pytest.raises(ValueError, match=message):
        heddle.lsqr(A, **{"b": b, **arguments})
