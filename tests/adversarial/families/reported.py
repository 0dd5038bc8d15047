"""Problems without anything random that solvers once got wrong. Options are still drawn."""

import numpy as np

from .base import Problem, direct_sum, family, laplace1d, laplace2d


@family()
def weak_corner(rng, n):
    """A grid of 20 x 20 beside a stiff grid of 2 x 2 that nothing holds."""
    free = laplace1d(2, fixed=False)
    stiff = np.kron(np.eye(2), free) + np.kron(free, np.eye(2))
    return Problem(direct_sum(laplace2d(20, 20), 1e4 * stiff), about="the value 0 is missed")


@family()
def stiff_pair(rng, n):
    """diag(1 ... 10) beside a stiff pair that is weakly held."""
    s, c = 1e6, 0.5
    return Problem(direct_sum(np.diag(np.arange(1.0, 11)), np.array([[s, c - s], [c - s, s]])),
                   about="the value 0.5 is missed")


@family()
def one_stiff_spring(rng, n):
    """A chain of 400 unit springs, one of them 10^8."""
    springs = np.ones(401)
    springs[200] = 1e8
    K = np.diag(springs[:-1] + springs[1:]) - np.diag(springs[1:-1], 1) - np.diag(springs[1:-1], -1)
    return Problem(K, about="values 4 to 265 times too large")


@family()
def small_diagonal(rng, n):
    """diag(1 ... 10), from the second eigenvector."""
    return Problem(np.diag(np.arange(1.0, 11)), about="a guess without the first is believed")
