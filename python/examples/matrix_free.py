"""A matrix that is never stored: the second derivative by FFT, with a preconditioner that is a
function, too."""

import numpy as np
from scipy.sparse.linalg import LinearOperator

import heddle

n = 512
frequencies = np.fft.rfftfreq(n, 1 / n)[:, None]
potential = (1 + np.cos(np.linspace(0, 2 * np.pi, n, endpoint=False)))[:, None] * 50


def spectral(X, symbol):
    return np.fft.irfft(np.fft.rfft(X, axis=0) * symbol, n, axis=0)


def hamiltonian(X):
    X = X.reshape(n, -1)
    return spectral(X, frequencies**2) + potential * X


def approximate_inverse(X):
    return spectral(X, 1 / (frequencies**2 + 50))


A = LinearOperator((n, n), matvec=hamiltonian, matmat=hamiltonian, dtype=float)
X = np.random.default_rng(0).standard_normal((n, 4))
w, v = heddle.lobpcg(A, X, M=approximate_inverse, largest=False, on_failure="raise")
print("energies:", w)

dense = np.linalg.eigvalsh(hamiltonian(np.eye(n)))
np.testing.assert_allclose(w, dense[:4], rtol=1e-7)
