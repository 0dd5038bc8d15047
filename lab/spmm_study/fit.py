#!/usr/bin/env python3
"""Fits the constants of the model of SpMM times (spmm/model/kernel_models.cpp).

    fit.py STUDY.csv TERMS.csv [STUDY.csv TERMS.csv ...] [--complex] [--write KERNEL_MODELS.cpp]

STUDY.csv is what spmm_study printed on a GPU, TERMS.csv what spmm_terms prints for that GPU. Several
pairs, each of one GPU, are fitted together: the cases of real matrices, or with --complex the others.
First the constants of each kernel minimise the mean of
|log2(predicted/measured)| over the matrices that are not kept aside; cases in which the kernel is far from the fastest count less. Then the constants of all
kernels together minimise what a choice by the model loses, in the mean and in the squares, with a
part of these errors added. Prints the errors on both sets, and what a choice by the model loses
against the fastest kernel.
"""

import argparse
import csv
import math
import re
import statistics
from collections import defaultdict

FIELDS = ("memory", "l2", "l1", "issue", "latency", "tail", "launch")
# Bounds of the constants. Memory and the second-level cache are not much faster than their nominal
# speed, and a launch takes a microsecond: less would only make up for what other parts have too much.
LEAST = (0.8, 0.8, 1 / 64, 1 / 64, 1 / 64, 1 / 64, 0.5)
MOST = 64.0
POWER = 3
# Predictions that differ by less than this part compete for the choice, which makes the loss smooth.
SOFTNESS = 0.05
ERROR_SHARE = 0.2
ROUNDS = 8
KEYS = ("matrix", "precision", "N", "kernel")


