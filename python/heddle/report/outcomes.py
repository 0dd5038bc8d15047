"""What each method did on each problem, and the table that decides between methods."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .collect import Problem, Run, Study, method
from .profile import geometric_mean, ratios


@dataclass
class Outcome:
    """A method on a problem, over its repeats."""

    runs: list[Run]

    @property
    def ended(self) -> list[Run]:
        return [run for run in self.runs if run.kind_of_end != "not run"]

    @property
    def known(self) -> bool:
        return bool(self.ended)

    @property
    def solved(self) -> bool:
        """Every repeat that ended converged, and none is proven wrong."""
        return self.known and all(run.solved for run in self.ended)

    @property
    def kind(self) -> str:
        """The worst end of the repeats."""
        order = ["wrong", "failed", "not converged", "converged"]
        return min((run.kind_of_end for run in self.ended), key=order.index, default="not run")

    @property
    def typical(self) -> Run:
        """The repeat with the median seconds."""
        timed = [run for run in self.ended if run.seconds is not None] or self.ended or self.runs
        return sorted(timed, key=lambda run: run.seconds or 0.0)[(len(timed) - 1) // 2]

    @property
    def seconds(self) -> float | None:
        """The median of the repeats."""
        found = [run.seconds for run in self.ended if run.seconds is not None]
        return statistics.median(found) if found else None

    @property
    def products(self) -> float | None:
        found = [run.products for run in self.ended if run.products is not None]
        return statistics.median(found) if found else None


Outcomes = dict[str, dict[str, Outcome]]  # of a problem's group, of a method


def outcomes_of(study: Study) -> Outcomes:
    return {problem.group: outcomes_of_problem(problem) for problem in study.problems}


def outcomes_of_problem(problem: Problem) -> dict[str, Outcome]:
    found: dict[str, Outcome] = {}
    for run in problem.runs:
        found.setdefault(method(run), Outcome([])).runs.append(run)
    return found


@dataclass
class Costs:
    """Costs of methods on the problems that all of them attempted: infinity for a failure."""

    methods: list[str]
    groups: list[str]
    values: np.ndarray  # [groups, methods]
    left_out: list[str]  # methods that share too few problems with the others, or tell no cost


Measure = Callable[[Outcome], "float | None"]


def costs_of(outcomes: Outcomes, methods: list[str], measure: Measure) -> Costs:
    """The methods that attempted most problems come first. A method is left out if it would leave
    less than half of the problems of the first one to compare on."""
    attempts = {name: attempted(outcomes, name, measure) for name in methods}
    kept: list[str] = []
    common: set[str] = set()
    most = max(map(len, attempts.values()), default=0)
    for name in sorted(methods, key=lambda name: -len(attempts[name])):
        shared = attempts[name] & common if kept else set(attempts[name])
        if shared and 2 * len(shared) >= most:
            kept.append(name)
            common = shared
    kept.sort(key=methods.index)
    groups = [group for group in outcomes if group in common]
    values = [[cost(outcomes[group][name], measure) for name in kept] for group in groups]
    shape = (len(groups), len(kept))
    left_out = [name for name in methods if name not in kept]
    return Costs(kept, groups, np.reshape(np.array(values, dtype=float), shape), left_out)


def cost(outcome: Outcome, measure: Measure) -> float | None:
    """Infinity for a failure, None where it is not known."""
    return measure(outcome) if outcome.solved else float("inf")


def attempted(outcomes: Outcomes, name: str, measure: Measure) -> set[str]:
    """The problems on which a method ended. None of them where it does not tell the cost of
    those that it solved."""
    ended = {group: row[name] for group, row in outcomes.items() if name in row and row[name].known}
    if any(cost(outcome, measure) is None for outcome in ended.values()):
        return set()
    return set(ended)


@dataclass
class Standing:
    """A method's row in the table that decides."""

    method: str
    converged: int = 0
    not_converged: int = 0
    failed: int = 0
    wrong: int = 0
    disagrees: int = 0
    not_run: int = 0
    fastest: int = 0
    time_ratio: float | None = None
    product_ratio: float | None = None
    seconds: float = 0.0

    @property
    def unsolved(self) -> int:
        return self.not_converged + self.failed + self.wrong

    @property
    def ended(self) -> int:
        return self.converged + self.unsolved

    @property
    def runs(self) -> int:
        return self.ended + self.not_run


@dataclass
class Decision:
    """The table that decides: ratios are geometric means of the cost over the smallest one of the
    problem, over the problems that every method compared solved. Methods that solved less than
    half of their problems are not compared, since they would leave few of them."""

    standings: list[Standing]
    common: int  # problems that every method compared solved


def decide(study: Study, outcomes: Outcomes) -> Decision:
    rows = {name: Standing(name) for name in study.cases}
    for run in study.runs:
        row = rows[method(run)]
        counter = run.kind_of_end.replace(" ", "_")
        setattr(row, counter, getattr(row, counter) + 1)
        row.disagrees += run.verdict.get("verdict") == "disagrees"
        row.seconds += run.wall_seconds or 0.0
    time = costs_of(outcomes, study.cases, lambda outcome: outcome.seconds)
    time_ratio = ratios(time.values)
    for place, name in enumerate(time.methods):
        rows[name].fastest = int((time_ratio[:, place] == 1).sum())
    common = fill_means(rows, time, "time_ratio")
    products = costs_of(outcomes, study.cases, lambda outcome: outcome.products)
    fill_means(rows, products, "product_ratio")
    return Decision(list(rows.values()), common)


def fill_means(rows: dict[str, Standing], costs: Costs, attribute: str) -> int:
    """Geometric means of methods that solved at least half of the problems, over those that all of
    them solved. Returns the number of these problems."""
    solved = np.isfinite(costs.values)
    compared = 2 * solved.sum(axis=0) >= len(costs.groups)
    if compared.sum() < 2:
        return 0
    common = solved[:, compared].all(axis=1)
    shared = ratios(costs.values[common][:, compared])
    for place, column in enumerate(np.flatnonzero(compared)):
        setattr(rows[costs.methods[column]], attribute, geometric_mean(shared[:, place]))
    return int(common.sum())
