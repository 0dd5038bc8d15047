"""Lists of known sums, in the form that md5sum and sha256sum write: SUM, blanks, FILE per line,
where FILE is GROUP/NAME.tar.gz, perhaps with folders before it."""

from __future__ import annotations

import string
from pathlib import Path

from .errors import FetchError

_ALGORITHMS = {32: "md5", 40: "sha1", 64: "sha256", 128: "sha512"}


def parse_checksums(text: str, source: str) -> dict[str, str]:
    """From GROUP/NAME.tar.gz to sums such as "md5:9a03…". Lines that begin with # are comments.
    Raises FetchError for a line of another form."""
    sums: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        digest = words[0].rpartition(":")[2].lower()
        path = words[1].lstrip("*").split("/") if len(words) == 2 else []
        if len(digest) not in _ALGORITHMS or set(digest) - set(string.hexdigits) or len(path) < 2:
            raise FetchError(
                f"{source}:{number}: expected an MD5, SHA-1, SHA-256 or SHA-512 sum and "
                f"GROUP/NAME.tar.gz, not {line.strip()[:80]!r}"
            )
        sums["/".join(path[-2:])] = f"{_ALGORITHMS[len(digest)]}:{digest}"
    return sums


def read_checksums(path: Path) -> dict[str, str]:
    """The sums in a file. Raises FetchError."""
    try:
        return parse_checksums(path.read_text(encoding="utf-8", errors="replace"), str(path))
    except OSError as error:
        raise FetchError(f"{path}: cannot be read: {error.strerror}") from None
