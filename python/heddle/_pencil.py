"""Eigenpairs at the places of the spectrum that SciPy names, by solves at its ends and in intervals."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.linalg as dense

from . import _core
from . import _device_solve as on_device
from ._device_arrays import DeviceOperand
from ._errors import OutOfMemory
from ._messages import callers_names
from ._result import Result, joined
from ._scalars import computed_in
from ._solve import Options, Prepared, run, way_out_of

NAMES = {
    "nev": "k",
    "B": "M",
    "initial_guess": "v0",
    "tolerance": "tol",
    "max_iterations": "maxiter",
}
_ROUNDS = 8  # of widening and narrowing an interval around sigma
_DRAWS = 3  # of start vectors, for a solve that must find other vectors than an earlier one
_DEPENDENT = 1e-3  # the part of a unit vector outside a subspace, below which it lies in it
_NO_TIME = 1e-9  # seconds, for a solve that must not begin to iterate
# Options that an interval does not read. A solve for pairs near a number reads all but the first two.
_OF_ENDS = ("filter", "certify", "max_basis", "factorization")
_LAST = ("interrupted", "time_limit")  # statuses of a solve after which no other one is begun
_EDGE = 0.02  # of the width of the spectrum, within which sigma counts as lying at an end


@dataclass
class Pencil:
    """A x = lambda x or A x = lambda B x, of which k pairs are wanted."""

    problem: Prepared
    options: Options
    k: int
    names: dict[str, str] = field(default_factory=lambda: NAMES)  # of the library's fields
    start: float = field(default_factory=time.perf_counter)
    stopped: bool = False  # whether the callback has returned False

    @property
    def order(self) -> int:
        return self.problem.A.shape[0]

    def end(self, which: str, count: int | None = None, **changes: Any) -> Result:
        """`count` pairs at an end of the spectrum, outermost first."""
        nev = self.k if count is None else count
        request = {**self.options.request, "which": which, "nev": nev, **changes}
        if "time_limit" in request:  # which all solves share
            left = request["time_limit"] - (time.perf_counter() - self.start)
            request["time_limit"] = max(left, _NO_TIME)
        options = _with_request(self.options, request)
        result = run(self.problem, options, self.names)
        self.stopped = options.stopped
        return result

    def last(self, result: Result) -> Result | None:
        """What the call returns if no other solve may follow the one with this result. A callback
        that returns False after the last iteration of a solve leaves its status as it is."""
        if result.status in _LAST:
            return result
        if self.stopped:
            return replace(result, status="interrupted", reason="the callback returned False")
        return None

    def with_other_end(self, first: Result, which: str, count: int) -> Result:
        """The pairs of `first`, and `count` pairs of the other end, with B-orthonormal vectors.

        An eigenspace may reach from one end to the other, as that of the identity does, and then
        each solve finds any part of it. The second part is made orthogonal to the first one. If
        it lies in the first one, it is sought again from other start vectors."""
        if (last := self.last(first)) is not None:
            return last
        second = self.end(which, count)
        for draw in range(1, _DRAWS + 1):
            vectors = self._complement(first.vectors, second.vectors)
            if vectors is not None:
                return joined(first, replace(second, vectors=vectors))
            if self.stopped or second.status not in ("converged", "stagnated"):
                return joined(first, second)
            seed = self.options.request.get("seed", 42) + draw
            unguided = replace(self, problem=replace(self.problem, initial_guess=None))
            second = unguided.end(which, count, seed=seed)
        return replace(
            joined(first, second),
            status="verification_failed",
            reason="the vectors found at the two ends of the spectrum are linearly dependent",
        )

    def _complement(self, V: Any, W: Any) -> Any:
        """W with columns that are B-orthonormal, to each other and to the B-orthonormal ones of V.
        None if W and V are linearly dependent. Columns with different eigenvalues are orthogonal
        up to their residuals, so that only those of one eigenspace are mixed."""
        B, library = self.problem.B, self.problem.library
        cast = np.asarray if library is None else library.cast
        V, X = (cast(Y, computed_in(self.problem.dtype)) for Y in (V, W))

        def adjoint(Y: Any) -> Any:
            return Y.conj().T

        for _ in range(2):  # the first one leaves rounding errors that it has enlarged
            X = X - V @ (adjoint(V) @ (X if B is None else B.times(X)))
            gram = adjoint(X) @ (X if B is None else B.times(X))
            gram = gram if library is None else library.host(gram)
            if not np.isfinite(gram).all():
                return None
            if not np.linalg.eigvalsh(gram).min(initial=1) > _DEPENDENT**2:
                return None
            factor = np.linalg.cholesky(gram)
            inverse = dense.solve_triangular(factor, np.eye(len(gram)), lower=True)
            X = X @ self.problem.returned(inverse.conj().T)
        return cast(X, self.problem.dtype)

    def bounds(self) -> tuple[float, float]:
        """An interval that contains the eigenvalues of A, and is hardly wider."""
        density = self.density(vectors=1, max_degree=64)
        return density.lower, density.upper

    def density(self, **settings: Any) -> _core.SpectralDensity:
        """The spectral density of A, which one device computes."""
        seed = self.options.request.get("seed", 42)
        A, library = self.problem.A, self.problem.library
        words = callers_names(self.names, way_out_of(self.problem))
        if isinstance(A, DeviceOperand) and library is not None:
            with words, self.options.device_of(library) as device:
                density = on_device.density(A, device, seed=seed, **settings)
        else:
            assert not isinstance(A, DeviceOperand)
            stored = self.problem.all_stored
            with words, self.options.device_for(stored, 1) as device:
                density = _core.spectral_density(device, A.core, seed=seed, **settings)
        if not density.finite:
            raise ValueError("A: products with A are not finite")
        return density

    def everything(self) -> Result:
        """All pairs."""
        return self.end("smallest", self.order)

    def both_ends(self) -> Result:
        """k // 2 pairs of the lower end, and the others of the upper end."""
        if self.k < 2 or self.k >= self.order:
            return self.end("largest")
        upper = self.end("largest", self.k - self.k // 2)
        return self.with_other_end(upper, "smallest", self.k // 2)

    def largest_magnitude(self) -> Result:
        """The pairs with the largest |lambda|: those of one end, unless the other one reaches as
        far. B is positive definite, so the signs of a pencil are those of A."""
        if self.k >= self.order:
            return self.end("largest")
        lower, upper = self.bounds()
        near, far = ("largest", -lower) if upper >= -lower else ("smallest", upper)
        first = self.end(near)
        if self.problem.B is not None:
            enough = np.isfinite(far) and far <= 1e-10 * (upper - lower)
        else:
            enough = np.abs(first.eigenvalues).min(initial=np.inf) >= far
        if enough:
            return first
        other = "smallest" if near == "largest" else "largest"
        both = self.with_other_end(first, other, min(self.k, self.order - self.k))
        return both.select(np.argsort(-np.abs(both.eigenvalues), kind="stable")[: self.k])

    def nearest(self, sigma: float, side: str = "both") -> Result:
        """The pairs nearest to sigma, on both of its sides, "above" or "below" it."""
        if side == "both":
            if self.k >= self.order:
                return self.end("smallest")
            for end in self._ends_near(sigma):
                found = self._nearest_at_end(end, sigma)
                if found is not None:
                    return found
        if self._may_factor():
            return self._nearest_by_factor(sigma, side)
        if side != "both" or self.problem.B is not None:
            raise ValueError(
                f"sigma = {sigma:g}: A - sigma M must be factored, which needs stored matrices in "
                "double or single precision and a method of 'auto' or 'block_lanczos'"
            )
        return self._nearest_in_interval(sigma)

    def _ends_near(self, sigma: float) -> list[str]:
        """The ends of the spectrum at which a solve is likely to find the pairs nearest to sigma."""
        if self.problem.B is not None:
            return ["smallest"] if sigma <= 0 or not self._may_factor() else []
        lower, upper = self.bounds()
        edge = _EDGE * (upper - lower)
        near = {"smallest": sigma - lower <= edge, "largest": upper - sigma <= edge}
        return [end for end in near if near[end]]

    def _may_factor(self) -> bool:
        """Whether A - sigma B can be factored for this request."""
        request = self.options.request
        on_host = not isinstance(self.problem.A, DeviceOperand)
        return (
            on_host
            and self.problem.all_stored
            and request.get("method", "auto") in ("auto", "block_lanczos")
            and request.get("precision", "double") != "mixed"
            and self.options.devices == 1
        )

    def _nearest_by_factor(self, sigma: float, side: str) -> Result:
        """The pairs nearest to sigma by the factor of A - sigma B, or, where it does not fit into
        memory, from all of an interval."""
        inner = self._without(_OF_ENDS[:2])
        try:
            result = inner.end("smallest", sigma=float(sigma), side=side)
        except OutOfMemory:
            if side != "both" or self.problem.B is not None:
                raise
            return self._nearest_in_interval(sigma)
        self.stopped = inner.stopped
        return result

    def _nearest_at_end(self, which: str, sigma: float) -> Result | None:
        """The pairs nearest to sigma, if the k outermost ones are proven to be them: values beyond
        those found lie farther away than each of them, or if no other solve may follow. None
        otherwise."""
        result = self.end(which)
        if not result.eigenvalues.size:
            return result
        distances = (result.eigenvalues - sigma) * (1 if which == "smallest" else -1)
        if np.abs(distances).max() > max(distances[-1], 0) * (1 + 1e-12):
            return self.last(result)
        return result

    def _is_small(self) -> bool:
        """Whether all pairs cost little more than k."""
        return self.order <= 4 * self.k + 16

    def _nearest_of_all(self, sigma: float) -> Result:
        result = self.everything()
        distances = np.abs(result.eigenvalues - sigma)
        return result.select(np.argsort(distances, kind="stable")[: self.k])

    def _nearest_in_interval(self, sigma: float) -> Result:
        """The k pairs nearest to sigma from all of an interval around it, or, of a small matrix, from
        all."""
        if self._is_small():
            return self._nearest_of_all(sigma)
        density = self.density()
        width = density.upper - density.lower
        radius = width * self.k / self.order
        spare = 2 * self.k + 8
        inner = self._without(_OF_ENDS)
        for _ in range(_ROUNDS):
            expected = density.count(sigma - radius, sigma + radius)
            most = min(int(expected.count + 6 * expected.deviation) + spare, self.order)
            interval = (sigma - radius, sigma + radius)
            result = inner.end("smallest", most, interval=interval, filter="chebyshev")
            self.stopped = inner.stopped
            distances = np.abs(result.eigenvalues - sigma)
            if result.converged and len(distances) >= self.k:
                return result.select(np.argsort(distances, kind="stable")[: self.k])
            if result.status == "breakdown" or self.last(result) is not None:
                return self.last(result) or result
            radius *= 2 if result.converged else 0.6
            spare *= 1 if result.converged else 2  # copies of one eigenvalue are in each interval
        return replace(
            result,
            status="max_iterations",
            reason=f"no interval around sigma = {sigma:g} was found to hold {self.k} pairs or a "
            f"few more; the last one: {result.reason}",
        )

    def _without(self, tuning: tuple[str, ...]) -> Pencil:
        """The same without options that tune solves at an end, and without a start vector: that the
        pairs lie inside the spectrum is found out here, not asked for by the caller."""
        request = {k: v for k, v in self.options.request.items() if k not in tuning}
        problem = replace(self.problem, initial_guess=None)
        return replace(self, problem=problem, options=_with_request(self.options, request))


def _with_request(options: Options, request: dict[str, Any]) -> Options:
    """The same options with another request."""
    changed = Options.__new__(Options)
    changed.__dict__.update(options.__dict__, request=request)
    return changed
