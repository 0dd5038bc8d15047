"""Matrices of any shape: singular triplets."""

import numpy as np

from .base import Problem, family, log_uniform, orthogonal, random_tree


def shape(rng, n):
    """Tall, wide or square, with about n columns on the short side."""
    other = int(n * rng.uniform(1, 3)) + 1
    return [(other, n), (n, other), (n, n)][int(rng.integers(0, 3))]


def with_singular_values(rng, m, n, values):
    k = min(m, n)
    return (orthogonal(rng, m)[:, :k] * values[:k]) @ orthogonal(rng, n)[:, :k].T


@family("triplets")
def rectangular_random(rng, n):
    m, n = shape(rng, n)
    density = rng.uniform(1, 6) / n
    A = (rng.random((m, n)) < density) * rng.uniform(-1, 1, (m, n))
    return Problem(A, about=f"{m} x {n} sparse, empty rows and columns possible")


@family("triplets")
def rank_deficient(rng, n):
    m, n = shape(rng, min(n, 200))
    rank = int(rng.integers(0, min(m, n) + 1))
    if rng.random() < 0.5:
        values = np.where(np.arange(min(m, n)) < rank, rng.uniform(0.1, 1, min(m, n)), 0)
        return Problem(with_singular_values(rng, m, n, values), about=f"{m} x {n}, rank {rank}")
    A = rng.integers(-1, 2, (m, rank)).astype(float) @ rng.integers(-1, 2, (rank, n)).astype(float)
    return Problem(A, about=f"{m} x {n} integers, rank at most {rank}")


@family("triplets")
def graded_columns(rng, n):
    m, n = shape(rng, min(n, 200))
    decades = rng.uniform(1, 10)
    A = rng.standard_normal((m, n)) * 10.0 ** -np.linspace(0, decades, n)
    return Problem(A, about=f"{m} x {n}, columns over {decades:.1f} decades")


@family("triplets")
def steep_singular_values(rng, n):
    m, n = shape(rng, min(n, 200))
    decades = rng.uniform(2, 16)
    values = 10.0 ** -np.linspace(0, decades, min(m, n))
    return Problem(with_singular_values(rng, m, n, values), about=f"{m} x {n}, {decades:.1f} decades")


@family("triplets")
def equal_singular_values(rng, n):
    m, n = shape(rng, min(n, 200))
    values = np.repeat(rng.uniform(0, 2, min(m, n)), int(rng.integers(2, 21)))[:min(m, n)]
    return Problem(with_singular_values(rng, m, n, values), about=f"{m} x {n}, copies")


@family("triplets")
def incidence(rng, n):
    """Edges times vertices: singular values are roots of the Laplacian's eigenvalues."""
    edges = random_tree(rng, n) + [tuple(rng.integers(0, n, 2)) for _ in range(n)]
    A = np.zeros((max(1, len(edges)), n))
    for row, (i, j) in enumerate(edges):
        A[row, i] += 1
        A[row, j] -= 1
    return Problem(A if rng.random() < 0.5 else A.T.copy(), about="incidence")


@family("triplets")
def scaled_rectangular(rng, n):
    m, n = shape(rng, min(n, 120))
    scale = log_uniform(rng, -300, 300)
    return Problem(rng.standard_normal((m, n)) / 10 * scale, about=f"{m} x {n} of size {scale:.1e}")


@family("triplets")
def kahan(rng, n):
    n = max(2, min(n, 100))
    s = rng.uniform(0.8, 0.99)
    K = (s ** np.arange(n))[:, None] * (np.eye(n) - np.sqrt(1 - s * s) * np.triu(np.ones((n, n)), 1))
    return Problem(K, about=f"Kahan {n}, s {s:.3f}")


def scattered(rng, m, n, values):
    """Values at random places, no two in a row or column."""
    A = np.zeros((m, n))
    A[rng.permutation(m)[:n], rng.permutation(n)] = values * rng.choice([-1, 1], n)
    return A


def rotated(rng, A):
    """Rows and columns rotated in pairs: the same singular values, to rounding."""
    for axis in (0, 1):
        order = rng.permutation(A.shape[axis])
        half = len(order) // 2
        first, second = order[:half], order[half:2 * half]
        angle = rng.uniform(0, np.pi, half)
        c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
        B = A if axis == 0 else A.T
        B[first], B[second] = c * B[first] - s * B[second], s * B[first] + c * B[second]
    return A


@family("triplets")
def dominant_sigma(rng, n):
    """A few large singular values, and others so small that their squares are lost beside them.
    Half of the problems have more columns than are decomposed at once."""
    n = n + 520 if rng.random() < 0.5 else n
    m = n + int(rng.integers(0, n)) if rng.random() < 0.5 else n
    large = min(n - 1, int(rng.integers(1, 4)))
    ratio = log_uniform(rng, -14, -2)
    values = ratio * (rng.uniform(0.1, 1, n) if rng.random() < 0.5 else rng.choice([0.1, 1.0], n))
    values[:large] = rng.uniform(0.3, 1, large)
    values[large] = 2 * ratio
    kind = ["scattered", "rotated", "uncentred", "graded"][int(rng.integers(0, 4))]
    if kind == "uncentred" and n < 520:
        A = log_uniform(rng, 2, 9) + rng.standard_normal((m, n))
    elif kind == "graded":
        values = 10.0 ** -np.linspace(0, rng.uniform(3, 16), n)
        A = rotated(rng, scattered(rng, m, n, values))
    else:
        A = scattered(rng, m, n, values)
        A = A if kind == "scattered" else rotated(rng, A)
    about = f"{m} x {n} {kind}, {large} large ones, others {ratio:.1e}"
    return Problem(A if rng.random() < 0.7 else A.T.copy(), about=about)
