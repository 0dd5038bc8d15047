"""The types of numbers that heddle takes."""

from __future__ import annotations

from typing import Any

import numpy as np

INT32_MAX = np.iinfo(np.int32).max


def check_scalar(dtype: Any, name: str) -> np.dtype:
    """float32 or float64 in the byte order of this machine. Other types are refused by name."""
    found = np.dtype(dtype)
    if found.kind == "f" and found.itemsize in (4, 8):
        return np.dtype(f"f{found.itemsize}")
    hint = f"pass {name}.astype(float)" if found.kind in "biu" else "its numbers would be changed"
    raise TypeError(f"{name} has the type {found}; heddle takes float32 and float64: {hint}")


def check_finite(values: np.ndarray, name: str) -> None:
    """Refuses NaN and infinity. A sum tells at once that there are none, unless it overflows."""
    with np.errstate(all="ignore"):
        if np.isfinite(values.sum()):
            return
    if not np.isfinite(values).all():
        raise ValueError(f"{name} contains NaN or infinity")
