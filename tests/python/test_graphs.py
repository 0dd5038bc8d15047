"""Graphs, spectral densities."""

import itertools
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import path_eigenvalues, path_laplacian

import heddle

networkx = pytest.importorskip("networkx")


@pytest.mark.parametrize("normalized", [False, True])
def test_fiedler_against_dense_laplacians(normalized):
    G = networkx.random_geometric_graph(80, 0.3, seed=4)
    assert networkx.is_connected(G)
    for i, (a, b) in enumerate(G.edges):
        G.edges[a, b]["weight"] = 1 + i % 3
    make = networkx.normalized_laplacian_matrix if normalized else networkx.laplacian_matrix
    truth, vectors = np.linalg.eigh(make(G).toarray())
    w, v = heddle.fiedler(G, 3, normalized=normalized)
    np.testing.assert_allclose(w, truth[1:4], rtol=1e-8)
    np.testing.assert_allclose(abs(v[:, 0] @ vectors[:, 1]), 1, rtol=1e-8)
    matrix = networkx.to_scipy_sparse_array(G, dtype=float)
    again, _, result = heddle.fiedler(matrix, normalized=normalized, return_stats=True)
    assert result.null_vectors == 1
    np.testing.assert_allclose(again, truth[1:2], rtol=1e-8)
    assert result.converged


def test_fiedler_vector_of_a_path_is_monotonous():
    w, v = heddle.fiedler(networkx.path_graph(40))
    np.testing.assert_allclose(w, [2 - 2 * np.cos(np.pi / 40)], rtol=1e-8)
    assert np.all(np.diff(v[:, 0]) > 0) or np.all(np.diff(v[:, 0]) < 0)


def test_spectral_embedding_separates_clusters():
    G = networkx.random_partition_graph([40, 40, 40], 0.5, 0.02, seed=1)
    coordinates = heddle.spectral_embedding(G, 2)
    assert coordinates.shape == (120, 2)
    centres = coordinates.reshape(3, 40, 2).mean(axis=1)
    distance = np.linalg.norm(coordinates[:, None] - centres, axis=2)
    assert (distance.argmin(axis=1) == np.repeat([0, 1, 2], 40)).all()
    largest = abs(coordinates).argmax(axis=0)
    assert (coordinates[largest, [0, 1]] > 0).all()
    D = np.array([degree for _, degree in G.degree])
    L = networkx.normalized_laplacian_matrix(G)
    raw = coordinates * np.sqrt(D)[:, None]
    np.testing.assert_allclose(raw.T @ raw, np.eye(2), atol=1e-8)
    values = np.diag(raw.T @ (L @ raw))
    np.testing.assert_allclose(L @ raw, raw * values, atol=1e-6)


def test_all_pairs_of_small_graphs():
    w, v = heddle.fiedler(networkx.path_graph(2))
    np.testing.assert_allclose(w, [2], rtol=1e-12)
    np.testing.assert_allclose(abs(v), np.full((2, 1), np.sqrt(0.5)), rtol=1e-12)
    w, v = heddle.fiedler(networkx.complete_graph(4), 3)
    np.testing.assert_allclose(w, [4, 4, 4], rtol=1e-12)
    basis = np.c_[v, np.full(4, 0.5)]
    np.testing.assert_allclose(basis.T @ basis, np.eye(4), atol=1e-12)
    with pytest.raises(ValueError, match="^k is 4; of a graph with 4 vertices 1 to 3 eigenvectors"):
        heddle.fiedler(networkx.complete_graph(4), 4)


def test_stored_zeros_are_no_edges():
    A = networkx.to_scipy_sparse_array(networkx.path_graph(6), dtype=float, format="csr")
    A[2, 3] = A[3, 2] = 0
    assert A.nnz == 10
    with pytest.warns(UserWarning, match="2 components"):
        heddle.fiedler(A)
    assert A.nnz == 10


