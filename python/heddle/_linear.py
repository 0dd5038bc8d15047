"""Linear systems and least squares for one or many right-hand sides."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ._device_arrays import library_of
from ._inputs import block, listed, matrix, optional_block, optional_matrix
from ._result import Result
from ._singular import adjoint_pair, blocks_of
from ._solve import Options, Prepared, iteration_limit, judge, run, with_stats

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._solve import Extras, PlainExtras

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


@overload
def cg(
    A: Any,
    b: Any,
    x0: Any = ...,
    *,
    rtol: float = ...,
    atol: float = ...,
    maxiter: int | None = ...,
    M: Any = ...,
    **extras: Unpack[PlainExtras],
) -> tuple[np.ndarray, int]: ...


@overload
def cg(
    A: Any,
    b: Any,
    x0: Any = ...,
    *,
    rtol: float = ...,
    atol: float = ...,
    maxiter: int | None = ...,
    M: Any = ...,
    **extras: Unpack[Extras],
) -> Any: ...


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
    """Solves A X = b for a symmetric positive definite A by block CG, with the arguments and values of
    `scipy.sparse.linalg.cg`.

    A problem with a complex part, such as a b for a real A, is solved in complex128. If A and b are
    complex64 or float32, x is complex64.

    Parameters
    ----------
    A : sparse matrix, array, LinearOperator, graph or function of blocks
        Symmetric, or Hermitian if its numbers are complex, positive definite, n x n.
    b : array_like, shape (n,) or (n, m)
        One right-hand side, or one per column.
    x0 : array_like, optional
        A guess, of the shape of b.
    rtol, atol : float
        Each column meets |b - A x| <= max(rtol |b|, atol).
    maxiter : int, optional
        The largest number of iterations.
    M : as A, optional
        An approximate inverse of A. Without one, `preconditioner` chooses.
    **extras : Extras
        Keyword arguments of all functions that solve: see `Extras`.
        `callback` gets a `State` rather than x.

    Returns
    -------
    x : ndarray
        The solutions, of the shape of b.
    info : int
        0 if all columns have converged, the number of iterations if a limit ended the solve, -1 after a
        failure.
    result : Result
        For return_stats=True: all that is known of the solve.

    Raises
    ------
    NotConverged
        For on_failure="raise", if the solve does not converge. Its `result` has what was found.
    ValueError, TypeError
        If an argument cannot be taken. Its name comes first.
    DeviceError, OutOfMemory
        If the device cannot be used, or memory does not suffice.

    Examples
    --------
    >>> import numpy as np, heddle
    >>> A = heddle.generate("laplace2d", 20, 20)
    >>> b = np.ones(400)
    >>> x, info = heddle.cg(A, b, rtol=1e-8)
    >>> info, bool(np.linalg.norm(A @ x - b) <= 1e-8 * np.linalg.norm(b))
    (0, True)
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


@overload
def lstsq(
    A: Any,
    b: Any,
    *,
    x0: Any = ...,
    rtol: float = ...,
    damp: float = ...,
    maxiter: int | None = ...,
    **extras: Unpack[PlainExtras],
) -> tuple[np.ndarray, np.ndarray, Any, Any]: ...


@overload
def lstsq(
    A: Any,
    b: Any,
    *,
    x0: Any = ...,
    rtol: float = ...,
    damp: float = ...,
    maxiter: int | None = ...,
    **extras: Unpack[Extras],
) -> Any: ...


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
    column of b. Small problems are factored, others solved by CG on the normal equations.

    Parameters
    ----------
    A : sparse matrix, array or LinearOperator
        Of the shape (m, n), real or complex.
    b : array_like, shape (m,) or (m, c)
        One right-hand side, or one per column. A problem with a complex part is complex.
    x0 : array_like, optional
        A guess, to which the nearest of several solutions is found. x = 0 where A^H b = 0.
    rtol : float
        Bound of |A^H r - damp^2 x| / |A^H b|.
    damp : float
        Weight of the damping.
    maxiter : int, optional
        The largest number of iterations.
    **extras : Extras
        Keyword arguments of all functions that solve: see `Extras`.

    Returns
    -------
    x : ndarray, shape (n,) or (n, c)
        The solutions.
    residuals : ndarray, shape (1,) or (c,)
        |b - A x|^2 per column.
    rank, s : None
        In the places of what `numpy.linalg.lstsq` returns. They are not computed.
    result : Result
        For return_stats=True: all that is known of the solve.

    Raises
    ------
    NotConverged
        If the solve does not converge. Its `result` has what was found.
    ValueError, TypeError
        If an argument cannot be taken. Its name comes first.
    DeviceError, OutOfMemory
        If the device cannot be used, or memory does not suffice.

    Examples
    --------
    >>> import numpy as np, heddle
    >>> A = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
    >>> x, residuals, _, _ = heddle.lstsq(A, [1.0, 3.0, 6.0])
    >>> print(x.round(6), residuals.round(6))
    [0.833333 2.5     ] [0.166667]
    """
    b = listed(b, "b")
    operand, transposed = adjoint_pair(A)
    rhs, guess, scalar = blocks_of(operand, b, x0)
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
