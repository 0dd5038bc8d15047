"""Results are those of the executables, to the bit. HEDDLE_PROGRAMS names their folder."""

import json
import os
import shutil
import subprocess

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import heddle


@pytest.fixture
def run(tmp_path):
    folder = os.environ.get("HEDDLE_PROGRAMS")
    program = os.path.join(folder, "heddle") if folder else shutil.which("heddle")
    if program is None or not os.path.exists(program):
        pytest.skip("no executables: set HEDDLE_PROGRAMS to their folder")

    def solve(*arguments):
        command = [program, "solve", *map(str, arguments), "-q", "-o", str(tmp_path / "out")]
        subprocess.run([*command, "--set", "output.eigenvectors=npy"], check=True, cwd=tmp_path)
        report = json.loads((tmp_path / "out" / "result.json").read_text())
        return report, tmp_path / "out"

    return solve


def write(path, A):
    scipy.io.mmwrite(path, sp.coo_array(A), precision=17)
    return path


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (["-n", "5"], {"nev": 5}),
        (["-n", "4", "--which", "largest"], {"nev": 4, "which": "largest"}),
        (["-n", "4", "--solver", "lobpcg"], {"nev": 4, "method": "lobpcg"}),
        (["--interval", "1.0", "1.2", "-n", "50"], {"nev": 50, "interval": (1.0, 1.2)}),
    ],
)
def test_eigenpairs(run, tmp_path, arguments, options):
    A = heddle.generate("laplace3d", 9, 8, 7)
    report, folder = run(write(tmp_path / "A.mtx", A), *arguments)
    result = heddle.solve(A, **options)
    assert report["eigenvalues"] == result.eigenvalues.tolist()
    assert np.array_equal(np.load(folder / "eigenvectors.npy"), result.vectors)


def test_pencil(run, tmp_path):
    K = heddle.generate("elasticity3d", 5, 5, 5)
    M = heddle.generate("elasticity3d_mass", 5, 5, 5)
    files = [write(tmp_path / "K.mtx", K), "--mass", write(tmp_path / "M.mtx", M)]
    report, folder = run(*files, "-n", "6")
    result = heddle.solve(heddle.Problem(K, B=M), nev=6)
    assert report["eigenvalues"] == result.eigenvalues.tolist()
    assert np.array_equal(np.load(folder / "eigenvectors.npy"), result.vectors)


@pytest.mark.parametrize("kind", ["laplacian", "normalized_laplacian"])
def test_graph(run, tmp_path, kind):
    rng = np.random.default_rng(0)
    weights = sp.random_array((60, 60), density=0.1, rng=rng, format="csr")
    path = sp.diags_array([1.0, 1.0], offsets=[-1, 1], shape=(60, 60))
    graph = sp.csr_array(weights + weights.T + path)
    report, folder = run(write(tmp_path / "G.mtx", graph), "--transform", kind, "-n", "4")
    w, v = heddle.fiedler(graph, 3, normalized=kind == "normalized_laplacian")
    np.testing.assert_allclose(report["eigenvalues"][1:], w, rtol=1e-12)
    assert np.array_equal(np.load(folder / "eigenvectors.npy")[:, 1:], v)
