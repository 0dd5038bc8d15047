"""Downloads a file over HTTP, in portions that survive a broken connection.

What has arrived stands in FILE.part, and FILE.part.json says of which address and version it is. A
new attempt, in the same run or a later one, asks for the rest by a Range request. pooch compares
sums and gives the complete file its name."""

from __future__ import annotations

import json
import os
import re
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from .errors import Damaged, FetchError, NotThere, Unreachable

if TYPE_CHECKING:
    import requests

CHUNK = 1 << 14  # bytes; what a broken connection loses at most
_NOT_THERE = (404, 410)
_PASSING = (408, 425, 429, 500, 502, 503, 504)


class Progress(Protocol):
    """Told of a download: its name, the bytes that are there and all bytes, 0 if unknown."""

    def __call__(self, name: str, done: int, total: int) -> None: ...


@dataclass(frozen=True)
class Patience:
    """How long a server may take. Times in seconds."""

    connect: float = 10
    silence: float = 30  # without a byte
    attempts: int = 5  # in a row without progress
    pause: float = 0.5  # before the second attempt, doubled for each further one


class _Broken(Exception):
    """An attempt ended early, another one may go on."""


class Downloader:
    """A downloader for pooch.retrieve. `part`: where the bytes are collected. `address`: the last
    address that a redirection led to."""

    def __init__(self, part: Path, patience: Patience, progress: Progress | None = None):
        self._part = part
        self._notes = part.with_name(part.name + ".json")
        self._patience = patience
        self._progress = progress
        self.address = ""

    def __call__(self, url: str, output_file: Any, pooch: Any, check_only: bool = False) -> None:
        """Downloads `url` to the path `output_file`. Raises FetchError."""
        failures, most = 0, -1
        while True:
            try:
                self._attempt(url)
                break
            except _Broken as broken:
                there = self._size()
                failures = 1 if there > most else failures + 1
                most = max(most, there)
                if failures >= self._patience.attempts:
                    raise Unreachable(f"{url} cannot be read: {broken}") from None
            time.sleep(self._patience.pause * 2 ** (failures - 1))
        self._notes.unlink(missing_ok=True)
        os.replace(self._part, output_file)

    def discard(self) -> None:
        """Deletes what has arrived."""
        self._part.unlink(missing_ok=True)
        self._notes.unlink(missing_ok=True)

    def _size(self) -> int:
        return self._part.stat().st_size if self._part.exists() else 0

    def _known(self, url: str) -> dict[str, Any]:
        """What is known of the part of `url` that is there. A part of something else is deleted."""
        try:
            notes = json.loads(self._notes.read_text(encoding="utf-8"))
            if notes["url"] == url and self._size() > 0:
                return {"url": url, "total": int(notes["total"]), "version": str(notes["version"])}
        except (OSError, ValueError, KeyError, TypeError):
            pass
        self.discard()
        return {}

    def _attempt(self, url: str) -> None:
        import requests
        import urllib3

        known = self._known(url)
        headers = {"Accept-Encoding": "identity", "User-Agent": "heddle-fetch"}
        if known:
            headers["Range"] = f"bytes={self._size()}-"
            if known["version"]:
                headers["If-Range"] = known["version"]
        timeout = (self._patience.connect, self._patience.silence)
        try:
            with requests.get(url, headers=headers, stream=True, timeout=timeout) as response:
                self._receive(url, response, known)
        except requests.ConnectionError as error:
            if isinstance(error, requests.exceptions.SSLError) or not _answered(error):
                raise Unreachable(_reason(error)) from None
            raise _Broken(_reason(error)) from None
        except requests.Timeout as error:
            if isinstance(error, requests.exceptions.ConnectTimeout):
                raise Unreachable(_reason(error)) from None
            raise _Broken(_reason(error)) from None
        except urllib3.exceptions.HTTPError as error:  # while the content is read
            raise _Broken(_reason(error)) from None
        except requests.RequestException as error:
            raise FetchError(f"{url} cannot be read: {_reason(error)}") from None

    def _receive(self, url: str, response: requests.Response, known: dict[str, Any]) -> None:
        self.address = response.url
        code = response.status_code
        if code in _NOT_THERE:
            raise NotThere(f"{url} does not exist (HTTP {code})")
        if code in _PASSING:
            raise _Broken(f"the server answers HTTP {code} ({response.reason})")
        if code == 416:  # no byte is left, or the file has become shorter
            if known and known["total"] == self._size():
                return
            self.discard()
            raise _Broken("the file on the server has changed")
        if code not in (200, 206):
            raise FetchError(
                f"{url} cannot be read: the server answers HTTP {code} ({response.reason})"
            )
        start = self._size() if code == 206 else 0
        length = int(response.headers.get("Content-Length", 0) or 0)
        total = start + length if length else 0
        if code == 206 and not self._continues(response, start, known):
            self.discard()
            raise _Broken("the file on the server has changed")
        if code == 200:
            self._begin(url, response, total)
        self._append(response, start, total)

    def _continues(self, response: requests.Response, start: int, known: dict[str, Any]) -> bool:
        """Whether a partial answer holds the bytes that are missing."""
        place = response.headers.get("Content-Range", "")
        match = re.fullmatch(r"bytes (\d+)-(\d+)/(\d+|\*)", place)
        if not known or match is None or int(match[1]) != start:
            return False
        return known["total"] in (0, int(match[2]) + 1)

    def _begin(self, url: str, response: requests.Response, total: int) -> None:
        """Prepares for all bytes of a file, with notes that a later attempt goes on from."""
        version = response.headers.get("ETag", "")
        if not version or version.startswith("W/"):  # If-Range needs a strong one
            version = response.headers.get("Last-Modified", "")
        self._part.write_bytes(b"")
        notes = {"url": url, "total": total, "version": version}
        self._notes.write_text(json.dumps(notes), encoding="utf-8")

    def _append(self, response: requests.Response, start: int, total: int) -> None:
        done = start
        with self._part.open("ab") as file:
            # Some servers say of a .tar.gz that it is a .tar in a compressed transfer.
            for chunk in response.raw.stream(CHUNK, decode_content=False):
                file.write(chunk)
                done += len(chunk)
                if self._progress is not None:
                    self._progress(self._part.name.removesuffix(".part"), done, total)
        if total and done < total:
            raise _Broken(f"the connection was closed after {done} of {total} bytes")


