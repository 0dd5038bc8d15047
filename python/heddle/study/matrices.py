"""From the list `matrices` of a study to files and generated matrices."""

from __future__ import annotations

import csv
import glob
import gzip
import os
import re
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .definition import Study
from .records import INPUT, StudyError, read_json
from .yaml_file import shown

SUFFIXES = (
    ".mtx", ".npz", ".npy", ".txt", ".tsv", ".edges", ".edgelist", ".el",
)  # fmt: skip
COLLECTED = re.compile(r"(SuiteSparse:)?[\w.+-]+/[\w.+-]+(:\w+)?")  # GROUP/NAME, GROUP/NAME:PART
PROBLEM_KEYS = ("mass", "transform", "weights", "symmetrize", "constraints")
INPUT_KEYS = ("matrix", "mass", "constraints", "initial_guess")


@dataclass
class Source:
    """A matrix of a study: its name, `problem` of heddle's configuration with absolute paths, and
    what is known of it. `missing`: the name in the collection of a file that is to be fetched."""

    name: str
    problem: dict[str, Any]
    facts: dict[str, Any] = field(default_factory=dict)
    missing: str = ""


def expand(study: Study, fetch: bool = True) -> list[Source]:
    """The matrices of a study, in order. Those of a collection are fetched if they are missing,
    unless `fetch` is false. Raises StudyError, also for two matrices of one name."""
    sources: list[Source] = []
    for number, item in enumerate(study.matrices):
        sources += _Expander(study, f"matrices[{number}]", fetch).expand(item)
    seen: dict[str, Source] = {}
    for source in sources:
        other = seen.setdefault(source.name, source)
        if other is not source and other.problem != source.problem:
            raise StudyError(
                f"{study.document.path}: two matrices have the name {source.name!r}: "
                f"{_described(other)} and {_described(source)}; give one of them another `name`"
            )
    return list(seen.values())


def _described(source: Source) -> str:
    matrix = source.problem["matrix"]
    return matrix if isinstance(matrix, str) else _generated_name(matrix)


def _generated_name(spec: dict[str, Any]) -> str:
    name = f"{spec['generate']}:{','.join(map(str, spec['size']))}"
    return name + (f":{spec['density']:g}" if spec.get("density") else "")


@dataclass
class _Expander:
    """One item of the list. `where`: its path in the file."""

    study: Study
    where: str
    fetch: bool

    def error(self, message: str) -> StudyError:
        return self.study.document.error(self.where, message)

    def expand(self, item: Any) -> list[Source]:
        if isinstance(item, str):
            return self.by_word(item)
        extra = {key: item[key] for key in PROBLEM_KEYS if key in item}
        for key in ("mass", "constraints"):
            if key in extra:
                extra[key] = self.input(extra[key])
        if "glob" in item:
            found = self.globbed(item["glob"], item)
        elif "query" in item:
            found = self.queried(item["query"])
        elif "generate" in item:
            keys = ("generate", "size", "density", "seed")
            found = [self.generated({key: item[key] for key in keys if key in item})]
        else:
            found = self.by_word(item["file"])
            if len(found) != 1:
                raise self.error(f"file: {item['file']!r} is {len(found)} files; use glob")
        for source in found:
            source.problem.update(extra)
            if "name" in item:
                source.name = _safe(str(item["name"]))
            elif extra.get("transform", "none") != "none":
                source.name += f"@{extra['transform']}"
        return found

    def by_word(self, word: str) -> list[Source]:
        """A file, a pattern of files, a structure NAME:SIZES, or a name in a collection."""
        expanded = self.with_variables(word)
        path = self.path(expanded)
        if path.is_file():
            return [_file_source(path)]
        if re.search(r"[*?\[]", expanded):
            return self.globbed(word, {})
        if found := re.fullmatch(r"([a-z]\w*):([\d,]+)(?::([\d.]+))?", expanded):
            size = [int(each) for each in found[2].split(",") if each]
            spec: dict[str, Any] = {"generate": found[1], "size": size}
            return [self.generated(spec | ({"density": float(found[3])} if found[3] else {}))]
        if COLLECTED.fullmatch(expanded) and not _is_file_name(expanded):
            return [self.collected(expanded)]
        raise self.error(
            f"{word!r}: there is no file {path}, and it is no pattern, no structure NAME:SIZES and "
            "no GROUP/NAME of a collection"
        )

    def with_variables(self, word: str) -> str:
        expanded = os.path.expanduser(os.path.expandvars(word))
        if found := re.search(r"\$\{?(\w+)", expanded):
            raise self.error(f"the environment variable {found[1]} of {word!r} is not set")
        return expanded

    def path(self, word: str) -> Path:
        return Path(os.path.normpath(self.study.folder_of_inputs / word))

    def globbed(self, pattern: Any, item: dict[str, Any]) -> list[Source]:
        patterns = pattern if isinstance(pattern, list) else [pattern]
        names: list[str] = []
        for each in patterns:
            if not isinstance(each, str):
                raise self.error(f"glob: expected a pattern, got {shown(each)}")
            full = str(self.path(self.with_variables(each)))
            names += [name for name in sorted(glob.glob(full)) if _is_file_name(name)]
        if not names:
            raise self.error(f"no matrix file matches {pattern!r} in {self.study.folder_of_inputs}")
        excluded = item.get("exclude") or []
        sources = [_file_source(Path(name)) for name in names]
        sources = [each for each in sources if each.name not in excluded]
        if "symmetric" in item:
            sources = [s for s in sources if _is_symmetric(s) == item["symmetric"]]
        if "rows" in item:
            low, high = item["rows"]
            sources = [s for s in sources if low <= (s.facts.get("n") or 0) <= high]
        return sources[: item.get("limit", len(sources))]

    def queried(self, spec: Any) -> list[Source]:
        from heddle.data import query

        try:
            entries = query(spec)
        except (ValueError, OSError, RuntimeError) as error:
            raise self.error(f"query: {error}") from error
        if not entries:
            raise self.error(f"query: no matrix of the collection matches {spec}")
        return [self.collected(f"{each.group}/{each.name}") for each in entries]

    def collected(self, word: str) -> Source:
        from heddle.data import Cache, resolve
        from heddle.data.names import parse_name

        group, name = word.removeprefix("SuiteSparse:").split("/")
        facts = {"group": group}
        try:
            cached = Cache().find(parse_name(word))
            if cached is None and not self.fetch:
                return Source(_safe(name), {"matrix": word}, facts, missing=word)
            source = _file_source(Path(cached or resolve(word)))
        except (ValueError, OSError, RuntimeError) as error:
            raise StudyError(f"{word}: {error}", INPUT) from error
        source.facts.update(facts)
        return source

    def generated(self, spec: dict[str, Any]) -> Source:
        if not isinstance(spec.get("size"), list):
            raise self.error(f"size: expected a list of integers, got {shown(spec.get('size'))}")
        return Source(_safe(_generated_name(spec)), {"matrix": spec}, {"kind": "generated"})

    def input(self, given: Any) -> Any:
        """The value of `mass` or `constraints` in heddle's configuration."""
        if isinstance(given, dict):
            return given
        found = self.by_word(str(given))
        if len(found) != 1:
            raise self.error(f"{given!r} is {len(found)} files, not one")
        return found[0].problem["matrix"]


