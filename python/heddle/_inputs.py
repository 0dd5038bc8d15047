"""What callers pass as matrices and blocks, as matrices and blocks of the library."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Union

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from . import _core
from . import _device_inputs as device
from ._device_arrays import DeviceOperand, Library, library_of
from ._messages import NEARLY_SYMMETRIC
from ._scalars import (
    INT32_MAX,
    check_exact,
    check_exact_array,
    check_finite,
    computed_in,
    scalar_of,
)


@dataclass(frozen=True)
class Operand:
    """A matrix of the library, with the scalar of the caller's matrix."""

    core: _core.Matrix | _core.ComplexMatrix
    dtype: np.dtype
    product: Callable[[np.ndarray], np.ndarray] | None = None  # of a matrix that is not stored

    @property
    def shape(self) -> tuple[int, int]:
        return self.core.shape

    @property
    def is_stored(self) -> bool:
        return self.core.is_stored

    @property
    def real_core(self) -> _core.Matrix:
        """The matrix of a call that has refused complex ones."""
        assert isinstance(self.core, _core.Matrix)
        return self.core

    def times(self, X: np.ndarray) -> np.ndarray:
        """The product with a block of doubles, real or complex."""
        if self.product is not None:
            return self.product(X)
        result: np.ndarray = entries_of(self) @ X
        return result


AnyOperand = Union[Operand, DeviceOperand]


def entries_of(operand: Operand) -> Any:
    """A stored matrix as a sparse array of SciPy on the same memory."""
    offsets, columns, values = operand.core.arrays()
    return sp.csr_array((values, columns, offsets), shape=operand.shape)


def _triangle(A: Any) -> str | None:
    """"lower" or "upper", if A has entries in this triangle alone and not on the diagonal alone."""
    lower, upper = (part.count_nonzero() for part in (sp.tril(A, -1), sp.triu(A, 1)))
    if (lower == 0) == (upper == 0):
        return None
    return "lower" if lower else "upper"


def as_complex(operand: Operand) -> Operand:
    """The same matrix as one of complex numbers."""
    if isinstance(operand.core, _core.ComplexMatrix):
        return operand
    rows, cols = operand.shape
    if operand.product is not None:
        core = _core.ComplexMatrix.from_function(rows, cols, operand.product)
    else:
        core = _core.ComplexMatrix.from_csr(rows, cols, *operand.core.arrays())
    return replace(operand, core=core)


def adjoint_of(A: Any) -> Any:
    """A^H of a sparse array, which is A^T for real numbers."""
    return A.conj(copy=False).T


def asymmetry_of(operand: Operand) -> tuple[str | None, float]:
    """The triangle of a matrix that has all of its entries, and the largest |a_ij - conj(a_ji)|
    relative to the largest entry."""
    A = entries_of(operand)
    largest = abs(A).max() if A.nnz else 0.0
    difference = abs(A - adjoint_of(A)).max() if A.nnz else 0.0
    return _triangle(A), float(difference / largest) if largest else 0.0


def symmetric(operand: AnyOperand, name: str, how: str) -> tuple[Operand, float]:
    """A symmetric or Hermitian matrix for one that is not, and the largest |a_ij - conj(a_ji)| relative
    to the largest entry. `how`: "average" for (A + A^H)/2, "triangle" for the one that the entries
    of a triangle stand for, whose asymmetry is 0."""
    if not isinstance(operand, Operand) or not operand.is_stored:
        raise ValueError(f"symmetrize={how!r}: {name} must be stored, in host memory")
    rows, cols = operand.shape
    if rows != cols:
        raise ValueError(f"symmetrize={how!r}: {name} is {rows} x {cols}, it must be square")
    found, asymmetry = asymmetry_of(operand)
    if not asymmetry:
        return operand, 0.0
    A = entries_of(operand)
    if how == "average":
        if found is not None and asymmetry > NEARLY_SYMMETRIC:
            raise ValueError(
                f"symmetrize='average' would halve the entries of {name}, which has them in its "
                f"{found} triangle alone: symmetrize='triangle' mirrors them"
            )
        return replace(csr((A / 2 + adjoint_of(A) / 2).tocsr(), name), dtype=operand.dtype), asymmetry
    if found is None:
        raise ValueError(f"symmetrize='triangle': {name} has entries in both of its triangles")
    mirrored = A + adjoint_of(sp.tril(A, -1)) + adjoint_of(sp.triu(A, 1))
    return replace(csr(mirrored.tocsr(), name), dtype=operand.dtype), 0.0


