"""Modes on coordinates: scalar fields as colours, displacements as moved points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import SubFigure

from ..report import style
from ..study.records import USAGE
from .sources import PlotError, Result, read_vectors

ACROSS = 3
MANY = 2000  # points beyond which marks are stored as an image in SVG
MOVED = 0.12  # the largest displacement that is drawn, over the size of the body


def chosen_modes(results: Sequence[Result], numbers: Sequence[int]) -> list[int]:
    """Numbers from 1. By default the first six, or as many as all results have."""
    most = min(read_vectors(result).shape[1] for result in results)
    for number in numbers:
        if not 1 <= number <= most:
            raise PlotError(f"--mode {number}: the results have modes 1 to {most}", USAGE)
    return list(numbers) or list(range(1, min(most, 6) + 1))


def whole(vectors: np.ndarray, kept: tuple[np.ndarray, int], result: Result) -> np.ndarray:
    """The eigenvectors with zeros in the rows that were not kept."""
    rows, size = kept
    if len(rows) != len(vectors):
        raise PlotError(
            f"{len(rows)} rows were kept, and the eigenvectors of {result.folder} have "
            f"{len(vectors)}"
        )
    spread = np.zeros((size, vectors.shape[1]))
    spread[rows] = vectors
    return spread


def field(vectors: np.ndarray, points: np.ndarray, result: Result) -> np.ndarray:
    """modes x points x components of the eigenvectors, whose rows are grouped by point."""
    rows, count = len(vectors), len(points)
    if rows % count:
        raise PlotError(
            f"the coordinates have {count} points, and the eigenvectors of {result.folder} have "
            f"{rows} rows, which is no multiple of it; rows that were deleted as supports: --kept "
            "rows.npy"
        )
    return vectors.T.reshape(vectors.shape[1], count, rows // count)


def draw_modes(
    figure: SubFigure,
    result: Result,
    points: np.ndarray,
    numbers: Sequence[int],
    title: str,
    kept: tuple[np.ndarray, int] | None = None,
) -> None:
    vectors = read_vectors(result)
    if kept is not None:
        vectors = whole(vectors, kept, result)
    modes = field(vectors, points, result)
    rows = -(-len(numbers) // ACROSS)
    if title:
        figure.suptitle(title, x=0.02, ha="left", fontsize=10)
    for place, number in enumerate(numbers):
        projection = "3d" if points.shape[1] == 3 else None
        axes = figure.add_subplot(rows, min(ACROSS, len(numbers)), place + 1, projection=projection)
        draw_mode(axes, points, modes[number - 1])
        axes.set_title(name_of(result, number))


def name_of(result: Result, number: int) -> str:
    frequencies = result.content.get("frequencies") or []
    if number <= len(frequencies):
        return f"{number}: f = {frequencies[number - 1]:.4g}"
    values = result.values
    return f"{number}: λ = {values[number - 1]:.5g}" if number <= len(values) else str(number)


def draw_mode(axes: Any, points: np.ndarray, mode: np.ndarray) -> None:
    """Draws into axes of two or three dimensions. mode: points x components, of which one is a
    field and several are a displacement."""
    dimensions = points.shape[1]
    if mode.shape[1] == 1 and dimensions == 1:
        order = np.argsort(points[:, 0])
        axes.plot(points[order, 0], mode[order, 0], color=style.LIGHT[0])
        axes.set_xlabel("coordinate")
        return
    scalar = mode.shape[1] == 1
    size = float(np.clip(4000 / len(points), 1.5, 36))
    options: dict[str, Any] = {"s": size, "linewidths": 0, "rasterized": len(points) > MANY}
    if scalar:
        shown, colours = points, mode[:, 0]
        limit = float(np.abs(colours).max()) or 1.0
        shades: dict[str, Any] = {"cmap": "RdBu_r", "vmin": -limit, "vmax": limit}
    else:
        shown, colours = moved(points, mode), np.linalg.norm(mode, axis=1)
        shades = {"cmap": "viridis"}
        axes.scatter(*columns(points), color=style.GRID, **options)
    axes.scatter(*columns(shown), c=colours, **shades, **options)
    axes.set_aspect("equal")
    axes.tick_params(labelsize=7)
    for which in "xyz"[:dimensions] if dimensions > 1 else "x":
        getattr(axes, f"set_{which}label")(which, labelpad=0)


def moved(points: np.ndarray, mode: np.ndarray) -> np.ndarray:
    """The points with their displacement, scaled to be seen."""
    parts = min(points.shape[1], mode.shape[1])
    largest = float(np.linalg.norm(mode[:, :parts], axis=1).max()) or 1.0
    body = float(np.ptp(points, axis=0).max()) or 1.0
    result = points.copy()
    result[:, :parts] += mode[:, :parts] * (MOVED * body / largest)
    return result


def columns(points: np.ndarray) -> list[np.ndarray]:
    """For a scatter plot: points on a line get a second coordinate of 0."""
    found = list(points.T)
    return [*found, np.zeros(len(points))] if len(found) == 1 else found
