"""Matrices that several tests share, with spectra in closed form or from dense LAPACK."""

import signal

import numpy as np
import pytest
import scipy.linalg as dense
import scipy.sparse as sp


# A shell starts background processes with SIGINT ignored, which their children would inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)


def path_laplacian(n):
    """tridiag(-1, 2, -1), with the eigenvalues 4 sin^2(pi j / (2 (n + 1)))."""
    return sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n), format="csr")


def path_eigenvalues(n):
    return 4 * np.sin(np.pi * np.arange(1, n + 1) / (2 * (n + 1))) ** 2


def random_symmetric(n, seed, shift=0.0):
    """A sparse symmetric matrix with eigenvalues of both signs for shift 0."""
    A = sp.random_array((n, n), density=0.05, rng=np.random.default_rng(seed), format="csr")
    return sp.csr_array((A + A.T) / 2 - 0.1 * sp.eye_array(n) + shift * sp.eye_array(n))


def mass_matrix(n, seed=3):
    """A positive definite diagonal-dominant tridiagonal matrix."""
    d = np.random.default_rng(seed).uniform(2, 3, n)
    return sp.diags_array([-0.5, d, -0.5], offsets=[-1, 0, 1], shape=(n, n), format="csr")


def residuals(A, w, v, B=None):
    """Norms of A x - lambda B x, relative to the norm of A."""
    Bv = v if B is None else B @ v
    scale = abs(A).sum(axis=0).max()
    return np.linalg.norm(A @ v - Bv * w, axis=0) / scale


@pytest.fixture(scope="session")
def pencil():
    A, B = path_laplacian(200) + sp.eye_array(200) * 0.01, mass_matrix(200)
    return A.tocsr(), B, dense.eigh(A.toarray(), B.toarray(), eigvals_only=True)


@pytest.fixture(scope="session")
def indefinite():
    A = random_symmetric(150, 5)
    return A, np.linalg.eigvalsh(A.toarray())
