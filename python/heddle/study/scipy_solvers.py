"""scipy.sparse.linalg.eigsh (ARPACK) and lobpcg."""

from __future__ import annotations

import time
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy
import scipy.sparse as sp
import scipy.sparse.linalg as sla

from .operands import norm_1

if TYPE_CHECKING:
    from .external import Answer, Request


def eigsh(request: Request) -> Answer:
    """ARPACK. The smallest end by shift-invert with SuperLU where A is positive (semi)definite,
    else which="SA"; the largest end by which="LA"."""
    from .external import Answer, Counted

    A, B, n = request.operands.A, request.operands.B, request.operands.n
    began = time.monotonic()
    products, solves = Counted(A), None
    words: dict[str, Any] = {"which": "LA" if request.which == "largest" else "SA"}
    if request.shift is not None:
        shifted = A - request.shift * (sp.identity(n, format="csr") if B is None else B)
        lu = sla.splu(sp.csc_matrix(shifted))
        solves = Counted(_Solver(lu))
        inverse = sla.LinearOperator((n, n), matvec=solves, dtype=np.float64)
        words = {"which": "LM", "sigma": request.shift, "OPinv": inverse}
    factored = time.monotonic()
    operator = sla.LinearOperator((n, n), matvec=products, dtype=np.float64)
    start = np.random.default_rng(request.seed).uniform(-1, 1, n)
    reason, converged = "", True
    try:
        values, vectors = sla.eigsh(
            operator, request.nev, M=B, v0=start, tol=request.tolerance,
            maxiter=request.max_iterations, ncv=request.options.get("ncv"), **words,
        )  # fmt: skip
    except sla.ArpackNoConvergence as error:
        values, vectors = error.eigenvalues, error.eigenvectors
        reason, converged = " ".join(str(error).split()), False
    return Answer(
        values=values,
        vectors=vectors,
        converged=converged,
        reason=reason,
        solver="ARPACK, " + (f"shift-invert at {request.shift:g}" if solves else words["which"]),
        operator_applications=products.columns + (solves.columns if solves else 0),
        block_size=1,
        version=f"scipy {scipy.__version__}",
        setup_seconds=factored - began,
        solve_seconds=time.monotonic() - factored,
    )


class _Solver:
    """A factorisation that is multiplied with as its inverse."""

    def __init__(self, lu: Any) -> None:
        self._lu = lu

    def __matmul__(self, x: Any) -> Any:
        return self._lu.solve(x)


def lobpcg(request: Request) -> Answer:
    """scipy.sparse.linalg.lobpcg with the diagonal of A as preconditioner at the smallest end where
    A has a positive diagonal (options.preconditioner: jacobi, ilu or none)."""
    from .external import Answer, Counted

    A, B, n = request.operands.A, request.operands.B, request.operands.n
    began = time.monotonic()
    name, preconditioner = _preconditioner(request)
    products = Counted(A)
    operator = sla.LinearOperator((n, n), matvec=products, matmat=products, dtype=np.float64)
    X = np.random.default_rng(request.seed).uniform(-1, 1, (n, request.nev))
    built = time.monotonic()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        values, vectors, history = sla.lobpcg(
            operator, X, B=B, M=preconditioner, tol=request.tolerance * norm_1(A),
            maxiter=request.max_iterations, largest=request.which == "largest",
            retResidualNormsHistory=True,
        )  # fmt: skip
    words = " ".join(str(each.message) for each in said)
    return Answer(
        values=values,
        vectors=vectors,
        converged=None,
        reason=" ".join(words.split())[:300],
        solver="scipy.lobpcg",
        iterations=len(history),
        operator_applications=products.columns,
        preconditioner=name,
        block_size=request.nev,
        version=f"scipy {scipy.__version__}",
        setup_seconds=built - began,
        solve_seconds=time.monotonic() - built,
    )


def _preconditioner(request: Request) -> tuple[str, Any]:
    A, n = request.operands.A, request.operands.n
    diagonal = A.diagonal()
    name = request.options.get("preconditioner", "jacobi")
    if request.which == "largest" or name == "none" or np.any(diagonal <= 0):
        return "none", None
    if name == "ilu":
        lu = sla.spilu(sp.csc_matrix(A))
        return name, sla.LinearOperator((n, n), matvec=lu.solve, matmat=lu.solve)
    return name, sp.diags(1 / diagonal)
