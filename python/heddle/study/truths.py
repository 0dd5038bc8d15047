"""Reference values for the questions of a study: one process per matrix."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from . import programs
from .compare import claims_of
from .definition import Study
from .generated import with_files
from .journal import disk_errors, lock
from .matrices import PROBLEM_KEYS
from .pool import Pool
from .process import Child, Ended, Signals, Task
from .records import Record, Run, read_json, write_json


DENSE_S = 120.0  # seconds that a dense reference may take, at least


@dataclass
class Problem:
    """The questions about one matrix (or pencil) that have no reference yet."""

    name: str
    problem: dict[str, Any]
    questions: list[dict[str, Any]] = field(default_factory=list)


def open_questions(
    study: Study, runs: list[Run], records: dict[str, Record], retry: bool = False
) -> list[Problem]:
    """The questions that some run answered and that have no reference yet. One whose reference
    failed is open again with `retry`, or if limits of the study have changed since."""
    if study.reference.dense == 0 and study.reference.inertia == 0:
        return []
    claims: dict[str, list[list[float]]] = {}
    asked: dict[str, Run] = {}
    for run in runs:
        if run.key in records and (made := claims_of(records[run.key])):
            asked.setdefault(run.problem_group, run)
            pairs = [[claim.value, claim.bound] for claim in made if claim.made]
            claims.setdefault(run.problem_group, []).extend(pairs)
    problems: dict[str, Problem] = {}
    for group, run in asked.items():
        if _is_answered(study, group, retry):
            continue
        kept = {key: run.config["problem"].get(key) for key in ("matrix", *PROBLEM_KEYS)}
        kept = {key: value for key, value in kept.items() if value is not None}
        identity = json.dumps(kept, sort_keys=True)
        problem = problems.setdefault(identity, Problem(run.matrix, kept))
        question = {
            key: run.question[key] for key in ("which", "nev", "interval") if key in run.question
        }
        problem.questions.append({"group": group, "claims": claims[group]} | question)
    return list(problems.values())


def _limits(study: Study) -> list[float | None]:
    reference = study.reference
    return [reference.dense, reference.inertia, reference.inertia_s, study.limits.memory_bytes]


def _is_answered(study: Study, group: str, retry: bool = False) -> bool:
    answer = read_json(study.output / "truth" / f"{group}.json")
    if not isinstance(answer, dict):
        return False
    if answer.get("method") != "none":
        return True
    return not retry and answer.get("limits") == _limits(study)


class Truths:
    """Computes references. `out`: where a line per matrix is printed. `stopped`: whether the user
    asked for the end."""

    def __init__(
        self, study: Study, jobs: int, signals: Signals, out: TextIO | None = None
    ) -> None:
        self.study, self.jobs, self._out = study, jobs, out
        self.pool = Pool(jobs, signals, self._start, self._ended)
        self._held: dict[int, Any] = {}

    @property
    def stopped(self) -> bool:
        return self.pool.stopped

    def compute(self, problems: list[Problem]) -> None:
        self.pool.run(problems)

    def _folder(self, problem: Problem) -> Path:
        return self.study.output / "truth" / f".{problem.questions[0]['group']}"

    def _start(self, problem: Problem) -> Child | None:
        folder = self._folder(problem)
        limits = self.study.reference
        threads = str(max(1, programs.cpu_count() // self.jobs))
        with disk_errors(self.study.output):
            folder.mkdir(exist_ok=True)
            held = lock(folder / ".lock")
            if held is None:
                return None
            task = {
                "problem": with_files(problem.problem, self.study.output),
                "questions": problem.questions,
                "folder": str(self.study.output / "truth"),
                "dense": limits.dense,
                "inertia": limits.inertia,
                "inertia_s": limits.inertia_s,
                "limits": _limits(self.study),
            }
            write_json(folder / "task.json", task)
            self._held[id(problem)] = held
            return Child(Task(
                command=[sys.executable, "-m", "heddle.study.reference", str(folder / "task.json")],
                folder=folder,
                working_folder=self.study.output,
                environment={"OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads},
                timeout_s=max(self.study.limits.timeout_s, DENSE_S + 3 * limits.inertia_s),
                memory_bytes=self.study.limits.memory_bytes,
                keep=(held.fileno(),),
            ))  # fmt: skip

    def _ended(self, problem: Problem, how: Ended) -> None:
        """A process that failed has answered some questions, perhaps. To the others, its answer is
        why there is no reference."""
        with disk_errors(self.study.output):
            if how.stopped != "interrupt":
                self._explain(problem, how)
            self._say(problem, how)
            for path in self._folder(problem).iterdir():
                path.unlink()
            self._folder(problem).rmdir()
        self._held.pop(id(problem)).close()

    def _say(self, problem: Problem, how: Ended) -> None:
        if self._out is None:
            return
        groups = [question["group"] for question in problem.questions]
        answers = [
            read_json(self.study.output / "truth" / f"{group}.json") or {} for group in groups
        ]
        words = dict.fromkeys(
            str(each.get("reason") or each.get("method") or "stopped") for each in answers
        )
        line = f"{problem.name:28}  {', '.join(words)}  {how.wall_seconds:.1f} s"
        print(f"           {line}", file=self._out, flush=True)

    def _explain(self, problem: Problem, how: Ended) -> None:
        from .outcome import last_words

        reason = {
            "timeout": "the reference took too long",
            "memory": "the reference needed more memory than run.memory_gb",
        }.get(how.stopped) or f"the reference failed: {last_words(self._folder(problem))}"
        for question in problem.questions:
            if not _is_answered(self.study, question["group"]):
                path = self.study.output / "truth" / f"{question['group']}.json"
                limits = _limits(self.study)
                write_json(path, {"method": "none", "reason": reason, "limits": limits})
