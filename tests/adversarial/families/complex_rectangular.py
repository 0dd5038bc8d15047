"""Singular triplets and least squares with complex matrices or right-hand sides."""

import numpy as np

from .base import FAMILIES, Problem, family, gaussian, log_uniform
from .hermitian import phases, quarter_turns
from .rectangular import shape

TRIPLETS = ["rectangular_random", "rank_deficient", "graded_columns", "steep_singular_values",
            "equal_singular_values", "incidence", "scaled_rectangular", "kahan", "dominant_sigma"]
LEAST_SQUARES = ["tall_and_wide", "deficient_least_squares", "graded_least_squares",
                 "nearly_equal_columns"]


def turned(rng, A, turns):
    """P A Q^H with diagonal unitary P and Q: the same singular values."""
    m, n = A.shape
    return turns(rng, m)[:, None] * A * turns(rng, n).conj()[None, :]


@family("triplets")
def complex_triplets(rng, n):
    """A real problem of another family with exact phases, and thus its very values."""
    name = TRIPLETS[int(rng.integers(0, len(TRIPLETS)))]
    problem = FAMILIES[name][1](rng, n)
    return Problem(turned(rng, problem.A, quarter_turns), about=f"{name}: {problem.about}")


@family("triplets")
def complex_triplets_random(rng, n):
    """Dense or sparse, with any numbers."""
    m, n = shape(rng, n)
    A = gaussian(rng, (m, n))
    if rng.random() < 0.6:
        A = np.where(rng.random((m, n)) < rng.uniform(1, 8) / n, A, 0)
    return Problem(A * log_uniform(rng, -3, 3), about=f"{m} x {n}")


@family("triplets")
def complex_low_rank(rng, n):
    """A product of slim matrices, perhaps beside noise."""
    m, n = shape(rng, min(n, 200))
    rank = int(rng.integers(1, min(m, n) + 1))
    noise = 0.0 if rng.random() < 0.5 else log_uniform(rng, -14, -2)
    A = gaussian(rng, (m, rank)) @ gaussian(rng, (rank, n)) / n + noise * gaussian(rng, (m, n))
    return Problem(A, about=f"{m} x {n}, rank {rank}, noise {noise:.1e}")


@family("least_squares")
def complex_least_squares(rng, n):
    """A real problem of another family with phases."""
    name = LEAST_SQUARES[int(rng.integers(0, len(LEAST_SQUARES)))]
    problem = FAMILIES[name][1](rng, n)
    A = turned(rng, problem.A, quarter_turns if rng.random() < 0.5 else phases)
    rhs = phases(rng, len(A))[:, None] * problem.rhs
    return Problem(A, rhs=rhs, about=f"{name}: {problem.about}")


@family("least_squares")
def complex_parts_of_least_squares(rng, n):
    """Only the matrix is complex, or only the right-hand sides are."""
    name = LEAST_SQUARES[int(rng.integers(0, len(LEAST_SQUARES)))]
    problem = FAMILIES[name][1](rng, n)
    A, rhs = problem.A, problem.rhs
    if rng.random() < 0.5:
        A = turned(rng, A, phases)
    else:
        rhs = rhs * phases(rng, rhs.shape[1])[None, :]
    return Problem(A, rhs=rhs, about=f"{name}: {problem.about}")
