"""The result of a solve."""

from __future__ import annotations

import copyreg
import html
import math
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

import numpy as np

from . import _core
from ._device_arrays import library_of

HISTORY = np.dtype(
    [
        ("iteration", np.int64),
        ("converged", np.int64),
        ("worst_residual", np.float64),
        ("seconds", np.float64),
        ("active_columns", np.int64),
        ("operator_applications", np.int64),
    ]
)

_COLUMN_TITLES = {
    "eigenvalues": "eigenvalue",
    "singular_values": "singular value",
    "frequencies": "frequency",
    "error_bounds": "error bound",
    "residuals": "residual",
    "passed": "passed",
}


def _array(values: list[Any]) -> np.ndarray:
    return np.array(values, dtype=np.float64)


class Completeness(NamedTuple):
    """How far the pairs are known to be all that were wanted: the method that looked for others,
    and whether it is a proof, up to the error bounds of the values."""

    method: str
    proven: bool


def _certain_digits(value: float, bound: float) -> int:
    """The digits of a value to show: six at least, and those that the bound of its error leaves."""
    if not (0 < bound < abs(value) and math.isfinite(abs(value) / bound)):
        return 12 if bound == 0 or value == 0 else 6
    return min(max(math.floor(math.log10(abs(value) / bound)) + 1, 6), 12)


@dataclass(frozen=True)
class StateCopy:
    """A copy of a `State` that pickle or copy has made, with the attributes of the original."""

    iteration: int
    converged: int
    worst_residual: float
    seconds: float
    active_columns: int
    operator_applications: int
    nev: int
    eigenvalues: list[float]
    residuals: list[float]


def _reduced_state(state: _core.State) -> tuple[Any, ...]:
    return StateCopy, tuple(getattr(state, each.name) for each in fields(StateCopy))


copyreg.pickle(_core.State, _reduced_state)