def _causes(error: BaseException) -> Iterator[BaseException]:
    """`error` and what it wraps, the outermost first."""
    found: list[BaseException] = [error]
    for each in found:
        yield each
        inner = [each.__cause__, each.__context__, getattr(each, "reason", None), *each.args]
        found += [one for one in inner if isinstance(one, BaseException) and one not in found]


def _answered(error: BaseException) -> bool:
    """Whether a connection had been made before it failed."""
    from urllib3.exceptions import MaxRetryError, NewConnectionError

    return not any(isinstance(each, (MaxRetryError, NewConnectionError)) for each in _causes(error))


def _reason(error: BaseException) -> str:
    """The innermost cause in a few words."""
    import ssl

    for each in _causes(error):
        if isinstance(each, socket.gaierror):
            return "its name cannot be resolved, perhaps without a network"
        if isinstance(each, ssl.SSLCertVerificationError):
            return f"its certificate is not accepted ({each.verify_message})"
        if isinstance(each, TimeoutError):
            return "it does not answer in time"
        if isinstance(each, OSError) and each.strerror:
            return each.strerror.lower()
    from requests.exceptions import Timeout
    from urllib3.exceptions import IncompleteRead
    from urllib3.exceptions import TimeoutError as Urllib3Timeout

    if isinstance(error, (Timeout, Urllib3Timeout)):
        return "it does not answer in time"
    if isinstance(error, IncompleteRead):
        return "the connection was closed early"
    return str(error)


def download(url: str, target: Path, downloader: Downloader, known_sum: str | None) -> None:
    """Downloads `url` to `target` unless a complete download is there already. `known_sum`: such as
    "md5:9a0364b9e99bb480dd25e1f0284c8555". Raises Damaged for another sum, FetchError, OSError."""
    try:
        import pooch
    except ImportError:
        raise FetchError(
            "pooch, which fetches matrices, cannot be imported; pip install "
            "'heddle-solvers[study]' installs it"
        ) from None

    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel("ERROR")
    try:
        pooch.retrieve(url, known_sum, fname=target.name, path=target.parent, downloader=downloader)
    except ValueError as error:  # of pooch, for another sum; those of this package are FetchError
        if isinstance(error, FetchError):
            raise
        raise Damaged(f"{target.name} does not have the known sum {known_sum}") from None
    finally:
        logger.setLevel(level)
