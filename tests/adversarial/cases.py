"""A case: a problem of a family, a program and its configuration. It is JSON that replays a run."""

import json
from dataclasses import asdict, dataclass, field

import numpy as np

import truth
from families import FAMILIES
from families.base import gaussian

PROGRAMS = {"lobpcg": ["heddle-lobpcg"], "block_lanczos": ["heddle-lanczos"], "block_cg": ["heddle-cg"],
            "auto": ["heddle", "solve"]}
DIGITS = {"double": 1e-6, "mixed": 1e-6, "single": 1e-3}  # promised by the defaults
DEFAULT_TOLERANCE = {"double": 1e-8, "mixed": 1e-8, "single": 1e-5}


@dataclass
class Case:
    """`solver`: keys of the map `solver` of the configuration. `guess`, `constraints`: how to make
    these vectors from the problem, see `vectors`."""

    family: str
    n: int
    seed: int
    program: str
    solver: dict = field(default_factory=dict)
    precision: str = "double"
    random_seed: int = 42
    guess: dict | None = None
    constraints: dict | None = None

    @staticmethod
    def read(text):
        return Case(**json.loads(text))

    def json(self):
        return json.dumps(asdict(self))

    def problem(self):
        """The problem of the family, the same for the same case."""
        return FAMILIES[self.family][1](np.random.default_rng(self.seed), self.n)

    @property
    def kind(self):
        return FAMILIES[self.family][0]

    @property
    def nev(self):
        return self.solver.get("nev", 6)

    @property
    def which(self):
        return self.solver.get("which", "smallest")

    @property
    def tolerance(self):
        return self.solver.get("tolerance", DEFAULT_TOLERANCE[self.precision])

    @property
    def epsilon(self):
        return float(np.finfo(np.float32 if self.precision == "single" else np.float64).eps)

    @property
    def digits(self):
        """What the criterion promises of |value - truth| / |value| for values that are not marked
        as limited by rounding, None where it promises nothing. An error bound holds the error of
        the iteration and that of rounding, each at most the tolerance times |value|."""
        if self.solver.get("criterion", "eigenvalue") != "eigenvalue":
            return None
        return 2.01 * self.tolerance if "tolerance" in self.solver else DIGITS[self.precision]


def vectors(how, problem, seed):
    """The columns of a guess or of constraints. kind: eigenvectors (`places` counted from the
    smallest, with an `error` if given), random, ones or dependent (`columns` of rank one)."""
    n = problem.A.shape[1]
    rng = np.random.default_rng([seed, 1])

    def normal(shape):
        return gaussian(rng, shape) if problem.complex else rng.standard_normal(shape)
    if how["kind"] == "eigenvectors":
        places = [place for place in how["places"] if place < n]
        vectors = truth.eigenvectors(problem.A, problem.B)[:, places]
        error = how.get("error", 0.0) * np.abs(vectors).max(axis=0, initial=0.0)
        return vectors + error * normal(vectors.shape)
    if how["kind"] == "random":
        return normal((n, how["columns"]))
    if how["kind"] == "ones":
        return np.ones((n, 1))
    return normal((n, 1)) @ rng.uniform(-1, 1, (1, how["columns"]))


def preconditioners(kind, complex):
    """Those that take the matrices of a problem."""
    if kind == "least_squares":
        return ["none", "jacobi"]
    if complex:
        return ["none", "jacobi", "block_jacobi", "chebyshev", "incomplete_cholesky"]
    return ["none", "jacobi", "block_jacobi", "chebyshev", "incomplete_cholesky", "multigrid"]


