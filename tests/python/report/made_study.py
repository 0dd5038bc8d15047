"""A study's folder as `heddle study` writes it, with results that are made up."""

import json
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse as sp

HOSTILE = "<script>alert('&\"1\"')</script>$x_1$"


def path_laplacian(n):
    return sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n), format="csr")


def eigenvalues(n, count):
    return 4 * np.sin(np.pi * np.arange(1, count + 1) / (2 * (n + 1))) ** 2


def result(n, count, seconds, products, shift=0.0, status="converged"):
    """What a solve tells: values of tridiag(-1, 2, -1), moved by `shift`."""
    return {
        "status": status,
        "eigenvalues": (eigenvalues(n, count) + shift).tolist(),
        "residuals": [1e-9] * count,
        "error_bounds": [1e-12] * count,
        "limited_by_rounding": [False] * count,
        "orthogonality": 1e-15,
        "iterations": 3,
        "operator_applications": products,
        "seconds": {"total": seconds + 0.5, "load": 0.5, "setup": seconds / 4,
                    "solve": 0.75 * seconds},
        "n": n,
        "nnz": 3 * n - 2,
        "solver": "lobpcg",
        "phases": {
            "spmm": {"seconds": seconds / 2, "bytes": 10**6, "flops": 2.0 * 10**5},
            "update": {"seconds": seconds / 2, "bytes": 10**6, "flops": 10**5},
        },
        "configuration": {"solver": {"tolerance": 1e-8}},
    }  # fmt: skip


class MadeStudy:
    """Writes runs one by one; `write` ends the study."""

    def __init__(self, folder: Path, name: str = "made"):
        self.folder, self.name = folder, name
        self.plan, self.records, self.matrices, self.verdicts = [], [], {}, []
        for part in ("runs", "truth", "inputs"):
            (folder / part).mkdir(parents=True, exist_ok=True)

    def matrix(self, name, n):
        path = self.folder / "inputs" / f"m{len(self.matrices)}.mtx"
        scipy.io.mmwrite(path, path_laplacian(n))
        self.matrices[name] = {"file": str(path), "n": n, "symmetry": "symmetric", "kind": "path"}
        return path

    def run(self, matrix, case, found=None, status="converged", reason="", repeat=0, ended=True,
            verdict=None, history=True, count=3, kind="heddle"):  # fmt: skip
        """`found`: what `result` makes. `ended` False: a run that has not been started."""
        key = f"{len(self.plan):016x}"
        config = {
            "problem": {"matrix": self.matrices[matrix]["file"]},
            "solver": {"nev": count, "which": "smallest", "tolerance": 1e-8},
        }
        group = f"group{list(self.matrices).index(matrix)}-{count}"
        run = {"key": key, "matrix": matrix, "case": case, "setting": case, "repeat": repeat,
               "question": {"matrix": matrix, "nev": count, "which": "smallest"},
               "problem_group": group, "kind": kind, "program": "heddle solve",
               "config": config}  # fmt: skip
        self.plan.append(run)
        if not ended:
            return key
        folder = self.folder / "runs" / key
        folder.mkdir()
        if found is not None:
            (folder / "result.json").write_text(json.dumps(found))
            if history:
                write_history(folder, count)
        record = {name: run[name] for name in run if name != "config"}
        record |= {"status": status, "reason": reason, "exit_code": 0, "signal": None,
                   "wall_seconds": 2.0, "peak_rss_bytes": 10**7, "started": "2030-01-02T03:04:05Z",
                   "host": "here", "cpu": "a processor", "device": "host", "version": "abc",
                   "folder": f"runs/{key}", "result": found}  # fmt: skip
        self.records.append(record)
        if verdict:
            self.verdicts.append({"run": key, "verdict": verdict, "against": "dense LAPACK",
                                  "detail": f"it is {verdict}"})  # fmt: skip
        return key

    def truth(self, matrix, n, count, method="dense LAPACK"):
        group = f"group{list(self.matrices).index(matrix)}-{count}"
        content = {"method": method, "which": "smallest", "values": eigenvalues(n, count).tolist(),
                   "uncertainty": [1e-15] * count}  # fmt: skip
        (self.folder / "truth" / f"{group}.json").write_text(json.dumps(content))

    def write(self):
        def store(name, content):
            (self.folder / name).write_text(json.dumps(content))

        store("plan.json", self.plan)
        store("matrices.json", self.matrices)
        store("comparison.json", [{"runs": self.verdicts}])
        lines = "".join(json.dumps(record) + "\n" for record in self.records)
        (self.folder / "journal.jsonl").write_text(lines + '{"key": "torn')
        (self.folder / "study.yaml").write_text(f"name: {self.name}\n")
        return self.folder


def write_history(folder, count):
    """Three iterations, in which pair p has the residual 10^-(3 i + p)."""
    rows = [f"{i},0,{10.0 ** (-3 * i - 1)!r},{0.1 * i!r},4,{8 * (i + 1)}" for i in range(3)]
    header = "iteration,converged,worst_residual,seconds,active_columns,operator_applications"
    (folder / "history.csv").write_text("\n".join([header, *rows, "3,0"]))
    pairs = [f"{i},{p},1.0,{10.0 ** (-3 * i - p)!r}" for i in range(3) for p in range(1, count + 1)]
    (folder / "pairs.csv").write_text("\n".join(["iteration,pair,value,residual", *pairs]) + "\n")


def ordinary_study(folder):
    """Three matrices, one with a hostile name, and three methods: one solves all, one is slower and
    fails once, one is proven wrong once."""
    study = MadeStudy(folder, "an <em>ordinary</em> study")
    for number, name in enumerate(["plain", HOSTILE, "third"]):
        n = 40 + number
        study.matrix(name, n)
        study.truth(name, n, 3)
        study.run(name, "quick", result(n, 3, 1.0, 100), verdict="confirmed")
        if number == 1:
            study.run(name, "slow", None, "crashed", reason=f"{HOSTILE} was killed by signal 11")
        else:
            study.run(name, "slow", result(n, 3, 4.0, 50, 1e-13), verdict="confirmed")
        wrong = number == 2
        study.run(name, "sloppy", result(n, 3, 0.5, 200, 0.25 if wrong else 1e-10),
                  verdict="proven wrong" if wrong else "confirmed")  # fmt: skip
    return study.write()
