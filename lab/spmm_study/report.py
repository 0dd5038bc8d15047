#!/usr/bin/env python3
"""Tables (Markdown) and a picture (SVG) of what spmm_study measured.

    report.py STUDY.csv [TERMS.csv] [--svg speedup.svg]

Per width and precision: the ratio of the best cuSPARSE time (any algorithm, by rows or columns, SpMV
for one column) to the time of a choice, its geometric mean, least and greatest value, also by kind
of matrix; the fraction of the bound that memory sets; what the choice loses against the fastest
kernel; set-up in products. With TERMS.csv, also the fraction of the bound with each kernel's own
storage of A, and how far kernels at their bounds would be ahead of the best cuSPARSE.
"""

import argparse
import csv
import math
import re
import statistics
from collections import defaultdict


def read(path):
    with open(path, encoding="utf-8") as file:
        lines = file.readlines()
    head = re.match(r"# (.*), ([\d.]+) GB/s", lines[0])
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    return head[1], 1e9 * float(head[2]), rows


def mean(values):
    return math.exp(statistics.fmean(math.log(value) for value in values))


class Case:
    """A matrix, precision and width: milliseconds by kernel, and the choices."""

    def __init__(self, row):
        self.matrix, self.kind, self.set = row["matrix"], row["kind"], row["set"]
        self.precision, self.N = row["precision"], int(row["N"])
        size = 8 if self.precision == "double" else 4
        rows, cols, nnz = int(row["rows"]), int(row["cols"]), int(row["nnz"])
        self.storage = nnz * (size + 4) + 8 * (rows + 1)
        self.blocks = (rows + cols) * self.N * size
        self.own = {}
        self.vendor = {}
        self.by_columns = None  # heddle's product of blocks by columns
        self.choices = {}
        self.setup = {}

    def add(self, row):
        if row["failure"] or float(row["ms"]) == 0:
            return
        kernel, ms = row["kernel"], float(row["ms"])
        if row["choice"]:
            self.choices[kernel] = (row["choice"], ms)
            self.setup[kernel] = (float(row["inspect_ms"]), float(row["prepare_ms"]))
        elif kernel.startswith("cusparse"):
            self.vendor[kernel] = ms
        elif kernel == "auto_columns":
            self.by_columns = ms
        else:
            self.own[kernel] = ms

    def key(self):
        return self.matrix, self.precision, self.N

    def speedup(self, choice):
        return min(self.vendor.values()) / self.choices[choice][1]

    def speedup_by_columns(self):
        vendor = [ms for kernel, ms in self.vendor.items() if kernel.endswith("_columns")]
        return min(vendor) / self.by_columns if vendor and self.by_columns else None

    def loss(self, choice):
        return self.choices[choice][1] / min(self.own.values())

    def fraction(self, choice, bandwidth, storage=None):
        bytes_moved = (self.storage if storage is None else storage) + self.blocks
        return bytes_moved / bandwidth / (1e-3 * self.choices[choice][1])


def ratio_table(cases, choice, bandwidth, key, title):
    groups = defaultdict(list)
    for case in cases:
        groups[key(case)].append(case)
    print(f"\n| {title} | cases | over best cuSPARSE: mean | least | greatest | of the CSR bound, median |")
    print("|---|---|---|---|---|---|")
    for name, group in sorted(groups.items()):
        ratios = [case.speedup(choice) for case in group]
        bound = statistics.median(case.fraction(choice, bandwidth) for case in group)
        print(f"| {name} | {len(group)} | {mean(ratios):.2f} | {min(ratios):.2f} | {max(ratios):.2f} | {bound:.2f} |")


def columns_table(cases):
    print("\n| blocks by columns, N | cases | over best cuSPARSE by columns: mean | least | greatest |")
    print("|---|---|---|---|---|")
    for precision in ("double", "single"):
        for N in sorted({case.N for case in cases}) + [None]:
            own = [c for c in cases if c.precision == precision and N in (c.N, None)]
            ratios = [r for r in (case.speedup_by_columns() for case in own) if r is not None]
            if ratios:
                name = "all" if N is None else N
                print(f"| {precision}, {name} | {len(ratios)} | {mean(ratios):.2f} | {min(ratios):.2f} | {max(ratios):.2f} |")