def _is_graph(A: Any) -> bool:
    networkx = sys.modules.get("networkx")
    return networkx is not None and isinstance(A, networkx.Graph)


def _graph_matrix(G: Any) -> Any:
    import networkx

    if G.number_of_nodes() == 0:
        raise ValueError("the graph has no nodes")
    if G.is_directed():
        raise ValueError("the graph is directed: pass G.to_undirected()")
    try:
        return networkx.to_scipy_sparse_array(G, dtype=np.float64, format="csr")
    except TypeError as error:
        raise TypeError(f"the graph has weights that are not real numbers ({error})") from error


def _without_torch(A: Any) -> Any:
    """A tensor of PyTorch in host memory as an array or a sparse array on the same memory. What is no
    tensor is returned."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(A, torch.Tensor):
        return A
    A = A.detach()
    if A.layout == torch.strided:
        return A.numpy()
    if A.layout != torch.sparse_csr:
        A = A.to_sparse_csr()
    parts = (A.values().numpy(), A.col_indices().numpy(), A.crow_indices().numpy())
    return sp.csr_array(parts, shape=tuple(A.shape))


def _is_table(A: Any) -> bool:
    """Whether A is a DataFrame or a Series of pandas."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(A, (pandas.DataFrame, pandas.Series))


def _in_column(j: int, i: int) -> tuple[int, int]:
    return i, j


def _without_pandas(A: Any, name: str) -> Any:
    """A DataFrame or a Series of pandas as an array, or, if it is stored sparse, as a sparse one. What
    is none is returned."""
    if not _is_table(A):
        return A
    import pandas

    columns = [A] if A.ndim == 1 else [A.iloc[:, j] for j in range(A.shape[1])]
    if A.ndim == 2 and columns and all(isinstance(c.dtype, pandas.SparseDtype) for c in columns):
        return A.sparse.to_coo()
    for j, column in enumerate(columns):
        if not pandas.api.types.is_numeric_dtype(column.dtype):
            label = name if A.ndim == 1 else f"the column {column.name!r} of {name}"
            raise TypeError(f"{label} has the type {column.dtype}; heddle takes numbers")
        if column.dtype.kind in "iu" and not column.isna().any():
            integers = column.to_numpy(dtype=np.dtype(f"{column.dtype.kind}8"))
            if A.ndim == 1:
                check_exact_array(integers, name)
            else:
                check_exact(integers, name, partial(_in_column, j))
    values = A.to_numpy()
    return values if values.dtype != object else A.to_numpy(dtype=np.float64, na_value=np.nan)


def _as_array(A: Any, name: str) -> np.ndarray:
    """An array of what is one or a nested list."""
    try:
        return np.asarray(_without_pandas(A, name))
    except ValueError as error:
        if not isinstance(A, (list, tuple)):
            raise
        raise ValueError(f"{name}: its rows are lists of different lengths") from error


def listed(X: Any, name: str) -> Any:
    """A list as an array, and anything else as it is."""
    return _as_array(X, name) if isinstance(X, (list, tuple)) else X


def _as_doubles(A: Any, name: str) -> Any:
    """A sparse matrix of integers or booleans as one of doubles. Duplicates are summed as doubles."""
    if A.dtype.kind not in "biu":
        return A
    if A.dtype.itemsize == 8:
        entries = A.tocoo()
        check_exact(entries.data, name, lambda i: (entries.row[i], entries.col[i]))
    return A.astype(np.float64)


def _check_host(A: Any, name: str) -> None:
    library = library_of(A, name)
    if library is not None:
        raise TypeError(f"{name} lies in the memory of a GPU; here it must be in host memory")


def _check_2d(A: Any, name: str) -> None:
    if len(A.shape) != 2:
        raise ValueError(f"{name} has {len(A.shape)} dimensions, a matrix has 2")


def _check_compressed(A: Any, name: str) -> None:
    """Refuses a matrix by rows or columns whose numbers SciPy would follow beyond its arrays."""
    if A.format not in ("csr", "csc"):
        return
    (lines, places), line, place = A.shape, "row", "column"
    if A.format == "csc":
        lines, places, line, place = places, lines, place, line
    offsets, entries = A.indptr, min(len(A.indices), len(A.data))
    if offsets.shape != (lines + 1,):
        raise ValueError(f"{name}: indptr has {offsets.size} numbers, {lines} {line}s take {lines + 1}")
    if offsets[0] != 0:
        raise ValueError(f"{name}: {line} offsets begin with {offsets[0]}, not 0")
    for i in np.flatnonzero(offsets[1:] < offsets[:-1])[:1]:
        raise ValueError(
            f"{name}: {line} {i} ends at offset {offsets[i + 1]}, but begins at {offsets[i]}"
        )
    if offsets[-1] > entries:
        raise ValueError(f"{name}: {line} offsets end with {offsets[-1]}, there are {entries} entries")
    indices = A.indices[: offsets[-1]]
    if indices.size and not (indices.min() >= 0 and indices.max() < places):
        k = np.flatnonzero((indices < 0) | (indices >= places))[0]
        i = np.searchsorted(offsets, k, side="right") - 1
        raise ValueError(
            f"{name}: {line} {i} has {place} {indices[k]} where 0 to {places - 1} can stand"
        )


