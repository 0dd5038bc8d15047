"""Matrices by name: fetches matrices of the SuiteSparse Matrix Collection into a cache.

from heddle.data import query, resolve
resolve("SuiteSparse:HB/bcsstk17")           # the path of bcsstk17.mtx, fetched if missing
query({"group": "HB", "symmetric": True, "rows": [100, 20000], "limit": 20})"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .cache import Cache, data_folder
from .collection import Collection, collection_address
from .errors import FetchError, QueryError
from .index import Entry
from .names import MatrixName, is_prefixed, parse_name


def resolve(name: str) -> Path:
    """The file of the matrix `name` in the cache, fetched if it is missing. Names are GROUP/NAME,
    perhaps with SuiteSparse: before it, and GROUP/NAME:PART for the file NAME_PART.mtx that the
    archive of the matrix holds. Raises FetchError."""
    return Collection().resolve(name)


def query(spec: Mapping[str, Any]) -> list[Entry]:
    """The matrices of the collection that meet every key of `spec`: group, name, kind (words, which
    may hold wildcards, or lists of them), rows, cols, nnz, id, pattern_symmetry,
    numerical_symmetry (a number or [LOW, HIGH]), symmetric, positive_definite, real, binary, mesh
    (true or false), sort, limit. Raises QueryError, FetchError."""
    return Collection().query(spec)


__all__ = [
    "Cache",
    "Collection",
    "Entry",
    "FetchError",
    "MatrixName",
    "QueryError",
    "collection_address",
    "data_folder",
    "is_prefixed",
    "parse_name",
    "query",
    "resolve",
]
