#!/usr/bin/env python3
"""A problem that needs more memory than one GPU has, refused by one and solved by several.

The grid of a 7-point Laplacian is chosen so that the estimate of LOBPCG is SHARE times the memory that is
free on a GPU. Shown are the estimate and the refusal of one GPU, and time, memory and the largest error of
the eigenvalues of several.

usage: lab/scaling/beyond_memory.py [--build build/dev] [--gpus 2] [--start threads|mpi] [--share 1.15]
                                      [--block 32] [--device cuda]
"""

import argparse
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import time

UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


def run(arguments, folder, side, gpus, *options):
    matrix = f"{{generate: laplace3d, size: [{side}, {side}, {side}]}}"
    nev = arguments.block * 3 // 8
    case = pathlib.Path(folder) / "case.yaml"
    case.write_text(f"problem: {{matrix: {matrix}}}\ndevice: {arguments.device}\n"
                    f"solver: {{nev: {nev}, block_size: {arguments.block}, tolerance: 1e-4,\n"
                    "  preconditioner: {type: chebyshev}}\n"
                    f"output: {{directory: {folder}/results}}\n")
    command = [f"{arguments.build}/apps/heddle-lobpcg", str(case), *options]
    if gpus > 1 and arguments.start == "threads":
        command += ["--devices", str(gpus)]
    elif gpus > 1:
        command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none",
                   "-n", str(gpus)] + command
    begin = time.time()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=arguments.timeout)
    except subprocess.TimeoutExpired as late:
        sys.exit(f"{' '.join(command)}: no end after {arguments.timeout} s\n{(late.stderr or b'').decode()[-2000:]}")
    return done, time.time() - begin


def estimate(arguments, folder, side):
    """The estimated bytes of a solve, and those that are free on a GPU."""
    done, _ = run(arguments, folder, side, 1, "--validate")
    found = re.search(r"memory +about ([\d.]+) (\w+) of ([\d.]+) (\w+)", done.stdout)
    if not found:
        sys.exit(f"no estimate: {done.stdout}{done.stderr}")
    return float(found[1]) * UNITS[found[2]], float(found[3]) * UNITS[found[4]]


def choose_side(arguments, folder):
    """The side of the smallest cube that needs SHARE times the free memory of a GPU."""
    small, large = 60, 100
    at_small, _ = estimate(arguments, folder, small)
    at_large, free = estimate(arguments, folder, large)
    per_row = (at_large - at_small) / (large**3 - small**3)
    print(f"a GPU has {free / 2**30:.1f} GiB free, a row of the problem needs {per_row:.0f} bytes")
    return math.ceil((arguments.share * free / per_row) ** (1 / 3))


def smallest_eigenvalues(side, count):
    part = [2 - 2 * math.cos(math.pi * k / (side + 1)) for k in range(1, count + 2)]
    return sorted(a + b + c for a in part for b in part for c in part
                  if a + b + c < 3 * part[-1])[:count]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/dev")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--gpus", type=int, default=2)
    parser.add_argument("--start", choices=["mpi", "threads"], default="threads")
    parser.add_argument("--share", type=float, default=1.15)
    parser.add_argument("--block", type=int, default=32)
    parser.add_argument("--timeout", type=int, default=600, help="seconds of one run")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        side = choose_side(arguments, folder)
        print(f"laplace3d {side}^3: {side**3} rows, {arguments.block * 3 // 8} pairs, "
              f"block of {arguments.block}")
        done, seconds = run(arguments, folder, side, 1, "-q")
        print(f"1 GPU: exit code {done.returncode} after {seconds:.1f} s: {done.stderr.strip()}", flush=True)
        if done.returncode != 5:
            sys.exit("the problem was not refused for want of memory")
        done, seconds = run(arguments, folder, side, arguments.gpus)
        if done.returncode != 0:
            sys.exit(f"{arguments.gpus} GPUs: exit code {done.returncode}: {done.stderr}")
        result = json.loads((pathlib.Path(folder) / "results/result.json").read_text())
        values, bounds = result["eigenvalues"], result["error_bounds"]
        exact = smallest_eigenvalues(side, len(values))
        outside = sum(abs(value - best) > bound + 1e-14 for value, best, bound in zip(values, exact, bounds))
        memory = result["memory"]
        print(f"{arguments.gpus} GPUs: {result['status']} after {result['iterations']} iterations, "
              f"{seconds:.1f} s (load {result['seconds']['load']:.1f}, setup {result['seconds']['setup']:.1f}, "
              f"solve {result['seconds']['solve']:.2f})\n"
              f"memory of a GPU: estimated {memory['estimated_bytes'] / 2**30:.1f} GiB, "
              f"held {memory['peak_bytes'] / 2**30:.1f} GiB; "
              f"of the host: {memory['process_peak_bytes'] / 2**30:.1f} GiB\n"
              f"{outside} of {len(values)} eigenvalues outside of their bounds, largest error "
              f"{max(abs(a - b) for a, b in zip(values, exact)):.1e}, largest bound {max(bounds):.1e}")
        sys.exit(outside > 0)


if __name__ == "__main__":
    main()
