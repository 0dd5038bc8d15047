"""Files of generated matrices, for programs that do not know heddle's structures."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .journal import disk_errors
from .records import StudyError

MATRICES = ("matrix", "mass")


def file_of(spec: dict[str, Any]) -> str:
    """The name of the file of a generated matrix, relative to the folder of the study."""
    digest = hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()[:12]
    return f"matrices/{spec['generate']}-{digest}.npz"


def with_files(problem: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The map `problem` of a configuration with files in place of generated matrices."""
    found = dict(problem)
    for key in MATRICES:
        if isinstance(found.get(key), dict):
            found[key] = str(folder / file_of(found[key]))
    return found


def write_generated(problems: Iterable[dict[str, Any]], folder: Path) -> None:
    """Writes the files that are not there yet. Raises StudyError."""
    for problem in problems:
        for key in MATRICES:
            spec = problem.get(key)
            if isinstance(spec, dict) and not (folder / file_of(spec)).exists():
                _write(spec, folder)


def _write(spec: dict[str, Any], folder: Path) -> None:
    import scipy.sparse as sp

    from heddle import generate

    options = {key: spec[key] for key in ("density", "seed") if key in spec}
    try:
        matrix = generate(spec["generate"], *spec["size"], **options)
    except (ValueError, TypeError) as error:
        raise StudyError(f"{spec['generate']} {spec['size']}: {error}") from error
    path = folder / file_of(spec)
    partial = path.with_name(f".{path.name}.partial.npz")
    with disk_errors(folder):
        path.parent.mkdir(exist_ok=True)
        sp.save_npz(partial, sp.csr_matrix(matrix), compressed=False)
        partial.replace(path)
