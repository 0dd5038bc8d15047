"""heddle study: the command line."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from . import matrices, programs
from .compare import write_comparison
from .definition import Study, read_study
from .generated import write_generated
from .journal import Journal, disk_errors
from .live import Table
from .plan import Sums, chosen, plan
from .process import Signals
from .records import INTERRUPTED, Run, StudyError, as_dict, read_json, write_json, write_text
from .runner import Runner
from .truths import Truths, open_questions

EXAMPLES = """examples:
  heddle study configs/study_small.yaml                  runs it, or goes on with it
  heddle study study.yaml --dry-run                      lists the runs, starts none
  heddle study study.yaml --jobs 4 --only 'bcsstk*'      four at once, some matrices
  heddle study study.yaml --retry                        also the runs that failed before
  heddle study study.yaml --shard 3/8                    the third eighth, beside other shards
  heddle study study.yaml --report-only                  compares and reports what is there

exit codes: 0 all runs have ended, 1 usage or study.yaml, 2 a file or folder, 5 a device, 130 Ctrl-C
"""


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="heddle study",
        description="Runs eigensolvers over many matrices, compares and reports. Started again, it "
        "goes on where it stopped.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("study", type=Path, metavar="STUDY.yaml")
    made.add_argument("-o", "--output", type=Path, metavar="FOLDER", help="instead of the study's")
    made.add_argument("--dry-run", action="store_true", help="list the runs and start none")
    made.add_argument("--jobs", type=int, default=1, metavar="N", help="runs at the same time")
    made.add_argument(
        "--only", action="append", default=[], metavar="PATTERN",
        help="runs whose matrix, case, MATRIX/CASE or key matches; may be repeated",
    )  # fmt: skip
    made.add_argument("--retry", action="store_true", help="start failed runs again")
    made.add_argument("--shard", type=_shard, metavar="I/N", help="the I-th of N parts")
    made.add_argument("--report-only", action="store_true", help="start no runs")
    made.add_argument("-q", "--quiet", action="store_true", help="print errors and the end only")
    return made


def _shard(word: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d+)/(\d+)", word)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise argparse.ArgumentTypeError(f"expected I/N with 1 <= I <= N, such as 3/8, got {word!r}")
    return int(found[1]), int(found[2])


def main(arguments: list[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    try:
        return _main(options)
    except StudyError as error:
        print(f"heddle study: error: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("heddle study: stopped; the same command goes on", file=sys.stderr)
        return INTERRUPTED


def _main(options: argparse.Namespace) -> int:
    study = read_study(options.study, options.output)
    solver = programs.probe(programs.find_program("heddle"))
    sums = Sums(read_json(study.output / "checksums.json") or {})
    sources = matrices.expand(study, fetch=not options.dry_run)
    runs = plan(study, sources, solver, sums)
    mine = chosen(runs, options.only, options.shard)
    with Journal(study.output, options.shard) as journal, Signals().installed() as signals:
        _write_plan(study, runs, sources, sums)
        write_generated((run.config["problem"] for run in mine), study.output)
        table = Table(sys.stderr, options.quiet)
        runner = Runner(study, journal, solver, options.jobs, signals, table)
        due = runner.due(mine, options.retry)
        table.begin(mine, due)
        runner.run(due)
        table.close()
        if not runner.stopped:
            truths = Truths(study, options.jobs, signals)
            truths.compute(open_questions(study, mine, runner.records))
            write_comparison(study, runs, runner.records)
    return INTERRUPTED if runner.stopped else 0


def _write_plan(
    study: Study, runs: list[Run], sources: list[matrices.Source], sums: Sums
) -> None:
    with disk_errors(study.output):
        text = study.document.path.read_text(encoding="utf-8")
        write_text(study.output / "study.yaml", text)
        write_json(study.output / "plan.json", [as_dict(run) for run in runs])
        write_json(study.output / "checksums.json", sums.known)
        write_json(study.output / "matrices.json", matrices.table(sources, sums.known))


if __name__ == "__main__":
    sys.exit(main())
