"""What the values of a study's runs are worth: against references, and against each other.

The i-th value of a run claims that the i-th eigenvalue from its end of the spectrum, copies
counted, lies within its error bound. A reference encloses the i-th eigenvalue.

  confirmed      the claim meets the reference
  proven wrong   the reference excludes the claim: the value, its bound or its place is wrong
  disagrees      no reference; another run's claim excludes it
  unchecked      none of these, or the run does not claim the pair, or its bound is so wide that the
                 value may belong to several eigenvalues"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .records import Record, Run, read_json, write_json

VERDICTS = ("proven wrong", "disagrees", "unchecked", "confirmed")  # the worst one first
EPS = 2.0**-52
Comparison = list[dict[str, Any]]
Enclosures = list["tuple[float, float] | None"]


@dataclass
class Claim:
    """`value` +- `bound` for the eigenvalue of its place. `made`: whether the run stands by it."""

    value: float
    bound: float
    made: bool


@dataclass
class Finding:
    """What is known of the values of one run."""

    run: str
    case: str
    verdict: str = "unchecked"
    against: str = ""
    detail: str = ""
    pairs: list[dict[str, Any]] = field(default_factory=list)


def claims_of(record: Record) -> list[Claim]:
    """The claims of a run for an eigenproblem, [] for another one or none. A value without a bound
    claims nothing that could be checked."""
    result = record.result or {}
    values, bounds = result.get("eigenvalues"), result.get("error_bounds")
    if not values:
        return []
    flags = result.get("converged") or [False] * len(values)
    stands = record.status in ("converged", "verification_failed")  # then the flags tell
    found = []
    for i, value in enumerate(values):
        bound = bounds[i] if bounds and i < len(bounds) else None
        known = value is not None and bound is not None
        found.append(
            Claim(
                math.nan if value is None else float(value),
                math.inf if bound is None else float(bound),
                stands and known and bool(flags[i]),
            )
        )
    return found


def compare(runs: list[Run], records: dict[str, Record], truths: Path) -> Comparison:
    """The content of comparison.json: an entry per question that was asked, with the findings of
    its runs. `truths`: the folder of the references."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(run.problem_group, []).append(run)
    found = []
    for group, members in groups.items():
        claimed = {
            run.key: claims
            for run in members
            if run.key in records and (claims := claims_of(records[run.key]))
        }
        if not claimed:
            continue
        truth = read_json(truths / f"{group}.json") or {"method": "none"}
        findings = {run.key: Finding(run.key, run.case) for run in members if run.key in claimed}
        question = members[0].question
        for key, finding in findings.items():
            _against_truth(finding, claimed[key], truth, question)
        _against_each_other(findings, claimed, question)
        for finding in findings.values():
            _summarise(finding, truth)
        found.append({
            "problem_group": group,
            "matrix": members[0].matrix,
            "end": question.get("which"),
            "question": question,
            "method": truth.get("method", "none"),
            "reason": truth.get("reason", ""),
            "runs": [finding.__dict__ for finding in findings.values()],
        })  # fmt: skip
    return found


def _against_truth(
    finding: Finding, claims: list[Claim], truth: dict[str, Any], question: dict[str, Any]
) -> None:
    enclosures = _enclosures(truth)
    method = truth.get("method", "none")
    if question.get("which") == "interval" and method != "none" and len(claims) < len(enclosures):
        enclosures = _without_edges(enclosures, question, len(claims))
    for i, claim in enumerate(claims):
        pair: dict[str, Any] = {"pair": i + 1, "value": claim.value, "bound": claim.bound}
        finding.pairs.append(pair)
        pair["verdict"] = "unchecked"
        if not claim.made:
            pair["why"] = "the run does not call it converged"
            continue
        enclosure = enclosures[i] if i < len(enclosures) else None
        if enclosure is None:
            pair["why"] = "no reference for it"
            continue
        low, high = enclosure
        pair["truth"], pair["uncertainty"] = (low + high) / 2, (high - low) / 2
        if not _meet(claim, enclosure):
            pair["verdict"] = "proven wrong"
            pair["why"] = _how_wrong(claim, i, claims, enclosures)
        elif (other := _nearer_place(claim, i, enclosures, truth)) is not None:
            pair["why"] = (
                f"its bound {claim.bound:.1e} reaches eigenvalue number {i + 1}, but number "
                f"{other + 1} is nearer"
            )
        elif pair["uncertainty"] <= _fine_enough(claim):
            pair["verdict"] = "confirmed"
        elif _is_zero(claim, pair["uncertainty"], truth):
            pair["verdict"] = "confirmed"
            pair["why"] = f"zero to the rounding of the reference, ±{pair['uncertainty']:.1e}"
        else:
            pair["why"] = f"the reference is known to ±{pair['uncertainty']:.1e} only"
        pair["against"] = method
    _note_missing(finding, claims, len(enclosures), method, question)


