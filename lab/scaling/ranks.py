#!/usr/bin/env python3
"""Compares runs on several processes, of the host or of GPUs, with those of one process: a table.

Every case runs on one process and twice on each number of processes. A row is good if all of them end
with the same exit code and status, if the eigenvalues agree within the error bounds that heddle states,
if iterations differ by at most 1, and if the two runs on as many processes have the same bits in
eigenvalues, residuals and vectors. A further run is stopped by its limit of iterations half way and
resumed from its checkpoint: it must have the bits of the whole run. Exits with 1 if a row is not good.
Without --matrices, cases with generated matrices only.

usage: lab/scaling/ranks.py [--build build/dev] [--ranks 2,3,4] [--matrices $HEDDLE_MATRIX_DIR] [--cases NAMES]
                              [--device host|cuda] [--start mpi|threads]
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

# Name: program, problem (a name in braces is a file of the matrix collection), solver.
CASES = {
    "grid": ("lobpcg", "matrix: {generate: laplace3d, size: [16, 17, 18]}", "nev: 6"),
    "grid, largest": ("lanczos", "matrix: {generate: laplace3d, size: [16, 17, 18]}",
                      "nev: 6, which: largest"),
    "grid, interval": ("lanczos", "matrix: {generate: laplace2d, size: [40, 41]}",
                       "which: interval, interval: [0.1, 0.2], nev: 60"),
    "beam, pencil": ("lobpcg", "matrix: {generate: elasticity3d, size: [4, 5, 6]}, "
                     "mass: {generate: elasticity3d_mass, size: [4, 5, 6]}", "nev: 5"),
    "graph": ("lobpcg", "matrix: {generate: rmat, size: [9]}, transform: laplacian, weights: unit, "
              "symmetrize: true", "nev: 5"),
    "wathen, 3 systems": ("cg", "matrix: {generate: wathen, size: [20, 21]}, rhs: {random: 3}", ""),
    "iteration limit": ("lobpcg", "matrix: {generate: laplace3d, size: [16, 17, 18]}",
                        "nev: 6, max_iterations: 5, preconditioner: {type: none}"),
    "indefinite system": ("cg", "matrix: {generate: rmat, size: [8]}, rhs: {random: 2}", ""),
    "1138_bus": ("lobpcg", "matrix: {dir}/1138_bus.mtx", "nev: 4, preconditioner: {type: jacobi}"),
    "bcsstk13, largest": ("lanczos", "matrix: {dir}/bcsstk13.mtx.gz", "nev: 5, which: largest"),
    "bcsstk16": ("lobpcg", "matrix: {dir}/bcsstk16.mtx.gz", "nev: 4"),
    "Trefethen_2000": ("cg", "matrix: {dir}/Trefethen_2000.mtx.gz, rhs: {ones: 1}", ""),
}


def add_options(parser):
    """Options that say where runs take place."""
    parser.add_argument("--build", default="build/dev")
    parser.add_argument("--matrices", default=os.environ.get("HEDDLE_MATRIX_DIR", ""),
                        help="folder of the matrix collection")
    parser.add_argument("--device", choices=["host", "cuda"], default="host")
    parser.add_argument("--start", choices=["mpi", "threads"], default="mpi",
                        help="threads: one process leads all GPUs")


class Runs:
    """Runs programs with `arguments` of add_options in a folder, each for at most `timeout` seconds."""

    def __init__(self, arguments, folder, timeout=300):
        self.build, self.folder = pathlib.Path(arguments.build).resolve(), pathlib.Path(folder)
        self.where = ["--device", arguments.device]
        self.threads = arguments.start == "threads"
        self.timeout = timeout

    def __call__(self, program, text, ranks, output, *options):
        """The result of a run, with the bytes of its vectors, and its exit code."""
        (self.folder / "case.yaml").write_text(text)
        command = [f"{self.build}/apps/heddle-{program}", "case.yaml", "-q",
                   *self.where, "--set", f"output.directory={output}", *options]
        if ranks > 1 and self.threads:
            command += ["--devices", str(ranks)]
        elif ranks > 1:
            command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(ranks)] + command
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.folder,
                              timeout=self.timeout)
        if done.returncode not in (0, 3, 4):
            raise RuntimeError(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
        result = json.loads((self.folder / output / "result.json").read_text())
        result["vector bytes"] = [path.read_bytes()
                                  for path in sorted((self.folder / output).glob("*.npy"))]
        result["exit code"] = done.returncode
        return result


def same_values(one, several):
    """The largest difference in units of what the bounds allow. 0 without eigenvalues."""
    values, others = one.get("eigenvalues", []), several.get("eigenvalues", [])
    if len(values) != len(others):
        return float("inf")
    bounds = one.get("error_bounds", [0] * len(values))
    return max((abs(a - b) / (2 * bound + 1e-12 * abs(a))
                for a, b, bound in zip(values, others, bounds)), default=0)


def same_bits(first, second):
    keys = ("iterations", "eigenvalues", "residuals", "vector bytes")
    return all(first.get(key) == second.get(key) for key in keys)


def compared(runs, name, case, counts):
    program, problem, solver = case
    vectors = "solution" if program == "cg" else "eigenvectors"
    text = (f"problem: {{{problem}}}\nsolver: {{{solver}}}\nthreads: 1\n"
            f"output: {{{vectors}: npy}}\n")
    one = runs(program, text, 1, "one")
    good = True
    for ranks in counts:
        first, second = (runs(program, text, ranks, output) for output in ("first", "second"))
        resumed = "-"
        keeps = "interval" not in solver  # intervals have no checkpoints
        if keeps and one["status"] == "converged" and first["iterations"] > 3:
            kept = text + "checkpoint: {file: kept}\n"
            half = f"solver.max_iterations={first['iterations'] // 2}"
            runs(program, kept, ranks, "half", "--set", half)
            resumed = same_bits(first, runs(program, kept, ranks, "resumed", "--resume"))
        difference = first["iterations"] - one["iterations"]
        units = same_values(one, first)
        same_end = all(first[key] == one[key] for key in ("exit code", "status"))
        bits = same_bits(first, second)
        row = same_end and units <= 1 and abs(difference) <= 1 and bits and resumed is not False
        good = good and row
        print(f"{name:<20}{ranks:>6}  {first['status']:<16}{one['iterations']:>6}{difference:>+6}"
              f"{units:>10.3f}{'yes' if bits else 'NO':>6}"
              f"{ {True: 'yes', False: 'NO'}.get(resumed, '-'):>9}{'good' if row else 'NOT GOOD':>10}",
              flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser)
    parser.add_argument("--ranks", default="2,3,4")
    parser.add_argument("--cases", default="", help="names, separated by semicolons; all without it")
    arguments = parser.parse_args()
    chosen = [name for name in arguments.cases.split(";") if name] or list(CASES)
    unknown = [name for name in chosen if name not in CASES]
    if unknown:
        sys.exit(f"there is no case {unknown[0]!r}, the cases are {'; '.join(CASES)}")
    counts = [int(count) for count in arguments.ranks.split(",")]
    print(f"{'case':<20}{'ranks':>6}  {'status':<16}{'of one':>6}{'more':>6}{'bounds':>10}{'bits':>6}"
          f"{'resumed':>9}{'':>10}")
    good = True
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(arguments, folder)
        for name in chosen:
            program, problem, solver = CASES[name]
            if "{dir}" in problem and not arguments.matrices:
                continue
            problem = problem.replace("{dir}", str(pathlib.Path(arguments.matrices or ".").resolve()))
            good = compared(runs, name, (program, problem, solver), counts) and good
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
