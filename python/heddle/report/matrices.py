"""What pictures of a matrix need: where its entries stand, and the density of its spectrum.

Both are kept in a file per matrix, so that a report that is written again reads no matrix."""

from __future__ import annotations

import base64
import json
import subprocess
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..study import operands
from ..study.programs import find_program
from ..study.records import StudyError, read_json
from .pictures import Density

CELLS = 160  # of a spy plot, per side
BINS = 80
LARGEST_FILE = 400 << 20  # bytes; larger files are not read for a picture
SECONDS = 60  # that heddle-info may take for a density


@dataclass
class Portrait:
    """`spy`: shares of stored entries in equal parts of the matrix, from 0 to 1 on a logarithmic
    scale, None with the reason in `spy_note`. Likewise the density."""

    rows: int = 0
    columns: int = 0
    spy: np.ndarray | None = None
    spy_note: str = ""
    density: Density | None = None
    density_note: str = ""


class NoProgram(ValueError):
    """heddle-info was not found. It may be found the next time."""


def spy_grid(matrix: sp.csr_array, cells: int = CELLS) -> np.ndarray:
    """Stored entries per place in equal parts of the matrix, as 0 (none) to 1 (the fullest part) on
    a logarithmic scale. Small matrices have a part per entry."""
    rows, columns = (min(cells, max(size, 1)) for size in matrix.shape)
    entries = matrix.tocoo()
    kept = entries.data != 0
    # Rounded down, so that a part's places are contiguous: part p has the rows i with
    # floor(i * parts / rows) = p.
    i = entries.row[kept].astype(np.int64) * rows // max(matrix.shape[0], 1)
    j = entries.col[kept].astype(np.int64) * columns // max(matrix.shape[1], 1)
    counts = np.bincount(i * columns + j, minlength=rows * columns).astype(float)
    counts = counts.reshape(rows, columns)
    if not counts.any():
        return counts
    shown = counts > 0
    top = np.log(counts[shown].max())
    scaled = np.log(counts[shown]) / top if top > 0 else np.ones(shown.sum())
    counts[shown] = 0.35 + 0.65 * scaled
    return counts


def density_of(problem: dict[str, Any]) -> Density:
    """The density of A by the kernel polynomial method of heddle-info. Raises ValueError with the
    reason where there is none."""
    if problem.get("mass"):
        raise ValueError("the density of a pencil is not estimated")
    transform = str(problem.get("transform") or "none")
    if transform not in ("none", "laplacian", "normalized_laplacian"):
        raise ValueError(f"the density is not estimated with transform {transform}")
    try:
        program = find_program("heddle-info")
    except StudyError as error:
        raise NoProgram(str(error)) from error
    command = [program, info_name(problem["matrix"]), "--spectrum", "--bins", str(BINS), "--json"]
    if transform != "none":
        command += ["--transform", transform]
        command += ["--weights", str(problem["weights"])] if problem.get("weights") else []
        command += ["--symmetrize"] if problem.get("symmetrize") else []
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except (subprocess.TimeoutExpired, OSError):
        raise ValueError(f"heddle-info took longer than {SECONDS} s") from None
    if done.returncode:
        raise ValueError((done.stderr.strip().splitlines() or ["heddle-info failed"])[-1])
    parts = json.loads(done.stdout).get("spectrum") or []
    if not parts:
        raise ValueError("heddle-info gave no spectrum")
    edges = [part["from"] for part in parts] + [parts[-1]["to"]]
    return Density(edges, [part["count"] for part in parts])


def info_name(matrix: Any) -> str:
    """A matrix of a configuration as heddle-info takes it. Raises ValueError for one that it cannot
    name."""
    if not isinstance(matrix, dict):
        return str(matrix)
    if matrix.get("seed") is not None:
        raise ValueError("heddle-info generates no matrix with a seed")
    name = f"{matrix['generate']}:{','.join(str(size) for size in matrix.get('size') or [])}"
    return name + (f":{matrix['density']}" if matrix.get("density") is not None else "")


def load(matrix: Any) -> sp.csr_array:
    """The matrix of a configuration: a file, or generated. Raises ValueError with a sentence."""
    path = None if isinstance(matrix, dict) else Path(str(matrix))
    if path is not None and not path.is_file():
        raise ValueError(f"there is no file {path} any more")
    if path is not None and path.stat().st_size > LARGEST_FILE:
        raise ValueError(f"{path} has {path.stat().st_size >> 20} MiB: not read for a picture")
    try:
        return sp.csr_array(operands.read(matrix))
    except (OSError, EOFError, ValueError, TypeError, KeyError, zlib.error) as error:
        raise ValueError(f"{path or matrix} cannot be read: {error}") from error


def portrait_of(problem: dict[str, Any], store: Path) -> Portrait:
    """The portrait of a problem's A. `store`: the file that keeps it, which is written where it is
    missing or of another matrix."""
    stated = {key: value for key, value in sorted(problem.items()) if key != "constraints"}
    kept = read_json(store)
    if isinstance(kept, dict) and kept.get("problem") == stated and kept.get("cells") == CELLS:
        return from_json(kept)
    found = Portrait()
    try:
        matrix = load(problem["matrix"])
        found.rows, found.columns = matrix.shape
        found.spy = spy_grid(matrix)
    except (ValueError, KeyError, MemoryError) as error:
        found.spy_note = str(error) or "the matrix was not read"
    lasting = True
    try:
        found.density = density_of(problem)
    except (ValueError, KeyError) as error:
        found.density_note = str(error)
        lasting = not isinstance(error, NoProgram)
    content = {"problem": stated, "cells": CELLS, **to_json(found)}
    if lasting:
        store.parent.mkdir(parents=True, exist_ok=True)
        store.write_text(json.dumps(content), encoding="utf-8")
    return from_json(content)


def to_json(portrait: Portrait) -> dict[str, Any]:
    spy = None
    if portrait.spy is not None:
        levels = np.round(portrait.spy * 255).astype(np.uint8)
        packed = base64.b64encode(zlib.compress(levels.tobytes(), 9)).decode()
        spy = {"shape": list(levels.shape), "levels": packed}
    density = portrait.density and {
        "edges": list(portrait.density.edges), "counts": list(portrait.density.counts),
    }  # fmt: skip
    return {
        "rows": portrait.rows, "columns": portrait.columns, "spy": spy, "density": density,
        "spy_note": portrait.spy_note, "density_note": portrait.density_note,
    }  # fmt: skip


def from_json(content: dict[str, Any]) -> Portrait:
    spy, density = content["spy"], content["density"]
    if spy is not None:
        levels = np.frombuffer(zlib.decompress(base64.b64decode(spy["levels"])), dtype=np.uint8)
        spy = levels.reshape(spy["shape"]) / 255.0
    return Portrait(
        content["rows"], content["columns"], spy, content["spy_note"],
        density and Density(density["edges"], density["counts"]), content["density_note"],
    )  # fmt: skip
