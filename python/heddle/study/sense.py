"""Whether a result.json makes sense: a damaged one is a row of its own, and ends no study."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

# An entry per pair each
LISTS = ("eigenvalues", "residuals", "error_bounds", "converged", "limited_by_rounding", "straddles")
WORDS = ("reason", "device", "device_name", "solver", "preconditioner", "spmm_kernel")
NUMBERS = (
    "exit_code", "n", "nnz", "iterations", "operator_applications", "orthogonality", "threads",
)  # fmt: skip
MAPS = ("seconds", "memory", "phases", "run", "configuration", "versions")


def is_number(value: Any) -> bool:
    """Whether it is null, a truth value or a number that a float can hold."""
    largest = sys.float_info.max
    return value is None or (isinstance(value, (int, float)) and -largest <= value <= largest)


def _is_map(value: Any) -> bool:
    return value is None or isinstance(value, dict)


def _numbers_in(value: Any, keys: tuple[str, ...] | None = None) -> bool:
    """Whether the values of a map, or those of some of its keys, are numbers."""
    chosen = (value or {}).items()
    return all(is_number(each) for key, each in chosen if keys is None or key in keys)


def problem_of_result(result: Any) -> str:
    """What is wrong with the content of a result.json, "" if nothing is."""
    if not isinstance(result, dict):
        return "no complete result.json"
    if not isinstance(result.get("status"), str):
        return "a result.json without a status"
    forms: tuple[tuple[tuple[str, ...], Callable[[Any], bool], str], ...] = (
        (WORDS, lambda each: each is None or isinstance(each, str), "is no text"),
        (NUMBERS, is_number, "is no number"),
        (MAPS, _is_map, "is no map"),
        (("seconds",), _numbers_in, "holds what is no number"),
        (("memory",), lambda each: _numbers_in(each, ("process_peak_bytes",)), "is no number"),
        (("phases",), _are_phases, "holds what is no time of a phase"),
    )
    for keys, fits, complaint in forms:
        for key in keys:
            if not fits(result.get(key)):
                return f"a result.json whose {key} {complaint}"
    return "" if result["status"] == "error" else _problem_of_lists(result)


def _are_phases(value: Any) -> bool:
    return all(
        _is_map(each) and _numbers_in(each, ("seconds", "flops", "bytes"))
        for each in (value or {}).values()
    )


def _problem_of_lists(result: dict[str, Any]) -> str:
    lengths = {}
    for key in LISTS:
        if key not in result:
            continue
        values = result[key]
        if not isinstance(values, list) or not all(is_number(each) for each in values):
            return f"a result.json whose {key} are no list of numbers"
        lengths[key] = len(values)
    if "residuals" not in lengths:
        return "a result.json without residuals"
    if "eigenvalues" in lengths and len(set(lengths.values())) > 1:
        counts = ", ".join(f"{count} {key}" for key, count in lengths.items())
        return f"a result.json with lists of different lengths: {counts}"
    if result["status"] == "converged" and None in (result.get("eigenvalues") or []):
        return "a result.json that calls eigenvalues converged which are no numbers"
    if any(bound is not None and bound < 0 for bound in result.get("error_bounds", [])):
        return "a result.json with a negative error bound"
    return ""
