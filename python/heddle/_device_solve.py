"""Solves in the memory of a GPU, whose arrays belong to CuPy or PyTorch."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from . import _core
from ._device_arrays import Block, DeviceOperand, Library
from ._result import Result, result_of
from ._scalars import computed_on_device

_BLOCKS = ("rhs", "initial_guess", "constraints")
_MATRICES = ("B", "preconditioner", "A_transposed", "geometric_stiffness")
_HOST_PARTS = ("near_null", "coordinates")


class _Parts:
    """The parts of a problem as the library takes them: addresses, and the arrays behind them."""

    def __init__(self, library: Library, dtype: Any):
        self._library = library
        self._dtype = dtype
        self._kept: list[Any] = []

    def matrix(self, operand: DeviceOperand | None) -> _core.DeviceMatrix | None:
        return None if operand is None else operand.core(self._dtype, self._kept)

    def block(self, X: Any) -> Block | None:
        if X is None:
            return None
        X = self._library.cast(X, self._dtype)
        place = self._library.block(X)
        if place is None:
            X = self._library.copy(X)
            place = self._library.block(X)
        self._kept.append(X)
        return place


def _core_of(problem: Any, library: Library) -> tuple[_core.DeviceProblem, Any]:
    """A prepared problem as the library takes it, and what owns its arrays."""
    parts = _Parts(library, computed_on_device(problem.dtype))
    A: Any = parts.matrix(problem.A)
    others: dict[str, Any] = {
        **{name: parts.matrix(getattr(problem, name)) for name in _MATRICES},
        **{name: parts.block(getattr(problem, name)) for name in _BLOCKS},
        **{name: getattr(problem, name) for name in _HOST_PARTS},
    }
    return _core.DeviceProblem(A, **others, normal_equations=problem.normal_equations), parts


def planned(
    problem: Any, library: Library, device: _core.Device, request: dict[str, Any]
) -> _core.Plan:
    """The plan for a prepared problem, on the current device, which must be that of the library."""
    core, kept = _core_of(problem, library)
    numbers = computed_on_device(problem.dtype).name
    plan = _core.plan_resident(device, request, numbers, library.stream(), core)
    del kept  # arrays that the plan has looked at
    return plan


def solved(
    problem: Any, library: Library, device: _core.Device, request: dict[str, Any], **watch: Any
) -> Result:
    """The result of a prepared problem, with vectors of the library. The current device must be that
    of the library."""
    core, kept = _core_of(problem, library)
    vectors: dict[str, Any] = {}
    numbers = computed_on_device(problem.dtype)

    def receive(name: str, rows: int, cols: int) -> int:
        vectors[name] = library.empty(rows, cols, numbers)
        return library.address(vectors[name])

    solution = _core.solve_resident(
        device,
        request,
        numbers.name,
        library.stream(),
        receive,
        core,
        **watch,
    )
    del kept  # arrays that the solve refers to
    if problem.dtype != numbers:
        vectors = {name: library.cast(X, problem.dtype) for name, X in vectors.items()}
    return replace(result_of(solution, problem.dtype), **vectors)


def density(
    operand: DeviceOperand, device: _core.Device, **settings: Any
) -> _core.SpectralDensity:
    """The spectral density of a symmetric or Hermitian matrix on the current device."""
    kept: list[Any] = []
    numbers = computed_on_device(operand.dtype)
    core = operand.core(numbers, kept)
    stream = operand.library.stream()
    return _core.spectral_density_resident(device, numbers.name, stream, core, **settings)
