"""What heddle raises and warns of, besides ValueError and TypeError for arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._result import Result


class FieldError(ValueError):
    """A field of a problem or a request is wrong. `field` is its name in the library, `message` the
    rest of the sentence. Callers of heddle get a ValueError with their own name for the field."""

    def __init__(self, field: str, message: str):
        super().__init__(field + message)
        self.field = field
        self.message = message

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.field, self.message), self.__dict__


class InputError(ValueError):
    """A file cannot be read in the format expected, or cannot be written."""


class DeviceError(RuntimeError):
    """A device is missing, cannot be used or fails."""


class OutOfMemory(MemoryError):
    """A solve needs more memory of the host or the device than there is."""


class NotConverged(RuntimeError):
    """A solve ended without the wanted accuracy. `result` holds what it has found."""

    def __init__(self, message: str, result: Result):
        super().__init__(message)
        self.result = result

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.result), self.__dict__


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a solve. `result` holds what it had found by then."""

    def __init__(self, message: str, result: Result):
        super().__init__(message)
        self.result = result

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.result), self.__dict__


class ConvergenceWarning(UserWarning):
    """A solve ended without the wanted accuracy, and the caller asked for a warning."""
