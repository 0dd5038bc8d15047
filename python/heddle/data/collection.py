"""The collection of matrices: its index, and matrices by name, from the cache or by HTTPS."""

from __future__ import annotations

import contextlib
import datetime
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .archive import FileSum, unpack
from .cache import Cache, sha256_of, writing
from .checksums import read_checksums
from .download import Downloader, Patience, Progress, download
from .errors import Damaged, FetchError, NotThere, Unreachable
from .index import Entry, read_index
from .matrix_market import read_header
from .names import MatrixName, parse_name, without_prefix
from .queries import select, suggestion

ADDRESS = "https://sparse.tamu.edu"
_INDEX_IS_OLD = 24 * 3600  # seconds, where it lacks a name that is asked for


def collection_address() -> str:
    """HEDDLE_COLLECTION, else the site of the SuiteSparse Matrix Collection."""
    return os.environ.get("HEDDLE_COLLECTION") or ADDRESS


def _silent(_: str) -> None:
    pass


class Collection:
    """The SuiteSparse Matrix Collection, or another one of the same layout.

    `address`: where `files/ssstats.csv` and `MM/GROUP/NAME.tar.gz` lie. `offline`: only the cache
    is used. `checksums`: known sums of archives, which count more than those that the collection
    publishes. `tell` takes a sentence on what goes on, `progress` follows downloads."""

    def __init__(
        self,
        address: str | None = None,
        cache: Cache | None = None,
        *,
        offline: bool = False,
        checksums: Mapping[str, str] | None = None,
        patience: Patience | None = None,
        tell: Callable[[str], None] = _silent,
        progress: Progress | None = None,
    ):
        self.address = (address or collection_address()).rstrip("/")
        if not self.address.startswith(("https://", "http://")):
            raise FetchError(
                f"the address of a collection begins with https:// or http://, not {self.address}"
            )
        self.cache = cache or Cache()
        self._offline = offline
        self._checksums = dict(checksums or {})
        self._patience = patience or Patience()
        self._tell = tell
        self._progress = progress
        self._index: list[Entry] | None = None

    def index(self) -> list[Entry]:
        """All matrices, from the cached index, which is fetched if it is missing. Raises
        FetchError."""
        if self._index is None:
            if not self.cache.index_file.is_file():
                try:
                    self.update_index()
                except Unreachable as error:
                    raise self._unreachable("the index of the collection", error) from None
            self._index = read_index(self.cache.index_file)
        return self._index

    def update_index(self) -> None:
        """Fetches the index anew, and the list of sums where the collection has one."""
        self._require_network("the index of the collection")
        with self.cache.lock("index", lambda: self._tell("waiting for another process")) as desk:
            self._fetch_file("files/ssstats.csv", self.cache.index_file, desk, read_index)
            with contextlib.suppress(NotThere):
                self._fetch_file(
                    "files/checksums.txt", self.cache.checksums_file, desk, read_checksums
                )
        self._index = None

    def query(self, spec: Mapping[str, Any]) -> list[Entry]:
        """The matrices of the index that `spec` asks for (see `queries.select`)."""
        return select(self.index(), spec)

    def entry(self, name: MatrixName) -> Entry | None:
        """The line of the index on `name`."""
        return next((each for each in self.index() if each.full_name == name.matrix), None)

    def complete(self, text: str) -> MatrixName:
        """The matrix that `text` names, where the group may be left out if one group alone has a
        matrix of this name. Raises ValueError, FetchError."""
        if "/" in text:
            return parse_name(text)
        word, colon, part = without_prefix(text).partition(":")
        groups = [entry.group for entry in self.index() if entry.name == word]
        if len(groups) == 1:
            return parse_name(f"{groups[0]}/{word}{colon}{part}")
        if groups:
            known = ", ".join(f"{group}/{word}" for group in groups)
            raise FetchError(f"'{word}' is the name of {len(groups)} matrices: {known}")
        names = {entry.name: entry.full_name for entry in self.index()}
        raise FetchError(
            f"the collection has no matrix '{word}'{suggestion(word, names)}; names are GROUP/NAME"
        )

    def resolve(self, text: str) -> Path:
        """The file that `text` names, fetched if it is not in the cache. Raises ValueError for a
        text that is no name, FetchError."""
        name = self.complete(text)
        self.fetch(name)
        file = self.cache.find(name)
        if file is None:
            parts = ", ".join(f"{name.matrix}:{part}" for part in self.cache.parts(name))
            raise FetchError(
                f"the archive of {name.matrix} has no file {name.stem}.mtx; "
                f"other files it has: {parts or 'none'}"
            )
        return file

    def fetch(self, name: MatrixName, anew: bool = False) -> bool:
        """Takes care that the archive of `name` is in the cache, or with `anew` fetches it once
        more. Returns whether it was fetched. Raises FetchError."""
        if not anew and self._is_whole(name):
            return False
        self._require_network(name.matrix)
        waiting = f"{name.matrix}: waiting for another process that fetches it"
        with self.cache.lock(name.matrix, lambda: self._tell(waiting)) as desk:
            if not anew and self._is_whole(name):
                return False
            try:
                entry = self._expected(name)
                self._fetch_archive(name, entry, desk)
            except NotThere:
                raise FetchError(self._unknown(name)) from None
            except Unreachable as error:
                raise self._unreachable(name.matrix, error) from None
        return True

    def _unreachable(self, what: str, error: Unreachable) -> Unreachable:
        return Unreachable(
            f"{what} is not in the cache ({self.cache.folder}), and {self.address} cannot be "
            f"reached: {error}; fetch it where there is a network and set HEDDLE_DATA to a copy of "
            "that cache, or HEDDLE_COLLECTION to a copy of the collection"
        )

    def _is_whole(self, name: MatrixName) -> bool:
        if not self.cache.has(name):
            return False
        changed = self.cache.changed_files(name, read=False)
        if changed and not self._offline:
            self._tell(f"{name.matrix}: {', '.join(changed)} was changed, fetching it anew")
        if changed and self._offline:
            raise FetchError(
                f"{self.cache.folder_of(name) / changed[0]} does not have the size that was "
                f"fetched; heddle fetch {name.matrix} without --offline fetches it anew"
            )
        return not changed

    def _require_network(self, what: str) -> None:
        if self._offline:
            raise FetchError(
                f"{what} is not in the cache ({self.cache.folder}), and --offline forbids to fetch "
                f"it from {self.address}"
            )

    def _expected(self, name: MatrixName) -> Entry | None:
        """The line of the index on `name`, none in a collection without an index. Raises NotThere
        if the index, fetched anew where it is old, lacks the name."""
        try:
            if not self.cache.index_file.is_file():
                self.update_index()
            entry = self.entry(name)
            age = time.time() - self.cache.index_file.stat().st_mtime
            if entry is None and age > _INDEX_IS_OLD:
                self.update_index()
                entry = self.entry(name)
        except NotThere:
            return None
        if entry is None:
            raise NotThere(name.matrix)
        return entry

    def _unknown(self, name: MatrixName) -> str:
        try:
            entries = self.index()
        except FetchError:
            entries = []
        if any(each.full_name == name.matrix for each in entries):
            return f"the index of {self.address} lists {name.matrix}, but its archive is not there"
        same = [each.full_name for each in entries if each.name.casefold() == name.name.casefold()]
        of_group = [each.full_name for each in entries if each.group == name.group]
        hint = f" (did you mean {' or '.join(same)}?)" if same else ""
        hint = hint or suggestion(name.matrix, of_group)
        return f"the collection at {self.address} has no matrix {name.matrix}{hint}"

    def _known_sum(self, name: MatrixName) -> str | None:
        file = f"{name.matrix}.tar.gz"
        if file in self._checksums or not self.cache.checksums_file.is_file():
            return self._checksums.get(file)
        return read_checksums(self.cache.checksums_file).get(file)

    def _downloader(self, target: Path) -> Downloader:
        return Downloader(target.with_name(target.name + ".part"), self._patience, self._progress)

    def _fetch_file(
        self, path: str, target: Path, desk: Path, check: Callable[[Path], object]
    ) -> None:
        """Fetches a single file, which `check` reads and may refuse as damaged."""
        arrived = desk / target.name
        downloader = self._downloader(arrived)
        with writing(self.cache.folder):
            arrived.unlink(missing_ok=True)
            for last in (False, True):
                try:
                    download(f"{self.address}/{path}", arrived, downloader, None)
                    check(arrived)
                    break
                except Damaged as error:
                    arrived.unlink(missing_ok=True)
                    downloader.discard()
                    if last:
                        raise FetchError(f"{self.address}/{path} is refused: {error}") from None
            os.replace(arrived, target)

    def _fetch_archive(self, name: MatrixName, entry: Entry | None, desk: Path) -> None:
        """Downloads, checks, unpacks and places an archive. What is damaged is downloaded once
        more, from its beginning."""
        archive = desk / f"{name.group}--{name.name}.tar.gz"
        downloader = self._downloader(archive)
        url = f"{self.address}/MM/{name.group}/{name.name}.tar.gz"
        known = self._known_sum(name)
        with writing(self.cache.folder):
            for last in (False, True):
                try:
                    download(url, archive, downloader, known)
                    self._place(name, entry, archive, downloader.address or url, known)
                    return
                except Damaged as error:
                    downloader.discard()
                    if last:
                        raise FetchError(
                            f"{url} is refused, it was fetched twice: {error}"
                        ) from None
                    self._tell(f"{name.matrix}: {error}; downloading it once more")
                finally:
                    archive.unlink(missing_ok=True)

    def _place(
        self, name: MatrixName, entry: Entry | None, archive: Path, address: str, known: str | None
    ) -> None:
        facts = {
            "address": address,
            "archive_bytes": archive.stat().st_size,
            "archive_sha256": sha256_of(archive),
            "known_sum": known,
            "fetched": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "index": entry.to_dict() if entry is not None else None,
        }
        with self.cache.new_folder() as folder:
            sums = unpack(archive, name.name, folder)
            _check_matrix(name, entry, folder, sums)
            self.cache.place(folder, name, sums, facts)


def _check_matrix(
    name: MatrixName, entry: Entry | None, folder: Path, sums: Mapping[str, FileSum]
) -> None:
    """Raises Damaged unless an archive holds the matrix that the index describes."""
    file = f"{name.name}.mtx"
    if file not in sums:
        raise Damaged(f"the archive of {name.matrix} holds no {file}")
    try:
        header = read_header(folder / file)
    except ValueError as error:
        raise Damaged(f"{file} of the archive {error}") from None
    if entry is not None and (header.rows, header.cols) != (entry.rows, entry.cols):
        raise Damaged(
            f"{file} of the archive has {header.rows} rows and {header.cols} columns, the index "
            f"says {entry.rows} and {entry.cols}"
        )
