"""What can go wrong between a name and a file."""

from __future__ import annotations

from .._errors import InputError


class FetchError(InputError):
    """A matrix of the collection, or its index, cannot be had. The message is one sentence that
    names the matrix and the way out."""


class Damaged(FetchError):
    """What was downloaded is not what the collection holds: it is truncated or has another sum.
    A second download may be whole."""


class Unreachable(FetchError):
    """The collection did not answer. Other names would meet the same."""


class NotThere(FetchError):
    """The collection answered that it has no such file."""


class QueryError(ValueError):
    """A query has an unknown key or a value that its key does not take."""
