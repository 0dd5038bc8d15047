"""The matrices of a problem as SciPy sees them: read and transformed without heddle, so that what
is computed with them is independent of it. Needs NumPy and SciPy alone."""

from __future__ import annotations

import gzip
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp


@dataclass
class Operands:
    """A x = lambda B x with symmetric A, CSR. B is None for the identity."""

    A: Any
    B: Any = None

    @property
    def n(self) -> int:
        return int(self.A.shape[0])


def load(problem: dict[str, Any]) -> Operands:
    """The operands of the map `problem` of a configuration. Raises ValueError, OSError."""
    if problem.get("constraints"):
        raise ValueError("problem.constraints: only heddle's own solvers take constraints")
    A = read(problem["matrix"])
    transform = problem.get("transform", "none")
    if transform == "normal_equations":
        return Operands(sp.csr_matrix(A.T @ A))
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"the matrix is not square: {A.shape[0]} x {A.shape[1]}")
    averages = problem.get("symmetrize") == "average"
    if averages:
        A = sp.csr_matrix(A / 2 + A.T / 2)
    if transform in ("laplacian", "normalized_laplacian"):
        A = laplacian(
            A,
            unit=problem.get("weights") == "unit",
            symmetrize=bool(problem.get("symmetrize")),
            normalized=transform == "normalized_laplacian",
        )
    largest = abs(A).max() if A.nnz else 0.0
    if A.nnz and abs(A - A.T).max() > 1e-12 * largest:
        raise ValueError("the matrix is not symmetric")
    mass = problem.get("mass")
    if mass is None:
        return Operands(A, None)
    B = read(mass)
    return Operands(A, sp.csr_matrix(B / 2 + B.T / 2) if averages else B)


def read(matrix: Any) -> Any:
    """A CSR matrix in double precision, from a file or the map of a generated matrix."""
    if isinstance(matrix, dict):
        from heddle import generate

        options = {key: matrix[key] for key in ("density", "seed") if key in matrix}
        made = sp.csr_matrix(generate(matrix["generate"], *matrix["size"], **options))
        if np.iscomplexobj(made.data):
            raise ValueError(f"{matrix['generate']}: its numbers are complex")
        return made
    path = Path(matrix)
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else None
    name = path.name.removesuffix(".gz")
    source: Any = io.BytesIO(raw) if raw is not None else str(path)
    if name.endswith(".mtx"):
        found = scipy.io.mmread(source)
    elif name.endswith(".npz"):
        found = sp.load_npz(source)
    elif name.endswith(".npy"):
        found = np.load(source)
    else:
        found = _edges(source)
    found = sp.csr_matrix(found)
    if np.iscomplexobj(found.data):
        raise ValueError(f"{path}: its numbers are complex")
    found = found.astype(np.float64)
    found.sum_duplicates()
    return found


def _edges(source: Any) -> Any:
    """The adjacency matrix of a list of edges: `i j` or `i j w` per line."""
    rows = np.loadtxt(source, comments=("#", "%"), ndmin=2)
    _, numbers = np.unique(rows[:, :2].astype(np.int64), return_inverse=True)
    ends = numbers.reshape(-1, 2)
    n = int(ends.max()) + 1
    weights = rows[:, 2] if rows.shape[1] > 2 else np.ones(len(rows))
    return sp.coo_matrix((weights, (ends[:, 0], ends[:, 1])), shape=(n, n))


def laplacian(A: Any, unit: bool, symmetrize: bool, normalized: bool) -> Any:
    """D - W, or I - D^(-1/2) W D^(-1/2) with zero rows for isolated vertices. W: A without its
    diagonal; `unit`: each entry that is not zero is 1; `symmetrize`: the larger one of both
    directions."""
    W = sp.csr_matrix(A, copy=True)
    W.setdiag(0)
    W.eliminate_zeros()
    if unit:
        W.data = np.ones_like(W.data)
    if symmetrize:
        W = sp.csr_matrix(W.maximum(W.T))
    degrees = np.asarray(W.sum(axis=1)).ravel()
    if not normalized:
        return sp.csr_matrix(sp.diags(degrees) - W)
    roots = np.zeros(len(degrees))
    roots[degrees > 0] = 1 / np.sqrt(degrees[degrees > 0])
    return sp.csr_matrix(
        sp.diags((degrees > 0).astype(float)) - sp.diags(roots) @ W @ sp.diags(roots)
    )


def norm_1(A: Any) -> float:
    """The largest sum of the sizes of a column."""
    return float(abs(A).sum(axis=0).max()) if A is not None and A.nnz else 0.0
