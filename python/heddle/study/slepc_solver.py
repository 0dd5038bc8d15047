"""SLEPc through slepc4py."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
import slepc4py

slepc4py.init([])
from petsc4py import PETSc  # noqa: E402 (initialised by slepc4py)
from slepc4py import SLEPc  # noqa: E402

if TYPE_CHECKING:
    from .external import Answer, Request


def solve(request: Request) -> Answer:
    """Krylov-Schur, or options.type. The smallest end by shift-invert with a Cholesky or LDL^T
    factorisation where A is positive (semi)definite, else the smallest real ones directly."""
    from .external import Answer

    A, B, n = request.operands.A, request.operands.B, request.operands.n
    began = time.monotonic()
    eps = SLEPc.EPS().create(PETSc.COMM_SELF)
    eps.setOperators(_matrix(A), _matrix(B) if B is not None else None)
    kind = SLEPc.EPS.ProblemType
    eps.setProblemType(kind.HEP if B is None else kind.GHEP)
    eps.setType(request.options.get("type", "krylovschur"))
    eps.setDimensions(request.nev, request.options.get("ncv", PETSc.DECIDE))
    eps.setTolerances(request.tolerance, request.max_iterations)
    eps.setConvergenceTest(SLEPc.EPS.Conv.NORM)
    how = _aim(eps, request)
    eps.setUp()
    built = time.monotonic()
    eps.solve()
    ended = time.monotonic()
    count = min(eps.getConverged(), request.nev)
    values, vectors = np.empty(count), np.empty((n, count))
    x = PETSc.Vec().createSeq(n)
    for i in range(count):
        values[i] = eps.getEigenpair(i, x).real
        vectors[:, i] = x.getArray()
    converged = count >= request.nev
    version = ".".join(map(str, SLEPc.Sys.getVersion()))
    return Answer(
        values=values,
        vectors=vectors,
        converged=converged,
        reason="" if converged else f"{count} of {request.nev} pairs converged",
        solver=f"SLEPc {eps.getType()}, {how}",
        iterations=eps.getIterationNumber(),
        version=f"slepc {version}",
        setup_seconds=built - began,
        solve_seconds=ended - built,
    )


def _matrix(M: Any) -> Any:
    index = PETSc.IntType
    csr = (M.indptr.astype(index), M.indices.astype(index), M.data.astype(PETSc.ScalarType))
    matrix = PETSc.Mat().createAIJ(M.shape, csr=csr, comm=PETSc.COMM_SELF)
    matrix.setOption(PETSc.Mat.Option.SYMMETRIC, True)
    matrix.assemble()
    return matrix


def _aim(eps: Any, request: Request) -> str:
    """Sets the end of the spectrum; returns how it is reached."""
    ends = SLEPc.EPS.Which
    if request.which == "largest":
        eps.setWhichEigenpairs(ends.LARGEST_REAL)
        return "largest real"
    if request.shift is None:
        eps.setWhichEigenpairs(ends.SMALLEST_REAL)
        return "smallest real"
    eps.setWhichEigenpairs(ends.TARGET_MAGNITUDE)
    eps.setTarget(request.shift)
    transform = eps.getST()
    transform.setType("sinvert")
    solver = transform.getKSP()
    solver.setType("preonly")
    solver.getPC().setType("cholesky")
    if _has_mumps():
        solver.getPC().setFactorSolverType("mumps")
    return f"shift-invert at {request.shift:g}"


def _has_mumps() -> bool:
    return bool(PETSc.Sys.hasExternalPackage("mumps"))
