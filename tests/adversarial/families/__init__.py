"""Families of problems. A family is a function (rng, n) -> Problem; `n` is about the order wanted."""

from .base import FAMILIES, Problem  # noqa: F401
from . import (clustered, graded, graphs, pencils, rectangular, reported, scales, stiff,  # noqa: F401
               structured, systems)
