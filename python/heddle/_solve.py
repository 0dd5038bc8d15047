"""Every solve of the package: a problem and options in, a result out."""

from __future__ import annotations

import difflib
import logging
import operator
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal, TypedDict

import numpy as np

from . import _core
from . import _device_solve as on_device
from ._device_arrays import DeviceOperand, Library, library_of
from ._errors import ConvergenceWarning, Interrupted, NotConverged
from ._inputs import (
    AnyOperand,
    Operand,
    as_complex,
    asymmetry_of,
    block,
    matrix,
    optional_matrix,
    symmetric,
)
from ._messages import callers_names, renamed_reason, way_to_symmetry
from ._result import Result, result_of
from ._scalars import check_real, real_of
from ._seed import seed_of

logger = logging.getLogger("heddle")

OnFailure = Literal["raise", "warn", "return"]


class _Common(TypedDict, total=False):
    """The keyword arguments that do not change what a function returns."""

    method: str
    preconditioner: str | dict[str, Any]
    device: str
    devices: int | Literal["all"]
    threads: int
    seed: int
    time_limit: float | None
    callback: Callable[[_core.State], bool | None] | None
    progress: bool
    symmetrize: Literal["average", "triangle"] | None
    on_failure: OnFailure
    block_size: int
    criterion: str
    linear_criterion: str
    precision: str
    max_basis: int
    filter: str
    factorization: str
    certify: str
    algorithm: str
    project_rhs: bool
    kernel: str
    reorder: str
    cache: str
    distribution: str
    refresh_interval: int
    start: str
    checkpoint: str
    checkpoint_every: float
    resume: bool


class Extras(_Common, total=False):
    """The keyword arguments that all functions take beside those of SciPy.

    method: "auto", "lobpcg", "block_lanczos" or "block_cg".
    preconditioner: "auto", "none", a name such as "chebyshev", or a dictionary with options,
        {"type": "chebyshev", "degree": 8}.
    device: "auto", "host" or "cuda". Arrays on a GPU are solved there.
    devices: the number of GPUs of this machine that solve together, or "all" of them, for problems
        in host memory.
    threads: on the host, 0 for as many as there are CPUs. Results do not depend on it.
    seed: of random start vectors. Equal seeds give equal bits.
    time_limit: in seconds.
    callback: called with a `State` after each iteration. Returning False ends the solve.
    progress: whether to show a bar, which needs tqdm.
    return_stats: whether to return the `Result`, too, as the last value.
    symmetrize: "average" takes (A + A^T)/2, of complex matrices (A + A^H)/2, in place of A and of B,
        which rounding or printing has made unsymmetric. `Result.asymmetry` says by how much.
        "triangle" completes matrices that have entries in one triangle alone.
    on_failure: what to do where the accuracy is not reached: "raise" `NotConverged`, "warn", or
        "return" what there is.
    Further ones are those of a configuration: block_size, criterion (linear_criterion of a linear
        system), precision, max_basis, filter, factorization, certify, algorithm, project_rhs, kernel,
        reorder, cache, distribution, refresh_interval, start, checkpoint, checkpoint_every, resume. One that the
        method does not read is refused. Without a method, those that only tune another one have no
        effect."""

    return_stats: bool


class PlainExtras(_Common, total=False):
    """`Extras` of a call that returns no `Result`."""

    return_stats: Literal[False]


@dataclass
class Problem:
    """A x = lambda x, A x = lambda B x, A X = rhs; with `normal_equations` the singular triplets of
    an A of any shape, or min |rhs - A X|.

    `initial_guess`, `constraints` (eigenvectors are sought B-orthogonal to them) and `rhs` are
    arrays with a vector per column. With `geometric_stiffness`, a symmetric K_g in place of B, the
    eigenvalues are the load factors of A x = -lambda K_g x, smallest first, positive ones unless the
    option `side` says "both" or "below". `preconditioner` is an approximate inverse of A, as a matrix or
    a function. `A_transposed` is needed where A is an operator and `normal_equations` is set.
    `null_vector_sizes`: n positive numbers, the absolute values of a vector that A maps to 0 where
    one is known, such as the square roots of the degrees for a normalised Laplacian of a weighted
    graph. It is a hint that is checked. `near_null` (n × m: vectors that A nearly maps to 0 away from
    the boundary) or `coordinates` (nodes × 2 or 3: positions of the nodes of an elastic body, whose
    rigid body motions are taken) help the preconditioner "multigrid". One part of complex numbers
    makes the problem complex. Its A and B are Hermitian, and it is solved in double precision, also
    where the numbers are complex64."""

    A: Any
    B: Any = None
    rhs: Any = None
    initial_guess: Any = None
    constraints: Any = None
    preconditioner: Any = None
    normal_equations: bool = False
    A_transposed: Any = None
    null_vector_sizes: Any = None
    near_null: Any = None
    coordinates: Any = None
    geometric_stiffness: Any = None


