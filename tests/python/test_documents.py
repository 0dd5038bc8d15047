"""The examples of the documents run: Python, and commands where HEDDLE_PROGRAMS or the path has them."""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import scipy.io as sio
import scipy.sparse as sp

import heddle

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


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_python_of_a_page_runs_from_its_first_line_to_its_last(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = [code for language, code in BLOCK.findall((ROOT / page).read_text()) if language == "python"]
    assert blocks
    names = {}
    for code in blocks:
        exec(compile(code, page, "exec"), names)


def test_commands_of_the_readme_on_generated_matrices(tmp_path):
    text = (ROOT / "README.md").read_text()
    found = [words for words, _ in commands(text) if words[0] == "solve"]
    assert ["solve", "laplace3d:50,50,50", "-n", "10", "--tol", "1e-8"] in found
    if program() is None:
        pytest.skip("no executables: set HEDDLE_PROGRAMS to their folder")
    yaml = re.search(r"^```yaml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    (tmp_path / "modes.yaml").write_text(yaml.group(1))
    run_commands("```sh\nheddle solve modes.yaml\n```", tmp_path)
    results = tmp_path / "results" / "modes-block_lanczos"
    assert {path.name for path in results.iterdir()} >= {"result.json", "history.csv", "eigenvectors.npy"}
    run_commands(text.replace("heddle study", "# heddle study"), tmp_path)


def tasks():
    """The rows of the README's table of tasks: what stands after `heddle solve`, and the recipe."""
    text = (ROOT / "README.md").read_text().split("| task |")[1].split("\n\n")[0]
    return re.findall(r"^\| .* \| `(.*)` \| \[.*\]\(configs/(.*)\) \|$", text, re.MULTILINE)


@pytest.mark.parametrize("arguments", [arguments for arguments, _ in tasks()])
def test_tasks_of_the_readme(arguments, tmp_path):
    if program() is None:
        pytest.skip("no executables: set HEDDLE_PROGRAMS to their folder")
    rng = np.random.default_rng(1)
    K = heddle.generate("elasticity3d", 6, 4, 4)
    sio.mmwrite(tmp_path / "K.mtx", sp.coo_array(K), symmetry="symmetric")
    sio.mmwrite(tmp_path / "M.mtx", sp.coo_array(heddle.generate("elasticity3d_mass", 6, 4, 4)))
    sio.mmwrite(tmp_path / "A.mtx", sp.random_array((300, 40), density=0.2, rng=rng))
    sio.mmwrite(tmp_path / "graph.mtx", sp.coo_array(abs(heddle.generate("laplace2d", 20, 21))))
    np.save(tmp_path / "B.npy", rng.standard_normal((K.shape[0], 8)))
    np.save(tmp_path / "b.npy", np.ones(300))
    run_commands(f"```sh\nheddle solve {arguments}\n```", tmp_path)


def test_every_task_of_the_readme_has_a_recipe():
    recipes = {recipe for _, recipe in tasks()}
    assert len(recipes) == len(tasks()) > 5
    assert recipes < {path.name for path in (ROOT / "configs").glob("*.yaml")}


def test_commands_of_a_page_are_found():
    text = "```sh\nheddle solve K.mtx -n 4   # exit code 3\npip install .\nheddle info K.mtx\n```\n"
    assert list(commands(text)) == [(["solve", "K.mtx", "-n", "4"], 3), (["info", "K.mtx"], 0)]
