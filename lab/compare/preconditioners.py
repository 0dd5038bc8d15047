#!/usr/bin/env python3
"""Iterations and times of LOBPCG and block CG with each preconditioner, as a Markdown table.

usage: lab/compare/preconditioners.py BUILD [MATRICES...]

BUILD: a build folder with heddle's executables. Problems: Laplacians on 40^3 points with
coefficients that jump by 10^4, with a weak direction (1:100), with a random numbering; a pencil of
hexahedra and their mass; and the given files, which must be symmetric positive definite. Six
smallest pairs (criterion norm, 1e-8), eight random right-hand sides to 1e-8, two threads. Seconds
are CPU seconds of the process by two, which other processes disturb least. Needs SciPy.
"""

import json
import pathlib
import resource
import subprocess
import sys
import tempfile

import numpy as np
import scipy.io
import scipy.sparse as sp

KINDS = ("chebyshev", "incomplete_cholesky", "multigrid", "auto")
LIMIT_S = 120
N = 40


def laplacian(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> sp.csr_matrix:
    """-div(c grad) on N^3 points with zero around; x, y, z: the coefficients of the edges to the
    next point in each direction, N^3 each."""
    n = N**3
    index = np.arange(n).reshape(N, N, N)
    A = sp.diags(np.zeros(n)).tocoo()
    parts, diagonal = [], np.zeros((N, N, N))
    for axis, c in enumerate((x, y, z)):
        inner = [slice(None)] * 3
        outer = [slice(None)] * 3
        inner[axis], outer[axis] = slice(0, N - 1), slice(1, N)
        i, j, w = index[tuple(inner)], index[tuple(outer)], c[tuple(inner)]
        parts += [(i, j, -w), (j, i, -w)]
        diagonal += c
        diagonal[tuple(outer)] += w
        first = [slice(None)] * 3
        first[axis] = slice(0, 1)
        diagonal[tuple(first)] += c[tuple(first)]
    parts.append((index, index, diagonal))
    rows, cols, values = (np.concatenate([p[k].ravel() for p in parts]) for k in range(3))
    A = sp.coo_matrix((values, (rows, cols)), shape=(n, n)).tocsr()
    return (A + A.T) / 2


def problems(folder: pathlib.Path, files: list[str]) -> dict[str, str]:
    one = np.ones((N, N, N))
    random = np.random.default_rng(1)
    blocks = 10.0 ** (4 * random.integers(0, 2, (N // 8, N // 8, N // 8)))
    jumps = np.kron(blocks, np.ones((8, 8, 8)))
    plain = laplacian(one, one, one)
    p = random.permutation(N**3)
    made = {
        "jumps 10^4": laplacian(jumps, jumps, jumps),
        "anisotropy 1:100": laplacian(one, one, 0.01 * one),
        "random numbering": plain[p][:, p],
    }
    named = {}
    for name, A in made.items():
        path = folder / (name.replace(" ", "_").replace(":", "_") + ".mtx")
        scipy.io.mmwrite(path, sp.tril(A), symmetry="symmetric")
        named[name] = f"matrix: {path}"
    body = "generate: {}, size: [16, 16, 16]"
    named["hexahedra 16^3, mass"] = (
        f"matrix: {{{body.format('elasticity3d')}}}, mass: {{{body.format('elasticity3d_mass')}}}"
    )
    for file in files:
        named[pathlib.Path(file).name.split(".")[0]] = f"matrix: {pathlib.Path(file).resolve()}"
    return named


def measure(program: pathlib.Path, yaml: str, folder: pathlib.Path) -> str:
    (folder / "case.yaml").write_text(yaml)
    out = folder / "out"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        subprocess.run(
            [program, folder / "case.yaml", "--quiet", "-o", out],
            capture_output=True,
            timeout=LIMIT_S,
        )
    except subprocess.TimeoutExpired:
        return f"> {LIMIT_S} s"
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = json.loads((out / "result.json").read_text())
    if result["status"] == "error":
        return "refused"
    seconds = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / 2
    text = f"{result['iterations']}, {seconds:.2f}"
    if result["status"] != "converged":
        text += f" ({result['status']})"
    elif "type: auto" in yaml:
        text += f" ({result['preconditioner'].split()[0]})"
    return text


def main() -> None:
    build = pathlib.Path(sys.argv[1]) / "apps"
    print("| problem | method |", " | ".join(KINDS), "|")
    print("|---|---|" + "---|" * len(KINDS))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for title, problem in problems(folder, sys.argv[2:]).items():
            for program, more, solver in (
                ("heddle-lobpcg", "", "type: lobpcg, nev: 6, criterion: norm"),
                ("heddle-cg", ", rhs: {random: 8}", "type: block_cg"),
            ):
                if program == "heddle-cg" and "mass" in problem:
                    continue
                cells = [
                    measure(
                        build / program,
                        f"problem: {{{problem}{more}}}\n"
                        f"solver: {{{solver}, tolerance: 1.0e-8, preconditioner: {{type: {kind}}}}}\n"
                        "device: host\nthreads: 2\noutput: {history: false}\n",
                        folder,
                    )
                    for kind in KINDS
                ]
                print(f"| {title} | {program[7:]} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
