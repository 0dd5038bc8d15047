"""Figures of a study, composed of the panels of pictures.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec

from . import pictures
from .accuracy import accuracy_of
from .collect import Problem, Study, method
from .machine import Machine
from .matrices import Portrait
from .outcomes import Outcome, Outcomes, costs_of, outcomes_of_problem
from .pictures import Series
from .profile import profile, ratios
from .results import UNDIVIDED, phase_seconds, read_convergence

LEGEND_LETTERS = 125  # in a row of a legend, the marks included
LONGEST_NAME = 34  # letters of a method beside an axis

Places = dict[str, int]  # of the methods in colours and styles


@dataclass
class Sheet:
    """A figure, what it shows in a sentence for readers who do not see it, and remarks."""

    figure: Figure
    label: str
    notes: list[str]


def new_figure(width: float, height: float) -> Figure:
    return Figure(figsize=(width, height), layout="constrained")


def legend(figure: Figure, handles: Sequence[Artist]) -> None:
    """Above the panels, where it covers no data."""
    if handles:
        figure.legend(handles=list(handles), loc="outside upper left", ncols=columns_for(handles))


def columns_for(handles: Sequence[Artist]) -> int:
    """As many as the width of a figure has room for."""
    longest = max((len(str(handle.get_label())) for handle in handles), default=1)
    return max(LEGEND_LETTERS // (longest + 7), 1)


def profiles(study: Study, outcomes: Outcomes, places: Places) -> Sheet:
    """Dolan and Moré's profiles of time and of operator applications."""
    figure = new_figure(10, 3.9)
    figure.get_layout_engine().set(wspace=0.08)  # type: ignore[union-attr, call-arg]
    notes: list[str] = []
    shown: set[str] = set()
    measures = (
        ("time", lambda outcome: outcome.seconds),
        ("operator applications", lambda outcome: outcome.products),
    )
    for axes, (name, measure) in zip(figure.subplots(1, 2), measures):
        costs = costs_of(outcomes, study.cases, measure)
        if not costs.groups or len(costs.methods) < 2:
            pictures.empty(axes, f"{name}: fewer than two methods to compare")
            continue
        ratio = ratios(costs.values)
        steps = [
            (Series(method_name, places[method_name]), *profile(ratio[:, column]))
            for column, method_name in enumerate(costs.methods)
        ]
        pictures.draw_profile(axes, steps, name)
        shown |= set(costs.methods)
        notes.append(f"{name}: {len(costs.groups)} problems")
        if costs.left_out:
            notes.append(
                f"{name} leaves out {', '.join(costs.left_out)}, which share too few problems with "
                "the others or do not tell it"
            )
    legend(figure, pictures.method_handles(Series(m, p) for m, p in places.items() if m in shown))
    return Sheet(figure, "Performance profiles of time and of operator applications", notes)


def accuracy(study: Study, places: Places) -> Sheet:
    """Errors over the requested tolerance."""
    found: dict[float, dict[tuple[str, bool], list[float]]] = {}
    for problem in study.problems:
        for run in problem.runs:
            known = accuracy_of(run, problem)
            if known is not None and run.tolerance is not None:
                strip = (method(run), known.against != "its bound")
                found.setdefault(run.tolerance, {}).setdefault(strip, []).append(known.error)
    figure = new_figure(10, 3.9)
    axes = figure.subplots()
    if not found:
        pictures.empty(axes, "no value could be judged")
        return Sheet(figure, "No accuracy could be judged", [])
    groups = [
        (tolerance, [
            (Series(name, places[name]), errors, true)
            for (name, true), errors in sorted(strips.items(), key=lambda s: places[s[0][0]])
        ])  # fmt: skip
        for tolerance, strips in sorted(found.items(), reverse=True)
    ]
    pictures.draw_accuracy(axes, groups)
    shown = {name for strips in found.values() for name, _ in strips}
    marks = (Series(name, place) for name, place in places.items() if name in shown)
    handles = pictures.method_handles(marks, lines=False)
    legend(figure, [*handles, *pictures.judge_handles()])
    return Sheet(figure, "Errors of values over the requested tolerance, by method", [])


def phases(study: Study, outcomes: Outcomes) -> Sheet:
    """Mean shares of the time by phase, of each method over the problems it solved."""
    rows = []
    for name in study.cases:
        shares = [
            {part: value / total for part, value in parts.items()}
            for row in outcomes.values()
            if (outcome := row.get(name)) is not None and outcome.solved
            for parts in [phase_seconds(outcome.typical.full)]
            if (total := sum(parts.values())) > 0
        ]
        if shares and not all(UNDIVIDED in share for share in shares):
            names = {part for share in shares for part in share}
            mean = {
                part: 100 * sum(share.get(part, 0) for share in shares) / len(shares)
                for part in names
            }
            rows.append((name, mean))
    figure = new_figure(10, 1.5 + 0.34 * max(len(rows), 2))
    handles = pictures.draw_phases(figure.subplots(), rows, "share of the time (%)")
    legend(figure, handles)
    return Sheet(figure, "Mean shares of the time by phase, a bar per method", [])


