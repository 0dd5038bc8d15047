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
pair = heddle.eigsh(A, 2, which="SA")
pair = heddle.eigsh(A, 2, return_eigenvectors=True, threads=1)
pair = heddle.eigsh_interval(A, (0.0, 1.0))
pair = heddle.lobpcg(A, np.ones((10, 2)))
values = heddle.eigsh(A, 2, which="SA", return_eigenvectors=False)
values = heddle.svds(A, 2, which="SM", return_singular_vectors=False)
values = heddle.spectral_embedding(A, 2)
u, s, vh = heddle.svds(A, 2)
u.shape, s.shape, vh.shape
x, info = heddle.cg(A, values)
code: int = info + heddle.lsqr(A, values)[1] + heddle.lsmr(A, values)[1]
w, v, found = heddle.eigsh(A, 2, return_stats=True)
x, _, _, _ = heddle.lstsq(A, values)
count: tuple[float, float] = heddle.spectral_density(A).count(0, 1)
"""


MISTAKES = {
    "heddle.eigsh(A, 2, thread=1)": 'Unexpected keyword argument "thread"',
    "heddle.cg(A, values, on_failure='ignore')": 'No overload variant of "cg"',
    "heddle.solve(A).values.shapes": 'has no attribute "shapes"',
    "result.statuss": 'has no attribute "statuss"',
    "heddle.eigsh(A, 2, which='SL')": "No overload variant",
    "heddle.svds(A, 2, which='LA')": "No overload variant",
    "heddle.eigsh(A, 2)[2]": "Tuple index out of range",
    "heddle.cg(A, values)[1].shape": '"int" has no attribute "shape"',
}


@pytest.fixture(scope="module")
def check(tmp_path_factory):
    folder = tmp_path_factory.mktemp("types")

    def run(*arguments):
        command = [sys.executable, "-m", "mypy", "--ignore-missing-imports", *arguments]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        return done.returncode, done.stdout

    (folder / "user.py").write_text(PROGRAM)
    (folder / "mistaken.py").write_text(PROGRAM + "\n".join(MISTAKES))
    return run


def test_program_of_a_user(check):
    assert check("user.py") == (0, "Success: no issues found in 1 source file\n")


def test_program_of_a_strict_user(check):
    status, report = check("--strict", "user.py")
    assert status == 0, report


def test_mistakes_are_found(check):
    status, report = check("mistaken.py")
    assert status == 1
    lines = {line.split(":")[1] for line in report.splitlines() if " error: " in line}
    assert len(lines) == len(MISTAKES)
    for message in MISTAKES.values():
        assert message in report


def test_package_itself(check):
    status, report = check("-p", "heddle")
    assert status == 0, report
