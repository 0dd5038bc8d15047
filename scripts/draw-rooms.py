#!/usr/bin/env python3
"""Draws modules and rooms from the includes between them, as Mermaid, in docs/architecture.md.

usage: scripts/draw-rooms.py --write|--check [ROOT]

--write replaces the drawings between the markers, --check compares. Both fail, with exit code 1,
where an arrow points upward, where rooms form a circle, and where solvers/ has more than 15 rooms or
40 arrows between them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "lib"))
from layout import MODULES, arrows, circular, reaches, room, sources

MAX_ROOMS, MAX_ARROWS = 15, 40  # of solvers/
DRAWN = ["drivers", "solvers", "linalg"]
BEGIN, END = "<!-- rooms: begin -->\n", "<!-- rooms: end -->\n"


def of(module, edges):
    """The edges between the rooms of a module."""
    return [(a, b) for a, b in edges if a.startswith(module + "/") and b.startswith(module + "/")]


def rooms(root, module):
    return sorted({room(path) for path in sources(root, [module])})


def mermaid(nodes, edges):
    """All nodes, and the edges that do not follow from others (all of them where there are circles)."""
    lines = [f"  {node.replace('/', '_')}[{node.split('/')[-1]}]" for node in nodes]
    for a, b in sorted(edges):
        others = [edge for edge in edges if edge != (a, b)]
        if circular(edges) or not reaches(others, a, b):
            lines.append(f"  {a.replace('/', '_')} --> {b.replace('/', '_')}")
    return "\n".join(["```mermaid", "flowchart TD", *lines, "```", ""])


def drawings(root, edges):
    modules = [module for module in reversed(MODULES) if rooms(root, module)]
    between = {(a.split("/")[0], b.split("/")[0]) for a, b in edges}
    text = "Modules:\n\n" + mermaid(modules, [(a, b) for a, b in between if a != b])
    for module in DRAWN:
        inside, own = rooms(root, module), of(module, edges)
        text += f"\n`{module}/`: {len(inside)} folders, {len(own)} arrows:\n\n" + mermaid(inside, own)
    return text


def faults(root, edges):
    rank = {module: place for place, module in enumerate(MODULES)}
    for a, b in edges:
        if rank[a.split("/")[0]] < rank.get(b.split("/")[0], len(rank)):
            yield f"an arrow upward: {a} -> {b}"
    for a, b in circular(edges):
        yield f"on a circle: {a} -> {b}"
    count, between = len(rooms(root, "solvers")), len(of("solvers", edges))
    if count > MAX_ROOMS:
        yield f"solvers/ has {count} rooms, at most {MAX_ROOMS}"
    if between > MAX_ARROWS:
        yield f"solvers/ has {between} arrows, at most {MAX_ARROWS}"


def main(mode, root):
    page, edges = root / "docs/architecture.md", arrows(root)
    text = page.read_text()
    head, rest = text.split(BEGIN)
    drawn = head + BEGIN + "\n" + drawings(root, edges) + "\n" + END + rest.split(END)[1]
    found = list(faults(root, edges))
    if mode == "--write":
        page.write_text(drawn)
    elif drawn != text:
        found.append(f"{page} is not what scripts/draw-rooms.py --write makes of the includes")
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    if sys.argv[1:2] not in (["--write"], ["--check"]):
        sys.exit(__doc__)
    tree = Path(sys.argv[2] if len(sys.argv) > 2 else Path(__file__).parent.parent)
    sys.exit(main(sys.argv[1], tree))
