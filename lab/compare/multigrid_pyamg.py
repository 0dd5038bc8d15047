#!/usr/bin/env python3
"""Multigrid of heddle and of pyamg side by side, on one thread each.

The 7-point Laplacian on SIZE x SIZE x SIZE points and 16 random right-hand sides to 1e-8: block CG
of heddle, and CG of pyamg's smoothed aggregation, one right-hand side after the other. Both take
turns. Prints the shortest CPU seconds of the setup, of a cycle for all 16 columns, and of the solve,
and the iterations. Times of heddle's phases are multiplied by the part of its time in which it had a
processor.

usage: lab/compare/multigrid_pyamg.py BUILD [SIZE ...]     (pip install pyamg; default 48 64)
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time

COLUMNS = 16
ROUNDS = 3
TOLERANCE = 1e-8


def with_heddle(build, size):
    config = os.path.join(os.path.dirname(__file__), "laplace3d_cg.yaml")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run(
            [f"{build}/apps/heddle-cg", config, "--quiet", "--preconditioner", "multigrid",
             "--set", "threads=1", "--set", f"output.directory={directory}",
             "--set", f"problem.matrix.size=[{size}, {size}, {size}]"],
            check=True, stdout=subprocess.DEVNULL)
        with open(os.path.join(directory, "result.json"), encoding="utf-8") as file:
            result = json.load(file)
    wall = time.perf_counter() - begin
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    share = (now.ru_utime - used.ru_utime + now.ru_stime - used.ru_stime) / wall
    iterations = result["iterations"]
    # A cycle before the first iteration, and one per iteration but the last.
    cycle = result["phases"]["preconditioner"]["seconds"] / iterations
    return {"setup": share * result["preconditioner_setup"]["seconds"], "cycle": share * cycle,
            "solve": share * result["seconds"]["solve"], "iterations": iterations}


def with_pyamg(size):
    import numpy as np
    import pyamg

    A = pyamg.gallery.poisson((size, size, size), format="csr")
    right = np.random.default_rng(1).standard_normal((A.shape[0], COLUMNS))
    begin = time.process_time()
    levels = pyamg.smoothed_aggregation_solver(A, max_coarse=300)
    setup = time.process_time() - begin
    cycle = levels.aspreconditioner()
    begin = time.process_time()
    for column in right.T:
        cycle @ column
    cycles = time.process_time() - begin
    iterations = 0
    begin = time.process_time()
    for column in right.T:
        residuals = []
        x = levels.solve(column, tol=TOLERANCE, accel="cg", maxiter=200, residuals=residuals)
        iterations = max(iterations, len(residuals) - 1)
        assert np.linalg.norm(column - A @ x) <= 2 * TOLERANCE * np.linalg.norm(column)
    return {"setup": setup, "cycle": cycles, "solve": time.process_time() - begin,
            "iterations": iterations}


def main(build, sizes):
    print("size  program    setup    cycle    solve  iterations")
    for size in sizes:
        best = {}
        for _ in range(ROUNDS):
            for name, times in (("heddle", with_heddle(build, size)), ("pyamg", with_pyamg(size))):
                for key, value in times.items():
                    old = best.setdefault(name, {}).get(key, value)
                    best[name][key] = min(old, value)
        for name, times in best.items():
            print(f"{size:4}  {name:8} {times['setup']:7.3f}  {times['cycle']:7.4f}  "
                  f"{times['solve']:7.3f}  {times['iterations']:10}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__)
    main(sys.argv[1], [int(size) for size in sys.argv[2:]] or [48, 64])
