"""Other libraries' eigensolvers behind heddle's files: `python -m heddle.study.external CONFIG`
reads a configuration (JSON) with the key `external` and writes result.json as heddle does. Needs
NumPy, SciPy and the library alone, and no part of heddle beside this folder.

What a user of the library would do is done: docs/studies.md lists the settings."""

from __future__ import annotations

import importlib
import json
import os
import socket
import sys
import time
import traceback
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np

from .inertia import EPS, Refused, count_below
from .operands import Operands, load, norm_1
from .records import write_json

UNAVAILABLE, FAILED, DEVICE = 69, 70, 5  # 69 and 70 as sysexits.h has them
ADAPTERS = {
    "scipy.eigsh": ("scipy_solvers", "eigsh"),
    "scipy.lobpcg": ("scipy_solvers", "lobpcg"),
    "slepc": ("slepc_solver", "solve"),
    "primme": ("primme_solver", "solve"),
}
EXIT_CODES = {"converged": 0, "max_iterations": 3, "breakdown": 4, "verification_failed": 6}


@dataclass
class Request:
    """What an adapter solves. `tolerance`: of ||A x - lambda B x|| relative to
    (||A||_1 + |lambda| ||B||_1) ||x||; 0 asks for all that rounding allows, and is verified as
    1e-8. `shift`: where to factor A - shift B for the smallest end, None where that does not find
    it: a matrix that is not positive (semi)definite."""

    operands: Operands
    nev: int
    which: str
    tolerance: float
    max_iterations: int
    seed: int
    shift: float | None
    options: dict[str, Any]


@dataclass
class Answer:
    """Pairs in any order. `converged`: whether the library calls all of them converged; None where
    it does not say, so that the residuals tell."""

    values: Any
    vectors: Any
    converged: bool | None = True
    reason: str = ""
    iterations: int | None = None
    operator_applications: int | None = None
    solver: str = ""
    preconditioner: str = "none"
    block_size: int | None = None
    version: str = ""
    setup_seconds: float = 0.0
    solve_seconds: float = 0.0
    notes: dict[str, Any] = field(default_factory=dict)


class Counted:
    """A matrix that counts the columns it is multiplied with."""

    def __init__(self, A: Any) -> None:
        self.A, self.columns = A, 0

    def __call__(self, x: Any) -> Any:
        self.columns += 1 if x.ndim == 1 else x.shape[1]
        return self.A @ x


def main(arguments: list[str] | None = None) -> int:
    """Exit codes are those of heddle's executables, and without a result.json 69 where the library
    is not installed and 70 where it failed."""
    given = sys.argv[1:] if arguments is None else arguments
    if len(given) != 1:
        print("usage: python -m heddle.study.external CONFIG", file=sys.stderr)
        return 1
    began = time.monotonic()
    started = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    config = json.loads(Path(given[0]).read_text(encoding="utf-8"))
    module, function = ADAPTERS[config["external"]]
    try:
        adapter = getattr(importlib.import_module(f".{module}", __package__), function)
    except ImportError as error:
        print(f"{config['external']} is not installed: {error}", file=sys.stderr)
        return UNAVAILABLE
    try:
        operands = load(config["problem"])
    except (OSError, ValueError) as error:
        print(f"{config['problem']['matrix']}: {error}", file=sys.stderr)
        return 2
    request = _request(config, operands)
    if request.nev >= operands.n:
        print(f"{request.nev} pairs of a matrix with {operands.n} rows", file=sys.stderr)
        return 1
    loaded = time.monotonic()
    try:
        answer = adapter(request)
    except MemoryError:
        print(f"{config['external']}: out of memory", file=sys.stderr)
        return DEVICE
    except Exception as error:  # noqa: BLE001 (what a library raises is its result)
        traceback.print_exc()
        print(f"{type(error).__name__}: {' '.join(str(error).split())}", file=sys.stderr)
        return FAILED
    seconds = {"load": loaded - began, "total": time.monotonic() - began}
    result = _result(config, request, answer, seconds, started)
    folder = Path(config["output"]["directory"])
    write_json(folder / "result.json", result)
    return int(result["exit_code"])


def _request(config: dict[str, Any], operands: Operands) -> Request:
    solver = config.get("solver") or {}
    options = config.get("options") or {}
    which = solver.get("which", "smallest")
    tolerance = solver.get("tolerance", "auto")
    shift = options.get("sigma")
    if which == "smallest" and shift is None and options.get("mode", "auto") != "direct":
        shift = shift_below(operands)
    return Request(
        operands=operands,
        nev=int(solver.get("nev", 6)),
        which=which,
        tolerance=1e-8 if tolerance == "auto" else float(tolerance),
        max_iterations=int(solver.get("max_iterations", 1000)),
        seed=int(config.get("seed", 42)),
        shift=None if which == "largest" else shift,
        options=options,
    )