def stored(A: Any, name: str, symmetric: bool = False) -> Any:
    """A as a sparse array of SciPy whose rows are sorted, without duplicates. Of a symmetric real A
    the columns are as good as the rows, so CSC needs no conversion. The caller's A is never changed."""
    _check_host(A, name)
    if _is_graph(A):
        return _graph_matrix(A)
    A = _without_pandas(A, name)
    if sp.issparse(A):
        _check_2d(A, name)
        _check_compressed(A, name)
        A = _as_doubles(A, name)
        as_rows = symmetric and A.dtype.kind != "c" and A.shape[0] == A.shape[1]
        if A.format == "csc" and as_rows:
            A = A.T
        elif A.format != "csr":
            A = A.tocsr()
    else:
        A = _as_array(A, name)
        _check_2d(A, name)
        scalar = scalar_of(A.dtype, name)
        check_exact_array(A, name)
        A = sp.csr_array(A.astype(scalar, copy=False))
    if not A.has_canonical_format:
        A = A.copy()
        A.sum_duplicates()
    return A


def csr(A: Any, name: str, symmetric: bool = False) -> Operand:
    """A stored matrix. Values of 64 bits and column indices of 32 bits are not copied."""
    if sp.issparse(A):
        scalar_of(A.dtype, name)  # before a conversion, which may refuse it in other words
    A = stored(A, name, symmetric)
    dtype = scalar_of(A.dtype, name)
    if max(A.shape) > INT32_MAX:
        raise ValueError(f"{name} has the shape {A.shape}; rows and columns up to 2^31 - 1 are known")
    columns = np.ascontiguousarray(A.indices, dtype=np.int32)
    offsets: Any = np.ascontiguousarray(A.indptr)  # of 32 or 64 bits, as values
    # complex64 has no matrix of its own, float32 is converted by the library.
    values: Any = np.ascontiguousarray(A.data, computed_in(dtype) if dtype.kind == "c" else dtype)
    check_finite(values, name)
    return Operand(_kind_of(dtype).from_csr(*A.shape, offsets, columns, values), dtype)


def _kind_of(scalar: np.dtype) -> Any:
    return _core.ComplexMatrix if scalar.kind == "c" else _core.Matrix


def by_parts(product: Callable[[np.ndarray], np.ndarray], X: np.ndarray) -> np.ndarray:
    """The product of a real matrix, which may know real blocks only, with a complex block."""
    both = product(np.hstack([X.real, X.imag]))
    result: np.ndarray = both[:, : X.shape[1]] + 1j * both[:, X.shape[1] :]
    return result


def _checked_product(
    product: Callable[[np.ndarray], Any], rows: int, dtype: np.dtype | None, name: str
) -> Callable[[np.ndarray], np.ndarray]:
    """`product` with a check of what it returns. `dtype`: what its matrix is declared to have."""

    def checked(X: np.ndarray) -> np.ndarray:
        if dtype is not None and X.dtype.kind == "c" and dtype.kind != "c":
            return by_parts(checked, X)
        Y = np.asarray(product(X))
        if Y.shape == (rows,) and X.shape[1] == 1:
            Y = Y[:, None]
        if Y.shape != (rows, X.shape[1]):
            raise ValueError(
                f"{name} returned the shape {Y.shape} for a block of shape {X.shape}, "
                f"not {(rows, X.shape[1])}"
            )
        scalar = scalar_of(Y.dtype, f"the result of {name}")
        if (scalar.kind == "c") != (X.dtype.kind == "c"):
            raise TypeError(
                f"the result of {name} has the type {scalar} for a block of {X.dtype}: pass "
                f"scipy.sparse.linalg.LinearOperator with the dtype of {name}"
            )
        check_exact_array(Y, f"the result of {name}")
        return Y.astype(X.dtype, copy=False)

    return checked


