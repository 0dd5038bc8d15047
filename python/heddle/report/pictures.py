"""Panels: each function draws one kind of picture into axes that are given."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from . import style
from .results import PHASES, UNDIVIDED, Convergence, thinned

FILLS = {**dict(zip(PHASES, (*style.FILLS, style.GRID))), UNDIVIDED: style.PLAIN_FILL}
AXES = {"products": "operator applications (columns)", "seconds": "time (s)"}
BLUE = (0.13, 0.52, 0.83)  # seen on light and dark pages
SHADE_LEVELS = 6  # of a spy plot: more make its file larger, and are hardly seen
SHADES = LinearSegmentedColormap.from_list("shades", [(*BLUE, 0.0), (*BLUE, 1.0)])


@dataclass
class Series:
    """What one method found on a problem, and its place in colours and styles."""

    name: str
    place: int
    convergence: Convergence | None = None
    values: Sequence[float] = ()
    converged: bool = True


def empty(axes: Axes, message: str) -> None:
    """Says why there is no picture."""
    axes.set_axis_off()
    axes.text(0.5, 0.5, message, ha="center", va="center", color=style.MUTED,
              transform=axes.transAxes)  # fmt: skip


def scientific(value: float) -> str:
    """10⁻⁸ for 1e-8, 2·10⁻⁵ for 2e-5."""
    digits, exponent = f"{value:.1e}".split("e")
    digits = digits.removesuffix(".0")
    power = power_of_ten(10.0 ** int(exponent))
    return power if digits == "1" else f"{digits}·{power}"


def judge_handles() -> list[Line2D]:
    """Entries of a legend for full and hollow marks."""
    grey: Any = {"color": style.MUTED, "linestyle": "none", "marker": "o"}
    return [
        Line2D([], [], **grey, label="against a reference"),
        Line2D([], [], **grey, markerfacecolor="none", label="by its own bound"),
        Line2D([], [], color=style.INK, linestyle="--", linewidth=1.1, label="tolerance"),
    ]


def method_handles(series: Iterable[Series], lines: bool = True) -> list[Line2D]:
    """Entries of a legend."""
    return [
        Line2D([], [], color=style.colour(one.place), label=one.name,
               linestyle=style.line(one.place) if lines else "none",
               marker=None if lines else style.marker(one.place))
        for one in series
    ]  # fmt: skip


def logarithmic(axes: Axes, which: str, small: bool = False) -> None:
    """A logarithmic axis, "x" or "y", labelled with powers of ten. `small`: for ranges of a few
    decades, labelled 1, 2, 5, 10."""
    getattr(axes, f"set_{which}scale")("log")
    axis = getattr(axes, f"{which}axis")
    low, high = axes.viewLim.intervalx if which == "x" else axes.viewLim.intervaly
    small = small and high < 1000 * low
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if small else (1,), numticks=9))
    axis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}" if small else power_of_ten(v)))
    axis.set_minor_locator(NullLocator())  # their lines would be most of a picture's file


def power_of_ten(value: float) -> str:
    """10⁻⁸ for 1e-8."""
    exponent = round(float(np.log10(value))) if value > 0 else 0
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def draw_convergence(
    axes: Axes, series: Sequence[Series], over: str, tolerance: float | None = None,
    points: int = 100, pair_points: int = 30,
) -> None:  # fmt: skip
    """Residuals over products or seconds: per run the worst one of the wanted pairs as a thick
    line, that of each pair as a thin one. A dot ends runs that converged, a cross the others."""
    ends, drawn = [], 0
    for one in series:
        if one.convergence is None:
            continue
        colour = style.colour(one.place)
        curve = thinned(one.convergence.worst, points)
        x, y = getattr(curve, over), positive(curve.residuals)
        if not np.isfinite(x + y).any():  # residuals that are all zero have no place on the axis
            continue
        thin = [thinned(pair, pair_points) for pair in one.convergence.pairs]
        lines = [np.column_stack((getattr(c, over), positive(c.residuals))) for c in thin]
        axes.add_collection(LineCollection(lines, colors=colour, linewidths=0.6, alpha=0.45))
        axes.plot(x, y, color=colour, linestyle=style.line(one.place), zorder=3)
        axes.plot(x[-1:], y[-1:], "o" if one.converged else "X", color=colour, markersize=5,
                  zorder=4)  # fmt: skip
        ends.append(float(np.nanmax(x)))
        drawn += 1
    if not drawn:
        empty(axes, f"no history over {over}")
        return
    if max(ends) > 10 * max(min(ends), 1e-9):
        logarithmic(axes, "x")
    else:
        axes.locator_params(axis="x", nbins=6)
    logarithmic(axes, "y")
    if tolerance:
        axes.axhline(tolerance, color=style.MUTED, linewidth=0.9, linestyle=":")
    axes.set_xlabel(AXES[over])
    axes.set_ylabel("scaled residual")


def positive(values: np.ndarray) -> np.ndarray:
    """For a logarithmic axis: zeros become gaps."""
    return np.where(values > 0, values, np.nan)


def draw_values(axes: Axes, rows: Sequence[Series], truth: Sequence[float] = ()) -> None:
    """Found values as a dot each, a row per method. Copies of a value are stacked. The truth, if
    known, is a line through all rows."""
    everything = [float(v) for one in rows for v in one.values] + [float(v) for v in truth]
    finite = np.array([v for v in everything if np.isfinite(v)])
    if not finite.size:
        empty(axes, "no values were found")
        return
    wide = finite.min() > 0 and finite.max() > 1e3 * finite.min()
    scale = np.log10 if wide else np.asarray
    width = float(np.ptp(scale(finite))) or 1.0
    for value in np.unique(np.asarray(truth, dtype=float)):
        axes.axvline(value, color=style.MUTED, linewidth=0.6, zorder=1)
    for row, one in enumerate(rows):
        values = np.sort([float(v) for v in one.values if np.isfinite(v)])
        heights = stacked(scale(values) if values.size else values, 0.012 * width)
        axes.plot(values, row - 0.12 * heights, linestyle="none", marker=style.marker(one.place),
                  markersize=4, color=style.colour(one.place), zorder=3)  # fmt: skip
        if not values.size:
            axes.text(0.02, row, "no values", color=style.MUTED, va="center",
                      transform=axes.get_yaxis_transform())  # fmt: skip
    if wide:
        logarithmic(axes, "x", small=True)
    else:
        axes.locator_params(axis="x", nbins=6)
    axes.set_yticks(range(len(rows)), [one.name for one in rows])
    axes.set_ylim(len(rows) - 0.5, -0.9)
    axes.set_xlabel("eigenvalue")
    axes.grid(axis="y", visible=False)


def stacked(places: np.ndarray, near: float) -> np.ndarray:
    """For sorted places: how many others, nearer than `near`, stand below each one."""
    heights = np.zeros(places.size)
    for i in range(1, places.size):
        if places[i] - places[i - 1] < near:
            heights[i] = heights[i - 1] + 1
    return heights


@dataclass
class Density:
    """Estimated numbers of eigenvalues between edges."""

    edges: Sequence[float]
    counts: Sequence[float]


def draw_density(axes: Axes, density: Density, found: Sequence[Series]) -> None:
    """Eigenvalues per part of the spectrum, with found values marked below."""
    counts = np.maximum(np.asarray(density.counts, dtype=float), 0.5)
    axes.stairs(counts, np.asarray(density.edges), baseline=0.5, fill=True,
                color=style.LIGHT[0], alpha=0.35)  # fmt: skip
    axes.stairs(counts, np.asarray(density.edges), baseline=0.5, color=style.LIGHT[0],
                linewidth=1.0)  # fmt: skip
    axes.set_ylim(0.2, counts.max() * 2)
    logarithmic(axes, "y")
    for one in found:
        axes.plot(one.values, [0.3] * len(one.values), linestyle="none", marker="|", markersize=10,
                  color=style.colour(one.place), label=f"found: {one.name}", zorder=4)  # fmt: skip
    axes.set_xlabel("eigenvalue")
    axes.set_ylabel(f"eigenvalues per 1/{len(density.counts)} of the width")


def draw_phases(
    axes: Axes, rows: Sequence[tuple[str, dict[str, float]]], unit: str
) -> list[Patch]:
    """A stacked bar per row. Returns the legend's entries, of the phases that occur."""
    seen = [name for name in FILLS if any(parts.get(name, 0) > 0 for _, parts in rows)]
    if not seen:
        empty(axes, "no run tells its time by phase")
        return []
    left = np.zeros(len(rows))
    for name in seen:
        widths = np.array([parts.get(name, 0.0) for _, parts in rows])
        axes.barh(range(len(rows)), widths, left=left, color=FILLS[name], height=0.62,
                  edgecolor=style.MUTED, linewidth=0.4)  # fmt: skip
        left += widths
    axes.set_yticks(range(len(rows)), [name for name, _ in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlabel(unit)
    axes.grid(axis="y", visible=False)
    return [Patch(facecolor=FILLS[n], edgecolor=style.MUTED, linewidth=0.4, label=n) for n in seen]


def draw_profile(
    axes: Axes, steps: Sequence[tuple[Series, np.ndarray, np.ndarray]], cost: str
) -> None:
    """Shares of problems solved within a multiple of the smallest cost."""
    finite = [tau[-1] for _, tau, share in steps if share[-1] > 0]
    end = max([*finite, 2.0]) * 1.15
    for one, tau, share in steps:
        axes.step(np.append(tau, end), np.append(share, share[-1]), where="post",
                  color=style.colour(one.place), linestyle=style.line(one.place))  # fmt: skip
    axes.set_xlim(1, end)
    logarithmic(axes, "x", small=True)
    axes.set_ylim(-0.02, 1.03)
    axes.set_xlabel(f"{cost} over the smallest of the problem")
    axes.set_ylabel("share of problems solved")


def draw_accuracy(
    axes: Axes, groups: Sequence[tuple[float, Sequence[tuple[Series, Sequence[float], bool]]]]
) -> None:
    """Per requested tolerance and method a strip of errors: full marks against the truth, hollow
    ones by bounds alone. A line shows the tolerance."""
    methods = sorted({s.place for _, strips in groups for s, _, _ in strips})
    slot = 0.8 / max(len(methods), 1)
    for place, (tolerance, strips) in enumerate(groups):
        axes.hlines(tolerance, place - 0.46, place + 0.46, color=style.INK, linewidth=1.1,
                    linestyle="--", zorder=2)  # fmt: skip
        for one, errors, true in strips:
            centre = place - 0.4 + slot * (methods.index(one.place) + 0.5)
            spread = np.linspace(-0.32, 0.32, len(errors)) * slot if len(errors) > 1 else [0.0]
            axes.plot(centre + np.asarray(spread), np.sort(errors), linestyle="none",
                      marker=style.marker(one.place), markersize=4, alpha=0.85,
                      color=style.colour(one.place), zorder=3,
                      markerfacecolor=style.colour(one.place) if true else "none")  # fmt: skip
    logarithmic(axes, "y")
    axes.set_xticks(range(len(groups)), [scientific(t) for t, _ in groups])
    axes.set_xlim(-0.55, len(groups) - 0.45)
    axes.grid(axis="x", visible=False)
    axes.set_xlabel("requested tolerance")
    axes.set_ylabel("largest relative error of a value")


def draw_roofline(
    axes: Axes, points: Sequence[tuple[Series, np.ndarray, np.ndarray]],
    bandwidth: float | None, peak: float | None,
) -> None:  # fmt: skip
    """GFlop/s over flops per byte, and the machine's roof from bytes/s and flop/s."""
    for one, intensity, speed in points:
        axes.plot(intensity, speed, linestyle="none", marker=style.marker(one.place),
                  color=style.colour(one.place), markersize=4.5, alpha=0.8, zorder=3)  # fmt: skip
    x = np.concatenate([intensity for _, intensity, _ in points])
    ridge = peak / bandwidth if peak and bandwidth else 1.0
    span = (float(x.min()) / 2, 2 * max(float(x.max()), ridge))
    if bandwidth:
        grid = np.geomspace(*span, 200)
        roof = grid * bandwidth / 1e9
        axes.plot(grid, np.minimum(roof, peak / 1e9) if peak else roof, color=style.INK,
                  linewidth=1.2)  # fmt: skip
        axes.annotate(f"{bandwidth / 1e9:.0f} GB/s", (grid[20], roof[20]), (-4, 4),
                      textcoords="offset points", ha="right", color=style.MUTED)  # fmt: skip
    if bandwidth and peak:
        axes.annotate(f"{peak / 1e9:.0f} GFlop/s", (span[1], peak / 1e9), (0, -12),
                      textcoords="offset points", ha="right", color=style.MUTED)  # fmt: skip
    logarithmic(axes, "x", small=True)
    logarithmic(axes, "y", small=True)
    axes.set_xlabel("flops per byte of compulsory traffic")
    axes.set_ylabel("GFlop/s of the products")


def draw_spy(axes: Axes, grid: np.ndarray, rows: int, columns: int) -> None:
    """Shares of stored entries (0 to 1, on a logarithmic scale) in equal parts of the matrix."""
    shown = np.ceil(grid * SHADE_LEVELS) / SHADE_LEVELS
    axes.imshow(shown, cmap=SHADES, vmin=0, vmax=1, interpolation="none", aspect="equal",
                extent=(0.5, columns + 0.5, rows + 0.5, 0.5))  # fmt: skip
    axes.grid(visible=False)
    axes.spines[["top", "right"]].set_visible(True)
    axes.set_xlabel("column")
    axes.set_ylabel("row")
