#!/usr/bin/env python3
"""Solves the reference table of the matrix collection on one process and on several: a table.

Each row of the table (ten eigenvalues at one end, from other packages) is solved by LOBPCG and by block
Lanczos, with the same options on every number of processes. Statuses must be the same, and values must
agree with those of one process within the bounds that heddle states. Where iterations differ by more than
1, one process solves the problem again several times, each time with the last bit of every entry of A
moved up or down at random: the range of these iterations is what rounding decides. Exits with 1 if a
status or a value differs, or a run failed or took longer than --timeout.

The column "why" says: same, by 1, rounding (within that range, by 1), dense (one process solved it as a
dense problem, without iterations), or more (none of these).

usage: lab/scaling/reference.py [--build build/dev] [--ranks 2,3] [--matrices $HEDDLE_MATRIX_DIR]
                                  [--methods lobpcg,lanczos] [--problems NAMES] [--which smallest]
                                  [--samples 8] [--timeout 300] [--jobs 1]
                                  [--device host|cuda] [--start mpi|threads]
"""

import argparse
import collections
import concurrent.futures
import gzip
import math
import pathlib
import random
import subprocess
import sys
import tempfile

from ranks import Runs, add_options, same_values

# The inverse of A - sigma B and incomplete factors are for one process alone: filters and polynomials.
OPTIONS = {
    "lobpcg": {"smallest": "preconditioner: {type: chebyshev}", "largest": "preconditioner: {type: none}"},
    "lanczos": {"smallest": "filter: chebyshev", "largest": "filter: none"},
}


def rows_of(matrices):
    """Problem and end of each row of the table beside the folder of matrices."""
    lines = (matrices / "../reference/eigenvalues.tsv").read_text().splitlines()[1:]
    return [(fields[0], fields[2]) for fields in (line.split("\t") for line in lines)]


def file_of(matrices, name):
    """NAME.mtx or NAME.mtx.gz."""
    return next(str(path) for ending in (".mtx", ".mtx.gz")
                if (path := matrices / (name + ending)).exists())


def configuration(matrices, method, problem, end):
    """NAME, NAME:MASS or NAME@L (graph Laplacian)."""
    name, _, mass = problem.removesuffix("@L").partition(":")
    parts = [f"matrix: {file_of(matrices, name)}"]
    if mass:
        parts.append(f"mass: {file_of(matrices, mass)}")
    if problem.endswith("@L"):
        parts.append("transform: laplacian, weights: unit, symmetrize: true")
    solver = [f"nev: 10, which: {end}", OPTIONS[method][end]]
    if method == "lobpcg" and mass and end == "largest":
        solver[1] = "preconditioner: {type: jacobi}"
    return (f"problem: {{{', '.join(parts)}}}\nsolver: {{{', '.join(solver)}}}\n"
            "threads: 1\n")


def with_other_last_bits(source, seed, target):
    """Writes the Matrix Market file `source` with the last bit of every value moved at random."""
    draw = random.Random(seed)
    opened = gzip.open(source, "rt") if source.endswith(".gz") else open(source)
    with opened as lines, open(target, "w") as moved:
        header = next(lines)
        moved.write(header)
        sized = False
        for line in lines:
            words = line.split()
            if sized and words and "real" in header:
                value = math.nextafter(float(words[2]), draw.choice((-math.inf, math.inf)))
                line = f"{words[0]} {words[1]} {value!r}\n"
            sized = sized or not line.startswith("%")
            moved.write(line)


def range_of_rounding(runs, method, text, matrix, one, samples):
    """The least and the most iterations of one process for A with other last bits."""
    counts = [one["iterations"]]
    for seed in range(samples):
        with_other_last_bits(matrix, seed, runs.folder / "moved.mtx")
        moved = text.replace(f"matrix: {matrix}", "matrix: moved.mtx")
        counts.append(runs(method, moved, 1, "moved")["iterations"])
    return min(counts), max(counts)


