"""Eigenvectors of the Laplacians of graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse.csgraph import connected_components

from ._inputs import Operand, csr, stored
from ._pencil import Pencil
from ._solve import Options, Prepared, judge, with_stats

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._solve import Extras


def _adjacency(graph: Any) -> Any:
    """The adjacency matrix without stored zeros, which are no edges."""
    adjacency = stored(graph, "graph")
    if adjacency.shape[0] != adjacency.shape[1]:
        raise ValueError(f"the adjacency matrix of a graph is square, not {adjacency.shape}")
    if not np.all(adjacency.data):
        adjacency = adjacency.copy()
        adjacency.eliminate_zeros()
    return adjacency


def _smallest(graph: Any, k: int, normalized: bool, extras: dict[str, Any]) -> Any:
    """k pairs of the Laplacian beside that of a connected graph's eigenvalue 0, the degrees of the
    vertices, and the options."""
    adjacency = _adjacency(graph)
    order = adjacency.shape[0]
    if order == 1:
        raise ValueError("the graph has 1 vertex, so its Laplacian has no eigenvector but the first")
    if not 1 <= k < order:
        raise ValueError(
            f"{k} eigenvectors beside the first are wanted; of a graph with {order} vertices "
            f"1 to {order - 1} can be found"
        )
    components = connected_components(adjacency, directed=False)[0]
    if components > 1:
        raise ValueError(
            f"the graph has {components} components, so the eigenvalue 0 has as many copies: "
            "take one component"
        )
    laplacian = csr(adjacency, "graph").core.laplacian(normalized)
    degrees = np.asarray(adjacency.sum(axis=0)).ravel() - adjacency.diagonal()
    problem = Prepared(
        A=Operand(laplacian, np.dtype(np.float64)),
        null_vector_sizes=np.sqrt(degrees) if normalized else None,
    )
    options = Options(extras, "raise", nev=k + 1, tolerance=1e-8)
    result = judge(Pencil(problem, options, k + 1).end("smallest"), options)
    return result.select(np.arange(1, k + 1)), degrees, options


def fiedler(
    graph: Any, k: int = 1, *, normalized: bool = False, **extras: Unpack[Extras]
) -> tuple[np.ndarray, np.ndarray]:
    """The k smallest eigenvalues of a connected graph's Laplacian beside 0, and their eigenvectors:
    for k = 1 the algebraic connectivity and the Fiedler vector.

    graph: a graph of networkx, or a symmetric adjacency matrix with weights that are not negative.
    normalized: the Laplacian I - D^(-1/2) W D^(-1/2) in place of D - W. `extras`: see `Extras`.
    Returns (w, v), ascending. Raises ValueError for a graph of several components.
    """
    result, _, options = _smallest(graph, k, normalized, dict(extras))
    return with_stats((result.eigenvalues, result.vectors), result, options)


def spectral_embedding(
    graph: Any, n_components: int = 8, *, normalized: bool = True, **extras: Unpack[Extras]
) -> np.ndarray:
    """Coordinates of the vertices of a connected graph, n x n_components: eigenvectors of its
    Laplacian beside the first, divided by the square roots of the degrees where it is normalized.
    In each column the entry of the largest size is positive.

    graph: as for `fiedler`. Source: Belkin & Niyogi, Neural Computation 15 (2003) 1373.
    """
    result, degrees, options = _smallest(graph, n_components, normalized, dict(extras))
    embedding = np.array(result.vectors)
    if normalized:
        embedding /= np.sqrt(degrees)[:, None]
    largest = np.abs(embedding).argmax(axis=0)
    embedding *= np.sign(embedding[largest, np.arange(n_components)])
    return with_stats((embedding,), result, options)
