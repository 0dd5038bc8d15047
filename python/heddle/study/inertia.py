"""How many eigenvalues of a symmetric pencil lie below a number, by factorisations that are
independent of heddle, and what follows for the eigenvalues.

Sylvester's law: A - s B = L D L^T with B positive definite has as many negative eigenvalues as
there are eigenvalues below s. A factorisation in floating point is that of A - s B + E. With a
bound of ||E|| the counts enclose the eigenvalues for certain (Parlett, The Symmetric Eigenvalue
Problem, sections 3.3 and 10.3; Higham, Accuracy and Stability of Numerical Algorithms, theorem
9.3)."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg as sla

EPS = float(np.finfo(np.float64).eps)
DENSE_LIMIT = 4000  # rows up to which a Bunch-Kaufman factorisation replaces a refused sparse one


@dataclass
class Count:
    """`below` eigenvalues of a matrix at most `error` (2-norm) from A - shift B are negative."""

    shift: float
    below: int
    error: float


class Refused(Exception):
    """No certain count: off-diagonal pivots, growth, or a singular matrix."""


def count_below(A: Any, B: Any, shift: float) -> Count:
    """Raises Refused."""
    n = A.shape[0]
    shifted = sp.csc_matrix(A - shift * (sp.identity(n, format="csr") if B is None else B))
    rounding = EPS * (abs(A).max() + abs(shift) * (1.0 if B is None else abs(B).max()))
    try:
        below, error = sparse_inertia(shifted)
    except Refused:
        if n > DENSE_LIMIT:
            raise
        below, error = dense_inertia(shifted.toarray())
    row = int(np.diff(shifted.indptr).max(initial=1))
    return Count(shift, below, error + rounding * row)


def sparse_inertia(S: Any) -> tuple[int, float]:
    """Negative eigenvalues of S + E by SuperLU with diagonal pivots, and a bound of ||E||. The
    signs of the pivots count them only if rows and columns are permuted alike; else Refused."""
    try:
        lu = sla.splu(
            S, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
        )
    except RuntimeError as failure:
        raise Refused(f"the factorisation failed: {failure}") from failure
    if not np.array_equal(lu.perm_r, lu.perm_c):
        raise Refused("the factorisation took pivots beside the diagonal")
    pivots = lu.U.diagonal()
    if not np.all(np.isfinite(pivots)) or np.any(pivots == 0):
        raise Refused("a pivot is zero or not finite")
    L, U = abs(lu.L), abs(lu.U)
    ones = np.ones(S.shape[0])
    growth = float(np.sqrt((L @ (U @ ones)).max() * (U.T @ (L.T @ ones)).max()))
    terms = int(np.diff(sp.csr_matrix(L).indptr).max())
    error = (terms + 2) * EPS * growth
    if not np.isfinite(error):
        raise Refused("the factors grow without bound")
    return int(np.sum(pivots < 0)), error


def dense_inertia(S: Any) -> tuple[int, float]:
    """The same by LAPACK's Bunch-Kaufman factorisation, which is backward stable."""
    L, D, _ = scipy.linalg.ldl(S)
    sizes = abs(L)
    growth = float((sizes @ (abs(D) @ (sizes.T @ np.ones(len(S))))).max())
    negative = int(np.sum(scipy.linalg.eigvalsh_tridiagonal(np.diag(D), np.diag(D, -1)) < 0))
    return negative, len(S) * EPS * growth


@dataclass
class Slicer:
    """Counts below chosen shifts, and the enclosures of eigenvalues that follow. `beta`: a lower
    bound of the smallest eigenvalue of B, 1 for the identity. `seconds`: for all factorisations."""

    A: Any
    B: Any
    beta: float
    seconds: float
    counts: dict[float, Count] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._until = time.monotonic() + self.seconds
        self._outer = outer_bounds(self.A, self.B, self.beta)

    @property
    def in_time(self) -> bool:
        return time.monotonic() < self._until

    def margin(self, count: Count) -> float:
        """How far the eigenvalues of the factored pencil lie from those of the given one."""
        return count.error / self.beta

    def add(self, shift: float) -> Count | None:
        """Counts below a shift, or slightly beside it where the matrix is singular there."""
        if shift in self.counts:
            return self.counts[shift]
        for attempt in range(3):
            if not self.in_time:
                return None
            try:
                moved = shift * (1 + attempt * 64 * EPS)
                self.counts[shift] = count_below(self.A, self.B, moved)
                return self.counts[shift]
            except Refused:
                continue
        return None

    def enclosure(self, index: int) -> tuple[float, float]:
        """An interval that contains the eigenvalue with that index in ascending order, from 0."""
        low, high = self._outer
        for count in self.counts.values():
            if count.below <= index:
                low = max(low, count.shift - self.margin(count))
            else:
                high = min(high, count.shift + self.margin(count))
        return float(low), float(high)


def outer_bounds(A: Any, B: Any, beta: float) -> tuple[float, float]:
    """An interval that contains all eigenvalues: Gershgorin's for B = I, else +-||A||_1 / beta."""
    sizes = np.asarray(abs(A).sum(axis=1)).ravel()
    reach = float(sizes.max(initial=0.0)) * (1 + 64 * EPS)
    if B is not None:
        return -reach / beta, reach / beta
    diagonal = A.diagonal()
    radii = sizes - abs(diagonal)
    rounding = 64 * EPS * reach
    return float((diagonal - radii).min()) - rounding, float((diagonal + radii).max()) + rounding


def smallest_of_mass(B: Any) -> float:
    """A lower bound of the smallest eigenvalue of a positive definite B. Raises Refused."""
    if B is None:
        return 1.0
    diagonal = B.diagonal()
    if np.any(diagonal <= 0):
        raise Refused("the mass matrix is not positive definite")
    if (B - sp.diags(diagonal)).count_nonzero() == 0:
        return float(diagonal.min())
    bound = float(diagonal.min())
    for _ in range(60):
        count = count_below(B, None, bound)
        if count.below == 0 and bound > count.error:
            return bound - count.error
        bound /= 4
    raise Refused("the mass matrix is singular, or nearly so")
