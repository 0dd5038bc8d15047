"""The command heddle fetch."""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import sys
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NoReturn

from ..data.cache import Cache, data_folder
from ..data.checksums import read_checksums
from ..data.collection import ADDRESS, Collection
from ..data.errors import FetchError, QueryError, Unreachable
from ..data.index import Entry
from ..data.names import MatrixName, without_prefix
from ..data.progress import Teller, size_text
from ..data.queries import parse_query, select

# Exit codes, as of heddle's executables (apps/exit_codes.hpp).
_SUCCESS, _USAGE, _INPUT, _INTERRUPTED = 0, 1, 2, 130

_MANY = 100  # matrices that a query fetches without being told how many

_EPILOG = f"""\
names:
  HB/bcsstk17             a matrix by group and name; bcsstk17 if no other group has one
  'HB/bcsstk*'            all matrices of the index whose names fit
  Oberwolfach/LF10:M      LF10_M.mtx of the archive of LF10: a mass matrix, coordinates (:coord),
                          right-hand sides (:b)
  All programs of heddle take SuiteSparse:HB/bcsstk17 where a file may stand.

examples:
  heddle fetch HB/bcsstk17 HB/bcsstk18
  heddle solve SuiteSparse:HB/bcsstk17 -n 10
  heddle fetch --list --query group=HB,symmetric=true,rows=100:20000
  heddle fetch --query 'kind=structural,positive_definite=true,sort=nnz,limit=20'
  K=$(heddle fetch --where HB/bcsstk17)
  heddle fetch --list --offline                  what is in the cache
  heddle fetch --verify                          whether it is as it was fetched

keys of a query (several are joined by "and"):
  group, name             words, wildcards *?[...]; group=HB,group=Boeing for either
  kind                    a part of the text: kind=structural
  rows, cols, nnz, id     a number, LOW:HIGH, LOW: or :HIGH
  pattern_symmetry, numerical_symmetry           the same, from 0 to 1
  symmetric, positive_definite, real, binary, mesh   true or false
  sort=KEY or sort=-KEY, limit=N

environment:
  HEDDLE_DATA             folder of the cache (heddle in XDG_CACHE_HOME, or ~/.cache/heddle)
  HEDDLE_COLLECTION       address of the collection ({ADDRESS})

exit codes:
  0 done   1 usage   2 a matrix that cannot be had   130 interrupted
"""


