"""The tasks of compare.py with arrays of CuPy on a GPU: heddle beside cupyx.scipy.sparse.linalg, on
the same arrays and with the same tolerances."""

import inspect
import statistics
import time

import cupy
import cupyx.scipy.sparse as csp
import cupyx.scipy.sparse.linalg as cla
import numpy as np

import heddle

PAIRS = 6
COLUMNS = 8
REAL = ["bcsstk17", "Dubcova1", "Trefethen_20000"]
GENERATED = {
    "laplace3d 80x80x80": ("laplace3d", 80, 80, 80),
    "wathen 200x200": ("wathen", 200, 200),
}
# The argument of cg for the relative tolerance, whose name has changed.
_RTOL = "rtol" if "rtol" in inspect.signature(cla.cg).parameters else "tol"


def on_device(A):
    """A on the GPU, where CuPy knows offsets of 32 bits only."""
    return csp.csr_matrix(
        (cupy.asarray(A.data), cupy.asarray(A.indices), cupy.asarray(A.indptr.astype(np.int32))),
        shape=A.shape,
    )


def _norm_1(A):
    return float(abs(A).sum(axis=0).max())


def _largest(ratios):
    cupy.cuda.get_current_stream().synchronize()
    return float(ratios.max())


def _eigen_residual(A, w, v):
    norms = cupy.linalg.norm(v, axis=0)
    return _largest(cupy.linalg.norm(A @ v - v * w, axis=0) / norms) / _norm_1(A)


def _start(A, columns):
    return cupy.asarray(np.random.default_rng(1).standard_normal((A.shape[0], columns)))


def eigen_task(which):
    """Six pairs of an end, tol = 0 on both sides."""

    def solvers(A):
        return {
            "heddle": lambda: _eigen_residual(A, *heddle.eigsh(A, PAIRS, which=which)),
            "cupy": lambda: _eigen_residual(A, *cla.eigsh(A, PAIRS, which=which)),
        }

    return solvers


def lobpcg_task(A):
    """Six smallest pairs to residuals of 1e-8 |A|, CuPy with Jacobi and heddle as it comes."""
    X = _start(A, PAIRS)
    options = {"tol": 1e-8 * _norm_1(A), "largest": False}
    M = csp.diags(1 / A.diagonal(), format="csr")

    def theirs():
        residual = _eigen_residual(A, *cla.lobpcg(A, X, M=M, maxiter=3000, **options))
        if not residual <= 2e-8:
            raise RuntimeError(f"residual {residual:.1e}")
        return residual

    def ours(**extras):
        return _eigen_residual(A, *heddle.lobpcg(A, X, on_failure="raise", **options, **extras))

    return {"heddle": ours, "cupy": theirs, "heddle jacobi": lambda: ours(preconditioner="jacobi")}


def svds_task(A):
    def judged(solve):
        def judge():
            u, s, vh = solve(A, PAIRS)
            return _largest(cupy.linalg.norm(A @ vh.T - u * s, axis=0)) / float(s.max())

        return judge

    return {"heddle": judged(heddle.svds), "cupy": judged(cla.svds)}


def cg_task(columns):
    def solvers(A):
        B = _start(A, columns)
        M = csp.diags(1 / A.diagonal(), format="csr")

        def judge(X):
            return _largest(cupy.linalg.norm(A @ X - B, axis=0) / cupy.linalg.norm(B, axis=0))

        def theirs():
            options = {_RTOL: 1e-8, "atol": 0, "maxiter": 100000, "M": M}
            found = [cla.cg(A, cupy.ascontiguousarray(b), **options) for b in B.T]
            if any(info for _, info in found):
                raise RuntimeError("not converged")
            return judge(cupy.stack([x for x, _ in found], axis=1))

        def ours():
            return judge(heddle.cg(A, B, rtol=1e-8, maxiter=100000, on_failure="raise")[0])

        return {"heddle": ours, "cupy": theirs}

    return solvers


TASKS = {
    "eigsh, 6 largest": eigen_task("LA"),
    "eigsh, 6 smallest": eigen_task("SA"),
    "lobpcg, 6 smallest": lobpcg_task,
    "svds, 6 largest": svds_task,
    "cg, 1 column": cg_task(1),
    f"cg, {COLUMNS} columns": cg_task(COLUMNS),
}


def warm_up():
    """Runs all tasks once, so that CuPy has compiled its kernels."""
    A = on_device(heddle.generate("laplace2d", 30, 30))
    for solvers in TASKS.values():
        for solve in solvers(A).values():
            try:
                solve()
            except Exception as error:  # a cell of the table will tell it
                print(f"warming up: {type(error).__name__}: {error}")


def overhead():
    """Seconds of a small call beyond those of the library."""
    A, b = on_device(heddle.generate("laplace1d", 100)), cupy.ones(100)
    extra, whole = [], []
    for _ in range(200):
        begin = time.perf_counter()
        result = heddle.cg(A, b, preconditioner="none", return_stats=True)[2]
        whole.append(time.perf_counter() - begin)
        extra.append(whole[-1] - sum(result.timings[k] for k in ("setup", "solve")))
    print(f"Time per call: {1e3 * statistics.median(whole):.3f} ms, beyond the solve's: "
          f"{1e3 * statistics.median(extra):.3f} ms")
