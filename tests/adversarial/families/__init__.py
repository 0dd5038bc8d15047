"""Families of problems. A family is a function (rng, n) -> Problem; `n` is about the order wanted."""

from .base import FAMILIES, Problem  # noqa: F401
from . import (clustered, graded, graphs, hermitian, hermitian_pencils, nearest, pencils,  # noqa: F401
               rectangular, reported, scales, stiff, structured, systems)
