"""The pairs that `which` of SciPy means where A - sigma M is inverted."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ._pencil import Pencil
from ._result import Result, joined


@dataclass(frozen=True)
class Transform:
    """w' = offset + slope / (x - shift) of the values x of a pencil. `reciprocal`: whether the
    caller's values are 1/x, those of M x = A/w x."""

    shift: float
    offset: float
    slope: float
    reciprocal: bool = False

    def __call__(self, x: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            transformed: np.ndarray = self.offset + self.slope / (x - self.shift)
        return transformed


def transform_of(mode: str, sigma: float) -> Transform:
    """w' = 1/(w - sigma), w/(w - sigma) or (w + sigma)/(w - sigma)."""
    if mode == "buckling":
        return Transform(1 / sigma, 0, -1 / sigma, reciprocal=True)
    return Transform(sigma, 1, 2 * sigma) if mode == "cayley" else Transform(sigma, 0, 1)


def with_reciprocal_values(result: Result) -> Result:
    """The pairs of A x = w M x from those of M x = x/w A x."""
    size = np.abs(result.eigenvalues)
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = result.error_bounds / (size * (size - result.error_bounds))
        return replace(
            result,
            eigenvalues=1 / result.eigenvalues,
            error_bounds=np.where(result.error_bounds < size, errors, np.inf),
            frequencies=np.empty(0),
        )


class Shifted:
    """The k pairs of a pencil that `which` means, with the signs and sizes of w'."""

    def __init__(self, pencil: Pencil, transform: Transform):
        self._pencil = pencil
        self._transform = transform

    def find(self, which: str) -> Result:
        result = self._found(which)
        return with_reciprocal_values(result) if self._transform.reciprocal else result

    def _found(self, which: str) -> Result:
        pencil, k = self._pencil, self._pencil.k
        if which == "LM" and self._transform.offset == 0:
            return pencil.nearest(self._transform.shift)
        if pencil.order <= 2 * k and which in ("LM", "SM"):  # candidates would be found twice
            return self._ranked(pencil.everything(), which)
        if which == "LA":
            return self._outer(True, k)
        if which == "SA":
            return self._outer(False, k)
        if which == "BE":
            return self._both(k // 2, k - k // 2)
        if which == "LM":
            return self._ranked(self._both(k, k), which)
        return self._ranked(self._inner(), which)

    def _ranked(self, result: Result, which: str) -> Result:
        """The k pairs with the largest or smallest |w'| among all that matter."""
        if (last := self._pencil.last(result)) is not None:
            return last
        transformed = self._transform(result.eigenvalues)
        sizes = np.abs(transformed) * (-1 if which == "LM" else 1)
        return result.select(np.argsort(sizes, kind="stable")[: self._pencil.k])

    def _both(self, lower: int, upper: int) -> Result:
        """As many pairs with the smallest and the largest w'."""
        first = self._outer(True, upper)
        if lower == 0 or self._pencil.last(first) is not None:
            return first
        return joined(first, self._outer(False, lower))

    def _outer(self, largest: bool, count: int) -> Result:
        """The pairs with the largest or smallest w', those next to the shift on one of its sides
        first. Where these are too few, the far end of the spectrum is next, as w' is the same at
        both infinities."""
        upwards = largest == (self._transform.slope > 0)
        return self._run(self._transform.shift, upwards, count)

    def _run(self, start: float, upwards: bool, count: int) -> Result:
        pencil = replace(self._pencil, k=count)
        first = pencil.nearest(start, "above" if upwards else "below")
        missing = count - len(first.eigenvalues)
        if missing == 0 or not first.converged or pencil.last(first) is not None:
            return first
        second = pencil.end("smallest" if upwards else "largest", missing)
        values, shift = second.eigenvalues, self._transform.shift
        beyond = values < min(start, shift) if upwards else values > max(start, shift)
        return joined(first, second.select(np.flatnonzero(beyond)))

    def _inner(self) -> Result:
        """Pairs among which those with the smallest |w'| are."""
        pencil, transform = self._pencil, self._transform
        if transform.offset == 0:  # w' = 0 at both infinities
            return pencil.with_other_end(pencil.end("largest"), "smallest", pencil.k)
        zero = transform.shift - transform.slope / transform.offset
        towards = self._pencil.nearest(zero, "above" if zero < transform.shift else "below")
        if pencil.last(towards) is not None:
            return towards
        return joined(towards, self._run(zero, zero > transform.shift, pencil.k))
