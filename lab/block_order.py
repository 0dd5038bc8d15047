#!/usr/bin/env python3
"""Dense blocks of matrices before and after clustering their rows and columns, as a table:
figure 3 of Okanovic et al., SC 2024.

Per matrix and order: the number of blocks, their standard deviation per block row, and the seconds
that the order took to find. The last columns: the order of the fastest product by the nominal times
of spmm_prediction, and after how many products with 8 columns its permutation has paid.

usage: lab/block_order.py build/release/lab/spmm_prediction MATRIX... [--shape 16x16] [--shuffle]

--shuffle permutes rows and columns of each matrix, a Matrix Market file, at random first."""

import argparse
import gzip
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path


def shuffled(path, folder):
    """A Matrix Market file with the pattern of the one at `path`, rows and columns in random order."""
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rt") as file:
        mirrored = "general" not in file.readline().lower()
        lines = [line.split() for line in file if not line.startswith("%")]
    rows, columns = int(lines[0][0]), int(lines[0][1])
    entries = [(int(line[0]), int(line[1])) for line in lines[1:]]
    if mirrored:
        entries += [(j, i) for i, j in entries if i != j]
    generator = random.Random(1)
    row_places = generator.sample(range(1, rows + 1), rows)
    column_places = generator.sample(range(1, columns + 1), columns)
    target = Path(folder) / (Path(path).name.split(".")[0] + ".mtx")
    with open(target, "w") as file:
        file.write(f"%%MatrixMarket matrix coordinate pattern general\n{rows} {columns} {len(entries)}\n")
        for i, j in entries:
            file.write(f"{row_places[i - 1]} {column_places[j - 1]}\n")
    return target


def inspect(program, matrix):
    done = subprocess.run([program, str(matrix), "--blocks", "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def row(name, report, shape):
    lines = [line for line in report["blocks"]["dense"] if line["shape"] == shape]
    natural = lines[0]
    kept = next(line for line in lines if line["kept"])
    cells = [name, str(report["rows"]), str(report["nnz"])]
    for line in lines:
        cells.append(f"{line['blocks']} ± {line['per_block_row']['deviation']:.1f}")
    cells += [f"{lines[1]['seconds']:.2f}, {lines[2]['seconds']:.2f}", kept["order"]]
    gain = natural["predicted_seconds"] - kept["predicted_seconds"]
    spent = lines[1]["seconds"] + lines[2]["seconds"]
    cells.append(f"{spent / gain:.0f}" if gain > 0 else "-")
    return "| " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--shape", default="16x16", choices=["16x8", "16x16"])
    parser.add_argument("--shuffle", action="store_true")
    parser.add_argument("program", help="spmm_prediction of a build")
    parser.add_argument("matrices", nargs="+")
    arguments = parser.parse_args()
    shape = [int(size) for size in arguments.shape.split("x")]
    print("| matrix | rows | entries | natural | rows | rows and columns | s | kept | pays after |")
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for matrix in arguments.matrices:
            name = Path(matrix).name.split(".")[0]
            source = shuffled(matrix, folder) if arguments.shuffle else matrix
            print(row(name, inspect(arguments.program, source), shape), flush=True)


if __name__ == "__main__":
    main()
