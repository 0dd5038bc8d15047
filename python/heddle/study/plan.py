"""From a study to the list of its runs, each with its key."""

from __future__ import annotations

import copy
import fnmatch
import hashlib
import itertools
import json
import re
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import programs
from .definition import Case, Study, merged
from .matrices import INPUT_KEYS, Source, checksum
from .programs import Solver
from .records import Run
from .yaml_file import dump_yaml

QUESTION_KEYS = ("nev", "which", "interval")  # of the map solver
QUESTION_DEFAULTS = {"nev": 6, "which": "smallest"}
PROBLEM_QUESTION = ("transform", "weights", "symmetrize", "constraints", "rhs")


@dataclass
class Sums:
    """Checksums of input files. Those of an earlier start are used again for a file whose size and
    time of change are the same."""

    known: dict[str, list[Any]] = field(default_factory=dict)

    def of(self, path: str) -> str:
        """ "bytes:crc32" of a file."""
        try:
            stat = Path(path).stat()
            stamp = [stat.st_size, stat.st_mtime_ns]
        except OSError:
            stamp = []
        if path not in self.known or self.known[path][:2] != stamp:
            size, crc = checksum(Path(path))
            self.known[path] = [*stamp, f"{size}:{crc}"]
        return str(self.known[path][2])


@dataclass
class Point:
    """One configuration of a case: a point of its products."""

    name: str
    setting: str
    config: dict[str, Any]
    case: Case


def points(case: Case) -> list[Point]:
    """The configurations of a case, named after what varies: lobpcg[block_size=8,nev=4]."""
    found = []
    for product in case.vary:
        leaves = [_leaf(key) for key in product]
        names = [
            key if leaves.count(leaf) > 1 else leaf
            for key, leaf in zip(product, leaves, strict=True)
        ]
        for values in itertools.product(*product.values()):
            config = copy.deepcopy(case.config)
            if case.options:
                config["options"] = dict(case.options)
            words, setting = [], []
            for key, name, value in zip(product, names, values, strict=True):
                config = merged(config, nested(key, value))
                words.append(f"{name}={_word(value)}")
                if not _is_question(key):
                    setting.append(words[-1])
            found.append(
                Point(_bracketed(case.name, words), _bracketed(case.name, setting), config, case)
            )
    return found


def _leaf(key: str) -> str:
    """The word for a key in the name of a case: nev for solver.nev, preconditioner for
    solver.preconditioner.type."""
    parts = key.split(".")
    return parts[-2] if parts[-1] == "type" and len(parts) > 1 else parts[-1]


def _bracketed(name: str, words: list[str]) -> str:
    return f"{name}[{','.join(words)}]" if words else name


def _is_question(key: str) -> bool:
    room, _, leaf = key.partition(".")
    return (room == "solver" and leaf in QUESTION_KEYS) or (
        room == "problem" and leaf in PROBLEM_QUESTION
    )


def nested(key: str, value: Any) -> dict[str, Any]:
    """{"solver": {"nev": 4}} for solver.nev and 4."""
    for part in reversed(key.split(".")):
        value = {part: value}
    return dict(value)


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, dict):
        return "+".join(_word(each) for each in value.values())
    if isinstance(value, list):
        return "..".join(_word(each) for each in value)
    return str(value)


def plan(
    study: Study, sources: list[Source], solver: Solver, sums: Sums
) -> tuple[list[Run], list[str]]:
    """Every run of a study: per matrix, the repeats of its cases in turn, so that changes of the
    machine's speed affect all cases alike. And a sentence for each run that is another one's twin,
    and therefore left out."""
    every = [point for case in study.cases for point in points(case)]
    runs: dict[str, Run] = {}
    twins: list[str] = []
    for source in sources:
        for repeat in range(study.limits.repeats):
            for point in every:
                run = _run(study, source, point, solver, sums, repeat)
                first = runs.setdefault(run.key, run)
                if first is not run and repeat == 0:
                    names = f"{first.matrix}/{first.case}"
                    twins.append(f"{run.matrix}/{run.case} is the same as {names}: it is run once")
    return list(runs.values()), twins


def _run(
    study: Study, source: Source, point: Point, solver: Solver, sums: Sums, repeat: int
) -> Run:
    config = merged({"problem": source.problem}, point.config)
    config["problem"] = _absolute(config["problem"], study.folder_of_inputs)
    external = point.case.external
    if study.limits.threads is not None:
        config.setdefault("threads", study.limits.threads)
    if external:
        config["external"] = external
        if point.case.python:
            config["python"] = point.case.python
        version = programs.external_version(external, point.case.python) or "not installed"
        device = "host"
    else:
        config["output"] = {"history": "pairs"} | (config.get("output") or {})
        version = solver.version
        device = solver.device if config.get("device", "auto") == "auto" else config["device"]
    question = _question(source, config)
    return Run(
        key=key_of(config, sums, version, device, repeat, bool(source.missing)),
        matrix=source.name,
        case=point.name,
        setting=point.setting,
        problem_group=group_of(source, config, sums),
        question=question,
        repeat=repeat,
        kind="external" if external else "heddle",
        program=external or "heddle solve",
        config=config,
    )


