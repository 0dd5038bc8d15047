"""Multiplicities, clusters and zeros."""

import numpy as np

from .base import (Problem, direct_sum, family, laplace1d, log_uniform, orthogonal, permuted,
                   with_spectrum)


@family()
def clusters(rng, n):
    """A few clusters of up to 20 values with a width from 0 to 1e-3."""
    values, width = [], 0.0 if rng.random() < 0.4 else log_uniform(rng, -14, -3)
    while len(values) < n:
        size = int(rng.integers(1, 21))
        values += list(rng.uniform(-1, 1) * 10 + width * rng.uniform(-1, 1, size))
    return Problem(with_spectrum(rng, np.array(values[:n])), about=f"clusters of width {width:.1e}")


@family()
def copies(rng, n):
    """The same small matrix many times: exact multiplicities, sparse."""
    times = int(rng.integers(2, 21))
    size = max(1, n // times)
    M = with_spectrum(rng, rng.uniform(-5, 5, size)) if size < 30 else laplace1d(size)
    return Problem(permuted(rng, direct_sum(*[M] * times)), about=f"{times} copies of order {size}")


@family()
def identity_and_rank(rng, n):
    """c I plus a matrix of low rank."""
    rank = int(rng.integers(0, min(n, 6) + 1))
    c, size = rng.uniform(-2, 2), log_uniform(rng, -6, 4)
    V = rng.standard_normal((n, rank)) / np.sqrt(n)
    signs = np.where(rng.random(rank) < 0.5, -1, 1)
    A = c * np.eye(n) + size * (V * signs) @ V.T
    return Problem((A + A.T) / 2, about=f"c {c:.2f}, rank {rank} of size {size:.1e}")


@family()
def projector(rng, n):
    """Eigenvalues 0 and 1 only, exactly or with noise."""
    rank = int(rng.integers(0, n + 1))
    noise = 0.0 if rng.random() < 0.5 else log_uniform(rng, -12, -4)
    values = np.where(np.arange(n) < rank, 1.0, 0.0) + noise * rng.standard_normal(n)
    return Problem(with_spectrum(rng, values), about=f"rank {rank}, noise {noise:.1e}")


@family()
def semidefinite(rng, n):
    """Positive semidefinite with a null space of up to 20 vectors."""
    null = min(n, int(rng.integers(1, 21)))
    values = np.concatenate([np.zeros(null), rng.uniform(0.01, 1, n - null)])
    if rng.random() < 0.5:
        return Problem(with_spectrum(rng, values), about=f"null space of {null}")
    F = rng.integers(-2, 3, (max(0, n - null), n)).astype(float)
    return Problem(F.T @ F, about=f"integers, null space of at least {null}")


@family()
def diagonal(rng, n):
    """Diagonal: random, integers with copies, with zeros, of both signs."""
    kind = int(rng.integers(0, 4))
    values = [rng.uniform(0, 1, n), rng.integers(-3, 4, n).astype(float),
              np.arange(1.0, n + 1), 10.0 ** rng.uniform(-9, 9, n)][kind]
    return Problem(np.diag(rng.permutation(values)), about=f"kind {kind}")


@family()
def constant(rng, n):
    """Zero, or a multiple of the identity."""
    c = [0.0, 1.0, -3.0, 1e-12, 1e12][int(rng.integers(0, 5))]
    return Problem(c * np.eye(n), about=f"{c} I")


@family()
def wilkinson(rng, n):
    """Wilkinson's W+ (pairs that agree to many digits), alone or glued."""
    half = int(rng.integers(3, 16))
    size = 2 * half + 1
    W = np.diag(np.abs(np.arange(-half, half + 1.0))) + np.eye(size, k=1) + np.eye(size, k=-1)
    times = max(1, n // size)
    A = direct_sum(*[W] * times)
    glue = 0.0 if rng.random() < 0.3 else log_uniform(rng, -14, -2)
    for k in range(1, times):
        A[k * size, k * size - 1] = A[k * size - 1, k * size] = glue
    return Problem(A, about=f"{times} times W{size}, glue {glue:.1e}")


@family()
def tiny(rng, n):
    """Orders 1 to 10."""
    n = int(rng.integers(1, 11))
    kind = int(rng.integers(0, 4))
    if kind == 0:
        A = rng.integers(-2, 3, (n, n)).astype(float)
        A = A + A.T
    elif kind == 1:
        A = laplace1d(n)
    elif kind == 2:
        A = np.diag(rng.uniform(-1, 1, n))
    else:
        A = with_spectrum(rng, rng.uniform(0, 1, n))
    return Problem(A, about=f"order {n}, kind {kind}")


@family()
def reflections(rng, n):
    """Householder reflections and exchanges: -1 and 1, half or all but one of them equal."""
    if rng.random() < 0.5:
        A = np.fliplr(np.eye(n))
        return Problem(A, about="exchange")
    v = orthogonal(rng, n)[:, 0]
    return Problem(np.eye(n) - 2 * np.outer(v, v), about="Householder")