def roofline(study: Study, places: Places, machine: Machine | None) -> Sheet:
    """The products of each run with A against the roof of a machine."""
    points: dict[str, list[tuple[float, float]]] = {}
    for run in study.runs:
        spent = (run.full.get("phases") or {}).get("spmm") or {}
        flops, moved, seconds = (spent.get(k) or 0 for k in ("flops", "bytes", "seconds"))
        if flops > 0 and moved > 0 and seconds > 0:
            points.setdefault(method(run), []).append((flops / moved, flops / seconds / 1e9))
    figure = new_figure(10, 4.2)
    axes = figure.subplots()
    if not points:
        pictures.empty(axes, "no run tells bytes and flops of its products")
        return Sheet(figure, "No roofline", [])
    series = [
        (Series(name, places[name]), np.array([p[0] for p in pts]), np.array([p[1] for p in pts]))
        for name, pts in points.items()
    ]
    roof = (machine.bandwidth, machine.peak) if machine else (None, None)
    pictures.draw_roofline(axes, series, *roof)
    legend(figure, pictures.method_handles((one for one, _, _ in series), False))
    return Sheet(figure, "Speed of the products over flops per byte, with the machine's roof", [])


def problem_sheet(problem: Problem, places: Places, detail: float) -> Sheet:
    """Convergence over products and seconds, found values, time by phase. `detail`: 1 for full
    curves, less where many problems share a page."""
    outcomes = outcomes_of_problem(problem)
    series = [series_of(name, outcome, places) for name, outcome in outcomes.items()]
    figure, grid = problem_grid(series)
    tolerance = next((o.typical.tolerance for o in outcomes.values()), None)
    for column, over in enumerate(("products", "seconds")):
        axes = figure.add_subplot(grid[0, column])
        points, pair_points = max(int(120 * detail), 24), max(int(40 * detail), 10)
        pictures.draw_convergence(axes, series, over, tolerance, points, pair_points)
    truth = problem.truth.values if problem.truth else ()
    pictures.draw_values(figure.add_subplot(grid[1, 0]), series, truth)
    bars = [(name, phase_seconds(outcome.typical.full)) for name, outcome in outcomes.items()]
    axes = figure.add_subplot(grid[1, 1])
    handles = pictures.draw_phases(axes, bars, "time (s)")
    if handles:
        axes.legend(handles=handles, loc="lower left", bbox_to_anchor=(0, 1), ncols=3,
                    fontsize=7, handlelength=1.0, columnspacing=0.8, borderaxespad=0.2)  # fmt: skip
        axes.set_yticklabels([])
    names = pictures.method_handles(series)
    figure.legend(handles=names, loc="upper left", ncols=columns_for(names))
    notes = ["grey lines mark the reference values"] if problem.truth else []
    return Sheet(figure, f"Convergence, values and time of {problem.name}", notes)


def problem_grid(series: Sequence[Series]) -> tuple[Figure, GridSpec]:
    """Two panels for convergence above two with a row per method. The margins are computed, since
    matplotlib's own layout takes longer than all the rest of a picture."""
    legend_rows = -(-len(series) // columns_for(pictures.method_handles(series)))
    upper, lower = 2.4, 0.3 + 0.28 * len(series)  # inches
    top, gap, bottom = 0.15 + 0.2 * legend_rows, 1.05, 0.5
    height = top + upper + gap + lower + bottom
    longest = max((len(one.name) for one in series), default=0)
    left, right, width, between = max(0.65, 0.2 + 0.072 * longest), 0.1, 10.0, 0.75
    panel = (width - left - right - between) / 2
    figure = Figure(figsize=(width, height))
    grid = figure.add_gridspec(
        2, 2, height_ratios=(upper, lower), left=left / width, right=1 - right / width,
        top=1 - top / height, bottom=bottom / height, wspace=between / panel,
        hspace=2 * gap / (upper + lower),
    )  # fmt: skip
    return figure, grid


def series_of(name: str, outcome: Outcome, places: Places) -> Series:
    run, place = outcome.typical, places[name]
    values = [value for value in run.result.get("eigenvalues") or [] if value is not None]
    convergence = read_convergence(run.path)
    if len(name) > LONGEST_NAME:
        name = name[: LONGEST_NAME - 1] + "…"
    return Series(name, place, convergence, values, run.status == "converged")


def matrix_sheet(name: str, portrait: Portrait, problems: Sequence[Problem]) -> Sheet | None:
    """Where the entries stand, and the density of the spectrum with found values. None where
    neither is known."""
    if portrait.spy is None and portrait.density is None:
        return None
    both = portrait.spy is not None and portrait.density is not None
    figure = new_figure(10 if both else 5.2, 3.7)
    panels = list(figure.subplots(1, 2, width_ratios=(1, 1.7))) if both else [figure.subplots()]
    if portrait.spy is not None:
        pictures.draw_spy(panels.pop(0), portrait.spy, portrait.rows, portrait.columns)
    if portrait.density is not None:
        found = [
            Series(problem.question, place, values=values)
            for place, problem in enumerate(problems, 1)  # 0 is the colour of the density
            if (values := found_values(problem))
        ]
        axes = panels.pop(0)
        pictures.draw_density(axes, portrait.density, found)
        if found:
            axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=4)
    return Sheet(figure, f"Entries of {name} and density of its spectrum", [])


def found_values(problem: Problem) -> list[float]:
    """The values of the truth, else of the first run that converged."""
    if problem.truth:
        return problem.truth.values
    for run in problem.runs:
        if run.solved and run.result.get("eigenvalues"):
            return [value for value in run.result["eigenvalues"] if value is not None]
    return []