def slowest_table(cases, choice):
    print("\n| least ratios | over best cuSPARSE | its kernel | heddle's | of the fastest kernel |")
    print("|---|---|---|---|---|")
    for case in sorted(cases, key=lambda c: c.speedup(choice))[:15]:
        vendor = min(case.vendor, key=case.vendor.get)
        print(
            f"| {case.matrix}, {case.precision}, N = {case.N} | {case.speedup(choice):.2f} | {vendor} | "
            f"{case.choices[choice][0]} | {case.speedup(choice) * case.loss(choice):.2f} |"
        )


def loss_table(cases, choices):
    print("\n| choice | matrices | loss, mean | worst | cases above 15 % | where |")
    print("|---|---|---|---|---|---|")
    for choice in choices:
        for which in ("fit", "aside", "all"):
            own = [c for c in cases if choice in c.choices and which in (c.set, "all")]
            if not own:
                continue
            losses = [(case.loss(choice), case) for case in own]
            worst, where = max(losses, key=lambda pair: pair[0])
            over = sum(loss > 1.15 for loss, _ in losses)
            print(
                f"| {choice} | {which} | {100 * (mean([l for l, _ in losses]) - 1):.1f} % | {worst:.2f} | "
                f"{over} of {len(own)} | {where.matrix}, {where.precision}, N = {where.N} |"
            )


def setup_table(cases, choices):
    print("\n| choice | inspection, products (median) | first preparation or choice, products (median) |")
    print("|---|---|---|")
    for choice in choices:
        own = [c for c in cases if choice in c.choices and c.N == 32]
        if own:
            inspect = statistics.median(c.setup[choice][0] / c.choices[choice][1] for c in own)
            prepare = statistics.median(c.setup[choice][1] / c.choices[choice][1] for c in own)
            print(f"| {choice} | {inspect:.1f} | {prepare:.1f} |")


def read_terms(path):
    """By matrix, precision and width: the terms of the model by kernel."""
    terms = defaultdict(dict)
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            numbers = {name: float(row[name]) for name in ("l2", "launch", "storage_bytes")}
            terms[row["matrix"], row["precision"], int(row["N"])][row["kernel"]] = numbers
    return terms


def own_storage(cases, terms, choice, bandwidth):
    fractions = []
    for case in cases:
        taken = terms[case.key()].get(case.choices[choice][0])
        if taken is not None:
            fractions.append(case.fraction(choice, bandwidth, taken["storage_bytes"]))
    print(f"\nOf the bound with the own storage, median over {len(fractions)} cases: {statistics.median(fractions):.2f}")


