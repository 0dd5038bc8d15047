"""Solutions of linear systems and of least squares that were called converged."""

import numpy as np

from finding import doubtful, wrong
from truth import Scaled, ldexp


def long(X):
    return X.astype(np.clongdouble if np.iscomplexobj(X) else np.longdouble)


def double(X):
    return X.astype(np.complex128 if np.iscomplexobj(X) else np.float64)


def scaled_columns(X):
    """Columns divided by powers of two so that the largest entries are near 1, and the powers."""
    largest = np.max(np.abs(X), axis=0, initial=0.0)
    exponents = np.where(largest > 0, np.frexp(np.where(largest > 0, largest, 1.0))[1], 0)
    return ldexp(X, -exponents), exponents


class System:
    """b - A x and its rounding for every column, in units of 2^exponents of the columns of b."""

    def __init__(self, case, problem, outcome):
        scaled = Scaled.of(problem.A)
        self.A = long(scaled.matrix)
        self.b, exponents = scaled_columns(problem.rhs)
        X = long(outcome.arrays["solution"])
        self.x = ldexp(X, scaled.exponent - exponents)
        self.unit = np.ldexp(np.longdouble(1), -exponents)  # of an absolute tolerance
        self.r = self.b - self.A @ self.x
        sums = np.abs(self.A) @ np.abs(self.x) + np.abs(self.b)
        root = np.sqrt(np.max(np.count_nonzero(scaled.matrix, axis=1), initial=1))
        self.noise = 4 * root * case.epsilon * np.linalg.norm(sums, axis=0)


def worst(kind, values, limits):
    bad = np.flatnonzero(~(values <= limits))
    return [wrong(kind, f"column {i}: {values[i]:.2e} for {limits[i]:.2e}") for i in bad[:1]]


def linear(case, problem, outcome):
    if outcome.arrays["solution"].shape != problem.rhs.shape:
        return [wrong("shape", f"solution {outcome.arrays['solution'].shape}")]
    system = System(case, problem, outcome)
    norms = np.linalg.norm(system.r, axis=0)
    if case.solver.get("criterion") == "absolute":
        limits = case.tolerance * system.unit
    else:
        limits = case.tolerance * np.linalg.norm(system.b, axis=0)
    findings = worst("residual", norms, 1.05 * limits + system.noise)
    if problem.held is not None:
        findings += held(case, problem, system)
    return findings


def held(case, problem, system):
    """Errors of a solution with held rows against exact elimination of these: within what the
    tolerance allows for the other rows, whose right-hand side then is b_F - A_FH x_H."""
    rows = problem.held
    others = np.setdiff1d(np.arange(len(problem.A)), rows)
    if len(others) == 0:
        return []
    A, b = system.A, long(system.b)
    x = np.zeros_like(system.x)
    inner = double(A[np.ix_(others, others)])
    inverse = np.linalg.inv(inner)
    for _ in range(12):  # block Gauss-Seidel: each sweep gains the digits of the penalty
        rest = b[rows] - A[np.ix_(rows, others)] @ x[others]
        for _ in range(12):
            coupling = A[np.ix_(rows, rows)] @ x[rows] - A[rows, rows][:, None] * x[rows]
            x[rows] = (rest - coupling) / A[rows, rows][:, None]
        driving = b[others] - A[np.ix_(others, rows)] @ x[rows]
        for _ in range(4):  # refinement in long double
            residual = driving - A[np.ix_(others, others)] @ x[others]
            x[others] += inverse @ double(residual)
    errors = np.linalg.norm(system.x - x, axis=0)
    allowed = case.tolerance * np.linalg.norm(driving, axis=0)
    if case.solver.get("criterion") == "absolute":
        allowed = case.tolerance * system.unit
    norm = np.linalg.norm(inverse, 2)
    rounding = 10 * case.epsilon * norm * np.linalg.norm(inner, 2) * np.linalg.norm(x, axis=0)
    return worst("error", errors, 1.05 * norm * allowed + len(A) * rounding)


def least_squares(case, problem, outcome):
    """‖Aᴴ(b - A x)‖ within the tolerance, ‖b - A x‖ near its minimum where A has full rank."""
    shape = (problem.A.shape[1], problem.rhs.shape[1])
    if outcome.arrays["solution"].shape != shape:
        return [wrong("shape", f"solution {outcome.arrays['solution'].shape}, not {shape}")]
    system = System(case, problem, outcome)
    gradient = np.linalg.norm(system.A.conj().T @ system.r, axis=0)
    norm_A = np.linalg.norm(double(system.A), 2)
    noise = norm_A * system.noise
    if case.solver.get("criterion") == "absolute":
        scale = Scaled.of(problem.A).exponent
        limits = case.tolerance * system.unit * np.ldexp(1.0, -scale)
    else:
        limits = case.tolerance * np.linalg.norm(system.A.conj().T @ system.b, axis=0)
    return worst("residual", gradient, 1.05 * limits + noise) + least_norm(case, system, limits)


def least_norm(case, system, limits):
    """Without a guess x has no part in the null space of A (jacobi: of least norm when scaled)."""
    preconditioner = case.solver.get("preconditioner", {}).get("type", "auto")
    if case.guess is not None or preconditioner != "none":
        return []
    A = double(system.A)
    _, sigma, V = np.linalg.svd(A)
    rank = int(np.sum(sigma > 1e-10 * sigma[0])) if len(sigma) and sigma[0] > 0 else 0
    null = np.linalg.norm(long(V[rank:]) @ system.x, axis=0)
    smallest = sigma[rank - 1] if rank else 1.0
    size = np.linalg.norm(system.x, axis=0)
    allowed = 1e-4 * size + 1e3 * case.epsilon * (sigma[0] / smallest) ** 2 * size
    return [doubtful("least_norm", finding.text)
            for finding in worst("least_norm", null, allowed)]