@dataclass
class Prepared:
    """A problem in the types of the library, in host memory or in that of a GPU."""

    A: AnyOperand
    B: AnyOperand | None = None
    rhs: Any = None
    initial_guess: Any = None
    constraints: Any = None
    preconditioner: AnyOperand | None = None
    normal_equations: bool = False
    A_transposed: AnyOperand | None = None
    null_vector_sizes: np.ndarray | None = None
    near_null: np.ndarray | None = None
    coordinates: np.ndarray | None = None
    geometric_stiffness: AnyOperand | None = None
    dtype: np.dtype = np.dtype(np.float64)  # of the vectors that are returned

    def __post_init__(self) -> None:
        """One complex part makes the vectors complex."""
        blocks = (self.rhs, self.initial_guess, self.constraints)
        scalars = [part.dtype for part in self.matrices()]
        library = self.library
        for X in blocks:  # a part in other memory is refused later
            if isinstance(X, np.ndarray):
                scalars.append(X.dtype)
            elif library is not None and X is not None:
                scalars.append(np.dtype(library.scalar(X)))
        if any(scalar.kind == "c" for scalar in scalars):
            self.dtype = np.promote_types(self.dtype, np.complex64)

    @property
    def is_complex(self) -> bool:
        return self.dtype.kind == "c"

    @property
    def library(self) -> Library | None:
        """The owner of the arrays on a GPU. None for a problem in host memory."""
        return self.A.library if isinstance(self.A, DeviceOperand) else None

    def returned_values(self, values: np.ndarray) -> Any:
        """Eigenvalues, in the precision of the matrices."""
        return self.returned(values.astype(real_of(self.dtype)))

    def returned(self, values: np.ndarray) -> Any:
        """Numbers as an array of the caller's library."""
        library = self.library
        if library is None:
            return values
        with library.current():
            return library.array(values)

    def matrices(self) -> list[AnyOperand]:
        parts = (self.A, self.B, self.preconditioner, self.A_transposed, self.geometric_stiffness)
        return [part for part in parts if part is not None]

    @property
    def all_stored(self) -> bool:
        return all(part.is_stored for part in self.matrices())


_idle_gpus = threading.local()


@contextmanager
def borrowed_device(
    name: str, threads: int, gpu: int = 0, devices: int = 1
) -> Iterator[_core.Device]:
    """A device for one solve. The context of a GPU takes long to make, so each thread keeps one for
    its next solve, unless this one has failed. A solve within a solve gets one of its own.
    `devices`: the GPUs that solve together, 0 for all."""
    if not _core.has_cuda or name in ("host", "cpu"):
        yield _core.Device(name, threads, devices=devices)
        return
    idle, key = _idle_gpus.__dict__, f"{name} {threads} {gpu} {devices}"
    device = idle.pop(key, None) or _core.Device(name, threads, gpu, devices)
    yield device
    idle[key] = device


def _number_of_devices(devices: Any) -> int:
    """The GPUs that `devices` asks for, 0 for all."""
    if isinstance(devices, str) and devices == "all":
        return 0
    try:
        number = operator.index(devices)
    except TypeError:
        raise TypeError(f"devices is {devices!r}, not a number of GPUs or 'all'") from None
    if number < 1:
        raise ValueError(f"devices is {number}, but at least one GPU solves: take 1 or 'all'")
    return number


def _refuse_unknown(
    extras: dict[str, Any], options: dict[str, Any], names: dict[str, str]
) -> None:
    """Refuses keywords that are no options, and names a similar one. `options` and `names` are those
    of `Options`."""
    keywords = _core.request_keywords()
    known = [names.get(field, field) for field in options]
    known += [word for word in keywords if word not in options]
    for name in extras:
        if name in keywords:
            continue
        near = difflib.get_close_matches(name, known, 1)
        hint = f"; did you mean {near[0]}?" if near else f"; it knows {', '.join(known)}"
        raise TypeError(f"heddle knows no option {name}{hint}")


