#!/usr/bin/env python3
"""heddle beside scipy.sparse.linalg and PRIMME: times, accuracy, and tables, whose figures docs/performance/ keeps.

usage: lab/python/compare.py [--gpu] [--matrices DIR] [--rounds N] [--limit SECONDS] [--only TASK]
                               [--few]

Each solve runs N times in turns with the others, and the median counts. In a turn it runs at least
twice, a short one more often, and the median of all but the first time counts, so that code and
matrix are in the caches. A long one runs once. A solve that takes longer than the limit counts as
failed. Accuracy is the largest relative residual of a solve, by which both sides are judged alike.
With --gpu CuPy stands for SciPy, and all arrays lie on the GPU; see on_gpu.py. A CuPy solve that the
limit cuts off may leave the GPU unusable for the solves after it.
Real matrices: HEDDLE_MATRIX_DIR or --matrices."""

import argparse
import faulthandler
import math
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
import scipy.sparse
import scipy.sparse.linalg
from tasks import TASKS, Beside

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


class TooLong(Exception):
    pass


def on_alarm(*_):
    raise TooLong


# The threads of SciPy's BLAS look for work for 0.1 s after their last, on a core that the next solve
# needs.
PAUSE = 0.2
SHORT = 0.3  # seconds. A turn of shorter solves takes as long, or AT_MOST of them
AT_MOST = 10
LONG = 10  # seconds. A longer solve runs once
MOST_OF_A_FACTOR = 30  # seconds that a factorisation for SciPy's sigma may take


def timed(solve, synchronize, limit):
    """(seconds, residual), or the reason of a failure."""
    time.sleep(PAUSE)
    signal.signal(signal.SIGALRM, on_alarm)
    begin = time.perf_counter()
    try:
        runs = []
        while goes_on([seconds for seconds, _ in runs]):
            begin = time.perf_counter()
            runs.append(once(solve, synchronize, limit))
        return statistics.median(seconds for seconds, _ in runs[1:] or runs), runs[-1][1]()
    except Exception as error:  # a failure of any library is a cell of the table
        # PRIMME has an exception of its own for one that a product has raised.
        too_long = time.perf_counter() - begin >= limit
        return f"> {limit:g} s" if too_long else type(error).__name__


def goes_on(seconds):
    """Whether a turn with these runs has another one: two at least, except for a long solve."""
    if len(seconds) < 2:
        return not seconds or seconds[0] < LONG
    return sum(seconds) < SHORT and len(seconds) < AT_MOST


def once(solve, synchronize, limit):
    """The seconds of a solve, and the function that judges its solution."""
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        begin = time.perf_counter()
        judge = solve()
        synchronize()
        return time.perf_counter() - begin, judge
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def ended(runs):
    """Whether a solve with these runs has had its last turn: it has failed, or is a long one."""
    return bool(runs) and (isinstance(runs[-1], str) or runs[-1][0] > LONG)


def measure(solvers, synchronize, rounds, limit):
    """{solver: (median seconds, residual) or the reason of a failure}"""
    runs = {name: [] for name in solvers}
    for _ in range(rounds):
        for name, solve in solvers.items():
            if not ended(runs[name]):
                runs[name].append(timed(solve, synchronize, limit))
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
            print(
                f"\nGeometric mean, {name} / heddle: {statistics.geometric_mean(values):.2f} "
                f"over {len(values)} of {len(results)} matrices"
            )
    return ratios


def matrices(folder, few, real=REAL, generated=GENERATED):
    for name in real[: 3 if few else None]:
        paths = [Path(folder, name + ending) for ending in (".mtx", ".mtx.gz")]
        path = next((path for path in paths if path.exists()), None)
        if path is not None:
            yield name, heddle.read_matrix(path)
    for name, (structure, *size) in list(generated.items())[: 1 if few else None]:
        yield name, heddle.generate(structure, *size)


def overhead(beside, A):
    """Prints the time of a small call, and its part beyond that of the library."""
    b = beside.arrays.ones(A.shape[0])
    whole, extra = [], []
    for _ in range(200):
        begin = time.perf_counter()
        result = heddle.cg(A, b, preconditioner="none", return_stats=True, **beside.extras)[2]
        whole.append(time.perf_counter() - begin)
        extra.append(whole[-1] - sum(result.timings[k] for k in ("setup", "solve")))
    print(
        f"Time of a call for order {A.shape[0]}: {1e3 * statistics.median(whole):.3f} ms, "
        f"beyond the library's: {1e3 * statistics.median(extra):.3f} ms"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--matrices", default=os.environ.get("HEDDLE_MATRIX_DIR", "../shared/matrices"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=100)
    parser.add_argument("--only", default="", help="tasks whose names contain this")
    parser.add_argument("--few", action="store_true", help="three real matrices, one generated")
    parser.add_argument("--gpu", action="store_true", help="beside CuPy, with arrays on the GPU")
    arguments = parser.parse_args()
    faulthandler.enable()  # a crash tells where
    sys.stdout.reconfigure(line_buffering=True)
    warnings.simplefilter("ignore")
    found = matrices(arguments.matrices, arguments.few)
    small = heddle.generate("laplace1d", 100)
    if arguments.gpu:
        import on_gpu

        on_gpu.warm_up()
        beside, small = on_gpu.BESIDE, on_gpu.on_device(small)
        found = matrices(arguments.matrices, arguments.few, on_gpu.REAL, on_gpu.GENERATED)
        operands = {name: on_gpu.on_device(A) for name, A in found}
    else:
        beside = Beside(
            "scipy",
            np,
            scipy.sparse,
            scipy.sparse.linalg,
            extras={"threads": THREADS},
            primme=primme,
            factor_limit=min(MOST_OF_A_FACTOR, math.ceil(arguments.limit)),
        )
        operands = dict(found)
    overhead(beside, small)
    ratios = []
    for task, solvers in TASKS.items():
        if arguments.only in task:
            results = {
                name: measure(
                    solvers(beside, A), beside.synchronize, arguments.rounds, arguments.limit
                )
                for name, A in operands.items()
            }
            ratios += report(task, results)[beside.name]
    if ratios:
        print(
            f"\nGeometric mean of all tasks, {beside.name} / heddle: "
            f"{statistics.geometric_mean(ratios):.2f} over {len(ratios)} solves of both"
        )


if __name__ == "__main__":
    main()
