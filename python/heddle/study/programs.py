"""Which programs a study runs, and which versions they are."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import zlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .records import DEVICE, INPUT, StudyError


@dataclass(frozen=True)
class Solver:
    """heddle's executable. `version`: the commit it was built from, or what stands for it.
    `device`: where it runs with `device: auto`, such as "host" or "cuda NVIDIA H100"."""

    path: str
    version: str
    device: str


def find_program(name: str) -> str:
    """The file of an executable of heddle: in the folder HEDDLE_PROGRAMS if it is set, else beside
    this script or this Python, else on the path. Raises StudyError."""
    if folder := os.environ.get("HEDDLE_PROGRAMS"):
        path = Path(folder, name).absolute()
        if os.access(path, os.X_OK):
            return str(path)
        raise StudyError(f"HEDDLE_PROGRAMS is {folder}, which has no program {name}", INPUT)
    for folder in (os.path.dirname(os.path.abspath(sys.argv[0])), os.path.dirname(sys.executable)):
        if os.access(os.path.join(folder, name), os.X_OK):
            return os.path.join(folder, name)
    if found := shutil.which(name):
        return os.path.abspath(found)
    raise StudyError(
        f"the program {name} is neither beside {sys.argv[0]} nor on the path; build heddle's "
        "executables and name their folder: export HEDDLE_PROGRAMS=build/release/apps",
        INPUT,
    )


def probe(path: str) -> Solver:
    """Solves a tiny problem to learn the commit and the device. Raises StudyError."""
    with tempfile.TemporaryDirectory() as folder:
        command = [path, "solve", "laplace1d:20", "-n", "1", "-q", "--json", "-o", f"{folder}/out"]
        try:
            ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise StudyError(f"{path} does not work: {error}", DEVICE) from error
    try:
        result = json.loads(ended.stdout)
        versions = dict(result["versions"])
    except (ValueError, KeyError, TypeError) as error:
        said = ended.stderr.strip() or "it wrote no message"
        raise StudyError(
            f"{path} does not work: a test problem ended with exit code {ended.returncode} and "
            f"without a result: {said}",
            DEVICE,
        ) from error
    version, commit = versions.get("heddle") or "?", versions.get("commit")
    if commit and not commit.endswith("-dirty"):
        version += f" {commit}"
    else:
        version += f" {commit or 'executable'} {zlib.crc32(Path(path).read_bytes()):08x}"
    device = " ".join(filter(None, [result.get("device", "host"), result.get("device_name")]))
    return Solver(path, version, device)


# External solvers, and the program that prints the version of the library behind each
_VERSIONS = {
    "scipy.eigsh": "import scipy; print('scipy', scipy.__version__)",
    "scipy.lobpcg": "import scipy; print('scipy', scipy.__version__)",
    "slepc": "import slepc4py, petsc4py; from slepc4py import SLEPc; "
    "print('slepc', '.'.join(map(str, SLEPc.Sys.getVersion())))",
    "primme": "import primme; from importlib.metadata import version; "
    "print('primme', version('primme'))",
}


EXTERNALS = tuple(_VERSIONS)


@cache
def external_version(solver: str, python: str) -> str:
    """The version of the library behind an external solver, "" if it cannot be imported."""
    command = [python or sys.executable, "-c", f"import numpy, scipy; {_VERSIONS[solver]}"]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return ended.stdout.strip() if ended.returncode == 0 else ""


def cpu_name() -> str:
    """The processor as the system names it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [
                line.split(":", 1)[1].strip() for line in file if line.startswith("model name")
            ]
    except OSError:
        names = []
    import platform

    return names[0] if names else platform.processor()


def cpu_count() -> int:
    """CPUs that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1
