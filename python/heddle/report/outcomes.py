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
    left_out: list[str]  # methods that attempted less than half of the problems, or tell no cost


def costs_of(
    outcomes: Outcomes, methods: list[str], measure: Callable[[Outcome], float | None]
) -> Costs:
    """Methods that have a cost on less than half of the problems are left out, since they would
    leave few problems to compare on."""

    def cost(group: str, name: str) -> float | None:
        """None: not attempted, or the cost is not known."""
        outcome = outcomes[group].get(name)
        if outcome is None or not outcome.known:
            return None
        return measure(outcome) if outcome.solved else float("inf")

    table = {group: {name: cost(group, name) for name in methods} for group in outcomes}
    attempted = {
        name: sum(row[name] is not None for row in table.values())
        for name in methods
        if measure_is_known(outcomes, name, measure)
    }
    kept = [name for name in methods if 2 * attempted.get(name, 0) >= max(len(table), 1)]
    groups = [group for group, row in table.items() if all(row[name] is not None for name in kept)]
    values = np.array([[table[group][name] for name in kept] for group in groups], dtype=float)
    left_out = [name for name in methods if name not in kept]
    return Costs(kept, groups if kept else [], values.reshape(len(groups), len(kept)), left_out)


def measure_is_known(
    outcomes: Outcomes, name: str, measure: Callable[[Outcome], float | None]
) -> bool:
    """Whether any outcome of the method has the cost, also one that failed."""
    rows = [row[name] for row in outcomes.values() if name in row]
    return any(measure(outcome) is not None for outcome in rows if outcome.known)


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
    """The table that decides: ratios are geometric means over the problems that every method
    compared solved, of the cost over the smallest one of the problem."""

    standings: list[Standing]
    common: int  # problems that every method compared solved
    left_out: list[str]


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
    fill_means(rows, costs_of(outcomes, study.cases, lambda o: o.products), "product_ratio")
    return Decision(list(rows.values()), common, time.left_out)


def fill_means(rows: dict[str, Standing], costs: Costs, attribute: str) -> int:
    """Geometric means over the problems that all methods of the costs solved; their number."""
    if len(costs.methods) < 2:
        return 0
    solved = np.isfinite(costs.values).all(axis=1)
    shared = ratios(costs.values[solved])
    for place, name in enumerate(costs.methods):
        setattr(rows[name], attribute, geometric_mean(shared[:, place]))
    return int(solved.sum())