class Options:
    """The extras of a call, separated into those for the library and those for this package."""

    def __init__(
        self,
        extras: dict[str, Any],
        on_failure: OnFailure,
        names: dict[str, str] | None = None,
        **options: Any,
    ):
        """`names`: the caller's names for the library's fields. `options`: what the caller has
        arguments of its own for, as fields of the library."""
        extras = dict(extras)
        self.device: str = extras.pop("device", "auto")
        self.devices = _number_of_devices(extras.pop("devices", 1))
        self.threads: int = extras.pop("threads", 0)
        self.callback = extras.pop("callback", None)
        self.progress: bool = extras.pop("progress", False)
        self.return_stats: bool = extras.pop("return_stats", False)
        self.explicit_failure: OnFailure | None = extras.pop("on_failure", None)
        self.on_failure: OnFailure = self.explicit_failure or on_failure
        if self.on_failure not in ("raise", "warn", "return"):
            raise ValueError(
                f"on_failure is {self.on_failure!r}, not one of 'raise', 'warn', 'return'"
            )
        self.symmetrize: str | None = extras.pop("symmetrize", None)
        if self.symmetrize not in (None, "average", "triangle"):
            raise ValueError(
                f"symmetrize is {self.symmetrize!r}, not one of 'average', 'triangle', None"
            )
        if self.callback is not None and not callable(self.callback):
            raise TypeError(f"callback is a {type(self.callback).__name__}, not a function")
        if extras.get("time_limit", 0) is None:
            del extras["time_limit"]
        if "seed" in extras:
            extras["seed"] = seed_of(extras["seed"])
        if twice := options.keys() & extras.keys():
            fields = ", ".join(sorted(twice))
            own = ", ".join((names or {}).get(field, field) for field in sorted(twice))
            raise TypeError(f"{fields}: this function has an argument of its own for it: {own}")
        _refuse_unknown(extras, options, names or {})
        self.request: dict[str, Any] = {**options, **extras}
        # Residuals that are small enough where rounding ends a solve whose tolerance is 0.
        self.rounding = 0.0
        self.stopped = False  # whether the callback has returned False

    def default_tolerance(self, dtype: np.dtype) -> None:
        """For a tolerance of 0, as SciPy means it: as accurate as rounding allows."""
        if self.request["tolerance"] == 0:
            precision = "single" if real_of(dtype) == np.float32 else "double"
            single = self.request.get("precision", precision) == "single"
            self.request["tolerance"] = 1e-6 if single else 1e-14
            self.rounding = 100 * self.request["tolerance"]

    @contextmanager
    def device_of(self, library: Library) -> Iterator[_core.Device]:
        """The device of a solve, where its arrays lie, which is the current one meanwhile."""
        if self.device in ("host", "cpu"):
            raise ValueError(
                f"device is {self.device!r}, but the problem lies on GPU {library.gpu}: copy its "
                f"parts to the host by {library.way_to_host}"
            )
        if self.devices > 1:
            raise ValueError(
                f"devices is {self.devices}, but the problem lies on GPU {library.gpu}, which solves "
                f"it alone: copy its parts to the host by {library.way_to_host}"
            )
        with library.current(), borrowed_device(library.device, self.threads, library.gpu) as found:
            yield found

    def device_for(
        self, all_stored: bool, devices: int | None = None
    ) -> AbstractContextManager[_core.Device]:
        """The device of a solve, of as many GPUs as the call asks for if `devices` is None. A GPU
        cannot multiply by a function of host blocks."""
        name = "host" if self.device == "auto" and not all_stored else self.device
        number = self.devices if devices is None else devices
        return borrowed_device(name, self.threads, devices=number)


