"""Families of problems. A family is a function (rng, n) -> Problem; `n` is about the order wanted."""

from .base import FAMILIES, Problem  # noqa: F401
from . import (clustered, complex_rectangular, graded, graphs, hermitian,  # noqa: F401
               hermitian_pencils, nearest, pencils, rectangular, reported, scales, stiff, structured, systems)