@pytest.mark.parametrize("form", [sp.csr_array, sp.csr_array.toarray, lambda A: A.toarray().tolist()])
def test_integer_weights(form):
    A = networkx.to_scipy_sparse_array(networkx.path_graph(6), dtype=int, format="csr")
    np.testing.assert_allclose(heddle.fiedler(form(A))[0], [2 - np.sqrt(3)], rtol=1e-9)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (networkx.Graph(), "no nodes"),
        (networkx.path_graph(1), "has 1 vertex"),
        (networkx.DiGraph([(0, 1), (1, 2)]), "directed"),
        (sp.csr_array(np.array([[0.0, -1, 1], [-1, 0, 1], [1, 1, 0]])), "negative"),
        (sp.csr_array(np.array([[0.0, 1, 1], [2, 0, 1], [1, 1, 0]])), "directed|symmetric|weights"),
        (sp.csr_array((3, 4)), "square"),
    ],
)
def test_bad_graphs(graph, message):
    with pytest.raises(ValueError, match=message):
        heddle.fiedler(graph)


def of_components(*sizes):
    """A graph of components of these sizes, connected at random, whose vertices are mixed."""
    parts = []
    for i, size in enumerate(sizes):
        part = networkx.path_graph(size)
        part.add_edges_from(networkx.gnp_random_graph(size, min(1, 4 / size), seed=i).edges)
        parts.append(part)
    G = networkx.disjoint_union_all(parts)
    order = np.random.default_rng(7).permutation(len(G))
    A = networkx.to_scipy_sparse_array(G, dtype=float, format="csr")[order][:, order]
    labels = np.repeat(np.arange(len(sizes)), sizes)[order]
    return A, labels


def dense_laplacian(A, normalized):
    """That of scikit-learn: rows of vertices without edges are 0."""
    return sp.csgraph.laplacian(A, normed=normalized).toarray()


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("sizes", [(30, 20), (5, 40, 1, 17), (1, 1, 1, 9), (1, 1, 1), (300, 500, 1)])
def test_graphs_of_several_components(sizes, normalized):
    A, labels = of_components(*sizes)
    n, c = len(labels), len(sizes)
    L = dense_laplacian(A, normalized)
    truth = np.linalg.eigvalsh(L)
    degrees = A.sum(axis=0)
    first = np.sqrt(np.where(degrees == 0, 1, degrees)) if normalized else np.ones(n)
    for k in sorted({1, c - 1, min(c, n - 1), min(c + 3, n - 1)}):
        with pytest.warns(UserWarning, match=f"the graph has {c} components.*first {c - 1} of") as told:
            w, v = heddle.fiedler(A, k, normalized=normalized)
        assert len(told) == 1 and told[0].filename == __file__
        np.testing.assert_allclose(w, truth[1 : k + 1], rtol=1e-8, atol=1e-12)
        assert not w[: c - 1].any()
        np.testing.assert_allclose(v.T @ v, np.eye(k), atol=1e-8)
        np.testing.assert_allclose(L @ v, v * w, atol=1e-7 * max(1, truth[-1]))
        np.testing.assert_allclose(v.T @ first, 0, atol=1e-7 * np.linalg.norm(first))


@pytest.mark.parametrize("normalized", [False, True])
def test_embeddings_of_several_components(normalized):
    """The first coordinates are equal within each component, and tell components apart."""
    A, labels = of_components(5, 40, 1, 17)
    with pytest.warns(UserWarning, match="4 components") as told:
        coordinates = heddle.spectral_embedding(A, 5, normalized=normalized)
    assert told[0].filename == __file__
    assert coordinates.shape == (63, 5) and np.isfinite(coordinates).all()
    centres = np.array([coordinates[labels == label, :3].mean(axis=0) for label in range(4)])
    np.testing.assert_allclose(coordinates[:, :3], centres[labels], atol=1e-12)
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(centres, 2)) > 1e-2
    largest = abs(coordinates).argmax(axis=0)
    assert (coordinates[largest, range(5)] > 0).all()


