#!/usr/bin/env python3
"""Two builds of heddle on the same problems, one after the other, each ROUNDS times.

The problems are the rows of a table of reference eigenvalues (its ten pairs at one end) and
structures to generate. For each: the smallest seconds of setup and solve of both builds, their
products with the matrix, and the ratios new/old. Geometric means follow on stderr. The result is
one JSON file.

  versions.py --old OLD/apps --new build/release/apps --table reference/eigenvalues.tsv \\
      --matrices matrices --generate laplace3d:50,50,50 --out versions.json
"""

import argparse
import json
import math
import multiprocessing
import os
import subprocess
import sys
import tempfile
from pathlib import Path


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--old", type=Path, required=True, help="folder of heddle's programs")
    parser.add_argument("--new", type=Path, required=True, help="folder of the other build's")
    parser.add_argument("--table", type=Path, help="tab-separated table of reference eigenvalues")
    parser.add_argument("--matrices", type=Path, help="folder of the matrices of the table")
    parser.add_argument("--generate", nargs="*", default=[], help="structures, smallest end")
    parser.add_argument("--solvers", nargs="*", default=["auto"], help="solver.type (auto)")
    parser.add_argument("--device", default="host", help="host (default) or cuda")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each build (3)")
    parser.add_argument("--jobs", type=int, default=1, help="problems at a time (1)")
    parser.add_argument("--threads", type=int, default=2, help="threads of a run (2)")
    parser.add_argument("--out", type=Path, required=True, help="JSON file of the result")
    return parser.parse_args()


def questions(options):
    """(name, arguments) of each problem."""
    found = []
    if options.table:
        for line in options.table.read_text().splitlines()[1:]:
            problem, _, end, *_ = line.split("\t")
            graph = problem.endswith("@L")
            matrix, _, mass = problem.removesuffix("@L").partition(":")
            call = [str(options.matrices / f"{matrix}.mtx"), "--which", end, "-n", "10"]
            call += ["--mass", str(options.matrices / f"{mass}.mtx")] if mass else []
            call += ["--transform", "laplacian", "--weights", "unit"] if graph else []
            found.append((f"{problem} {end}", call))
    return found + [(f"{name} smallest", [name, "-n", "10"]) for name in options.generate]


def run(programs, call, options):
    """(seconds of setup and solve, products, status, commit) of one run."""
    with tempfile.TemporaryDirectory() as folder:
        command = [str(programs / "heddle"), "solve", *call, "--device", options.device,
                   "--threads", str(options.threads), "--quiet", "--json"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
    try:
        result = json.loads(done.stdout)
    except json.JSONDecodeError:
        return math.nan, math.nan, f"exit code {done.returncode}", ""
    seconds = result["seconds"]
    products = result["operator_applications"] + result.get("inverse_applications", 0)
    return (seconds["setup"] + seconds["solve"], products, result["status"],
            result["versions"]["commit"])


def compared(job):
    """The row of one problem. The builds take turns, so that both see the same machine."""
    options, name, solver, call = job
    runs = {"old": [], "new": []}
    for _ in range(options.rounds):
        for build, programs in (("old", options.old), ("new", options.new)):
            runs[build].append(run(programs, [*call, "--solver", solver], options))
    row = {"problem": name, "solver": solver}
    for build, rows in runs.items():
        best = min(rows, key=lambda one: (math.isnan(one[0]), one[0]))
        row |= {f"{build}_{key}": value
                for key, value in zip(("seconds", "products", "status", "commit"), best)}
    return row


def mean(rows, key):
    """Geometric mean of new/old over the problems that both builds solved, and the worst row."""
    both = [row for row in rows if row["old_status"] == row["new_status"] == "converged"
            and row[f"old_{key}"] > 0 and row[f"new_{key}"] > 0]
    ratios = {row["problem"]: row[f"new_{key}"] / row[f"old_{key}"] for row in both}
    if not ratios:
        return math.nan, "", math.nan
    worst = max(ratios, key=ratios.get)
    return math.exp(sum(map(math.log, ratios.values())) / len(ratios)), worst, ratios[worst]


def main():
    options = arguments()
    for name in ("old", "new", "matrices"):
        if getattr(options, name):
            setattr(options, name, getattr(options, name).resolve())
    os.environ["OMP_WAIT_POLICY"] = "passive"
    jobs = [(options, name, solver, call)
            for solver in options.solvers for name, call in questions(options)]
    with multiprocessing.Pool(options.jobs) as pool:
        rows = list(pool.imap(compared, jobs, chunksize=1))
    for solver in options.solvers:
        mine = [row for row in rows if row["solver"] == solver]
        for key in ("seconds", "products"):
            ratio, worst, most = mean(mine, key)
            print(f"{solver}: {key} new/old {ratio:.3f} in the geometric mean of {len(mine)}, "
                  f"most {most:.2f} ({worst})", file=sys.stderr)
    for row in rows:
        if row["old_status"] != row["new_status"]:
            print(f"{row['problem']}, {row['solver']}: {row['old_status']} -> "
                  f"{row['new_status']}", file=sys.stderr)
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo")
                if line.startswith("model name")), "")
    options.out.write_text(json.dumps({"command": sys.argv, "cpu": cpu, "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
