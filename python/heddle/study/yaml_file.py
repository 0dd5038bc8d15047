"""YAML with the place of each key, so that messages can name it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from .records import INPUT, StudyError


class _Loader(yaml.SafeLoader):
    """YAML 1.2's numbers and booleans: 1e-8 is a number, `no` and `on` are words."""


_INTEGER = re.compile(r"[-+]?[0-9]+$")
_NUMBER = re.compile(
    r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$|[-+]?\.inf$|\.nan$"
)
_Loader.yaml_implicit_resolvers = {
    first: [rule for rule in rules if rule[0].split(":")[-1] in ("null", "merge")]
    for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
for _tag, _pattern, _first in (
    ("bool", re.compile(r"true$|false$"), "tf"),
    ("int", _INTEGER, "-+0123456789"),  # before float, which matches integers, too
    ("float", _NUMBER, "-+.0123456789"),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", _pattern, list(_first))


def _decimal_integer(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> int:
    return int(loader.construct_scalar(node))


_Loader.add_constructor("tag:yaml.org,2002:int", _decimal_integer)


@dataclass
class Document:
    """The content of a YAML file, and the line of each of its keys and items by path."""

    path: Path
    content: Any
    lines: dict[str, int] = field(default_factory=dict)

    def error(self, where: str, message: str) -> StudyError:
        """An error at the key with the path `where`, such as cases[1].vary."""
        known = where
        while known and known not in self.lines:
            known = re.sub(r"(\.|^)[^.\[]*$|\[\d+\]$", "", known)
        line = self.lines.get(known)
        place = f"{self.path}:{line}" if line else f"{self.path}"
        return StudyError(f"{place}: {where}: {message}" if where else f"{place}: {message}")

    def check_keys(self, where: str, value: Any, known: Iterable[str]) -> None:
        """Refuses what is not a map, and keys of a map that are not known."""
        if not isinstance(value, dict):
            raise self.error(where, f"expected a map, got {shown(value)}")
        names = list(known)
        for key in value:
            if key not in names:
                inner = f"{where}.{key}" if where else str(key)
                raise self.error(inner, f"unknown key{similar(str(key), names)}")


def similar(word: str, names: list[str]) -> str:
    """` (did you mean X?); known: ...` for a message about an unknown word."""
    close = difflib.get_close_matches(word, names, n=1)
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    return f"{hint}; known: {', '.join(names)}"


def shown(value: Any) -> str:
    """A value as a message quotes it."""
    if value is None:
        return "nothing"
    if value == [] or value == {}:
        return f"an empty {'list' if value == [] else 'map'}"
    kinds = {dict: "a map", list: "a list", str: f"the string {value!r}", bool: f"{value}".lower()}
    return kinds.get(type(value), f"{value}")


def _note_lines(node: yaml.Node, path: str, lines: dict[str, int]) -> None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            inner = f"{path}.{key.value}" if path else str(key.value)
            lines[inner] = key.start_mark.line + 1
            _note_lines(value, inner, lines)
    elif isinstance(node, yaml.SequenceNode):
        for number, item in enumerate(node.value):
            lines[f"{path}[{number}]"] = item.start_mark.line + 1
            _note_lines(item, f"{path}[{number}]", lines)


def _check_unique(node: yaml.Node, path: Path) -> None:
    """PyYAML keeps the last one of two equal keys without a word."""
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if key.value in seen:
                line = key.start_mark.line + 1
                raise StudyError(f"{path}:{line}: the key {key.value!r} is there twice")
            seen.add(key.value)
            _check_unique(value, path)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _check_unique(item, path)


def read_yaml(path: Path) -> Document:
    """Raises StudyError for a file that cannot be read or is not YAML."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise StudyError(f"{path} cannot be read: {reason}", INPUT) from error
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        content = loader.construct_document(node) if node is not None else None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        problem = getattr(error, "problem", None) or str(error)
        raise StudyError(f"{path}{line}: not YAML: {problem}") from error
    document = Document(path, content)
    if node is not None:
        _check_unique(node, path)
        _note_lines(node, "", document.lines)
    return document


def dump_yaml(content: Any) -> str:
    """YAML that heddle's executables read."""
    return yaml.safe_dump(content, sort_keys=False, default_flow_style=None, width=100)
