"""Eigenpairs of symmetric matrices and pencils."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, get_args, overload

import numpy as np
import scipy.sparse as sp

from ._device_arrays import library_of
from ._inputs import block, is_dense, listed, matrix, optional_block, optional_matrix, stored
from ._pencil import NAMES, Pencil
from ._result import Result
from ._scalars import whole_number
from ._seed import seed_of
from ._shifted import Shifted, transform_of
from ._solve import Options, Prepared, iteration_limit, judge, run, symmetrized, with_stats

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._solve import Extras, PlainExtras

_LOBPCG_NAMES = {
    "nev": "the number of columns of X",
    "initial_guess": "X",
    "constraints": "Y",
    "preconditioner": "M",
    "tolerance": "tol",
    "max_iterations": "maxiter",
}
Which = Literal["LM", "SM", "LA", "SA", "BE"]
_WHICH = get_args(Which)
Mode = Literal["normal", "buckling", "cayley"]
_MODES = get_args(Mode)
_OF_BUCKLING = {**NAMES, "A": "M", "B": "A"}  # names, where A is the definite matrix
_OF_LOAD_FACTORS = {
    "nev": "k",
    "A": "K",
    "geometric_stiffness": "KG",
    "tolerance": "tol",
    "max_iterations": "maxiter",
}


def _ascending(result: Result, problem: Prepared, vectors: bool) -> tuple[Any, ...]:
    order = np.argsort(result.eigenvalues, kind="stable")
    ordered = result.select(order)
    values = problem.returned_values(ordered.eigenvalues)
    return (values, ordered.vectors) if vectors else (values,)


def _refuse_eigsh(M: Any, which: str, sigma: Any, Minv: Any, OPinv: Any, mode: str) -> None:
    """Refuses what eigsh of SciPy takes and heddle does not."""
    if which not in _WHICH:
        raise ValueError(f"which is {which!r}, not one of {', '.join(map(repr, _WHICH))}")
    if mode not in _MODES:
        raise ValueError(f"mode is {mode!r}, not one of {', '.join(map(repr, _MODES))}")
    if OPinv is not None:
        raise ValueError("OPinv: heddle factors A - sigma M itself; leave it out")
    if Minv is not None:
        raise ValueError("Minv: heddle solves with M itself; leave it out")
    if mode == "buckling" and (sigma is None or M is None):
        raise ValueError(
            "mode='buckling' needs M, the geometric stiffness, and a sigma; heddle.buckling finds "
            "the smallest load factors without one"
        )
    if sigma is None:
        return
    if not _is_real(sigma):
        raise ValueError(f"sigma is {sigma}, not a real number")
    if mode != "normal" and sigma == 0:
        raise ValueError(f"sigma is 0, for which w' of the mode {mode!r} is the same for all pairs")


def _is_real(number: Any) -> bool:
    """Whether it is one finite number, and neither complex nor a truth value nor a text."""
    dtype = str(getattr(number, "dtype", ""))
    if isinstance(number, (bool, complex, str)) or "complex" in dtype or "bool" in dtype:
        return False
    if getattr(number, "ndim", 0) != 0:
        return False
    try:
        return bool(np.isfinite(float(number)))
    except (TypeError, ValueError, OverflowError):
        return False


def _check_sizes(ncv: int | None, k: int, order: int) -> None:
    """heddle chooses the basis, but an ncv that SciPy refuses is refused here, too."""
    if whole_number(k, "k") < 1:
        raise ValueError(f"k is {k}, not 1 or more")
    if ncv is not None and not k < ncv <= order:
        raise ValueError(f"ncv is {ncv}, but must be above k = {k} and at most n = {order}")


def _pencil(A: Any, M: Any, v0: Any, name: str = "M") -> Prepared:
    v0 = listed(v0, "v0")
    order = np.shape(v0)[0] if v0 is not None and np.ndim(v0) else None
    operand = matrix(A, "A", order=order, library=library_of(v0, "v0"))
    library = getattr(operand, "library", None)
    mass = optional_matrix(M, name, operand.shape[0], library)
    dtype = operand.dtype if mass is None else np.promote_types(operand.dtype, mass.dtype)
    return Prepared(
        A=operand, B=mass, initial_guess=optional_block(v0, "v0", operand.shape[0]), dtype=dtype
    )


@overload
def eigsh(
    A: Any,
    k: int = ...,
    M: Any = ...,
    sigma: float | None = ...,
    which: Which = ...,
    v0: Any = ...,
    ncv: int | None = ...,
    maxiter: int | None = ...,
    tol: float = ...,
    return_eigenvectors: Literal[True] = ...,
    Minv: Any = ...,
    OPinv: Any = ...,
    mode: Mode = ...,
    rng: Any = ...,
    **extras: Unpack[PlainExtras],
) -> tuple[np.ndarray, np.ndarray]: ...


@overload
def eigsh(
    A: Any,
    k: int = ...,
    M: Any = ...,
    sigma: float | None = ...,
    which: Which = ...,
    v0: Any = ...,
    ncv: int | None = ...,
    maxiter: int | None = ...,
    tol: float = ...,
    *,
    return_eigenvectors: Literal[False],
    Minv: Any = ...,
    OPinv: Any = ...,
    mode: Mode = ...,
    rng: Any = ...,
    **extras: Unpack[PlainExtras],
) -> np.ndarray: ...


@overload
def eigsh(
    A: Any,
    k: int = ...,
    M: Any = ...,
    sigma: float | None = ...,
    which: Which = ...,
    v0: Any = ...,
    ncv: int | None = ...,
    maxiter: int | None = ...,
    tol: float = ...,
    return_eigenvectors: bool = ...,
    Minv: Any = ...,
    OPinv: Any = ...,
    mode: Mode = ...,
    rng: Any = ...,
    **extras: Unpack[Extras],
) -> Any: ...


def eigsh(
    A: Any,
    k: int = 6,
    M: Any = None,
    sigma: float | None = None,
    which: Which = "LM",
    v0: Any = None,
    ncv: int | None = None,
    maxiter: int | None = None,
    tol: float = 0,
    return_eigenvectors: bool = True,
    Minv: Any = None,
    OPinv: Any = None,
    mode: Mode = "normal",
    rng: Any = None,
    **extras: Unpack[Extras],
) -> Any:
    """k eigenpairs of A x = lambda x, or of A x = lambda M x with a positive definite M, with the
    arguments and values of `scipy.sparse.linalg.eigsh`.

    Complex problems are solved in complex128. The vectors of complex64 matrices are returned as
    complex64.

    Parameters
    ----------
    A : sparse matrix, array, LinearOperator, graph or function of blocks
        Symmetric, or Hermitian if its numbers are complex, n x n.
    k : int
        The number of pairs, at most n.
    M : as A, optional
        Symmetric or Hermitian, positive definite.
    sigma : float, optional
        `which` is then that of w', as `mode` defines it. With "LM" and the mode "normal", the pairs
        nearest to sigma are found, anywhere in the spectrum.
    which : {"LM", "SM", "LA", "SA", "BE"}
        "LA" and "SA": the largest and smallest values. "LM" and "SM": those with the largest and
        smallest |lambda|. "BE": half from each end.
    v0 : array_like, shape (n,) or (n, b), optional
        A start vector, or a block of them.
    ncv : int, optional
        Checked, but not needed.
    maxiter : int, optional
        The largest number of iterations.
    tol : float
        The relative error of the values. 0: about the level of rounding.
    return_eigenvectors : bool
        Whether to return v.
    mode : {"normal", "buckling", "cayley"}
        With sigma, w' = 1/(w - sigma), w/(w - sigma) or (w + sigma)/(w - sigma). For "buckling", A is
        positive definite or semidefinite, M is any symmetric matrix, and v has v^T A v = 1.
    Minv, OPinv
        Must be None: heddle solves with M and A - sigma M itself.
    rng : int or Generator, optional
        Source of the seed.
    **extras : Extras
        Keyword arguments of all functions that solve: see `Extras`.

    Returns
    -------
    w : ndarray, shape (k,)
        The values, ascending.
    v : ndarray, shape (n, k)
        The vectors as columns, orthonormal, or M-orthonormal with M.
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
    >>> import heddle
    >>> A = heddle.generate("laplace1d", 50)
    >>> w, v = heddle.eigsh(A, 3, which="SA")
    >>> print(w.round(6))
    [0.003793 0.015159 0.034054]
    >>> bool(abs(A @ v - v * w).max() < 1e-10)
    True
    """
    _refuse_eigsh(M, which, sigma, Minv, OPinv, mode)
    problem = _pencil(A, M, v0)
    _check_sizes(ncv, k, problem.A.shape[0])
    options = Options(
        dict(extras),
        "raise",
        NAMES,
        nev=k,
        tolerance=tol,
        max_iterations=iteration_limit(maxiter),
    )
    options.default_tolerance(problem.dtype)
    if rng is not None:
        options.request["seed"] = seed_of(rng, "rng")
    problem, asymmetry = symmetrized(problem, options, NAMES)
    options.symmetrize = None
    pencil = Pencil(problem, options, k)
    if sigma is not None:
        if mode == "buckling":
            assert problem.B is not None  # the mode needs M
            swapped = replace(problem, A=problem.B, B=problem.A)
            pencil = Pencil(swapped, options, k, _OF_BUCKLING)
        result = Shifted(pencil, transform_of(mode, float(sigma))).find(which)
    elif which == "SM":
        result = pencil.nearest(0.0)
    elif which == "LM":
        result = pencil.largest_magnitude()
    elif which == "BE":
        result = pencil.both_ends()
    else:
        result = pencil.end("largest" if which == "LA" else "smallest")
    result.asymmetry = asymmetry
    judge(result, options)
    return with_stats(_ascending(result, problem, return_eigenvectors), result, options)


@overload
def buckling(
    K: Any,
    KG: Any,
    k: int = ...,
    *,
    sigma: float | None = ...,
    both_signs: bool = ...,
    tol: float = ...,
    maxiter: int | None = ...,
    return_eigenvectors: Literal[True] = ...,
    **extras: Unpack[PlainExtras],
) -> tuple[np.ndarray, np.ndarray]: ...


@overload
def buckling(
    K: Any,
    KG: Any,
    k: int = ...,
    *,
    sigma: float | None = ...,
    both_signs: bool = ...,
    tol: float = ...,
    maxiter: int | None = ...,
    return_eigenvectors: Literal[False],
    **extras: Unpack[PlainExtras],
) -> np.ndarray: ...


@overload
def buckling(
    K: Any,
    KG: Any,
    k: int = ...,
    *,
    sigma: float | None = ...,
    both_signs: bool = ...,
    tol: float = ...,
    maxiter: int | None = ...,
    return_eigenvectors: bool = ...,
    **extras: Unpack[Extras],
) -> Any: ...


def buckling(
    K: Any,
    KG: Any,
    k: int = 6,
    *,
    sigma: float | None = None,
    both_signs: bool = False,
    tol: float = 0,
    maxiter: int | None = None,
    return_eigenvectors: bool = True,
    **extras: Unpack[Extras],
) -> Any:
    """Load factors of linear buckling, K x = -lambda KG x, with counts that prove that none is missing.

    Parameters
    ----------
    K : sparse matrix or array
        The stiffness of a structure that cannot move freely, symmetric positive definite, n x n.
    KG : as K
        Its geometric stiffness under a reference load, symmetric, with the sign of K + lambda KG.
    k : int
        The number of load factors.
    sigma : float, optional
        The load factors nearest to it are found. Without it, those nearest to 0.
    both_signs : bool
        Whether load factors of the reversed load, which are negative, are found, too. With sigma,
        those on both of its sides are.
    tol : float
        The relative error of the load factors. 0: about the level of rounding.
    maxiter : int, optional
        The largest number of iterations.
    return_eigenvectors : bool
        Whether to return v.
    **extras : Extras
        Keyword arguments of all functions that solve: see `Extras`.

    Returns
    -------
    w : ndarray
        The load factors, smallest in magnitude first. There are fewer than k if no others exist.
    v : ndarray
        The buckling modes as columns, with v^T K v = 1.
    result : Result
        For return_stats=True: all that is known of the solve.

    Raises
    ------
    NotConverged
        If K is not positive definite, or the solve does not converge. Its `result` has what was
        found.
    ValueError, TypeError
        If an argument cannot be taken. Its name comes first.
    DeviceError, OutOfMemory
        If the device cannot be used, or memory does not suffice.

    Examples
    --------
    >>> import heddle
    >>> K, KG = (heddle.generate(name, 20) for name in ("column", "column_geometric"))
    >>> w, v = heddle.buckling(K, KG, 3)
    >>> print((w / 3.141592653589793**2).round(4))
    [1.     4.0001 9.0006]
    """
    stiffness = matrix(K, "K")
    order = stiffness.shape[0]
    geometric = optional_matrix(KG, "KG", order, getattr(stiffness, "library", None))
    if geometric is None:
        raise TypeError("KG is None, not the geometric stiffness")
    if whole_number(k, "k") < 1:
        raise ValueError(f"k is {k}, not 1 or more")
    problem = Prepared(
        A=stiffness,
        geometric_stiffness=geometric,
        dtype=np.promote_types(stiffness.dtype, geometric.dtype),
    )
    asked: dict[str, Any] = {} if sigma is None else {"sigma": float(sigma)}
    if both_signs or sigma is not None:
        asked["side"] = "both"
    options = Options(
        dict(extras),
        "raise",
        _OF_LOAD_FACTORS,
        nev=k,
        tolerance=tol,
        max_iterations=iteration_limit(maxiter),
        **asked,
    )
    options.default_tolerance(problem.dtype)
    result = judge(run(problem, options, _OF_LOAD_FACTORS), options)
    values = problem.returned_values(result.eigenvalues)
    returned = (values, result.vectors) if return_eigenvectors else (values,)
    return with_stats(returned, result, options)


@overload
def eigsh_interval(
    A: Any,
    interval: tuple[float, float],
    k: int | None = ...,
    *,
    M: Any = ...,
    tol: float = ...,
    maxiter: int | None = ...,
    return_eigenvectors: Literal[True] = ...,
    **extras: Unpack[PlainExtras],
) -> tuple[np.ndarray, np.ndarray]: ...


@overload
def eigsh_interval(
    A: Any,
    interval: tuple[float, float],
    k: int | None = ...,
    *,
    M: Any = ...,
    tol: float = ...,
    maxiter: int | None = ...,
    return_eigenvectors: Literal[False],
    **extras: Unpack[PlainExtras],
) -> np.ndarray: ...


@overload
def eigsh_interval(
    A: Any,
    interval: tuple[float, float],
    k: int | None = ...,
    *,
    M: Any = ...,
    tol: float = ...,
    maxiter: int | None = ...,
    return_eigenvectors: bool = ...,
    **extras: Unpack[Extras],
) -> Any: ...


def eigsh_interval(
    A: Any,
    interval: tuple[float, float],
    k: int | None = None,
    *,
    M: Any = None,
    tol: float = 0,
    maxiter: int | None = None,
    return_eigenvectors: bool = True,
    **extras: Unpack[Extras],
) -> Any:
    """All eigenpairs of A x = lambda M x with lambda in a closed interval.

    Factors of A - sigma M count them before any is computed, and prove that none is missing. Where
    A is a callable, or a factor would cost more, a polynomial filter finds them without this proof.

    Parameters
    ----------
    A : sparse matrix, array, LinearOperator or graph
        Symmetric, or Hermitian if its numbers are complex, n x n.
    interval : (float, float)
        Its ends, which may be infinite.
    k : int, optional
        The largest number of pairs that it may hold. Without it, there is no limit, or 100 where no
        factor counts them.
    M : sparse matrix or array, optional
        Symmetric positive semidefinite, or definite in a complex problem, n x n. By default the
        identity.
    tol : float
        The relative error of the values. 0: about the level of rounding.
    maxiter : int, optional
        The largest number of iterations.
    return_eigenvectors : bool
        Whether to return v.
    **extras : Extras
        Keyword arguments of all functions that solve: see `Extras`.

    Returns
    -------
    w : ndarray
        The values, ascending. There may be none.
    v : ndarray
        The vectors as columns.
    result : Result
        For return_stats=True: all that is known of the solve.

    Raises
    ------
    NotConverged
        If the interval holds more than k pairs, or the solve does not converge. Its `result` has
        what was found.
    ValueError, TypeError
        If an argument cannot be taken. Its name comes first.
    DeviceError, OutOfMemory
        If the device cannot be used, or memory does not suffice.

    Warns
    -----
    UserWarning
        Names values that lie within their error bounds of an end.

    Examples
    --------
    >>> import heddle
    >>> A = heddle.generate("laplace1d", 50)
    >>> w, v = heddle.eigsh_interval(A, (1.05, 1.3))
    >>> print(w.round(6), v.shape)
    [1.108523 1.220428] (50, 2)
    """
    problem = _pencil(A, M, None)
    limit = {} if k is None else {"nev": min(k, problem.A.shape[0])}
    options = Options(
        dict(extras),
        "raise",
        NAMES,
        **limit,
        interval=interval,
        tolerance=tol,
        max_iterations=iteration_limit(maxiter),
    )
    options.default_tolerance(problem.dtype)
    result = judge(run(problem, options, NAMES), options)
    if result.straddles.any() and options.on_failure != "return":
        values = ", ".join(f"{value:.12g}" for value in result.eigenvalues[result.straddles])
        warnings.warn(
            f"eigenvalues that may lie beyond an end of the interval, by their error bounds: {values}",
            stacklevel=2,
        )
    return with_stats(_ascending(result, problem, return_eigenvectors), result, options)


class _LobpcgHistory:
    """Values and residuals of each iteration, as the lists that lobpcg of SciPy returns."""

    def __init__(self, norms: tuple[float, float] | None, callback: Any):
        self._norms = norms
        self._callback = callback
        self.values: list[np.ndarray] = []
        self.residuals: list[np.ndarray] = []

    def __call__(self, state: Any) -> Any:
        # A count may lead to a second solve, whose states have other numbers of pairs.
        wanted = len(self.values[0]) if self.values else len(state.eigenvalues)
        values, residuals = np.array(state.eigenvalues)[:wanted], np.array(state.residuals)[:wanted]
        if len(values) == wanted:
            self.values.append(values)
            if self._norms is not None:
                residuals = residuals * (self._norms[0] + np.abs(values) * self._norms[1])
            self.residuals.append(residuals)
        return self._callback(state) if self._callback is not None else None


def _one_norms(A: Any, B: Any) -> tuple[float, float]:
    """The 1-norms by which heddle scales residuals."""
    norms = []
    for X, name in ((A, "A"), (B, "B")):
        if X is None:
            norms.append(1.0)
        elif callable(X) or not (sp.issparse(X) or is_dense(X)):
            raise ValueError(
                f"retResidualNormsHistory needs the 1-norm of {name}, which must be a sparse "
                "matrix or an array; return_stats=True gives relative residuals"
            )
        else:
            norms.append(float(abs(stored(X, name, True)).sum(axis=0).max()))
    return norms[0], norms[1]


@overload
def lobpcg(
    A: Any,
    X: Any,
    B: Any = ...,
    M: Any = ...,
    Y: Any = ...,
    tol: float | None = ...,
    maxiter: int | None = ...,
    largest: bool = ...,
    verbosityLevel: int = ...,
    retLambdaHistory: Literal[False] = ...,
    retResidualNormsHistory: Literal[False] = ...,
    restartControl: int = ...,
    **extras: Unpack[PlainExtras],
) -> tuple[np.ndarray, np.ndarray]: ...


@overload
def lobpcg(
    A: Any,
    X: Any,
    B: Any = ...,
    M: Any = ...,
    Y: Any = ...,
    tol: float | None = ...,
    maxiter: int | None = ...,
    largest: bool = ...,
    verbosityLevel: int = ...,
    retLambdaHistory: bool = ...,
    retResidualNormsHistory: bool = ...,
    restartControl: int = ...,
    **extras: Unpack[Extras],
) -> Any: ...


def lobpcg(
    A: Any,
    X: Any,
    B: Any = None,
    M: Any = None,
    Y: Any = None,
    tol: float | None = None,
    maxiter: int | None = None,
    largest: bool = True,
    verbosityLevel: int = 0,
    retLambdaHistory: bool = False,
    retResidualNormsHistory: bool = False,
    restartControl: int = 20,
    **extras: Unpack[Extras],
) -> Any:
    """Eigenpairs of A x = lambda x or A x = lambda B x by LOBPCG from X, with the arguments and values
    of `scipy.sparse.linalg.lobpcg`.

    A problem with a complex part is solved in complex128. Its vectors are complex, of complex64
    matrices as complex64.

    Parameters
    ----------
    A : sparse matrix, array, LinearOperator, graph or function of blocks
        Symmetric, or Hermitian if its numbers are complex, n x n.
    X : array_like, shape (n, k)
        The vectors to start from. Columns that are no nearer to eigenvectors than random ones tell
        nothing, and random ones by `seed` take their place.
    B : as A, optional
        Symmetric or Hermitian, positive definite.
    M : as A, optional
        An approximate inverse of A. Without one, `preconditioner` chooses.
    Y : array_like, shape (n, m), optional
        Eigenvectors are sought B-orthogonal to its columns.
    tol : float, optional
        Bound of |A x - lambda B x| for vectors x of norm 1. Without one that is above 0, the
        relative errors of the values are at most 1e-8.
    maxiter : int, optional
        The largest number of iterations.
    largest : bool
        Whether to find the largest or the smallest values.
    verbosityLevel : int
        Above 0 the result is printed.
    retLambdaHistory, retResidualNormsHistory : bool
        Whether to return the histories.
    restartControl : int
        Must have its default.
    **extras : Extras
        Keyword arguments of all functions that solve: see `Extras`.

    Returns
    -------
    w : ndarray, shape (k,)
        The values, descending for largest=True, otherwise ascending.
    v : ndarray, shape (n, k)
        The vectors as columns.
    lambdas, residuals : ndarray
        The histories that were asked for, with a row per iteration.
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

    Warns
    -----
    ConvergenceWarning
        If the solve does not converge and on_failure does not say otherwise.

    Examples
    --------
    >>> import numpy as np, heddle
    >>> A = heddle.generate("laplace1d", 50)
    >>> X = np.random.default_rng(0).standard_normal((50, 2))
    >>> w, v = heddle.lobpcg(A, X, largest=False)
    >>> print(w.round(6))
    [0.003793 0.015159]
    """
    if restartControl != 20:
        raise ValueError("restartControl: heddle restarts where it loses accuracy; leave it out")
    guess, _ = block(X, "X")
    operand = matrix(A, "A", order=guess.shape[0], library=library_of(X, "X"))
    library = getattr(operand, "library", None)
    mass = optional_matrix(B, "B", operand.shape[0], library)
    parts = [operand] if mass is None else [operand, mass]
    problem = Prepared(
        A=operand,
        B=mass,
        initial_guess=block(X, "X", operand.shape[0])[0],
        constraints=optional_block(Y, "Y", operand.shape[0]),
        preconditioner=optional_matrix(M, "M", operand.shape[0], library),
        dtype=np.result_type(*(part.dtype for part in parts)),
    )
    options = Options(
        {"method": "lobpcg", **extras},
        "warn",
        _LOBPCG_NAMES,
        nev=guess.shape[1],
        which="largest" if largest else "smallest",
        max_iterations=iteration_limit(maxiter),
    )
    if tol is not None and not tol <= 0:  # as in SciPy, these ask for the default
        options.request.setdefault("criterion", "absolute")
        options.request["tolerance"] = tol
    norms = _one_norms(A, B) if retResidualNormsHistory else None
    history = _LobpcgHistory(norms, options.callback)
    if retLambdaHistory or retResidualNormsHistory:
        options.callback = history
    result = judge(run(problem, options, _LOBPCG_NAMES), options)
    if verbosityLevel > 0:
        print(result)
    values = problem.returned_values(result.eigenvalues)
    returned: tuple[Any, ...] = (values, result.vectors)
    if retLambdaHistory:
        returned += (np.array(history.values),)
    if retResidualNormsHistory:
        returned += (np.array(history.residuals),)
    return with_stats(returned, result, options)
