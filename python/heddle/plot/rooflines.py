"""Rooflines of SpMM kernels, from the JSON of the lab's spmm_prediction and spmm_timing.

Source: Williams, Waterman, Patterson, Roofline, CACM 52 (2009)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D

from ..report import pictures, style
from ..study.records import read_json
from .sources import PlotError

WIDTH, HEIGHT = 10.0, 5.2  # inches


@dataclass
class Kernel:
    """A kernel over the widths of its blocks, in flops per byte and flop/s. A measured speed is
    None where there is none."""

    name: str
    intensity: list[float] = field(default_factory=list)
    predicted: list[float] = field(default_factory=list)
    measured: list[float | None] = field(default_factory=list)


@dataclass
class Roofline:
    """The kernels of one matrix in one precision under the roof of one device."""

    title: str
    bandwidth: float  # bytes per second, nominal
    kernels: list[Kernel]


def is_file_of_rooflines(name: str) -> bool:
    path = Path(name)
    return path.suffix == ".json" and path.name != "result.json" and path.is_file()


def read_rooflines(name: str) -> list[Roofline]:
    """One per matrix and precision. Raises PlotError for a file of another kind."""
    content = read_json(Path(name))
    try:
        matrices = content.get("matrices", [content])
        device, bandwidth = content["device"], float(content["memory_bytes_per_second"])
        return [read_matrix(matrix, device, bandwidth) for matrix in matrices]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise PlotError(
            f"{name} holds no roofline: give the JSON of spmm_prediction or spmm_timing, or the "
            "folder of a solve"
        ) from error


def read_matrix(matrix: dict[str, Any], device: str, bandwidth: float) -> Roofline:
    kernels: dict[str, Kernel] = {}
    for width in matrix["widths"]:
        for found in width["kernels"]:
            if "flops_per_byte" not in found:  # a kernel without a model
                continue
            kernel = kernels.setdefault(found["kernel"], Kernel(found["kernel"]))
            kernel.intensity.append(float(found["flops_per_byte"]))
            flops = width.get("flops")
            if flops is None:
                kernel.predicted.append(1e9 * float(found["gflops"]))
            else:
                kernel.predicted.append(per_second(flops, found, "predicted_ms"))
            timed = "warm_ms" in found
            kernel.measured.append(per_second(flops, found, "warm_ms") if timed else None)
    title = f"{matrix['matrix']}: SpMM in {matrix['precision']} precision on {device}"
    return Roofline(title, bandwidth, list(kernels.values()))


def per_second(flops: float, kernel: dict[str, Any], key: str) -> float:
    return flops / (1e-3 * float(kernel[key]))


def draw(rooflines: Sequence[Roofline], title: str) -> Figure:
    extra = 0.4 if title else 0.0
    figure = Figure(figsize=(WIDTH, HEIGHT * len(rooflines) + extra), layout="constrained")
    if title:
        figure.suptitle(title, x=0.01, ha="left", fontsize=12)
    for part, roofline in zip(figure.subfigures(len(rooflines), 1, squeeze=False)[:, 0], rooflines):
        draw_one(part, roofline)
    return figure


def draw_one(figure: SubFigure, roofline: Roofline) -> None:
    axes = figure.subplots()
    axes.set_title(roofline.title)
    if not roofline.kernels:
        pictures.empty(axes, "no kernel has a prediction")
        return
    for place, kernel in enumerate(roofline.kernels):
        draw_kernel(axes, kernel, place)
    intensities = [x for kernel in roofline.kernels for x in kernel.intensity]
    ends = np.array([min(intensities) / 1.4, max(intensities) * 1.4])
    axes.plot(ends, ends * roofline.bandwidth / 1e9, color=style.INK, linewidth=1.2)
    axes.annotate(
        f"memory, {roofline.bandwidth / 1e12:.2f} TB/s",
        (ends[1], ends[1] * roofline.bandwidth / 1e9),
        (0, -26), textcoords="offset points", ha="right", color=style.MUTED,
    )  # fmt: skip
    pictures.logarithmic(axes, "x", small=True)
    pictures.logarithmic(axes, "y", small=True)
    axes.set_xlabel("flops per byte")
    axes.set_ylabel("GFlop/s")
    figure.legend(handles=handles(roofline), loc="outside right upper")


def draw_kernel(axes: Axes, kernel: Kernel, place: int) -> None:
    """Rings for predictions, joined in the order of widths, discs for measurements."""
    look: dict[str, Any] = {"color": style.colour(place), "marker": style.marker(place)}
    speeds = np.array(kernel.predicted) / 1e9
    axes.plot(kernel.intensity, speeds, markerfacecolor="none", linewidth=0.9,
              linestyle=style.line(place), **look)  # fmt: skip
    timed = [(x, y / 1e9) for x, y in zip(kernel.intensity, kernel.measured) if y is not None]
    if timed:
        axes.plot(*zip(*timed), linestyle="none", **look)


def handles(roofline: Roofline) -> list[Line2D]:
    measured = any(y is not None for kernel in roofline.kernels for y in kernel.measured)
    found = [
        Line2D([], [], color=style.colour(place), marker=style.marker(place),
               linestyle=style.line(place), label=kernel.name)
        for place, kernel in enumerate(roofline.kernels)
    ]  # fmt: skip
    hollow = Line2D([], [], color=style.MUTED, marker="o", linestyle="none",
                    markerfacecolor="none", label="predicted")  # fmt: skip
    full = Line2D([], [], color=style.MUTED, marker="o", linestyle="none", label="measured")
    return [*found, hollow, *([full] if measured else [])]
