"""What a study plans and what it records, and how both are stored."""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

USAGE, INPUT, NOT_CONVERGED, DEVICE, INTERRUPTED = 1, 2, 3, 5, 130  # as apps/exit_codes.hpp

# Statuses of runs that ended without a result. `--retry` starts these again.
FAILED = ("crashed", "timeout", "out_of_memory", "unreadable_results", "refused", "unavailable")
UNFINISHED = "interrupted"  # a run that the user stopped; it is started again without being asked

RESULT_KEYS = (
    "status", "reason", "eigenvalues", "singular_values", "frequencies", "residuals",
    "error_bounds", "limited_by_rounding", "straddles", "converged", "orthogonality", "iterations",
    "operator_applications", "inverse_applications", "matrix_passes", "backward_errors", "seconds",
    "n", "nnz", "solver", "solver_reason", "preconditioner", "block_size", "spmm_kernel", "device",
    "device_name", "precision", "threads", "memory", "null_vectors", "infinite_eigenvalues",
)  # fmt: skip


class StudyError(Exception):
    """What the user can mend, in one sentence. `exit_code`: as of heddle's executables."""

    def __init__(self, message: str, exit_code: int = USAGE) -> None:
        super().__init__(message)
        self.exit_code = exit_code


@dataclass
class Run:
    """One process of a study. `config` is the configuration with absolute paths of its inputs, for
    an external solver with the key `external`. Runs of one `problem_group` answer the same
    question, which `question` spells out (matrix, nev, which, transform ...). `setting`: the name
    of the case without the keys of the question that vary."""

    key: str
    matrix: str
    case: str
    setting: str
    problem_group: str
    question: dict[str, Any]
    repeat: int
    kind: str
    program: str
    config: dict[str, Any]

    @property
    def folder(self) -> str:
        """Relative to the folder of the study."""
        return f"runs/{self.key}"


@dataclass
class Record:
    """How a run ended: a line of the journal. Fields as docs/studies.md lists them."""

    key: str
    matrix: str
    case: str
    repeat: int
    problem_group: str
    kind: str
    program: str
    status: str
    reason: str
    exit_code: int | None = None
    signal: int | None = None
    wall_seconds: float = 0.0
    peak_rss_bytes: int | None = None
    started: str = ""
    host: str = ""
    cpu: str = ""
    device: str = ""
    version: str = ""
    folder: str = ""
    result: dict[str, Any] | None = field(default=None)

    @property
    def finished(self) -> bool:
        """Whether the run needs no further start, unless the user asks for one."""
        return self.status != UNFINISHED

    @staticmethod
    def of(values: dict[str, Any]) -> Record:
        """Reads a line of a journal. Keys of other versions are left out."""
        known = {each.name for each in fields(Record)}
        return Record(**{key: value for key, value in values.items() if key in known})


def as_dict(item: Run | Record) -> dict[str, Any]:
    return asdict(item)


def plain(value: Any) -> Any:
    """`value` without NaN and infinities, which JSON has no words for: they become null."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value


def write_json(path: Path, content: Any) -> None:
    """Writes a file that is either complete or not there. Raises OSError."""
    write_text(path, json.dumps(plain(content), indent=1, ensure_ascii=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Writes a file that is either complete or not there. Raises OSError."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(partial, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except OSError:
        partial.unlink(missing_ok=True)
        raise


def read_json(path: Path) -> Any:
    """The content of a JSON file, None if it is not there or not complete."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def shortened(result: dict[str, Any]) -> dict[str, Any]:
    """The part of a result.json that tables need."""
    return {key: result[key] for key in RESULT_KEYS if key in result}