def _absolute(problem: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Names of input files that a case gives are relative to the study, as those of matrices."""
    found = dict(problem)
    for key in ("constraints", "initial_guess", "rhs"):
        if isinstance(found.get(key), str):
            found[key] = str(folder / found[key])
    return found


def _question(source: Source, config: dict[str, Any]) -> dict[str, Any]:
    solver = QUESTION_DEFAULTS | (config.get("solver") or {})
    question: dict[str, Any] = {"matrix": source.name}
    question.update({key: solver[key] for key in QUESTION_KEYS if key in solver})
    problem = config["problem"]
    question.update({key: problem[key] for key in PROBLEM_QUESTION if key in problem})
    if "mass" in problem:
        question["mass"] = problem["mass"]
    return question


def group_of(source: Source, config: dict[str, Any], sums: Sums) -> str:
    """The name of the question that a configuration asks: MATRIX-8 hex digits."""
    question = _question(source, config)
    problem = {key: config["problem"].get(key) for key in ("matrix", "mass", *PROBLEM_QUESTION)}
    asked = [question.get(key) for key in QUESTION_KEYS]
    content = [_summed(problem, sums, bool(source.missing)), asked]
    return f"{source.name}-{_digest(content)[:8]}"


def key_of(
    config: dict[str, Any], sums: Sums, version: str, device: str, repeat: int, missing: bool
) -> str:
    """16 hex digits. What changes them: the configuration without the paths of its outputs, the
    bytes of its inputs, the program's version, the device and the number of the repeat. The names
    of input files change nothing."""
    content = {key: value for key, value in config.items() if key not in ("output", "python")}
    content["problem"] = _summed(config["problem"], sums, missing)
    output = config.get("output") or {}
    content["output"] = {k: v for k, v in output.items() if k not in ("directory", "log")}
    return _digest([content, version, device, repeat])[:16]


def _summed(problem: dict[str, Any], sums: Sums, missing: bool) -> dict[str, Any]:
    """The problem with checksums in place of the names of its files."""
    found = {}
    for key, value in problem.items():
        is_file = key in (*INPUT_KEYS, "rhs") and isinstance(value, str)
        found[key] = sums.of(value) if is_file and not missing else value
    return found


def _digest(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def chosen(runs: list[Run], patterns: list[str], shard: tuple[int, int] | None) -> list[Run]:
    """The runs of a shard (i, n), i from 1, whose matrix, case, MATRIX/CASE or key matches one of
    the patterns. A shard takes whole matrices, so that what it needs is read by one machine."""
    found = runs
    if shard:
        names = list(dict.fromkeys(run.matrix for run in runs))
        mine = set(names[shard[0] - 1 :: shard[1]])
        found = [run for run in found if run.matrix in mine]
    if patterns:
        found = [run for run in found if any(_matches(run, each) for each in patterns)]
    return found


def _matches(run: Run, pattern: str) -> bool:
    literal = pattern.replace("[", "[[]")  # brackets belong to names of cases
    names = (run.matrix, run.case, run.setting, f"{run.matrix}/{run.case}", run.key)
    return any(fnmatch.fnmatchcase(name, literal) for name in names)


def check_points(study: Study, sources: list[Source], solver: Solver) -> None:
    """Has heddle check each configuration of the study's cases, with the first matrix, before any
    run starts. Raises StudyError with heddle's message and the case."""
    problem = _absolute(sources[0].problem, study.folder_of_inputs)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "config.yaml")
        for point in (point for case in study.cases for point in points(case)):
            if point.case.external:
                continue
            path.write_text(dump_yaml(merged({"problem": problem}, point.config)), encoding="utf-8")
            command = [solver.path, "solve", str(path), "--print-config"]
            ended = subprocess.run(command, capture_output=True, text=True, check=False)
            if ended.returncode != 0:
                said = ended.stderr.strip().splitlines() or [f"exit code {ended.returncode}"]
                message = re.sub(r"^heddle[\w -]*: error: |\S*config\.yaml:\d+:\d+: ", "", said[-1])
                message = re.sub(r"^\S*config\.yaml:\d+:\d+: ", "", message)
                raise study.document.error(point.case.where, f"{point.name}: {message}")
