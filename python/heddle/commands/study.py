"""heddle study: the command line."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections import Counter
from pathlib import Path

from ..report import write_report
from ..study import matrices, programs
from ..study.compare import write_comparison
from ..study.definition import Study, read_study
from ..study.generated import write_generated
from ..study.journal import Journal, disk_errors, read_records
from ..study.live import Table, duration, summary
from ..study.plan import Sums, check_points, chosen, plan
from ..study.process import Signals
from ..study.records import (
    INPUT,
    INTERRUPTED,
    Run,
    StudyError,
    as_dict,
    read_json,
    write_json,
    write_text,
)
from ..study.runner import Runner
from ..study.truths import Truths, open_questions

EXAMPLES = """examples:
  heddle study configs/study_small.yaml                  runs it, or goes on with it
  heddle study study.yaml --dry-run                      lists the runs, starts none
  heddle study study.yaml --jobs 4 --only 'bcsstk*'      four at once, some matrices
  heddle study study.yaml --retry                        also the runs that failed before
  heddle study study.yaml --shard 3/8                    the third eighth, beside other shards
  heddle study study.yaml --report-only                  compares and reports what is there

exit codes: 0 all runs have ended, 1 usage or study.yaml, 2 a file or folder, 5 a program that does
not work, 130 stopped by the user
"""


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="heddle study",
        description="Runs eigensolvers over many matrices, checks their values and writes a "
        "report. Started again, it goes on where it stopped.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("study", type=Path, metavar="STUDY.yaml")
    made.add_argument("-o", "--output", type=Path, metavar="FOLDER", help="instead of the study's")
    made.add_argument("--dry-run", action="store_true", help="list the runs and start none")
    made.add_argument("--jobs", type=_count, default=1, metavar="N", help="runs at the same time")
    made.add_argument(
        "--only", action="append", default=[], metavar="PATTERN",
        help="runs whose matrix, case, MATRIX/CASE or key matches; may be repeated",
    )  # fmt: skip
    made.add_argument("--retry", action="store_true", help="start failed runs again")
    made.add_argument("--shard", type=_shard, metavar="I/N", help="the I-th of N parts")
    made.add_argument("--report-only", action="store_true", help="start no runs")
    made.add_argument("-q", "--quiet", action="store_true", help="print errors and the end only")
    return made


def _count(word: str) -> int:
    if not word.isdigit() or int(word) < 1:
        raise argparse.ArgumentTypeError(f"expected an integer of at least 1, got {word!r}")
    return int(word)


def _shard(word: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d+)/(\d+)", word)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise argparse.ArgumentTypeError(
            f"expected I/N with 1 <= I <= N, such as 3/8, got {word!r}"
        )
    return int(found[1]), int(found[2])


def main(arguments: list[str] | None = None) -> int:
    """Returns the exit code."""
    try:
        options = parser().parse_args(arguments)
    except SystemExit as ended:  # argparse ends with 2 where heddle's executables end with 1
        return 1 if ended.code else 0
    try:
        return _main(options)
    except StudyError as error:
        print(f"heddle study: error: {error}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:  # `| head` has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return INPUT
    except KeyboardInterrupt:
        print("heddle study: stopped; the same command goes on", file=sys.stderr)
        return INTERRUPTED


def _main(options: argparse.Namespace) -> int:
    study = read_study(options.study, options.output)
    if options.report_only:
        return _report_only(study, options)
    solver = programs.probe(programs.find_program("heddle"))
    sums = Sums(read_json(study.output / "checksums.json") or {})
    sources = matrices.expand(study, fetch=not options.dry_run)
    runs, twins = plan(study, sources, solver, sums)
    for twin in twins if not options.quiet else []:
        print(f"heddle study: {twin}", file=sys.stderr)
    mine = _chosen(runs, options)
    check_points(study, sources, solver)
    if options.dry_run:
        return _list(study, runs, mine, [source.missing for source in sources if source.missing])
    with Journal(study.output, options.shard) as journal:
        _write_plan(study, runs, sources, sums)
        write_generated((run.config["problem"] for run in mine), study.output)
        with Signals().installed() as signals:
            stopped = _run(study, journal, solver, mine, options, signals)
            stopped = stopped or _check(study, mine, options, signals)
        return _stopped(study, mine) if stopped else _finish(study, runs, mine, options)


def _chosen(runs: list[Run], options: argparse.Namespace) -> list[Run]:
    mine = chosen(runs, options.only, options.shard)
    if not mine:
        named = " or ".join(map(repr, options.only)) or "this shard"
        raise StudyError(f"none of the {len(runs)} runs is chosen by {named}; --dry-run lists them")
    return mine


def _report_only(study: Study, options: argparse.Namespace) -> int:
    """Takes the runs from the plan of the last start, so that no executable and no input is needed
    but those of missing references."""
    plans = read_json(study.output / "plan.json")
    if not isinstance(plans, list):
        raise StudyError(f"{study.output} holds no study: there is nothing to report", INPUT)
    runs = [Run(**each) for each in plans]
    mine = _chosen(runs, options)
    with Journal(study.output, options.shard):
        with Signals().installed() as signals:
            stopped = _check(study, mine, options, signals)
        return _stopped(study, mine) if stopped else _finish(study, runs, mine, options)


def _run(
    study: Study,
    journal: Journal,
    solver: programs.Solver,
    mine: list[Run],
    options: argparse.Namespace,
    signals: Signals,
) -> bool:
    """Starts the runs that are due; returns whether the user asked for the end."""
    table = Table(sys.stderr, options.quiet)
    runner = Runner(study, journal, solver, options.jobs, signals, table)
    due = runner.due(mine, options.retry)
    table.begin(mine, due, runner.records, options.jobs, study.limits.timeout_s)
    try:
        runner.run(due)
    finally:
        table.close()
    return runner.stopped


def _check(study: Study, mine: list[Run], options: argparse.Namespace, signals: Signals) -> bool:
    """Computes the references that are missing; returns whether the user asked for the end."""
    problems = open_questions(study, mine, read_records(study.output), options.retry)
    if problems and not options.quiet:
        count = sum(len(problem.questions) for problem in problems)
        print(f"reference values for {count} questions:", file=sys.stderr, flush=True)
    truths = Truths(study, options.jobs, signals, None if options.quiet else sys.stderr)
    truths.compute(problems)
    return truths.stopped


def _stopped(study: Study, mine: list[Run]) -> int:
    records = read_records(study.output)
    ended = sum(1 for run in mine if run.key in records and records[run.key].finished)
    print(
        f"stopped: {ended} of {len(mine)} runs have ended and are recorded in {study.output}; the "
        "same command goes on",
        file=sys.stderr,
    )
    return INTERRUPTED


def _finish(study: Study, runs: list[Run], mine: list[Run], options: argparse.Namespace) -> int:
    """Compares and reports. Of several shards, the one that ends last writes the report."""
    records = read_records(study.output)
    with disk_errors(study.output):
        comparison = write_comparison(study.output, runs, records)
    print(f"study {study.name} in {study.output}")
    for line in summary(mine, records, comparison):
        print(line)
    missing = sum(1 for run in runs if run.key not in records)
    wanted = study.report["write"]
    later = missing > 0 and options.shard is not None and not options.report_only
    if missing:
        note = ": no report yet" if wanted and later else ""
        print(f"{missing} of the study's {len(runs)} runs are still missing{note}")
    if wanted and not later:
        with disk_errors(study.output):
            page = write_report(study.output)
        print(f"report: {page}")
    return 0


def _list(study: Study, runs: list[Run], mine: list[Run], missing: list[str]) -> int:
    records = read_records(study.output)
    for run in mine:
        status = records[run.key].status if run.key in records else "to run"
        print(f"{run.key}  {status:18}  {run.matrix}  {run.case}  repeat {run.repeat + 1}")
    counts = Counter(run.key in records and records[run.key].finished for run in mine)
    seconds = [records[run.key].wall_seconds for run in mine if run.key in records]
    print(
        f"{len(mine)} runs ({len(runs)} in the whole study) of {len({r.matrix for r in mine})} "
        f"matrices and {len({r.case for r in mine})} cases; {counts[True]} have ended, "
        f"{counts[False]} are to run, each for at most {duration(study.limits.timeout_s)}"
        + (f"; those that ended took {duration(sum(seconds))}" if seconds else "")
    )
    print(f"folder: {study.output}")
    if missing:
        print(f"to be fetched: heddle fetch {' '.join(missing)}")
    return 0


def _write_plan(study: Study, runs: list[Run], sources: list[matrices.Source], sums: Sums) -> None:
    with disk_errors(study.output):
        write_text(study.output / "study.yaml", study.document.path.read_text(encoding="utf-8"))
        write_json(study.output / "plan.json", [as_dict(run) for run in runs])
        write_json(study.output / "checksums.json", sums.known)
        write_json(study.output / "matrices.json", matrices.table(sources, sums.known))


if __name__ == "__main__":
    sys.exit(main())