class _Watch:
    """What is told of a solve while it runs: callback, bar and log."""

    def __init__(self, options: Options):
        self._callback = options.callback
        self._bar: Any = None
        self.ended_by_callback = False
        if options.progress:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                warnings.warn("progress needs tqdm, which is not installed", stacklevel=4)
            else:
                self._bar = tqdm(unit="pair")

    @property
    def iteration(self) -> Callable[[_core.State], bool] | None:
        needed = self._callback is not None or self._bar is not None
        return self._after_iteration if needed else None

    @property
    def stage(self) -> Callable[[str], None] | None:
        needed = self._bar is not None or logger.isEnabledFor(logging.DEBUG)
        return self._begin_stage if needed else None

    def _after_iteration(self, state: _core.State) -> bool:
        if self._bar is not None:
            self._bar.total = state.nev
            self._bar.n = state.converged
            self._bar.set_postfix(iteration=state.iteration, residual=state.worst_residual)
        if self._callback is not None and self._callback(state) is False:
            self.ended_by_callback = True
        return not self.ended_by_callback

    def _begin_stage(self, name: str) -> None:
        logger.debug("%s", name)
        if self._bar is not None:
            self._bar.set_description(name)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


def _core_of(operand: AnyOperand | None, is_complex: bool) -> Any:
    assert not isinstance(operand, DeviceOperand)
    if operand is None:
        return None
    return as_complex(operand).core if is_complex else operand.core


def _block_of(X: np.ndarray | None, is_complex: bool) -> np.ndarray | None:
    if X is None or not is_complex or X.dtype.kind == "c":
        return X
    return np.array(X, dtype=np.complex128, order="C")


_SYMMETRIC = ("A", "B", "geometric_stiffness")
_PARTS = (
    "B",
    "rhs",
    "initial_guess",
    "constraints",
    "preconditioner",
    "A_transposed",
    "geometric_stiffness",
)


def _check_places(problem: Prepared, names: dict[str, str]) -> None:
    """Checks that all parts lie on the device of A, as arrays of one library."""
    for field in _PARTS:
        part = getattr(problem, field)
        if part is None or (isinstance(part, Operand) and problem.library is None):
            continue
        name = names.get(field, field)
        found = part.library if isinstance(part, DeviceOperand) else None
        if not isinstance(part, (Operand, DeviceOperand)):
            found = library_of(part, name)
        if found == problem.library:
            continue
        places = [_place(each) for each in (problem.library, found)]
        raise TypeError(f"A lies {places[0]}, but {name} {places[1]}: all parts must lie together")


def _place(library: Library | None) -> str:
    return "in host memory" if library is None else f"on GPU {library.gpu}, in {library.name}"


def _host_problem(problem: Prepared, request: dict[str, Any]) -> Any:
    """A problem in host memory as the library takes it. Sets its precision in `request`."""
    if problem.dtype == np.float32 and problem.all_stored:
        request.setdefault("precision", "single")
    is_complex = problem.is_complex
    if is_complex and problem.null_vector_sizes is not None:
        raise ValueError("null_vector_sizes: null vectors are looked for of real matrices only")
    kind: Any = _core.ComplexProblem if is_complex else _core.Problem
    matrices = ("B", "preconditioner", "A_transposed", "geometric_stiffness")
    blocks = ("rhs", "initial_guess", "constraints")
    return kind(
        _core_of(problem.A, is_complex),
        **{name: _core_of(getattr(problem, name), is_complex) for name in matrices},
        **{name: _block_of(getattr(problem, name), is_complex) for name in blocks},
        normal_equations=problem.normal_equations,
        near_null=problem.near_null,
        coordinates=problem.coordinates,
    )


def symmetrized(
    problem: Prepared, options: Options, names: dict[str, str] | None = None
) -> tuple[Prepared, float]:
    """The problem with symmetric matrices, if the caller asked for it, and the larger asymmetry of
    both before."""
    how = options.symmetrize
    if how is None:
        return problem, 0.0
    names = names or {}
    if problem.normal_equations:
        name = names.get("normal_equations", "normal_equations")
        raise ValueError(f"symmetrize={how!r} does not go with {name}, for which A need not be symmetric")
    changed: dict[str, Any] = {}
    asymmetry = 0.0
    for field in _SYMMETRIC:
        if (operand := getattr(problem, field)) is not None:
            changed[field], removed = symmetric(operand, names.get(field, field), how)
            asymmetry = max(asymmetry, removed)
    return replace(problem, **changed), asymmetry


def way_out_of(problem: Prepared) -> Callable[[str], str]:
    """What `callers_names` adds to the message that a matrix of the problem is not symmetric."""

    def way_out(field: str) -> str:
        operand = getattr(problem, field, None)
        if field not in _SYMMETRIC or not isinstance(operand, Operand):
            return ""
        return way_to_symmetry(*asymmetry_of(operand), operand.dtype.kind == "c")

    return way_out


