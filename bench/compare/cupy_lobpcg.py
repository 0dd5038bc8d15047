#!/usr/bin/env python3
"""CuPy's lobpcg on the 7-point Laplacian: what bench/gpu_lobpcg is compared with.

usage: cupy_lobpcg.py [GRID [NEV [TOLERANCE]]]     default: 100 16 1e-8

The smallest pairs by cupyx.scipy.sparse.linalg.lobpcg to ‖r‖ ≤ TOLERANCE·‖A‖₁ without a
preconditioner, from a random block of NEV columns. Prints seconds, iterations and ms an iteration of
the second of two solves: the first one compiles kernels.
"""

import sys
import time
import warnings

import cupy
import cupyx.scipy.sparse as sparse
from cupyx.scipy.sparse.linalg import lobpcg


def laplace3d(m):
    line = sparse.diags([-cupy.ones(m - 1), 2 * cupy.ones(m), -cupy.ones(m - 1)], [-1, 0, 1])
    identity = sparse.identity(m)
    kron = lambda a, b, c: sparse.kron(sparse.kron(a, b), c)
    total = kron(line, identity, identity) + kron(identity, line, identity)
    return sparse.csr_matrix(total + kron(identity, identity, line))


def main():
    grid = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    nev = int(sys.argv[2]) if len(sys.argv) > 2 else 16
    tolerance = float(sys.argv[3]) if len(sys.argv) > 3 else 1e-8
    limit = int(sys.argv[4]) if len(sys.argv) > 4 else 2000
    A = laplace3d(grid)
    norm = 12.0
    warnings.simplefilter("ignore")
    for run in range(2):
        X = cupy.random.default_rng(run).standard_normal((A.shape[0], nev))
        cupy.cuda.Device().synchronize()
        begin = time.perf_counter()
        maxiter = 5 if run == 0 else limit
        values, vectors, history = lobpcg(
            A, X, tol=tolerance * norm, maxiter=maxiter, largest=False, retResidualNormsHistory=True
        )
        cupy.cuda.Device().synchronize()
        seconds = time.perf_counter() - begin
    iterations = len(history) - 1
    residuals = cupy.linalg.norm(A @ vectors - vectors * values, axis=0) / norm
    print(
        f"cupy {cupy.__version__} lobpcg laplace3d {grid}^3, {nev} pairs: {iterations} iterations, "
        f"{seconds:.3f} s, {seconds / max(iterations, 1) * 1e3:.3f} ms an iteration, "
        f"worst residual {float(residuals.max()):.2e}"
    )


if __name__ == "__main__":
    main()
