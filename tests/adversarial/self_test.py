#!/usr/bin/env python3
"""The checks accept right answers and refuse each kind of wrong one, without heddle."""

import sys
import unittest
from fractions import Fraction
from pathlib import Path

try:
    import numpy as np
    import scipy.linalg
except ImportError as missing:
    print(f"skipped: {missing} (Debian: python3-scipy)", file=sys.stderr)
    sys.exit(77)

sys.path.insert(0, str(Path(__file__).resolve().parent))
import check  # noqa: E402
import truth  # noqa: E402
from cases import Case, Chooser  # noqa: E402
from families import FAMILIES, Problem  # noqa: E402
from families.base import laplace1d  # noqa: E402
from families.hermitian import flux_ring, gauged, quarter_turns  # noqa: E402
from process import Outcome  # noqa: E402


def kinds(case, problem, outcome):
    return {finding.kind for finding in check.check(case, problem, outcome)}


def count_below(A, B, t):
    """The number of eigenvalues of A x = lambda B x below t, by exact rational elimination."""
    n = len(A)
    M = [[Fraction(A[i][j]) - t * Fraction(B[i][j]) for j in range(n)] for i in range(n)]
    below = 0
    for k in range(n):
        below += M[k][k] < 0
        for i in range(k + 1, n):
            factor = M[i][k] / M[k][k]
            for j in range(k + 1, n):
                M[i][j] -= factor * M[k][j]
    return below


class GradedTruth(unittest.TestCase):
    """The truth of graded problems, where LAPACK has no digits, against exact arithmetic."""

    def exact(self, A, B=None):
        spectrum = truth.spectrum(A, B)
        masses = np.eye(len(A)) if B is None else B
        for j, (value, error) in enumerate(zip(spectrum.values, spectrum.errors)):
            self.assertLessEqual(error, 1e-9 * max(abs(value), abs(spectrum.values[0])))
            below, above = Fraction(value) - Fraction(error), Fraction(value) + Fraction(error)
            self.assertLessEqual(count_below(A, masses, below), j)
            self.assertGreater(count_below(A, masses, above), j)

    def test_graded(self):
        for name, seeds in (("penalty", 6), ("graded_mass", 30), ("hard_core", 6)):
            for seed in range(seeds):
                problem = FAMILIES[name][1](np.random.default_rng(seed), 7)
                self.exact(problem.A, problem.B)


