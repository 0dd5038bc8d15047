"""The same calls on a GPU: device="cuda". Matrices are copied to it once, results back once."""

import sys

import numpy as np

import heddle

if not heddle.has_cuda:
    sys.exit("skipped: this build of heddle has no CUDA backend")
A = heddle.generate("laplace3d", 50, 50, 50)
try:
    w, v, stats = heddle.eigsh(A, 16, which="SA", tol=1e-8, device="cuda", return_stats=True)
except heddle.DeviceError as error:
    sys.exit(f"skipped: {error}")
print(stats)

try:
    import cupy
except ImportError:
    sys.exit("skipped the part with CuPy, which is not installed")
rhs = cupy.random.default_rng(0).standard_normal((A.shape[0], 8))
x, info = heddle.cg(A, rhs.get(), rtol=1e-8, device="cuda")
x = cupy.asarray(x)
assert info == 0 and np.isfinite(float(cupy.linalg.norm(x)))