class _Usage(Exception):
    """The command line is wrong."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise _Usage(f"{message}; see heddle fetch --help")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="heddle fetch",
        description="Fetches matrices of the SuiteSparse Matrix Collection into a cache.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("names", nargs="*", metavar="NAME", help="matrices, as HB/bcsstk17")
    add(
        "--query",
        action="append",
        default=[],
        metavar="KEY=VALUE,...",
        help="the matrices of the index with these properties; may be repeated",
    )
    add("--list", action="store_true", help="print a table of the matrices, and fetch nothing")
    add("--where", action="store_true", help="print the path of each file, and nothing else")
    add("--json", action="store_true", help="print JSON instead of text")
    add(
        "--verify",
        action="store_true",
        help="compare the files in the cache with the sums of their download, and fetch changed "
        "ones anew; without names: all",
    )
    add("--offline", action="store_true", help="use the cache alone")
    add("--all", action="store_true", help=f"fetch more than {_MANY} matrices of a query")
    add("--update-index", action="store_true", help="fetch the index of the collection anew")
    add(
        "--checksums",
        metavar="FILE",
        help="known sums of archives, as md5sum or sha256sum write them for GROUP/NAME.tar.gz",
    )
    add("--collection", metavar="URL", help="address of the collection (HEDDLE_COLLECTION)")
    add("-q", "--quiet", action="store_true", help="say nothing but errors")
    add("--version", action="version", version=f"heddle-fetch {version('heddle-solvers')}")
    return parser


def _has_wildcard(text: str) -> bool:
    return any(character in text for character in "*?[")


def _is_cached(cache: Cache, entry: Entry) -> bool:
    return cache.has(entry.matrix_name)


class _Command:
    """One run of the command."""

    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.teller = Teller(options.quiet)
        self.cache = Cache()
        sums = read_checksums(Path(options.checksums)) if options.checksums else None
        self.collection = Collection(
            options.collection,
            self.cache,
            offline=options.offline,
            checksums=sums,
            tell=self.teller.tell,
            progress=self.teller.progress,
        )
        self.failures: list[str] = []

    def run(self) -> int:
        options = self.options
        if options.update_index:
            self.collection.update_index()
        if options.list:
            self._list(self._entries())
            return _SUCCESS
        names = self._names()
        if options.verify:
            return self._verify(names)
        if not names:
            if options.update_index and not options.names and not options.query:
                return _SUCCESS
            if not options.query and not options.names:
                raise _Usage("a matrix is missing; usage: heddle fetch NAME..., see --help")
            raise FetchError("no matrix of the index meets the query")
        return self._fetch(names)

    def _spec(self) -> dict[str, Any] | None:
        """The query of the command line, None without one."""
        return parse_query(",".join(self.options.query)) if self.options.query else None

    def _entries(self) -> list[Entry]:
        """The lines of the index that the command line asks for, all without names and query.
        Offline they are those in the cache."""
        entries = self.collection.index()
        if self.options.names:
            wanted = [self._fitting(name) for name in self.options.names]
            entries = [entry for some in wanted for entry in some]
        if self.options.offline:
            entries = [entry for entry in entries if _is_cached(self.cache, entry)]
        spec = self._spec()
        return entries if spec is None else select(entries, spec)

    def _fitting(self, text: str) -> list[Entry]:
        """The lines of the index on the matrices that `text` names."""
        if not _has_wildcard(text):
            name = self.collection.complete(text)
            entry = self.collection.entry(name)
            if entry is None:
                raise FetchError(f"the index has no matrix {name.matrix}")
            return [entry]
        pattern = without_prefix(text)
        pattern = pattern if "/" in pattern else f"*/{pattern}"
        found = [
            entry
            for entry in self.collection.index()
            if fnmatch.fnmatchcase(entry.full_name.casefold(), pattern.casefold())
        ]
        if not found:
            raise FetchError(f"the index has no matrix that fits '{text}'")
        return found

    def _names(self) -> list[MatrixName]:
        """The matrices to fetch, each once."""
        names: list[MatrixName] = []
        for text in self.options.names:
            if _has_wildcard(text):
                names += [entry.matrix_name for entry in self._fitting(text)]
            else:
                names.append(self.collection.complete(text))
        spec = self._spec()
        if spec is not None:
            names += [entry.matrix_name for entry in self.collection.query(spec)]
        names = list(dict.fromkeys(names))
        if len(names) > _MANY and not self.options.all and "limit" not in (spec or {}):
            raise _Usage(
                f"that would fetch {len(names)} matrices; --list shows them, limit=N in --query "
                "takes the first, --all takes all"
            )
        return names

    def _list(self, entries: Sequence[Entry]) -> None:
        if self.options.json:
            rows = [
                {**entry.to_dict(), "cached": _is_cached(self.cache, entry)} for entry in entries
            ]
            print(json.dumps(rows, indent=2))
            return
        _print_table(entries, self.cache)

    def _fetch(self, names: Sequence[MatrixName]) -> int:
        """Fetches all that can be had. A collection that cannot be reached ends it at once."""
        results = []
        for name in names:
            try:
                fetched = self.collection.fetch(name)
                path = self.collection.resolve(str(name))
            except Unreachable as error:
                self._fail(error)
                break
            except FetchError as error:
                self._fail(error)
                continue
            self.teller.clear()
            results.append(
                {
                    "name": str(name),
                    "path": str(path),
                    "fetched": fetched,
                    "parts": self.cache.parts(name),
                }
            )
            if not self.options.json:
                self._report(name, path, fetched)
        if self.options.json:
            print(json.dumps(results, indent=2))
        if self.failures and len(names) > 1:
            print(
                f"heddle fetch: {len(results)} of {len(names)} matrices are in the cache",
                file=sys.stderr,
            )
        return _INPUT if self.failures else _SUCCESS

    def _fail(self, error: FetchError) -> None:
        self.teller.clear()
        self.failures.append(str(error))
        print(f"heddle fetch: error: {error}", file=sys.stderr)

    def _report(self, name: MatrixName, path: Path, fetched: bool) -> None:
        if self.options.where:
            print(path, flush=True)
        elif not self.options.quiet:
            how = "was in the cache"
            if fetched:
                how = f"fetched {size_text(self.cache.record(name).get('archive_bytes', 0))}"
            parts = self.cache.parts(name)
            others = f"; parts: {', '.join(parts)}" if parts else ""
            print(f"{name}: {how}, {path}{others}", flush=True)

    def _verify(self, names: Sequence[MatrixName]) -> int:
        """Reads the files of the cache again."""
        code, results = _SUCCESS, []
        for name in names or self.cache.names():
            state = "not in the cache"
            if self.cache.has(name):
                changed = self.cache.changed_files(name, read=True)
                state = f"changed: {', '.join(changed)}" if changed else "as it was fetched"
                if not self.cache.record(name):
                    state = "put there by hand, nothing to compare with"
                if changed and not self.options.offline:
                    self.collection.fetch(name, anew=True)
                    state += "; fetched anew"
                elif changed:
                    code = _INPUT
            else:
                code = _INPUT
            results.append({"name": str(name), "state": state})
            if not self.options.json:
                print(f"{name}: {state}", flush=True)
        if self.options.json:
            print(json.dumps(results, indent=2))
        return code


def _print_table(entries: Iterable[Entry], cache: Cache) -> None:
    """A table for people. A matrix in the cache is marked by *."""
    rows = [("", "matrix", "rows", "cols", "nnz", "symmetric", "pos. def.", "kind")]
    for entry in entries:
        rows.append(
            (
                "*" if _is_cached(cache, entry) else "",
                entry.full_name,
                str(entry.rows),
                str(entry.cols),
                str(entry.nnz),
                "yes" if entry.symmetric else f"{entry.numerical_symmetry:.0%}",
                "yes" if entry.positive_definite else "no",
                entry.kind,
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    for row in rows:
        words = [
            word.rjust(width) if column in (2, 3, 4) else word.ljust(width)
            for column, (word, width) in enumerate(zip(row, widths, strict=False))
        ]
        print("  ".join([*words, row[-1]]))
    count = len(rows) - 1
    print(f"{count} {'matrix' if count == 1 else 'matrices'}; *: in the cache, {data_folder()}")


def _fail(message: str, code: int) -> int:
    print(f"heddle fetch: error: {message}", file=sys.stderr)
    return code


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs heddle fetch with `arguments`, those of the process by default, and returns its exit
    code."""
    try:
        return _Command(_parser().parse_args(arguments)).run()
    except _Usage as error:
        return _fail(str(error), _USAGE)
    except QueryError as error:
        return _fail(str(error), _USAGE)
    except FetchError as error:
        return _fail(str(error), _INPUT)
    except ValueError as error:  # a text that is no name
        return _fail(str(error), _USAGE)
    except KeyboardInterrupt:
        return _fail("interrupted; a later run goes on from here", _INTERRUPTED)
    except BrokenPipeError:  # such as of heddle fetch --list | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _SUCCESS


if __name__ == "__main__":
    sys.exit(main())
