#!/usr/bin/env python3
"""Builds a site of README.md and docs/ in build/site/html by MkDocs (Debian's or PyPI's, 1.4 or later),
without a network. Fails where a link leads nowhere. Exit code 77 where there is no MkDocs.

usage: scripts/build-site.py"""

import html
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "build/site/pages"
LINK = re.compile(r"\]\(([^)\s#]+)")


def stage():
    """Copies pages, and the files that they link to, with their places in the tree."""
    shutil.rmtree(PAGES, ignore_errors=True)
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "packaging/README.md"]
    files = {*pages, ROOT / "docs/site.css"}
    for page in pages:
        links = [link for link in LINK.findall(page.read_text()) if "://" not in link]
        files |= {(page.parent / link).resolve() for link in links}
    for file in files:
        if file.is_file():
            copy = PAGES / file.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
            if file.suffix == ".md":  # MkDocs takes a bar in code for a bar, GitHub for a cell's end
                copy.write_text(re.sub(r"`[^`\n]+`", lambda code: code[0].replace(r"\|", "|"), file.read_text()))


def lost_anchors(folder):
    """Links of the site to headings that are not there."""
    texts = {path.resolve(): path.read_text() for path in folder.rglob("*.html")}
    for path, text in texts.items():
        for target in re.findall(r'href="([^"]*#[^"]+)"', text):
            name, _, anchor = html.unescape(unquote(target)).partition("#")
            other = texts.get((path.parent / name).resolve() if name else path)
            if "://" not in target and other is not None and f'id="{anchor}"' not in html.unescape(other):
                yield f"{path.relative_to(folder.resolve())}: no heading {target}"


def main():
    if not shutil.which("mkdocs"):
        print("no mkdocs: apt-get install mkdocs, or pip install mkdocs")
        return 77
    stage()
    built = subprocess.run(["mkdocs", "build", "--strict", "-f", ROOT / "mkdocs.yml"], text=True, stderr=subprocess.PIPE)
    found = [*re.findall(r"^(?:WARNING|ERROR).*", built.stderr, re.MULTILINE), *lost_anchors(ROOT / "build/site/html")]
    for line in found or [built.stderr] if built.returncode else found:
        print(line)
    return 1 if built.returncode or found else 0


if __name__ == "__main__":
    sys.exit(main())
