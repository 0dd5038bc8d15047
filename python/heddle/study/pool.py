"""Several processes at a time, and an orderly end when the user asks for one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from .process import Child, Ended, Signals, pause

Item = TypeVar("Item")


@dataclass
class Pool(Generic[Item]):
    """Runs one process per item, at most `jobs` at a time, in the order of the items.

    start(item): starts its process; None if there is nothing to start
    ended(item, how): is called once per process, in the order in which they end
    idle(): is called some times per second

    `stopped`: whether the user asked for the end. The first request ends the running processes by
    SIGTERM, which lets them write what they have; the second one ends them at once."""

    jobs: int
    signals: Signals
    start: Callable[[Item], Child | None]
    ended: Callable[[Item, Ended], None]
    idle: Callable[[], None] = lambda: None
    stopped: bool = False
    _active: list[tuple[Item, Child]] = field(default_factory=list)

    def run(self, items: Iterable[Item]) -> None:
        """Returns when all have ended. An exception from start or ended ends all processes."""
        waiting = deque(items)
        try:
            while self._active or (waiting and not self.stopped):
                self._check_requests()
                while waiting and len(self._active) < self.jobs and not self.stopped:
                    item = waiting.popleft()
                    if (child := self.start(item)) is not None:
                        self._active.append((item, child))
                if self._active:
                    self.signals.wait(pause(child for _, child in self._active))
                self._collect()
                self.idle()
        except BaseException:
            for _, child in self._active:
                child.kill()
            raise

    def _collect(self) -> None:
        for item, child in list(self._active):
            how = child.poll()
            if how is not None:
                self._active.remove((item, child))
                self.ended(item, how)

    def _check_requests(self) -> None:
        if self.signals.requests and not self.stopped:
            self.stopped = True
            for _, child in self._active:
                child.stop("interrupt")
        elif self.signals.requests > 1:
            for _, child in self._active:
                child.kill()
