"""Reads and checks a study.yaml. Its keys are described in docs/studies.md."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .programs import EXTERNALS
from .yaml_file import Document, read_yaml, shown, similar

TOP_KEYS = (
    "name", "output", "matrices", "common", "cases", "run", "reference", "report",
)  # fmt: skip
MATRIX_KEYS = (
    "name", "file", "glob", "query", "generate", "size", "density", "seed", "mass", "transform",
    "weights", "symmetrize", "constraints", "symmetric", "rows", "exclude", "limit",
)  # fmt: skip
CONFIG_KEYS = ("problem", "solver", "spmm", "device", "precision", "threads", "seed", "output")
EXTERNAL_KEYS = {
    "": ("solver", "threads", "seed", "options", "python"),
    "solver": ("nev", "which", "tolerance", "max_iterations"),
}
GIVEN_BY_MATRIX = ("matrix", "mass")


@dataclass
class Case:
    """Configurations that share a name: one per point of the products in `vary`."""

    name: str
    where: str
    config: dict[str, Any]
    vary: list[dict[str, list[Any]]]
    external: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    python: str = ""


@dataclass
class Limits:
    """What a run may take. `memory_bytes`: resident memory of the process and its children."""

    repeats: int = 1
    timeout_s: float = 600.0
    memory_bytes: int | None = None
    threads: int | None = None


@dataclass
class Reference:
    """`dense`: largest n whose eigenvalues LAPACK computes; `inertia`: largest n whose eigenvalues
    are counted by factorisations; `inertia_s`: seconds of counting per problem. 0: none."""

    dense: int = 3000
    inertia: int = 200_000
    inertia_s: float = 30.0
    memory_bytes: int | None = None


@dataclass
class Study:
    """A study.yaml whose form was checked. Its matrices are maps as they were given."""

    document: Document
    name: str
    output: Path
    matrices: list[Any]
    cases: list[Case]
    limits: Limits
    reference: Reference
    report: dict[str, Any]

    @property
    def folder_of_inputs(self) -> Path:
        """Names of files in the study are relative to it."""
        return self.document.path.resolve().parent


def read_study(path: Path, output: Path | None = None) -> Study:
    """Raises StudyError. `output`: the study's folder, if not the one that the file names."""
    document = read_yaml(path)
    content = document.content
    document.check_keys("", content if content is not None else {}, TOP_KEYS)
    for key in ("matrices", "cases"):
        if not isinstance((content or {}).get(key), list) or not content[key]:
            raise document.error(key, f"expected a list, got {shown((content or {}).get(key))}")
    name = content.get("name", path.stem)
    if not isinstance(name, str) or not re.fullmatch(r"[\w.+-]+", name):
        raise document.error("name", f"expected letters, digits, . _ + -, got {shown(name)}")
    folder = content.get("output", f"results/studies/{name}")
    if not isinstance(folder, str):
        raise document.error("output", f"expected the name of a folder, got {shown(folder)}")
    for number, item in enumerate(content["matrices"]):
        _check_matrix(document, f"matrices[{number}]", item)
    return Study(
        document=document,
        name=name,
        output=Path(output or folder).absolute(),
        matrices=content["matrices"],
        cases=_cases(document),
        limits=_limits(document),
        reference=_reference(document),
        report=_report(document),
    )


def _check_matrix(document: Document, where: str, item: Any) -> None:
    if isinstance(item, str):
        return
    if not isinstance(item, dict):
        raise document.error(
            where,
            f"expected a name or a map, got {shown(item)}; in a list on one line, a structure has "
            "quotes: ['laplace2d:30,40']",
        )
    document.check_keys(where, item, MATRIX_KEYS)
    kinds = [key for key in ("file", "glob", "query", "generate") if key in item]
    if len(kinds) != 1:
        named = " and ".join(kinds) or "none of them"
        raise document.error(
            where, f"a matrix has one of file, glob, query and generate, this one has {named}"
        )
    if kinds[0] in ("glob", "query") and "name" in item:
        raise document.error(f"{where}.name", f"a {kinds[0]} may give many matrices: no name")
    if kinds[0] != "glob" and (extra := {"symmetric", "rows", "exclude", "limit"} & set(item)):
        key = sorted(extra)[0]
        raise document.error(
            f"{where}.{key}", f"{key} narrows a glob; a {kinds[0]} has no such key"
        )


def _cases(document: Document) -> list[Case]:
    content = document.content
    common = content.get("common") or {}
    document.check_keys("common", common, (*CONFIG_KEYS, "vary"))
    shared = {key: value for key, value in common.items() if key != "vary"}
    shared_vary = _vary(document, "common.vary", common.get("vary"))
    cases: list[Case] = []
    for number, item in enumerate(content["cases"]):
        where = f"cases[{number}]"
        case = _case(document, where, item, shared)
        case.vary = [{**one, **two} for one in shared_vary for two in case.vary]
        if case.external:
            case.vary = _known_to_external(document, case, item)
        if any(case.name == other.name for other in cases):
            raise document.error(f"{where}.name", f"two cases have the name {case.name!r}")
        cases.append(case)
    return cases


