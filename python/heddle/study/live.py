"""What the terminal shows while a study runs."""

from __future__ import annotations

import time
from typing import TextIO

from .records import Record, Run


class Table:
    """A line per run that ended."""

    def __init__(self, out: TextIO, quiet: bool) -> None:
        self.out, self.quiet = out, quiet
        self._done = self._total = 0
        self._began = time.monotonic()

    def begin(self, runs: list[Run], due: list[Run]) -> None:
        self._total, self._done = len(runs), len(runs) - len(due)

    def started(self, run: Run) -> None:
        pass

    def ended(self, run: Run, record: Record) -> None:
        self._done += 1
        if not self.quiet:
            print(
                f"{self._done:4}/{self._total} {run.matrix:20} {run.case:30} {record.status:14} "
                f"{record.wall_seconds:8.2f} s",
                file=self.out,
            )

    def waiting(self) -> None:
        pass

    def close(self) -> None:
        pass
