#!/usr/bin/env python3
"""heddle beside scipy.sparse.linalg and PRIMME: times, accuracy, and tables for docs/performance.md.

usage: bench/python/compare.py [--gpu] [--matrices DIR] [--rounds N] [--limit SECONDS] [--only TASK]
                               [--few]

Each solve runs N times in turns with the others, and the median counts. A solve that takes longer
than the limit counts as failed. Accuracy is the largest relative residual of a solve, by which both
sides are judged alike. With --gpu CuPy stands for SciPy, and all arrays lie on the GPU; see on_gpu.py.
Real matrices: HEDDLE_MATRIX_DIR or --matrices."""

import argparse
import faulthandler
import os

THREADS = 2
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = str(THREADS)

import signal
import statistics
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import heddle

try:
    import primme
except ImportError:
    primme = None

REAL = [
    "1138_bus",
    "bcsstk09",
    "bcsstk16",
    "bcsstk17",
    "bcsstk26",
    "Chem97ZtZ",
    "Dubcova1",
    "Trefethen_20000",
    "bcsstk13",
    "bcsstk33",
]
GENERATED = {
    "laplace2d 200x200": ("laplace2d", 200, 200),
    "laplace3d 40x40x40": ("laplace3d", 40, 40, 40),
    "wathen 60x60": ("wathen", 60, 60),
    "elasticity3d 14x14x14": ("elasticity3d", 14, 14, 14),
}
PAIRS = 6
COLUMNS = 8


class TooLong(Exception):
    pass


def on_alarm(*_):
    raise TooLong


def eigen_residual(A, w, v):
    scale = abs(A).sum(axis=0).max()
    norms = np.linalg.norm(v, axis=0)
    return float((np.linalg.norm(A @ v - v * w, axis=0) / norms).max() / scale)


def singular_residual(A, u, s, vh):
    return float(np.linalg.norm(A @ vh.T - u * s, axis=0).max() / s.max())


def linear_residual(A, B, X):
    return float((np.linalg.norm(A @ X - B, axis=0) / np.linalg.norm(B, axis=0)).max())


def start(A, columns):
    return np.random.default_rng(1).standard_normal((A.shape[0], columns))


def eigen_task(which):
    """Six pairs of an end, tol = 0 on the sides of SciPy and heddle, 1e-14 on PRIMME's."""

    def solvers(A):
        def judged(solve):
            return lambda: eigen_residual(A, *solve())

        found = {
            "heddle": lambda: heddle.eigsh(A, PAIRS, which=which, threads=THREADS),
            "scipy": lambda: sla.eigsh(A, PAIRS, which=which, maxiter=10**6),
        }
        if which == "SA":
            found["scipy sigma=0"] = lambda: sla.eigsh(A.tocsc(), PAIRS, sigma=0)
        if primme is not None:
            found["primme"] = lambda: primme.eigsh(A, PAIRS, which=which, tol=1e-14)
        return {name: judged(solve) for name, solve in found.items()}

    return solvers


def lobpcg_task(A):
    """Six smallest pairs to residuals of 1e-8 |A|, SciPy with Jacobi and heddle as it comes."""
    X = start(A, PAIRS)
    tol = 1e-8 * abs(A).sum(axis=0).max()
    M = sp.diags_array(1 / A.diagonal(), format="csr")
    options = {"tol": tol, "largest": False}

    def scipy():
        w, v = sla.lobpcg(A, X, M=M, maxiter=3000, **options)
        residual = eigen_residual(A, w, v)
        if residual > 2e-8:
            raise RuntimeError(f"residual {residual:.1e}")
        return residual

    def ours(**extras):
        return eigen_residual(
            A, *heddle.lobpcg(A, X, threads=THREADS, on_failure="raise", **options, **extras)
        )

    return {"heddle": ours, "scipy": scipy, "heddle jacobi": lambda: ours(preconditioner="jacobi")}


def svds_task(A):
    found = {
        "heddle": lambda: heddle.svds(A, PAIRS, threads=THREADS),
        "scipy": lambda: sla.svds(A, PAIRS),
    }
    if primme is not None:
        found["primme"] = lambda: primme.svds(A, PAIRS, tol=1e-14)
    return {
        name: (lambda solve=solve: singular_residual(A, *solve())) for name, solve in found.items()
    }


def cg_task(columns):
    def solvers(A):
        B = start(A, columns)
        M = sp.diags_array(1 / A.diagonal(), format="csr")

        def scipy():
            found = [sla.cg(A, b, rtol=1e-8, maxiter=100000, M=M) for b in B.T]
            if any(info for _, info in found):
                raise RuntimeError("not converged")
            return linear_residual(A, B, np.stack([x for x, _ in found], axis=1))

        def ours():
            X, _ = heddle.cg(A, B, rtol=1e-8, maxiter=100000, threads=THREADS, on_failure="raise")
            return linear_residual(A, B, X)

        return {"heddle": ours, "scipy": scipy}

    return solvers


