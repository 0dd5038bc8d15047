"""Names of matrices: SuiteSparse:GROUP/NAME or GROUP/NAME, and GROUP/NAME:PART for the further
files of an archive."""

from __future__ import annotations

import re
from dataclasses import dataclass

PREFIX = "SuiteSparse:"
_WORD = r"[A-Za-z0-9_][A-Za-z0-9_.+-]*"
_FULL = re.compile(rf"({_WORD})/({_WORD})(?::({_WORD}))?\Z")


@dataclass(frozen=True)
class MatrixName:
    """A matrix of the collection, or with `part` another file of its archive."""

    group: str
    name: str
    part: str = ""

    @property
    def matrix(self) -> str:
        """GROUP/NAME."""
        return f"{self.group}/{self.name}"

    @property
    def stem(self) -> str:
        """The name of the file without its extension: NAME, or NAME_PART."""
        return f"{self.name}_{self.part}" if self.part else self.name

    def __str__(self) -> str:
        return f"{self.matrix}:{self.part}" if self.part else self.matrix


def without_prefix(text: str) -> str:
    """`text` without SuiteSparse: before it, in upper or lower case."""
    return text[len(PREFIX) :] if text.lower().startswith(PREFIX.lower()) else text


def is_prefixed(text: str) -> bool:
    """Whether `text` names a matrix of the collection where a file might stand, too."""
    return text.lower().startswith(PREFIX.lower())


def parse_name(text: str) -> MatrixName:
    """The matrix that `text` names. Raises ValueError if it has another form."""
    match = _FULL.match(without_prefix(text))
    if match is None:
        raise ValueError(
            f"'{text}' is no name of a matrix: write GROUP/NAME as in HB/bcsstk17, or "
            "GROUP/NAME:PART for NAME_PART.mtx of the same archive"
        )
    return MatrixName(match[1], match[2], match[3] or "")