@pytest.mark.parametrize("normalized", [False, True])
def test_embeddings_span_those_of_scikit_learn(normalized):
    manifold = pytest.importorskip("sklearn.manifold")
    A, labels = of_components(60, 40)
    with pytest.warns(UserWarning):
        ours = heddle.spectral_embedding(A, 3, normalized=normalized)
    with pytest.warns(UserWarning, match="not fully connected"):
        theirs = manifold.spectral_embedding(
            A.toarray(), n_components=4, norm_laplacian=normalized, drop_first=False
        )
    ours = np.c_[np.ones(len(labels)), ours]
    missed = ours - theirs @ np.linalg.lstsq(theirs, ours, rcond=None)[0]
    assert abs(missed).max() < 1e-5 * abs(ours).max()


def test_connected_graphs_give_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        heddle.fiedler(networkx.path_graph(9), 2)


def test_numbers_of_vectors_have_the_callers_names():
    with pytest.raises(ValueError, match="^n_components is 9; of a graph with 9 vertices 1 to 8"):
        heddle.spectral_embedding(networkx.path_graph(9), 9)
    with pytest.raises(ValueError, match="^k is 0; "):
        heddle.fiedler(networkx.path_graph(9), 0)


def test_messages_of_graphs_name_entries_and_the_way_out():
    ring = networkx.to_numpy_array(networkx.cycle_graph(5))
    weighted = ring.copy()
    weighted[2, 3] = 7
    message = r"graph\[2, 3\] is 7, graph\[3, 2\] is 1; .*; graph.maximum\(graph.T\) gives"
    with pytest.raises(ValueError, match=message):
        heddle.fiedler(weighted)
    heddle.fiedler(np.maximum(weighted, weighted.T))
    with pytest.raises(ValueError, match="upper triangle: .* symmetrize='triangle' mirrors"):
        heddle.spectral_embedding(np.triu(ring), 1)
    truth = heddle.fiedler(ring, 2)[0]
    np.testing.assert_allclose(heddle.fiedler(np.triu(ring), 2, symmetrize="triangle")[0], truth)
    halved = ring.copy()
    halved[2, 3], halved[3, 2] = 0.5, 1.5
    w, _, result = heddle.fiedler(halved, 2, symmetrize="average", return_stats=True)
    np.testing.assert_allclose(w, truth)
    np.testing.assert_allclose(result.asymmetry, 1 / 1.5)
    with pytest.raises(ValueError, match=r"graph\[0, 1\] is -1; \(graph != 0\).astype\(float\) gives"):
        heddle.fiedler(-ring)


def test_density_counts_eigenvalues():
    A, truth = path_laplacian(1500), path_eigenvalues(1500)
    density = heddle.spectral_density(A, threads=2)
    lower, upper = density.bounds
    assert lower <= truth[0] and truth[-1] <= upper and upper - lower < 1.1 * 4
    count, deviation = density.count(1, 2)
    assert abs(count - ((truth >= 1) & (truth <= 2)).sum()) < 5 * deviation + 10
    counts, edges = density.histogram(20)
    assert len(edges) == 21 and edges[0] == lower and edges[-1] == upper
    np.testing.assert_allclose(counts.sum(), 1500, rtol=1e-6)
    again = heddle.spectral_density(A, threads=1).histogram(20)[0]
    np.testing.assert_array_equal(counts, again)
    assert "1500 eigenvalues" in repr(density) and density.order == 1500
    other = heddle.spectral_density(A, seed=1, vectors=8, resolution=0.1, max_degree=500)
    assert other.resolution > density.resolution


def test_density_of_operators_and_bad_matrices():
    import scipy.sparse.linalg as sla

    A = path_laplacian(300)
    stored = heddle.spectral_density(A).count(0, 1)
    np.testing.assert_allclose(heddle.spectral_density(sla.aslinearoperator(A)).count(0, 1), stored)
    with pytest.raises(ValueError, match="^A: "):
        heddle.spectral_density(np.triu(np.ones((4, 4))))
    with pytest.raises(ValueError, match="resolution"):
        heddle.spectral_density(A, resolution=-1)
