"""The commands of the package without the packages that they need, and what the package itself needs."""

import importlib.metadata
import subprocess
import sys

import pytest

from heddle.commands import entry

BEYOND_THE_CORE = ("jinja2", "matplotlib", "pooch", "requests", "yaml")


@pytest.mark.parametrize(
    ("command", "module", "named"),
    [
        ("fetch", "pooch", "pooch"),
        ("plot", "matplotlib", "matplotlib"),
        ("study", "yaml", "PyYAML"),
        ("study", "jinja2", "Jinja2"),
        ("study", "matplotlib", "matplotlib"),
        ("study", "pooch", "pooch"),
    ],
)
def test_a_missing_package_is_named(command, module, named, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setattr(sys, "argv", [f"heddle-{command}", "--help"])
    assert getattr(entry, command)() == 1
    assert capsys.readouterr().err == (
        f"heddle {command}: error: {named} cannot be imported; pip install 'heddle-solvers[study]' "
        "installs what is missing\n"
    )


@pytest.mark.parametrize("command", ["fetch", "plot", "study"])
def test_commands_begin_where_their_scripts_say(command, monkeypatch, capsys):
    entries = importlib.metadata.distribution("heddle-solvers").entry_points
    scripts = entries.select(name=f"heddle-{command}")
    (script,) = scripts
    monkeypatch.setattr(sys, "argv", [f"heddle-{command}", "x", "--no-such-option"])
    assert script.load()() == 1
    assert "--no-such-option" in capsys.readouterr().err


def test_the_core_needs_numpy_and_scipy_alone():
    needed = importlib.metadata.requires("heddle-solvers")
    assert sorted(each.split(">")[0] for each in needed if "extra ==" not in each) == ["numpy", "scipy"]
    text = (
        f"import sys; sys.modules.update(dict.fromkeys({BEYOND_THE_CORE}));"
        "import heddle; A = heddle.generate('laplace1d', 50);"
        "print(heddle.solve(A, nev=2).status, heddle.eigsh(A, k=1, which='LA')[0].size)"
    )
    run = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert run.stdout == "converged 1\n"


def test_a_matrix_by_name_without_pooch(tmp_path):
    text = (
        "import sys; sys.modules['pooch'] = None; import heddle\n"
        "try: heddle.read_matrix('SuiteSparse:HB/bcsstk01')\n"
        "except heddle.InputError as error: print(error)"
    )
    environment = {"HEDDLE_DATA": str(tmp_path), "HEDDLE_COLLECTION": "http://127.0.0.1:9"}
    run = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, env=environment, check=True
    )
    assert run.stdout == (
        "pooch, which fetches matrices, cannot be imported; pip install 'heddle-solvers[study]' "
        "installs it\n"
    )