class Chooser:
    """Draws cases. Half of the eigenproblems run by the defaults of the program."""

    def __init__(self, rng, family=None):
        self.rng = rng
        names = [name for name in FAMILIES if family is None or family in name]
        if not names:
            raise SystemExit(f"no family has {family!r} in its name; there are: "
                             + ", ".join(sorted(FAMILIES)))
        self.names = names

    def chance(self, probability):
        return self.rng.random() < probability

    def one_of(self, *choices):
        return choices[int(self.rng.integers(0, len(choices)))]

    def between(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def size(self):
        """Up to 256 rows are solved densely unless told otherwise, so a third has more."""
        draw = self.rng.random()
        if draw < 0.45:
            return self.between(3, 60)
        return self.between(60, 200) if draw < 0.7 else self.between(257, 340)

    def draw(self):
        family = self.names[int(self.rng.integers(0, len(self.names)))]
        case = Case(family, self.size(), self.between(0, 2**31 - 1), "block_cg",
                    random_seed=self.between(0, 2**31 - 1))
        case.precision = self.one_of("double", "double", "double", "double", "single", "mixed")
        problem = case.problem()
        if problem.complex:
            case.precision = "double"
        if case.kind == "eigen":
            self.eigen(case, problem)
        elif case.kind == "triplets":
            self.triplets(case, problem)
        else:
            self.system(case, problem)
        return case

    def eigen(self, case, problem):
        case.program = self.one_of("lobpcg", "lobpcg", "block_lanczos", "block_lanczos", "auto")
        n = len(problem.A)
        most = max(1, n - 1)
        case.solver["nev"] = min(most, self.one_of(1, 1, 2, 3, 4, 6, 6, 10, self.between(1, 24)))
        if self.chance(0.05):
            case.solver["nev"] = self.between(max(1, n - 3), most)
        case.solver["which"] = self.one_of("smallest", "smallest", "largest")
        if self.chance(0.5):
            self.criterion(case, problem)
        if problem.interval:
            case.program = "block_lanczos"
            return self.narrow_interval(case, problem)
        if problem.nearest:
            return self.nearest(case, problem)
        if case.program == "auto":
            return None
        if self.chance(0.3):
            case.solver["block_size"] = self.between(1, min(n, 12))
        inside = case.program == "block_lanczos"
        if inside and problem.B is None and self.chance(0.15):
            return self.interval(case, problem)
        if inside and self.chance(0.2):
            return self.nearest(case, problem)
        if case.program == "lobpcg":
            self.lobpcg(case, problem)
        elif self.chance(0.4):
            case.solver["filter"] = self.one_of("chebyshev", "none", "inverse")
            if case.which == "largest" and case.solver["filter"] == "inverse":
                case.solver["filter"] = "auto"
        if self.chance(0.15):
            case.guess = self.guess(n, case.nev)

    def criterion(self, case, problem):
        lowest = -5 if case.precision == "single" else -12
        case.solver["tolerance"] = float(10.0 ** self.rng.integers(lowest, -3))
        criterion = self.one_of("default", "norm", "eigenvalue", "relative", "absolute")
        if criterion == "absolute":
            size = float(np.max(np.abs(problem.A), initial=0.0))
            absolute = case.solver["tolerance"] * size
            case.solver["tolerance"] = absolute if 1e-300 < absolute < 1 else 1e-6
        if criterion != "default":
            case.solver["criterion"] = criterion

    def lobpcg(self, case, problem):
        if self.chance(0.5) and (case.which == "smallest" or problem.B is not None):
            kind = self.one_of(*preconditioners(case.kind, problem.complex))
            preconditioner = {"type": kind}
            if kind == "chebyshev" and self.chance(0.5):
                preconditioner["degree"] = self.between(1, 40)
            if kind == "incomplete_cholesky" and self.chance(0.3):
                preconditioner["triangular_solve"] = "iterated"
            case.solver["preconditioner"] = preconditioner
        if self.chance(0.1):
            case.solver["refresh_interval"] = self.between(1, 200)
        if self.chance(0.15) and not problem.refuse and truth.knows_complements(problem.B):
            case.constraints = self.one_of({"kind": "eigenvectors", "places": [0]},
                                           {"kind": "eigenvectors", "places": [0, 1, 2]},
                                           {"kind": "random", "columns": self.between(1, 4)},
                                           {"kind": "dependent", "columns": 3},
                                           {"kind": "ones"})
            room = len(problem.A) - 5
            if room < 1:
                case.constraints = None
            else:
                case.solver["nev"] = min(case.nev, room)

    def guess(self, n, nev):
        places = sorted({self.between(0, n - 1) for _ in range(self.between(1, nev))})
        second = [k + 1 for k in range(nev) if k + 1 < n] or [0]
        return self.one_of({"kind": "eigenvectors", "places": places},
                           {"kind": "eigenvectors", "places": second},
                           {"kind": "eigenvectors", "places": second,
                            "error": float(10.0 ** self.rng.integers(-9, 0))},
                           {"kind": "eigenvectors", "places": [n - 1]},
                           {"kind": "random", "columns": nev},
                           {"kind": "dependent", "columns": nev},
                           {"kind": "ones"})

    def interval(self, case, problem):
        """An interval with a dozen values, with hardly any, or beyond the spectrum."""
        values = truth.spectrum(problem.A).values
        first = self.between(0, len(values) - 1)
        last = min(len(values) - 1, first + self.between(0, 12))
        span = values[-1] - values[0] or abs(values[0]) or 1.0
        width = span * float(10.0 ** self.rng.uniform(-9, -1))
        ends = [values[first] - width * self.rng.random(), values[last] + width * self.rng.random()]
        if self.chance(0.15):
            ends = [values[-1] + width, values[-1] + 2 * width]
        if not ends[0] < ends[1] or not np.all(np.isfinite(ends)):
            return
        case.solver.update(which="interval", interval=[float(end) for end in ends],
                           nev=min(max(1, len(values) - 1), last - first + 1 + self.between(0, 20)))
        if case.precision == "mixed":
            case.precision = "double"

    def narrow_interval(self, case, problem):
        """An interval whose ends lie at a share of the gap beyond its outermost values, down to 1e-8 of
        it. Values are tiny beside the norm."""
        values = truth.spectrum(problem.A).values
        small = values[values < 1e-2 * max(values[-1], 1e3 * values[0])]
        first = self.between(0, max(0, len(small) - 2))
        last = min(first + self.between(0, 12), max(0, len(small) - 2))
        share = float(10.0 ** self.rng.uniform(-8, -0.1))
        below = values[first] - (values[first - 1] if first > 0 else values[first] - 1.0)
        above = values[last + 1] - values[last] if last + 1 < len(values) else 1.0
        ends = [values[first] - share * below, values[last] + share * min(above, 1.0)]
        if not ends[0] < ends[1]:
            return
        case.solver.update(which="interval", interval=[float(end) for end in ends],
                           nev=min(len(values), last - first + 1 + self.between(0, 3)))
        if case.precision == "mixed":
            case.precision = "double"

    def nearest(self, case, problem):
        """A number on an eigenvalue, next to one, in a gap, between the ends, or beyond them."""
        case.program = "block_lanczos"
        if case.precision == "mixed":
            case.precision = "double"
        values = np.zeros(1)
        if not problem.refuse:
            values = truth.spectrum(problem.A, problem.B, coarse=problem.coarse).values
        if len(values) == 0:
            values = np.zeros(1)
        i = self.between(0, len(values) - 1)
        on, after = float(values[i]), float(values[min(i + 1, len(values) - 1)])
        span = float(values[-1] - values[0]) or abs(on) or 1.0
        share, sign = float(10.0 ** self.rng.uniform(-12, 0)), self.one_of(-1.0, 1.0)
        places = [on, on, on + sign * share * span, on + sign * share * abs(on),
                  (on + after) / 2, on + share * (after - on),
                  float(values[0]) + span * self.rng.random(), 0.0,
                  float(values[0]) - share * span, float(values[-1]) + share * span,
                  on + sign * span / share]
        sigma = places[self.between(0, len(places) - 1)]
        if case.solver.get("criterion") == "absolute":
            del case.solver["criterion"], case.solver["tolerance"]
        case.solver.update(which="nearest", sigma=sigma if np.isfinite(sigma) else 1.0,
                           side=self.one_of("both", "both", "above", "below"))

    def triplets(self, case, problem):
        case.program = self.one_of("lobpcg", "block_lanczos")
        if case.precision == "mixed":
            case.precision = "double"
        case.solver["nev"] = min(min(problem.A.shape), self.between(1, 12))
        case.solver["which"] = self.one_of("smallest", "largest")
        if self.chance(0.4):
            self.criterion(case, problem)

    def system(self, case, problem):
        if self.chance(0.5):
            case.solver["tolerance"] = float(10.0 ** self.rng.integers(
                -5 if case.precision == "single" else -14, -2))
        if self.chance(0.1):
            case.solver.update(criterion="absolute", tolerance=float(10.0 ** self.rng.integers(-9, -2)))
        if self.chance(0.4):
            case.solver["algorithm"] = self.one_of("breakdown_free", "pseudo_block")
        if self.chance(0.5):
            kinds = preconditioners(case.kind, problem.complex)
            case.solver["preconditioner"] = {"type": self.one_of(*kinds)}
        if self.chance(0.1):
            case.guess = {"kind": "random"}
