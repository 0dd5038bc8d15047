"""The annotations and the stubs, as a type checker sees them."""

import subprocess
import sys

import pytest

pytest.importorskip("mypy")

PROGRAM = """
import numpy as np
import heddle

A = heddle.generate("laplace1d", 10)
result: heddle.Result = heddle.solve(heddle.Problem(A, B=A), nev=2)
status: str = result.status
values: np.ndarray = result.eigenvalues
heddle.eigsh(A, 2, threads=1, on_failure="return", callback=lambda state: state.iteration < 3)
pair: tuple[np.ndarray, np.ndarray] = heddle.fiedler(A, 2, seed=3)
count: tuple[float, float] = heddle.spectral_density(A).count(0, 1)
"""


def check(*arguments, folder):
    command = [sys.executable, "-m", "mypy", "--ignore-missing-imports", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return done.returncode, done.stdout


def test_program_of_a_user(tmp_path):
    (tmp_path / "user.py").write_text(PROGRAM)
    assert check("--strict", "user.py", folder=tmp_path) == (0, "Success: no issues found in 1 source file\n")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("heddle.eigsh(A, 2, thread=1)", 'Unexpected keyword argument "thread"'),
        ("heddle.cg(A, values, on_failure='ignore')", "incompatible type"),
        ("result.statuss", 'has no attribute "statuss"'),
    ],
)
def test_mistakes_are_found(tmp_path, line, message):
    (tmp_path / "user.py").write_text(PROGRAM + line + "\n")
    status, report = check("user.py", folder=tmp_path)
    assert status == 1 and message in report


def test_package_itself(tmp_path):
    status, report = check("-p", "heddle", folder=tmp_path)
    assert status == 0, report
