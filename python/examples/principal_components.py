"""Principal components of sparse data by svds, without storing the centred data, which is dense."""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

import heddle

rng = np.random.default_rng(0)
data = sp.random_array((2000, 300), density=0.02, rng=rng, format="csr") @ sp.diags_array(
    np.linspace(3, 0.1, 300)
)
mean = np.asarray(data.sum(axis=0)).ravel() / data.shape[0]
ones = np.ones((data.shape[0], 1))
centred = LinearOperator(
    data.shape,
    matvec=lambda x: data @ x - mean @ x,
    rmatvec=lambda y: data.T @ y - mean * y.sum(),
    matmat=lambda X: data @ X - ones * (mean @ X),
    rmatmat=lambda Y: data.T @ Y - np.outer(mean, Y.sum(axis=0)),
    dtype=float,
)
u, s, components = heddle.svds(centred, k=5, tol=1e-10)
variances = s[::-1] ** 2 / (data.shape[0] - 1)
print("variances of the first five components:", np.round(variances, 4))

dense = np.linalg.svd(data.toarray() - mean, compute_uv=False)
np.testing.assert_allclose(s[::-1], dense[:5], rtol=1e-8)
