"""What heddle raises and warns of, besides ValueError and TypeError for arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._core import DeviceError, InputError, OutOfMemory

if TYPE_CHECKING:
    from ._result import Result

__all__ = [
    "ConvergenceWarning",
    "DeviceError",
    "InputError",
    "Interrupted",
    "NotConverged",
    "OutOfMemory",
]


class NotConverged(RuntimeError):
    """A solve ended without the wanted accuracy. `result` holds what it has found."""

    def __init__(self, message: str, result: Result):
        super().__init__(message)
        self.result = result


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a solve. `result` holds what it had found by then."""

    def __init__(self, message: str, result: Result):
        super().__init__(message)
        self.result = result


class ConvergenceWarning(UserWarning):
    """A solve ended without the wanted accuracy, and the caller asked for a warning."""
