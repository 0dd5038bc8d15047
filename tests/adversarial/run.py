#!/usr/bin/env python3
"""Solves random adversarial problems with heddle's executables and compares with dense LAPACK.

Every finding is one line of JSON on stdout with the case that replays it. A table by family and
program follows on stderr. Exit code 1 if an answer that was called converged is wrong, or a run
ended in a way that misleads; 77 if SciPy is missing.

  run.py --binaries build/release/apps --count 1000 --seed 7 --jobs 2
  run.py --binaries build/release/apps --replay case.json --keep /tmp/case
"""

import argparse
import json
import multiprocessing
import os
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
try:
    import numpy as np
    import scipy.linalg  # noqa: F401
except ImportError as missing:
    print(f"skipped: {missing} (Debian: python3-scipy)", file=sys.stderr)
    sys.exit(77)

sys.path.insert(0, str(Path(__file__).resolve().parent))
import check  # noqa: E402
import process  # noqa: E402
from cases import Case, Chooser  # noqa: E402
from finding import Finding  # noqa: E402
from minimise import minimised  # noqa: E402

SEEDS = Path(__file__).resolve().parent / "seeds"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binaries", required=True, help="folder of heddle-lobpcg and the others")
    parser.add_argument("--count", type=int, default=100, help="problems to draw (100)")
    parser.add_argument("--seed", type=int, default=1, help="the same seed draws the same problems")
    parser.add_argument("--family", help="only families with this in their name")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time (1)")
    parser.add_argument("--device", default="host", help="host (default) or cuda")
    parser.add_argument("--time-limit", type=float, default=10, help="seconds of a solve (10)")
    parser.add_argument("--keep", type=Path, help="folder for the files of every finding")
    parser.add_argument("--seeds", action="store_true", help="first run the cases of seeds/")
    parser.add_argument("--replay", type=Path, help="run the cases of this file of JSON lines only")
    parser.add_argument("--minimise", action="store_true",
                        help="with --replay: print the simplest case with the same finding")
    parser.add_argument("--notes", action="store_true", help="print runs without an answer, too")
    return parser.parse_args()


def tried(case, options):
    """(findings, seconds) of one case."""
    folder = Path(tempfile.mkdtemp(prefix="heddle-adversarial-"))
    try:
        problem = case.problem()
        outcome = process.run(case, problem, folder, options)
        findings = check.check(case, problem, outcome)
        if options.keep and any(finding.severity != "note" for finding in findings):
            name = f"{case.family}-{case.n}-{case.seed}-{case.program}"
            (folder / "case.json").write_text(case.json() + "\n")
            shutil.copytree(folder, options.keep / name, dirs_exist_ok=True)
        return findings, problem.about
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def one(job):
    """Draws or takes one case and tries it. A failure of this program is a finding, too."""
    options, index, case = job
    try:
        if case is None:
            case = Chooser(np.random.default_rng([options.seed, index]), options.family).draw()
        with np.errstate(all="ignore"):
            findings, about = tried(case, options)
    except Exception as error:  # noqa: BLE001
        findings, about = [Finding("driver", "wrong", repr(error))], ""
        case = case or Case("?", 0, index, "?")
    return case, findings, about


def recorded(path):
    """The cases of a file: one case or finding of this program per line."""
    for line in path.read_text().splitlines():
        if line.strip():
            entry = json.loads(line)
            yield Case(**entry.get("case", entry))


def jobs(options):
    if options.replay:
        return [(options, 0, case) for case in recorded(options.replay)]
    seeds = [(options, 0, case) for path in sorted(SEEDS.glob("*.jsonl") if options.seeds else [])
             for case in recorded(path)]
    return seeds + [(options, index, None) for index in range(options.count)]


class Tally:
    def __init__(self):
        self.runs, self.counts, self.kinds = Counter(), Counter(), Counter()

    def add(self, case, findings):
        row = (case.family, case.program)
        self.runs[row] += 1
        severities = {finding.severity for finding in findings} or {"right"}
        if severities == {"doubtful"}:
            severities.add("right")
        for severity in severities:
            self.counts[row, severity] += 1
        for finding in findings:
            self.kinds[finding.severity, finding.kind] += 1

    def wrong(self):
        return sum(count for (_, severity), count in self.counts.items() if severity == "wrong")

    def progress(self, number):
        done = sum(self.runs.values())
        if done % 200 == 0:
            print(f"{done} of {number}: {self.wrong()} wrong", file=sys.stderr, flush=True)

    def print(self):
        columns = ("right", "wrong", "doubtful", "note")
        print(f"{'family':26} {'program':14} {'runs':>6} " + " ".join(f"{c:>8}" for c in columns),
              file=sys.stderr)
        for row in sorted(self.runs):
            numbers = " ".join(f"{self.counts[row, c] or '':>8}" for c in columns)
            print(f"{row[0]:26} {row[1]:14} {self.runs[row]:6} {numbers}", file=sys.stderr)
        kinds = ", ".join(f"{kind} {count}" for (_, kind), count in self.kinds.most_common())
        print(f"{sum(self.runs.values())} runs, {self.wrong()} wrong. {kinds}", file=sys.stderr)


def main():
    options = arguments()
    options.binaries = Path(options.binaries).resolve()
    if options.minimise:
        for case in recorded(options.replay):
            print(minimised(case, lambda changed: one((options, 0, changed))[1]).json(), flush=True)
        return 0
    tally = Tally()
    work = jobs(options)
    with multiprocessing.Pool(options.jobs) as pool:
        for case, findings, about in pool.imap_unordered(one, work):
            tally.add(case, findings)
            tally.progress(len(work))
            for finding in findings:
                if finding.severity != "note" or options.notes:
                    print(json.dumps({"kind": finding.kind, "severity": finding.severity,
                                      "text": finding.text, "about": about,
                                      "case": json.loads(case.json())}), flush=True)
    tally.print()
    return 1 if tally.wrong() else 0


if __name__ == "__main__":
    sys.exit(main())
