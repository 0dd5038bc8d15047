#!/usr/bin/env python3
"""CuPy's solvers on the 7-point Laplacian, or peierls3d with a FLUX per plaquette: what lab/gpu_eigen
and lab/gpu_block_cg are compared with.

usage: cupy_solvers.py lobpcg|eigsh|cg [GRID [COLUMNS [LIMIT [FLUX]]]]     default: 100 16 2000

lobpcg  COLUMNS smallest pairs to ‖r‖ ≤ 1e-8 ‖A‖₁ without a preconditioner, at most LIMIT iterations
eigsh   COLUMNS largest pairs (which='LA'), tolerance 1e-8 ‖A‖₁
cg      COLUMNS random right-hand sides one after the other to ‖r‖ ≤ 1e-8 ‖b‖

All run once before they are timed: the first calls compile kernels.
"""

import inspect
import sys
import time
import warnings

import cupy
import cupyx.scipy.sparse as sparse
from cupyx.scipy.sparse.linalg import cg, eigsh, lobpcg

TOLERANCE = 1e-8
NORM = 12.0  # ‖A‖₁


def laplace3d(m):
    line = sparse.diags([-cupy.ones(m - 1), 2 * cupy.ones(m), -cupy.ones(m - 1)], [-1, 0, 1])
    identity = sparse.identity(m)

    def kron(a, b, c):
        return sparse.kron(sparse.kron(a, b), c)

    total = kron(line, identity, identity) + kron(identity, line, identity)
    return sparse.csr_matrix(total + kron(identity, identity, line))


def peierls3d(m, flux):
    line = sparse.diags([-cupy.ones(m - 1), 2 * cupy.ones(m), -cupy.ones(m - 1)], [-1, 0, 1])
    identity = sparse.identity(m)
    up = sparse.diags([-cupy.ones(m - 1)], [1])
    forward = sparse.kron(up, sparse.diags([cupy.exp(2j * cupy.pi * flux * cupy.arange(m))], [0]))
    plane = sparse.kron(identity, line + 2 * identity) + forward + forward.conj().T
    stack = sparse.kron(line, sparse.identity(m * m))
    return sparse.csr_matrix(stack + sparse.kron(identity, plane))


def timed(call):
    cupy.cuda.Device().synchronize()
    begin = time.perf_counter()
    result = call()
    cupy.cuda.Device().synchronize()
    return result, time.perf_counter() - begin


def eigen_residual(A, values, vectors):
    return float(cupy.linalg.norm(A @ vectors - vectors * values, axis=0).max()) / NORM


def run_lobpcg(A, columns, limit):
    X = cupy.random.default_rng(1).standard_normal((A.shape[0], columns)).astype(A.dtype)
    options = {"tol": TOLERANCE * NORM, "largest": False, "retResidualNormsHistory": True}
    lobpcg(A, X, maxiter=5, **options)
    (values, vectors, history), seconds = timed(lambda: lobpcg(A, X, maxiter=limit, **options))
    iterations = max(len(history) - 1, 1)
    return (
        f"{iterations} iterations, {seconds:.3f} s, {seconds / iterations * 1e3:.3f} ms an "
        f"iteration, worst residual {eigen_residual(A, values, vectors):.1e}"
    )


def run_eigsh(A, columns, limit):
    def solve():
        return eigsh(A, k=columns, which="LA", tol=TOLERANCE * NORM, maxiter=limit * columns)

    solve()
    (values, vectors), seconds = timed(solve)
    return f"{seconds:.3f} s, worst residual {eigen_residual(A, values, vectors):.1e}"


def run_cg(A, columns, limit):
    B = cupy.random.default_rng(1).uniform(-1, 1, (columns, A.shape[0]))
    # Its relative tolerance was `tol` before version 14.
    name = "rtol" if "rtol" in inspect.signature(cg).parameters else "tol"
    options = {name: TOLERANCE, "atol": 0.0}
    cg(A, B[0], maxiter=5, **options)
    X, seconds = timed(lambda: [cg(A, b, maxiter=limit, **options)[0] for b in B])
    worst = max(float(cupy.linalg.norm(b - A @ x) / cupy.linalg.norm(b)) for b, x in zip(B, X))
    return f"{seconds:.3f} s, worst residual {worst:.1e}"


def main():
    solvers = {"lobpcg": run_lobpcg, "eigsh": run_eigsh, "cg": run_cg}
    if len(sys.argv) < 2 or sys.argv[1] not in solvers:
        sys.exit(__doc__)
    solver = sys.argv[1]
    grid, columns, limit = ([int(a) for a in sys.argv[2:5]] + [100, 16, 2000][len(sys.argv) - 2 :])
    warnings.simplefilter("ignore")
    flux = sys.argv[5:6]
    A = peierls3d(grid, float(flux[0])) if flux else laplace3d(grid)
    name = f"peierls3d {grid}^3 with flux {flux[0]}" if flux else f"laplace3d {grid}^3"
    report = solvers[solver](A, columns, limit)
    print(f"cupy {cupy.__version__} {solver} {name}, {columns} columns: {report}")


if __name__ == "__main__":
    main()
