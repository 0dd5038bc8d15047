"""Eigenpairs and singular triplets that were called converged, against dense LAPACK."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

import truth
from cases import vectors
from finding import doubtful, wrong
from truth import Scaled, adjoint


@dataclass
class Pairs:
    """The problem and the answer, scaled by powers of two so that nothing overflows."""

    A: np.ndarray
    B: np.ndarray | None
    theta: np.ndarray
    X: np.ndarray
    bounds: np.ndarray | None
    marks: np.ndarray | None  # pairs marked as limited by rounding
    interval: tuple | None
    sigma: float | None
    reach: float  # the largest bound of a value that is marked as within it of an end
    unit: float  # an absolute tolerance is this many times as large here
    norm_A: float = 0.0
    norm_B: float = 1.0

    @staticmethod
    def of(case, problem, outcome):
        A = Scaled.of(problem.A)
        B = Scaled(None) if problem.B is None else Scaled.of(problem.B)
        shift = B.exponent - A.exponent

        def scaled(values):
            return np.ldexp(np.array(values, dtype=np.float64), shift)

        result = outcome.result
        X = outcome.arrays["eigenvectors"].astype(problem.numbers)
        bounds, marks = result.get("error_bounds"), result.get("limited_by_rounding")
        interval = case.solver.get("interval") if case.which == "interval" else None
        pairs = Pairs(A.matrix, B.matrix, scaled(result["eigenvalues"]),
                      truth.ldexp(X, B.exponent // 2), None if bounds is None else scaled(bounds),
                      np.array(marks, dtype=bool) if isinstance(marks, list) else None,
                      None if interval is None else tuple(scaled(interval)),
                      float(scaled(case.solver["sigma"])) if case.which == "nearest" else None,
                      largest_marked(scaled(bounds), result) if interval else 0.0,
                      float(np.ldexp(1.0, -A.exponent)) if A.exponent < 1000 else 0.0)
        pairs.norm_A = np.max(np.sum(np.abs(A.matrix), axis=0), initial=0.0)
        if B.matrix is not None:
            pairs.norm_B = np.max(np.sum(np.abs(B.matrix), axis=0), initial=0.0)
        return pairs

    def times_B(self, X):
        return X if self.B is None else self.B @ X

    def scale(self, theta):
        return self.norm_A + np.abs(theta) * self.norm_B


def largest_marked(bounds, result):
    marks = np.array(result.get("straddles", [False] * len(bounds)), dtype=bool)
    return float(np.max(bounds[marks], initial=0.0))


def eigenpairs(case, problem, outcome):
    pairs = Pairs.of(case, problem, outcome)
    A, B, Z = pairs.A, pairs.B, None
    if case.constraints is not None:
        C = vectors(case.constraints, problem, case.seed)
        A, B, Z = truth.constrained(A, B, C)
    spectrum = truth.spectrum(A, B, problem.coarse)
    if Z is not None and len(spectrum.values) > 0:
        spectrum.errors = spectrum.errors + truth.reduction_errors(pairs.A, pairs.B, Z, spectrum)
    shape = (len(pairs.A), len(pairs.theta))
    if pairs.X.shape != shape:
        return [wrong("shape", f"eigenvectors {pairs.X.shape}, not {shape}")]
    if len(pairs.theta) == 0:
        R, sizes = pairs.X, np.empty(0)
    else:
        R = pairs.A @ pairs.X - pairs.times_B(pairs.X) * pairs.theta
        sizes = np.linalg.norm(pairs.X, axis=0)
    if np.any(sizes == 0):
        return [wrong("zero_vector", "an eigenvector is zero")]
    residuals = np.linalg.norm(R if Z is None else adjoint(Z) @ R, axis=0) / sizes
    allowed = criterion(case, pairs)
    findings = residual_findings(case, pairs, residuals, allowed)
    findings += orthogonality_findings(case, pairs, sizes)
    if Z is not None:
        findings += constraint_findings(case, pairs, C)
    if pairs.sigma is not None and not outcome.result["completeness"]["proven"]:
        findings.append(doubtful("unproven", "no count shows that no pair is missing"))
    return findings + value_findings(case, pairs, spectrum, allowed)


def criterion(case, pairs):
    """The residual norms that the criterion allows. `eigenvalue` includes `norm`."""
    name = case.solver.get("criterion", "eigenvalue")
    if name == "absolute":
        return np.full(len(pairs.theta), case.tolerance * pairs.unit)
    size = pairs.scale(pairs.theta) if name in ("norm", "eigenvalue") else np.abs(pairs.theta) * pairs.norm_B
    return case.tolerance * size


def rounding(case, pairs):
    """Residuals of this size are rounding."""
    return 100 * case.epsilon * pairs.scale(pairs.theta)


def residual_findings(case, pairs, residuals, allowed):
    findings = []
    limit = 1.05 * allowed + 2 * rounding(case, pairs)
    for i in np.flatnonzero(residuals > limit)[:1]:
        findings.append(wrong("residual", f"pair {i}: {residuals[i]:.2e} for {limit[i]:.2e}"))
    return findings


def orthogonality_findings(case, pairs, sizes):
    if len(sizes) == 0:
        return []
    G = adjoint(pairs.X) @ pairs.times_B(pairs.X)
    defect = np.max(np.abs(G - np.eye(len(G))))
    limit = 1e4 * case.epsilon + 4 * len(pairs.A) * case.epsilon * pairs.norm_B * max(sizes) ** 2
    if defect <= limit:
        return []
    return [wrong("orthogonality", f"max |X'BX - I| = {defect:.2e} for {limit:.2e}")]


def constraint_findings(case, pairs, C):
    C = C / np.linalg.norm(C, axis=0)
    BX = pairs.times_B(pairs.X)
    overlap = np.max(np.abs(adjoint(C) @ BX), initial=0.0)
    limit = 1e4 * case.epsilon * max(1.0, np.max(np.linalg.norm(BX, axis=0), initial=0.0))
    limit += 4 * len(C) * case.epsilon * pairs.norm_B * np.max(np.linalg.norm(pairs.X, axis=0))
    if overlap <= limit:
        return []
    return [wrong("constraint", f"max |C'BX| = {overlap:.2e} for {limit:.2e}")]


def wanted_sets(case, pairs, spectrum):
    """Candidates for the right answer: the ascending places of true eigenvalues. More than one where
    eigenvalues lie at the ends of an interval, or tie. Values beyond them are right only as far as
    the bounds of marked values reach."""
    count, finite = len(pairs.theta), len(spectrum.values)
    if pairs.sigma is not None:
        return nearest_sets(case, pairs, spectrum)
    if pairs.interval is None:
        right = min(case.nev, finite)
        first = 0 if case.which == "smallest" else finite - right
        return [np.arange(first, first + right)]
    a, b = pairs.interval
    values, margin = spectrum.values, spectrum.errors + pairs.reach
    firsts = range(int(np.sum(values < a - margin)), int(np.sum(values < a + margin)) + 1)
    ends = range(int(np.sum(values <= b - margin)), int(np.sum(values <= b + margin)) + 1)
    exact = [np.arange(first, first + count) for first in firsts if first + count in ends]
    return exact or [np.arange(firsts[0], ends[-1])]


def nearest_sets(case, pairs, spectrum):
    """The true eigenvalues that are the nearest ones to sigma, up to ties to rounding and to the
    tolerance: ranges, and of ties that are not neighbours those that suit the given values best."""
    values, sigma, count = spectrum.values, pairs.sigma, len(pairs.theta)
    side = case.solver.get("side", "both")
    rounding = 200 * case.epsilon * (pairs.norm_A + abs(sigma) * pairs.norm_B) / spectrum.beta
    slack = spectrum.errors + rounding + case.tolerance * np.abs(values)
    beyond = {"both": np.full(len(values), -np.inf), "above": sigma - values, "below": values - sigma}[side]
    surely, perhaps = np.flatnonzero(beyond < -slack), np.flatnonzero(beyond <= slack)
    least, most = (min(case.nev, len(places)) for places in (surely, perhaps))
    distances = np.abs(values - sigma)
    sets = []
    if least <= count <= most:
        candidates = [np.arange(first, first + count)
                      for first in range(perhaps[0] if count else 0, len(values) - count + 1)]
        for inside in [*candidates, suited(pairs, spectrum, perhaps)]:
            outside = np.setdiff1d(surely, inside)
            if count and not np.all(np.isin(inside, perhaps)):
                continue
            farthest = np.max(distances[inside] - slack[inside], initial=0.0)
            if count == 0 or np.all(distances[outside] + slack[outside] >= farthest):
                sets.append(inside)
    return sets or [np.arange(least)]


def suited(pairs, spectrum, places):
    """Of these places of true eigenvalues, as many as values were given, by which the errors exceed
    the bounds least, and then are least. A value has one place."""
    off = np.abs(pairs.theta[:, None] - spectrum.values[places]) - spectrum.errors[places]
    reach = np.zeros(len(pairs.theta)) if pairs.bounds is None else pairs.bounds
    excess = np.maximum(0, off - reach[:, None])
    size = max(np.max(np.abs(off), initial=0.0), np.finfo(float).tiny)
    return np.sort(places[linear_sum_assignment(excess / size + 1e-6 * off / size)[1]])


def value_findings(case, pairs, spectrum, allowed):
    """The values against the truth, in ascending order, place by place."""
    order = np.argsort(pairs.theta, kind="stable")
    theta, count = pairs.theta[order], len(pairs.theta)
    noise = rounding(case, pairs)[order]
    promise = (allowed[order] + noise) / spectrum.beta * max(1.0, np.sqrt(count))
    uncertain = np.max(promise, initial=100 * case.epsilon * pairs.norm_A / spectrum.beta)
    right = wanted_sets(case, pairs, spectrum)
    if count != len(right[0]):
        return [wrong("count", f"{count} values, {len(right[0])} are right")]
    direction = order if case.which != "largest" else order[::-1]
    findings = []
    if pairs.sigma is not None:
        uncertain = 0.0
    if np.any(np.abs(pairs.theta[direction] - pairs.theta) > uncertain):
        findings.append(wrong("order", "the values are not in order"))
    choices = [(spectrum.values[places], spectrum.errors[places]) for places in right]
    reach = np.zeros(count) if pairs.bounds is None else pairs.bounds[order]
    values, errors = min(choices, key=lambda choice: np.max(np.abs(choice[0] - theta) - reach,
                                                            initial=-np.inf))
    off = np.maximum(0, np.abs(theta - values) - errors)
    for i in np.flatnonzero(off > promise)[:1]:
        near = np.min(np.abs(spectrum.values - theta[i]) - spectrum.errors) <= promise[i]
        findings.append(wrong("missed" if near else "value", describe(
            i, theta, values, f"the criterion promises {promise[i]:.1e}")))
    if findings:
        return findings
    return bound_findings(case, pairs, spectrum, order, values, off)


def bound_findings(case, pairs, spectrum, order, values, off):
    """Digits: the error bounds hold, and are as small as the criterion promises or marked."""
    theta = pairs.theta[order]
    floor = 10 * len(pairs.A) * case.epsilon * pairs.scale(theta) / spectrum.beta
    if pairs.bounds is None:
        return [wrong("unbounded", "the result has no error bounds")]
    bounds = pairs.bounds[order]
    marks = np.zeros(len(theta), bool) if pairs.marks is None else pairs.marks[order]
    allowed = bounds * (1 + 1e-6) + 4 * case.epsilon * np.abs(values)
    unresolved = near_some(spectrum, theta, allowed) & (off <= case.tolerance * np.abs(values))
    for i in np.flatnonzero(off > allowed)[:1]:
        judge = doubtful if unresolved[i] else wrong  # a cluster narrower than the tolerance
        return [judge("bound", describe(i, theta, values, f"the bound is {bounds[i]:.1e}"))]
    if case.digits is None:
        return []
    for i in np.flatnonzero((bounds > 1.001 * case.digits * np.abs(theta)) & ~marks)[:1]:
        return [wrong("unmarked", describe(i, theta, values, f"the bound is {bounds[i]:.1e}, "
                                                 "more than the digits promise, and not marked"))]
    for i in np.flatnonzero(marks & (bounds > 100 * floor))[:1]:
        return [doubtful("idle_mark", describe(
            i, theta, values, f"limited by rounding with a bound of {bounds[i]:.1e}, "
                              f"100 times what rounding explains"))]
    return []


def near_some(spectrum, theta, allowed):
    """Which values lie within the allowed distance of any true one."""
    distances = np.abs(spectrum.values[None, :] - theta[:, None]) - spectrum.errors[None, :]
    return np.min(distances, axis=1) <= allowed


def describe(i, theta, values, why):
    return (f"value {i} is {theta[i]:.10g} for {values[i]:.10g}, off by {theta[i] - values[i]:.1e}: "
            f"{why} (scaled by a power of two)")


def triplets(case, problem, outcome):
    A = Scaled.of(problem.A)
    sigma = np.ldexp(np.array(outcome.result["singular_values"], dtype=np.float64), -A.exponent)
    U, V = (outcome.arrays[f"{side}_vectors"].astype(problem.numbers) for side in ("left", "right"))
    exact = truth.singular_values(A.matrix)
    right = min(case.nev, len(exact.values))
    if len(sigma) != right:
        return [wrong("count", f"{len(sigma)} values, {right} are right")]
    norm = exact.values[0]
    M = A.matrix
    residuals = np.maximum(np.linalg.norm(M @ V - U * sigma, axis=0),
                           np.linalg.norm(M.conj().T @ U - V * sigma, axis=0))
    name = case.solver.get("criterion", "eigenvalue")
    size = {"norm": norm, "eigenvalue": norm, "relative": sigma,
            "absolute": float(np.ldexp(1.0, -A.exponent)) if A.exponent < 1000 else 0.0}[name]
    limit = 1.05 * case.tolerance * size + 200 * case.epsilon * norm + np.zeros(right)
    findings = []
    for i in np.flatnonzero(residuals > limit)[:1]:
        findings.append(wrong("residual", f"triplet {i}: {residuals[i]:.2e} for {limit[i]:.2e}"))
    for name, W in (("U", U), ("V", V)):
        defect = np.max(np.abs(W.conj().T @ W - np.eye(right)))
        if defect > 1e4 * case.epsilon:
            findings.append(wrong("orthogonality", f"max |{name}'{name} - I| = {defect:.2e}"))
    values = exact.values[:right] if case.which == "largest" else exact.values[::-1][:right]
    off = np.maximum(0, np.abs(sigma - values) - exact.error)
    for i in np.flatnonzero(off > limit * np.sqrt(right))[:1]:
        near = np.min(np.abs(exact.values - sigma[i])) <= limit[i] + exact.error
        findings.append(wrong("missed" if near else "value", describe(i, sigma, values, "")))
    return findings or triplet_bounds(case, A, outcome, sigma, values, off)


def triplet_bounds(case, A, outcome, sigma, values, off):
    """The error bounds of singular values hold, and are small or at the level of rounding of A."""
    if outcome.result.get("error_bounds") is None:
        return [wrong("unbounded", "the result has no error bounds")]
    bounds = np.ldexp(np.array(outcome.result["error_bounds"], dtype=np.float64), -A.exponent)
    marks = np.array(outcome.result["limited_by_rounding"], dtype=bool)
    for i in np.flatnonzero(off > bounds * (1 + 1e-6))[:1]:
        return [wrong("bound", describe(i, sigma, values, f"the bound is {bounds[i]:.1e}"))]
    if case.digits is None:
        return []
    floor = 10 * max(A.matrix.shape) * case.epsilon * np.linalg.norm(A.matrix, 2)
    large = bounds > 1.001 * case.digits * np.abs(sigma)
    for i in np.flatnonzero(large & ~marks)[:1]:
        return [wrong("unmarked", describe(i, sigma, values, f"the bound is {bounds[i]:.1e}"))]
    for i in np.flatnonzero(large & (bounds > floor))[:1]:
        return [wrong("no_digits", describe(
            i, sigma, values, f"the bound is {bounds[i]:.1e}, rounding explains {floor:.1e}"))]
    return []
