"""Starts the runs of a study and records how they end."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sys
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import IO, Protocol

from . import programs
from .definition import Study
from .journal import Journal, adopted, disk_errors, lock, read_records
from .outcome import Machine, adopted_record, record_of
from .process import Child, Signals, Task, pause
from .programs import Solver
from .records import FAILED, Record, Run, write_text
from .yaml_file import dump_yaml

WRITTEN_BY_RUNS = ("result.json", "record.json", "history.csv", "pairs.csv")


class Watcher(Protocol):
    """What is told of the runs while they go on."""

    def started(self, run: Run) -> None: ...

    def ended(self, run: Run, record: Record) -> None: ...

    def waiting(self) -> None: ...


@dataclass
class _Active:
    run: Run
    child: Child
    held: IO[bytes]
    started: str


@dataclass
class Runner:
    """The runs of one start of a study. `stopped`: whether the user asked for the end."""

    study: Study
    journal: Journal
    solver: Solver
    jobs: int
    signals: Signals
    watcher: Watcher
    stopped: bool = False
    records: dict[str, Record] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.machine = Machine(socket.gethostname(), programs.cpu_name())
        self.records = read_records(self.study.output)
        self._active: list[_Active] = []
        self._elsewhere: deque[Run] = deque()

    def due(self, runs: Iterable[Run], retry: bool) -> list[Run]:
        """The runs that have no record yet, those that the user stopped and, with `retry`, those
        that failed. What ended without a record because a study was killed is recorded now."""
        due = []
        for run in runs:
            record = self.records.get(run.key)
            if record is None and (folder := self._folder(run)).is_dir():
                record = self._adopt(run, folder)
            if record is None or not record.finished or (retry and record.status in FAILED):
                due.append(run)
        return due

    def _adopt(self, run: Run, folder: Path) -> Record | None:
        record = adopted(
            folder, lambda result: adopted_record(run, result, self.machine, self._version(run))
        )
        if record is not None and record.key == run.key:
            self._record(record)
            return record
        return None

    def run(self, due: list[Run]) -> None:
        """Returns when all have ended, or the user asked for the end."""
        waiting = deque(due)
        try:
            while waiting or self._active or self._elsewhere:
                self._check_requests()
                if self.stopped and not self._active:
                    break
                while waiting and len(self._active) < self.jobs and not self.stopped:
                    self._start(waiting.popleft())
                if not waiting and not self._active:
                    waiting = self._others_left()
                self.signals.wait(pause(each.child for each in self._active))
                self._collect()
                self.watcher.waiting()
        except BaseException:
            for each in self._active:
                each.child.kill()
            raise

    def _check_requests(self) -> None:
        if self.signals.requests == 0:
            return
        if not self.stopped:
            self.stopped = True
            for each in self._active:
                each.child.stop("interrupt")
        elif self.signals.requests > 1:
            for each in self._active:
                each.child.kill()

    def _others_left(self) -> deque[Run]:
        """The runs that another process had when their turn came, and that have no record yet."""
        left = deque(self._elsewhere)
        self._elsewhere.clear()
        self.records = read_records(self.study.output)
        return deque(run for run in left if run.key not in self.records)

    def _folder(self, run: Run) -> Path:
        return self.study.output / run.folder

    def _version(self, run: Run) -> str:
        if run.kind == "heddle":
            return f"heddle {self.solver.version}"
        return programs.external_version(run.program, run.config.get("python", ""))

    def _start(self, run: Run) -> None:
        folder = self._folder(run)
        with disk_errors(self.study.output):
            folder.mkdir(parents=True, exist_ok=True)
            held = lock(folder / ".lock")
            if held is None:
                self._elsewhere.append(run)
                return
            for name in WRITTEN_BY_RUNS:
                (folder / name).unlink(missing_ok=True)
            shutil.rmtree(folder / "previous", ignore_errors=True)
            write_text(folder / "config.yaml", configuration_text(run))
        started = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        limits = self.study.limits
        task = Task(
            command=command_of(run, self.solver),
            folder=folder,
            working_folder=self.study.output,
            environment=environment_of(run, limits.threads, self.jobs),
            timeout_s=limits.timeout_s,
            memory_bytes=limits.memory_bytes,
            keep=(held.fileno(),),
        )
        with disk_errors(self.study.output):
            self._active.append(_Active(run, Child(task), held, started))
        self.watcher.started(run)

    def _collect(self) -> None:
        for each in list(self._active):
            ended = each.child.poll()
            if ended is None:
                continue
            self._active.remove(each)
            run = each.run
            record = record_of(
                run, ended, self._folder(run), self.machine, each.started, self._version(run)
            )
            self._record(record)
            each.held.close()
            self.watcher.ended(run, record)

    def _record(self, record: Record) -> None:
        self.journal.add(record)
        self.records[record.key] = record


def configuration_text(run: Run) -> str:
    """The content of config.yaml. That of an external solver is JSON, which is YAML, too."""
    config = {key: value for key, value in run.config.items() if key != "python"}
    config["output"] = (config.get("output") or {}) | {"directory": run.folder}
    if run.kind == "external":
        return json.dumps(config, indent=1) + "\n"
    return dump_yaml(config)


_STANDALONE = (
    "import sys,types;p=types.ModuleType('heddle');p.__path__=[{path!r}];sys.modules['heddle']=p;"
    "from heddle.study.external import main;sys.exit(main())"
)


def command_of(run: Run, solver: Solver) -> list[str]:
    """The command, to be run in the folder of the study. Another Python than this one need not have
    heddle, so it gets the path of the adapters alone."""
    config = f"{run.folder}/config.yaml"
    if run.kind == "heddle":
        return [solver.path, "solve", config, "-q"]
    if python := run.config.get("python"):
        path = str(Path(__file__).parent.parent)
        return [python, "-c", _STANDALONE.format(path=path), config]
    return [sys.executable, "-m", "heddle.study.external", config]


def environment_of(run: Run, threads: int | None, jobs: int) -> dict[str, str]:
    """Threads of the process: those of its configuration, else an equal part of the CPUs."""
    count = run.config.get("threads") or threads or max(1, programs.cpu_count() // jobs)
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    found = {name: str(count) for name in names}
    if jobs > 1 and "OMP_WAIT_POLICY" not in os.environ:
        found["OMP_WAIT_POLICY"] = "passive"
    return found
