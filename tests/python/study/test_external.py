"""Adapters of other libraries against dense eigenvalues."""

import importlib.util
import json
import subprocess
import sys

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from heddle.study import external, outcome, programs, runner
from heddle.study.records import Run

N = 120


def stored(folder, name, matrix):
    sp.save_npz(folder / f"{name}.npz", sp.csr_matrix(matrix))
    return str(folder / f"{name}.npz")


def path_matrix(shift=0.0):
    return sp.diags([-1.0, 2.0 + shift, -1.0], [-1, 0, 1], shape=(N, N))


def solve(folder, name, problem, expected=0, options=None, **solver):
    config = {
        "external": name, "problem": problem, "solver": {"nev": 5, "tolerance": 1e-9} | solver,
        "options": options or {}, "output": {"directory": str(folder)},
    }  # fmt: skip
    path = folder / "config.yaml"
    path.write_text(json.dumps(config))
    assert external.main([str(path)]) == expected
    return json.loads((folder / "result.json").read_text())


def available(name):
    library = {"slepc": "slepc4py", "primme": "primme"}.get(name, "scipy")
    mark = pytest.mark.skipif(
        importlib.util.find_spec(library) is None, reason=f"{library} is not installed"
    )
    return pytest.param(name, marks=mark)


EVERY = [available(name) for name in external.ADAPTERS]


def check(result, truth, tolerance=1e-9):
    values, bounds = np.array(result["eigenvalues"]), np.array(result["error_bounds"])
    assert result["status"] == "converged" and all(result["converged"])
    assert (abs(values - truth) <= bounds + 1e-14).all()
    assert bounds.max() < 1e-6 * max(1, abs(truth[0])) and max(result["residuals"]) <= tolerance
    assert result["orthogonality"] < 1e-6 and outcome.problem_of_result(result) == ""


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("which", ["smallest", "largest"])
def test_both_ends_of_a_matrix(tmp_path, name, which):
    A = path_matrix() + sp.diags(np.linspace(0, 3, N))
    truth = np.linalg.eigvalsh(A.toarray())
    truth = truth[::-1][:5] if which == "largest" else truth[:5]
    problem = {"matrix": stored(tmp_path, "A", A)}
    result = solve(tmp_path, name, problem, which=which, max_iterations=2000)
    check(result, truth)
    assert result["n"] == N and result["versions"]["library"]
    assert result["seconds"]["solve"] > 0 and result["seconds"]["total"] > 0


@pytest.mark.parametrize("name", EVERY)
def test_pencils(tmp_path, name):
    A, B = path_matrix(0.5), sp.diags([0.2, 0.6, 0.2], [-1, 0, 1], shape=(N, N))
    truth = scipy.linalg.eigh(A.toarray(), B.toarray(), eigvals_only=True)[-5:][::-1]
    problem = {"matrix": stored(tmp_path, "A", A), "mass": stored(tmp_path, "B", B)}
    result = solve(tmp_path, name, problem, which="largest", max_iterations=300, tolerance=1e-7)
    check(result, truth, 1e-7)


def test_the_smallest_end_of_other_matrices(tmp_path):
    indefinite = {"matrix": stored(tmp_path, "A", path_matrix(-1.0))}
    result = solve(tmp_path, "scipy.eigsh", indefinite, max_iterations=5000)
    assert result["solver"] == "ARPACK, SA"
    check(result, np.linalg.eigvalsh(path_matrix(-1.0).toarray())[:5])
    ring = sp.lil_matrix(-path_matrix(-2.0))  # weights 1 on the edges of a cycle
    ring[0, N - 1] = ring[N - 1, 0] = 1.0
    graph = {"matrix": stored(tmp_path, "W", ring), "transform": "laplacian"}
    result = solve(tmp_path, "scipy.eigsh", graph)
    assert "shift-invert at -" in result["solver"]
    k = np.array([0, 1, 1, 2, 2])
    assert np.allclose(result["eigenvalues"], 2 - 2 * np.cos(2 * np.pi * k / N), atol=1e-10)


def test_limits_and_failures(tmp_path, monkeypatch, capsys):
    problem = {"matrix": stored(tmp_path, "A", path_matrix())}
    result = solve(tmp_path, "scipy.eigsh", problem, 3, {"mode": "direct"}, max_iterations=1)
    assert result["status"] == "max_iterations" and "No convergence" in result["reason"]
    (tmp_path / "result.json").unlink()
    with pytest.raises(FileNotFoundError):
        solve(tmp_path, "scipy.eigsh", problem, 1, nev=N)
    assert "120 pairs of a matrix with 120 rows" in capsys.readouterr().err
    with pytest.raises(FileNotFoundError):
        solve(tmp_path, "scipy.eigsh", problem, external.FAILED, {"ncv": 2})
    assert "ValueError: ncv" in capsys.readouterr().err.splitlines()[-1]
    monkeypatch.setitem(external.ADAPTERS, "slepc", ("no_such_module", "solve"))
    with pytest.raises(FileNotFoundError):
        solve(tmp_path, "slepc", problem, external.UNAVAILABLE)
    assert "slepc is not installed" in capsys.readouterr().err
    assert programs.external_version("slepc", "/no/such/python") == ""


def test_another_python_needs_no_heddle(tmp_path):
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    bare.chmod(0o755)
    config = {
        "external": "scipy.eigsh",
        "problem": {"matrix": stored(tmp_path, "A", path_matrix())},
    }
    (tmp_path / "runs" / "k").mkdir(parents=True)
    config |= {"solver": {"nev": 3}, "output": {"directory": "runs/k"}}
    (tmp_path / "runs" / "k" / "config.yaml").write_text(json.dumps(config))
    question = {"matrix": "A", "nev": 3, "which": "smallest"}
    run = Run(
        "k", "A", "c", "c", "g", question, 0, "external", "scipy.eigsh", {"python": str(bare)}
    )
    command = runner.command_of(run, programs.Solver("heddle", "v", "host"))
    assert command[0] == str(bare)
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    result = json.loads((tmp_path / "runs" / "k" / "result.json").read_text())
    assert np.allclose(result["eigenvalues"], np.linalg.eigvalsh(path_matrix().toarray())[:3])
    assert programs.external_version("scipy.eigsh", str(bare)).startswith("scipy ")


def test_bounds_hold_for_vectors_that_are_not_exact(tmp_path):
    rng = np.random.default_rng(2)
    A = path_matrix() + sp.diags(rng.uniform(0, 1, N))
    values, vectors = np.linalg.eigh(A.toarray())
    for noise in (1e-3, 1e-6):
        X, _ = np.linalg.qr(vectors[:, :6] + noise * rng.standard_normal((N, 6)) / np.sqrt(N))
        small, S = np.linalg.eigh(X.T @ (A @ X))
        request = external.Request(
            external.Operands(sp.csr_matrix(A)), 6, "smallest", 1e-9, 10, 1, None, {}
        )
        bounds = external.verified(request, small, X @ S)["bounds"]
        assert (abs(small - values[:6]) <= bounds).all()
        assert bounds.max() < 10 * noise
