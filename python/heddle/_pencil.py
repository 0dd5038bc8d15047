"""Eigenpairs at the places of the spectrum that SciPy names, by solves at its ends and in intervals."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from . import _core
from ._result import Result, joined
from ._solve import Options, Prepared, callers_names, run

_NAMES = {
    "nev": "k",
    "B": "M",
    "initial_guess": "v0",
    "tolerance": "tol",
    "max_iterations": "maxiter",
}
_ROUNDS = 8  # of widening and narrowing an interval around sigma
_EDGE = 0.02  # of the width of the spectrum, within which sigma counts as lying at an end


@dataclass
class Pencil:
    """A x = lambda x or A x = lambda B x, of which k pairs are wanted."""

    problem: Prepared
    options: Options
    k: int
    start: float = field(default_factory=time.perf_counter)

    @property
    def order(self) -> int:
        return self.problem.A.shape[0]

    def end(self, which: str, count: int | None = None, **changes: Any) -> Result:
        """`count` pairs at an end of the spectrum, outermost first."""
        request = {**self.options.request, "which": which, "nev": count or self.k, **changes}
        if "time_limit" in request:  # which all solves share
            request["time_limit"] = max(request["time_limit"] - (time.perf_counter() - self.start), 0)
        return run(self.problem, _with_request(self.options, request), _NAMES)

    def bounds(self) -> tuple[float, float]:
        """An interval that contains the eigenvalues of A and is hardly wider."""
        density = self.density(vectors=1, max_degree=64)
        return density.lower, density.upper

    def density(self, **settings: Any) -> _core.SpectralDensity:
        seed = self.options.request.get("seed", 42)
        stored = self.problem.all_stored
        with callers_names(_NAMES), self.options.device_for(stored) as device:
            density = _core.spectral_density(device, self.problem.A.core, seed=seed, **settings)
        if not density.finite:
            raise ValueError("A: products with A are not finite")
        return density

    def everything(self) -> Result:
        """All pairs, half from each end."""
        half = self.order // 2
        return joined(self.end("smallest", half), self.end("largest", self.order - half))

    def both_ends(self) -> Result:
        """k // 2 pairs of the lower end, and the others of the upper end."""
        upper = self.end("largest", self.k - self.k // 2)
        if self.k < 2:
            return upper
        return joined(self.end("smallest", self.k // 2), upper)

    def largest_magnitude(self) -> Result:
        """The pairs with the largest |lambda|: those of one end, unless the other one reaches as
        far. B is positive definite, so the signs of a pencil are those of A."""
        lower, upper = self.bounds()
        near, far = ("largest", -lower) if upper >= -lower else ("smallest", upper)
        first = self.end(near)
        if self.problem.B is not None:
            enough = far <= 1e-10 * (upper - lower)
        else:
            enough = np.abs(first.eigenvalues).min(initial=np.inf) >= far
        if enough:
            return first
        others = min(self.k, self.order - self.k)
        both = joined(first, self.end("smallest" if near == "largest" else "largest", others))
        return both.select(np.argsort(-np.abs(both.eigenvalues), kind="stable")[: self.k])

    def nearest(self, sigma: float) -> Result:
        """The pairs nearest to sigma."""
        lower, upper = self.bounds() if self.problem.B is None else (-np.inf, np.inf)
        edge = _EDGE * (upper - lower) if self.problem.B is None else np.inf
        if sigma - lower <= edge:
            found = self._nearest_at_end("smallest", sigma)
        elif upper - sigma <= edge:
            found = self._nearest_at_end("largest", sigma)
        else:
            found = None
        if found is not None:
            return found
        if self.problem.B is not None:
            raise ValueError(
                f"sigma = {sigma:g} lies inside the spectrum of the pencil; with M, heddle finds "
                "pairs at its ends only: which='SA' or 'LA'"
            )
        return self._nearest_in_interval(sigma)

    def _nearest_at_end(self, which: str, sigma: float) -> Result | None:
        """The pairs nearest to sigma, if the k outermost ones are proven to be them: values beyond
        those found lie farther away than each of them. None otherwise."""
        result = self.end(which)
        if not result.eigenvalues.size:
            return result
        distances = (result.eigenvalues - sigma) * (1 if which == "smallest" else -1)
        if np.abs(distances).max() > max(distances[-1], 0) * (1 + 1e-12):
            return None
        return result

    def _nearest_in_interval(self, sigma: float) -> Result:
        """The k pairs nearest to sigma from all of an interval around it, or, of a small matrix, from
        all."""
        if self.order <= 4 * self.k + 16:
            result = self.everything()
            distances = np.abs(result.eigenvalues - sigma)
            return result.select(np.argsort(distances, kind="stable")[: self.k])
        density = self.density()
        width = density.upper - density.lower
        radius = width * self.k / self.order
        for _ in range(_ROUNDS):
            expected = density.count(sigma - radius, sigma + radius)
            most = int(expected.count + 6 * expected.deviation) + 2 * self.k + 8
            most = min(most, self.order - 1)
            interval = (sigma - radius, sigma + radius)
            result = self.end("smallest", most, interval=interval)
            distances = np.abs(result.eigenvalues - sigma)
            if result.converged and len(distances) >= self.k:
                return result.select(np.argsort(distances, kind="stable")[: self.k])
            if result.status in ("time_limit", "interrupted", "breakdown"):
                return result
            radius *= 2 if result.converged else 0.6
        return replace(
            result,
            status="max_iterations",
            reason=f"no interval around sigma = {sigma:g} was found to hold {self.k} pairs or a "
            f"few more; the last one: {result.reason}",
        )


def _with_request(options: Options, request: dict[str, Any]) -> Options:
    """The same options with another request."""
    changed = Options.__new__(Options)
    changed.__dict__.update(options.__dict__, request=request)
    return changed
