"""Singular triplets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import scipy.sparse as sp

from ._device_arrays import library_of
from ._inputs import AnyOperand, adjoint_of, block, csr, is_operator, matrix, operator
from ._result import columns_of
from ._seed import seed_of
from ._solve import Options, Prepared, iteration_limit, judge, run, with_stats

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._solve import Extras, PlainExtras

_NAMES = {
    "nev": "k",
    "tolerance": "tol",
    "max_iterations": "maxiter",
    "normal_equations": "svds",
}


def blocks_of(operand: AnyOperand, b: Any, x0: Any) -> tuple[Any, Any, np.dtype]:
    """The right-hand sides and the guess of a least-squares problem, and the scalar of the former."""
    rhs, scalar = block(b, "b", operand.shape[0])
    guess = None if x0 is None else block(x0, "x0", operand.shape[1])[0]
    return rhs, guess, scalar


def adjoint_pair(A: Any) -> tuple[AnyOperand, AnyOperand | None]:
    """A and, where it costs nothing or cannot be made from A, its adjoint."""
    if is_operator(A):
        adjoint = getattr(A, "rmatmat", None)
        if adjoint is None:
            raise TypeError("A has no rmatmat, by which the adjoint multiplies")

        def transposed(X: Any) -> Any:
            try:
                return adjoint(X)
            except (NotImplementedError, TypeError) as error:  # of an operator without rmatvec
                raise TypeError(
                    f"A.rmatmat failed ({error}): an operator needs rmatvec or rmatmat, which "
                    "multiplies by the adjoint"
                ) from error

        rows, cols = A.shape
        library = library_of(A, "A")
        return (
            operator(A.matmat, (rows, cols), A.dtype, "A", library),
            operator(transposed, (cols, rows), A.dtype, "the adjoint of A", library),
        )
    operand = matrix(A, "A", symmetric=False)
    if sp.issparse(A) and A.format == "csc":
        return operand, csr(adjoint_of(A), "A", symmetric=False)
    return operand, None


@overload
def svds(
    A: Any,
    k: int = ...,
    ncv: int | None = ...,
    tol: float = ...,
    which: Literal["LM", "SM"] = ...,
    v0: Any = ...,
    maxiter: int | None = ...,
    return_singular_vectors: Literal[True] = ...,
    solver: Literal["arpack", "lobpcg", "propack"] = ...,
    rng: Any = ...,
    options: dict[str, Any] | None = ...,
    *,
    random_state: Any = ...,
    **extras: Unpack[PlainExtras],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]: ...


@overload
def svds(
    A: Any,
    k: int = ...,
    ncv: int | None = ...,
    tol: float = ...,
    which: Literal["LM", "SM"] = ...,
    v0: Any = ...,
    maxiter: int | None = ...,
    *,
    return_singular_vectors: Literal[False],
    solver: Literal["arpack", "lobpcg", "propack"] = ...,
    rng: Any = ...,
    options: dict[str, Any] | None = ...,
    random_state: Any = ...,
    **extras: Unpack[PlainExtras],
) -> np.ndarray: ...


@overload
def svds(
    A: Any,
    k: int = ...,
    ncv: int | None = ...,
    tol: float = ...,
    which: Literal["LM", "SM"] = ...,
    v0: Any = ...,
    maxiter: int | None = ...,
    return_singular_vectors: bool | Literal["u", "vh"] = ...,
    solver: Literal["arpack", "lobpcg", "propack"] = ...,
    rng: Any = ...,
    options: dict[str, Any] | None = ...,
    *,
    random_state: Any = ...,
    **extras: Unpack[Extras],
) -> Any: ...


def svds(
    A: Any,
    k: int = 6,
    ncv: int | None = None,
    tol: float = 0,
    which: Literal["LM", "SM"] = "LM",
    v0: Any = None,
    maxiter: int | None = None,
    return_singular_vectors: bool | Literal["u", "vh"] = True,
    solver: Literal["arpack", "lobpcg", "propack"] = "arpack",
    rng: Any = None,
    options: dict[str, Any] | None = None,
    *,
    random_state: Any = None,
    **extras: Unpack[Extras],
) -> Any:
    """The k largest or smallest singular triplets of a matrix of any shape, with the arguments and
    values of `scipy.sparse.linalg.svds`.

    Parameters
    ----------
    A : sparse matrix, array or LinearOperator
        Of the shape (m, n), real or complex. Complex problems are solved in complex128.
    k : int
        The number of triplets, at most min(m, n).
    ncv, v0
        Checked, but not needed: the start is random.
    tol : float
        The relative error of the values. 0: about the level of rounding.
    which : {"LM", "SM"}
        The largest or the smallest values.
    maxiter : int, optional
        The largest number of iterations.
    return_singular_vectors : {True, False, "u", "vh"}
        "u" and "vh": only these vectors, and None in place of the others.
    solver : {"arpack", "lobpcg", "propack"}
        "lobpcg" takes LOBPCG, the others the method that suits.
    rng, random_state : int or Generator, optional
        Source of the seed.
    options
        Must be empty.
    **extras : Extras
        Keyword arguments of all functions that solve: see `Extras`.

    Returns
    -------
    u : ndarray, shape (m, k)
        The left vectors as columns.
    s : ndarray, shape (k,)
        The values, ascending.
    vh : ndarray, shape (k, n)
        The right vectors as rows, conjugated if they are complex: A = u diag(s) vh on their space.
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
    >>> A = np.arange(12.0).reshape(4, 3)
    >>> u, s, vh = heddle.svds(A, 2)
    >>> print(s.round(4))
    [ 1.4641 22.4467]
    >>> bool(abs(A @ vh.T - u * s).max() < 1e-12)
    True
    """
    if which not in ("LM", "SM"):
        raise ValueError(f"which is {which!r}, not 'LM' or 'SM'")
    if solver not in ("arpack", "lobpcg", "propack"):
        raise ValueError(f"solver is {solver!r}, not 'arpack', 'lobpcg' or 'propack'")
    if return_singular_vectors not in (True, False, "u", "vh"):
        raise ValueError(
            f"return_singular_vectors is {return_singular_vectors!r}, not True, False, 'u' or 'vh'"
        )
    if options:
        raise ValueError("options are those of ARPACK and PROPACK, which heddle does not use")
    operand, transposed = adjoint_pair(A)
    asked = Options(
        dict(extras),
        "raise",
        _NAMES,
        nev=k,
        which="largest" if which == "LM" else "smallest",
        tolerance=tol,
        max_iterations=iteration_limit(maxiter),
    )
    asked.default_tolerance(operand.dtype)
    if rng is not None or random_state is not None:
        name = "random_state" if rng is None else "rng"
        asked.request["seed"] = seed_of(random_state if rng is None else rng, name)
    if solver == "lobpcg":
        asked.request.setdefault("method", "lobpcg")
    problem = Prepared(
        A=operand, A_transposed=transposed, normal_equations=True, dtype=operand.dtype
    )
    if v0 is not None:
        _check_start(operand, v0)
    result = judge(run(problem, asked, _NAMES), asked)
    order = np.arange(len(result.singular_values))
    order = order[::-1] if which == "LM" else order
    s = problem.returned_values(result.singular_values[order])
    u = columns_of(result.left_vectors, order)
    v = columns_of(result.vectors, order)
    vh = (v.conj() if problem.is_complex else v).T
    if not return_singular_vectors:
        return with_stats((s,), result, asked)
    if return_singular_vectors == "u":
        return with_stats((u, s, None), result, asked)
    if return_singular_vectors == "vh":
        return with_stats((None, s, vh), result, asked)
    return with_stats((u, s, vh), result, asked)


def _check_start(operand: AnyOperand, v0: Any) -> None:
    """Checks a start vector, on the side of the shorter singular vectors as that of SciPy."""
    start, _ = block(v0, "v0")
    if start.shape not in ((operand.shape[1], 1), (operand.shape[0], 1)):
        raise ValueError(f"v0 has the shape {np.shape(v0)}, A has the shape {operand.shape}")
