"""How the tree is cut: modules, rooms and the includes between them.

A module is a folder of the root. A room is a folder of a module. A file that stands in the module's
own folder is a room by itself, and belongs to the folder beside it where one has its name."""

import re
from pathlib import Path

MODULES = ["linalg", "spmm", "spgemm", "solvers", "drivers", "apps"]  # from the bottom to the top
METHODS = ["cg", "interval", "lanczos", "lobpcg", "rectangular"]  # rooms with an inside
SUFFIXES = {".hpp", ".cpp", ".cuh", ".cu"}


def sources(root, folders):
    """Every source below the folders, as paths relative to root, sorted."""
    paths = (path for folder in folders for path in (root / folder).rglob("*"))
    return sorted(path.relative_to(root) for path in paths if path.suffix in SUFFIXES)


def includes(root, path):
    """(line number, path relative to root) for each include of one of heddle's headers."""
    for number, line in enumerate((root / path).read_text().splitlines(), 1):
        if found := re.match(r"\s*#\s*include\s*[<\"]heddle/(.+?)[>\"]", line):
            yield number, Path(found[1])


def inner_arrows(root):
    """{(folder, folder that it includes): (file, line)} between the folders of a room's folder, as
    those of spgemm/cuda."""
    found = {}
    for path in sources(root, MODULES):
        for number, target in includes(root, path):
            for depth in range(3, min(len(path.parts), len(target.parts))):
                a, b = path.parts[:depth], target.parts[:depth]
                if a != b and a[:-1] == b[:-1]:
                    found.setdefault(("/".join(a), "/".join(b)), (path, number))
    return found


def python_arrows(root):
    """{(room, room that it imports): (file, line)} of the Python package. A room is a folder of it."""
    package, found = root / "python/heddle", {}
    for path in sorted(package.glob("*/**/*.py")):
        own = path.relative_to(package).parts[0]
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = re.match(r"\s*(?:from|import)\s+(?:\.\.|heddle\.)([a-z]\w*)", line)
            if match and match[1] != own and (package / match[1]).is_dir():
                found.setdefault((own, match[1]), (path.relative_to(root), number))
    return found


def room(path):
    """The room of a file, as module/room. A test belongs to the room that it tests."""
    parts = path.with_suffix("").parts
    return "/".join(parts[1:3] if parts[0] == "tests" else parts[:2])


def arrows(root):
    """{(room, room that it includes): (file, line) of the first such include}."""
    found = {}
    for path in sources(root, MODULES):
        for number, target in includes(root, path):
            if room(path) != room(target):
                found.setdefault((room(path), room(target)), (path, number))
    return found


def reaches(edges, start, goal):
    """Whether a path of at least one edge leads from start to goal."""
    seen, todo = set(), {start}
    while todo:
        here = todo.pop()
        targets = {b for a, b in edges if a == here}
        if goal in targets:
            return True
        todo |= targets - seen
        seen |= targets
    return False


def circular(edges):
    """Those of the edges that lie on a circle."""
    return sorted((a, b) for a, b in edges if reaches(edges, b, a))


def public_headers(root):
    """The headers that are installed: the PUBLIC_HEADERS of each module's CMakeLists.txt."""
    found = set()
    for module in MODULES:
        lists = root / module / "CMakeLists.txt"
        text = lists.read_text() if lists.exists() else ""
        for names in re.findall(r"PUBLIC_HEADERS((?:\s+[\w/.]+\.hpp)+)", text):
            found |= {Path(module, name) for name in names.split()}
    return found
