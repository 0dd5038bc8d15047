"""A program that stands for heddle's: it does what the name of the matrix says, at once."""

import json
import os
import stat
from pathlib import Path

import pytest

from heddle.commands import study
from heddle.study import programs
from heddle.study.journal import read_records

FAKE = r"""#!/bin/sh
case "$*" in
  *--print-config*) exit 0;;
  *laplace1d:20*)
    echo '{"device": "host", "versions": {"heddle": "0", "commit": "COMMIT"}}'; exit 0;;
esac
folder=$(dirname "$2")
matrix=$(sed -n 's/.*matrix: .*[/]\([a-z0-9_]*\)[.]mtx.*/\1/p' "$2")
echo "$matrix" >> "STARTS"
result() { cat > "$folder/result.json"; }
case $matrix in
  crash*) kill -SEGV $$;;
  hang*) trap '' TERM; while :; do sleep 0.05; done;;
  slow*) sleep 0.3;;
  memory*) exec python3 -S -E -c "x = bytearray(b'1' * 400000000); import time; time.sleep(20)";;
  nothing*) exit 0;;
  words*) echo "no such luck" >&2; exit 7;;
  nonsense*) echo '{"status": "converged", "eigenvalues": [1, "two"' | result; exit 0;;
  odd*) echo '{"status": "converged", "residuals": [0.1], "memory": 3}' | result; exit 0;;
  lengths*) echo '{"status": "converged", "eigenvalues": [1, 2], "residuals": [0.1]}' | result
    exit 0;;
  refused*) echo "heddle solve: error: $2:3:4: solver.nev: is 9, but the matrix has 3 rows" >&2
    exit 1;;
  device*) echo '{"status": "error", "reason": "CUDA: out of memory", "exit_code": 5}' | result
    exit 5;;
  full*) echo "heddle solve: error: result.json: No space left on device" >&2; exit 2;;
esac
echo '{"status": "converged", "reason": "it did", "exit_code": 0, "eigenvalues": [1.0, 2.0],
 "residuals": [1e-9, 2e-9], "error_bounds": [1e-12, 1e-12], "converged": [true, true],
 "n": 3, "nnz": 3, "seconds": {"total": 0.5}}' | result
"""


class Workplace:
    """A folder with the fake program, files of matrices and a study."""

    def __init__(self, folder):
        self.folder = folder
        self.starts_file = folder / "starts.txt"
        self.output = folder / "out"
        self.set_program("abc123")

    def set_program(self, commit):
        path = self.folder / "programs" / "heddle"
        path.parent.mkdir(exist_ok=True)
        path.write_text(FAKE.replace("STARTS", str(self.starts_file)).replace("COMMIT", commit))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def matrix(self, name):
        """A file of a matrix with contents of its own."""
        path = self.folder / f"{name}.mtx"
        value = sum(ord(letter) * 7**i for i, letter in enumerate(name))
        path.write_text(
            f"%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 {value}\n2 2 2\n3 3 3\n"
        )
        return path

    def study(self, matrices, extra="", cases="[{name: a, solver: {nev: 2}}]"):
        for name in matrices:
            self.matrix(name)
        path = self.folder / "study.yaml"
        names = "".join(f"  - {name}.mtx\n" for name in matrices)
        path.write_text(
            f"output: {self.output}\nreport: false\nreference: none\nmatrices:\n{names}"
            f"cases: {cases}\n{extra}\n"
        )
        return path

    def run(self, path, *options):
        return study.main([str(path), "-q", *options])

    def starts(self):
        """The matrices of the runs that were started, in order."""
        return self.starts_file.read_text().split() if self.starts_file.exists() else []

    def records(self):
        return {record.matrix: record for record in read_records(self.output).values()}

    def journal_lines(self):
        return [
            json.loads(line) for line in (self.output / "journal.jsonl").read_text().splitlines()
        ]


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("HEDDLE_PROGRAMS", str(tmp_path / "programs"))
    return Workplace(tmp_path)


@pytest.fixture
def heddle_program(monkeypatch):
    """The path of the true program, where the tests know one."""
    if not os.environ.get("HEDDLE_PROGRAMS"):
        pytest.skip("HEDDLE_PROGRAMS names no folder of heddle's executables")
    return Path(programs.find_program("heddle"))
