"""Queries over the index: a map from keys to what the matrices must have."""

from __future__ import annotations

import difflib
import fnmatch
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .errors import QueryError
from .index import Entry

Test = Callable[[Entry], bool]

_OTHER_WORDS = {
    "n": "rows",
    "size": "rows",
    "columns": "cols",
    "ncols": "cols",
    "nrows": "rows",
    "nonzeros": "nnz",
    "spd": "positive_definite",
    "posdef": "positive_definite",
    "is_spd": "positive_definite",
    "matrix": "name",
    "problem": "kind",
    "type": "kind",
    "order_by": "sort",
    "max": "limit",
}


def _texts(key: str, value: Any) -> list[str]:
    texts = value if isinstance(value, (list, tuple)) else [value]
    if not texts or not all(isinstance(text, (str, int)) for text in texts):
        raise QueryError(f"{key}: {value!r} is neither a word nor a list of words")
    return [str(text).casefold() for text in texts]


def _word(key: str, value: Any) -> Test:
    """Any of the words, which may hold the wildcards * ? [...], in upper or lower case."""
    patterns = _texts(key, value)
    return lambda entry: any(
        fnmatch.fnmatchcase(getattr(entry, key).casefold(), pattern) for pattern in patterns
    )


def _phrase(key: str, value: Any) -> Test:
    """Any of the words somewhere in the text."""
    patterns = [f"*{text}*" for text in _texts(key, value)]
    return lambda entry: any(
        fnmatch.fnmatchcase(getattr(entry, key).casefold(), pattern) for pattern in patterns
    )


def _truth(key: str, value: Any) -> Test:
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    wanted = words.get(str(value).casefold())
    if wanted is None:
        raise QueryError(f"{key}: {value!r} is neither true nor false")
    return lambda entry: getattr(entry, key) is wanted


def _number(key: str, text: Any, open_end: float) -> float:
    if text is None or text == "":
        return open_end
    try:
        number = math.nan if isinstance(text, bool) else float(text)
    except (TypeError, ValueError):
        number = math.nan
    if math.isnan(number):
        raise QueryError(
            f"{key}: {text!r} is no number; a range is [LOW, HIGH] or LOW:HIGH, where either end "
            "may be left out"
        )
    return number


def _range(key: str, value: Any) -> Test:
    """A number, [LOW, HIGH] or LOW:HIGH. Both ends belong to the range."""
    ends = value
    if isinstance(value, str):
        ends = value.split(":") if ":" in value else value
    if not isinstance(ends, (list, tuple)):
        ends = [ends, ends]
        if value is None or value == "":
            raise QueryError(f"{key}: a number or a range LOW:HIGH is missing")
    if len(ends) != 2:
        raise QueryError(f"{key}: {value!r} has {len(ends)} numbers, a range has 2")
    low, high = _number(key, ends[0], -math.inf), _number(key, ends[1], math.inf)
    if low > high:
        raise QueryError(f"{key}: the range {value!r} is empty, write the smaller end first")
    return lambda entry: low <= getattr(entry, key) <= high


_TESTS: dict[str, Callable[[str, Any], Test]] = {
    "group": _word,
    "name": _word,
    "kind": _phrase,
    "id": _range,
    "rows": _range,
    "cols": _range,
    "nnz": _range,
    "pattern_symmetry": _range,
    "numerical_symmetry": _range,
    "symmetric": _truth,
    "positive_definite": _truth,
    "real": _truth,
    "binary": _truth,
    "mesh": _truth,
}
_ORDERINGS = tuple(_TESTS)

KEYS = (*_TESTS, "sort", "limit")


def suggestion(word: str, known: Iterable[str]) -> str:
    """ " (did you mean X?)" for the known word most similar to `word`, else nothing."""
    by_folded = {each.casefold(): each for each in known}
    near = difflib.get_close_matches(word.casefold(), by_folded, n=1, cutoff=0.6)
    return f" (did you mean {by_folded[near[0]]}?)" if near else ""


def _refuse_key(key: Any) -> QueryError:
    other = _OTHER_WORDS.get(str(key).casefold())
    hint = f" (did you mean {other}?)" if other else suggestion(str(key), KEYS)
    return QueryError(f"a query has no key '{key}'{hint}; keys: {', '.join(KEYS)}")


@dataclass(frozen=True)
class _Order:
    key: str
    descending: bool

    @staticmethod
    def parse(value: Any) -> _Order:
        text = str(value)
        key = text.removeprefix("-")
        if key not in _ORDERINGS:
            raise QueryError(
                f"sort: there is no key '{key}'{suggestion(key, _ORDERINGS)} to sort by; "
                f"a - before a key sorts from large to small; keys: {', '.join(_ORDERINGS)}"
            )
        return _Order(key, text.startswith("-"))

    def __call__(self, entry: Entry) -> Any:
        value = getattr(entry, self.key)
        return value.casefold() if isinstance(value, str) else value


def _limit(value: Any) -> int:
    try:
        limit = int(str(value))
    except ValueError:
        limit = 0
    if isinstance(value, bool) or limit < 1:
        raise QueryError(f"limit: {value!r} is no positive number of matrices")
    return limit


def select(entries: Iterable[Entry], spec: Mapping[str, Any]) -> list[Entry]:
    """The matrices that meet every key of `spec`, in the order of the index or by `sort`, `limit`
    of them. Raises QueryError for an unknown key, with the most similar one, and for a value that
    the key does not take."""
    for key in spec:
        if key not in KEYS:
            raise _refuse_key(key)
    tests = [_TESTS[key](key, value) for key, value in spec.items() if key in _TESTS]
    order = _Order.parse(spec["sort"]) if "sort" in spec else None
    limit = _limit(spec["limit"]) if "limit" in spec else None
    found = [entry for entry in entries if all(test(entry) for test in tests)]
    if order is not None:
        found.sort(key=order, reverse=order.descending)
    return found[:limit]


def _split(text: str) -> list[str]:
    """`text` cut at commas outside of brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "[(") - (character in "])")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def parse_query(text: str) -> dict[str, Any]:
    """The query that a command line gives as KEY=VALUE,KEY=VALUE. A key that stands twice holds a
    list, and so does KEY=[A,B]. Raises QueryError for a part of another form."""
    spec: dict[str, Any] = {}
    for part in _split(text):
        key, equals, value = (word.strip() for word in part.partition("="))
        if not equals or not key:
            raise QueryError(f"'{part}' is no part of a query: write KEY=VALUE, as rows=100:20000")
        given: Any = value
        if value.startswith("[") and value.endswith("]"):
            given = [word.strip() for word in value[1:-1].split(",")]
        if key in spec:
            earlier = spec[key] if isinstance(spec[key], list) else [spec[key]]
            given = [*earlier, *(given if isinstance(given, list) else [given])]
        spec[key] = given
    return spec
