"""Solves with one factorisation of a symmetric or Hermitian matrix."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from . import _core
from ._inputs import Operand, as_complex, asymmetry_of, block, listed, matrix
from ._messages import NEARLY_SYMMETRIC, callers_names

_NAMES = {"B": "M"}  # of the library's fields


def _stored(A: Any, name: str) -> Operand:
    if not callable(A) or hasattr(A, "shape"):
        operand = matrix(A, name)
        if isinstance(operand, Operand) and operand.is_stored:
            return operand
    raise TypeError(f"{name} must be a matrix whose entries are stored, in host memory")


def _real(sigma: Any) -> float:
    if isinstance(sigma, (int, float, np.integer, np.floating)) and np.isfinite(sigma):
        return float(sigma)
    raise ValueError(f"sigma is {sigma!r}, it must be a real number")


class Factorized:
    """A factorisation of A - sigma M, made by `factorized`. Calling it solves with this matrix.

    A step of iterative refinement follows each solve. Threads may share it: one of them solves at a
    time, without the interpreter's lock."""

    def __init__(self, A: Any, M: Any = None, sigma: Any = 0.0):
        shift = _real(sigma)
        operand = _stored(A, "A")
        mass = None if M is None else _stored(M, "M")
        self._dtype = operand.dtype if mass is None else np.promote_types(operand.dtype, mass.dtype)
        self._shape = operand.shape
        core, mass_core = self._core_of(operand), None if mass is None else self._core_of(mass)
        with self._callers_names(operand, mass):
            self._core = _core.Factorized(core, mass_core)
        self._label = "A - {:g} I" if mass is None else "A - {:g} M"
        self._factor(shift, "")

    def _core_of(self, operand: Operand) -> Any:
        """One complex matrix makes the factor complex."""
        return as_complex(operand).core if self._dtype.kind == "c" else operand.core

    @staticmethod
    def _callers_names(A: Operand, M: Operand | None = None) -> Any:
        def way_out(field: str) -> str:
            _, asymmetry = asymmetry_of(M if field == "B" and M is not None else A)
            name = _NAMES.get(field, field)
            if asymmetry <= NEARLY_SYMMETRIC:
                adjoint = f"{name}.conj().T" if A.dtype.kind == "c" else f"{name}.T"
                return f"; pass ({name} + {adjoint}) / 2"
            return "; scipy.sparse.linalg.splu takes unsymmetric matrices"

        return callers_names(_NAMES, way_out)

    def _factor(self, shift: float, after: str) -> None:
        """Factors. `after`: what is said of the factor before where this fails."""
        try:
            self._core.factor(shift)
        except np.linalg.LinAlgError as error:
            label = "A" if shift == 0 else self._label.format(shift)
            raise np.linalg.LinAlgError(f"{label}, by {self.library}: {error}{after}") from None

    @property
    def shape(self) -> tuple[int, int]:
        """(n, n)."""
        return self._shape

    @property
    def sigma(self) -> float:
        """The shift."""
        return self._core.sigma

    @property
    def library(self) -> str:
        """The name of the library that factors."""
        return self._core.library

    @property
    def inertia(self) -> tuple[int, int, int]:
        """The numbers of negative, zero and positive eigenvalues of A - sigma M. Raises
        numpy.linalg.LinAlgError where an eigenvalue is so near to 0 that its sign is not certain."""
        return self._core.inertia

    def __call__(self, b: Any) -> np.ndarray:
        """The x with (A - sigma M) x = b, of the shape of b, (n,) or (n, m), which may be complex. An x
        beyond the range of numbers is an OverflowError."""
        b = listed(b, "b")
        rhs, scalar = block(b, "b", self._shape[0])
        if not isinstance(rhs, np.ndarray):
            raise TypeError("b lies in the memory of a GPU; here it must be in host memory")
        if self._core.is_complex:
            rhs = np.ascontiguousarray(rhs, dtype=np.complex128)
        with np.errstate(over="ignore"):  # in single precision
            solve = self._core.solve_complex if rhs.dtype.kind == "c" else self._core.solve
            x = solve(rhs).astype(np.promote_types(self._dtype, scalar), copy=False)
        for j in np.flatnonzero(~np.isfinite(x).all(axis=0))[:1]:
            raise OverflowError(
                f"the solution of column {j} leaves the range of {x.dtype} numbers: scale A or b"
            )
        return x.reshape(np.shape(b))

    def refactor(self, A: Any = None, *, sigma: Any = None) -> None:
        """Factors another A, another sigma, or both, in the order of the rows that the first matrices
        have got. A has entries where A or M had some: others are a ValueError, and nothing changes. M
        stays. After a numpy.linalg.LinAlgError there is no factor until the next `refactor`, which
        begins with the A that was passed last."""
        shift = self.sigma if sigma is None else _real(sigma)
        if A is not None:
            operand = _stored(A, "A")
            if operand.dtype.kind == "c" and not self._core.is_complex:
                raise TypeError("A is complex, the factorised matrices are real: factorise it anew")
            dtype = np.promote_types(self._dtype, operand.dtype)
            with self._callers_names(operand):
                self._core.set_values(self._core_of(operand))
            self._dtype = dtype
        self._factor(shift, "; the factor before is gone, the next refactor makes another")

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("a factorisation cannot be pickled or copied: factorise the matrix there")

    def __repr__(self) -> str:
        return f"<Factorized {self._shape[0]} x {self._shape[1]}, sigma={self.sigma:g}, {self.library}>"


def factorized(A: Any, *, M: Any = None, sigma: float = 0.0) -> Factorized:
    """Factorises a sparse symmetric or Hermitian matrix, definite or not, for solves with many
    right-hand sides that are not known at once. As `scipy.sparse.linalg.factorized`, for such matrices.

    Parameters
    ----------
    A : sparse matrix, array or graph
        Symmetric, or Hermitian if its numbers are complex, n x n. It is copied.
    M : as A, optional
        Likewise, the identity if it is not given.
    sigma : float
        A - sigma M is factorised.

    Returns
    -------
    F : Factorized
        F(b) is the x with (A - sigma M) x = b, of the shape of b, (n,) or (n, m). F.refactor(A2)
        and F.refactor(sigma=s) factorise other values in the same pattern. F.inertia counts
        negative, zero and positive eigenvalues, F.library is the name of the library.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrix is singular to rounding.
    ValueError, TypeError
        If an argument cannot be taken. Its name comes first.
    OutOfMemory
        If the factor needs more memory than is unused.

    Examples
    --------
    >>> import numpy as np, heddle
    >>> A = heddle.generate("laplace2d", 20, 20)
    >>> F = heddle.factorized(A)
    >>> x = F(np.ones(400))
    >>> bool(abs(A @ x - 1).max() < 1e-12), F.inertia
    (True, (0, 0, 400))
    >>> F.refactor(sigma=1.0)
    >>> below, _, _ = F.inertia  # eigenvalues of A below 1
    """
    return Factorized(A, M, sigma)
