"""The figure of `heddle plot`: the asked pictures below each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure, SubFigure

from ..report import matrices, pictures, style
from ..report.pictures import Series
from ..report.results import phase_seconds
from .modes import ACROSS, chosen_modes, draw_modes
from .sources import PlotError, Result, read_kept

PICTURES = ("convergence", "spectrum", "phases", "spy", "modes")
WIDTH = 10.0  # inches


@dataclass
class Wish:
    """What is to be drawn. `named`: the pictures that were asked for by name. `kept`: the file of
    the rows that eigenvectors have."""

    named: Sequence[str] = ()
    coordinates: np.ndarray | None = None
    modes: Sequence[int] = ()
    title: str = ""
    kept: Path | None = None


@dataclass
class Block:
    """A part of the figure over its whole width."""

    height: float  # inches
    draw: Callable[[SubFigure], None]


@dataclass
class Plan:
    blocks: list[Block] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)  # why pictures or parts of them are missing


def draw(results: Sequence[Result], wish: Wish) -> tuple[Figure, list[str]]:
    """Without named pictures, convergence, spectrum and phases as far as the results have them.
    Returns also what is missing in the figure, a reason each. Raises PlotError for a named picture
    that cannot be drawn, and where nothing can."""
    plan = Plan()
    asked = list(wish.named) or ["convergence", "spectrum", "phases"]
    if wish.coordinates is not None and "modes" not in asked:
        asked = [*wish.named, "modes"]
    for name in asked:
        blocks = MAKERS[name](results, wish, plan.reasons)
        if not blocks and wish.named:
            raise PlotError(plan.reasons[-1])
        plan.blocks += blocks
    if not plan.blocks:
        raise PlotError("nothing can be drawn: " + "; ".join(plan.reasons))
    extra = 0.4 if wish.title else 0.0
    height = sum(block.height for block in plan.blocks) + extra
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    if wish.title:
        figure.suptitle(wish.title, x=0.01, ha="left", fontsize=12)
    parts = figure.subfigures(
        len(plan.blocks), 1, height_ratios=[block.height for block in plan.blocks], squeeze=False
    )
    for part, block in zip(parts[:, 0], plan.blocks):
        block.draw(part)
    return figure, plan.reasons


def series_of(results: Sequence[Result]) -> list[Series]:
    return [
        Series(result.label, place, result.convergence, result.values, result.converged)
        for place, result in enumerate(results)
    ]


def convergence(results: Sequence[Result], wish: Wish, reasons: list[str]) -> list[Block]:
    missing = [result for result in results if result.convergence is None]
    if missing:
        reasons.append(
            f"{missing[0].folder} has no history.csv: solve again with --set output.history=pairs"
        )
    if len(missing) == len(results) or (missing and wish.named):
        return []

    def paint(figure: SubFigure) -> None:
        series = series_of(results)
        tolerance = results[0].tolerance
        for axes, over in zip(figure.subplots(1, 2), ("products", "seconds")):
            pictures.draw_convergence(axes, series, over, tolerance, points=400, pair_points=200)
        figure.legend(handles=pictures.method_handles(series), loc="outside upper left", ncols=4)

    return [Block(3.6, paint)]


def spectrum(results: Sequence[Result], wish: Wish, reasons: list[str]) -> list[Block]:
    """Found values, and the density of the matrix where heddle-info tells it."""
    if not any(result.values for result in results):
        reasons.append(f"{results[0].folder} has no eigenvalues")
        return []
    rows = series_of(results)
    blocks = [Block(1.0 + 0.32 * len(rows), lambda f: pictures.draw_values(f.subplots(), rows))]
    first = results[0]
    if first.problem.get("matrix") is None or any(r.problem != first.problem for r in results):
        return blocks
    try:
        density = matrices.density_of(first.problem)
    except ValueError as reason:
        reasons.append(f"no density: {reason}")
        return blocks

    def paint(figure: SubFigure) -> None:
        axes = figure.subplots()
        pictures.draw_density(axes, density, rows)
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=4)

    return [*blocks, Block(3.0, paint)]


def phases(results: Sequence[Result], wish: Wish, reasons: list[str]) -> list[Block]:
    rows = [(result.label, phase_seconds(result.content)) for result in results]
    if not any(sum(parts.values()) > 0 for _, parts in rows):
        reasons.append(f"{results[0].folder} tells no seconds")
        return []

    def paint(figure: SubFigure) -> None:
        handles = pictures.draw_phases(figure.subplots(), rows, "time (s)")
        figure.legend(handles=handles, loc="outside upper left", ncols=6)

    return [Block(1.3 + 0.32 * len(rows), paint)]


def spy(results: Sequence[Result], wish: Wish, reasons: list[str]) -> list[Block]:
    """A panel per matrix: results of one matrix share it."""
    found: dict[str, tuple[str, np.ndarray, tuple[int, int]]] = {}
    for result in results:
        key = str(result.problem.get("matrix"))
        if key in found:
            continue
        try:
            matrix = matrices.load(result.problem["matrix"])
        except (ValueError, KeyError) as error:
            reasons.append(f"{result.folder}: its matrix cannot be drawn: {error}")
            return []
        found[key] = (result.label, matrices.spy_grid(matrix, 400), matrix.shape)

    def paint(figure: SubFigure) -> None:
        panels = figure.subplots(1, len(found), squeeze=False)[0]
        for axes, (label, grid, shape) in zip(panels, found.values()):
            pictures.draw_spy(axes, grid, *shape)
            axes.set_title(label if len(found) > 1 else "entries of A")

    return [Block(min(5.0, WIDTH / len(found)), paint)]


def modes(results: Sequence[Result], wish: Wish, reasons: list[str]) -> list[Block]:
    points = wish.coordinates
    if points is None:
        reasons.append("modes are drawn on points: give them with --coordinates xyz.npy")
        return []
    numbers = chosen_modes(results, wish.modes)
    kept = None if wish.kept is None else read_kept(wish.kept, len(points))
    height = 3.3 * -(-len(numbers) // ACROSS)

    def block(result: Result) -> Block:
        title = result.label if len(results) > 1 else ""
        return Block(height, lambda f: draw_modes(f, result, points, numbers, title, kept))

    return [block(result) for result in results]


MAKERS = {
    "convergence": convergence, "spectrum": spectrum, "phases": phases, "spy": spy, "modes": modes,
}  # fmt: skip


def save(figure: Figure, path: str, dpi: int) -> None:
    """By the extension: .svg, .png or .pdf. Raises OSError."""
    if path.endswith(".svg"):
        text = style.to_svg(figure)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return
    metadata = {"CreationDate": None} if path.endswith(".pdf") else {}
    with style.settings():
        figure.savefig(path, dpi=dpi, metadata=metadata)