class Eigenpairs(unittest.TestCase):
    """Answers to a chain with masses, by scipy, right and spoilt."""

    def setUp(self):
        n = 30
        self.problem = Problem(laplace1d(n), np.diag(np.linspace(1, 2, n)))
        self.case = Case("tiny", n, 1, "lobpcg", {"nev": 4})
        self.values, self.vectors = scipy.linalg.eigh(self.problem.A, self.problem.B)

    def kinds(self, places=(0, 1, 2, 3), exit_code=0, status="converged", change=None, **result):
        places = list(places)
        outcome = Outcome(exit_code, 0, 0, "")
        outcome.result = {"status": status, "eigenvalues": self.values[places].tolist(),
                          "error_bounds": [1e-12] * len(places),
                          "limited_by_rounding": [False] * len(places), **result}
        outcome.arrays = {"eigenvectors": self.vectors[:, places].copy()}
        if change:
            change(outcome)
        return kinds(self.case, self.problem, outcome)

    def test_right(self):
        self.assertEqual(self.kinds(), set())
        self.case.solver["which"] = "largest"
        self.assertEqual(self.kinds((29, 28, 27, 26)), set())
        self.case.solver.update(which="interval", interval=[self.values[2] - 1e-3,
                                                            self.values[5] + 1e-3])
        self.assertEqual(self.kinds((2, 3, 4, 5)), set())

    def test_missed_pairs(self):
        self.assertEqual(self.kinds((0, 1, 3, 4)), {"missed"})
        self.assertEqual(self.kinds((0, 1, 2)), {"count"})
        self.assertEqual(self.kinds((1, 0, 2, 3)), {"order"})
        self.case.solver.update(which="interval", interval=[0.0, self.values[4] + 1e-6])
        self.assertEqual(self.kinds(), {"count"})

    def test_residual_and_value(self):
        def shift(size):
            def change(outcome):
                outcome.result["eigenvalues"][0] += size
            return change
        self.assertEqual(self.kinds(change=shift(1e-3)), {"residual", "value"})
        self.assertEqual(self.kinds(change=shift(2e-8)), {"bound"})
        self.assertEqual(self.kinds(change=shift(2e-8), error_bounds=[3e-8] * 4), {"unmarked"})
        self.case.solver.update(tolerance=1e-8, criterion="norm")
        self.assertEqual(self.kinds(change=shift(2e-8), error_bounds=[3e-8] * 4), set())

    def test_vectors(self):
        def twice(outcome):
            outcome.arrays["eigenvectors"][:, 1] = outcome.arrays["eigenvectors"][:, 0]

        def long(outcome):
            outcome.arrays["eigenvectors"][:, 1] *= 1 + 1e-6

        def nothing(outcome):
            outcome.arrays["eigenvectors"][3, 1] = np.nan
        self.assertEqual(self.kinds(change=twice), {"residual", "orthogonality"})
        self.assertEqual(self.kinds(change=long), {"orthogonality"})
        self.assertEqual(self.kinds(change=nothing), {"not_finite"})

    def test_bounds(self):
        self.assertEqual(self.kinds(error_bounds=None), {"unbounded"})

        def shift(outcome):
            outcome.result["eigenvalues"][2] += 1e-10
        self.assertEqual(self.kinds(change=shift), {"bound"})
        wide = {"error_bounds": [1e-12, 1e-12, 1e-3, 1e-12]}
        self.assertEqual(self.kinds(**wide), {"unmarked"})
        self.assertEqual(self.kinds(**{**wide, "limited_by_rounding": [True] * 4}), {"idle_mark"})

    def test_sentences_that_contradict_counts(self):
        self.assertEqual(self.kinds(reason="all pairs converged: 4 of 4 pairs converged"), set())
        self.assertEqual(self.kinds(reason="all pairs converged: 3 of 4 pairs converged"), {"reason"})
        self.assertEqual(self.kinds(reason="all converged, worst residual nan"), {"reason"})
        self.assertEqual(self.kinds(converged=[True, True, False, True]), {"reason"})

    def test_endings(self):
        self.assertEqual(self.kinds(exit_code=3), {"exit_code"})
        self.assertEqual(self.kinds(exit_code=3, status="max_iterations"), {"unfinished"})
        self.assertEqual(self.kinds(exit_code=-11), {"crash"})
        self.assertEqual(self.kinds(exit_code=None), {"hang"})
        self.assertEqual(kinds(self.case, self.problem, Outcome(2, 0, 0, "no file")), {"refused"})
        self.assertEqual(kinds(self.case, self.problem, Outcome(0, 0, 0, "")), {"output"})
        self.problem.refuse = "no answer"
        self.assertEqual(self.kinds(), {"should_refuse"})

    def test_constraints(self):
        self.case.constraints = {"kind": "eigenvectors", "places": [0]}
        self.assertEqual(self.kinds((1, 2, 3, 4)), set())
        self.assertIn("constraint", self.kinds((0, 1, 2, 3)))


class HermitianPairs(unittest.TestCase):
    """Answers to a ring with a flux and a mass with phases, by scipy, right and spoilt."""

    def setUp(self):
        n = 24
        masses = np.linspace(1, 2, n)
        B = np.diag(masses) + 0.1j * (np.eye(n, k=1) - np.eye(n, k=-1))
        self.problem = Problem(flux_ring(n, 0.2), B)
        self.case = Case("tiny", n, 1, "lobpcg", {"nev": 4})
        self.values, self.vectors = scipy.linalg.eigh(self.problem.A, B)

    def kinds(self, places=(0, 1, 2, 3), change=lambda X: X, shift=0.0, **result):
        places = list(places)
        result = {"status": "converged", "eigenvalues": (self.values[places] + shift).tolist(),
                  "error_bounds": [1e-12] * 4, "limited_by_rounding": [False] * 4, **result}
        outcome = Outcome(0, 0, 0, "", result)
        outcome.arrays = {"eigenvectors": change(self.vectors[:, places].copy())}
        return kinds(self.case, self.problem, outcome)

    def test_right(self):
        self.assertEqual(self.kinds(), set())
        self.assertEqual(self.kinds(change=lambda X: X * np.exp(1j * np.arange(4))), set())
        self.case.solver["which"] = "largest"
        self.assertEqual(self.kinds((23, 22, 21, 20)), set())

    def test_values(self):
        self.assertEqual(self.kinds((0, 1, 3, 4)), {"missed"})
        self.assertEqual(self.kinds(shift=np.array([1e-3, 0, 0, 0])), {"residual", "value"})
        self.assertEqual(self.kinds(shift=1e-10), {"bound"})
        self.assertEqual(self.kinds(error_bounds=[1e-3] * 4), {"unmarked"})

    def test_vectors(self):
        def twice(X):  # a phase makes no other vector
            X[:, 1] = 1j * X[:, 0]
            return X

        def tilted(X):
            X[:, 1] += 1e-9j * X[:, 0]
            return X
        self.assertEqual(self.kinds(change=twice), {"residual", "orthogonality"})
        self.assertEqual(self.kinds(change=tilted), {"orthogonality"})
        self.assertEqual(self.kinds(change=lambda X: X.real), {"numbers"})
        self.assertIn("residual", self.kinds(change=lambda X: X.real + 0j))
        self.assertIn("residual", self.kinds(change=np.conj))
        self.case.constraints = {"kind": "eigenvectors", "places": [0]}
        self.assertEqual(self.kinds((1, 2, 3, 4)), set())
        self.assertIn("constraint", self.kinds())

    def test_complex_vectors_of_a_real_problem(self):
        self.problem = Problem(laplace1d(24))
        self.values, self.vectors = scipy.linalg.eigh(self.problem.A)
        self.assertEqual(self.kinds(), set())
        self.assertEqual(self.kinds(change=lambda X: X + 0j), {"numbers"})