def function(product: Callable[[np.ndarray], Any], shape: Any, dtype: Any, name: str) -> Operand:
    """A matrix given by its product with blocks."""
    rows, cols = (int(size) for size in shape)
    declared = None if dtype is None else scalar_of(dtype, name)
    scalar = declared or np.dtype(np.float64)
    checked = _checked_product(product, rows, declared, name)
    return Operand(_kind_of(scalar).from_function(rows, cols, checked), scalar, checked)


def is_operator(A: Any) -> bool:
    """Whether A is a linear operator, with `matmat` and a shape."""
    return hasattr(A, "matmat") and hasattr(A, "shape") and not sp.issparse(A)


def matrix(
    A: Any,
    name: str,
    order: int | None = None,
    symmetric: bool = True,
    library: Library | None = None,
) -> AnyOperand:
    """What a caller may pass as a matrix: sparse or dense matrices, graphs, linear operators, and,
    where the order is known, functions of blocks. `library`: of the blocks of functions and
    operators that do not say where they work, if they work on a device."""
    if isinstance(A, (Operand, DeviceOperand)):
        return A
    if isinstance(A, (_core.Matrix, _core.ComplexMatrix)):
        return Operand(A, np.dtype(np.float64 if isinstance(A, _core.Matrix) else np.complex128))
    own = library_of(A, name)
    if own is None:
        A = _without_torch(A)
    host = _lies_on_host(A) or isinstance(A, LinearOperator)
    library = own or (None if host else library)
    if is_operator(A):
        return operator(A.matmat, A.shape, A.dtype, name, library)
    if callable(A) and not _is_graph(A):
        if order is None:
            raise TypeError(
                f"the order of the function {name} is not known: pass "
                f"scipy.sparse.linalg.LinearOperator((n, n), matvec={name}, matmat={name})"
            )
        return operator(A, (order, order), None, name, library)
    if library is not None:
        return device.operand(library, A, name, symmetric)
    if _lies_on_host(A):
        return csr(A, name, symmetric)
    raise TypeError(
        f"{name} is a {type(A).__name__}; heddle takes sparse matrices of SciPy, arrays, graphs "
        "of networkx, tables of pandas, linear operators, functions of blocks, and tensors"
    )


def _lies_on_host(A: Any) -> bool:
    return sp.issparse(A) or _is_graph(A) or is_dense(A)


def is_dense(A: Any) -> bool:
    """Whether A is an array, a nested list or a table of pandas, in host memory."""
    return _is_table(A) or isinstance(A, (np.ndarray, list, tuple))


def operator(
    product: Callable[[Any], Any], shape: Any, dtype: Any, name: str, library: Library | None
) -> AnyOperand:
    """A matrix given by its product with blocks of the library, of NumPy if that is None."""
    if library is None:
        return function(product, shape, dtype, name)
    return device.function(library, product, shape, dtype, name)


def optional_matrix(
    A: Any, name: str, order: int, library: Library | None = None
) -> AnyOperand | None:
    return None if A is None else matrix(A, name, order, library=library)


def _rows_are_contiguous(X: np.ndarray) -> bool:
    size = X.itemsize
    rows, cols = X.shape
    row_step, column_step = X.strides
    fits = rows <= 1 or (row_step % size == 0 and row_step >= cols * size)
    return fits and (cols <= 1 or column_step == size)


def block(X: Any, name: str, rows: int | None = None) -> tuple[Any, np.dtype]:
    """X as a row-major block of doubles, real or complex, and the scalar of X. A vector becomes one
    column. Doubles whose rows are contiguous are not copied. On a device the block keeps its scalar."""
    library = library_of(X, name)
    if library is not None:
        return device.block(library, X, name, rows)
    X = _without_torch(X)
    if sp.issparse(X):
        raise TypeError(f"{name} is sparse, it must be an array: pass {name}.toarray()")
    X = _as_array(X, name)
    dtype = scalar_of(X.dtype, name)
    check_exact_array(X, name)
    if X.ndim == 1:
        X = X[:, None]
    if X.ndim != 2:
        raise ValueError(f"{name} has {X.ndim} dimensions, a block has 1 or 2")
    if rows is not None and X.shape[0] != rows:
        raise ValueError(f"{name} has {X.shape[0]} rows where {rows} are needed")
    check_finite(X, name)
    if X.dtype == computed_in(dtype) and X.flags.aligned and _rows_are_contiguous(X):
        return X, dtype
    return np.array(X, dtype=computed_in(dtype), order="C"), dtype


def optional_block(X: Any, name: str, rows: int) -> Any:
    return None if X is None else block(X, name, rows)[0]
