"""Norms far above the wanted values: stiff parts, penalties, grading."""

import numpy as np

from .base import (Problem, direct_sum, family, graph_laplacian, grid, laplace1d, log_uniform,
                   orthogonal, perhaps_permuted, random_tree, sparse_spd)


def floating_part(rng):
    """The Laplacian of a small connected graph, which nothing holds."""
    n = int(rng.integers(2, 9))
    edges = random_tree(rng, n)
    edges += [tuple(rng.integers(0, n, 2)) for _ in range(int(rng.integers(0, n)))]
    return graph_laplacian(n, edges, rng.uniform(0.5, 2, len(edges)))


@family()
def weakly_held_part(rng, n):
    """A soft grid beside stiff parts that nothing holds, or that a soft spring holds."""
    factor = log_uniform(rng, 1, 9)
    soft = grid(rng, n)
    parts = [factor * floating_part(rng) for _ in range(int(rng.integers(1, 4)))]
    A = direct_sum(soft, *parts)
    about = f"{len(parts)} parts of stiffness {factor:.1e}"
    if rng.random() < 0.5:
        spring = log_uniform(rng, -8, 0)
        row = len(soft)
        for part in parts:
            at = int(rng.integers(0, len(soft)))
            A[np.ix_([at, row], [at, row])] += spring * np.array([[1, -1], [-1, 1]])
            row += len(part)
        about += f", springs of {spring:.1e}"
    return Problem(perhaps_permuted(rng, A), about=about)


@family()
def interval_outsider(rng, n):
    """Values far above those of an interval: a large diagonal entry, a held row, a stiff spring."""
    s = log_uniform(rng, 3, 16)
    if rng.random() < 0.4:
        A = np.diag(np.append(np.arange(1.0, n + 1), s * rng.uniform(0.5, 2, rng.integers(1, 4))))
        about = f"a diagonal to {s:.1e}"
    else:
        A, row = laplace1d(n), int(rng.integers(0, n))
        if rng.random() < 0.5:
            A[row, row] += s
            about = f"row {row} held by {s:.1e}"
        else:
            place = [row, (row + 1) % n]
            A[np.ix_(place, place)] += s * np.array([[1.0, -1.0], [-1.0, 1.0]])
            about = f"a spring of {s:.1e}"
    return Problem(perhaps_permuted(rng, A), interval=True, about=about)


@family()
def weakly_held_pencil(rng, n):
    """Stiff parts as above with masses."""
    problem = weakly_held_part(rng, n)
    masses = 10.0 ** rng.uniform(-rng.uniform(0, 4), 0, len(problem.A))
    problem.B = np.diag(masses)
    if rng.random() < 0.5:
        problem.B += direct_sum(0.1 * np.min(masses) * laplace1d(len(masses)))
    return problem


@family()
def near_kernel_blocks(rng, n):
    """diag(1 ... m) beside blocks [[s, c-s], [c-s, s]] with the eigenvalues c and 2 s - c."""
    count = int(rng.integers(1, 5))
    blocks = []
    for _ in range(count):
        s, c = log_uniform(rng, 2, 9), rng.uniform(0, 0.9)
        blocks.append(np.array([[s, c - s], [c - s, s]]))
    A = direct_sum(np.diag(np.arange(1.0, n + 1)), *blocks)
    about = f"{count} blocks, s to {max(b[0, 0] for b in blocks):.1e}"
    if rng.random() < 0.5:
        coupling = log_uniform(rng, -6, -1)
        for k in range(count):
            at, row = int(rng.integers(0, n)), n + 2 * k
            A[at, row] = A[row, at] = coupling
        about += f", coupled by {coupling:.1e}"
    return Problem(perhaps_permuted(rng, A), about=about)


@family()
def stiff_springs(rng, n):
    """A chain of unit springs, some of them very stiff, its ends fixed or free."""
    springs = np.ones(n + 1)
    stiff = log_uniform(rng, 3, 12)
    places = rng.choice(n + 1, size=int(rng.integers(1, 4)), replace=False) if n > 3 else [0]
    springs[places] = stiff
    if rng.random() < 0.5:
        springs[0] = 0
    if rng.random() < 0.5:
        springs[-1] = 0
    K = np.diag(springs[:-1] + springs[1:]) - np.diag(springs[1:-1], 1) - np.diag(springs[1:-1], -1)
    return Problem(K, about=f"springs {sorted(int(p) for p in places)} of {stiff:.1e}, "
                            f"ends {springs[0]:.0e} {springs[-1]:.0e}")


@family()
def graded(rng, n):
    """D M D with D from 10^-d to 10^d in any order and M well conditioned."""
    decades = rng.uniform(1, 12)
    D = 10.0 ** np.linspace(-decades, decades, n)
    if rng.random() < 0.5:
        rng.shuffle(D)
    M = np.eye(n) if rng.random() < 0.3 else sparse_spd(rng, n)
    return Problem(M * D[:, None] * D[None, :], about=f"D over 10^+-{decades:.1f}")


@family()
def penalty_terms(rng, n):
    """A grid with penalties on single unknowns and on combinations of them."""
    A = grid(rng, n)
    n = len(A)
    factor = log_uniform(rng, 4, 12)
    rows = rng.choice(n, size=min(n - 1, int(rng.integers(1, 6))), replace=False)
    A[rows, rows] += factor
    combinations = int(rng.integers(0, 3)) if n > 4 else 0
    for _ in range(combinations):
        v = np.zeros(n)
        v[rng.choice(n, size=3, replace=False)] = [1, -2, 1]
        A += factor * np.outer(v, v)
    return Problem(A, about=f"penalty {factor:.1e}, {len(rows)} rows, {combinations} combinations")


@family()
def steep_spectrum(rng, n):
    """Eigenvalues that fall by a constant factor, dense, of one sign or of both."""
    decades = rng.uniform(2, 16)
    values = 10.0 ** -np.linspace(0, decades, n)
    if rng.random() < 0.3:
        values *= np.where(rng.random(n) < 0.5, -1, 1)
    Q = orthogonal(rng, n)
    A = (Q * values) @ Q.T
    return Problem((A + A.T) / 2, about=f"{decades:.1f} decades")


@family()
def beam(rng, n):
    """Fourth differences: condition of n^4, with a stiff or soft stretch."""
    D = np.diff(np.eye(n + 2), 2, axis=0) if n > 2 else np.eye(3)
    stiffness = np.ones(len(D))
    factor = log_uniform(rng, -6, 6)
    stiffness[: max(1, len(D) // 5)] = factor
    K = D.T @ (stiffness[:, None] * D)
    return Problem(K, about=f"a fifth of stiffness {factor:.1e}, both ends free")


@family()
def needle(rng, n):
    """A grid far above one or two values that live on rows with no or hardly any neighbour."""
    A = grid(rng, n) + rng.uniform(1, 100) * np.eye(1)
    deep = rng.uniform(-1, 1, int(rng.integers(1, 3)))
    A = direct_sum(A, np.diag(deep))
    coupling = 0.0 if rng.random() < 0.5 else log_uniform(rng, -10, -2)
    A[0, -1] = A[-1, 0] = coupling
    return Problem(perhaps_permuted(rng, A), about=f"values {deep}, coupled by {coupling:.1e}")
