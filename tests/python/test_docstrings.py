"""Docstrings: their sections, the names of arguments, and examples that run."""

import doctest
import importlib
import inspect
import re
from pathlib import Path

import pytest
import scipy.sparse.linalg

import heddle

FUNCTIONS = [name for name in heddle.__all__ if inspect.isfunction(getattr(heddle, name))]


def sections(name):
    """{title: text} of the docstring of a function."""
    text = inspect.getdoc(getattr(heddle, name))
    parts = re.split(r"^(\w+)\n-{3,}\n", text, flags=re.MULTILINE)
    return dict(zip(["", *parts[1::2]], parts[::2]))


def test_functions_are_found():
    assert len(FUNCTIONS) >= 15


@pytest.mark.parametrize("name", FUNCTIONS)
def test_sections(name):
    found = sections(name)
    assert list(found)[:4] == ["", "Parameters", "Returns", "Raises"], name
    assert list(found)[-1] == "Examples"
    assert found[""].strip().split("\n\n")[0].endswith(".")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arguments(name):
    """Every argument is there, in the order of the signature."""
    named = []
    for line in sections(name)["Parameters"].splitlines():
        if line and not line.startswith(" "):
            named += re.split(r",\s*", line.split(" : ")[0])
    wanted = []
    for each in inspect.signature(getattr(heddle, name)).parameters.values():
        stars = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
        wanted.append(stars + each.name)
    assert sorted(named) == sorted(wanted)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_examples(name):
    if "networkx" in sections(name)["Examples"]:
        pytest.importorskip("networkx")
    function = getattr(heddle, name)
    module = importlib.import_module(function.__module__)
    tests = doctest.DocTestFinder(recurse=False).find(function, name, module=module, globs={})
    assert sum(len(test.examples) for test in tests) >= 2
    report = []
    runner = doctest.DocTestRunner(verbose=False)
    for test in tests:
        runner.run(test, out=report.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(report)


@pytest.mark.parametrize("name", ["eigsh", "svds", "lobpcg", "cg", "lsqr", "lsmr"])
def test_arguments_of_scipy(name):
    """Names, places and defaults of SciPy, apart from arguments that a newer SciPy may add."""
    own = inspect.signature(getattr(heddle, name)).parameters
    theirs = inspect.signature(getattr(scipy.sparse.linalg, name)).parameters
    shared = [each for each in theirs if each in own]
    assert len(shared) >= 6
    assert [own[each].default for each in shared] == [theirs[each].default for each in shared]
    places = [each for each in theirs.values() if each.kind is each.POSITIONAL_OR_KEYWORD]
    assert list(own)[: len(places)] == [each.name for each in places]


def test_every_keyword_is_documented():
    page = (Path(__file__).parents[2] / "docs" / "python.md").read_text()
    known = set(heddle._core.request_keywords()) | set(heddle.Extras.__annotations__)
    assert len(known) > 30
    assert not [name for name in known if f"`{name}`" not in page]
    texts = heddle.Extras.__doc__ + heddle.solve.__doc__
    assert not [name for name in known if not re.search(rf"\b{name}\b", texts)]
