"""Reference eigenvalues by methods that are independent of heddle: dense LAPACK, or counts of
eigenvalues by factorisations. Run as `python -m heddle.study.reference TASK.json`.

A task has `problem` (of a configuration), `questions`, the limits `dense`, `inertia` (rows) and
`inertia_s`, and the same as `limits`, which the answers repeat. A question has `group`, `which`,
`nev`, perhaps `interval`, and `claims`: pairs [value, bound] near which counts are worth while. The
answer to each is the file truth/GROUP.json."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.linalg
from scipy.sparse.csgraph import connected_components

from .inertia import EPS, Refused, Slicer, smallest_of_mass
from .operands import Operands, load, norm_1
from .records import read_json, write_json

BEYOND = 12  # reference values beyond the wanted ones, which show copies that nev cuts off
LOOSE = 1e-7  # enclosures wider than this times the value, and than its bounds, are narrowed


def main(arguments: list[str] | None = None) -> int:
    """Writes the answers to the questions of a task. Exit code 2: a task that cannot be read."""
    given = sys.argv[1:] if arguments is None else arguments
    task = read_json(Path(given[0])) if len(given) == 1 else None
    if not isinstance(task, dict):
        print("usage: python -m heddle.study.reference TASK.json", file=sys.stderr)
        return 2
    try:
        operands = load(task["problem"])
    except (OSError, ValueError) as error:
        for question in task["questions"]:
            _write(task, question, {"method": "none", "reason": str(error)})
        return 0
    if operands.n <= task["dense"]:
        _dense(task, operands)
    elif operands.n <= task["inertia"]:
        _inertia(task, operands)
    else:
        reason = f"{operands.n} rows are more than reference.inertia = {task['inertia']}"
        for question in task["questions"]:
            _write(task, question, {"method": "none", "reason": reason})
    return 0


def _write(task: dict[str, Any], question: dict[str, Any], answer: dict[str, Any]) -> None:
    whole: dict[str, Any] = {"values": [], "uncertainty": [], "intervals": [], "seconds": 0.0}
    whole |= {key: question[key] for key in ("which", "nev", "interval") if key in question}
    answer = whole | answer | {"limits": task["limits"]}
    write_json(Path(task["folder"]) / f"{question['group']}.json", answer)


def _dense(task: dict[str, Any], operands: Operands) -> None:
    began = time.monotonic()
    try:
        values, errors = dense_spectrum(operands)
    except np.linalg.LinAlgError as error:
        for question in task["questions"]:
            _write(task, question, {"method": "none", "reason": f"dense LAPACK: {error}"})
        return
    seconds = time.monotonic() - began
    for question in task["questions"]:
        order = np.argsort(-values if question["which"] == "largest" else values, kind="stable")
        if question["which"] == "interval":
            low, high = (float(each) for each in question["interval"])
            inside = (values[order] >= low - errors[order]) & (
                values[order] <= high + errors[order]
            )
            order = order[inside]
        else:
            order = order[: question["nev"] + BEYOND]
        _write(task, question, {
            "method": "dense LAPACK",
            "n": operands.n,
            "values": values[order].tolist(),
            "uncertainty": errors[order].tolist(),
            "rounding": float(errors.max()),
            "intervals": grouped(values[order], errors[order]),
            "seconds": seconds,
        })  # fmt: skip


def dense_spectrum(operands: Operands) -> tuple[Any, Any]:
    """All finite eigenvalues in ascending order and bounds of their errors, n eps ||A||_2 for
    B = I (LAPACK Users' Guide, sections 4.7 and 4.9). The connected components of the matrices
    are solved one by one, so that each has errors of its own size. Raises LinAlgError where
    neither A nor B is positive definite."""
    A, B = operands.A, operands.B
    pattern = abs(A) if B is None else abs(A) + abs(B)
    count, labels = connected_components(pattern, directed=False)
    found = []
    for rows in np.split(np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels))[:-1]):
        part = A if count == 1 else A[rows][:, rows]
        mass = B if B is None or count == 1 else B[rows][:, rows]
        found.append(_connected(part.toarray(), None if mass is None else mass.toarray()))
    values = np.concatenate([each for each, _ in found])
    errors = np.concatenate([each for _, each in found])
    order = np.argsort(values, kind="stable")
    return values[order], errors[order]


def _connected(A: Any, B: Any) -> tuple[Any, Any]:
    n = len(A)
    if B is None:
        if n == 1:
            return A[0], np.zeros(1)
        values = scipy.linalg.eigvalsh(A)
        return values, np.full(n, n * EPS * max(abs(values[0]), abs(values[-1])))
    smallest, largest = scipy.linalg.eigvalsh(B)[[0, -1]]
    if smallest > n * EPS * largest:
        values = scipy.linalg.eigvalsh(A, B)
        norm = float(np.abs(A).sum(axis=0).max())
        return values, n * EPS * (norm + abs(values) * largest) / smallest
    return _singular_mass(A, B)


def _singular_mass(A: Any, B: Any) -> tuple[Any, Any]:
    """B x = mu A x with positive definite A: lambda = 1/mu, infinite if mu is zero to rounding."""
    smallest, largest = scipy.linalg.eigvalsh(A)[[0, -1]]
    n = len(A)
    if smallest <= n * EPS * largest:
        raise np.linalg.LinAlgError("neither A nor B is positive definite")
    mu = scipy.linalg.eigvalsh(B, A)
    error = n * EPS * (np.abs(B).sum(axis=0).max() + abs(mu) * largest) / smallest
    mu, error = mu[mu > 1e3 * error], error[mu > 1e3 * error]
    order = np.argsort(1 / mu)
    return (1 / mu)[order], (error / mu**2)[order]


def grouped(values: Any, errors: Any) -> list[dict[str, Any]]:
    """Intervals of values that lie closer than their errors, with the number of values in each."""
    found: list[dict[str, Any]] = []
    for value, error in sorted(zip(values.tolist(), errors.tolist(), strict=True)):
        if found and value - error <= found[-1]["high"]:
            found[-1]["high"] = max(found[-1]["high"], value + error)
            found[-1]["count"] += 1
        else:
            found.append({"low": value - error, "high": value + error, "count": 1})
    return found


def _inertia(task: dict[str, Any], operands: Operands) -> None:
    try:
        beta = smallest_of_mass(operands.B)
    except Refused as error:
        for question in task["questions"]:
            _write(task, question, {"method": "none", "reason": str(error)})
        return
    seconds = task["inertia_s"] / max(1, len(task["questions"]))
    for question in task["questions"]:
        began = time.monotonic()
        slicer = Slicer(operands.A, operands.B, beta, seconds)
        for edge in _edges(question, norm_1(operands.A) * EPS / beta):
            if slicer.add(edge) is None and not slicer.in_time:
                break
            # The next count may take so long that the study ends this process.
            answer = _enclosed(slicer, question, operands.n, narrow=False)
            _write(task, question, answer | {"seconds": time.monotonic() - began})
        answer = _enclosed(slicer, question, operands.n, narrow=True)
        _write(task, question, answer | {"seconds": time.monotonic() - began})


def _edges(question: dict[str, Any], rounding: float) -> list[float]:
    """The ends of an interval, then both sides of each cluster of claims, the outermost cluster
    first: counts there say how many eigenvalues the clusters have, and that none lies between."""
    clusters = claimed_clusters(question["claims"], rounding)
    if question["which"] == "largest":
        clusters.reverse()
    edges = [each for each in _interval(question) if np.isfinite(each)]
    for low, high in reversed(clusters):
        edges += [low, high]
    return edges


def claimed_clusters(claims: list[list[float]], rounding: float) -> list[tuple[float, float]]:
    """Disjoint intervals around the claims, ascending. Each reaches beyond the bounds of its claims
    by some units of rounding, which a count needs."""
    clusters: list[tuple[float, float]] = []
    for value, bound in sorted(claims):
        reach = max(2 * bound, 8 * rounding, 4 * EPS * abs(value))
        if clusters and value - reach <= clusters[-1][1]:
            clusters[-1] = clusters[-1][0], max(clusters[-1][1], value + reach)
        else:
            clusters.append((value - reach, value + reach))
    return clusters


def _enclosed(slicer: Slicer, question: dict[str, Any], n: int, narrow: bool) -> dict[str, Any]:
    """The enclosures of the wanted eigenvalues, as centres with uncertainties. `narrow`: whether
    further counts halve those that are wide."""
    indices = _indices(slicer, question, n)
    if not slicer.counts or indices is None:
        reason = "no factorisation with certain signs in the time given"
        return {"method": "none", "reason": reason, "n": n}
    enclosures = [
        _narrowed(slicer, index) if narrow else slicer.enclosure(index) for index in indices
    ]
    values, uncertainty = [], []
    for low, high in enclosures:
        known = np.isfinite(low) and np.isfinite(high)
        values.append((low + high) / 2 if known else None)
        uncertainty.append((high - low) / 2 if known else None)
    shifts = sorted(slicer.counts.values(), key=lambda count: count.shift)
    intervals = [
        {"low": one.shift, "high": two.shift, "count": two.below - one.below}
        for one, two in zip(shifts, shifts[1:], strict=False)
        if two.below > one.below
    ]
    return {
        "method": "inertia",
        "n": n,
        "values": values,
        "uncertainty": uncertainty,
        "rounding": _narrowest(slicer),
        "intervals": intervals,
        "enclosures": [[low, high] for low, high in enclosures],
        "factorisations": len(slicer.counts),
    }


def _interval(question: dict[str, Any]) -> list[float]:
    return [float(each) for each in question.get("interval") or []]


def _indices(slicer: Slicer, question: dict[str, Any], n: int) -> list[int] | None:
    """The places of the wanted eigenvalues in ascending order, from 0; None if the counts at the
    ends of the interval are not there."""
    wanted = min(question["nev"], n)
    if question["which"] == "largest":
        return [n - 1 - i for i in range(wanted)]
    if question["which"] == "smallest":
        return list(range(wanted))
    below = []
    for end, outside in zip(_interval(question), (0, n), strict=True):
        if np.isfinite(end) and end not in slicer.counts:
            return None
        below.append(slicer.counts[end].below if np.isfinite(end) else outside)
    return list(range(*below))


def _narrowed(slicer: Slicer, index: int) -> tuple[float, float]:
    """The enclosure of an eigenvalue, halved while it is wide and time is left."""
    low, high = slicer.enclosure(index)
    while slicer.in_time and np.isfinite(low) and np.isfinite(high):
        width = high - low
        if width <= LOOSE * max(abs(low), abs(high)) or width <= _narrowest(slicer):
            break
        if slicer.add((low + high) / 2) is None:
            break
        closer = slicer.enclosure(index)
        if closer == (low, high):
            break
        low, high = closer
    return low, high


def _narrowest(slicer: Slicer) -> float:
    """The width of an enclosure that further counts would not make much narrower."""
    return 8 * max(slicer.margin(count) for count in slicer.counts.values())


if __name__ == "__main__":
    sys.exit(main())
