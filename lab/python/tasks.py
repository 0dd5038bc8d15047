"""The tasks of compare.py: what heddle and a library beside it compute from the same arrays, with the
same tolerances. A solver of a task returns a function that judges the solution, so that the time of
judging is not measured."""

import inspect
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

import heddle

PAIRS = 6
COLUMNS = 8


@dataclass(frozen=True)
class Beside:
    """A library of arrays, sparse matrices and solvers with the functions of SciPy."""

    name: str
    arrays: ModuleType
    sparse: ModuleType
    linalg: ModuleType
    extras: dict[str, Any] = field(default_factory=dict)  # of heddle's functions
    primme: ModuleType | None = None
    synchronize: Callable[[], None] = lambda: None  # waits for what a solve has left on a device
    factor_limit: int = 0  # seconds that a factorisation for sigma may take. 0: eigsh has no sigma

    def start(self, A, columns):
        numbers = np.random.default_rng(1).standard_normal((A.shape[0], columns))
        return self.arrays.asarray(numbers)

    def jacobi(self, A):
        return self.sparse.diags(1 / A.diagonal(), format="csr")

    def factors(self, A):
        """Whether SuperLU factors A within the limit. It cannot be interrupted, so a child tries."""
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(self.factor_limit)
            try:
                self.linalg.splu(A.tocsc())
            except RuntimeError:  # a singular matrix
                os._exit(1)
            os._exit(0)
        return os.waitpid(child, 0)[1] == 0

    def norms(self, X):
        return self.arrays.linalg.norm(X, axis=0)


def norm_1(A):
    return float(abs(A).sum(axis=0).max())


def eigen_residual(beside, A, w, v):
    return float((beside.norms(A @ v - v * w) / beside.norms(v)).max()) / norm_1(A)


def eigen_task(which):
    """Six pairs of an end, tol = 0 for heddle and the library beside it, 1e-14 for PRIMME."""

    def solvers(beside, A):
        found = {
            "heddle": lambda: heddle.eigsh(A, PAIRS, which=which, **beside.extras),
            beside.name: lambda: beside.linalg.eigsh(A, PAIRS, which=which, maxiter=10**6),
        }
        if which == "SA" and beside.factor_limit:

            def shifted(factors=beside.factors(A)):
                if not factors:
                    raise TimeoutError
                return beside.linalg.eigsh(A.tocsc(), PAIRS, sigma=0)

            found[f"{beside.name} sigma=0"] = shifted
        if beside.primme is not None:
            found["primme"] = lambda: beside.primme.eigsh(A, PAIRS, which=which, tol=1e-14)
        return {
            name: lambda solve=solve: partial(eigen_residual, beside, A, *solve())
            for name, solve in found.items()
        }

    return solvers


def lobpcg_task(beside, A):
    """Six smallest pairs to residuals of 1e-8 |A|, Jacobi beside heddle as it comes."""
    X, M = beside.start(A, PAIRS), beside.jacobi(A)
    options = {"tol": 1e-8 * norm_1(A), "largest": False}

    def judged(found):
        residual = eigen_residual(beside, A, *found)
        if not residual <= 2e-8:
            raise RuntimeError(f"residual {residual:.1e}")
        return residual

    def theirs():
        return partial(judged, beside.linalg.lobpcg(A, X, M=M, maxiter=3000, **options))

    def ours(**extras):
        extras |= {"on_failure": "raise", **beside.extras, **options}
        return partial(eigen_residual, beside, A, *heddle.lobpcg(A, X, **extras))

    return {
        "heddle": ours,
        beside.name: theirs,
        "heddle jacobi": lambda: ours(preconditioner="jacobi"),
    }


def svds_task(beside, A):
    """Six largest triplets, tol = 0 for heddle and the library beside it, 1e-14 for PRIMME."""

    def judged(u, s, vh):
        return float(beside.norms(A @ vh.T - u * s).max()) / float(s.max())

    found = {
        "heddle": lambda: heddle.svds(A, PAIRS, **beside.extras),
        beside.name: lambda: beside.linalg.svds(A, PAIRS),
    }
    if beside.primme is not None:
        found["primme"] = lambda: beside.primme.svds(A, PAIRS, tol=1e-14)
    return {name: lambda solve=solve: partial(judged, *solve()) for name, solve in found.items()}


def cg_task(columns):
    """Residuals of 1e-8 |b|, Jacobi and one column after the other beside heddle as it comes."""

    def solvers(beside, A):
        B, M = beside.start(A, columns), beside.jacobi(A)
        cg = beside.linalg.cg
        # The argument for the relative tolerance, whose name has changed.
        relative = "rtol" if "rtol" in inspect.signature(cg).parameters else "tol"

        def judge(X):
            return float((beside.norms(A @ X - B) / beside.norms(B)).max())

        def theirs():
            options = {relative: 1e-8, "atol": 0, "maxiter": 100000, "M": M}
            found = [cg(A, beside.arrays.ascontiguousarray(b), **options) for b in B.T]
            if any(info for _, info in found):
                raise RuntimeError("not converged")
            return partial(judge, beside.arrays.stack([x for x, _ in found], axis=1))

        def ours():
            options = {"rtol": 1e-8, "maxiter": 100000, "on_failure": "raise", **beside.extras}
            return partial(judge, heddle.cg(A, B, **options)[0])

        return {"heddle": ours, beside.name: theirs}

    return solvers


TASKS = {
    "eigsh, 6 largest": eigen_task("LA"),
    "eigsh, 6 smallest": eigen_task("SA"),
    "lobpcg, 6 smallest": lobpcg_task,
    "svds, 6 largest": svds_task,
    "cg, 1 column": cg_task(1),
    f"cg, {COLUMNS} columns": cg_task(COLUMNS),
}
