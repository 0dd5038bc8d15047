"""Arrays of CuPy: matrices are used where they lie, on the caller's stream, and results are arrays of
CuPy. Tensors of PyTorch, sparse CSR or dense, are passed in the same way."""

import sys

import heddle

if not heddle.has_cuda:
    sys.exit("skipped: this build of heddle has no CUDA backend")
try:
    import cupy
    from cupyx.scipy import sparse
except ImportError:
    sys.exit("skipped: CuPy is not installed")
try:
    cupy.cuda.runtime.getDeviceCount()
except cupy.cuda.runtime.CUDARuntimeError as error:
    sys.exit(f"skipped: {error}")

n = 50
A = sparse.csr_matrix(heddle.generate("laplace3d", n, n, n))
w, v, stats = heddle.eigsh(A, 16, which="SA", tol=1e-8, return_stats=True)
print(stats)
assert isinstance(v, cupy.ndarray)
assert float(cupy.abs(A @ v - v * w).max()) < 1e-5

B = cupy.random.default_rng(0).standard_normal((A.shape[0], 8))
X, info = heddle.cg(A, B, rtol=1e-8)
assert info == 0


def laplacian(X):
    """A X without a matrix. Functions get and return blocks on the GPU."""
    grid = X.reshape(n, n, n, -1)
    result = 6 * grid
    for axis in range(3):
        ahead = tuple(slice(1, None) if k == axis else slice(None) for k in range(4))
        behind = tuple(slice(None, -1) if k == axis else slice(None) for k in range(4))
        result[ahead] -= grid[behind]
        result[behind] -= grid[ahead]
    return result.reshape(X.shape)


Y, info = heddle.cg(laplacian, B, rtol=1e-8)
assert info == 0 and float(cupy.abs(X - Y).max()) < 1e-5 * float(cupy.abs(X).max())

# A matrix in host memory, solved on the GPU: it is copied there, and the solution back.
w = heddle.eigsh(A.get(), 16, which="SA", tol=1e-8, device="cuda", return_eigenvectors=False)
print(w)
