"""Performance profiles after Dolan and Moré, Math. Program. 91 (2002) 201."""

from __future__ import annotations

import numpy as np


def ratios(costs: np.ndarray) -> np.ndarray:
    """costs[p, s] over the smallest cost of problem p. A failure has the cost infinity and the
    ratio infinity. A cost of zero counts as the smallest positive number."""
    costs = np.asarray(costs, dtype=float)
    if costs.size == 0:
        return costs
    costs = np.where(np.isnan(costs), np.inf, np.maximum(costs, np.finfo(float).tiny))
    best = costs.min(axis=1, keepdims=True)
    return np.divide(costs, best, out=np.full_like(costs, np.inf), where=np.isfinite(costs))


def profile(ratio: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The steps (tau, rho) of one solver's profile: rho[i] is the share of problems with a ratio of
    at most tau[i]. Problems that the solver failed on count in the share, and never step."""
    ratio = np.asarray(ratio, dtype=float)
    finite = np.sort(ratio[np.isfinite(ratio)])
    tau, last = np.unique(finite, return_index=True)
    counts = np.append(last[1:], finite.size) if finite.size else np.array([])
    share = counts / max(ratio.size, 1)
    if tau.size == 0 or tau[0] > 1:
        tau, share = np.append(1.0, tau), np.append(0.0, share)
    return tau, share


def geometric_mean(values: np.ndarray) -> float | None:
    """None where there are no values."""
    values = np.asarray(values, dtype=float)
    return float(np.exp(np.log(values).mean())) if values.size else None