def _case(document: Document, where: str, item: Any, shared: dict[str, Any]) -> Case:
    own_keys = ("name", "vary", "external", "options", "python")
    document.check_keys(where, item, (*CONFIG_KEYS, *own_keys))
    config = {key: value for key, value in item.items() if key in CONFIG_KEYS}
    external = item.get("external", "")
    if external and external not in EXTERNALS:
        raise document.error(
            f"{where}.external", f"{external!r} is unknown{similar(str(external), list(EXTERNALS))}"
        )
    for key in ("options", "python"):
        if key in item and not external:
            raise document.error(f"{where}.{key}", f"{key} is for external solvers only")
    for key in GIVEN_BY_MATRIX:
        if key in (config.get("problem") or {}):
            raise document.error(f"{where}.problem.{key}", "the list `matrices` gives this")
    if external:
        _check_external(document, where, config)
        shared = _part_of_external(shared)
    solver = config.get("solver") or shared.get("solver") or {}
    name = (
        item.get("name") or external or (isinstance(solver, dict) and solver.get("type")) or "auto"
    )
    return Case(
        name=str(name),
        where=where,
        config=merged(shared, config),
        vary=_vary(document, f"{where}.vary", item.get("vary")),
        external=external,
        options=item.get("options") or {},
        python=item.get("python") or "",
    )


def _check_external(document: Document, where: str, config: dict[str, Any]) -> None:
    document.check_keys(where, config, EXTERNAL_KEYS[""])
    document.check_keys(f"{where}.solver", config.get("solver") or {}, EXTERNAL_KEYS["solver"])


def _part_of_external(shared: dict[str, Any]) -> dict[str, Any]:
    """The part of the common configuration that external solvers understand."""
    kept = {key: value for key, value in shared.items() if key in ("threads", "seed")}
    solver = shared.get("solver") or {}
    kept["solver"] = {key: solver[key] for key in EXTERNAL_KEYS["solver"] if key in solver}
    return kept


def _known_to_external(
    document: Document, case: Case, item: dict[str, Any]
) -> list[dict[str, list[Any]]]:
    """The products without keys of `common.vary` that an external solver does not know."""
    own = {key for product in _vary(document, "", item.get("vary")) for key in product}
    known = {f"solver.{key}" for key in EXTERNAL_KEYS["solver"]} | {"threads", "seed"}
    kept: list[dict[str, list[Any]]] = []
    for product in case.vary:
        part = {}
        for key, values in product.items():
            if key in known or key.startswith("options."):
                part[key] = values
            elif key in own:
                where = f"{case.where}.vary"
                raise document.error(
                    where, f"{key}: unknown to {case.external}{similar(key, sorted(known))}"
                )
        if part not in kept:
            kept.append(part)
    return kept


def _vary(document: Document, where: str, given: Any) -> list[dict[str, list[Any]]]:
    """Products as maps from dotted keys to lists of values. [{}]: nothing varies."""
    if given is None:
        return [{}]
    products = given if isinstance(given, list) else [given]
    found = []
    for number, product in enumerate(products):
        inner = f"{where}[{number}]" if isinstance(given, list) else where
        if not isinstance(product, dict) or not product:
            raise document.error(inner, f"expected keys with lists of values, got {shown(product)}")
        found.append(_flat(document, inner, product))
    return found


def _flat(document: Document, where: str, product: dict[str, Any]) -> dict[str, list[Any]]:
    flat: dict[str, list[Any]] = {}
    for key, value in product.items():
        inner = f"{where}.{key}"
        if isinstance(value, dict):
            flat.update({f"{key}.{k}": v for k, v in _flat(document, inner, value).items()})
        elif isinstance(value, list) and value:
            flat[str(key)] = value
        else:
            raise document.error(inner, f"expected a list of values, got {shown(value)}")
        if str(key).split(".")[0] not in (*CONFIG_KEYS, "options") and where.endswith("vary"):
            known = similar(str(key).split(".")[0], list(CONFIG_KEYS))
            raise document.error(inner, f"no key of a configuration{known}")
    return flat


def merged(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """`base` with the keys of `over` on top, maps within maps likewise."""
    result = dict(base)
    for key, value in over.items():
        both_maps = isinstance(value, dict) and isinstance(result.get(key), dict)
        result[key] = merged(result[key], value) if both_maps else value
    return result


def _section(document: Document, name: str, keys: tuple[str, ...]) -> dict[str, Any]:
    section = document.content.get(name) or {}
    document.check_keys(name, section, keys)
    return section


def _number(
    document: Document, name: str, section: dict[str, Any], key: str, default: Any, least: float
) -> Any:
    value = section.get(key, default)
    whole = isinstance(default, int) and not isinstance(default, bool)
    kinds = (int,) if whole else (int, float)
    if value is default:
        return value
    if isinstance(value, bool) or not isinstance(value, kinds) or value < least:
        kind = "an integer" if whole else "a number"
        raise document.error(
            f"{name}.{key}", f"expected {kind} of at least {least:g}, got {shown(value)}"
        )
    return value


def _limits(document: Document) -> Limits:
    section = _section(document, "run", ("repeats", "timeout_s", "memory_gb", "threads"))
    memory = _number(document, "run", section, "memory_gb", None, 0.001)
    if (threads := section.get("threads")) is not None:
        threads = _number(document, "run", section, "threads", 0, 1)
    return Limits(
        repeats=_number(document, "run", section, "repeats", 1, 1),
        timeout_s=float(_number(document, "run", section, "timeout_s", 600.0, 0.01)),
        memory_bytes=None if memory is None else int(memory * 1e9),
        threads=threads,
    )


def _reference(document: Document) -> Reference:
    if document.content.get("reference", {}) in ("none", False):
        return Reference(dense=0, inertia=0)
    section = _section(document, "reference", ("dense", "inertia", "inertia_s"))
    return Reference(
        dense=_number(document, "reference", section, "dense", 3000, 0),
        inertia=_number(document, "reference", section, "inertia", 200_000, 0),
        inertia_s=float(_number(document, "reference", section, "inertia_s", 30.0, 0)),
    )


def _report(document: Document) -> dict[str, Any]:
    given = document.content.get("report", True)
    if isinstance(given, bool):
        return {"write": given}
    section = _section(document, "report", ("write", "title", "text"))
    return {"write": True, **section}