class Others(unittest.TestCase):
    def test_triplets(self):
        rng = np.random.default_rng(1)
        for A in (rng.standard_normal((12, 7)), rng.standard_normal((12, 7)) + 1j * rng.random((12, 7))):
            self.check_triplets(A)

    def check_triplets(self, A):
        U, sigma, V = np.linalg.svd(A, full_matrices=False)
        case = Case("kahan", 7, 1, "block_lanczos", {"nev": 2, "which": "largest"})
        size = sigma[0]
        for places, change, bound, mark, expected in (
                ([0, 1], 0, 1e-13, False, set()), ([0, 2], 0, 1e-13, False, {"missed"}),
                ([0, 1], 1e-10, 1e-11, False, {"bound"}), ([0, 1], 0, 1e-3, False, {"unmarked"}),
                ([0, 1], 0, 1e-3, True, {"no_digits"})):
            outcome = Outcome(0, 0, 0, "", {"status": "converged",
                                            "singular_values": (sigma[places] + change).tolist(),
                                            "error_bounds": [bound * size] * 2,
                                            "limited_by_rounding": [mark] * 2})
            outcome.arrays = {"left_vectors": U[:, places], "right_vectors": V[places].conj().T}
            self.assertEqual(kinds(case, Problem(A, kind="triplets"), outcome), expected)

    def test_systems(self):
        A, b = laplace1d(9) * 1e-10, np.full((9, 1), 1e300)
        case = Case("spd_system", 9, 1, "block_cg")
        x = np.linalg.solve(A / 1e-10, b / 1e290)
        problem = Problem(A * 1e-20, rhs=b / 1e30, kind="linear")
        for solution, expected in ((x * 1e290, set()), (x * 1.001e290, {"residual"}),
                                   (x * np.inf, {"not_finite"}), (0 * x, {"residual"})):
            outcome = Outcome(0, 0, 0, "", {"status": "converged"})
            outcome.arrays = {"solution": solution}
            self.assertEqual(kinds(case, problem, outcome), expected)

    def test_complex_systems(self):
        A, b = flux_ring(9, 0.3), np.arange(9.0)[:, None] * (1 + 2j)
        for scale in (1.0, 1e-200):
            problem = Problem(A * scale, rhs=b * scale, kind="linear")
            x = np.linalg.solve(A, b)
            for solution, expected in ((x, set()), (x.conj(), {"residual"}), (x.real, {"numbers"}),
                                       (x.real + 0j, {"residual"}), (1.001 * x, {"residual"})):
                outcome = Outcome(0, 0, 0, "", {"status": "converged"})
                outcome.arrays = {"solution": solution}
                self.assertEqual(kinds(Case("spd_system", 9, 1, "block_cg"), problem, outcome), expected)

    def test_least_squares(self):
        rng = np.random.default_rng(2)
        A, b = rng.standard_normal((9, 4)), rng.standard_normal((9, 1))
        for factor in (1, 1 + 2j * rng.standard_normal((9, 1))):
            problem = Problem(A * factor, rhs=b, kind="least_squares")
            x = np.linalg.lstsq(A * factor, b, rcond=None)[0]
            for solution, expected in ((x, set()), (x + 1e-3, {"residual"})):
                outcome = Outcome(0, 0, 0, "", {"status": "converged"})
                outcome.arrays = {"solution": solution}
                self.assertEqual(kinds(Case("kahan", 4, 1, "block_cg"), problem, outcome), expected)


