"""Starts the runs of a study and records how they end."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import IO, Protocol

from . import programs
from .definition import Study
from .generated import with_files
from .journal import Journal, adopted, disk_errors, lock, read_records
from .outcome import Machine, adopted_record, record_of, unavailable_record
from .pool import Pool
from .process import CannotStart, Child, Ended, Signals, Task
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
        self._held: dict[str, tuple[IO[bytes], str]] = {}
        self._elsewhere: list[Run] = []

    def due(self, runs: Iterable[Run], retry: bool) -> list[Run]:
        """The runs that have no record yet, those that the user stopped and, with `retry`, those
        that failed."""
        due = []
        for run in runs:
            record = self.records.get(run.key)
            if record is None or not record.finished or (retry and record.status in FAILED):
                due.append(run)
        return due

    def _adopt(self, run: Run, folder: Path) -> bool:
        """Records a run that ended without a record, because its study was killed."""
        record = adopted(
            folder, lambda result: adopted_record(run, result, self.machine, self._version(run))
        )
        if run.key in self.records or record is None or record.key != run.key:
            return False
        self._conclude(run, record)
        return True

    def run(self, due: list[Run]) -> None:
        """Returns when all have ended, or the user asked for the end. Runs that another process
        had when their turn came are looked at again at the end."""
        pool = Pool(self.jobs, self.signals, self._start, self._ended, self.watcher.waiting)
        while due and not pool.stopped:
            pool.run(due)
            due, self._elsewhere = self._elsewhere, []
            if due and not pool.stopped:
                self.signals.wait(1.0)
                self.records |= read_records(self.study.output)
                due = [run for run in due if run.key not in self.records]
        self.stopped = pool.stopped

    def _folder(self, run: Run) -> Path:
        return self.study.output / run.folder

    def _version(self, run: Run) -> str:
        if run.kind == "heddle":
            return f"heddle {self.solver.version}"
        return programs.external_version(run.program, run.config.get("python", ""))

    def _start(self, run: Run) -> Child | None:
        folder = self._folder(run)
        limits = self.study.limits
        with disk_errors(self.study.output):
            folder.mkdir(parents=True, exist_ok=True)
            held = lock(folder / ".lock")
            if held is None:
                self._elsewhere.append(run)
                return None
            if self._adopt(run, folder):
                held.close()
                return None
            for name in WRITTEN_BY_RUNS:
                (folder / name).unlink(missing_ok=True)
            shutil.rmtree(folder / "previous", ignore_errors=True)
            write_text(folder / "config.yaml", configuration_text(run, self.study.output))
            task = Task(
                command=command_of(run, self.solver),
                folder=folder,
                working_folder=self.study.output,
                environment=environment_of(run, limits.threads, self.jobs),
                timeout_s=limits.timeout_s,
                memory_bytes=limits.memory_bytes,
                keep=(held.fileno(),),
            )
            started = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
            try:
                child = Child(task)
            except CannotStart as error:
                if run.kind == "heddle":
                    raise
                held.close()
                self._conclude(run, unavailable_record(run, str(error), self.machine))
                return None
        self._held[run.key] = held, started
        self.watcher.started(run)
        return child

    def _ended(self, run: Run, how: Ended) -> None:
        held, started = self._held.pop(run.key)
        folder = self._folder(run)
        record = record_of(run, how, folder, self.machine, started, self._version(run))
        self._conclude(run, record)
        held.close()

    def _conclude(self, run: Run, record: Record) -> None:
        self.journal.add(record)
        self.records[record.key] = record
        self.watcher.ended(run, record)


def configuration_text(run: Run, folder: Path) -> str:
    """The content of config.yaml. That of an external solver is JSON, which is YAML, too, and names
    the files of generated matrices."""
    config = {key: value for key, value in run.config.items() if key != "python"}
    config["output"] = (config.get("output") or {}) | {"directory": run.folder}
    if run.kind == "heddle":
        return dump_yaml(config)
    config["problem"] = with_files(config["problem"], folder)
    return json.dumps(config, indent=1) + "\n"


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