def _note_missing(
    finding: Finding, claims: list[Claim], known: int, method: str, question: dict[str, Any]
) -> None:
    """Marks a run whose claims are fewer than the eigenvalues that it was asked for. `known`: how
    many of them the reference has."""
    interval = question.get("which") == "interval"
    asked = known if interval else min(known, question.get("nev") or known)
    missing = asked - len(claims)
    if missing > 0 and all(claim.made for claim in claims):
        of_what = "eigenvalues of the interval" if interval else "wanted eigenvalues"
        finding.pairs.append({
            "pair": len(claims) + 1, "value": None, "bound": None, "verdict": "proven wrong",
            "why": f"{missing} of {asked} {of_what} are missing", "against": method,
        })  # fmt: skip


def _nearer_place(
    claim: Claim, place: int, enclosures: Enclosures, truth: dict[str, Any]
) -> int | None:
    """The place of an eigenvalue that lies nearer to a claimed value than the one of its own place
    does, None if there is none or the value is exact enough for its place. A bound that reaches
    several eigenvalues says little about which of them was found."""

    def distance(to: tuple[float, float]) -> float:
        return max(to[0] - claim.value, claim.value - to[1], 0.0)

    own = enclosures[place]
    exact_enough = max(1e-6 * abs(claim.value), truth.get("rounding") or 0.0)
    if own is None or distance(own) <= exact_enough:
        return None
    others = [(distance(each), at) for at, each in enumerate(enclosures) if each is not None]
    nearest, at = min(others)
    return at if nearest < distance(own) else None


def _enclosures(truth: dict[str, Any]) -> Enclosures:
    found: Enclosures = []
    for value, error in zip(
        truth.get("values") or [], truth.get("uncertainty") or [], strict=False
    ):
        known = value is not None and error is not None
        found.append((value - error, value + error) if known else None)
    return found


def _without_edges(enclosures: Enclosures, question: dict[str, Any], count: int) -> Enclosures:
    """Leaves out eigenvalues that may lie outside of the interval, at either side of its ends."""
    low, high = (float(each) for each in question["interval"])
    sure: Enclosures = [each for each in enclosures if each and each[0] >= low and each[1] <= high]
    return sure if len(sure) >= count else enclosures


def _fine_enough(claim: Claim) -> float:
    """The uncertainty up to which a reference says something about the digits of a claim."""
    return max(claim.bound, 1e-6 * abs(claim.value), 64 * EPS * abs(claim.value))


def _is_zero(claim: Claim, uncertainty: float, truth: dict[str, Any]) -> bool:
    """Whether a claim of zero to rounding is as good as the reference can tell."""
    return abs(claim.value) <= uncertainty <= (truth.get("rounding") or 0.0)


