"""Unpacks the archives of the collection: NAME.tar.gz holds the folder NAME with plain files.

Everything else an archive of that form can hold is refused: names that lead out of the folder,
links, devices, sparse files, and contents out of proportion to the size of the archive."""

from __future__ import annotations

import gzip
import hashlib
import re
import tarfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from .errors import Damaged, FetchError

_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,200}\Z")
_CHUNK = 1 << 20
_MOST_FILES = 10_000
# Text of matrices is compressed to a fourth or tenth, that of bands and patterns to a fiftieth.
# Deflate can reach 1 to 1032, which only contents made for it do.
_MOST_EXPANSION = 200
_SMALL = 64 << 20  # bytes that any archive may hold


@dataclass(frozen=True)
class FileSum:
    """The size and the SHA-256 of an unpacked file."""

    bytes: int
    sha256: str


class _Bounded:
    """A stream that may be read up to `limit` bytes."""

    def __init__(self, stream: gzip.GzipFile, limit: int, source: str):
        self._stream = stream
        self._left = limit
        self._source = source

    def read(self, size: int) -> bytes:
        data = self._stream.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise FetchError(
                f"{self._source} is refused: it expands to more than {_MOST_EXPANSION} times its "
                "size, which no matrix does"
            )
        return data


def _plain_name(member: tarfile.TarInfo, folder: str, source: str) -> str:
    """The name of a member within the folder, empty for the folder itself."""
    parts = member.name.removeprefix("./").split("/")
    if member.isdir() and parts == [folder]:
        return ""
    what = ""
    if not member.isreg() or member.issparse():
        what = "which is no plain file"
    elif len(parts) != 2 or parts[0] != folder or not _FILE_NAME.match(parts[1]):
        what = f"which lies outside of the folder {folder}"
    if what:
        raise FetchError(f"{source} is refused: it holds {member.name!r}, {what}")
    return parts[1]


def _write(content: IO[bytes], path: Path) -> FileSum:
    sha256, count = hashlib.sha256(), 0
    with path.open("xb") as file:
        while chunk := content.read(_CHUNK):
            file.write(chunk)
            sha256.update(chunk)
            count += len(chunk)
    return FileSum(count, sha256.hexdigest())


def _unpack_stream(stream: _Bounded, folder: str, target: Path, source: str) -> dict[str, FileSum]:
    sums: dict[str, FileSum] = {}
    with tarfile.open(fileobj=stream, mode="r|") as members:  # type: ignore[call-overload]
        for member in members:
            name = _plain_name(member, folder, source)
            if not name:
                continue
            if name in sums or len(sums) == _MOST_FILES:
                what = f"{name!r} twice" if name in sums else f"more than {_MOST_FILES} files"
                raise FetchError(f"{source} is refused: it holds {what}")
            content = members.extractfile(member)
            assert content is not None  # a plain file has content
            sums[name] = _write(content, target / name)
    while stream.read(_CHUNK):  # the sum at the end of the compressed stream is checked there
        pass
    return sums


def unpack(archive: Path, folder: str, target: Path) -> dict[str, FileSum]:
    """Writes the files of `folder` in `archive` (.tar.gz) into `target`, an existing empty folder,
    and returns their sums. Raises Damaged for an archive that is truncated, changed or none at all,
    FetchError for one that is refused, OSError."""
    source = archive.name
    with archive.open("rb") as file:
        beginning = file.read(64)
    if not beginning.startswith(b"\x1f\x8b"):
        text = beginning.decode("ascii", "replace").split("\n", 1)[0].strip()
        raise Damaged(f"{source} is no .tar.gz archive, it begins with {text!r}")
    limit = max(_SMALL, _MOST_EXPANSION * archive.stat().st_size)
    try:
        with gzip.open(archive, "rb") as stream:
            bounded = _Bounded(stream, limit, source)
            return _unpack_stream(bounded, folder, target, source)
    except EOFError:
        raise Damaged(f"{source} is truncated") from None
    except (gzip.BadGzipFile, zlib.error, tarfile.TarError) as error:
        raise Damaged(f"{source} is damaged: {error}") from None
