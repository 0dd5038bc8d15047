"""The head of a Matrix Market file: what it says of its matrix before the first entry."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Header:
    """`stored`: the entries in the file, of a symmetric matrix those of one triangle. An array has
    rows × cols of them."""

    layout: str  # coordinate or array
    field: str  # real, integer, pattern, complex
    symmetry: str  # general, symmetric, skew-symmetric, hermitian
    rows: int
    cols: int
    stored: int


def read_header(path: Path) -> Header:
    """The banner and the line of sizes of a file that is not compressed. Raises ValueError if it
    has none, OSError."""
    with path.open("rb") as file:
        banner = file.readline(1024).decode("ascii", "replace").lower().split()
        if len(banner) < 5 or banner[:2] != ["%%matrixmarket", "matrix"]:
            raise ValueError("does not begin with %%MatrixMarket matrix")
        layout, field, symmetry = banner[2:5]
        words: list[bytes] = []
        while not words:
            line = file.readline(1 << 20)
            if not line:
                raise ValueError("ends before the line of its sizes")
            words = [] if line.startswith(b"%") else line.split()
    sizes = [int(word) for word in words]
    if len(sizes) != (3 if layout == "coordinate" else 2) or min(sizes) < 0:
        raise ValueError("has a line of sizes that does not fit its banner")
    stored = sizes[2] if layout == "coordinate" else sizes[0] * sizes[1]
    return Header(layout, field, symmetry, sizes[0], sizes[1], stored)
