"""Processes with limits of time and memory."""

from __future__ import annotations

import ctypes
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from .records import DEVICE, StudyError

GRACE_S = 5.0  # between SIGTERM and SIGKILL
POLL_S = (0.005, 0.05)  # between two looks at the memory of children: of new ones, of others
PR_SET_PDEATHSIG = 1


@dataclass
class Task:
    """A process to run. Its output is written to stdout.txt and stderr.txt in `folder`. `keep`: a
    file descriptor that it inherits, such as that of a lock."""

    command: list[str]
    folder: Path
    working_folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    timeout_s: float = 600.0
    memory_bytes: int | None = None
    keep: tuple[int, ...] = ()


@dataclass
class Ended:
    """How a process ended. `stopped`: why this side ended it: "timeout", "memory", "interrupt"."""

    exit_code: int | None
    signal: int | None
    wall_seconds: float
    peak_rss_bytes: int | None
    stopped: str = ""


def _die_with_parent() -> None:
    """A study that is killed by SIGKILL takes its children along (Linux)."""
    if _LIBC is not None:
        _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


class CannotStart(StudyError):
    """The program of a task is not there or cannot be executed."""

    def __init__(self, message: str) -> None:
        super().__init__(message, DEVICE)


class Child:
    """A running process. It leads a session of its own, so that Ctrl-C in a terminal reaches this
    program alone, which then ends its children in order."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self._inherited = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        self._stopped = ""
        self._kill_at = 0.0
        with (
            open(task.folder / "stdout.txt", "wb") as out,
            open(task.folder / "stderr.txt", "wb") as err,
        ):
            self._began = time.monotonic()
            self._process = self._popen(out, err)
        self._peak = resident_bytes(self._process.pid)[1]

    def _popen(self, out: IO[bytes], err: IO[bytes]) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                self.task.command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                cwd=self.task.working_folder,
                env=os.environ | self.task.environment,
                start_new_session=True,
                pass_fds=self.task.keep,
                preexec_fn=_die_with_parent if _LIBC else None,
            )
        except OSError as error:
            reason = error.strerror or str(error)
            raise CannotStart(f"{self.task.command[0]} cannot be started: {reason}") from error

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    def poll(self) -> Ended | None:
        """How it ended, None while it runs. Enforces the limits."""
        pid, status, usage = os.wait4(self._process.pid, os.WNOHANG)
        if pid:
            wall = self.seconds
            code = os.waitstatus_to_exitcode(status)
            self._process.returncode = code  # so that Popen does not wait for it again
            self._signal_group(signal.SIGKILL)  # what it may have left behind
            return Ended(
                exit_code=code if code >= 0 else None,
                signal=-code if code < 0 else None,
                wall_seconds=wall,
                peak_rss_bytes=self._final_peak(usage.ru_maxrss),
                stopped=self._stopped,
            )
        self._enforce()
        return None

    def _final_peak(self, largest: int) -> int | None:
        """`largest`: ru_maxrss, which on Linux is at least that of this program, because it counts
        the time between fork and exec. Below that, what was seen while the process ran stands."""
        unit = 1 if sys.platform == "darwin" else 1024
        if largest > self._inherited:
            self._peak = max(self._peak, largest * unit)
        return self._peak or None

    def _enforce(self) -> None:
        limit = self.task.memory_bytes
        resident, most = resident_bytes(self._process.pid)
        self._peak = max(self._peak, most)
        if limit is not None and resident > limit and self._stopped != "memory":
            self._stopped = "memory"
            self._signal_group(signal.SIGKILL)
        if self.seconds > self.task.timeout_s and not self._stopped:
            self.stop("timeout")
        if self._kill_at and time.monotonic() > self._kill_at:
            self._signal_group(signal.SIGKILL)

    def stop(self, why: str) -> None:
        """Asks the process to end, and ends it some seconds later if it has not."""
        self._stopped = self._stopped or why
        self._kill_at = self._kill_at or time.monotonic() + GRACE_S
        self._signal_group(signal.SIGTERM)

    def kill(self) -> None:
        """Ends the process at once."""
        self._stopped = self._stopped or "interrupt"
        self._signal_group(signal.SIGKILL)

    def _signal_group(self, number: int) -> None:
        try:
            os.killpg(self._process.pid, number)
        except (ProcessLookupError, PermissionError):
            pass


def resident_bytes(pid: int) -> tuple[int, int]:
    """Resident memory of a process and of its descendants now, and the most that each of them had;
    0 where it cannot be told."""
    if sys.platform != "linux":
        ended = subprocess.run(
            ["ps", "-o", "rss=", "-g", str(pid)], capture_output=True, text=True, check=False
        )
        total = 1024 * sum(int(word) for word in ended.stdout.split() if word.isdigit())
        return total, total
    now, most, todo = 0, 0, [pid]
    while todo:
        one = todo.pop()
        try:
            with open(f"/proc/{one}/status", encoding="ascii", errors="replace") as file:
                sizes = dict(
                    line.split(":", 1) for line in file if line.startswith(("VmHWM", "VmRSS"))
                )
            now += 1024 * int(sizes["VmRSS"].split()[0])
            most += 1024 * int(sizes["VmHWM"].split()[0])
            with open(f"/proc/{one}/task/{one}/children", encoding="ascii") as file:
                todo += [int(word) for word in file.read().split()]
        except (OSError, ValueError, KeyError):
            continue
    return now, most


def pause(children: Iterable[Child]) -> float:
    """Seconds until the children should be looked at again."""
    return POLL_S[0] if any(child.seconds < 1 for child in children) else POLL_S[1]


class Signals:
    """Wakes the study when a child ends, and counts requests to stop (Ctrl-C, SIGTERM, SIGHUP)."""

    def __init__(self) -> None:
        self.requests = 0
        self._read, self._write = socket.socketpair()
        for end in (self._read, self._write):
            end.setblocking(False)

    def wait(self, seconds: float) -> None:
        """Returns after that time, or earlier when a signal comes."""
        ready, _, _ = select.select([self._read], [], [], seconds)
        if ready:
            try:
                while self._read.recv(4096):
                    pass
            except BlockingIOError:
                pass

    def _request(self, number: int, frame: object) -> None:
        self.requests += 1

    @contextmanager
    def installed(self) -> Iterator[Signals]:
        """Sets the handlers, and puts the earlier ones back at the end."""
        stops = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        earlier = {number: signal.getsignal(number) for number in (*stops, signal.SIGCHLD)}
        wakeup = signal.set_wakeup_fd(self._write.fileno(), warn_on_full_buffer=False)
        try:
            signal.signal(signal.SIGCHLD, lambda number, frame: None)
            for number in stops:
                if earlier[number] is not signal.SIG_IGN:  # nohup
                    signal.signal(number, self._request)
            yield self
        finally:
            signal.set_wakeup_fd(wakeup)
            for number, handler in earlier.items():
                signal.signal(number, handler)
            self._read.close()
            self._write.close()