TASKS = {
    "eigsh, 6 largest": eigen_task("LA"),
    "eigsh, 6 smallest": eigen_task("SA"),
    "lobpcg, 6 smallest": lobpcg_task,
    "svds, 6 largest": svds_task,
    "cg, 1 column": cg_task(1),
    f"cg, {COLUMNS} columns": cg_task(COLUMNS),
}


def timed(solve, limit):
    """(seconds, residual), or the reason of a failure."""
    signal.signal(signal.SIGALRM, on_alarm)
    signal.setitimer(signal.ITIMER_REAL, limit)
    begin = time.perf_counter()
    try:
        residual = solve()
        return time.perf_counter() - begin, residual
    except Exception as error:  # a failure of any library is a cell of the table
        # PRIMME has an exception of its own for one that a product has raised.
        too_long = time.perf_counter() - begin >= limit
        return f"> {limit:g} s" if too_long else type(error).__name__
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def measure(solvers, rounds, limit):
    """{solver: (median seconds, residual) or the reason of a failure}"""
    runs = {name: [] for name in solvers}
    for _ in range(rounds):
        for name, solve in solvers.items():
            if not (runs[name] and isinstance(runs[name][-1], str)):
                runs[name].append(timed(solve, limit))
    return {
        name: (
            found[-1]
            if isinstance(found[-1], str)
            else (statistics.median(run[0] for run in found), max(run[1] for run in found))
        )
        for name, found in runs.items()
    }


def cell(run):
    return run if isinstance(run, str) else f"{run[0]:.3f} s, {run[1]:.0e}"


def ratio(ours, theirs):
    return None if isinstance(ours, str) or isinstance(theirs, str) else theirs[0] / ours[0]


def report(task, results):
    names = list(next(iter(results.values())))
    print(f"\n{task}: seconds and largest relative residual\n")
    print("| matrix | " + " | ".join(names) + " | " + " | ".join(f"{n} / heddle" for n in names[1:]) + " |")
    print("|---" * (2 * len(names)) + "|")
    ratios = {name: [] for name in names[1:]}
    for matrix, runs in results.items():
        row = [ratio(runs["heddle"], runs[name]) for name in names[1:]]
        for name, value in zip(names[1:], row):
            ratios[name] += [value] if value else []
        cells = [cell(runs[name]) for name in names] + [f"{r:.2f}" if r else "" for r in row]
        print(f"| {matrix} | " + " | ".join(cells) + " |", flush=True)
    for name, values in ratios.items():
        if values:
            print(f"\nGeometric mean, {name} / heddle: {statistics.geometric_mean(values):.2f} "
                  f"over {len(values)} of {len(results)} matrices")


def matrices(folder, few, real=REAL, generated=GENERATED):
    for name in real[: 3 if few else None]:
        paths = [Path(folder, name + ending) for ending in (".mtx", ".mtx.gz")]
        path = next((path for path in paths if path.exists()), None)
        if path is not None:
            yield name, heddle.read_matrix(path)
    for name, (structure, *size) in list(generated.items())[: 1 if few else None]:
        yield name, heddle.generate(structure, *size)


def overhead():
    """Seconds of a small call beyond those of the library."""
    A, b = heddle.generate("laplace1d", 100), np.ones(100)
    extra = []
    for _ in range(200):
        begin = time.perf_counter()
        result = heddle.cg(A, b, threads=1, preconditioner="none", return_stats=True)[2]
        extra.append(time.perf_counter() - begin - sum(result.timings[k] for k in ("setup", "solve")))
    print(f"Time per call beyond the library's: {1e3 * statistics.median(extra):.3f} ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--matrices", default=os.environ.get("HEDDLE_MATRIX_DIR", "../shared/matrices"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=30)
    parser.add_argument("--only", default="", help="tasks whose names contain this")
    parser.add_argument("--few", action="store_true", help="three real matrices, one generated")
    parser.add_argument("--gpu", action="store_true", help="beside CuPy, with arrays on the GPU")
    arguments = parser.parse_args()
    faulthandler.enable()  # a crash tells where
    sys.stdout.reconfigure(line_buffering=True)
    warnings.simplefilter("ignore")
    if arguments.gpu:
        import on_gpu

        on_gpu.warm_up()
        on_gpu.overhead()
        found = matrices(arguments.matrices, arguments.few, on_gpu.REAL, on_gpu.GENERATED)
        operands = {name: on_gpu.on_device(A) for name, A in found}
        tasks = on_gpu.TASKS
    else:
        overhead()
        operands = dict(matrices(arguments.matrices, arguments.few))
        tasks = TASKS
    for task, solvers in tasks.items():
        if arguments.only in task:
            results = {
                name: measure(solvers(A), arguments.rounds, arguments.limit)
                for name, A in operands.items()
            }
            report(task, results)


if __name__ == "__main__":
    main()
