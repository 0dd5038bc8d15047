"""Eigenvectors of the Laplacians of graphs."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from scipy.sparse.csgraph import connected_components

from . import _core
from ._inputs import Operand, asymmetry_of, csr, entries_of, stored, symmetric
from ._messages import entries_in, way_to_symmetry
from ._pencil import NAMES, Pencil
from ._scalars import check_real
from ._solve import Options, Prepared, judge, with_stats

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._solve import Extras, PlainExtras


# What messages of the library name, which has files to read a graph from.
_UNIT = "weights: unit gives every edge the weight 1"
_LARGER = ". symmetrize: true gives both directions the larger of the two weights"


def _adjacency(graph: Any) -> Any:
    """The adjacency matrix without stored zeros, which are no edges."""
    adjacency = stored(graph, "graph")
    check_real(adjacency.dtype, "graph", "Laplacians are those of")
    if adjacency.shape[0] != adjacency.shape[1]:
        raise ValueError(f"the adjacency matrix of a graph is square, not {adjacency.shape}")
    if not np.all(adjacency.data):
        adjacency = adjacency.copy()
        adjacency.eliminate_zeros()
    return adjacency


def _null_vectors(labels: np.ndarray, sizes: np.ndarray, count: int) -> np.ndarray:
    """Orthonormal vectors that the Laplacian of a graph of more than `count` components maps to 0, all
    orthogonal to the one with the entries `sizes`. `labels`: the component of each vertex."""
    weights = np.sqrt(np.bincount(labels, sizes**2))  # norms of the vectors of the components
    first = weights / np.linalg.norm(weights)
    # The reflection that maps the first unit vector to -`first`. Its other columns are orthogonal.
    mirror = first.copy()
    mirror[0] += 1
    columns = np.eye(len(first), count, k=-1)
    columns -= np.outer(mirror, mirror[1 : count + 1]) / mirror[0]
    return columns[labels] * (sizes / weights[labels])[:, None]


def _laplacian(graph: Operand, normalized: bool) -> _core.Matrix:
    """The Laplacian of an adjacency matrix. Errors have the words of Python."""
    try:
        return graph.real_core.laplacian(normalized)
    except ValueError as error:
        text = entries_in("graph", str(error))
        text = text.replace(_UNIT, "(graph != 0).astype(float) gives every edge the weight 1")
        if _LARGER in text:
            triangle, _ = asymmetry_of(graph)
            way_out = "; graph.maximum(graph.T) gives both directions the larger weight"
            if triangle is not None:
                way_out = way_to_symmetry(triangle, 1)
            text = text.replace(_LARGER, "") + way_out
        raise ValueError(text) from None


def _smallest(graph: Any, k: int, normalized: bool, extras: dict[str, Any], name: str) -> Any:
    """k pairs of the Laplacian beside that of the eigenvalue 0 of a connected graph, the sizes of the
    entries of this one's vector, and the options. `name`: of the argument k."""
    adjacency = _adjacency(graph)
    order = adjacency.shape[0]
    if order == 1:
        raise ValueError("the graph has 1 vertex, so its Laplacian has no eigenvector but the first")
    if not 1 <= k < order:
        raise ValueError(
            f"{name} is {k}; of a graph with {order} vertices 1 to {order - 1} eigenvectors beside "
            "the first can be found"
        )
    names = {**NAMES, "nev": name}
    options = Options(extras, "raise", names, nev=k + 1, tolerance=1e-8)
    operand, asymmetry = csr(adjacency, "graph"), 0.0
    if options.symmetrize is not None:
        operand, asymmetry = symmetric(operand, "graph", options.symmetrize)
        adjacency, options.symmetrize = entries_of(operand), None
    laplacian = _laplacian(operand, normalized)
    components, labels = connected_components(adjacency, directed=False)
    sizes = np.ones(order)
    if normalized:
        degrees = np.asarray(adjacency.sum(axis=0)).ravel() - adjacency.diagonal()
        sizes = np.sqrt(np.where(degrees == 0, 1, degrees))
    problem = Prepared(
        A=Operand(laplacian, np.dtype(np.float64)), null_vector_sizes=sizes if normalized else None
    )
    result = Pencil(problem, options, k + 1).end("smallest")
    result.asymmetry = asymmetry
    judge(result, options)
    if components > 1:
        zeros = min(components, k + 1, result.vectors.shape[1])
        result.vectors[:, 1:zeros] = _null_vectors(labels, sizes, zeros - 1)
        result.eigenvalues[:zeros] = 0
        warnings.warn(
            f"the graph has {components} components, so its eigenvalue 0 has as many copies: the "
            f"first {components - 1} of the vectors tell the components apart, and nothing else",
            stacklevel=3,
        )
    return result.select(np.arange(1, len(result.eigenvalues))), sizes, options


