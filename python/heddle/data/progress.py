"""What heddle fetch says while it works, on stderr."""

from __future__ import annotations

import sys
import time


def size_text(count: int) -> str:
    """A number of bytes for people: "0.4 kB", "12.0 MB"."""
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.1f} kB"


class Teller:
    """Sentences, and on a terminal a line that follows a download. `quiet`: nothing is said."""

    _INTERVAL = 0.2  # seconds between two states of the line

    def __init__(self, quiet: bool = False):
        self._quiet = quiet
        self._lives = not quiet and sys.stderr.isatty()
        self._shown = 0  # characters of the line
        self._name = ""
        self._begin = self._last = 0.0
        self._first = 0  # bytes that were there before

    def tell(self, sentence: str) -> None:
        """Writes a sentence as a line of its own."""
        self.clear()
        if not self._quiet:
            print(f"heddle fetch: {sentence}", file=sys.stderr, flush=True)

    def progress(self, name: str, done: int, total: int) -> None:
        """Shows how far the download `name` is. `total` is 0 if it is unknown."""
        if not self._lives:
            return
        now = time.monotonic()
        if name != self._name:
            self._name, self._begin, self._first, self._last = name, now, done, 0.0
        if now - self._last < self._INTERVAL and done != total:
            return
        self._last = now
        text = f"{name.removesuffix('.tar.gz').replace('--', '/')}: {size_text(done)}"
        if total:
            text += f" of {size_text(total)}"
        if now > self._begin:
            text += f", {size_text(int((done - self._first) / (now - self._begin)))}/s"
        print("\r" + text.ljust(self._shown), end="", file=sys.stderr, flush=True)
        self._shown = len(text)

    def clear(self) -> None:
        """Takes the line away."""
        if self._shown:
            print("\r" + " " * self._shown + "\r", end="", file=sys.stderr, flush=True)
            self._shown = 0
        self._name = ""
