"""Linear systems and least squares for one or many right-hand sides."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ._device_arrays import library_of
from ._inputs import block, listed, matrix, optional_block, optional_matrix
from ._result import Result
from ._singular import adjoint_pair
from ._solve import Options, Prepared, iteration_limit, judge, run, with_stats

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._solve import Extras

_NAMES = {
    "rhs": "b",
    "initial_guess": "x0",
    "preconditioner": "M",
    "max_iterations": "maxiter",
    "tolerance": "rtol",
    "normal_equations": "lstsq",
}


def _tolerance(b: Any, rtol: float, atol: float) -> float:
    """The relative tolerance that implies |r| <= max(rtol |b|, atol) for each column."""
    if not (rtol >= 0 and atol >= 0 and np.isfinite(rtol) and np.isfinite(atol)):
        raise ValueError(f"rtol is {rtol} and atol is {atol}, both must be 0 or more")
    if rtol == 0 and atol == 0:
        raise ValueError("rtol and atol are both 0: one of them must say how accurate x is to be")
    library = library_of(b, "b")
    norms = np.linalg.norm(b, axis=0) if library is None else library.column_norms(b)
    norms = norms[norms > 0]
    relative = [max(rtol, atol / norm) for norm in norms]
    return float(min(relative, default=0.5))


def _info(result: Result) -> int:
    """As SciPy's: 0, the number of iterations of a solve that was cut short, -1 after a failure."""
    if result.converged:
        return 0
    if result.status in ("max_iterations", "time_limit", "interrupted"):
        return max(result.iterations, 1)
    return -1


def _solutions(problem: Prepared, options: Options) -> Result:
    """One solution per column of the right-hand side. The library takes one column or more, so
    none is solved as the column 0, which is then left out."""
    assert problem.rhs is not None
    rows, count = problem.rhs.shape
    if count:
        return run(problem, options, _NAMES)
    zero = replace(problem, rhs=problem.returned(np.zeros((rows, 1))), initial_guess=None)
    return run(zero, options, _NAMES).select(np.arange(0))


def cg(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
    **extras: Unpack[Extras],
) -> Any:
    """Solves A X = b for a symmetric positive definite A by block CG, for one right-hand side, or
    for one per column of b.

    Returns (x, info) as `scipy.sparse.linalg.cg` does: x has the shape of b; info is 0 if each
    column meets |b - A x| <= max(rtol |b|, atol), the number of iterations if a limit ended the
    solve, and -1 after a failure. M is an approximate inverse of A, as a matrix or a function of
    blocks; without one, `preconditioner` chooses. `callback` gets a `State` rather than x.
    `extras`: see `Extras`. Failures are told by info unless `on_failure` says otherwise.
    """
    b = listed(b, "b")
    library = library_of(b, "b")
    operand = matrix(A, "A", order=np.shape(b)[0] if np.ndim(b) else None, library=library)
    rhs, scalar = block(b, "b", operand.shape[0])
    guess = optional_block(x0, "x0", operand.shape[1])
    if guess is not None and guess.shape != rhs.shape:
        raise ValueError(f"x0 has the shape {np.shape(x0)}, b has the shape {np.shape(b)}")
    dtype = np.promote_types(operand.dtype, scalar)
    problem = Prepared(
        A=operand,
        rhs=rhs,
        initial_guess=guess,
        preconditioner=optional_matrix(M, "M", operand.shape[0], library),
        dtype=dtype,
    )
    tolerance = min(_tolerance(rhs, rtol, atol), 0.5)  # above 1 even x = 0 would meet it
    options = Options(
        dict(extras), "return", _NAMES, tolerance=tolerance, max_iterations=iteration_limit(maxiter)
    )
    result = judge(_solutions(problem, options), options)
    x = result.vectors.reshape(np.shape(b))
    return with_stats((x, _info(result)), result, options)


def lstsq(
    A: Any,
    b: Any,
    *,
    x0: Any = None,
    rtol: float = 1e-8,
    damp: float = 0.0,
    maxiter: int | None = None,
    **extras: Unpack[Extras],
) -> Any:
    """Minimises |b - A x|, or |b - A x|^2 + damp^2 |x|^2, for a sparse A of any shape, for each
    column of b.

    Returns (x, residuals, rank, s) as `numpy.linalg.lstsq` does: residuals holds |b - A x|^2 per
    column. Small problems are factored, others solved by CG on the normal equations, which computes
    neither a rank nor singular values, so rank and s are None. `rtol` bounds
    |A^T r - damp^2 x| / |A^T b|.
    `extras`: see `Extras`. A solve that does not converge raises `NotConverged`.
    """
    b = listed(b, "b")
    operand, transposed = adjoint_pair(A)
    rhs, scalar = block(b, "b", operand.shape[0])
    guess = optional_block(x0, "x0", operand.shape[1])
    problem = Prepared(
        A=operand,
        A_transposed=transposed,
        normal_equations=True,
        rhs=rhs,
        initial_guess=guess,
        dtype=np.promote_types(operand.dtype, scalar),
    )
    options = Options(
        dict(extras),
        "raise",
        _NAMES,
        tolerance=rtol,
        damp=damp,
        max_iterations=iteration_limit(maxiter),
    )
    result = judge(_solutions(problem, options), options)
    x = result.vectors[:, 0] if np.ndim(b) == 1 else result.vectors
    squares = problem.returned(result.residual_norms**2)
    return with_stats((x, squares, None, None), result, options)