def _safe(name: str) -> str:
    """A name that may be part of a file name and of a pattern of `--only`."""
    return re.sub(r"[^\w.+,@=-]", "_", name.replace(":", "-"))


def _is_file_name(name: str) -> bool:
    return name.removesuffix(".gz").endswith(SUFFIXES)


def _file_source(path: Path) -> Source:
    stem = path.name.removesuffix(".gz")
    for suffix in SUFFIXES:
        stem = stem.removesuffix(suffix)
    return Source(_safe(stem), {"matrix": str(path)}, facts_of(path))


def _is_symmetric(source: Source) -> bool:
    facts = source.facts
    return facts.get("symmetry") == "symmetric" and facts.get("field") != "complex"


def facts_of(path: Path) -> dict[str, Any]:
    """What the first lines of a Matrix Market file, and a MANIFEST.tsv beside it, tell."""
    facts: dict[str, Any] = {}
    name = path.name.removesuffix(".gz")
    if name.endswith(".mtx"):
        try:
            with (gzip.open if path.suffix == ".gz" else open)(
                path, "rt", errors="replace"
            ) as file:
                words = file.readline().lower().split()
                line = next((text for text in file if text.strip() and text[0] != "%"), "")
        except (OSError, EOFError):
            return facts
        sizes = line.split()
        if len(words) >= 5 and len(sizes) >= 2 and all(each.isdigit() for each in sizes):
            facts = {"n": int(sizes[0]), "cols": int(sizes[1]), "field": words[3]}
            facts["symmetry"] = words[4]
            if len(sizes) > 2:
                facts["stored"] = int(sizes[2])
    fetched = read_json(path.parent / "record.json")  # beside a matrix of the collection
    listed = (fetched.get("index") or {}) if isinstance(fetched, dict) else {}
    facts |= {key: listed[key] for key in ("kind", "group") if key in listed}
    return facts | _manifest(path.parent).get(name.removesuffix(".mtx"), {})


_manifests: dict[Path, dict[str, dict[str, Any]]] = {}


def _manifest(folder: Path) -> dict[str, dict[str, Any]]:
    if folder not in _manifests:
        rows: dict[str, dict[str, Any]] = {}
        try:
            with open(folder / "MANIFEST.tsv", encoding="utf-8") as file:
                for row in csv.DictReader(file, delimiter="\t"):
                    known = {key: row[key] for key in ("kind", "group") if row.get(key)}
                    rows[row.get("name") or ""] = known
        except (OSError, csv.Error):
            pass
        _manifests[folder] = rows
    return _manifests[folder]


def checksum(path: Path) -> tuple[int, str]:
    """Bytes and CRC-32 of a file, as the `inputs` of a result.json have them."""
    total, crc = 0, 0
    try:
        with open(path, "rb") as file:
            while block := file.read(1 << 20):
                total += len(block)
                crc = zlib.crc32(block, crc)
    except OSError as error:
        raise StudyError(f"{path} cannot be read: {error.strerror}", INPUT) from error
    return total, f"{crc:08x}"


def table(sources: list[Source], sums: dict[str, list[Any]]) -> dict[str, dict[str, Any]]:
    """The content of matrices.json: what is known of each matrix by name. A file of the collection
    that is not fetched has no bytes."""
    found = {}
    for source in sources:
        matrix = source.problem["matrix"]
        row: dict[str, Any] = dict(source.facts)
        row["file"] = matrix if isinstance(matrix, str) else None
        row["generate"] = None if isinstance(matrix, str) else matrix
        if isinstance(matrix, str) and matrix in sums:
            size, crc = str(sums[matrix][2]).split(":")
            row["bytes"], row["crc32"] = int(size), crc
        row |= {key: source.problem[key] for key in PROBLEM_KEYS if key in source.problem}
        found[source.name] = row
    return found
