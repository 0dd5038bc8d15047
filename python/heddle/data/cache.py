"""The folder that holds what was fetched.

    FOLDER/SuiteSparse/ssstats.csv                 the index of the collection
    FOLDER/SuiteSparse/GROUP/NAME/NAME.mtx         a matrix and the other files of its archive
    FOLDER/SuiteSparse/GROUP/NAME/record.json      where it is from, sizes and sums
    FOLDER/SuiteSparse/.downloads                  what is on its way

A matrix appears under its name complete, or not at all."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .archive import FileSum
from .errors import FetchError
from .names import MatrixName

RECORD = "record.json"
_EXTENSIONS = (".mtx", ".txt")
_ABANDONED = 24 * 3600  # seconds


def data_folder() -> Path:
    """HEDDLE_DATA, else heddle in XDG_CACHE_HOME, else ~/.cache/heddle."""
    if named := os.environ.get("HEDDLE_DATA"):
        return Path(named).absolute()
    caches = os.environ.get("XDG_CACHE_HOME", "")
    # A relative XDG_CACHE_HOME is to be ignored (XDG Base Directory Specification).
    if os.path.isabs(caches):
        return Path(caches) / "heddle"
    home = os.environ.get("HOME", "")
    if not home:
        raise FetchError("there is no folder for matrices: set HEDDLE_DATA, XDG_CACHE_HOME or HOME")
    return Path(home).absolute() / ".cache" / "heddle"


@contextlib.contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Failures of the file system become a sentence with the way out."""
    try:
        yield
    except OSError as error:
        place, reason = error.filename or folder, error.strerror or error
        raise FetchError(
            f"{place}: cannot be written: {reason}; HEDDLE_DATA names another folder"
        ) from error


class Cache:
    """The matrices of the collection in the folder of fetched data."""

    def __init__(self, folder: Path | None = None):
        self.folder = folder if folder is not None else data_folder()
        self.root = self.folder / "SuiteSparse"
        self.downloads = self.root / ".downloads"

    @property
    def index_file(self) -> Path:
        return self.root / "ssstats.csv"

    @property
    def checksums_file(self) -> Path:
        return self.root / "checksums.txt"

    def folder_of(self, name: MatrixName) -> Path:
        return self.root / name.group / name.name

    def has(self, name: MatrixName) -> bool:
        """Whether the archive of `name` was fetched."""
        return (self.folder_of(name) / f"{name.name}.mtx").is_file()

    def find(self, name: MatrixName) -> Path | None:
        """The file of `name`: the matrix NAME.mtx, or for a part NAME_PART.mtx or NAME_PART.txt."""
        for extension in _EXTENSIONS:
            file = self.folder_of(name) / f"{name.stem}{extension}"
            if file.is_file():
                return file
        return None

    def parts(self, name: MatrixName) -> list[str]:
        """The parts of the archive of `name`, sorted: "b" for NAME_b.mtx."""
        prefix = f"{name.name}_"
        files = sorted(self.folder_of(name).glob("*"))
        return [
            file.stem.removeprefix(prefix)
            for file in files
            if file.suffix in _EXTENSIONS and file.stem.startswith(prefix)
        ]

    def names(self) -> list[MatrixName]:
        """The matrices in the cache, sorted."""
        found = (
            MatrixName(file.parent.parent.name, file.parent.name)
            for file in self.root.glob("[!.]*/*/*.mtx")
            if file.stem == file.parent.name
        )
        return sorted(found, key=str)

    def record(self, name: MatrixName) -> dict[str, Any]:
        """What was noted when `name` was fetched, nothing for a matrix put there by hand."""
        try:
            record = json.loads((self.folder_of(name) / RECORD).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return record if isinstance(record, dict) else {}

    def changed_files(self, name: MatrixName, read: bool) -> list[str]:
        """The files that differ from their record, by size or, with `read`, by their sum."""
        changed = []
        files: dict[str, dict[str, Any]] = self.record(name).get("files", {})
        for file, noted in files.items():
            path = self.folder_of(name) / file
            try:
                same = path.stat().st_size == noted["bytes"]
                same = same and (not read or sha256_of(path) == noted["sha256"])
            except OSError:
                same = False
            if not same:
                changed.append(file)
        return changed

    @contextlib.contextmanager
    def lock(self, name: str, waits: Callable[[], None]) -> Iterator[Path]:
        """Held by one process at a time for each `name`, with the folder to download into. `waits`
        is called if another process has it. Where the file system knows no locks, each process gets
        a folder of its own, and the first complete matrix counts."""
        with writing(self.folder):
            locks = self.downloads / "locks"
            locks.mkdir(parents=True, exist_ok=True)
            handle = os.open(locks / name.replace("/", "--"), os.O_RDWR | os.O_CREAT, 0o666)
        try:
            if _is_locked(handle, waits):
                yield self.downloads
            else:
                with self.new_folder() as folder:
                    yield folder
        finally:
            os.close(handle)

    @contextlib.contextmanager
    def new_folder(self) -> Iterator[Path]:
        """An empty folder in the file system of the cache, deleted at the end if it is still
        there."""
        with writing(self.folder):
            self.downloads.mkdir(parents=True, exist_ok=True)
            self._sweep()
            folder = Path(tempfile.mkdtemp(prefix="unpack-", dir=self.downloads))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _sweep(self) -> None:
        """Deletes folders that a process left which was killed."""
        for folder in self.downloads.glob("unpack-*"):
            with contextlib.suppress(OSError):
                if time.time() - folder.stat().st_mtime > _ABANDONED:
                    shutil.rmtree(folder)

    def place(
        self, content: Path, name: MatrixName, sums: dict[str, FileSum], facts: dict[str, Any]
    ) -> None:
        """Gives the folder `content` its name in the cache, with a record of `facts` and `sums`."""
        files = {file: dataclasses.asdict(each) for file, each in sorted(sums.items())}
        text = json.dumps({"name": name.matrix, **facts, "files": files}, indent=2) + "\n"
        target = self.folder_of(name)
        with writing(self.folder):
            (content / RECORD).write_text(text, encoding="utf-8")
            content.chmod(0o755)
            target.parent.mkdir(parents=True, exist_ok=True)
            with self.new_folder() as old:
                with contextlib.suppress(FileNotFoundError):
                    os.rename(target, old / "old")
                try:
                    os.rename(content, target)
                except OSError as error:
                    # Another process was first, on a file system without locks.
                    if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                        raise


def _is_locked(handle: int, waits: Callable[[], None]) -> bool:
    """Locks a file, and waits for it if need be. False where there are no locks."""
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waits()
            fcntl.flock(handle, fcntl.LOCK_EX)
    except OSError as error:
        if error.errno in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS):
            return False
        raise
    return True


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file."""
    sha256 = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            sha256.update(chunk)
    return sha256.hexdigest()
