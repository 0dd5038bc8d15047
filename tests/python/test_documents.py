"""The examples of the documents run: Python, and commands where HEDDLE_PROGRAMS or the path has them."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.io as sio
import scipy.sparse as sp

import heddle

ROOT = Path(__file__).parents[2]
METHODS = sorted((ROOT / "docs" / "methods").glob("*.md"))
BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```", re.MULTILINE | re.DOTALL)
YAML = re.compile(r"^```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL)
ELSEWHERE = ("cuda", "timing.json", "SuiteSparse:", "study", "fetch")  # a GPU, the lab, the network, minutes


def head(page):
    """The part of a page that its readers meet first: all before "How it works"."""
    return page.read_text().split("\n## How it works\n")[0]


def commands(text):
    """Each command `heddle …` of the examples with the exit code that its comment names, else 0.
    `heddle-NAME …` is `heddle NAME …`."""
    for language, code in BLOCK.findall(text):
        for line in code.splitlines() if language == "sh" else []:
            command, _, comment = line.partition("#")
            if re.match("heddle[ -]", command):
                named = re.search(r"exit code (\d+)", comment)
                words = shlex.split(command.replace("-", " ", 1) if command[6] == "-" else command)
                yield words[1:], int(named.group(1)) if named else 0


def program():
    folder = os.environ.get("HEDDLE_PROGRAMS")
    found = os.path.join(folder, "heddle") if folder else shutil.which("heddle")
    return found if found and os.path.exists(found) else None


def run_commands(text, folder):
    for arguments, code in commands(text):
        command = [program(), *arguments]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
        assert done.returncode == code, f"{' '.join(arguments)}: {done.stderr}"


def runs_here(words):
    return not any(part in word for word in words for part in ELSEWHERE)


def write_problem(folder):
    """The files that examples name, small."""
    rng = np.random.default_rng(1)
    K = heddle.generate("elasticity3d", 6, 4, 4)
    sio.mmwrite(folder / "K.mtx", sp.coo_array(K), symmetry="symmetric")
    M = sp.coo_array(heddle.generate("elasticity3d_mass", 6, 4, 4))
    sio.mmwrite(folder / "M.mtx", M)
    sio.mmwrite(folder / "KG.mtx", -M)
    sio.mmwrite(folder / "A.mtx", sp.random_array((300, 40), density=0.2, rng=rng))
    np.save(folder / "B.npy", rng.standard_normal((K.shape[0], 8)))
    np.save(folder / "xyz.npy", rng.standard_normal((K.shape[0] // 3, 3)))
    (folder / "case.yaml").write_text(
        "problem: {matrix: {generate: laplace3d, size: [16, 16, 16]}}\nsolver: {nev: 8}\n")


def pages_with_commands():
    pages = sorted(page for page in (ROOT / "docs").glob("**/*.md") if page.name != "engineer.md")
    return [page for page in pages if any(runs_here(words) for words, _ in commands(page.read_text()))]


@pytest.mark.parametrize("page", pages_with_commands(), ids=lambda page: page.stem)
def test_commands_of_a_page(page, tmp_path):
    if program() is None:
        pytest.skip("no executables: set HEDDLE_PROGRAMS to their folder")
    write_problem(tmp_path)
    if page.stem == "tensor-core-formats":
        np.save(tmp_path / "B.npy", np.ones((40, 8)))
    (tmp_path / "lab").symlink_to(ROOT / "lab")
    for solver in ("lobpcg", "block_lanczos") if page.stem == "studies" else ():
        options = f"--solver {solver} --eigenvectors npy -o results/K-{solver}"
        run_commands(f"```sh\nheddle solve K.mtx {options}\n```", tmp_path)
    for words, code in commands(page.read_text()):
        if not runs_here(words):
            continue
        command = [program(), *words]
        if words[0] == "plot":
            pytest.importorskip("matplotlib")
            command = [sys.executable, "-m", "heddle.commands.plot", *words[1:]]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert done.returncode == code, f"{' '.join(words)}: {done.stderr}"


@pytest.mark.parametrize("page", METHODS, ids=lambda page: page.stem)
def test_a_method_begins_with_an_example(page):
    assert list(commands(head(page)))


def configurations():
    text = (ROOT / "docs" / "configuration.md").read_text()
    return [each for each in YAML.findall(text) if each.startswith("problem:")]


@pytest.mark.parametrize("text", configurations())
def test_configurations_of_the_keys_that_people_set(text, tmp_path):
    if program() is None:
        pytest.skip("no executables: set HEDDLE_PROGRAMS to their folder")
    write_problem(tmp_path)
    (tmp_path / "case.yaml").write_text(text)
    run_commands("```sh\nheddle solve case.yaml\n```", tmp_path)
    folder = next((tmp_path / "results").iterdir())
    assert (folder / "eigenvectors.npy").exists() == ("eigenvectors" in text)


def test_every_task_of_the_configuration_has_an_example():
    text = (ROOT / "docs" / "configuration.md").read_text().split("| task |")[1].split("\n\n")[0]
    assert len(configurations()) == len(text.splitlines()) - 2 == 10


def test_the_study_of_the_page_is_one(tmp_path):
    definition = pytest.importorskip("heddle.study.definition")
    (tmp_path / "study.yaml").write_text(YAML.findall((ROOT / "docs" / "studies.md").read_text())[0])
    study = definition.read_study(tmp_path / "study.yaml")
    assert len(study.cases) == 3


def test_arguments_of_fetch_are_those_of_the_page():
    fetch = pytest.importorskip("heddle.commands.fetch")
    found = [words for words, _ in commands((ROOT / "docs" / "studies.md").read_text()) if words[0] == "fetch"]
    assert len(found) == 3
    for words in found:
        assert fetch._parser().parse_args(words[1:])


def test_examples_for_engineers(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text, names = (ROOT / "docs" / "engineer.md").read_text(), {}
    for language, code in BLOCK.findall(text):
        if language == "python":
            exec(compile(code, "docs/engineer.md", "exec"), names)
        elif program() is not None:
            run_commands(f"```sh\n{code}```", tmp_path)
    assert 500 < float(capsys.readouterr().out[1:].split()[0]) < 2500


@pytest.mark.parametrize("page", ["README.md", "docs/python.md", "docs/physicist.md"])
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
    write_problem(tmp_path)
    sio.mmwrite(tmp_path / "graph.mtx", sp.coo_array(abs(heddle.generate("laplace2d", 20, 21))))
    np.save(tmp_path / "b.npy", np.ones(300))
    run_commands(f"```sh\nheddle solve {arguments}\n```", tmp_path)


def test_every_task_of_the_readme_has_a_recipe():
    recipes = {recipe for _, recipe in tasks()}
    assert len(recipes) == len(tasks()) > 5
    assert recipes < {path.name for path in (ROOT / "configs").glob("*.yaml")}


def test_commands_of_a_page_are_found():
    text = "```sh\nheddle solve K.mtx -n 4   # exit code 3\npip install .\nheddle info K.mtx\n```\n"
    assert list(commands(text)) == [(["solve", "K.mtx", "-n", "4"], 3), (["info", "K.mtx"], 0)]
