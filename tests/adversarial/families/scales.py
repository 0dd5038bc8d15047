"""Matrices whose norms are near the ends of the range of numbers."""

import numpy as np

from .base import FAMILIES, Problem, family, grid, log_uniform, sparse_spd

SCALED = ["clusters", "random_sparse", "components", "stiff_springs", "diagonal", "random_spd"]


def far_scale(rng):
    exponent = rng.uniform(1, 300) * (1 if rng.random() < 0.5 else -1)
    if rng.random() < 0.2:
        exponent = float(rng.choice([307.3, 306, -165, -170, 154, -154, -290]))
    return 10.0 ** exponent


@family()
def scaled(rng, n):
    """Another family times 1e-300 ... 1e300, up to entries of 4e307."""
    name = SCALED[int(rng.integers(0, len(SCALED)))]
    problem = FAMILIES[name][1](rng, n)
    scale = far_scale(rng)
    largest = float(np.max(np.abs(problem.A), initial=1.0)) or 1.0
    A = problem.A / largest * scale
    return Problem((A + A.T) / 2 if scale < 1e307 else A, about=f"{name} of size {scale:.1e}")


@family()
def scaled_pencil(rng, n):
    """A and B of very different size."""
    scale_A, scale_B = far_scale(rng), far_scale(rng)
    ratio = abs(np.log10(scale_A) - np.log10(scale_B))
    if ratio > 290:
        scale_B = scale_A
    A, B = grid(rng, n), None
    B = sparse_spd(rng, len(A))
    A, B = A / np.abs(A).max() * scale_A, B / np.abs(B).max() * scale_B
    return Problem(A, B, about=f"A of {scale_A:.1e}, B of {scale_B:.1e}")


@family()
def shifted_far(rng, n):
    """Eigenvalues that agree in many leading digits: c I + A with |A| far below c."""
    A = grid(rng, n)
    c = log_uniform(rng, 2, 12) * (1 if rng.random() < 0.5 else -1)
    return Problem(A + c * np.eye(len(A)), about=f"shifted by {c:.3e}")