def read(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


class Case:
    """A kernel on a matrix, precision and width: its terms and its measured time in seconds."""

    def __init__(self, terms, measured, aside):
        number = {name: float(terms[name]) for name in terms if name not in KEYS}
        self.parts = [number[name] for name in ("memory", "l2", "l1", "issue")]
        self.tensor = number["tensor"]
        self.loads = number["loads"]
        self.instructions = number["instructions"]
        self.waves = number["waves"]
        self.tail = number["tail"]
        self.launch = number["launch"]
        self.rule = terms["rule"] == "1"
        self.measured = measured
        self.aside = aside
        self.weight = 1.0
        self.loss = 0.0  # logarithm of the time over that of the fastest kernel

    def predict(self, constants):
        latency = constants[4] * self.loads + constants[3] * self.instructions
        total = self.tensor**POWER + (self.waves * latency) ** POWER
        total += (constants[5] * self.tail) ** POWER
        for part, constant in zip(self.parts, constants):
            total += (part * constant) ** POWER
        return constants[6] * self.launch + total ** (1 / POWER)

    def error(self, factors):
        return math.log2(self.predict(factors) / self.measured)


def load(study_path, terms_path, is_complex):
    """The cases of one GPU by (device, matrix, precision, N) and kernel."""
    with open(study_path, encoding="utf-8") as file:
        device = file.readline().strip("# \n")
    measured = {}
    aside = {}
    for row in read(study_path):
        if (row["precision"] == "complex") != is_complex:
            continue
        if not row["failure"] and not row["choice"] and float(row["ms"]) > 0:
            key = (device, row["matrix"], row["precision"], row["N"])
            measured[key + (row["kernel"],)] = 1e-3 * float(row["ms"])
            aside[row["matrix"]] = row["set"] == "aside"
    groups = defaultdict(dict)
    for row in read(terms_path):
        key = (device, row["matrix"], row["precision"], row["N"])
        time = measured.get(key + (row["kernel"],))
        if time is not None:
            groups[key][row["kernel"]] = Case(row, time, aside[row["matrix"]])
    for cases in groups.values():
        best = min(case.measured for case in cases.values())
        for case in cases.values():
            case.weight = 1.0 if case.measured < 1.3 * best else 0.5 if case.measured < 2 * best else 0.15
            case.loss = min(2.0, math.log(case.measured / best))
    return groups


def objective(cases, factors):
    total = sum(case.weight * abs(case.error(factors)) for case in cases)
    # A weak pull to the device's nominal speeds holds constants that no case depends on.
    return total / sum(case.weight for case in cases) + 2e-4 * sum(
        abs(math.log2(f)) for f in factors
    )


def descend(objective_of, start, step):
    """Coordinate descent from `start` by factors of 2^step, which is halved as far as 2^0.02."""
    factors = list(start)
    best = objective_of(factors)
    while step > 0.02:
        improved = False
        for i in range(len(factors)):
            for sign in (1, -1):
                trial = list(factors)
                trial[i] = min(MOST, max(LEAST[i], trial[i] * 2 ** (sign * step)))
                value = objective_of(trial)
                if value < best - 1e-7:
                    best, factors, improved = value, trial, True
        if not improved:
            step /= 2
    return factors


def fit(cases, start):
    return descend(lambda factors: objective(cases, factors), start, 1.0)


class Rivals:
    """The other kernels of a product: the least logarithm of their predictions, and the sum of their
    weights exp(-difference/SOFTNESS) without and with their losses."""

    def __init__(self, predictions):
        self.least = min((log for log, _ in predictions), default=math.inf)
        weights = [math.exp((self.least - log) / SOFTNESS) for log, _ in predictions]
        self.sum = sum(weights)
        self.losses = sum(weight * loss for weight, (_, loss) in zip(weights, predictions))

    def loss_with(self, log, loss):
        """The mean loss of a choice that takes kernels in proportion to their weights."""
        least = min(self.least, log)
        own = math.exp((least - log) / SOFTNESS)
        others = math.exp((least - self.least) / SOFTNESS) if self.sum > 0 else 0.0
        return (others * self.losses + own * loss) / (others * self.sum + own)


def fit_choice(groups, factors):
    """Improves the factors of all kernels in turns for the choice on the matrices of the fit."""
    fitted = [cases for cases in groups.values() if not next(iter(cases.values())).aside]
    for _ in range(ROUNDS):
        for kernel in factors:
            own = []
            for cases in fitted:
                if kernel not in cases:
                    continue
                others = [
                    (math.log(case.predict(factors[name])), case.loss)
                    for name, case in cases.items()
                    if name != kernel
                ]
                own.append((cases[kernel], Rivals(others)))
            alone = [case for case, _ in own]

            def loss_of(constants):
                losses = [r.loss_with(math.log(c.predict(constants)), c.loss) for c, r in own]
                of_choice = sum(loss + 2 * loss * loss for loss in losses) / len(fitted)
                return of_choice + ERROR_SHARE / len(factors) * objective(alone, constants)

            factors[kernel] = descend(loss_of, factors[kernel], 0.5)


def loss_text(groups, choose, wanted):
    losses = []
    for key, cases in groups.items():
        if next(iter(cases.values())).aside not in wanted:
            continue
        chosen = choose(cases)
        if chosen is not None:
            losses.append((chosen.measured / min(c.measured for c in cases.values()), key))
    mean = math.exp(statistics.fmean(math.log(loss) for loss, _ in losses))
    worst = max(losses)
    over = sum(loss > 1.15 for loss, _ in losses)
    return f"{100 * (mean - 1):5.1f} % in the mean, worst {worst[0]:.2f} {worst[1]}, {over} of {len(losses)} over 15 %"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("files", nargs="+", metavar="STUDY TERMS", help="one pair per GPU")
    parser.add_argument("--complex", action="store_true", help="fit those for complex matrices")
    parser.add_argument("--write", metavar="KERNEL_MODELS", help="file that gets the constants")
    arguments = parser.parse_args()
    if len(arguments.files) % 2 != 0:
        parser.error("each STUDY.csv needs its TERMS.csv")

    groups = {}
    for study, terms in zip(arguments.files[::2], arguments.files[1::2]):
        groups.update(load(study, terms, arguments.complex))
    by_kernel = defaultdict(list)
    for cases in groups.values():
        for kernel, case in cases.items():
            by_kernel[kernel].append(case)

    factors = {}
    for kernel, cases in by_kernel.items():
        starts = ([1.0] * 7, [1.0, 1.5, 1.5, 1.5, 0.5, 0.5, 1.0])
        fits = [fit([c for c in cases if not c.aside], start) for start in starts]
        factors[kernel] = min(fits, key=lambda f: objective([c for c in cases if not c.aside], f))
    fit_choice(groups, factors)
    everything = {False: [], True: []}
    print(f"{'kernel':<18}{'fit':>7}{'aside':>7}   " + " ".join(f"{f:>7}" for f in FIELDS))
    for kernel, cases in by_kernel.items():
        medians = []
        for aside in (False, True):
            errors = [abs(c.error(factors[kernel])) for c in cases if c.aside == aside]
            everything[aside] += errors
            medians.append(statistics.median(errors or [math.nan]))
        print(
            f"{kernel:<18}{medians[0]:7.3f}{medians[1]:7.3f}   "
            + " ".join(f"{f:7.3f}" for f in factors[kernel])
        )
    for aside in (False, True):
        name = "aside" if aside else "fit"
        print(f"{name}: median of |log2(predicted/measured)| {statistics.median(everything[aside]):.3f}")

    def by_model(cases):
        return min(cases.items(), key=lambda item: item[1].predict(factors[item[0]]))[1]

    def by_rule(cases):
        return next((case for case in cases.values() if case.rule), None)

    for name, wanted in (("fit", {False}), ("aside", {True}), ("all", {False, True})):
        print(f"{name:<6} model {loss_text(groups, by_model, wanted)}")
        print(f"{name:<6} rule  {loss_text(groups, by_rule, wanted)}")

    if arguments.write:
        with open(arguments.write, encoding="utf-8") as file:
            text = file.read()

        def replaced(match):
            if match[1] not in factors:
                return match[0]
            new = "{" + ", ".join(f"{f:.3g}" for f in factors[match[1]]) + "}"
            real, other = (match[3], f", {new}") if arguments.complex else (new, match[4])
            return f'{{"{match[1]}", {match[2]}, {real}{other}}}'

        constants = r"\{[^}]*\}"
        pattern = rf'\{{"(\w+)",\s*(\w+),\s*({constants})((?:,\s*{constants})?)\}}'
        text = re.sub(pattern, replaced, text)
        with open(arguments.write, "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
