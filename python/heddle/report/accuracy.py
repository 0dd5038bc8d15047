"""How far the values of a run are from the truth, or from what their own bounds allow."""

from __future__ import annotations

from dataclasses import dataclass

from .collect import Problem, Run, Truth

FLOOR = 1e-17  # drawn in place of an error of zero


@dataclass
class Accuracy:
    """The largest relative error of a run's values."""

    error: float
    against: str  # the method of the truth, or "its bound" for the run's own bounds


def accuracy_of(run: Run, problem: Problem) -> Accuracy | None:
    """max |λ − λ*| / |λ*| over the values of a run that converged.

    A value counts with its distance from the truth where the truth is certain to a tenth of that
    distance or of the requested tolerance, else with its own bound. Values that rounding limits
    are left out, because no tolerance applies to them. None where nothing is left."""
    result = run.result
    values = result.get("eigenvalues") or []
    if run.kind_of_end not in ("converged", "wrong") or not values:
        return None
    found = [
        error
        for place in range(len(values))
        if (error := _error_of(run, problem.truth, place)) is not None
    ]
    if not found:
        return None
    largest, against = max(found)
    return Accuracy(max(largest, FLOOR), against)


def _error_of(run: Run, truth: Truth | None, place: int) -> tuple[float, str] | None:
    result = run.result
    value = result["eigenvalues"][place]
    if value is None:
        return None
    bounds = result.get("error_bounds") or []
    limited = result.get("limited_by_rounding") or []
    if truth is not None and place < len(truth.values) and truth.values[place] != 0:
        scale = abs(truth.values[place])
        uncertainty = truth.uncertainty[place] if place < len(truth.uncertainty) else 0.0
        distance = abs(value - truth.values[place])
        if uncertainty <= 0.1 * max(distance, (run.tolerance or 1e-8) * scale):
            return distance / scale, truth.method or "reference"
    if place < len(limited) and limited[place]:
        return None
    if place < len(bounds) and bounds[place] is not None and value != 0:
        return float(bounds[place]) / abs(value), "its bound"
    return None