@dataclass(repr=False, eq=False)
class Result:
    """How a solve ended, and what it has found. Arrays that a problem does not have are empty.

    `status` is "converged", "max_iterations", "time_limit", "breakdown", "stagnated", "indefinite",
    "verification_failed" or "interrupted", and `reason` says why in a sentence. `vectors` has one
    eigenvector, right singular vector or solution per column. They and `left_vectors` are arrays of
    NumPy, or, for a problem on a GPU, of the caller's library there. `residuals` are relative:
    |A x - lambda B x| / (|A| + |lambda| |B|) in the 1-norm of the matrices, or |b - A x| / |b|.
    `error_bounds` bound the errors of the eigenvalues or singular values. `error_estimates` estimate
    |x - A^-1 b| / |x| of linear systems in the energy norm. `straddles` marks the eigenvalues of an
    interval that may lie beyond one of its ends, by their error bounds. `null_vectors` counts the
    leading pairs with lambda = 0 that the graph of A showed before the solve. `completeness` says what
    shows that no pair is missing, and whether this is a proof. `asymmetry` is the
    largest |a_ij - conj(a_ji)| relative to the largest entry that `symmetrize` has removed. `peak_bytes`
    is the largest memory that the solve held on its device, `peak_bytes_most` that on the device of
    several that held most."""

    status: str
    reason: str
    method: str
    method_reason: str
    device: str
    kernel: str
    preconditioner: str
    iterations: int
    operator_applications: int
    eigenvalues: np.ndarray
    singular_values: np.ndarray
    frequencies: np.ndarray
    vectors: Any
    left_vectors: Any
    residuals: np.ndarray
    error_bounds: np.ndarray
    passed: np.ndarray
    limited_by_rounding: np.ndarray
    straddles: np.ndarray
    residual_norms: np.ndarray
    backward_errors: np.ndarray
    error_estimates: np.ndarray
    infinite_eigenvalues: int
    null_vectors: int
    completeness: Completeness
    orthogonality: float
    history: np.ndarray
    timings: dict[str, Any] = field(default_factory=dict)
    asymmetry: float = 0.0
    peak_bytes: int = 0
    peak_bytes_most: int = 0

    @property
    def converged(self) -> bool:
        """Whether everything asked for was found and verified."""
        return self.status == "converged"

    @property
    def values(self) -> np.ndarray:
        """The singular values, or the eigenvalues."""
        return self.singular_values if self.singular_values.size else self.eigenvalues

    def _columns(self) -> dict[str, np.ndarray]:
        names = ["singular_values"] if self.singular_values.size else ["eigenvalues", "frequencies"]
        names += ["error_bounds", "residuals", "passed"]
        return {name: getattr(self, name) for name in names if getattr(self, name).size}

    def _facts(self) -> list[str]:
        seconds = self.timings.get("setup", 0.0) + self.timings.get("solve", 0.0)
        facts = [f"{self.method} on {self.device}", f"{self.iterations} iterations"]
        facts += [f"{self.operator_applications} products", f"{seconds:.3g} s"]
        if self.preconditioner and self.preconditioner != "none":
            facts.append(f"preconditioner {self.preconditioner}")
        return facts

    def _rows(self) -> list[list[str]]:
        columns = list(self._columns().items())
        bounds = self.error_bounds

        def text(name: str, value: Any, i: int) -> str:
            has_bound = i < min(bounds.size, self.values.size)
            if name == "passed":
                wide = has_bound and bounds[i] > 1e-6 * abs(self.values[i])
                mark = (" ~" if self.limited_by_rounding[i] else " *") if wide else ""
                return ("yes" if value else "no") + mark
            if name in ("eigenvalues", "frequencies", "singular_values"):
                digits = _certain_digits(self.values[i], bounds[i]) if has_bound else 12
                return f"{value:.{digits}g}"
            return f"{value:.2e}"

        count = len(columns[0][1]) if columns else 0
        return [[text(name, values[i], i) for name, values in columns] for i in range(count)]

    def __repr__(self) -> str:
        shown = self._rows()[:20]
        table = [[_COLUMN_TITLES[name] for name in self._columns()], *shown]
        widths = [max(len(cell) for cell in column) for column in zip(*table)]
        lines = [f"{self.status}: {self.reason}", ", ".join(self._facts())]
        for row in table if shown else []:
            lines.append("  " + "  ".join(cell.rjust(w) for cell, w in zip(row, widths)))
        if len(self._rows()) > len(shown):
            lines.append(f"  ... {len(self._rows())} in all")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        def row(cells: list[str], tag: str) -> str:
            return "<tr>" + "".join(f"<{tag}>{html.escape(c)}</{tag}>" for c in cells) + "</tr>"

        titles = [_COLUMN_TITLES[name] for name in self._columns()]
        body = "".join(row(cells, "td") for cells in self._rows()[:50])
        return (
            f"<p><b>{html.escape(self.status)}</b>: {html.escape(self.reason)}<br>"
            f"{html.escape(', '.join(self._facts()))}</p>"
            f"<table><thead>{row(titles, 'th')}</thead><tbody>{body}</tbody></table>"
        )

    def select(self, chosen: np.ndarray) -> Result:
        """This result with the pairs `chosen` alone, in this order. Empty arrays stay empty."""

        def part(values: np.ndarray) -> np.ndarray:
            return values[chosen] if values.size else values

        return replace(
            self,
            eigenvalues=part(self.eigenvalues),
            singular_values=part(self.singular_values),
            frequencies=part(self.frequencies),
            vectors=columns_of(self.vectors, chosen),
            left_vectors=columns_of(self.left_vectors, chosen),
            residuals=part(self.residuals),
            error_bounds=part(self.error_bounds),
            passed=part(self.passed),
            limited_by_rounding=part(self.limited_by_rounding),
            straddles=part(self.straddles),
            residual_norms=part(self.residual_norms),
            backward_errors=part(self.backward_errors),
            error_estimates=part(self.error_estimates),
        )


def columns_of(vectors: Any, chosen: np.ndarray) -> Any:
    """The chosen columns: all of them, forwards or backwards, are a view. PyTorch has no view of
    columns backwards."""
    if 0 in vectors.shape:
        return vectors
    everything = np.arange(vectors.shape[1])
    if np.array_equal(chosen, everything):
        return vectors
    library = library_of(vectors, "vectors")
    if library is None:
        return vectors[:, ::-1] if np.array_equal(chosen, everything[::-1]) else vectors[:, chosen]
    if not len(chosen):
        return vectors[:, :0]
    with library.current():
        return vectors[:, library.array(np.ascontiguousarray(chosen))]


