"""Linear systems and least squares."""

import numpy as np

from .base import (FAMILIES, Problem, direct_sum, family, gaussian, graph_laplacian, grid, log_uniform,
                   permuted, random_sparse_symmetric, random_tree, sparse_spd, with_spectrum)


def right_hand_sides(rng, A):
    """One to a dozen columns: random, dependent, zero, unit, or of very different size."""
    m, count = len(A), int(rng.integers(1, 13))
    X = gaussian(rng, (m, count)) if np.iscomplexobj(A) else rng.standard_normal((m, count))
    kind = int(rng.integers(0, 6))
    if kind == 1:
        X = X[:, :1] @ rng.standard_normal((1, count))
    elif kind == 2:
        X[:, rng.random(count) < 0.5] = 0
    elif kind == 3:
        X = np.eye(m)[:, rng.integers(0, m, count)]
    elif kind == 4:
        X *= 10.0 ** rng.uniform(-150, 150, count)
    elif kind == 5:
        X = A @ rng.standard_normal((A.shape[1], count))
    return X


def system(rng, A, about):
    return Problem(A, rhs=right_hand_sides(rng, A), about=about)


@family("linear")
def spd_system(rng, n):
    return system(rng, sparse_spd(rng, n) if rng.random() < 0.5 else grid(rng, n), "well behaved")


@family("linear")
def stiff_system(rng, n):
    name = ["stiff_springs", "penalty_terms", "graded", "beam"][int(rng.integers(0, 4))]
    problem = FAMILIES[name][1](rng, n)
    return system(rng, problem.A, f"{name}: {problem.about}")


@family("linear")
def clustered_system(rng, n):
    values = 10.0 ** rng.choice([-8, -4, 0, 3], size=n)
    return system(rng, with_spectrum(rng, values), "four eigenvalues over 11 decades")


@family("linear")
def singular_system(rng, n):
    """Laplacians of graphs: a solution exists, or not."""
    edges = random_tree(rng, n) + [tuple(rng.integers(0, n, 2)) for _ in range(n // 2)]
    A = graph_laplacian(n, edges, rng.uniform(0.5, 2, len(edges)))
    if rng.random() < 0.5:
        A = permuted(rng, direct_sum(A, A))
    rhs = rng.standard_normal((len(A), int(rng.integers(1, 6))))
    consistent = rng.random() < 0.5
    return Problem(A, rhs=A @ rhs if consistent else rhs,
                   about="a solution exists" if consistent else "no solution")


@family("linear")
def indefinite_system(rng, n):
    A = random_sparse_symmetric(rng, n, 4) + rng.uniform(-1, 3) * np.eye(n)
    return system(rng, A, "indefinite or nearly so")


@family("linear")
def scaled_system(rng, n):
    """Solutions near the ends of the range of numbers, or beyond."""
    A = grid(rng, n) if rng.random() < 0.5 else np.diag(rng.uniform(0.5, 2, n))
    scale_A, scale_b = log_uniform(rng, -300, 300), log_uniform(rng, -300, 300)
    if rng.random() < 0.2:
        scale_A, scale_b = 1e-10, 1e300
    rhs = rng.uniform(-1, 1, (len(A), int(rng.integers(1, 5))))
    return Problem(A * scale_A, rhs=rhs * scale_b, about=f"A of {scale_A:.1e}, b of {scale_b:.1e}")


@family("linear")
def identity_system(rng, n):
    c = float(rng.choice([1.0, 1e-8, 1e8, -1.0]))
    return system(rng, c * np.eye(n), f"{c} I")


@family("linear")
def held_rhs(rng, n):
    """Springs on a grid or a tree, some nodes of which penalties hold at given values."""
    kind = int(rng.integers(0, 4))
    n = max(n, 3)
    if kind == 3:
        n = min(n, 200)
        edges = random_tree(rng, n) + [tuple(rng.integers(0, n, 2)) for _ in range(n // 2)]
    else:
        side = max(2, round(n ** (1 / (kind + 1))))
        nodes = np.arange(side ** (kind + 1)).reshape((side,) * (kind + 1))
        n = nodes.size
        edges = [pair for axis in range(kind + 1)
                 for pair in zip(np.delete(nodes, -1, axis).ravel(), np.delete(nodes, 0, axis).ravel())]
    spread = float(rng.choice([0.0, 0.5, 2.0]))
    A = graph_laplacian(n, edges, 10.0 ** rng.uniform(-spread, spread, len(edges)))
    count = int(rng.choice([1, 2, max(1, n // 10), n // 2]))
    held = np.sort(rng.choice(n, count, replace=False))
    penalty = log_uniform(rng, 4, 30) * float(np.max(np.diag(A)))
    A[held, held] = penalty if rng.random() < 0.5 else A[held, held] + penalty
    columns = int(rng.integers(1, 13))
    rhs = np.zeros((n, columns))
    if rng.random() < 0.5:
        rhs = rng.standard_normal((n, columns)) * log_uniform(rng, -3, 1)
    rhs[held] = A[held, held][:, None] * rng.standard_normal((count, columns))
    return Problem(A, rhs=rhs, about=f"{n} rows, {count} of them held by {penalty:.1e}", held=held)


@family("least_squares")
def tall_and_wide(rng, n):
    m = max(1, int(n * rng.uniform(0.5, 3)))
    A = (rng.random((m, n)) < 6 / n) * rng.uniform(-1, 1, (m, n))
    return system(rng, A, f"{m} x {n} sparse")


@family("least_squares")
def deficient_least_squares(rng, n):
    n = min(n, 150)
    m = max(1, int(n * rng.uniform(0.5, 3)))
    rank = int(rng.integers(1, min(m, n) + 1))
    A = rng.standard_normal((m, rank)) @ rng.standard_normal((rank, n)) / np.sqrt(n)
    return system(rng, A, f"{m} x {n}, rank {rank}")


@family("least_squares")
def graded_least_squares(rng, n):
    n = min(n, 150)
    m = int(n * rng.uniform(1, 3)) + 1
    decades = rng.uniform(0, 6)
    A = rng.standard_normal((m, n)) * 10.0 ** -np.linspace(0, decades, n)
    return system(rng, A, f"{m} x {n}, columns over {decades:.1f} decades")


@family("least_squares")
def nearly_equal_columns(rng, n):
    n = max(2, min(n, 150))
    m = 2 * n
    A = rng.standard_normal((m, n))
    difference = log_uniform(rng, -12, -1)
    A[:, 1::2] = A[:, : n - n % 2: 2] + difference * A[:, 1::2]
    return system(rng, A, f"{m} x {n}, columns in pairs that differ by {difference:.1e}")
