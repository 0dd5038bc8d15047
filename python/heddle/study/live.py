"""What the terminal shows while a study runs, and at its end."""

from __future__ import annotations

import shutil
import time
from collections import Counter
from statistics import fmean
from typing import TextIO

from .compare import VERDICTS, Comparison
from .records import FAILED, Record, Run

REDRAW_S = 0.2
ENOUGH = 5  # runs after which an estimate of the rest is worth printing


class Table:
    """A line per run that ended. On a terminal, lines below them show the running ones, how many
    have ended, and an estimate of the time that is left."""

    def __init__(self, out: TextIO, quiet: bool = False) -> None:
        self._out, self._quiet = out, quiet
        self._in_place = out.isatty() and not quiet
        self._running: dict[str, tuple[Run, float]] = {}
        self._waiting: dict[str, Run] = {}
        self._seconds: dict[str | tuple[str, str], list[float]] = {}
        self._done = self._total = self._drawn = 0
        self._jobs, self._timeout = 1, 0.0
        self._widths = (6, 4)
        self._next = 0.0

    def begin(
        self, runs: list[Run], due: list[Run], ended: dict[str, Record], jobs: int, timeout: float
    ) -> None:
        """`due`: those of the runs that are to be started. `ended`: records of earlier starts, for
        the estimate. `timeout`: seconds that a run may take."""
        self._total, self._done = len(runs), len(runs) - len(due)
        self._waiting = {run.key: run for run in due}
        self._jobs, self._timeout = jobs, timeout
        for run in runs:
            if run.key in ended:
                self._note(run, ended[run.key])
        self._widths = (
            min(28, max(6, *(len(run.matrix) for run in runs))),
            min(48, max(4, *(len(run.case) for run in runs))),
        )
        if self._done:
            self._say(f"{self._done} of {self._total} runs have ended before")
        if due:
            self._say(self._row("", "matrix", "case", "status", "pairs", "residual", "seconds"))

    def started(self, run: Run) -> None:
        self._running[run.key] = run, time.monotonic()

    def ended(self, run: Run, record: Record) -> None:
        self._running.pop(run.key, None)
        self._waiting.pop(run.key, None)
        self._note(run, record)
        self._done += 1
        result = record.result or {}
        flags = result.get("converged") or []
        residuals = [each for each in result.get("residuals") or [] if each is not None]
        self._say(
            self._row(
                f"{self._done}/{self._total}",
                run.matrix,
                run.case,
                record.status,
                f"{sum(map(bool, flags))}/{len(flags)}" if flags else "-",
                f"{max(residuals):.1e}" if residuals else "-",
                f"{record.wall_seconds:.2f}",
            )
        )

    def _note(self, run: Run, record: Record) -> None:
        for key in (run.case, (run.matrix, run.case)):
            self._seconds.setdefault(key, []).append(record.wall_seconds)

    def waiting(self) -> None:
        if self._in_place and time.monotonic() >= self._next:
            self._next = time.monotonic() + REDRAW_S
            self._erase()
            self._draw()

    def close(self) -> None:
        self._erase()
        self._out.flush()

    def _row(self, *words: str) -> str:
        number, matrix, case, status, pairs, residual, seconds = words
        wide, wider = self._widths
        return (
            f"{number:>9}  {_cut(matrix, wide):{wide}}  {_cut(case, wider):{wider}}  {status:19} "
            f"{pairs:>7} {residual:>9} {seconds:>9}"
        )

    def _say(self, line: str) -> None:
        if self._quiet:
            return
        self._erase()
        print(line, file=self._out, flush=True)

    def _draw(self) -> None:
        width = shutil.get_terminal_size().columns - 1
        lines = [
            f"   running  {run.matrix}  {run.case}  {time.monotonic() - began:.0f} s"
            for run, began in self._running.values()
        ]
        lines.append(f"{self._done}/{self._total} ended{self.time_left()}")
        self._out.write("".join(f"{_cut(line, width)}\n" for line in lines))
        self._out.flush()
        self._drawn = len(lines)

    def _erase(self) -> None:
        if self._drawn:
            self._out.write(f"\x1b[{self._drawn}A\x1b[J")
            self._drawn = 0

    def time_left(self) -> str:
        """An estimate from the runs that have ended: a run takes as long as its earlier repeats,
        else as its case on other matrices, else as the mean. Not before some runs have ended."""
        every = [each for values in self._seconds.values() for each in values]
        if self._done < ENOUGH or not every or not self._waiting:
            return ""
        left = 0.0
        for key, run in self._waiting.items():
            seconds = self._seconds.get((run.matrix, run.case)) or self._seconds.get(run.case)
            expected = fmean(seconds or every)
            spent = time.monotonic() - self._running[key][1] if key in self._running else 0.0
            left += max(expected - spent, spent / 2)  # one that takes longer may go on so
        most = len(self._waiting) * self._timeout / self._jobs
        return f", about {duration(left / self._jobs)} left, {duration(most)} at most"


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(1, width - 1)] + "…"


def duration(seconds: float) -> str:
    """Such as 40 s, 12 min, 3.5 h."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def summary(runs: list[Run], records: dict[str, Record], comparison: Comparison) -> list[str]:
    """The lines at the end of a study: statuses, failures with reasons, verdicts."""
    ended = [(run, records[run.key]) for run in runs if run.key in records]
    counts = Counter(record.status for _, record in ended)
    words = ", ".join(f"{count} {status}" for status, count in counts.most_common())
    lines = [f"{len(ended)} of {len(runs)} runs have ended: {words or 'none'}"]
    reasons: dict[tuple[str, str], list[Run]] = {}
    for run, record in ended:
        if record.status in FAILED:
            reasons.setdefault((record.status, record.reason), []).append(run)
    for (status, reason), those in list(reasons.items())[:8]:
        more = f" and {len(those) - 1} more" if len(those) > 1 else ""
        place = f"{those[0].matrix}/{those[0].case}"
        lines.append(f"  {status}: {place}{more}: {_cut(reason, 200)}")
    if len(reasons) > 8:
        lines.append(f"  and {len(reasons) - 8} other reasons: journal.jsonl lists them")
    return lines + verdicts(comparison)


def verdicts(comparison: Comparison) -> list[str]:
    """How many values have which verdict, and those that are wrong or disagree."""
    found = [(entry, run) for entry in comparison for run in entry["runs"]]
    if not found:
        return ["values: none to check"]
    counts = Counter(pair["verdict"] for _, run in found for pair in run["pairs"])
    methods = Counter(
        pair.get("against") for _, run in found for pair in run["pairs"]
        if pair["verdict"] == "confirmed"
    )  # fmt: skip
    by = ", ".join(f"{count} by {method}" for method, count in methods.most_common())
    words = [f"{counts[verdict]} {verdict}" for verdict in reversed(VERDICTS)]
    lines = [f"values: {', '.join(words)}" + (f" (confirmed: {by})" if by else "")]
    for entry, run in found:
        if run["verdict"] in ("proven wrong", "disagrees"):
            lines.append(f"  {run['verdict']}: {entry['matrix']}/{run['case']}: {run['detail']}")
    return lines
