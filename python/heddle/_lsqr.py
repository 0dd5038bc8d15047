"""Least squares with the arguments and values of lsqr and lsmr of SciPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ._device_arrays import DeviceOperand
from ._inputs import Operand, adjoint_of, entries_of, listed
from ._result import Result
from ._scalars import computed_in
from ._singular import adjoint_pair, blocks_of
from ._solve import Options, Prepared, iteration_limit, judge, run, with_stats

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._solve import Extras, PlainExtras

# What lsqr and lsmr return.
_Lsqr = tuple[np.ndarray, int, int, float, float, float, float, float, float, np.ndarray]
_Lsmr = tuple[np.ndarray, int, int, float, float, float, float, float]

_LEAST = 1e-14  # tolerance of a solve
_TIGHTER = 30  # by which the tolerance falls until the criterion of SciPy holds
_SAMPLES = 8  # random vectors, from whose products the norm of an operator is estimated


@dataclass
class _System:
    """min |b - A x|^2 + damp^2 |x|^2 for one right-hand side."""

    A: Operand
    transposed: Operand | None
    b: np.ndarray
    damp: float
    norm: float  # of A and damp I below it, in the Frobenius norm

    def residual(self, x: np.ndarray) -> np.ndarray:
        return self.b - self.A.times(x)

    def gradient(self, x: np.ndarray) -> np.ndarray:
        r = self.residual(x)
        back = adjoint_of(entries_of(self.A)) @ r if self.transposed is None else self.transposed.times(r)
        return np.asarray(back - self.damp**2 * x)


@dataclass
class _Found:
    """A solution, and the norms by which SciPy judges it."""

    x: np.ndarray
    r1: float
    r2: float
    gradient: float

    @classmethod
    def of(cls, system: _System, x: np.ndarray) -> _Found:
        r1 = float(np.linalg.norm(system.residual(x)))
        r2 = float(np.hypot(r1, system.damp * np.linalg.norm(x)))
        return cls(x, r1, r2, float(np.linalg.norm(system.gradient(x))))

    def reason(self, system: _System, atol: float, btol: float) -> int:
        """1 if A x = b holds within the tolerances, 2 if x is a least-squares solution within them, 0
        if neither is true."""
        size = np.linalg.norm(self.x)
        if self.r2 <= btol * np.linalg.norm(system.b) + atol * system.norm * size:
            return 1
        return 2 if self.gradient <= atol * system.norm * self.r2 else 0


def _frobenius(A: Operand, damp: float) -> float:
    """The Frobenius norm of A and damp I below it, of an operator estimated: the expected |A z|^2 of a
    z with the entries 1 and -1 is its square."""
    if A.is_stored:
        norm = np.linalg.norm(A.core.arrays()[2])
    else:
        signs = np.random.default_rng(0).choice([-1.0, 1.0], (A.shape[1], _SAMPLES))
        signs = signs.astype(computed_in(A.dtype))
        norm = np.linalg.norm(A.times(signs)) / np.sqrt(_SAMPLES)
    return float(np.hypot(norm, damp * np.sqrt(A.shape[1])))


def _iterated(
    system: _System, dtype: Any, guess: Any, tolerances: tuple[float, float], setting: Any
) -> tuple[_Found, Result, Options, int]:
    """Solves until the criterion of SciPy holds, and returns what has been found, the last result, its
    options and the number of iterations."""
    extras, names, limit = setting
    rtol = min(max(min(tolerances), _LEAST), 0.5)
    done = 0
    while True:
        options = Options(
            extras,
            "return",
            names,
            tolerance=rtol,
            damp=system.damp,
            max_iterations=limit and limit - done,
        )
        problem = Prepared(
            A=system.A,
            A_transposed=system.transposed,
            normal_equations=True,
            rhs=system.b,
            initial_guess=guess,
            dtype=dtype,
        )
        result = judge(run(problem, options, names), options)
        done += result.iterations
        found = _Found.of(system, result.vectors.astype(computed_in(problem.dtype)))
        enough = found.reason(system, *tolerances) or not result.converged
        if enough or rtol <= _LEAST or (limit and done >= limit):
            return found, result, options, done
        rtol, guess = max(rtol / _TIGHTER, _LEAST), found.x


def _least_squares(
    A: Any, b: Any, damp: float, tolerances: tuple[Any, Any], conlim: Any, x0: Any, setting: Any
) -> Any:
    """(found, norm of A, x, istop, iterations, result, options) of lsqr and lsmr."""
    _, names, _ = setting
    name = names["normal_equations"]
    if conlim not in (None, 0, 1e8, np.inf):
        raise ValueError(f"conlim: {name} of heddle does not stop by a condition; leave it out")
    atol, btol = (1e-6 if each is None else float(each) for each in tolerances)
    if not (0 <= atol < np.inf and 0 <= btol < np.inf):
        raise ValueError(f"atol is {atol} and btol is {btol}, both must be 0 or more")
    operand, transposed = adjoint_pair(A)
    if isinstance(operand, DeviceOperand) or isinstance(transposed, DeviceOperand):
        raise TypeError(f"{name} takes A in host memory; lstsq takes arrays on a GPU")
    rhs, guess, scalar = blocks_of(operand, listed(b, "b"), x0)
    dtype = np.promote_types(operand.dtype, scalar)
    if guess is not None and guess.dtype.kind == "c":
        dtype = np.promote_types(dtype, np.complex64)
    if operand.dtype.kind == "c" and guess is not None:
        guess = guess.astype(computed_in(operand.dtype))
    if rhs.shape[1] != 1:
        raise ValueError(f"b has {rhs.shape[1]} columns: {name} takes one, lstsq takes many")
    if guess is not None and guess.shape[1] != 1:
        raise ValueError(f"x0 has {guess.shape[1]} columns, b has one")
    shift = np.zeros((operand.shape[1], 1))
    if damp and guess is not None:  # |x - x0| is damped
        rhs, shift, guess = rhs - operand.times(guess), guess, None
    system = _System(operand, transposed, rhs, damp, _frobenius(operand, damp))
    found, result, options, done = _iterated(system, dtype, guess, (atol, btol), setting)
    stop = found.reason(system, atol, btol)
    if not rhs.any() and not found.x.any():
        stop = 0
    elif not stop:
        stop = 5 if result.status in ("converged", "stagnated") else 7
    x = (found.x + shift)[:, 0].astype(dtype, copy=False)
    return found, system.norm, x, stop, done, result, options


def _names(function: str, limit: str) -> dict[str, str]:
    names = {"rhs": "b", "initial_guess": "x0", "tolerance": "atol", "max_iterations": limit}
    return {**names, "normal_equations": function}


@overload
def lsqr(
    A: Any,
    b: Any,
    damp: float = ...,
    atol: float = ...,
    btol: float = ...,
    conlim: float = ...,
    iter_lim: int | None = ...,
    show: bool = ...,
    calc_var: bool = ...,
    x0: Any = ...,
    **extras: Unpack[PlainExtras],
) -> _Lsqr: ...


@overload
def lsqr(
    A: Any,
    b: Any,
    damp: float = ...,
    atol: float = ...,
    btol: float = ...,
    conlim: float = ...,
    iter_lim: int | None = ...,
    show: bool = ...,
    calc_var: bool = ...,
    x0: Any = ...,
    **extras: Unpack[Extras],
) -> Any: ...


def lsqr(
    A: Any,
    b: Any,
    damp: float = 0.0,
    atol: float = 1e-6,
    btol: float = 1e-6,
    conlim: float = 1e8,
    iter_lim: int | None = None,
    show: bool = False,
    calc_var: bool = False,
    x0: Any = None,
    **extras: Unpack[Extras],
) -> Any:
    """Minimises |b - A x|^2 + damp^2 |x - x0|^2, with the arguments and values of
    `scipy.sparse.linalg.lsqr`.

    Parameters
    ----------
    A : sparse matrix, array or LinearOperator
        Of any shape, real or complex, in host memory.
    b : array_like, shape (m,)
        The right-hand side. `lstsq` takes many.
    damp : float
        Weight of the damping.
    atol, btol : float
        The solve ends where |r| <= atol |A| |x| + btol |b| or |A^H r| <= atol |A| |r|, with the
        Frobenius norm of A.
    conlim : float
        Not used. The default, 0 and infinity are taken.
    iter_lim : int, optional
        The largest number of iterations.
    show : bool
        Whether to print the result.
    calc_var : bool
        Must be False.
    x0 : array_like, shape (n,), optional
        A guess, from which damping counts.
    **extras : Extras
        See `Extras`.

    Returns
    -------
    x : ndarray
        The solution.
    istop : int
        0 if x = 0 is the solution, 1 if A x = b holds within the tolerances, 2 for a least-squares
        solution within them, 5 if rounding ended the solve, 7 if a limit ended it or it failed.
    itn : int
        The number of iterations, 0 if A was factored.
    r1norm, r2norm : float
        |b - A x|, and the square root of what is minimised.
    anorm : float
        The Frobenius norm of A with damp I below it; an estimate for an operator.
    acond : float
        NaN: the condition is not estimated.
    arnorm, xnorm : float
        |A^H r - damp^2 (x - x0)| and |x|.
    var : ndarray
        Zeros.
    result : Result
        For return_stats=True.

    Raises
    ------
    ValueError, TypeError
        If an argument cannot be taken. Its name comes first.
    NotConverged
        For on_failure="raise", if the solve does not converge.

    Examples
    --------
    >>> import numpy as np, heddle
    >>> A = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
    >>> x, istop, *_ = heddle.lsqr(A, [1.0, 3.0, 5.0])
    >>> print(x.round(6), istop)
    [1. 2.] 1
    """
    if calc_var:
        raise ValueError("calc_var: heddle does not estimate variances; leave it out")
    setting = (dict(extras), _names("lsqr", "iter_lim"), iteration_limit(iter_lim, "iter_lim"))
    found, norm, x, stop, done, result, options = _least_squares(
        A, b, damp, (atol, btol), conlim, x0, setting
    )
    if show:
        print(result)
    norms = (found.r1, found.r2, norm, np.nan, found.gradient, float(np.linalg.norm(x)))
    return with_stats((x, stop, done, *norms, np.zeros(len(x))), result, options)


@overload
def lsmr(
    A: Any,
    b: Any,
    damp: float = ...,
    atol: float = ...,
    btol: float = ...,
    conlim: float = ...,
    maxiter: int | None = ...,
    show: bool = ...,
    x0: Any = ...,
    **extras: Unpack[PlainExtras],
) -> _Lsmr: ...


@overload
def lsmr(
    A: Any,
    b: Any,
    damp: float = ...,
    atol: float = ...,
    btol: float = ...,
    conlim: float = ...,
    maxiter: int | None = ...,
    show: bool = ...,
    x0: Any = ...,
    **extras: Unpack[Extras],
) -> Any: ...


def lsmr(
    A: Any,
    b: Any,
    damp: float = 0.0,
    atol: float = 1e-6,
    btol: float = 1e-6,
    conlim: float = 1e8,
    maxiter: int | None = None,
    show: bool = False,
    x0: Any = None,
    **extras: Unpack[Extras],
) -> Any:
    """Minimises |b - A x|^2 + damp^2 |x - x0|^2, with the arguments and values of
    `scipy.sparse.linalg.lsmr`. The solve is that of `lsqr`.

    Parameters
    ----------
    A, b, damp, atol, btol, conlim, show, x0
        As for `lsqr`.
    maxiter : int, optional
        The largest number of iterations.
    **extras : Extras
        See `Extras`.

    Returns
    -------
    x : ndarray
        The solution.
    istop, itn : int
        As for `lsqr`.
    normr : float
        The square root of what is minimised.
    normar, norma, conda, normx : float
        arnorm, anorm, acond and xnorm of `lsqr`.
    result : Result
        For return_stats=True.

    Raises
    ------
    ValueError, TypeError
        If an argument cannot be taken. Its name comes first.
    NotConverged
        For on_failure="raise", if the solve does not converge.

    Examples
    --------
    >>> import numpy as np, heddle
    >>> A = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
    >>> x, istop, *_ = heddle.lsmr(A, [1.0, 3.0, 5.0])
    >>> print(x.round(6), istop)
    [1. 2.] 1
    """
    setting = (dict(extras), _names("lsmr", "maxiter"), iteration_limit(maxiter))
    found, norm, x, stop, done, result, options = _least_squares(
        A, b, damp, (atol, btol), conlim, x0, setting
    )
    if show:
        print(result)
    norms = (found.r2, found.gradient, norm, np.nan, float(np.linalg.norm(x)))
    return with_stats((x, stop, done, *norms), result, options)
