"""The folder of a study: its journals, its locks, and what earlier starts left in it."""

from __future__ import annotations

import errno
import fcntl
import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from .records import INPUT, UNFINISHED, Record, StudyError, as_dict, plain, read_json, write_json

NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL)


def read_records(folder: Path) -> dict[str, Record]:
    """The last record of each run, by key, from the journals of all shards. Lines that are not
    complete, such as the last one of a study that was killed, are left out."""
    found: dict[str, Record] = {}
    for path in sorted(folder.glob("journal*.jsonl")):
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                record = Record.of(json.loads(line))
            except (ValueError, TypeError, AttributeError):
                continue
            earlier = found.get(record.key)
            if earlier is None or _replaces(record, earlier):
                found[record.key] = record
    return found


def _replaces(record: Record, earlier: Record) -> bool:
    if (record.status == UNFINISHED) != (earlier.status == UNFINISHED):
        return earlier.status == UNFINISHED
    return record.started >= earlier.started


def lock(path: Path, exclusive: bool = True) -> IO[bytes] | None:
    """The open file that holds the lock until it is closed, None if somebody else holds it. A child
    that inherits the file holds the lock, too. A file system without locks grants every lock."""
    file = open(path, "ab")  # noqa: SIM115 (the caller keeps it open)
    try:
        fcntl.flock(file, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in NO_LOCKS:
            return file
        file.close()
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            return None
        raise
    return file


class Journal:
    """The journal that this start of a study writes. A start without shards has the folder for
    itself. Each shard has a journal of its own, so that shards of several machines can share a
    folder. A context manager; raises StudyError for a folder that cannot be used."""

    def __init__(self, folder: Path, shard: tuple[int, int] | None = None) -> None:
        self.folder = folder
        part = f".{shard[0]}-of-{shard[1]}" if shard else ""
        self.path = folder / f"journal{part}.jsonl"
        self._shard = shard
        self._locks: list[IO[bytes]] = []
        self._file: io.FileIO | None = None

    def __enter__(self) -> Journal:
        with disk_errors(self.folder):
            (self.folder / "runs").mkdir(parents=True, exist_ok=True)
            (self.folder / "truth").mkdir(exist_ok=True)
            try:
                self._lock()
                self._file = open(self.path, "ab", buffering=0)  # noqa: SIM115 (see __exit__)
                self._end_torn_line()
            except BaseException:
                self.__exit__(None, None, None)
                raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for file in (self._file, *self._locks):
            if file:
                file.close()

    def _lock(self) -> None:
        whole = lock(self.folder / ".lock", exclusive=self._shard is None)
        if whole is None:
            raise StudyError(
                f"another study is running in {self.folder}; wait for its end, give this one "
                "another folder (--output), or divide one study by --shard 1/2 and --shard 2/2",
                INPUT,
            )
        self._locks.append(whole)
        if self._shard:
            own = lock(self.folder / f".lock.{self._shard[0]}-of-{self._shard[1]}")
            if own is None:
                part = f"{self._shard[0]}/{self._shard[1]}"
                raise StudyError(f"the shard {part} is already running in {self.folder}", INPUT)
            self._locks.append(own)

    def _end_torn_line(self) -> None:
        """So that the next record begins a line of its own."""
        assert self._file
        if self._file.tell() > 0:
            with open(self.path, "rb") as earlier:
                earlier.seek(-1, os.SEEK_END)
                if earlier.read(1) != b"\n":
                    self._write(b"\n")

    def add(self, record: Record) -> None:
        """Writes the record to the run's folder and, as one line, to the journal. Both are on the
        disk when this returns. Raises StudyError."""
        assert self._file
        with disk_errors(self.folder):
            content = plain(as_dict(record))
            write_json(self.folder / record.folder / "record.json", content)
            self._write(json.dumps(content, ensure_ascii=False).encode() + b"\n")
            os.fsync(self._file.fileno())

    def _write(self, line: bytes) -> None:
        """Without a buffer, a line that the disk has no room for leaves nothing behind that closing
        the file would try to write again."""
        assert self._file
        while line:
            line = line[self._file.write(line) :]


class disk_errors:  # noqa: N801 (used as a word in `with`)
    """Turns errors of the disk into sentences that name the folder and the way out."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not isinstance(error, OSError):
            return
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise disk_full(self._folder) from error
        reason = error.strerror or str(error)
        if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
            reason += "; name a folder that can be written: --output FOLDER"
        elif error.errno in (errno.ENOTDIR, errno.EEXIST):
            reason = "it is, or lies below, a file; name another folder: --output FOLDER"
        raise StudyError(f"the folder {self._folder} cannot be used: {reason}", INPUT) from error


def disk_full(folder: Path) -> StudyError:
    return StudyError(
        f"the disk of {folder} is full, or its quota or limit is reached; free space and start the "
        "same command again: it goes on after the runs that are recorded",
        INPUT,
    )


def adopted(folder: Path, make: Callable[[dict[str, Any]], Record]) -> Record | None:
    """The record of a run that ended while nobody wrote it down: from its record.json, else made
    of its result.json. `folder`: of the run. None if the run did not end."""
    if isinstance(values := read_json(folder / "record.json"), dict):
        try:
            return Record.of(values)
        except TypeError:
            return None
    result = read_json(folder / "result.json")
    if isinstance(result, dict) and "status" in result and result["status"] != UNFINISHED:
        return make(result)
    return None