def _device_of(problem: Prepared, options: Options) -> AbstractContextManager[_core.Device]:
    if problem.library is not None:
        return options.device_of(problem.library)
    return options.device_for(problem.all_stored)


def run(problem: Prepared, options: Options, names: dict[str, str] | None = None) -> Result:
    """Solves the problem. `names`: the caller's names for the library's fields, for messages."""
    names = names or {}
    problem, asymmetry = symmetrized(problem, options, names)
    request, library = dict(options.request), problem.library
    _check_places(problem, names)
    with (
        callers_names(names, way_out_of(problem)),
        closing(_Watch(options)) as watch,
        _device_of(problem, options) as device,
    ):
        told = {"iteration": watch.iteration, "stage": watch.stage}
        if library is None:
            core = _host_problem(problem, request)
            sizes = problem.null_vector_sizes
            solution = _core.solve(device, request, core, null_vector_sizes=sizes, **told)
            result = result_of(solution, problem.dtype)
        else:
            result = on_device.solved(problem, library, device, request, **told)
    result.asymmetry = asymmetry
    renamed_reason(result, names)
    options.stopped = watch.ended_by_callback
    logger.info("%s: %s (%s)", result.status, result.reason, ", ".join(result._facts()))
    interrupted = result.status == "interrupted" and not watch.ended_by_callback
    if interrupted and options.explicit_failure in (None, "raise"):
        raise Interrupted(result.reason, result)
    return result


def judge(result: Result, options: Options) -> Result:
    """Raises or warns, as the caller asked for, if the solve has not converged. A callback that
    ends a solve has got what it asked for."""
    if result.status in ("converged", "interrupted"):
        return result
    if result.status == "stagnated" and result.residuals.size:
        # Of an interval, pairs may be missing unless all were counted.
        ends = options.request.get("interval") is None
        known = result.completeness.proven or result.completeness.method == "dense"
        all_there = ends or known
        if all_there and np.all(result.residuals <= options.rounding):
            return result
    message = f"{result.status}: {result.reason}"
    if options.on_failure == "raise":
        raise NotConverged(message, result)
    if options.on_failure == "warn":
        warnings.warn(message, ConvergenceWarning, stacklevel=3)
    return result


def iteration_limit(maxiter: int | None, name: str = "maxiter") -> int:
    """The library's max_iterations, whose 0 is the default of a method. `name`: the caller's."""
    if maxiter is not None and maxiter < 1:
        raise ValueError(f"{name} is {maxiter}, not 1 or more; None is the default")
    return maxiter or 0


def with_stats(values: tuple[Any, ...], result: Result, options: Options) -> Any:
    """What a function returns: its values, and the result where the caller asked for it."""
    if options.return_stats:
        values = (*values, result)
    return values if len(values) > 1 else values[0]


def _real_array(values: Any, name: str) -> np.ndarray:
    given = np.asarray(values)
    check_real(given.dtype, name, "it is a part of problems with")
    return np.ascontiguousarray(given, dtype=np.float64)


def _table(values: Any, name: str) -> np.ndarray | None:
    """Rows of numbers, whose count the library checks."""
    if values is None:
        return None
    table = _real_array(values, name)
    if table.ndim != 2:
        raise ValueError(f"{name} has {table.ndim} dimensions, not 2")
    return table


def prepared(problem: Problem) -> Prepared:
    """The problem in the types of the library."""
    normal = bool(problem.normal_equations)
    A = matrix(problem.A, "A", symmetric=not normal)
    rows, cols = A.shape
    dtype = A.dtype
    blocks: dict[str, Any] = {}
    for name, length in (("rhs", rows), ("initial_guess", cols), ("constraints", rows)):
        given = getattr(problem, name)
        blocks[name] = None
        if given is not None:
            blocks[name], scalar = block(given, name, length)
            if name == "rhs":
                dtype = np.promote_types(dtype, scalar)
    library = getattr(A, "library", None)
    B = optional_matrix(problem.B, "B", rows, library)
    if B is not None:
        dtype = np.promote_types(dtype, B.dtype)
    geometric = optional_matrix(problem.geometric_stiffness, "geometric_stiffness", rows, library)
    if geometric is not None:
        dtype = np.promote_types(dtype, geometric.dtype)
    A_transposed = problem.A_transposed
    if A_transposed is not None:
        A_transposed = matrix(A_transposed, "A_transposed", symmetric=False, library=library)
    sizes = problem.null_vector_sizes
    return Prepared(
        A=A,
        B=B,
        preconditioner=optional_matrix(problem.preconditioner, "preconditioner", cols, library),
        normal_equations=normal,
        A_transposed=A_transposed,
        null_vector_sizes=None if sizes is None else _real_array(sizes, "null_vector_sizes"),
        near_null=_table(problem.near_null, "near_null"),
        coordinates=_table(problem.coordinates, "coordinates"),
        geometric_stiffness=geometric,
        dtype=dtype,
        **blocks,
    )


