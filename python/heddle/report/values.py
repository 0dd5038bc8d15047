"""values.csv: one line per wanted eigenvalue, with the best value that a run found for it, the
reference, and which methods agree."""

from __future__ import annotations

import decimal
import math
from typing import Any

from .collect import Problem, Run, Study, method
from .table import to_csv

COLUMNS = (
    "matrix", "problem", "n", "number", "value", "error_bound", "residual", "multiplicity",
    "orthogonality", "found_by", "seconds", "version", "reference", "uncertainty", "checked_by",
    "confirmed", "unchecked", "disagrees", "proven_wrong",
)  # fmt: skip
SIZES = ("error_bound", "residual", "orthogonality", "seconds", "uncertainty")
VERDICTS = ("confirmed", "unchecked", "disagrees", "proven wrong")


def to_text(study: Study) -> str:
    """The lines of all problems as CSV."""
    return to_csv([row for problem in study.problems for row in rows(problem)], COLUMNS)


def rows(problem: Problem) -> list[dict[str, Any]]:
    """A dictionary of `COLUMNS` per eigenvalue that some run found, in the problem's order.

    The value is that of the smallest error bound, among confirmed ones if there are any, and among
    those that nothing excludes otherwise. `multiplicity` counts the values of the problem, from
    the same choice, that agree with this one within both error bounds; more copies may lie beyond
    the wanted values."""
    claims = claims_by_place(problem)
    best = {place: best_claim(of_place) for place, of_place in sorted(claims.items())}
    found = [row(problem, place, claims[place], best[place]) for place in best]
    for one in found:
        one["multiplicity"] = sum(agree(one, other) for other in found) or None
    return [{**one, **{name: rounded_up(one[name]) for name in SIZES}} for one in found]


def rounded_up(size: float | None) -> float | None:
    """To three digits, upwards, because most sizes are bounds."""
    if not size or not math.isfinite(size):
        return size
    unit = decimal.Decimal(repr(size)).adjusted() - 2
    step = decimal.Decimal(1).scaleb(unit)
    return float(decimal.Decimal(repr(size)).quantize(step, rounding=decimal.ROUND_UP))


def claims_by_place(problem: Problem) -> dict[int, list[tuple[Run, dict[str, Any]]]]:
    """What runs say of each place, with its verdict. Claims without a number are left out."""
    claims: dict[int, list[tuple[Run, dict[str, Any]]]] = {}
    for run in problem.runs:
        for pair in run.verdict.get("pairs") or []:
            if pair.get("value") is not None and math.isfinite(pair["value"]):
                claims.setdefault(int(pair["pair"]), []).append((run, pair))
    return claims


def best_claim(claims: list[tuple[Run, dict[str, Any]]]) -> tuple[Run, dict[str, Any]] | None:
    def merit(claim: tuple[Run, dict[str, Any]]) -> tuple[int, float]:
        bound = claim[1].get("bound")
        return VERDICTS.index(claim[1]["verdict"]), math.inf if bound is None else bound

    possible = [claim for claim in claims if claim[1]["verdict"] in VERDICTS[:2]]
    return min(possible, key=merit, default=None)


def row(
    problem: Problem,
    place: int,
    claims: list[tuple[Run, dict[str, Any]]],
    best: tuple[Run, dict[str, Any]] | None,
) -> dict[str, Any]:
    by_verdict = {
        verdict.replace(" ", "_"): " ".join(
            dict.fromkeys(method(run) for run, pair in claims if pair["verdict"] == verdict)
        )
        for verdict in VERDICTS
    }
    known = next((pair for _, pair in claims if pair.get("truth") is not None), {})
    found: dict[str, Any] = {
        **dict.fromkeys(COLUMNS),
        "matrix": problem.matrix,
        "problem": problem.question,
        "number": place,
        "reference": known.get("truth"),
        "uncertainty": known.get("uncertainty"),
        "checked_by": known.get("against"),
        **by_verdict,
    }
    if best is None:
        return found
    run, pair = best
    return {
        **found,
        "n": run.result.get("n"),
        "value": pair["value"],
        "error_bound": pair.get("bound"),
        "residual": entry(run.full.get("residuals"), place),
        "orthogonality": run.result.get("orthogonality"),
        "found_by": method(run),
        "seconds": run.seconds,
        "version": run.version,
    }


def entry(values: Any, place: int) -> Any:
    return values[place - 1] if isinstance(values, list) and place <= len(values) else None


def agree(one: dict[str, Any], other: dict[str, Any]) -> bool:
    if one["value"] is None or other["value"] is None:
        return False
    reach = (one["error_bound"] or 0.0) + (other["error_bound"] or 0.0)
    return bool(abs(one["value"] - other["value"]) <= reach)
