"""PRIMME's eigsh."""

from __future__ import annotations

import time
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
import primme
import scipy.sparse.linalg as sla

if TYPE_CHECKING:
    from .external import Answer, Request


def solve(request: Request) -> Answer:
    """The dynamic method, or options.method. Its tolerance is relative to ||A||."""
    from .external import Answer, Counted

    A, B, n = request.operands.A, request.operands.B, request.operands.n
    began = time.monotonic()
    products = Counted(A)
    operator = sla.LinearOperator((n, n), matvec=products, matmat=products, dtype=np.float64)
    name, inverse = _preconditioner(request)
    start = np.random.default_rng(request.seed).uniform(-1, 1, (n, 1))
    built = time.monotonic()
    reason, converged = "", True
    try:
        values, vectors, facts = primme.eigsh(
            operator, request.nev, M=B, which="LA" if request.which == "largest" else "SA",
            tol=request.tolerance, maxiter=request.options.get("maxiter"), v0=start,
            OPinv=inverse, method=request.options.get("method"), return_stats=True,
        )  # fmt: skip
    except primme.PrimmeError as error:
        values, vectors, facts = np.empty(0), np.empty((n, 0)), {}
        reason, converged = str(error), False
    return Answer(
        values=values,
        vectors=vectors,
        converged=converged,
        reason=reason,
        solver="PRIMME",
        iterations=facts.get("numOuterIterations"),
        operator_applications=products.columns,
        preconditioner=name,
        version=f"primme {version('primme')}",
        setup_seconds=built - began,
        solve_seconds=time.monotonic() - built,
    )


def _preconditioner(request: Request) -> tuple[str, Any]:
    diagonal = request.operands.A.diagonal()
    name = request.options.get("preconditioner", "none")
    if request.which == "largest" or name != "jacobi" or np.any(diagonal <= 0):
        return "none", None
    n = request.operands.n

    def divide(x: Any) -> Any:
        return (x.T / diagonal).T

    return name, sla.LinearOperator((n, n), matvec=divide, matmat=divide, dtype=np.float64)
