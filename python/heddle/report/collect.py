"""Reads a study's folder into plain data, from which tables and pictures are made."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from ..study.journal import read_records
from ..study.records import as_dict, read_json
from ..study.sense import problem_of_result
from .results import solve_seconds

NOT_RUN = "not run"  # status of a run that is planned and has no record
SKIPPED = frozenset({NOT_RUN, "unavailable", "interrupted"})  # say nothing about the solver
ENDED_WITHOUT = frozenset({"max_iterations", "time_limit", "not_converged", "stagnated"})
WRONG = "proven wrong"


class NoStudy(Exception):
    """The folder is not that of a study. The message says what is missing."""


@dataclass
class Run:
    """One run: its plan, the journal's record where it has ended, and what comparing found."""

    folder: Path  # of the study
    data: dict[str, Any]  # the plan's entry, and over it the record's
    verdict: dict[str, Any] = field(default_factory=dict)  # entry of comparison.json

    def __getattr__(self, name: str) -> Any:
        """Keys of the plan and the record, None where there is none."""
        if name.startswith("__") or name in ("data", "folder", "verdict"):
            raise AttributeError(name)
        return self.data.get(name)

    @property
    def status(self) -> str:
        return str(self.data.get("status") or NOT_RUN)

    @property
    def result(self) -> dict[str, Any]:
        return self.data.get("result") or {}

    @property
    def kind_of_end(self) -> str:
        """One of "converged", "not converged", "failed", "wrong", "not run"."""
        if self.status in SKIPPED:
            return "not run"
        if self.verdict.get("verdict") == WRONG:
            return "wrong"
        if self.status == "converged":
            return "converged"
        return "not converged" if self.status in ENDED_WITHOUT else "failed"

    @property
    def solved(self) -> bool:
        return self.kind_of_end == "converged"

    @property
    def seconds(self) -> float | None:
        """Of setup and solve. The whole process where the result does not tell, None without a
        result."""
        found = solve_seconds(self.result)
        return found if found is not None or not self.result else self.data.get("wall_seconds")

    @property
    def products(self) -> float | None:
        return self.result.get("operator_applications")

    @property
    def path(self) -> Path:
        return self.folder / str(self.data.get("folder") or f"runs/{self.data['key']}")

    @cached_property
    def full(self) -> dict[str, Any]:
        """All of result.json, empty where it is missing or damaged."""
        found = read_json(self.path / "result.json")
        return {} if problem_of_result(found) else dict(found)

    @property
    def solver(self) -> dict[str, Any]:
        """The section `solver` of the configuration."""
        found = (self.data.get("config") or {}).get("solver")
        return found if isinstance(found, dict) else {}

    @property
    def problem(self) -> dict[str, Any]:
        """The section `problem` of the configuration."""
        found = (self.data.get("config") or {}).get("problem")
        return found if isinstance(found, dict) else {}

    @property
    def tolerance(self) -> float | None:
        """The requested tolerance, None where the solver chose it."""
        for source in (self.solver, (self.full.get("configuration") or {}).get("solver") or {}):
            try:
                return float(source.get("tolerance"))  # type: ignore[arg-type]
            except (TypeError, ValueError):
                continue
        return None


@dataclass
class Truth:
    """Reference values of a problem, in the order of the problem's eigenvalues."""

    method: str
    values: list[float]
    uncertainty: list[float]


@dataclass
class Problem:
    """Runs that answer the same question."""

    group: str
    matrix: str
    question: str  # "6 smallest"
    slug: str  # for names of files and anchors, unique in the study
    runs: list[Run] = field(default_factory=list)
    truth: Truth | None = None

    @property
    def name(self) -> str:
        return f"{self.matrix}, {self.question}"


@dataclass
class Study:
    folder: Path
    name: str
    definition: dict[str, Any]
    runs: list[Run]
    matrices: dict[str, dict[str, Any]]
    problems: list[Problem]
    disagreements: list[Run]

    @property
    def cases(self) -> list[str]:
        """Names in the order of the plan."""
        return list(dict.fromkeys(method(run) for run in self.runs))


def method(run: Run) -> str:
    """The case without the parameters that state the problem, which are the same method on
    several problems: the smallest and the largest values of a matrix."""
    return str(run.setting or run.case)