def fastest_caches(cases, terms):
    """How much faster than nominally the second-level cache serves all but 1 % of the products."""
    rates = [
        term["l2"] / (1e-3 * case.own[kernel])
        for case in cases
        for kernel, term in terms[case.key()].items()
        if kernel in case.own
    ]
    return sorted(rates)[len(rates) * 99 // 100]


def bounds_table(cases, terms, choice, bandwidth):
    """What kernels at their bounds would reach against the best cuSPARSE, N = 8 to 64: at that of
    compressed rows; at the larger one of the least storage of a kernel and of the least bytes that a
    kernel moves between the second-level cache and the multiprocessors, plus one launch."""
    cache_rate = fastest_caches(cases, terms)
    print("\n| over best cuSPARSE, N = 8 to 64 | cases | CSR bound | storage, caches and launch | fastest kernel | choice |")
    print("|---|---|---|---|---|---|")
    for precision in ("double", "single"):
        solver = [c for c in cases if c.precision == precision and 8 <= c.N <= 64]
        for kind in sorted({case.kind for case in solver}) + [None]:
            ratios = []
            for case in solver:
                if kind not in (case.kind, None):
                    continue
                own = terms[case.key()].values()
                memory = (min(term["storage_bytes"] for term in own) + case.blocks) / bandwidth
                caches = min(term["l2"] for term in own) / cache_rate
                bound = max(memory, caches) + min(term["launch"] for term in own)
                times = (
                    (case.storage + case.blocks) / bandwidth,
                    bound,
                    1e-3 * min(case.own.values()),
                    1e-3 * case.choices[choice][1],
                )
                ratios.append([1e-3 * min(case.vendor.values()) / time for time in times])
            if ratios:
                means = " | ".join(f"{mean(column):.2f}" for column in zip(*ratios))
                print(f"| {precision}, {kind or 'all'} | {len(ratios)} | {means} |")


def picture(cases, choice, path, device):
    """Speed-up over width: a point per case, the geometric means joined."""
    widths = sorted({case.N for case in cases})
    ratios = [case.speedup(choice) for case in cases]
    low, high = min(0.5, min(ratios)), max(ratios) * 1.1
    left, top, width, height = 60, 40, 760, 400

    def x(n, precision):
        shift = -6 if precision == "double" else 6
        return left + (widths.index(n) + 0.5) * width / len(widths) + shift

    def y(ratio):
        return top + height * (1 - math.log(ratio / low) / math.log(high / low))

    out = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 500" font-family="sans-serif" font-size="12">',
        '<rect width="860" height="500" fill="white"/>',
        f'<text x="{left}" y="20">{choice} against the best cuSPARSE on {device}: ratio of times by width</text>',
    ]
    mark = 0.5
    while mark < high:
        if mark >= low:
            colour = "#000000" if mark == 1 else "#dddddd"
            out.append(f'<line x1="{left}" y1="{y(mark):.1f}" x2="{left + width}" y2="{y(mark):.1f}" stroke="{colour}"/>')
            out.append(f'<text x="{left - 6}" y="{y(mark) + 4:.1f}" text-anchor="end">{mark:g}</text>')
        mark *= 2
    for n in widths:
        out.append(f'<text x="{(x(n, "double") + x(n, "single")) / 2:.1f}" y="{top + height + 20}" text-anchor="middle">{n}</text>')
    for precision, colour in (("double", "#1f77b4"), ("single", "#ff7f0e")):
        points = []
        for n in widths:
            own = [c.speedup(choice) for c in cases if c.N == n and c.precision == precision]
            for ratio in own:
                out.append(f'<circle cx="{x(n, precision):.1f}" cy="{y(ratio):.1f}" r="2" fill="{colour}" fill-opacity="0.5"/>')
            if own:
                points.append(f"{x(n, precision):.1f},{y(mean(own)):.1f}")
        out.append(f'<polyline points="{" ".join(points)}" fill="none" stroke="{colour}" stroke-width="2"/>')
        row = 0 if precision == "double" else 16
        out.append(f'<text x="{left + width - 60}" y="{top + 14 + row}" fill="{colour}">{precision}</text>')
    out.append("</svg>")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("study")
    parser.add_argument("terms", nargs="?")
    parser.add_argument("--choice", default="auto")
    parser.add_argument("--svg")
    arguments = parser.parse_args()
    device, bandwidth, rows = read(arguments.study)
    cases = {}
    for row in rows:
        key = (row["matrix"], row["precision"], row["N"])
        cases.setdefault(key, Case(row)).add(row)
    cases = [c for c in cases.values() if arguments.choice in c.choices]
    choices = sorted({choice for case in cases for choice in case.choices})
    print(f"{device}, {bandwidth / 1e9:.0f} GB/s, {len({c.matrix for c in cases})} matrices, {len(cases)} cases")
    compared = [case for case in cases if case.vendor]
    if compared:
        for precision in ("double", "single"):
            own = [case for case in compared if case.precision == precision]
            if own:
                print(f"\n{precision} precision")
                ratio_table(own, arguments.choice, bandwidth, lambda case: case.N, "N")
                ratio_table(own, arguments.choice, bandwidth, lambda case: case.kind, "kind")
        for precision in ("double", "single"):
            solver = [c for c in compared if c.precision == precision and 8 <= c.N <= 64]
            if solver:
                ratios = [c.speedup(arguments.choice) for c in solver]
                print(f"\n{precision}, N = 8 to 64: {mean(ratios):.2f} in the geometric mean of {len(solver)} cases")
        low = sum(c.speedup(arguments.choice) < 0.95 for c in compared)
        print(f"\n{low} of {len(compared)} cases below 0.95")
        slowest_table(compared, arguments.choice)
        columns_table(compared)
        if arguments.svg:
            picture(compared, arguments.choice, arguments.svg, device)
    loss_table(cases, choices)
    setup_table(cases, choices)
    if arguments.terms:
        terms = read_terms(arguments.terms)
        own_storage(cases, terms, arguments.choice, bandwidth)
        if compared:
            bounds_table(compared, terms, arguments.choice, bandwidth)


if __name__ == "__main__":
    main()