def shift_below(operands: Operands) -> float | None:
    """A shift at or below the smallest eigenvalue and near it: 0 for a positive definite A, a small
    negative number for a singular one, None if A has negative eigenvalues or no factorisation
    tells. The inertia of A tells which it is."""
    A, B = operands.A, operands.B
    diagonal = A.diagonal()
    if np.any(diagonal < 0) or np.any((diagonal == 0) & (np.diff(A.indptr) > 1)):
        return None  # a leading minor of two rows is negative
    scale = norm_1(A) / (1.0 if B is None else norm_1(B))
    if _none_below(A, B, 1e-14 * scale):
        return 0.0
    if not _none_below(A, B, -1e-5 * scale):
        return None
    return -1e-8 * scale if _none_below(A, B, -1e-8 * scale) else -1e-5 * scale


def _none_below(A: Any, B: Any, shift: float) -> bool:
    try:
        return count_below(A, B, shift).below == 0
    except Refused:
        return False


def _result(
    config: dict[str, Any],
    request: Request,
    answer: Answer,
    seconds: dict[str, float],
    started: str,
) -> dict[str, Any]:
    values, vectors = np.asarray(answer.values, dtype=float), np.asarray(answer.vectors)
    order = np.argsort(-values if request.which == "largest" else values, kind="stable")
    values, vectors = values[order], vectors[:, order]
    checks = verified(request, values, vectors)
    passed = checks["residuals"] <= max(request.tolerance or 1e-8, 100 * EPS)
    done = bool(passed.all()) if answer.converged is None else answer.converged
    status = "converged" if done and len(values) >= request.nev else "max_iterations"
    reason = answer.reason or f"{answer.solver}: {len(values)} pairs"
    if status == "converged" and not passed.all():
        status = "verification_failed"
        reason = f"{int((~passed).sum())} residuals are larger than the tolerance; {reason}"
    return {
        "schema_version": 1,
        "status": status,
        "reason": reason,
        "exit_code": EXIT_CODES[status],
        "solver": answer.solver,
        "device": "host",
        "precision": "double",
        "n": request.operands.n,
        "nnz": int(request.operands.A.nnz),
        "iterations": answer.iterations,
        "operator_applications": answer.operator_applications,
        "seconds": seconds | {"setup": answer.setup_seconds, "solve": answer.solve_seconds},
        "eigenvalues": values.tolist(),
        "residuals": checks["residuals"].tolist(),
        "error_bounds": checks["bounds"].tolist(),
        "limited_by_rounding": [False] * len(values),
        "converged": passed.tolist(),
        "orthogonality": checks["orthogonality"],
        "problem": {"matrix": str(config["problem"]["matrix"]), "n": request.operands.n},
        "block_size": answer.block_size,
        "preconditioner": answer.preconditioner,
        "threads": int(os.environ.get("OMP_NUM_THREADS", "0")) or None,
        "memory": {"process_peak_bytes": peak_bytes()},
        "notes": answer.notes,
        "versions": {"library": answer.version, "python": sys.version.split()[0]},
        "configuration": config,
        "run": {
            "started": started,
            "host": socket.gethostname(),
            "current_folder": str(Path.cwd()),
            "command_line": [sys.executable, "-m", "heddle.study.external", *sys.argv[1:]],
        },
    }


def peak_bytes() -> int | None:
    """The most resident memory that this process had. On Linux, getrusage also counts the process
    that started this one, between fork and exec."""
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as file:
            return next(1024 * int(line.split()[1]) for line in file if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        return None


def verified(request: Request, values: Any, X: Any) -> dict[str, Any]:
    """Residuals ||r|| / ((||A||_1 + |lambda| ||B||_1) ||x||) with fresh products, error bounds of
    the values, and max |X^T B X - I| of the vectors scaled to x^T B x = 1. A bound is ||r|| in the
    norm of B^-1, plus rounding: an eigenvalue lies that near, for certain."""
    A, B = request.operands.A, request.operands.B
    if not len(values):
        return {"residuals": np.empty(0), "bounds": np.empty(0), "orthogonality": None}
    BX = X if B is None else B @ X
    lengths = np.sqrt(np.abs(np.sum(X * BX, axis=0)))
    X, BX = X / lengths, BX / lengths
    R = A @ X - BX * values
    scale = norm_1(A) + np.abs(values) * (1.0 if B is None else norm_1(B))
    residuals = np.linalg.norm(R, axis=0) / (scale * np.linalg.norm(X, axis=0))
    rho = np.linalg.norm(R, axis=0) if B is None else _norm_of_inverse(B, R)
    rounding = 10 * EPS * scale * np.sum(X * X, axis=0)
    gram = X.T @ BX
    return {
        "residuals": residuals,
        "bounds": rho + rounding,
        "orthogonality": float(np.abs(gram - np.eye(len(values))).max()),
    }


def _norm_of_inverse(B: Any, R: Any) -> Any:
    """sqrt(r^T B^-1 r) of each column."""
    import scipy.sparse.linalg as sla

    try:
        return np.sqrt(np.abs(np.sum(R * sla.splu(B.tocsc()).solve(R), axis=0)))
    except RuntimeError:  # a singular mass: no bound in this norm
        return np.full(R.shape[1], np.inf)


if __name__ == "__main__":
    sys.exit(main())