class Truth(unittest.TestCase):
    """Spectra in closed form lie within the errors that the truth states."""

    def contains(self, spectrum, exact, worst=1e-9):
        self.assertTrue(np.all(np.abs(spectrum.values - exact)
                               <= spectrum.errors + 4e-15 * np.abs(exact)))
        self.assertLessEqual(np.max(spectrum.errors / np.maximum(np.abs(exact), 1e-3)), worst)

    def test_closed_forms(self):
        n = 60
        angles = np.pi * np.arange(1, n + 1) / (n + 1)
        self.contains(truth.spectrum(laplace1d(n)), 4 * np.sin(angles / 2) ** 2)
        free = 4 * np.sin(np.pi * np.arange(n) / (2 * n)) ** 2
        self.contains(truth.spectrum(laplace1d(n, fixed=False)), free, 1e-15 / 1e-3)
        mass = 6 * np.eye(n) - laplace1d(n)
        waves = 4 * np.sin(angles / 2) ** 2
        self.contains(truth.spectrum(laplace1d(n), mass), waves / (6 - waves))

    def test_hermitian(self):
        for flux in (0.0, 1e-6, 0.3, 0.5):
            exact = np.sort(4 * np.sin(np.pi * (np.arange(40) + flux) / 40) ** 2)
            off = np.abs(truth.spectrum(flux_ring(40, flux)).values - exact)
            self.assertLess(np.max(off), 1e-14)  # the entries are rounded

    def test_phases_change_no_value(self):
        rng = np.random.default_rng(6)
        for name in ("penalty", "graded", "graded_mass", "hard_core", "stiff_springs", "clusters"):
            problem = FAMILIES[name][1](rng, 20)
            turned = gauged(problem, quarter_turns(rng, len(problem.A)))
            one, other = (truth.spectrum(each.A, each.B) for each in (problem, turned))
            with self.subTest(family=name):
                self.assertEqual(len(one.values), len(other.values))
                self.assertTrue(np.all(np.abs(one.values - other.values) <= one.errors + other.errors))
                self.assertTrue(np.all(other.errors <= 8 * one.errors + 1e-300))

    def test_stiff_part_beside_a_soft_one(self):
        A = np.zeros((62, 62))
        A[:60, :60] = laplace1d(60)
        A[60:, 60:] = 1e12 * np.array([[1, -1], [-1, 1]])
        spectrum = truth.spectrum(A)
        self.assertLess(abs(spectrum.values[0]) + spectrum.errors[0], 1e-3)
        self.assertLess(spectrum.errors[1], 1e-12)

    def test_massless_rows(self):
        A, B = laplace1d(3), np.diag([1.0, 0.0, 1.0])
        spectrum = truth.spectrum(A, B)
        self.assertEqual(spectrum.infinite, 1)
        self.contains(spectrum, np.array([1.0, 2.0]))

    def test_products_beyond_double(self):
        rng = np.random.default_rng(3)
        M, N = rng.integers(-2**40, 2**40, (5, 9)), rng.integers(-2**15, 2**15, (9, 4))
        self.assertTrue(np.array_equal(truth.product(M, N), (M @ N).astype(np.longdouble)))


class Families(unittest.TestCase):
    def test_every_family_gives_finite_symmetric_problems(self):
        for name, (kind, make) in FAMILIES.items():
            for n in (1, 2, 5, 40):
                problem = make(np.random.default_rng(n), n)
                with self.subTest(family=name, n=n):
                    self.assertTrue(np.all(np.isfinite(problem.A)))
                    if kind in ("eigen", "linear"):
                        self.assertTrue(np.array_equal(problem.A, problem.A.conj().T))

    def test_cases_replay(self):
        for index in range(60):
            case = Chooser(np.random.default_rng([5, index])).draw()
            again = Case.read(case.json())
            self.assertEqual(case, again)
            self.assertTrue(np.array_equal(case.problem().A, again.problem().A))


if __name__ == "__main__":
    unittest.main()
