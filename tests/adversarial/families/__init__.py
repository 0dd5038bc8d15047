"""Families of problems. A family is a function (rng, n) -> Problem; `n` is about the order wanted."""

from .base import FAMILIES, Problem  # noqa: F401
from . import (clustered, graded, graphs, nearest, pencils, rectangular, reported,  # noqa: F401
               scales, stiff, structured, systems)