@overload
def fiedler(
    graph: Any,
    k: int = ...,
    *,
    normalized: bool = ...,
    **extras: Unpack[PlainExtras],
) -> tuple[np.ndarray, np.ndarray]: ...


@overload
def fiedler(
    graph: Any,
    k: int = ...,
    *,
    normalized: bool = ...,
    **extras: Unpack[Extras],
) -> Any: ...


def fiedler(
    graph: Any, k: int = 1, *, normalized: bool = False, **extras: Unpack[Extras]
) -> Any:
    """The k smallest eigenvalues of a graph's Laplacian beside the first, which is 0, and their
    eigenvectors: for k = 1 the algebraic connectivity and the Fiedler vector.

    Parameters
    ----------
    graph : graph of networkx, or symmetric matrix
        Edges with weights, or the adjacency matrix. Weights must not be negative.
    k : int
        The number of pairs, below that of the vertices.
    normalized : bool
        The Laplacian I - D^(-1/2) W D^(-1/2) in place of D - W.
    **extras : Extras
        Keyword arguments of all functions that solve: see `Extras`.

    Returns
    -------
    w : ndarray, shape (k,)
        The values, ascending.
    v : ndarray, shape (n, k)
        The vectors as columns, orthonormal.
    result : Result
        For return_stats=True: all that is known of the solve.

    Raises
    ------
    NotConverged
        If the solve does not converge. Its `result` has what was found.
    ValueError, TypeError
        If an argument cannot be taken. Its name comes first.
    DeviceError, OutOfMemory
        If the device cannot be used, or memory does not suffice.

    Warns
    -----
    UserWarning
        If the graph has c > 1 components. The first c - 1 values are then 0, and their vectors, which
        are constant within each component up to D^(1/2), tell components apart.

    Examples
    --------
    >>> import networkx, heddle
    >>> w, v = heddle.fiedler(networkx.path_graph(40))
    >>> print(w.round(6))
    [0.006165]
    """
    result, _, options = _smallest(graph, k, normalized, dict(extras), "k")
    return with_stats((result.eigenvalues, result.vectors), result, options)


@overload
def spectral_embedding(
    graph: Any,
    n_components: int = ...,
    *,
    normalized: bool = ...,
    **extras: Unpack[PlainExtras],
) -> np.ndarray: ...


@overload
def spectral_embedding(
    graph: Any,
    n_components: int = ...,
    *,
    normalized: bool = ...,
    **extras: Unpack[Extras],
) -> Any: ...


def spectral_embedding(
    graph: Any, n_components: int = 8, *, normalized: bool = True, **extras: Unpack[Extras]
) -> Any:
    """Coordinates of the vertices of a graph: eigenvectors of its Laplacian beside the first, divided by
    the square roots of the degrees where it is normalized.

    Source: Belkin & Niyogi, Neural Computation 15 (2003) 1373.

    Parameters
    ----------
    graph : graph of networkx, or symmetric matrix
        As for `fiedler`.
    n_components : int
        The number of coordinates, below that of the vertices.
    normalized : bool
        As for `fiedler`.
    **extras : Extras
        Keyword arguments of all functions that solve: see `Extras`.

    Returns
    -------
    coordinates : ndarray, shape (n, n_components)
        In each column the entry of the largest size is positive.
    result : Result
        For return_stats=True: all that is known of the solve.

    Raises
    ------
    NotConverged
        If the solve does not converge. Its `result` has what was found.
    ValueError, TypeError
        If an argument cannot be taken. Its name comes first.
    DeviceError, OutOfMemory
        If the device cannot be used, or memory does not suffice.

    Warns
    -----
    UserWarning
        If the graph has several components: see `fiedler`. The first coordinates are then equal within
        each component.

    Examples
    --------
    >>> import networkx, heddle
    >>> graph = networkx.barbell_graph(5, 0)
    >>> x = heddle.spectral_embedding(graph, 1)[:, 0]
    >>> len(set(x[:5] > 0)), len(set(x[5:] > 0)), bool(x[0] * x[9] < 0)
    (1, 1, True)
    """
    name = "n_components"
    result, sizes, options = _smallest(graph, n_components, normalized, dict(extras), name)
    embedding = result.vectors / sizes[:, None]
    largest = np.abs(embedding).argmax(axis=0)
    embedding *= np.sign(embedding[largest, np.arange(embedding.shape[1])])
    return with_stats((embedding,), result, options)