def beside(X: Any, Y: Any) -> Any:
    """The columns of X, then those of Y."""
    library = library_of(X, "X")
    return np.concatenate([X, Y], axis=1) if library is None else library.beside(X, Y)


def result_of(solution: _core.Solution, dtype: np.dtype) -> Result:
    """The solution of a problem whose matrices have the given scalar. Vectors are copied only
    where their scalar is another one."""
    history = solution.history
    records = np.empty(len(history), dtype=HISTORY)
    for column, name in enumerate(HISTORY.names or ()):
        records[name] = history[:, column]
    phases = {name: totals[0] for name, totals in solution.profile.items()}
    return Result(
        status=solution.status,
        reason=solution.reason,
        method=solution.method,
        method_reason=solution.method_reason,
        device=solution.device,
        kernel=solution.kernel,
        preconditioner=solution.preconditioner,
        iterations=solution.iterations,
        operator_applications=solution.operator_applications,
        eigenvalues=_array(solution.eigenvalues),
        singular_values=_array(solution.singular_values),
        frequencies=_array(solution.frequencies),
        vectors=solution.vectors.astype(dtype, copy=False),
        left_vectors=solution.left_vectors.astype(dtype, copy=False),
        residuals=_array(solution.residuals),
        error_bounds=_array(solution.error_bounds),
        passed=np.array(solution.converged, dtype=bool),
        limited_by_rounding=np.array(solution.limited_by_rounding, dtype=bool),
        straddles=np.array(solution.straddles, dtype=bool),
        residual_norms=_array(solution.residual_norms),
        backward_errors=_array(solution.backward_errors),
        error_estimates=_array(solution.error_estimates),
        infinite_eigenvalues=solution.infinite_eigenvalues,
        null_vectors=solution.null_vectors,
        completeness=Completeness(*solution.completeness),
        orthogonality=solution.orthogonality,
        history=records,
        timings={
            "setup": solution.setup_seconds,
            "solve": solution.solve_seconds,
            "phases": phases,
        },
        peak_bytes=solution.peak_bytes,
        peak_bytes_most=solution.peak_bytes_most,
    )


# From the mildest to the one that says most about why a call of several solves has ended.
_SEVERITY = (
    "converged",
    "stagnated",
    "max_iterations",
    "indefinite",
    "breakdown",
    "verification_failed",
    "time_limit",
    "interrupted",
)


def joined(first: Result, second: Result) -> Result:
    """The pairs of two solves of one problem. The status is that of the worse one."""
    worse = max(first, second, key=lambda result: _SEVERITY.index(result.status))
    both = replace(
        first,
        status=worse.status,
        reason=worse.reason,
        iterations=first.iterations + second.iterations,
        operator_applications=first.operator_applications + second.operator_applications,
        completeness=second.completeness if first.completeness.proven else first.completeness,
        orthogonality=max(first.orthogonality, second.orthogonality),
        history=np.concatenate([first.history, second.history]),
        timings={
            "setup": first.timings["setup"] + second.timings["setup"],
            "solve": first.timings["solve"] + second.timings["solve"],
            "phases": {
                name: first.timings["phases"].get(name, 0) + second.timings["phases"].get(name, 0)
                for name in first.timings["phases"] | second.timings["phases"]
            },
        },
        peak_bytes=max(first.peak_bytes, second.peak_bytes),
        peak_bytes_most=max(first.peak_bytes_most, second.peak_bytes_most),
    )
    for name in ("eigenvalues", "frequencies", "residuals", "error_bounds", "passed"):
        setattr(both, name, np.concatenate([getattr(first, name), getattr(second, name)]))
    both.limited_by_rounding = np.concatenate(
        [first.limited_by_rounding, second.limited_by_rounding]
    )
    both.vectors = beside(first.vectors, second.vectors)
    return both
