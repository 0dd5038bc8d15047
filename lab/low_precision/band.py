#!/usr/bin/env python3
"""Pictures (SVG) of the band experiment of SMaT from what low_precision_bench measured.

    low_precision_bench --band 64,128,256,512,1024,2048,4096,8192,16384 --csv BAND.csv
    band.py BAND.csv BAND.svg

Per number of columns of B: useful GFLOP/s (2·entries·N per time) over the share of zeros, of heddle
and of the fastest variant of each library routine. Prints from which share of zeros on heddle is
faster than the dense product.
"""

import argparse
import csv
from collections import defaultdict

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot  # noqa: E402

FAMILIES = {
    "heddle": ("heddle", "o-"),
    "dense": ("cuBLAS, dense", "s--"),
    "ell": ("cuSPARSE Blocked-ELL", "^:"),
    "bsr": ("cuSPARSE BSR", "v:"),
    "csr": ("cuSPARSE CSR", "x:"),
}


def read(path):
    """{N: {family: {share of zeros: microseconds}}}, {share of zeros: entries}"""
    times = defaultdict(lambda: defaultdict(dict))
    entries = {}
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            us = float(row["us"])
            if not row["matrix"].startswith("band:") or us == 0 or row["family"] not in FAMILIES:
                continue
            zeros = 1 - int(row["nnz"]) / int(row["rows"]) ** 2
            entries[zeros] = int(row["nnz"])
            of_family = times[int(row["N"])][row["family"]]
            of_family[zeros] = min(us, of_family.get(zeros, us))
    return times, entries


def crossing(times):
    """The least share of zeros from which on heddle is faster than the dense product."""
    faster = None
    for zeros in sorted(times["heddle"], reverse=True):
        if times["heddle"][zeros] >= times["dense"][zeros]:
            break
        faster = zeros
    return faster


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("csv")
    parser.add_argument("svg")
    arguments = parser.parse_args()
    times, entries = read(arguments.csv)
    pyplot.rcParams["svg.hashsalt"] = "band"
    figure, axes = pyplot.subplots(1, len(times), figsize=(5 * len(times), 4), squeeze=False)
    for axis, (N, families) in zip(axes[0], sorted(times.items())):
        for family, (name, style) in FAMILIES.items():
            shares = sorted(families.get(family, {}))
            axis.plot(
                [100 * zeros for zeros in shares],
                [2e-3 * entries[zeros] * N / families[family][zeros] for zeros in shares],
                style,
                label=name,
            )
        axis.set_yscale("log")
        axis.set_xlabel("zeros, %")
        axis.set_ylabel("useful GFLOP/s")
        axis.set_title(f"N = {N}")
        axis.grid(True, alpha=0.3)
        faster = crossing(families)
        if faster is not None:
            print(f"N = {N}: faster than the dense product from {100 * faster:.1f} % zeros on")
        else:
            print(f"N = {N}: not faster than the dense product on the sparsest band")
    axes[0][0].legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(arguments.svg, metadata={"Date": None})


if __name__ == "__main__":
    main()