def _how_wrong(claim: Claim, place: int, claims: list[Claim], enclosures: Enclosures) -> str:
    """Why a claim is wrong: the value belongs to another place, its bound is too small, or it is no
    eigenvalue that the reference knows."""
    low, high = enclosures[place] or (0.0, 0.0)
    centre, distance = (low + high) / 2, max(low - claim.value, claim.value - high)
    if (high - low) / 2 > _fine_enough(claim):
        return (
            f"eigenvalue number {place + 1} lies between {low:.10g} and {high:.10g}; "
            f"{claim.value:.10g} is outside by {distance:.1e}, its bound is {claim.bound:.1e}"
        )
    here = f"eigenvalue number {place + 1} is {centre:.10g}{_missed(claims, enclosures, place)}"
    for at, other in enumerate(enclosures):
        if at != place and other is not None and _meet(claim, other):
            return f"{here}; {claim.value:.10g} is number {at + 1}"
    if abs(distance) <= 1e-6 * abs(centre):
        return (
            f"off by {distance:.1e}, more than its bound {claim.bound:.1e} and the uncertainty "
            f"{(high - low) / 2:.1e} of the reference: the bound is too small"
        )
    return f"{here}; {claim.value:.10g} is none of the first {len(enclosures)}"


def _meet(claim: Claim, enclosure: tuple[float, float]) -> bool:
    low, high = enclosure
    return claim.value + claim.bound >= low and claim.value - claim.bound <= high


def _missed(claims: list[Claim], enclosures: Enclosures, place: int) -> str:
    """` (N of its M copies were missed)`, where the run has too few values near the eigenvalue of
    that place. Copies beyond the wanted eigenvalues do not count."""
    low, high = enclosures[place] or (0.0, 0.0)
    centre = (low + high) / 2
    reach = max(high - low, 1e-9 * abs(centre))
    wanted = [each for each in enclosures[: len(claims)] if each is not None]
    copies = sum(1 for one in wanted if abs((one[0] + one[1]) / 2 - centre) <= reach)
    found = sum(1 for each in claims if abs(each.value - centre) <= reach + each.bound)
    if copies <= found:
        return ""
    return f" ({copies - found} of its {copies} copies missed)" if copies > 1 else " (missed)"


def _against_each_other(
    findings: dict[str, Finding], claimed: dict[str, list[Claim]], question: dict[str, Any]
) -> None:
    """Marks pairs without a reference that another run's claim excludes. By the minimum principle
    (Courant, Fischer) orthonormal vectors give values that are not below the eigenvalues of their
    places, counted from the smallest end, so the lower one of two claims is the better one there,
    the higher one at the largest end."""
    sign = {"smallest": 1.0, "largest": -1.0}.get(str(question.get("which")), 0.0)
    for key, finding in findings.items():
        for i, claim in enumerate(claimed[key]):
            pair = finding.pairs[i]
            if pair["verdict"] != "unchecked" or not claim.made:
                continue
            for other, others in claimed.items():
                if other == key or i >= len(others) or not others[i].made:
                    continue
                gap = claim.value - others[i].value
                if abs(gap) <= claim.bound + others[i].bound:
                    continue
                if sign * gap < 0:
                    pair.setdefault("beyond", f"further out than {findings[other].case}")
                    continue
                pair["verdict"] = "disagrees"
                pair["against"] = findings[other].case
                pair["why"] = f"{findings[other].case} has {others[i].value:.10g} in its place"
                if sign:
                    pair["why"] += ", which the minimum principle favours"
                break


def _summarise(finding: Finding, truth: dict[str, Any]) -> None:
    """The verdict of a run is the worst one among its pairs; confirmed only if all of them are."""
    verdicts = [pair["verdict"] for pair in finding.pairs]
    finding.verdict = min(verdicts, key=VERDICTS.index)
    worst = [pair for pair in finding.pairs if pair["verdict"] == finding.verdict]
    finding.against = str(worst[0].get("against") or truth.get("method", "none"))
    count = f"{len(worst)} of {len(finding.pairs)} values"
    if finding.verdict == "confirmed":
        finding.detail = f"all {len(finding.pairs)} values agree with {truth['method']}"
    elif finding.verdict == "unchecked":
        reason = truth.get("reason") or worst[0].get("why", "")
        finding.detail = f"{count} are unchecked" + (f": {reason}" if reason else "")
    else:
        finding.detail = f"{count}: {worst[0]['why']}"


def write_comparison(folder: Path, runs: list[Run], records: dict[str, Record]) -> Comparison:
    """Writes comparison.json to the folder of a study and returns its content. Raises OSError."""
    found = compare(runs, records, folder / "truth")
    write_json(folder / "comparison.json", found)
    return found
