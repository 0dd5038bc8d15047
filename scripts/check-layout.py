#!/usr/bin/env python3
"""Checks how the tree is cut: one line per finding, `file:line: what`, and exit code 1.

usage: scripts/check-layout.py [ROOT]      docs/architecture.md says what the rules are for"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "lib"))
from classes import classes
from layout import (METHODS, MODULES, arrows, circular, includes, inner_arrows, public_headers,
                    python_arrows, room, sources)

MAX_FILE_LINES = 450
MAX_LINES_OF = {"drivers": 350}  # a module whose files are shorter
MAX_FUNCTION_LINES = 60
MAX_MEMBER_FUNCTIONS = 30  # without constructors, destructor and assignment
LIBRARIES = MODULES[: MODULES.index("apps")]
SHARED = "linalg/base"  # what every module of this project may use, installed or not
EVERYTHING = [*MODULES, "python", "lab", "tests", "examples"]
NO_MIRROR = {"support", "consumer", "fuzz"}  # folders of tests/ that mirror no module


def check_includes(root):
    public = public_headers(root)
    for path in sources(root, EVERYTHING):
        module = path.parts[0]
        for line, target in includes(root, path):
            at, theirs = f"{path}:{line}:", room(target)
            if module in MODULES and target.parts[0] not in MODULES[: MODULES.index(module) + 1]:
                yield f"{at} {module} includes {target}, which stands above it"
            if path in public and target not in public:
                yield f"{at} an installed header includes {target}, which is not installed"
            is_private = target not in public and theirs != SHARED
            above = module in ("apps", "lab")
            if above and target.parts[0] in LIBRARIES and is_private:
                yield f"{at} {target} is not installed: {module} uses the public headers of a library"
            if room(path) == theirs:
                continue
            if theirs.split("/")[1] in METHODS and target not in public:
                yield f"{at} {target} is inside the room {theirs}: only public headers are a door"
            if "detail" in target.parts:
                yield f"{at} {target} is a detail of the room {theirs}"


def check_circles(root):
    for edges, what in (
            (arrows(root), "includes"), (inner_arrows(root), "includes"), (python_arrows(root), "imports")):
        for a, b in circular(edges):
            path, line = edges[a, b]
            yield f"{path}:{line}: the rooms {a} and {b} lie on a circle of {what}"


def check_lengths(root):
    """The lone } that ends a function has the indentation of its first line (clang-format)."""
    for path in sources(root, EVERYTHING):
        lines = (root / path).read_text().splitlines()
        most = MAX_LINES_OF.get(path.parts[0], MAX_FILE_LINES)
        if len(lines) > most:
            yield f"{path}:{most}: {len(lines)} lines in a file, at most {most}"
        first = {}  # indentation: the line that began the statement with it
        for number, line in enumerate(lines, 1):
            if not line.strip() or line.startswith("#"):
                continue
            indent = len(line) - len(line.lstrip())
            length = number - first.get(indent, number) + 1
            if line.strip() == "}" and length > MAX_FUNCTION_LINES:
                begin = f"{path}:{first[indent]}:"
                yield f"{begin} {length} lines in a function, at most {MAX_FUNCTION_LINES}"
            first = {i: at for i, at in first.items() if i < indent} | {indent: number}


def check_classes(root):
    for path in sources(root, EVERYTHING):
        for line, name, count in classes((root / path).read_text()):
            if count > MAX_MEMBER_FUNCTIONS:
                what = f"{count} member functions in {name}, at most {MAX_MEMBER_FUNCTIONS}"
                yield f"{path}:{line}: {what}"


def check_mirror(root):
    for path in sources(root, ["tests"]):
        mirrored = Path(*path.parts[1:-1])
        if path.parts[1] not in NO_MIRROR and not (root / mirrored).is_dir():
            yield f"{path}:1: there is no {mirrored}/ that it could test"


if __name__ == "__main__":
    tree = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent)
    checks = (check_includes, check_circles, check_lengths, check_classes, check_mirror)
    found = [finding for check in checks for finding in check(tree)]
    for finding in found:
        print(finding)
    sys.exit(1 if found else 0)
