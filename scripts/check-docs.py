#!/usr/bin/env python3
"""Checks what documents name against the tree: links, files, tests, classes,
constants, examples in C++, the messages that docs/troubleshooting.md quotes, figures against docs/performance/, and
the rules for words of scripts/lib/prose.py.
One line per finding, `file:line: what`, and exit code 1.

usage: scripts/check-docs.py [ROOT]"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "lib"))
from comparisons import stale
from layout import MODULES, sources
from prose import findings as of_prose

ROOTS = [*MODULES, "python", "lab", "tests", "scripts", "docs", "configs", "cmake"]  # of paths in documents
NUMBER = r"[-+]?(?:\d[\d']*\.?\d*|\.\d+)(?:e[-+]?\d+)?"
TEST = re.compile(r"\b(?:TEST|TEST_F|TEST_P|TYPED_TEST|TYPED_TEST_P)\(\s*(\w+),\s*(\w+)\s*\)")


def anchors(text):
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def check_link(root, page, target):
    name, _, anchor = target.partition("#")
    path = page.parent / name if name else page
    if not (root / path).exists():
        return f"a link to {target}, which is not there"
    if anchor and anchor not in anchors((root / path).read_text()):
        return f"a link to {target}, a heading that is not there"
    return None


def check_word(root, word, tests, names):
    """A word between backticks: a path, a test, a class or a constant."""
    first = word.split("/")[0]
    if re.fullmatch(r"[\w./-]+", word) and "/" in word and first in ROOTS:
        return None if (root / word).exists() else f"{word} is not there"
    if re.fullmatch(r"[A-Z]\w+\.[A-Z]\w+", word):
        return None if word in tests else f"there is no test {word}"
    if re.fullmatch(r"k?[A-Z][a-z]+[A-Z]\w*|k[A-Z]\w+", word):
        return None if word in names else f"there is no {word} in the sources"
    return None


def constants(text):
    """The numbers that each constant is defined as, {name: set}. Definitions by expressions are left out."""
    values = {}
    for name, number in re.findall(rf"\b(k[A-Z]\w*) = ({NUMBER})[;,}}]", text):
        values.setdefault(name, set()).add(float(number.replace("'", "")))
    return values


def check_values(line, values):
    """A row of a table of constants: each number against the definitions of its name."""
    cells = [cell.strip() for cell in line.split("|")]
    if not re.match(r"\| `k[A-Z]", line) or len(cells) < 3:
        return
    names, numbers = re.findall(r"`(k[A-Z]\w*)`", cells[1]), re.split("[,;] ", cells[2])
    if len(names) != len(numbers):
        return
    for name, number in zip(names, numbers):
        number = re.sub(r"(?<=\d) (?=\d{3}\b)", "", number)
        if re.fullmatch(rf"{NUMBER}( [a-z]+)?", number) and name in values:
            if float(number.split()[0]) not in values[name]:
                yield f"{name} is {sorted(values[name])} in the sources, not {number}"


def literals(text, is_python):
    """The string literals of a source, those that stand side by side as one. Placeholders become `…`."""
    if is_python:
        text = re.sub(r'"""[\s\S]*?"""', "", text)
    text = re.sub(r'"[ \t]*\n\s*f?"', "", text)
    for literal in re.findall(r'"((?:[^"\\\n]|\\.)+)"', text):
        yield re.sub(r"\{[^{}]*\}", "…", re.sub(r"\\(.)", r"\1", literal))


def is_quoted(message, known, lines):
    """Whether a message is in one of the `lines`, or is one of the `known` if it is a single word."""
    if " " not in message:
        return message in known
    parts = [re.escape(part) for part in message.strip("… ").split("…")]
    return re.search(".*".join(parts), lines) is not None


def check_messages(root, page):
    """Each message in the first column of a page's tables stands in a literal of the sources."""
    paths = [root / path for path in sources(root, MODULES)]
    paths += [*root.glob("python/heddle/**/*.py"), *root.glob("python/src/**/*.[ch]pp")]
    known = {literal for path in paths for literal in literals(path.read_text(), path.suffix == ".py")}
    lines = "\n".join(known)
    for number, line in enumerate((root / page).read_text().splitlines(), 1):
        found = re.match(r"\| `([^`]+)` \|", line)
        message = found and found.group(1).replace(r"\|", "|")
        if message and not is_quoted(message, known, lines):
            yield f"{page}:{number}: no message of the sources reads: {message}"


def bare(code):
    """Code without includes, comments and white space."""
    return re.sub(r"\s+|//[^\n]*", "", re.sub(r"^#include.*$", "", code, flags=re.MULTILINE))


def check_examples(root, page):
    """Each example in C++ stands in a test or in examples/, which tests compile and run."""
    text = (root / page).read_text()
    tests = [bare(path.read_text()) for folder in ("tests", "examples")
             for path in root.glob(f"{folder}/**/*.cpp")]
    for block in re.finditer(r"^```cpp\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        if not any(bare(block.group(1)) in test for test in tests):
            yield f"{page}:{text.count(chr(10), 0, block.start()) + 1}: an example that stands in no test"


def findings(root):
    paths = [root / path for path in sources(root, [*MODULES, "tests"])]
    paths += [*(root / "python/heddle").glob("*.py")]
    text = "\n".join(path.read_text() for path in paths)
    names = set(re.findall(r"\w+", text))
    values = constants(text)
    tests = {f"{suite}.{name}" for suite, name in TEST.findall(text)}
    for page in sorted([*root.glob("*.md"), *root.glob("docs/**/*.md")]):
        page = page.relative_to(root)
        is_history = page.name == "CHANGELOG.md"  # it names what was, too
        for number, line in enumerate((root / page).read_text().splitlines(), 1):
            links = re.findall(r"\]\(([^)\s]+)\)", line)
            found = [check_link(root, page, link) for link in links if "://" not in link]
            words = [] if is_history else re.findall(r"`([^`]+)`", line)
            found += [check_word(root, word, tests, names) for word in words]
            found += [] if is_history else check_values(line, values)
            yield from (f"{page}:{number}: {what}" for what in found if what)
        yield from (f"{page}:{number}: {what}" for number, what in of_prose((root / page).read_text()))
        yield from check_examples(root, page)
        if page.name == "troubleshooting.md":
            yield from check_messages(root, page)
    yield from stale(root)


if __name__ == "__main__":
    tree = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent)
    found = list(findings(tree))
    for finding in found:
        print(finding)
    sys.exit(1 if found else 0)
