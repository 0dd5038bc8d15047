"""What a family returns, the table of families, and pieces that several of them use."""

from dataclasses import dataclass

import numpy as np


@dataclass
class Problem:
    """A x = lambda B x, the singular triplets of A, A X = B or min |B - A X|, all matrices dense.

    kind: eigen, triplets, linear or least_squares. `refuse`: why no answer would be right, empty
    where there is one. `interval`, `nearest`: whether the pairs of an interval, or those nearest to
    a number are wanted. `coarse`: whether eigenvalues in double precision are a truth exact enough.
    `about`: the values drawn, for a reader of a finding. `held`: rows that large diagonal entries hold, in which the
    solution is about b_i / a_ii."""

    A: np.ndarray
    B: np.ndarray | None = None
    rhs: np.ndarray | None = None
    kind: str = "eigen"
    about: str = ""
    refuse: str = ""
    interval: bool = False
    nearest: bool = False
    coarse: bool = False
    held: np.ndarray | None = None

    @property
    def complex(self):
        return any(np.iscomplexobj(part) for part in (self.A, self.B, self.rhs))

    @property
    def numbers(self):
        """The type of the entries of eigenvectors and solutions."""
        return np.complex128 if self.complex else np.float64


FAMILIES = {}  # name -> (kind, function)


def family(kind="eigen", most=None):
    """Adds a function to the table under its own name. `most`: the largest order to ask it for."""
    def add(function):
        def make(rng, n):
            problem = function(rng, n if most is None else min(n, most))
            problem.kind = kind
            if kind in ("eigen", "linear"):
                problem.A = upper_mirrored(problem.A)
            if problem.B is not None:
                problem.B = upper_mirrored(problem.B)
            return problem
        FAMILIES[function.__name__] = (kind, make)
        return function
    return add


def upper_mirrored(A):
    """Symmetric or Hermitian to the last bit."""
    mirrored = np.triu(A) + np.triu(A, 1).conj().T
    if np.iscomplexobj(A):
        np.fill_diagonal(mirrored, np.diag(A).real)
    return mirrored


def log_uniform(rng, low, high):
    """A power of ten with an exponent uniform in [low, high]."""
    return float(10.0 ** rng.uniform(low, high))


def laplace1d(n, fixed=True):
    K = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    if not fixed:
        K[0, 0] = K[-1, -1] = 1 if n > 1 else 0
    return K


def laplace2d(nx, ny):
    return np.kron(np.eye(ny), laplace1d(nx)) + np.kron(laplace1d(ny), np.eye(nx))


def grid(rng, n):
    """The Dirichlet Laplacian of a grid with about n points."""
    ny = int(rng.integers(1, max(2, int(np.sqrt(n)) + 1)))
    return laplace2d(max(1, n // ny), ny)


def direct_sum(*blocks):
    n = sum(len(block) for block in blocks)
    A = np.zeros((n, n), dtype=np.result_type(float, *blocks))
    row = 0
    for block in blocks:
        A[row:row + len(block), row:row + len(block)] = block
        row += len(block)
    return A


def permuted(rng, A):
    order = rng.permutation(len(A))
    return A[np.ix_(order, order)]


def perhaps_permuted(rng, A):
    return permuted(rng, A) if rng.random() < 0.5 else A


def orthogonal(rng, n):
    Q, R = np.linalg.qr(rng.standard_normal((n, n)))
    return Q * np.sign(np.diag(R))


def with_spectrum(rng, values):
    """A dense symmetric matrix with these eigenvalues up to rounding of its entries."""
    Q = orthogonal(rng, len(values))
    A = (Q * values) @ Q.T
    return (A + A.T) / 2


def gaussian(rng, shape):
    """Complex numbers with normally distributed parts."""
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


def graph_laplacian(n, edges, weights):
    L = np.zeros((n, n))
    for (i, j), weight in zip(edges, weights):
        if i == j:
            continue
        L[i, j] -= weight
        L[j, i] -= weight
        L[i, i] += weight
        L[j, j] += weight
    return L


def random_tree(rng, n):
    return [(int(rng.integers(0, i)), i) for i in range(1, n)]


def random_sparse_symmetric(rng, n, per_row):
    A = np.zeros((n, n))
    for _ in range(max(1, int(n * per_row / 2))):
        i, j = rng.integers(0, n, 2)
        A[i, j] += rng.uniform(-1, 1)
    A = A + A.T
    return A


def sparse_spd(rng, n, per_row=4):
    """Diagonally dominant with a margin."""
    A = random_sparse_symmetric(rng, n, per_row)
    np.fill_diagonal(A, np.sum(np.abs(A), axis=1) + rng.uniform(0.1, 1, n))
    return A
