"""Where the scripts heddle-study, heddle-plot and heddle-fetch begin. The package itself needs NumPy
and SciPy alone, its commands need more."""

from __future__ import annotations

import importlib
import importlib.util
import sys

# Modules that a command needs, and what PyPI calls them.
_NEEDS = {
    "fetch": {"pooch": "pooch"},
    "plot": {"matplotlib": "matplotlib"},
    "study": {
        "jinja2": "Jinja2",
        "matplotlib": "matplotlib",
        "pooch": "pooch",
        "yaml": "PyYAML",
    },
}


def _run(command: str) -> int:
    missing = [
        name for module, name in _NEEDS[command].items() if importlib.util.find_spec(module) is None
    ]
    if missing:
        print(
            f"heddle {command}: error: {', '.join(missing)} cannot be imported; pip install "
            "'heddle-solvers[study]' installs what is missing",
            file=sys.stderr,
        )
        return 1
    ended: int = importlib.import_module(f"heddle.commands.{command}").main()
    return ended


def fetch() -> int:
    return _run("fetch")


def plot() -> int:
    return _run("plot")


def study() -> int:
    return _run("study")
