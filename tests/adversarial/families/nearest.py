"""Problems whose pairs nearest to a number are wanted: inside the spectrum, of multiple values."""

import numpy as np

from .base import (Problem, direct_sum, family, grid, laplace1d, log_uniform, orthogonal,
                   perhaps_permuted, random_sparse_symmetric, sparse_spd)


def mass(rng, n):
    """None, diagonal or with neighbours."""
    form = int(rng.integers(0, 3))
    if form == 0:
        return None, "no mass"
    B = np.diag(rng.uniform(1, 3, n))
    if form == 2:
        B += 0.2 * (np.eye(n, k=1) + np.eye(n, k=-1))
    return B, ["", "diagonal mass", "mass with neighbours"][form]


@family()
def disordered_crystal(rng, n):
    """Anderson's model: a grid with random numbers on its diagonal."""
    A, width = grid(rng, n), log_uniform(rng, -1, 2)
    A = A + np.diag(rng.uniform(-width / 2, width / 2, len(A)))
    return Problem(A, nearest=True, coarse=True, about=f"disorder {width:.1e}")


@family()
def few_levels(rng, n):
    """A diagonal of few values with couplings down to rounding: clusters of many pairs."""
    coupling = log_uniform(rng, -15, -4)
    A = np.diag(rng.integers(-4, 5, n).astype(float)) + coupling * random_sparse_symmetric(rng, n, 6)
    B, about = mass(rng, n)
    return Problem(A, B, nearest=True, coarse=True, about=f"coupling {coupling:.1e}, {about}")


@family()
def many_copies(rng, n):
    """A diagonal with up to half of its values equal, perhaps all of them."""
    values = rng.uniform(-1, 1, n) * log_uniform(rng, -3, 3)
    values[:int(rng.integers(1, n + 1))] = rng.choice([0.0, 1.0, -0.5])
    return Problem(np.diag(rng.permutation(values)), nearest=True, coarse=True)


@family()
def empty_rows(rng, n):
    """Rows without entries: zeros among values of both signs, perhaps nothing else."""
    A = random_sparse_symmetric(rng, n, 4) + np.diag(rng.uniform(-2, 2, n))
    empty = rng.choice(n, size=int(rng.integers(1, n + 1)), replace=False)
    A[empty, :] = 0
    A[:, empty] = 0
    B, about = mass(rng, n)
    return Problem(A, B, nearest=True, coarse=True, about=f"{len(empty)} of {n} rows are empty, {about}")


@family()
def penalised(rng, n):
    """A pencil with penalties of 1e6 to 1e16 on rows and on differences of rows."""
    A = grid(rng, n)
    n, size = len(A), log_uniform(rng, 6, 16)
    for _ in range(int(rng.integers(1, 6))):
        i, j = rng.integers(0, n, 2)
        v = np.zeros(n)
        v[i], v[j] = 1, -1
        A = A + size * np.outer(v, v)
    B, about = mass(rng, n)
    return Problem(A, B, nearest=True, about=f"penalties {size:.1e}, {about}")


@family()
def indefinite_pencil(rng, n):
    """A of both signs, B perhaps semidefinite, with rows without mass."""
    A = random_sparse_symmetric(rng, n, 4) + np.diag(rng.uniform(-3, 3, n))
    B, about = mass(rng, n)
    B = np.diag(rng.uniform(1, 3, n)) if B is None else B
    free = rng.choice(n, size=int(rng.integers(0, max(1, n // 2))), replace=False)
    B[free, :] = 0
    B[:, free] = 0
    A[free, free] += 20 * np.sign(A[free, free])
    return Problem(A, B, nearest=True, coarse=True, about=f"{len(free)} rows without mass, {about}")


@family()
def mirrored(rng, n):
    """Values in pairs t and -t, equally far from 0: [0 C; C' 0]."""
    half = max(1, n // 2)
    C = sparse_spd(rng, half) if rng.random() < 0.5 else orthogonal(rng, half) * log_uniform(rng, -3, 3)
    A = direct_sum(np.zeros((half, half)), np.zeros((half, half)))
    A[:half, half:] = C
    A[half:, :half] = C.T
    return Problem(perhaps_permuted(rng, A), nearest=True, coarse=True)


@family()
def long_chain(rng, n):
    """Up to 800 rows, and values near each other at the ends."""
    n = max(3, int(n * 2.3))
    A = laplace1d(n) + float(rng.choice([0.0, 1e-3, 1.0])) * np.diag(rng.uniform(-1, 1, n))
    B, about = mass(rng, n)
    return Problem(A, B, nearest=True, coarse=True, about=about)
