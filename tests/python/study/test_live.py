"""What the terminal shows, line by line and in place."""

import io

from heddle.study.live import Table, duration, summary
from heddle.study.records import Record, Run


class Terminal(io.StringIO):
    def isatty(self):
        return True


def run_of(i, case="a"):
    return Run(f"k{i}", f"matrix{i}", case, case, "g", {}, 0, "heddle", "heddle solve", {})


def record_of(run, seconds=2.0, status="converged", reason=""):
    result = {"converged": [True, False], "residuals": [1e-9, 3e-4]}
    return Record(
        run.key, run.matrix, run.case, 0, "g", "heddle", "heddle solve", status, reason,
        wall_seconds=seconds, result=result,
    )  # fmt: skip


def test_lines_and_estimates():
    out = io.StringIO()
    runs = [run_of(i) for i in range(12)]
    table = Table(out)
    table.begin(runs, runs[4:], {run.key: record_of(run) for run in runs[:4]}, 2, 60)
    assert table.time_left() == ""  # too few to say anything
    for run in runs[4:8]:
        table.started(run)
        table.ended(run, record_of(run))
    assert table.time_left() == ", about 4 s left, 2 min at most"  # 4 runs of 2 s, two at a time
    lines = out.getvalue().splitlines()
    assert lines[0] == "4 of 12 runs have ended before" and len(lines) == 6
    assert lines[2].split() == ["5/12", "matrix4", "a", "converged", "1/2", "3.0e-04", "2.00"]
    table.waiting()
    assert "\x1b" not in out.getvalue()


def test_a_terminal_is_redrawn_in_place():
    out = Terminal()
    table = Table(out)
    table.begin([run_of(1), run_of(2)], [run_of(1), run_of(2)], {}, 1, 60)
    table.started(run_of(1))
    table.waiting()
    assert "running  matrix1  a  0 s\n0/2 ended\n" in out.getvalue()
    table.ended(run_of(1), record_of(run_of(1)))
    assert "\x1b[2A\x1b[J" in out.getvalue()  # the two lines are erased before the row
    quiet = Terminal()
    table = Table(quiet, quiet=True)
    table.begin([run_of(1)], [run_of(1)], {}, 1, 60)
    table.started(run_of(1))
    table.waiting()
    table.close()
    assert quiet.getvalue() == ""


def test_the_summary_groups_failures_by_reason():
    runs = [run_of(i) for i in range(4)]
    records = {run.key: record_of(run) for run in runs[:1]}
    records |= {run.key: record_of(run, 1, "crashed", "SIGSEGV") for run in runs[1:]}
    lines = summary(runs, records, [])
    assert lines[0] == "4 of 4 runs have ended: 3 crashed, 1 converged"
    assert lines[1] == "  crashed: matrix1/a and 2 more: SIGSEGV"
    assert [duration(s) for s in (40, 700, 9000)] == ["40 s", "12 min", "2.5 h"]
