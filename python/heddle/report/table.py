"""table.csv: one line per run, with everything that the tables of the report show."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable
from typing import Any

from .accuracy import Accuracy, accuracy_of
from .collect import Problem, Run, Study, method

Getter = Callable[[Run, Problem, "Accuracy | None"], Any]

COLUMNS: dict[str, Getter] = {
    "key": lambda run, problem, accuracy: run.key,
    "matrix": lambda run, problem, accuracy: run.matrix,
    "problem": lambda run, problem, accuracy: problem.question,
    "case": lambda run, problem, accuracy: run.case,
    "method": lambda run, problem, accuracy: method(run),
    "repeat": lambda run, problem, accuracy: run.repeat,
    "kind": lambda run, problem, accuracy: run.kind,
    "program": lambda run, problem, accuracy: run.program,
    "n": lambda run, problem, accuracy: run.result.get("n"),
    "nnz": lambda run, problem, accuracy: run.result.get("nnz"),
    "status": lambda run, problem, accuracy: run.status,
    "reason": lambda run, problem, accuracy: run.reason,
    "exit_code": lambda run, problem, accuracy: run.exit_code,
    "signal": lambda run, problem, accuracy: run.signal,
    "seconds": lambda run, problem, accuracy: run.seconds,
    "wall_seconds": lambda run, problem, accuracy: run.wall_seconds,
    "operator_applications": lambda run, problem, accuracy: run.products,
    "iterations": lambda run, problem, accuracy: run.result.get("iterations"),
    "worst_residual": lambda run, problem, accuracy: largest(run.result.get("residuals")),
    "worst_error_bound": lambda run, problem, accuracy: largest(run.result.get("error_bounds")),
    "worst_relative_error": lambda run, problem, accuracy: accuracy and accuracy.error,
    "error_against": lambda run, problem, accuracy: accuracy and accuracy.against,
    "orthogonality": lambda run, problem, accuracy: run.result.get("orthogonality"),
    "peak_rss_bytes": lambda run, problem, accuracy: run.peak_rss_bytes,
    "verdict": lambda run, problem, accuracy: run.verdict.get("verdict"),
    "verdict_against": lambda run, problem, accuracy: run.verdict.get("against"),
    "verdict_detail": lambda run, problem, accuracy: run.verdict.get("detail"),
    "solver": lambda run, problem, accuracy: run.result.get("solver"),
    "preconditioner": lambda run, problem, accuracy: run.result.get("preconditioner"),
    "block_size": lambda run, problem, accuracy: run.result.get("block_size"),
    "spmm_kernel": lambda run, problem, accuracy: run.result.get("spmm_kernel"),
    "tolerance": lambda run, problem, accuracy: run.tolerance,
    "version": lambda run, problem, accuracy: run.version,
    "device": lambda run, problem, accuracy: run.device,
    "host": lambda run, problem, accuracy: run.host,
    "cpu": lambda run, problem, accuracy: run.cpu,
    "started": lambda run, problem, accuracy: run.started,
    "folder": lambda run, problem, accuracy: run.data.get("folder"),
    "eigenvalues": lambda run, problem, accuracy: numbers(run.result.get("eigenvalues")),
    "error_bounds": lambda run, problem, accuracy: numbers(run.result.get("error_bounds")),
}


def largest(values: Any) -> float | None:
    """None without values, and of values that are not numbers."""
    known = [float(v) for v in values or [] if v is not None and math.isfinite(float(v))]
    return max(known, default=None)


def numbers(values: Any) -> str:
    """Separated by blanks, with all digits."""
    return " ".join("nan" if value is None else repr(float(value)) for value in values or [])


def text(value: Any) -> str:
    if value is None:
        return ""
    return repr(value) if isinstance(value, float) else str(value)


def rows(study: Study) -> list[dict[str, Any]]:
    """A dictionary of `COLUMNS` per run, in the order of the problems."""
    return [
        {name: get(run, problem, accuracy) for name, get in COLUMNS.items()}
        for problem in study.problems
        for run in problem.runs
        for accuracy in [accuracy_of(run, problem)]
    ]


def to_csv(table: list[dict[str, Any]], columns: Iterable[str] = tuple(COLUMNS)) -> str:
    """With all digits of numbers, empty fields for what is not known, and lines that end in \\n."""
    names = list(columns)
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([text(row[name]) for name in names] for row in table)
    return buffer.getvalue()
