"""A x = lambda B x: ill conditioned, massless, singular."""

import numpy as np

from .base import (Problem, direct_sum, family, graph_laplacian, grid, laplace1d, log_uniform,
                   orthogonal, random_sparse_symmetric, random_tree, sparse_spd, with_spectrum)


def stiffness(rng, n):
    """Positive definite, or indefinite in one of three draws."""
    kind = int(rng.integers(0, 3))
    A = grid(rng, n) if kind == 0 else sparse_spd(rng, n)
    if kind == 2:
        A = A - np.median(np.diag(A)) * np.eye(len(A))
    return A, ["grid", "spd", "indefinite"][kind]


@family()
def conditioned_mass(rng, n):
    """cond(B) from 1 to 1e8: diagonal, dense or graded."""
    A, kind = stiffness(rng, n)
    n, decades = len(A), rng.uniform(0, 8)
    masses = 10.0 ** -rng.permutation(np.linspace(0, decades, n))
    form = int(rng.integers(0, 3))
    if form == 0:
        B = np.diag(masses)
    elif form == 1:
        B = with_spectrum(rng, masses)
    else:
        root = np.sqrt(masses)
        B = sparse_spd(rng, n) * root[:, None] * root[None, :]
    return Problem(A, B, about=f"A {kind}, B {['diagonal', 'dense', 'graded'][form]}, "
                               f"{decades:.1f} decades")


@family()
def finite_elements(rng, n):
    """A bar of linear elements with stiffness and density that jump by decades."""
    decades = rng.uniform(0, 5)
    h = 10.0 ** rng.uniform(-1, 0, n + 1)
    E, density = 10.0 ** rng.uniform(-decades, 0, n + 1), 10.0 ** rng.uniform(-decades, 0, n + 1)
    K, M = np.zeros((n + 2, n + 2)), np.zeros((n + 2, n + 2))
    for e in range(n + 1):
        rows = np.ix_([e, e + 1], [e, e + 1])
        K[rows] += E[e] / h[e] * np.array([[1, -1], [-1, 1]])
        M[rows] += density[e] * h[e] / 6 * np.array([[2, 1], [1, 2]])
    held = slice(1, -1) if rng.random() < 0.5 else slice(0, None)
    return Problem(K[held, held], M[held, held], about=f"jumps over {decades:.1f} decades")


@family()
def massless(rng, n):
    """B semidefinite: rows without mass. Infinite eigenvalues are no answer."""
    A = sparse_spd(rng, n) if rng.random() < 0.5 else grid(rng, n)
    n = len(A)
    free = rng.choice(n, size=int(rng.integers(1, max(2, n // 2))), replace=False)
    form = int(rng.integers(0, 2))
    B = np.diag(rng.uniform(0.5, 2, n)) if form == 0 else sparse_spd(rng, n)
    B[free, :] = 0
    B[:, free] = 0
    if n == 1:
        B = np.eye(1)
    return Problem(A, B, about=f"{len(free)} of {n} rows without mass")


@family()
def low_rank_mass(rng, n):
    """B = F F' of low rank, A positive definite."""
    A = sparse_spd(rng, n)
    rank = int(rng.integers(1, max(2, n)))
    F = (rng.random((n, rank)) < 0.3) * rng.integers(-2, 3, (n, rank)).astype(float)
    F[rng.integers(0, n), 0] = 1
    return Problem(A, F @ F.T, about=f"rank of B at most {rank}")


@family()
def shared_null_space(rng, n):
    """A and B with a common null vector: every number is an eigenvalue."""
    n = max(2, n)
    form = int(rng.integers(0, 2))
    if form == 0:
        edges = random_tree(rng, n) + [tuple(rng.integers(0, n, 2)) for _ in range(n)]
        A = graph_laplacian(n, edges, rng.uniform(0.5, 1, len(edges)))
        B = graph_laplacian(n, edges, rng.uniform(0.5, 1, len(edges)))
    else:
        row = int(rng.integers(0, n))
        A, B = sparse_spd(rng, n), sparse_spd(rng, n)
        for M in (A, B):
            M[row, :] = 0
            M[:, row] = 0
    return Problem(A, B, about=["two Laplacians", "an empty row"][form],
                   refuse="A and B share a null vector")


@family()
def indefinite_mass(rng, n):
    """B with one or more negative eigenvalues."""
    n = max(2, n)
    A = grid(rng, n)
    values = rng.uniform(0.5, 1, len(A))
    negative = int(rng.integers(1, min(4, len(A)) + 1))
    values[:negative] = -log_uniform(rng, -4, 0)
    B = np.diag(rng.permutation(values)) if rng.random() < 0.5 else with_spectrum(rng, values)
    return Problem(A, B, about=f"{negative} negative values of B", refuse="B is not definite")


@family()
def equal_matrices(rng, n):
    """A = c B, or A = B + a matrix of rank one: nearly all eigenvalues equal."""
    B = sparse_spd(rng, n)
    A = float(rng.choice([1.0, 2.5, -1.0])) * B
    rank = int(rng.integers(0, 2))
    if rank:
        v = rng.standard_normal(n)
        A = A + np.outer(v, v)
    return Problem((A + A.T) / 2, B, about=f"c B plus rank {rank}")


@family()
def congruent(rng, n):
    """A = S' L S, B = S' S with cond(S) to 1e4 and eigenvalues in clusters."""
    decades = rng.uniform(0, 4)
    n = min(n, 200)
    S = (orthogonal(rng, n) * 10.0 ** -np.linspace(0, decades, n)) @ orthogonal(rng, n)
    values = np.repeat(rng.uniform(0, 10, n), int(rng.integers(1, 8)))[:n]
    A, B = S.T @ (values[:, None] * S), S.T @ S
    return Problem((A + A.T) / 2, (B + B.T) / 2, about=f"cond(B) about 10^{2 * decades:.1f}")


@family()
def coupled_masses(rng, n):
    """Vibrating chain with heavy and light masses and floating parts."""
    half = max(2, n // 2)
    A = direct_sum(laplace1d(half), laplace1d(max(2, n - half), fixed=False))
    masses = np.where(rng.random(len(A)) < 0.1, log_uniform(rng, 0, 6), 1.0)
    B = np.diag(masses)
    off = 0.2 * random_sparse_symmetric(rng, len(A), 1)
    np.fill_diagonal(off, 0)
    B += off / max(1.0, np.abs(off).sum(axis=1).max())
    B += 0.3 * np.eye(len(A))
    return Problem(A, B, about=f"masses to {masses.max():.1e}")


@family()
def nearly_singular_mass(rng, n):
    """A chain with a mass matrix whose smallest eigenvalue is nearly lost in single precision."""
    shift = log_uniform(rng, -8, -3)
    return Problem(laplace1d(n) + 0.3 * np.eye(n), laplace1d(n, fixed=False) + shift * np.eye(n),
                   about=f"a mass of at least {shift:.1e}")
