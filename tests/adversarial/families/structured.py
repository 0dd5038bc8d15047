"""Sparse random, indefinite and named matrices."""

import numpy as np
import scipy.linalg

from .base import (Problem, direct_sum, family, grid, laplace1d, log_uniform, permuted,
                   random_sparse_symmetric, sparse_spd, with_spectrum)


@family()
def random_sparse(rng, n):
    A = random_sparse_symmetric(rng, n, rng.uniform(0.5, 8))
    return Problem(A, about="random entries, empty rows possible")


@family()
def random_spd(rng, n):
    return Problem(sparse_spd(rng, n, rng.uniform(1, 8)), about="diagonally dominant")


@family()
def dense_indefinite(rng, n):
    A = rng.standard_normal((n, n))
    return Problem((A + A.T) / 2, about="dense, semicircle")


@family()
def arrow(rng, n):
    """A diagonal with a dense last row and column."""
    A = np.diag(rng.permutation(np.arange(1.0, n + 1)))
    size = log_uniform(rng, -8, 4)
    A[-1, :-1] = A[:-1, -1] = size * rng.standard_normal(n - 1)
    return Problem(A, about=f"arrow of size {size:.1e}")


@family()
def block_diagonal(rng, n):
    """Permuted blocks of very different size and scale."""
    blocks, rows = [], 0
    decades = rng.uniform(0, 8)
    while rows < n:
        size = min(int(rng.integers(1, 30)), n - rows)
        scale = log_uniform(rng, -decades, decades)
        blocks.append(scale * with_spectrum(rng, rng.uniform(-0.2, 1, size)))
        rows += size
    return Problem(permuted(rng, direct_sum(*blocks)),
                   about=f"{len(blocks)} blocks over 10^+-{decades:.1f}")


@family()
def saddle_point(rng, n):
    """[[K, C], [C', 0]]: values of both signs, some near zero."""
    K = grid(rng, max(2, 3 * n // 4))
    m = max(1, min(len(K) - 1, n - len(K)))
    C = (rng.random((len(K), m)) < 3 / len(K)) * rng.uniform(-1, 1, (len(K), m))
    return Problem(np.block([[K, C], [C.T, np.zeros((m, m))]]), about=f"{m} multipliers")


@family()
def shifted_grid(rng, n):
    """A grid minus a shift inside its spectrum: indefinite, nearly singular."""
    A = grid(rng, n)
    values = np.linalg.eigvalsh(A)
    shift = values[int(rng.integers(0, len(values)))] + float(rng.choice([0.0, 1e-12, 1e-6, 0.01]))
    return Problem(A - shift * np.eye(len(A)), about=f"shifted by {shift:.6g}")


@family()
def disordered_chain(rng, n):
    """Anderson's chain: localised eigenvectors everywhere."""
    disorder = log_uniform(rng, -1, 3)
    return Problem(laplace1d(n) + np.diag(disorder * rng.uniform(-0.5, 0.5, n)),
                   about=f"disorder {disorder:.1e}")


@family()
def deep_wells(rng, n):
    """A grid with two or three equal deep wells: nearly equal values, localised."""
    A = grid(rng, n)
    depth = log_uniform(rng, 0, 6)
    rows = rng.choice(len(A), size=min(len(A), int(rng.integers(2, 4))), replace=False)
    A[rows, rows] -= depth
    return Problem(A, about=f"{len(rows)} wells of depth {depth:.1e}")


@family()
def named(rng, n):
    """Ill-conditioned matrices with names."""
    n = max(2, min(n, 120))
    i = np.arange(1.0, n + 1)
    prolate = scipy.linalg.toeplitz(np.concatenate([[0.5], np.sin(np.pi * i[:-1] / 2) /
                                                    (np.pi * i[:-1])]))
    kahan = np.triu(-0.5 * np.ones((n, n)), 1) + np.eye(n)
    kahan = (0.85 ** (i - 1))[:, None] * kahan
    choices = {
        "hilbert": 1 / (i[:, None] + i[None] - 1),
        "minij": np.minimum(i[:, None], i[None]),
        "lehmer": np.minimum(i[:, None], i[None]) / np.maximum(i[:, None], i[None]),
        "moler": np.minimum(i[:, None], i[None]) - 2 + np.diag(2.0 * np.ones(n)),
        "prolate": prolate,
        "kahan": kahan.T @ kahan,
        "clement": np.diag(np.sqrt(i[:-1] * (n - i[:-1])), 1)
        + np.diag(np.sqrt(i[:-1] * (n - i[:-1])), -1),
        "fiedler": np.abs(i[:, None] - i[None]),
    }
    name = sorted(choices)[int(rng.integers(0, len(choices)))]
    A = choices[name]
    return Problem((A + A.T) / 2, about=f"{name} of order {n}")
