"""What callers pass as matrices and blocks in the memory of a GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._device_arrays import DeviceOperand, Library, library_of
from ._scalars import INT32_MAX, check_exact, check_exact_array, scalar_of


def _scalar(library: Library, X: Any, name: str) -> np.dtype:
    found = library.scalar(X)
    if isinstance(found, str):
        raise TypeError(
            f"{name} has the type {found}; heddle takes float32 and float64, complex64 and complex128"
        )
    return scalar_of(found, name)


def _check_exact_entries(library: Library, A: Any, name: str) -> None:
    """`check_exact` for a sparse matrix, whose entries are copied to the host."""
    entries = library.entries(A, False)
    offsets, columns, values = (
        library.host(part) for part in (entries.offsets, entries.columns, entries.values)
    )
    check_exact(
        values, name, lambda i: (np.searchsorted(offsets, i, side="right") - 1, columns[i])
    )


def _as_floats(library: Library, X: Any, name: str) -> Any:
    """X, in float64 if it has integers or booleans. Those of 64 bits are checked on the host."""
    found = library.scalar(X)
    if isinstance(found, str) or found.kind not in "biu":
        return X
    with library.current():
        if found.itemsize == 8:
            if library.is_dense(X):
                check_exact_array(library.host(X), name)
            else:
                _check_exact_entries(library, X, name)
        return library.cast(X, np.float64)


def _check_lies(library: Library, X: Any, name: str) -> None:
    """Checks that X is an array of this library on this device."""
    found = library_of(X, name)
    if found is None:
        raise TypeError(f"{name} lies in host memory, other parts in that of GPU {library.gpu}")
    check_same(library, found, name)


def check_same(library: Library, found: Library, name: str) -> None:
    if found.name != library.name:
        raise TypeError(f"{name} is of {found.name}, other parts are of {library.name}: convert one")
    if found.gpu != library.gpu:
        raise TypeError(f"{name} lies on GPU {found.gpu}, other parts on GPU {library.gpu}")


def operand(library: Library, A: Any, name: str, symmetric: bool) -> DeviceOperand:
    """A stored matrix. Values, offsets of 64 bits and columns of 32 bits are not copied."""
    if len(A.shape) != 2:
        raise ValueError(f"{name} has {len(A.shape)} dimensions, a matrix has 2")
    if max(A.shape) > INT32_MAX:
        raise ValueError(f"{name} has the shape {A.shape}; rows and columns up to 2^31 - 1 are known")
    dtype = _scalar(library, A, name)
    rows, cols = (int(size) for size in A.shape)
    A = _as_floats(library, A, name)
    with library.current():
        return DeviceOperand(library, (rows, cols), dtype, library.entries(A, symmetric))


def function(
    library: Library, product: Callable[[Any], Any], shape: Any, dtype: Any, name: str
) -> DeviceOperand:
    """A matrix given by its product with blocks on the device."""
    rows, cols = (int(size) for size in shape)

    def checked(X: Any) -> Any:
        Y = product(X)
        _check_lies(library, Y, f"the result of {name}")
        if not library.is_dense(Y):
            raise TypeError(f"the result of {name} is sparse, it must be an array")
        if tuple(Y.shape) == (rows,) and X.shape[1] == 1:
            Y = Y.reshape(rows, 1)
        if tuple(Y.shape) != (rows, X.shape[1]):
            raise ValueError(
                f"{name} returned the shape {tuple(Y.shape)} for a block of shape "
                f"{tuple(X.shape)}, not {(rows, X.shape[1])}"
            )
        found, given = _scalar(library, Y, f"the result of {name}"), library.scalar(X)
        if (found.kind == "c") != (np.dtype(given).kind == "c"):
            raise TypeError(
                f"the result of {name} has the type {found} for a block of {given}: a function must "
                "return complex numbers for complex ones only"
            )
        return library.cast(_as_floats(library, Y, f"the result of {name}"), library.scalar(X))

    scalar = np.dtype(np.float64) if dtype is None else scalar_of(dtype, name)
    return DeviceOperand(library, (rows, cols), scalar, product=checked)


def block(library: Library, X: Any, name: str, rows: int | None) -> tuple[Any, np.dtype]:
    """X as a row-major block, and its scalar. A vector becomes one column. Contiguous rows are not
    copied."""
    if not library.is_dense(X):
        raise TypeError(f"{name} is sparse, it must be an array")
    dtype = _scalar(library, X, name)
    X = _as_floats(library, X, name)
    if len(X.shape) == 1:
        X = X[:, None]
    if len(X.shape) != 2:
        raise ValueError(f"{name} has {len(X.shape)} dimensions, a block has 1 or 2")
    if rows is not None and X.shape[0] != rows:
        raise ValueError(f"{name} has {X.shape[0]} rows where {rows} are needed")
    with library.current():
        X = library.cast(X, dtype)
        return (X if library.block(X) is not None else library.copy(X)), dtype
