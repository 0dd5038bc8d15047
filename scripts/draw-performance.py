#!/usr/bin/env python3
"""Writes the tables and pictures of docs/performance.md and docs/scaling.md from the result files in
docs/performance/, which scripts/lib/comparisons.py describes. scripts/check-docs.py compares.

usage: scripts/draw-performance.py [ROOT]"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "lib"))
from comparisons import pages

if __name__ == "__main__":
    tree = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent)
    for path, text in pages(tree).items():
        path.write_text(text)
