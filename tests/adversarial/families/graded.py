"""Rows of very different size: unknowns held by penalties, tiny masses, states that a hard core
forbids. The smallest eigenvalues have all their digits, products with A hide them."""

from itertools import combinations_with_replacement

import numpy as np

from .base import Problem, family, grid, laplace1d, log_uniform, perhaps_permuted


def consistent_mass(n):
    """The mass matrix of linear elements, times 6."""
    return 4 * np.eye(n) + np.eye(n, k=1) + np.eye(n, k=-1)


@family()
def penalty(rng, n):
    """A chain or a grid of which penalties hold some unknowns, with masses or without."""
    K = laplace1d(n, fixed=rng.random() < 0.5) if rng.random() < 0.5 else grid(rng, n)
    n = len(K)
    held = rng.choice(n, size=int(rng.integers(1, max(2, n // 4))), replace=False)
    stiffness = log_uniform(rng, 4, 30)
    unit = log_uniform(rng, -3, 9) if rng.random() < 0.5 else 1.0
    K *= unit
    K[held, held] += unit * stiffness * 10.0 ** rng.uniform(-1, 1, len(held))
    about = f"{len(held)} of {n} rows held by {stiffness:.1e}, unit {unit:.1e}"
    draw = rng.random()
    if draw < 0.5:
        return Problem(K, about=about)
    lumped = draw < 0.75
    B = (np.eye(n) if lumped else consistent_mass(n)) * log_uniform(rng, -9, 0)
    return Problem(K, B, about=about + (", lumped mass" if lumped else ", consistent mass"))


@family()
def graded_mass(rng, n):
    """Masses 1 beside rotary masses of nearly nothing, or masses over many orders."""
    K = laplace1d(n) + np.diag(rng.uniform(0, 0.1, n))
    smallest = rng.uniform(-20, -4)
    if rng.random() < 0.5:
        masses = np.where(np.arange(n) % 2 == 0, 1.0, 10.0 ** smallest)
    else:
        masses = 10.0 ** rng.uniform(smallest, 0, n)
    B = np.diag(masses)
    if rng.random() < 0.3:  # coupled, and graded all the same
        root = np.sqrt(masses)
        B = consistent_mass(n) * np.outer(root, root) / 6
    return Problem(K, B, about=f"masses down to 1e{smallest:.0f}")


@family()
def hard_core(rng, n):
    """Bosons on a ring that hop between sites and repel each other with U on one site."""
    sites = int(rng.integers(3, 7))
    bosons = 2 if len(list(combinations_with_replacement(range(sites), 3))) > max(n, 10) else 3
    states = [tuple(np.bincount(state, minlength=sites))
              for state in combinations_with_replacement(range(sites), bosons)]
    place = {state: i for i, state in enumerate(states)}
    repulsion, hopping = log_uniform(rng, 4, 17), log_uniform(rng, -1, 1)
    A = np.diag([repulsion * sum(m * (m - 1) / 2 for m in state) for state in states])
    for state, i in place.items():
        for site in range(sites):
            if state[site] == 0:
                continue
            moved = list(state)
            to = (site + 1) % sites
            moved[site] -= 1
            moved[to] += 1
            j = place[tuple(moved)]
            A[i, j] -= hopping * np.sqrt(state[site] * moved[to])
            A[j, i] = A[i, j]
    return Problem(perhaps_permuted(rng, A), about=f"{bosons} bosons, {sites} sites, U = {repulsion:.1e}")