def question(run: Run) -> str:
    """What is asked of the matrix, in words: "6 smallest"."""
    asked = {**run.solver, **(run.data.get("question") or {})}
    if asked.get("interval") is not None:
        return f"in {asked['interval']}"
    words = [asked.get("nev"), asked.get("which") or "smallest"]
    mass = "with mass" if asked.get("mass") or run.problem.get("mass") else None
    return " ".join(str(word) for word in [*words, mass] if word is not None)


def slug_of(text: str, taken: set[str]) -> str:
    """Lower-case letters, digits and hyphens, unlike all that are taken."""
    plain = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60] or "unnamed"
    found, number = plain, 1
    while found in taken:
        number += 1
        found = f"{plain}-{number}"
    taken.add(found)
    return found


def read_study(folder: Path) -> Study:
    """Raises NoStudy where the folder has neither a plan nor a journal."""
    plan = read_json(folder / "plan.json")
    records = {key: as_dict(record) for key, record in read_records(folder).items()}
    if not isinstance(plan, list) and not records:
        raise NoStudy(
            f"{folder} has neither plan.json nor journal.jsonl: give the folder that "
            "'heddle study STUDY.yaml' wrote, which is its key 'output'"
        )
    entries = [entry for entry in plan or [] if isinstance(entry, dict) and "key" in entry]
    if not entries:
        entries = list(records.values())
    verdicts = {entry["run"]: entry for entry in verdicts_in(read_json(folder / "comparison.json"))}
    runs = [
        # Names are the plan's: a case or matrix that was renamed keeps its key and its record.
        Run(folder, {**records.get(entry["key"], {}), **entry}, verdicts.get(entry["key"], {}))
        for entry in entries
    ]
    definition = read_definition(folder / "study.yaml")
    matrices = read_json(folder / "matrices.json")
    return Study(
        folder=folder,
        name=str(definition.get("name") or folder.resolve().name),
        definition=definition,
        runs=runs,
        matrices=matrices if isinstance(matrices, dict) else {},
        problems=problems_of(runs, folder / "truth"),
        disagreements=[run for run in runs if run.verdict.get("verdict") in (WRONG, "disagrees")],
    )


def read_definition(path: Path) -> dict[str, Any]:
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError):
        return {}
    return found if isinstance(found, dict) else {}


def verdicts_in(node: Any) -> Iterator[dict[str, Any]]:
    """The entries of comparison.json that judge a run, wherever they stand in it."""
    if isinstance(node, dict):
        if "run" in node and "verdict" in node:
            yield node
        else:
            for value in node.values():
                yield from verdicts_in(value)
    elif isinstance(node, list):
        for value in node:
            yield from verdicts_in(value)


def problems_of(runs: list[Run], truths: Path) -> list[Problem]:
    problems: dict[str, Problem] = {}
    taken: set[str] = set()
    for run in runs:
        group = str(run.problem_group)
        if group not in problems:
            slug = slug_of(f"{run.matrix}-{question(run)}", taken)
            problems[group] = Problem(group, str(run.matrix), question(run), slug)
        problems[group].runs.append(run)
    for path in sorted(truths.glob("*.json")):
        content = read_json(path)
        if not isinstance(content, dict) or not content.get("values"):
            continue
        for problem in problems.values():
            if problem.truth is None and belongs(path.stem, content, problem):
                problem.truth = read_truth(content, wanted(problem.runs[0]))
    return list(problems.values())


def belongs(stem: str, content: dict[str, Any], problem: Problem) -> bool:
    """Whether a file of truth/ is that of a problem: by its key, which stands in its name."""
    return problem.group in (content.get("problem_group"), stem) or stem.endswith(
        f"-{problem.group}"
    )


def wanted(run: Run) -> int | None:
    """How many values are asked for. None: all of an interval."""
    asked = {**run.solver, **(run.data.get("question") or {})}
    if asked.get("interval") is not None or not isinstance(asked.get("nev"), int):
        return None
    return int(asked["nev"])


def read_truth(content: dict[str, Any], count: int | None) -> Truth:
    """The first `count` values: references may hold more."""
    values = [float(value) for value in content["values"]][:count]
    uncertainty = content.get("uncertainty") or [0.0] * len(values)
    return Truth(
        str(content.get("method", "")), values, [float(error or 0) for error in uncertainty[:count]]
    )
