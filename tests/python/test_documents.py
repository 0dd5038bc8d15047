"""The examples of the documents run: Python, and commands where HEDDLE_PROGRAMS or the path has them."""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
METHODS = sorted((ROOT / "docs" / "methods").glob("*.md"))
BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def head(page):
    """The part of a page that its readers meet first: all before "How it works"."""
    return page.read_text().split("\n## How it works\n")[0]


def commands(text):
    """Each command `heddle …` of the examples with the exit code that its comment names, else 0."""
    for language, code in BLOCK.findall(text):
        for line in code.splitlines() if language == "sh" else []:
            command, _, comment = line.partition("#")
            if command.startswith("heddle "):
                named = re.search(r"exit code (\d+)", comment)
                yield shlex.split(command)[1:], int(named.group(1)) if named else 0


def program():
    folder = os.environ.get("HEDDLE_PROGRAMS")
    found = os.path.join(folder, "heddle") if folder else shutil.which("heddle")
    return found if found and os.path.exists(found) else None


def run_commands(text, folder):
    for arguments, code in commands(text):
        command = [program(), *arguments]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
        assert done.returncode == code, f"{' '.join(arguments)}: {done.stderr}"


@pytest.mark.parametrize("page", METHODS, ids=lambda page: page.stem)
def test_examples_of_a_method(page, tmp_path):
    assert list(commands(head(page)))
    if program() is None:
        pytest.skip("no executables: set HEDDLE_PROGRAMS to their folder")
    run_commands(head(page), tmp_path)


def test_examples_for_engineers(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text, names = (ROOT / "docs" / "engineer.md").read_text(), {}
    for language, code in BLOCK.findall(text):
        if language == "python":
            exec(compile(code, "docs/engineer.md", "exec"), names)
        elif program() is not None:
            run_commands(f"```sh\n{code}```", tmp_path)
    assert 500 < float(capsys.readouterr().out[1:].split()[0]) < 2500


def test_commands_of_a_page_are_found():
    text = "```sh\nheddle solve K.mtx -n 4   # exit code 3\npip install .\nheddle info K.mtx\n```\n"
    assert list(commands(text)) == [(["solve", "K.mtx", "-n", "4"], 3), (["info", "K.mtx"], 0)]
