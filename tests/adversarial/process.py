"""Runs one case: writes its files, starts the program, reads what it wrote."""

import json
import os
import resource
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from cases import PROGRAMS, vectors

ENVIRONMENT = {"OMP_WAIT_POLICY": "passive", "ASAN_OPTIONS": "exitcode=99",
               "UBSAN_OPTIONS": "halt_on_error=1:exitcode=99"}


@dataclass
class Outcome:
    """What a run left. `exit_code` is negative for a signal and None where it was killed for time."""

    exit_code: int | None
    seconds: float
    processor_seconds: float
    stderr: str
    result: dict | None = None
    unreadable: str = ""
    arrays: dict = field(default_factory=dict)

    @property
    def status(self):
        return None if self.result is None else self.result.get("status")

    @property
    def converged(self):
        return self.exit_code == 0 or self.status == "converged"


def numbers(X):
    """The word of a file's first line for the numbers of X."""
    return "complex" if np.iscomplexobj(X) else "real"


def words(values):
    """The text of each number: of a complex one its real and its imaginary part."""
    if np.iscomplexobj(values):
        return [f"{value.real!r} {value.imag!r}" for value in values.tolist()]
    return [repr(value) for value in values.tolist()]


def write_coordinate(path, A, symmetric):
    rows, columns = np.nonzero(np.tril(A) if symmetric else A)
    kind = ("hermitian" if np.iscomplexobj(A) else "symmetric") if symmetric else "general"
    lines = [f"%%MatrixMarket matrix coordinate {numbers(A)} {kind}",
             f"{A.shape[0]} {A.shape[1]} {len(rows)}"]
    lines += [f"{i + 1} {j + 1} {value}" for i, j, value in
              zip(rows.tolist(), columns.tolist(), words(A[rows, columns]))]
    path.write_text("\n".join(lines) + "\n")


def write_block(path, X):
    lines = [f"%%MatrixMarket matrix array {numbers(X)} general", f"{X.shape[0]} {X.shape[1]}"]
    path.write_text("\n".join(lines + words(X.T.ravel())) + "\n")


def write(case, problem, folder, options):
    """The configuration case.yaml (JSON is YAML) and the files that it names."""
    given = {"matrix": "a.mtx"}
    write_coordinate(folder / "a.mtx", problem.A, problem.kind in ("eigen", "linear"))
    if problem.B is not None:
        given["mass"] = "b.mtx"
        write_coordinate(folder / "b.mtx", problem.B, True)
    if problem.kind in ("triplets", "least_squares"):
        given["transform"] = "normal_equations"
    if problem.rhs is not None:
        given["rhs"] = "rhs.mtx"
        write_block(folder / "rhs.mtx", problem.rhs)
    if case.guess is not None:
        how = dict(case.guess)
        if problem.rhs is not None:
            how["columns"] = problem.rhs.shape[1]
        given["initial_guess"] = "guess.mtx"
        write_block(folder / "guess.mtx", vectors(how, problem, case.seed))
    if case.constraints is not None:
        given["constraints"] = "constraints.mtx"
        write_block(folder / "constraints.mtx", vectors(case.constraints, problem, case.seed))
    written = "solution" if problem.rhs is not None else "eigenvectors"
    solver = {"type": case.program, "time_limit_s": options.time_limit, **case.solver}
    configuration = {"problem": given, "solver": solver, "device": options.device, "threads": 1,
                     "precision": case.precision, "seed": case.random_seed,
                     "output": {"directory": "out", written: "npy", "history": False}}
    (folder / "case.yaml").write_text(json.dumps(configuration, indent=1) + "\n")


def processor_seconds():
    """Of the programs that have ended, which run one after another."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(case, problem, folder, options):
    """`options`: binaries, device and time_limit of the command line."""
    folder = Path(folder)
    write(case, problem, folder, options)
    name, *words = PROGRAMS[case.program]
    command = [Path(options.binaries) / name, *words, "case.yaml"]
    started, used = time.monotonic(), processor_seconds()
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True,
                              errors="replace", timeout=3 * options.time_limit + 20,
                              env={**os.environ, **ENVIRONMENT})
    except subprocess.TimeoutExpired:
        return Outcome(None, time.monotonic() - started, processor_seconds() - used, "")
    outcome = Outcome(done.returncode, time.monotonic() - started, processor_seconds() - used,
                      done.stderr[-4000:])
    try:
        if (folder / "out/result.json").exists():
            outcome.result = json.loads((folder / "out/result.json").read_text(),
                                        parse_constant=float)
        for path in (folder / "out").glob("*.npy"):
            outcome.arrays[path.stem] = np.load(path)
    except ValueError as error:
        outcome.unreadable = str(error)
    return outcome
