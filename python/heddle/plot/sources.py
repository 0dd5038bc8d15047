"""What `heddle plot` reads: folders of results, eigenvectors, coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io

from ..report.results import Convergence, read_convergence
from ..study.records import INPUT, USAGE, read_json

VECTORS = ("eigenvectors.npy", "eigenvectors.mtx")


class PlotError(Exception):
    """What the user can mend, in one sentence."""

    def __init__(self, message: str, exit_code: int = INPUT) -> None:
        super().__init__(message)
        self.exit_code = exit_code


@dataclass
class Result:
    """A folder of results and its name in pictures."""

    folder: Path
    label: str
    content: dict[str, Any]

    @property
    def values(self) -> list[float]:
        """Eigenvalues, or singular values where the result has them."""
        found = self.content.get("singular_values") or self.content.get("eigenvalues") or []
        return [float(value) for value in found if value is not None]

    @property
    def converged(self) -> bool:
        return self.content.get("status") == "converged"

    @property
    def tolerance(self) -> float | None:
        solver = (self.content.get("configuration") or {}).get("solver") or {}
        value = solver.get("tolerance")
        return float(value) if isinstance(value, (int, float)) else None

    @cached_property
    def convergence(self) -> Convergence | None:
        return read_convergence(self.folder)

    @property
    def problem(self) -> dict[str, Any]:
        """The section `problem` of the configuration, with absolute paths."""
        problem = dict((self.content.get("configuration") or {}).get("problem") or {})
        start = Path((self.content.get("run") or {}).get("current_folder") or ".")
        for key in ("matrix", "mass"):
            if isinstance(problem.get(key), str):
                problem[key] = str(start / problem[key])
        return problem


def read_results(names: list[str], labels: list[str]) -> list[Result]:
    """Raises PlotError for what is no folder of results, and for labels of another number."""
    if labels and len(labels) != len(names):
        raise PlotError(
            f"--label was given {len(labels)} times for {len(names)} results: give one for each",
            USAGE,
        )
    folders = [Path(name) for name in names]
    folders = [path.parent if path.name == "result.json" else path for path in folders]
    chosen = labels or distinct_names(folders)
    return [read_result(folder, label) for folder, label in zip(folders, chosen)]


def distinct_names(folders: list[Path]) -> list[str]:
    """The last part of each path, or all of it where these are alike."""
    names = [folder.resolve().name for folder in folders]
    return names if len(set(names)) == len(names) else [str(folder) for folder in folders]


def read_result(folder: Path, label: str) -> Result:
    if not folder.is_dir():
        raise PlotError(f"there is no folder {folder}")
    content = read_json(folder / "result.json")
    if not isinstance(content, dict):
        if (folder / "plan.json").exists():
            raise PlotError(
                f"{folder} is the folder of a study: its pictures are in {folder}/report, and "
                "single runs in its subfolder runs can be plotted"
            )
        state = "a damaged" if (folder / "result.json").exists() else "no"
        raise PlotError(
            f"{folder} has {state} result.json: give the folder that a solve wrote, which is its "
            "key output.directory"
        )
    if content.get("status") == "error":
        reason = content.get("reason")
        raise PlotError(f"the run of {folder} failed and left nothing to plot: {reason}")
    return Result(folder, label, content)


def read_vectors(result: Result) -> np.ndarray:
    """The eigenvectors, n x pairs. Raises PlotError with the way to have them written."""
    for name in VECTORS:
        path = result.folder / name
        if not path.is_file():
            continue
        try:
            vectors = np.load(path) if path.suffix == ".npy" else scipy.io.mmread(path)
        except (OSError, ValueError) as error:
            raise PlotError(f"{path} cannot be read: {error}") from error
        vectors = np.asarray(vectors, dtype=float)
        return vectors.reshape(len(vectors), -1)
    raise PlotError(
        f"{result.folder} has no eigenvectors: solve again with --eigenvectors npy, or with "
        "'output: {eigenvectors: npy}' in the configuration"
    )


def read_coordinates(path: Path) -> np.ndarray:
    """Points x dimensions, from .npy, .mtx or text with a point per line."""
    try:
        if path.suffix == ".npy":
            points = np.load(path)
        elif path.suffix == ".mtx":
            points = np.asarray(scipy.io.mmread(path))
        else:
            points = np.loadtxt(path, delimiter="," if path.suffix == ".csv" else None, ndmin=2)
        points = np.asarray(points, dtype=float)
    except FileNotFoundError:
        raise PlotError(f"there is no file {path} of coordinates") from None
    except (OSError, ValueError, TypeError) as error:
        raise PlotError(f"{path} cannot be read as coordinates: {error}") from error
    points = points.reshape(-1, 1) if points.ndim == 1 else points
    if points.ndim != 2 or not 1 <= points.shape[1] <= 3 or not len(points):
        shape = " x ".join(str(size) for size in points.shape)
        raise PlotError(f"{path} is {shape}: coordinates are points x 1, 2 or 3")
    if not np.isfinite(points).all():
        raise PlotError(f"{path} has coordinates that are not finite")
    return points


def read_kept(path: Path, points: int) -> tuple[np.ndarray, int]:
    """The rows of the whole problem that were kept where others were deleted as supports, and the
    number of its rows. The file holds their numbers from 0, or true and false for each row.
    Numbers leave open how many rows there were: as few per point as they allow."""
    try:
        kept = np.load(path)
    except FileNotFoundError:
        raise PlotError(f"there is no file {path} of kept rows") from None
    except (OSError, ValueError) as error:
        raise PlotError(f"{path} cannot be read as kept rows: {error}") from error
    kept = kept.reshape(-1)
    if kept.dtype == bool:
        return np.flatnonzero(kept), len(kept)
    if kept.dtype.kind not in "iu" or not len(kept) or kept.min() < 0:
        raise PlotError(f"{path}: kept rows are numbers from 0, or true and false for each row")
    if len(np.unique(kept)) < len(kept):
        raise PlotError(f"{path} names a row twice")
    per_point = -(-(int(kept.max()) + 1) // points)
    return kept, per_point * points
