"""The types of numbers that heddle takes."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

INT32_MAX = np.iinfo(np.int32).max
EXACT = 2**53  # up to which float64 holds all integers


def scalar_of(dtype: Any, name: str) -> np.dtype:
    """The type in which numbers are taken: float32, float64, complex64 or complex128 in the byte order
    of this machine. Integers and booleans become float64. Other types are refused by name."""
    found = np.dtype(dtype)
    if found.kind in "biu":
        return np.dtype(np.float64)
    if found.kind == "f" and found.itemsize in (4, 8):
        return np.dtype(f"f{found.itemsize}")
    if found.kind == "c" and found.itemsize in (8, 16):
        return np.dtype(f"c{found.itemsize}")
    raise TypeError(
        f"{name} has the type {found}; heddle takes float32 and float64, complex64 and complex128, "
        "integers and booleans: other numbers would be changed"
    )


def computed_in(scalar: np.dtype) -> np.dtype:
    """The type of the blocks of a solve in host memory: float64, or complex128 for complex numbers."""
    return np.promote_types(scalar, np.float64)


def computed_on_device(scalar: np.dtype) -> np.dtype:
    """The type of the blocks of a solve in the memory of a GPU: float32, float64 or complex128."""
    return np.dtype(np.complex128) if scalar.kind == "c" else scalar


def real_of(scalar: np.dtype) -> np.dtype:
    """The type of the eigenvalues of a matrix of this type."""
    return np.dtype(f"f{scalar.itemsize // 2}") if scalar.kind == "c" else scalar


def check_real(dtype: Any, name: str, what: str) -> None:
    """Refuses complex numbers where heddle has real problems only. `what`: what these are, with its
    verb, such as "least squares are those of"."""
    if np.dtype(dtype).kind == "c":
        raise TypeError(f"{name} has the type {np.dtype(dtype)}; {what} real matrices only")


def check_exact(values: np.ndarray, name: str, place: Callable[[int], Any]) -> None:
    """Refuses integers beyond 2^53, which float64 would round. `place`: the index of an entry from
    its position in `values`."""
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8 or not values.size:
        return
    if int(values.max()) <= EXACT and int(values.min()) >= -EXACT:
        return
    flat = values.ravel()
    first = int(np.flatnonzero((flat > EXACT) | (flat < -EXACT))[0])
    index = ", ".join(str(int(each)) for each in np.atleast_1d(place(first)))
    raise ValueError(
        f"{name}[{index}] is {int(flat[first])}: float64 holds all integers up to 2^53 alone, so it "
        f"might be rounded; pass {name}.astype(float) to take the rounded ones"
    )


def check_exact_array(values: np.ndarray, name: str) -> None:
    """`check_exact` for an array of any shape."""
    check_exact(values, name, lambda first: np.unravel_index(first, values.shape))


def check_finite(values: np.ndarray, name: str) -> None:
    """Refuses NaN and infinity. A sum tells at once that there are none, unless it overflows."""
    with np.errstate(all="ignore"):
        if np.isfinite(values.sum()):
            return
    if not np.isfinite(values).all():
        raise ValueError(f"{name} contains NaN or infinity")


def whole_number(value: Any, name: str) -> int:
    """An integer of Python or NumPy."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}, not an integer") from None
