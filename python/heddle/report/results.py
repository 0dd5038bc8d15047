"""The files of one run's folder: result.json, history.csv, pairs.csv."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

Columns = dict[str, np.ndarray]


def read_columns(path: Path) -> Columns | None:
    """The columns of a CSV file of numbers. Empty fields are NaN. Lines that are torn, as a killed
    process leaves them, are left out. None where the file is missing or has no header."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    if not lines:
        return None
    names = lines[0].split(",")
    rows = [row for row in map(_numbers, lines[1:]) if row is not None and len(row) == len(names)]
    table = np.array(rows, dtype=float).reshape(len(rows), len(names))
    return {name: table[:, place] for place, name in enumerate(names)}


def _numbers(line: str) -> list[float] | None:
    try:
        return [float(word) if word else np.nan for word in line.split(",")]
    except ValueError:
        return None


@dataclass
class Curve:
    """Residuals over the operator applications and the seconds at which they were reached. All
    arrays have one entry per iteration."""

    products: np.ndarray
    seconds: np.ndarray
    residuals: np.ndarray


@dataclass
class Convergence:
    """How one run converged: the worst residual of the wanted pairs, and that of each pair where
    pairs.csv was written."""

    worst: Curve
    pairs: list[Curve] = field(default_factory=list)

    @property
    def curves(self) -> list[Curve]:
        return [self.worst, *self.pairs]


def read_convergence(folder: Path) -> Convergence | None:
    """None where the folder has no history.csv with residuals."""
    history = read_columns(folder / "history.csv")
    if not history or "worst_residual" not in history or not history["worst_residual"].size:
        return None
    rows = history["worst_residual"].size
    unknown = np.full(rows, np.nan)
    products = history.get("operator_applications", unknown)
    seconds = history.get("seconds", unknown)
    convergence = Convergence(Curve(products, seconds, history["worst_residual"]))
    pairs = read_columns(folder / "pairs.csv")
    iterations = history.get("iteration")
    if pairs and iterations is not None and {"iteration", "pair", "residual"} <= pairs.keys():
        convergence.pairs = list(_pair_curves(pairs, iterations, products, seconds))
    return convergence


def _pair_curves(
    pairs: Columns, iterations: np.ndarray, products: np.ndarray, seconds: np.ndarray
) -> Iterable[Curve]:
    """pairs.csv names iterations only: their products and seconds stand in history.csv."""
    place = {number: row for row, number in enumerate(iterations)}
    for pair in np.unique(pairs["pair"]):
        chosen = pairs["pair"] == pair
        known = [
            (place[number], residual)
            for number, residual in zip(pairs["iteration"][chosen], pairs["residual"][chosen])
            if number in place
        ]
        if known:
            rows = np.array([row for row, _ in known])
            yield Curve(products[rows], seconds[rows], np.array([value for _, value in known]))


def thinned(curve: Curve, points: int) -> Curve:
    """At most about `points` points of a curve: of each stretch of iterations the point with the
    largest residual, and the last point."""
    size = curve.residuals.size
    if size <= points:
        return curve
    edges = np.linspace(0, size, points, dtype=int)
    kept = [
        start + int(np.argmax(np.nan_to_num(curve.residuals[start:end], nan=-1.0)))
        for start, end in zip(edges[:-1], edges[1:])
    ]
    rows = np.unique([0, *kept, size - 1])
    return Curve(curve.products[rows], curve.seconds[rows], curve.residuals[rows])


# Phases of result.json under the names of the pictures, in the order of the bars.
PHASES: dict[str, tuple[str, ...]] = {
    "products with A": ("spmm",),
    "preconditioner": ("preconditioner",),
    "factorisation": ("ordering", "analysis", "factorization"),
    "orthonormalisation": ("orthogonalize",),
    "Rayleigh–Ritz": ("rayleigh_ritz",),
    "update, residual": ("update", "residual"),
    "setup": ("setup",),
    "verification": ("verify",),
    "other": ("other",),
}
UNDIVIDED = "not divided"


def phase_seconds(result: dict[str, Any]) -> dict[str, float]:
    """Seconds of a solve by phase. A solver that tells no phases has its time under
    `UNDIVIDED`."""
    phases = result.get("phases")
    if isinstance(phases, dict) and phases:
        return {
            name: sum(float((phases.get(part) or {}).get("seconds") or 0) for part in parts)
            for name, parts in PHASES.items()
        }
    seconds = solve_seconds(result)
    return {UNDIVIDED: seconds} if seconds is not None else {}


def solve_seconds(result: dict[str, Any]) -> float | None:
    """Seconds of setup and solve, without reading the matrix, so that solvers in different
    languages compare. None where the result tells no seconds."""
    seconds = result.get("seconds")
    if not isinstance(seconds, dict):
        return None
    parts = [seconds.get("setup"), seconds.get("solve")]
    if parts[1] is not None:
        return sum(float(part or 0) for part in parts)
    total = seconds.get("total")
    return max(float(total) - float(seconds.get("load") or 0), 0.0) if total is not None else None
