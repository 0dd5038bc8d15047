#!/usr/bin/env python3
"""CuPy's cg on the 7-point Laplacian: what bench/gpu_block_cg is compared with.

usage: cupy_cg.py [GRID [COLUMNS [TOLERANCE]]]     default: 100 16 1e-8

Calls cupyx.scipy.sparse.linalg.cg once for each of COLUMNS random right-hand sides, to
‖b - A x‖ ≤ TOLERANCE·‖b‖ without a preconditioner. Prints the seconds of all calls together, the
second time through: the first one compiles kernels.
"""

import inspect
import sys
import time

import cupy
import cupyx.scipy.sparse as sparse
from cupyx.scipy.sparse.linalg import cg


def laplace3d(m):
    line = sparse.diags([-cupy.ones(m - 1), 2 * cupy.ones(m), -cupy.ones(m - 1)], [-1, 0, 1])
    identity = sparse.identity(m)
    kron = lambda a, b, c: sparse.kron(sparse.kron(a, b), c)
    total = kron(line, identity, identity) + kron(identity, line, identity)
    return sparse.csr_matrix(total + kron(identity, identity, line))


def main():
    grid = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    columns = int(sys.argv[2]) if len(sys.argv) > 2 else 16
    tolerance = float(sys.argv[3]) if len(sys.argv) > 3 else 1e-8
    A = laplace3d(grid)
    B = cupy.random.default_rng(1).uniform(-1, 1, (columns, A.shape[0]))
    # Its relative tolerance was `tol` before version 14.
    name = "rtol" if "rtol" in inspect.signature(cg).parameters else "tol"
    options = {name: tolerance, "atol": 0.0}
    cg(A, B[0], maxiter=5, **options)
    cupy.cuda.Device().synchronize()
    begin = time.perf_counter()
    X = [cg(A, b, **options)[0] for b in B]
    cupy.cuda.Device().synchronize()
    seconds = time.perf_counter() - begin
    residuals = [float(cupy.linalg.norm(b - A @ x) / cupy.linalg.norm(b)) for b, x in zip(B, X)]
    print(
        f"cupy {cupy.__version__} cg laplace3d {grid}^3, {columns} right-hand sides one after the "
        f"other: {seconds:.3f} s, worst residual {max(residuals):.1e}"
    )


main()
