"""Messages name what the caller has passed, and the way out."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import path_eigenvalues, path_laplacian

import heddle

A = path_laplacian(30)
b, X = np.ones(30), np.eye(30, 2)
UPPER, LOWER = sp.triu(A).tocsr(), sp.tril(A).tocsr()
SLIGHT = (A + sp.csr_array(([1e-9], ([3], [2])), shape=A.shape)).tocsr()
UNSYMMETRIC = (A + 0.1 * sp.eye_array(30, k=2)).tocsr()
FIELDS = ("nev", "normal_equations", "tolerance", "max_iterations", "initial_guess", "rhs")

SYMMETRIC_ONLY = {
    "eigsh SA": lambda A, **extras: heddle.eigsh(A, 2, which="SA", **extras),
    "eigsh LM": lambda A, **extras: heddle.eigsh(A, 2, **extras),
    "eigsh BE": lambda A, **extras: heddle.eigsh(A, 2, which="BE", **extras),
    "eigsh sigma": lambda A, **extras: heddle.eigsh(A, 2, sigma=1.9, **extras),
    "eigsh_interval": lambda A, **extras: heddle.eigsh_interval(A, (0, 1), **extras),
    "lobpcg": lambda A, **extras: heddle.lobpcg(A, X, largest=False, **extras),
    "cg": lambda A, **extras: heddle.cg(A, b, **extras),
    "spectral_density": lambda A, **extras: heddle.spectral_density(A, **extras),
    "solve": lambda A, **extras: heddle.solve(A, nev=2, **extras),
    "plan": lambda A, **extras: heddle.plan(A, nev=2, **extras),
}


def message_of(call):
    with pytest.raises((ValueError, TypeError, heddle.NotConverged)) as caught:
        call()
    return str(caught.value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: heddle.svds(A, 31), "^k is 31, but"),
        (lambda: heddle.eigsh(A, 31, which="SA"), "^k is 31, .*: k must be at most 30$"),
        (lambda: heddle.eigsh(A, 2, which="SA", tol=-1), "^tol is -1, not a number from 0 and below 1"),
        (lambda: heddle.svds(A, 2, tol=-1), "^tol is -1, not a number from 0"),
        (lambda: heddle.lstsq(A, b, rtol=-1), "^rtol is -1, not a number from 0"),
        (lambda: heddle.eigsh(A[:, :9], 2), "30 x 9, it must be square; svds finds.*lstsq"),
        (lambda: heddle.cg(A[:, :9], b), "30 x 9, it must be square; svds finds.*lstsq"),
        (lambda: heddle.svds(A, 2, symmetrize="average"), "symmetrize='average' .* with svds"),
        (lambda: heddle.lstsq(A, b, symmetrize="average"), "symmetrize='average' .* with lstsq"),
        (lambda: heddle.svds(A, 2, interval=(0, 1)), "^interval does not go with svds"),
        (lambda: heddle.svds(A, 2, preconditioner="multigrid"), "^preconditioner .* with svds"),
        (lambda: heddle.lstsq(A, b, preconditioner="multigrid"), "^preconditioner: multigrid"),
        (lambda: heddle.eigsh(A, 2, nev=3), "^nev: .* argument of its own for it: k$"),
        (lambda: heddle.svds(A, 2, max_iterations=3), "^max_iterations: .* for it: maxiter$"),
        (lambda: heddle.cg(A, b, tolerance=3), "^tolerance: .* for it: rtol$"),
        (lambda: heddle.eigsh(A, 2, rng="x"), "^rng is 'x'"),
        (lambda: heddle.svds(A, 2, random_state="x"), "^random_state is 'x'"),
        (lambda: heddle.eigsh_interval(A, (0, 4), k=3), "more than k = 3"),
        (lambda: heddle.eigsh(A, 2, M=-sp.eye_array(30), which="SA"), r"^M: .* M\[0, 0\] is -1"),
    ],
)
def test_arguments_have_the_callers_names(call, message):
    found = message_of(call)
    assert re.search(message, found), found
    # Names that the caller has written, and the status at the beginning of a failure.
    inside = found.split(":", 1)[-1] if re.match("[a-z_]+: ", found) else found
    assert not [field for field in FIELDS if re.search(rf"\b{field}\b", inside)], found


def test_names_of_a_problem_stay():
    """`solve` has the words of the library."""
    assert "normal_equations" in message_of(lambda: heddle.solve(A[:, :9]))
    assert "nev must be at most" in message_of(lambda: heddle.solve(A, nev=31))


@pytest.mark.parametrize("name", SYMMETRIC_ONLY)
class TestSymmetry:
    @pytest.mark.parametrize(("part", "triangle"), [(UPPER, "upper"), (LOWER, "lower")])
    def test_one_triangle(self, name, part, triangle):
        found = message_of(lambda: SYMMETRIC_ONLY[name](part))
        assert re.match(r"A: the matrix is not symmetric: A\[\d+, \d+\] is -1, A\[\d+, \d+\] is 0;", found)
        assert f"the {triangle} triangle" in found and "symmetrize='triangle'" in found
        SYMMETRIC_ONLY[name](part, symmetrize="triangle")
        found = message_of(lambda: SYMMETRIC_ONLY[name](part, symmetrize="average"))
        assert "symmetrize='triangle' mirrors them" in found

    def test_slightly_unsymmetric(self, name):
        found = message_of(lambda: SYMMETRIC_ONLY[name](SLIGHT))
        assert "by 5.0e-10 of the largest entry" in found and "symmetrize='average'" in found
        assert "A[3, 2]" in found and "A[2, 3]" in found
        SYMMETRIC_ONLY[name](SLIGHT, symmetrize="average")
        found = message_of(lambda: SYMMETRIC_ONLY[name](SLIGHT, symmetrize="triangle"))
        assert "entries in both of its triangles" in found

    def test_unsymmetric(self, name):
        found = message_of(lambda: SYMMETRIC_ONLY[name](UNSYMMETRIC))
        assert "symmetrize" not in found and "svds and lstsq take unsymmetric matrices" in found


@pytest.mark.parametrize("which", ["SA", "LA", "LM", "SM", "BE"])
def test_values_of_symmetrised_matrices(which):
    options = {"which": which, "return_eigenvectors": False, "return_stats": True}
    truth = heddle.eigsh(A, 4, which=which, return_eigenvectors=False)
    for part in (UPPER, LOWER, A):
        w, result = heddle.eigsh(part, 4, symmetrize="triangle", **options)
        np.testing.assert_allclose(w, truth, rtol=1e-10)
        assert result.asymmetry == 0
    w, result = heddle.eigsh(SLIGHT, 4, symmetrize="average", **options)
    np.testing.assert_allclose(w, truth, rtol=1e-8)
    np.testing.assert_allclose(result.asymmetry, 5e-10, rtol=1e-6)


def test_symmetrised_pencils():
    M = 4 * sp.eye_array(30) + sp.eye_array(30, k=1) + sp.eye_array(30, k=-1)
    truth = heddle.eigsh(A, 3, M=M, which="SA", return_eigenvectors=False)
    found = heddle.eigsh(
        UPPER, 3, M=sp.tril(M), which="SA", symmetrize="triangle", return_eigenvectors=False
    )
    np.testing.assert_allclose(found, truth, rtol=1e-10)
    found = message_of(lambda: heddle.eigsh(A, 3, M=sp.tril(M), which="SA"))
    assert found.startswith("M: the matrix is not symmetric: M[1, 0] is 1, M[0, 1] is 0; ")


def test_small_entries_of_one_triangle_are_averaged():
    almost = (sp.diags_array(path_eigenvalues(30)) + sp.csr_array(([1e-12], ([0], [5])), (30, 30))).tocsr()
    w = heddle.eigsh(almost, 2, which="LA", symmetrize="average", return_eigenvectors=False)
    np.testing.assert_allclose(w, path_eigenvalues(30)[-2:], rtol=1e-10)
