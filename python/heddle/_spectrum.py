"""How many eigenvalues lie where."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from . import _device_solve as on_device
from ._device_arrays import DeviceOperand
from ._inputs import matrix
from ._solve import Options, callers_names


class SpectralDensity:
    """Estimated numbers of eigenvalues of a symmetric matrix in intervals."""

    def __init__(self, core: _core.SpectralDensity):
        self._core = core

    @property
    def order(self) -> int:
        """The number of all eigenvalues."""
        return self._core.order

    @property
    def bounds(self) -> tuple[float, float]:
        """An interval that contains the spectrum and is hardly wider."""
        return self._core.lower, self._core.upper

    @property
    def resolution(self) -> float:
        """The distance over which eigenvalues are smoothed."""
        return self._core.resolution

    def count(self, a: float, b: float) -> tuple[float, float]:
        """The estimated number of eigenvalues in [a, b] and its standard deviation."""
        found = self._core.count(a, b)
        return found.count, found.deviation

    def histogram(self, bins: int = 100) -> tuple[np.ndarray, np.ndarray]:
        """(counts, edges) of equal parts of the spectrum, as `numpy.histogram` gives them."""
        counts = np.array([part.count for part in self._core.histogram(bins)])
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
    device: str = "auto",
    threads: int = 0,
) -> SpectralDensity:
    """Estimates how many eigenvalues of a symmetric A lie where, by the kernel polynomial method
    with random vectors. resolution 0: a 300th of the spectrum's width. Raises ValueError if products
    with A are not finite."""
    operand = matrix(A, "A")
    options = Options({"device": device, "threads": threads}, "raise")
    settings: dict[str, Any] = dict(
        resolution=resolution, vectors=vectors, max_degree=max_degree, seed=seed
    )
    if isinstance(operand, DeviceOperand):
        with callers_names({}), options.device_of(operand.library) as found:
            density = on_device.density(operand, found, **settings)
    else:
        with callers_names({}), options.device_for(operand.is_stored) as found:
            density = _core.spectral_density(found, operand.core, **settings)
    if not density.finite:
        raise ValueError("A: products with A are not finite")
    return SpectralDensity(density)