def compared(runs, method, text, matrix, label, counts, samples):
    """A line of the table and its kinds for each number of processes."""
    one = runs(method, text, 1, "one")
    several = {ranks: runs(method, text, ranks, "several") for ranks in counts}
    differences = {ranks: run["iterations"] - one["iterations"] for ranks, run in several.items()}
    moved = any(abs(difference) > 1 for difference in differences.values())
    dense = one["iterations"] == 0
    ranged = moved and not dense
    least = most = one["iterations"]
    if ranged:
        least, most = range_of_rounding(runs, method, text, matrix, one, samples)
    lines, kinds_of = [], {}
    for ranks, run in several.items():
        units = same_values(one, run)
        kinds = ["runs", "same" if differences[ranks] == 0 else
                 "by 1" if abs(differences[ranks]) == 1 else
                 "dense" if dense else
                 "rounding" if least - 1 <= run["iterations"] <= most + 1 else "more"]
        kinds += ["other status"] if run["status"] != one["status"] else []
        kinds += ["other values"] if units > 1 else []
        kinds_of[method, ranks] = kinds
        lines.append(f"{label:<28}{method:<9}{ranks:>3}  {run['status']:<20}{one['iterations']:>6}"
                     f"{differences[ranks]:>+6}  {f'{least} to {most}' if ranged else '':<14}"
                     f"{units:>8.3f}  {', '.join(kinds[1:])}")
    return lines, kinds_of


def table(arguments, matrices, counts):
    """The lines of the table and their kinds, each as soon as it is there."""
    def row(method, problem, end):
        label = f"{problem}, {end}"
        with tempfile.TemporaryDirectory() as folder:
            try:
                return compared(Runs(arguments, folder, arguments.timeout), method,
                                configuration(matrices, method, problem, end),
                                file_of(matrices, problem.removesuffix("@L").partition(":")[0]),
                                label, counts, arguments.samples)
            except (RuntimeError, subprocess.TimeoutExpired) as failure:
                return ([f"{label:<28}{method:<9} {failure}"],
                        {(method, ranks): ["not run"] for ranks in counts})

    chosen = [name for name in arguments.problems.split(",") if name]
    rows = [(method, problem, end) for problem, end in rows_of(matrices)
            if (not chosen or problem in chosen) and end in arguments.which.split(",")
            for method in arguments.methods.split(",")]
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for done in concurrent.futures.as_completed([pool.submit(row, *which) for which in rows]):
            yield done.result()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser)
    parser.add_argument("--ranks", default="2,3")
    parser.add_argument("--methods", default="lobpcg,lanczos")
    parser.add_argument("--problems", default="", help="as in the table, separated by commas")
    parser.add_argument("--which", default="smallest,largest", help="ends of the spectrum")
    parser.add_argument("--samples", type=int, default=8, help="of other last bits")
    parser.add_argument("--timeout", type=int, default=300, help="seconds of one run")
    parser.add_argument("--jobs", type=int, default=1, help="rows of the table at once")
    arguments = parser.parse_args()
    matrices = pathlib.Path(arguments.matrices).resolve()
    if not (matrices / "../reference/eigenvalues.tsv").exists():
        sys.exit(f"{matrices}: there is no reference table beside this folder of matrices")
    counts = [int(count) for count in arguments.ranks.split(",")]
    totals = collections.defaultdict(collections.Counter)
    print(f"{'problem':<28}{'method':<9}{'on':>3}  {'status':<20}{'of one':>6}{'more':>6}  "
          f"{'other bits':<14}{'bounds':>8}  why")
    for lines, kinds_of in table(arguments, matrices, counts):
        print("\n".join(lines), flush=True)
        for which, kinds in kinds_of.items():
            totals[which].update(kinds)
    for (method, ranks), kinds in sorted(totals.items()):
        print(f"{method} on {ranks}: " + ", ".join(f"{kind} {count}" for kind, count in kinds.items()))
    wrong = sum(kinds["other status"] + kinds["other values"] + kinds["not run"]
                for kinds in totals.values())
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
