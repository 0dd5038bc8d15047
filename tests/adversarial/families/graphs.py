"""Laplacians and adjacency matrices of graphs."""

import numpy as np

from .base import Problem, direct_sum, family, graph_laplacian, permuted, random_tree


def geometric_edges(rng, n, degree=6.0):
    points = rng.random((n, 2))
    squares = np.sum((points[:, None] - points[None]) ** 2, axis=2)
    i, j = np.nonzero(np.triu(squares < degree / (np.pi * n), 1))
    return list(zip(i, j))


@family()
def weighted_geometric(rng, n):
    """A random geometric graph with weights over up to ten decades, mostly not connected."""
    decades = rng.uniform(0, 10)
    edges = geometric_edges(rng, n, rng.uniform(3, 12))
    weights = 10.0 ** rng.uniform(-decades, 0, len(edges))
    return Problem(graph_laplacian(n, edges, weights), about=f"weights over {decades:.1f} decades")


@family()
def components(rng, n):
    """Several connected components: as many zeros."""
    count = int(rng.integers(2, 21))
    size = max(1, n // count)
    parts = []
    for _ in range(count):
        edges = random_tree(rng, size)
        edges += [tuple(rng.integers(0, size, 2)) for _ in range(size // 2)]
        parts.append(graph_laplacian(size, edges, np.ones(len(edges))))
    return Problem(permuted(rng, direct_sum(*parts)), about=f"{count} components of {size}")


@family()
def barbell(rng, n):
    """Dense communities joined by weak edges: a cluster of tiny values."""
    count = int(rng.integers(2, 8))
    size = max(2, n // count)
    weak = float(10.0 ** rng.uniform(-10, -1))
    L = direct_sum(*[size * np.eye(size) - np.ones((size, size))] * count)
    for k in range(1, count):
        pair = np.ix_([(k - 1) * size, k * size], [(k - 1) * size, k * size])
        L[pair] += weak * np.array([[1, -1], [-1, 1]])
    return Problem(L, about=f"{count} cliques of {size}, joined by {weak:.1e}")


@family()
def complete_and_star(rng, n):
    """Complete graphs and stars: one value n - 2 or n - 1 times."""
    if rng.random() < 0.5:
        return Problem(n * np.eye(n) - np.ones((n, n)), about="complete")
    edges = [(0, i) for i in range(1, n)]
    return Problem(graph_laplacian(n, edges, np.ones(len(edges))), about="star")


@family()
def hypercube(rng, n):
    """Hypercubes: binomial multiplicities, adjacency or Laplacian."""
    d = max(1, int(np.log2(max(2, n))))
    A = np.zeros((1, 1))
    for _ in range(d):
        A = np.kron(A, np.eye(2)) + np.kron(np.eye(len(A)), np.fliplr(np.eye(2)))
    if rng.random() < 0.5:
        A = d * np.eye(len(A)) - A
    return Problem(A, about=f"dimension {d}")


@family()
def bipartite(rng, n):
    """Adjacency of a bipartite graph: values in pairs +-s and many zeros."""
    left = max(1, int(n * rng.uniform(0.1, 0.5)))
    F = (rng.random((left, max(1, n - left))) < min(1.0, 4 / left)).astype(float)
    A = np.block([[np.zeros((left, left)), F], [F.T, np.zeros((F.shape[1],) * 2)]])
    return Problem(A, about=f"{left} and {F.shape[1]}")


@family()
def ring(rng, n):
    """A cycle: pairs of equal values. Of both signs when shifted."""
    A = 2 * np.eye(n) - np.roll(np.eye(n), 1, axis=0) - np.roll(np.eye(n), -1, axis=0)
    A = (A + A.T) / 2
    shift = float(rng.choice([0.0, 1.0, 2.0, 4.0]))
    return Problem(A - shift * np.eye(n), about=f"shifted by {shift}")


@family()
def path_with_weights(rng, n):
    """A path whose weights fall or jump over decades: localised modes."""
    decades = rng.uniform(1, 12)
    weights = 10.0 ** -np.linspace(0, decades, n - 1) if n > 1 else np.empty(0)
    if rng.random() < 0.5:
        rng.shuffle(weights)
    edges = [(i, i + 1) for i in range(n - 1)]
    return Problem(graph_laplacian(n, edges, weights), about=f"weights over {decades:.1f} decades")
