"""The index of the collection, `files/ssstats.csv`.

The first line holds the number of matrices, the second one the date, each further one a matrix:
group, name, rows, columns, entries that are not zero, whether it is real, binary, from a 2-D or
3-D mesh, positive definite, the symmetry of its pattern and of its values (0 to 1), its kind, and
in later versions of the index the entries that are stored, zeros included."""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import Damaged
from .names import MatrixName

_FIELDS = 12


@dataclass(frozen=True)
class Entry:
    """A line of the index. `id` is its number in the collection, from 1."""

    id: int
    group: str
    name: str
    rows: int
    cols: int
    nnz: int
    real: bool
    binary: bool
    mesh: bool
    positive_definite: bool
    pattern_symmetry: float
    numerical_symmetry: float
    kind: str
    stored: int

    @property
    def full_name(self) -> str:
        """GROUP/NAME."""
        return f"{self.group}/{self.name}"

    @property
    def matrix_name(self) -> MatrixName:
        return MatrixName(self.group, self.name)

    @property
    def symmetric(self) -> bool:
        """Whether the matrix is real, square and equal to its transpose."""
        return self.real and self.rows == self.cols and self.numerical_symmetry == 1

    def to_dict(self) -> dict[str, Any]:
        """All fields, `symmetric` among them."""
        return {**dataclasses.asdict(self), "symmetric": self.symmetric}


def _entry(number: int, fields: list[str]) -> Entry:
    if len(fields) < _FIELDS:
        raise ValueError(f"{len(fields)} fields, {_FIELDS} or more are expected")
    real, binary, mesh, definite = (int(field) for field in fields[5:9])
    has_stored = len(fields) > _FIELDS and fields[-1].strip().isdigit()
    kind = ",".join(fields[11:-1] if has_stored else fields[11:]).strip()
    nnz = int(fields[4])
    entry = Entry(
        id=number,
        group=fields[0].strip(),
        name=fields[1].strip(),
        rows=int(fields[2]),
        cols=int(fields[3]),
        nnz=nnz,
        real=real == 1,
        binary=binary == 1,
        mesh=mesh == 1,
        positive_definite=definite == 1,
        pattern_symmetry=float(fields[9]),
        numerical_symmetry=float(fields[10]),
        kind=kind,
        stored=int(fields[-1]) if has_stored else nnz,
    )
    if not entry.group or not entry.name:
        raise ValueError("a matrix without a name")
    return entry


def parse_index(lines: Iterable[str], source: str) -> list[Entry]:
    """The matrices of an index in its order. `source` names it in messages. Raises Damaged for a
    line that is no line of an index, and for fewer matrices than the first line announces."""
    rows = csv.reader(lines)
    try:
        announced = int(next(rows)[0])
        next(rows)  # the date
    except (StopIteration, IndexError, ValueError, csv.Error):
        raise Damaged(
            f"{source} is no index of matrices: its first line is no number of matrices"
        ) from None
    entries: list[Entry] = []
    try:
        for fields in rows:
            if fields:
                entries.append(_entry(len(entries) + 1, fields))
    except (ValueError, csv.Error) as error:
        line = rows.line_num
        is_last = next(rows, None) is None
        if not is_last or len(entries) >= announced:
            raise Damaged(f"{source}:{line}: no line of an index of matrices: {error}") from None
    if len(entries) < announced:
        raise Damaged(
            f"{source} is truncated: it announces {announced} matrices and lists {len(entries)}"
        )
    return entries


def read_index(path: Path) -> list[Entry]:
    """The matrices of an index file. Raises Damaged as `parse_index`, OSError."""
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        return parse_index(file, str(path))
