"""How many eigenvalues lie where."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from . import _core
from . import _device_solve as on_device
from ._device_arrays import DeviceOperand
from ._inputs import entries_of, matrix, symmetric
from ._messages import callers_names
from ._solve import Options, Prepared, way_out_of


@dataclass(frozen=True)
class _Estimate:
    """What a spectral density is computed from. Equal ones give equal bits on one machine."""

    A: Any
    settings: dict[str, Any]
    device: str
    threads: int
    symmetrize: str | None = None

    def compute(self) -> tuple[_core.SpectralDensity, _Estimate]:
        """The density, and this with what can be pickled in place of A."""
        operand = matrix(self.A, "A")
        place = {"device": self.device, "threads": self.threads}
        options = Options({**place, "symmetrize": self.symmetrize}, "raise")
        if self.symmetrize is not None:
            operand, _ = symmetric(operand, "A", self.symmetrize)
        words = callers_names({}, way_out_of(Prepared(operand)))
        if isinstance(operand, DeviceOperand):
            with words, options.device_of(operand.library) as found:
                density = on_device.density(operand, found, **self.settings)
        else:
            with words, options.device_for(operand.is_stored) as found:
                density = _core.spectral_density(found, operand.core, **self.settings)
        if not density.finite:
            raise ValueError("A: products with A are not finite")
        if isinstance(operand, DeviceOperand) or not operand.is_stored:
            return density, self
        return density, replace(self, A=entries_of(operand), symmetrize=None)


class SpectralDensity:
    """Estimated numbers of eigenvalues of a symmetric or Hermitian matrix in intervals.

    It refers to the matrix. A pickle of it holds the entries of the matrix, from which the first
    count after the pickle is read computes the estimate again: do not change the matrix before."""

    def __init__(self, estimate: _Estimate):
        self._found: _core.SpectralDensity | None
        self._found, self._estimate = estimate.compute()
        self._order = self._found.order
        self._bounds = (self._found.lower, self._found.upper)
        self._resolution = self._found.resolution

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_found": None}

    def __copy__(self) -> SpectralDensity:
        return self  # nothing in it changes

    def __deepcopy__(self, memo: dict[int, Any]) -> SpectralDensity:
        return self

    @property
    def _density(self) -> _core.SpectralDensity:
        if self._found is None:
            found, _ = self._estimate.compute()
            if not np.allclose([found.lower, found.upper], self._bounds, rtol=1e-6):
                raise ValueError("A was changed between the estimate and its pickle")
            self._found = found
        return self._found

    @property
    def order(self) -> int:
        """The number of all eigenvalues."""
        return self._order

    @property
    def bounds(self) -> tuple[float, float]:
        """An interval that contains the spectrum and is hardly wider."""
        return self._bounds

    @property
    def resolution(self) -> float:
        """The distance over which eigenvalues are smoothed."""
        return self._resolution

    def count(self, a: float, b: float) -> tuple[float, float]:
        """The estimated number of eigenvalues in [a, b] and its standard deviation."""
        found = self._density.count(a, b)
        return found.count, found.deviation

    def histogram(self, bins: int = 100) -> tuple[np.ndarray, np.ndarray]:
        """(counts, edges) of equal parts of the spectrum, as `numpy.histogram` gives them."""
        counts = np.array([part.count for part in self._density.histogram(bins)])
        return counts, np.linspace(*self.bounds, bins + 1)

    def __repr__(self) -> str:
        lower, upper = self.bounds
        return (
            f"SpectralDensity of {self.order} eigenvalues in [{lower:.6g}, {upper:.6g}], "
            f"resolution {self.resolution:.3g}"
        )


def spectral_density(
    A: Any,
    *,
    resolution: float = 0,
    vectors: int = 32,
    max_degree: int = 16384,
    seed: int = 42,
    symmetrize: Literal["average", "triangle"] | None = None,
    device: str = "auto",
    threads: int = 0,
) -> SpectralDensity:
    """Estimates how many eigenvalues of a symmetric or Hermitian A lie where, by the kernel polynomial
    method with random vectors.

    Parameters
    ----------
    A : sparse matrix, array, LinearOperator or graph
        Symmetric, or Hermitian if its numbers are complex.
    resolution : float
        The distance over which eigenvalues are smoothed. 0: a 300th of the spectrum's width.
    vectors : int
        The number of random vectors.
    max_degree : int
        The largest degree of a polynomial, which limits the resolution.
    seed : int
        Of the random vectors.
    symmetrize : {None, "average", "triangle"}
        As in `Extras`.
    device, threads
        As in `Extras`.

    Returns
    -------
    density : SpectralDensity
        Its methods `count` and `histogram` give numbers of eigenvalues.

    Raises
    ------
    ValueError, TypeError
        If an argument cannot be taken, or products with A are not finite.
    DeviceError, OutOfMemory
        If the device cannot be used, or memory does not suffice.

    Examples
    --------
    >>> import heddle
    >>> density = heddle.spectral_density(heddle.generate("laplace1d", 1000))
    >>> count, deviation = density.count(0, 2)
    >>> abs(count - 500) < 50
    True
    """
    settings: dict[str, Any] = dict(
        resolution=resolution, vectors=vectors, max_degree=max_degree, seed=seed
    )
    return SpectralDensity(_Estimate(A, settings, device, threads, symmetrize))