def solve(problem: Any, **options: Any) -> Result:
    """Solves a `Problem`, or A x = lambda x for a matrix A, and returns all about it.

    Parameters
    ----------
    problem : Problem, or as A of `eigsh`
        What to solve.
    **options
        Those of a configuration: nev, which ("smallest" or "largest"), interval (a, b), sigma and
        side, tolerance, max_iterations, damp; and those of `Extras`.

    Returns
    -------
    result : Result
        Values, vectors, error bounds, status and reason. A solve that does not converge returns what
        there is, unless `on_failure` says otherwise.

    Raises
    ------
    ValueError, TypeError
        For what cannot be solved. The name of the field or option comes first.
    NotConverged
        For on_failure="raise", if the solve does not converge.
    DeviceError, OutOfMemory
        If the device cannot be used, or memory does not suffice.

    Examples
    --------
    >>> import heddle
    >>> K, M = (heddle.generate(name, 4, 4, 4) for name in ("elasticity3d", "elasticity3d_mass"))
    >>> result = heddle.solve(heddle.Problem(K, B=M), nev=3)
    >>> result.status, result.vectors.shape, bool(result.passed.all())
    ('converged', (300, 3), True)
    """
    if not isinstance(problem, Problem):
        problem = Problem(problem)
    asked = Options(options, "return")
    return judge(run(prepared(problem), asked), asked)


@dataclass(frozen=True)
class Choice:
    """One finding or choice of a plan. `reason` is empty where the caller asked for it."""

    name: str
    value: str
    reason: str


@dataclass(frozen=True)
class Plan:
    """What a solve will do, and why. `device_bytes` and `host_bytes`: the estimated peaks of memory."""

    method: str
    method_reason: str
    block_size: int
    preconditioner: str
    device_bytes: float
    host_bytes: float
    choices: tuple[Choice, ...]

    def __str__(self) -> str:
        lines = []
        for choice in self.choices:
            reason = f": {choice.reason}" if choice.reason else ""
            lines.append(f"{choice.name:<26}{choice.value}{reason}")
        return "\n".join(lines)


def plan(problem: Any, **options: Any) -> Plan:
    """What `solve` would do with the same arguments, without doing it: looks at the matrices, and takes
    about as long as some products with A.

    Parameters
    ----------
    problem : Problem, or as A of `eigsh`
        What would be solved.
    **options
        As for `solve`.

    Returns
    -------
    plan : Plan
        Its text has a line per finding and choice.

    Raises
    ------
    ValueError, TypeError, DeviceError, OutOfMemory
        As `solve` does.

    Examples
    --------
    >>> import heddle
    >>> plan = heddle.plan(heddle.generate("laplace2d", 30, 30), nev=4)
    >>> plan.method, plan.host_bytes > 0
    ('block_lanczos', True)
    """
    if not isinstance(problem, Problem):
        problem = Problem(problem)
    asked = Options(options, "return")
    given, _ = symmetrized(prepared(problem), asked)
    request, library = dict(asked.request), given.library
    _check_places(given, {})
    with callers_names({}, way_out_of(given)), _device_of(given, asked) as device:
        if library is None:
            core = _host_problem(given, request)
            made = _core.plan(device, request, core, null_vector_sizes=given.null_vector_sizes)
        else:
            made = on_device.planned(given, library, device, request)
    names = ("method", "method_reason", "block_size", "preconditioner")
    sizes = ("device_bytes", "host_bytes")
    return Plan(
        **{name: getattr(made, name) for name in (*names, *sizes)},
        choices=tuple(Choice(*choice) for choice in made.choices),
    )
