"""What a result.json may hold: a damaged one is a row of the study, and ends nothing."""

import json

import pytest

from heddle.study.outcome import Machine, adopted_record
from heddle.study.records import Run
from heddle.study.sense import problem_of_result

GOOD = {
    "status": "converged", "reason": "it did", "exit_code": 0, "eigenvalues": [1.0, 2],
    "residuals": [1e-9, None], "error_bounds": [None, 0.0], "converged": [True, False],
    "limited_by_rounding": [False, False], "seconds": {"total": 1, "setup": None},
    "memory": {"process_peak_bytes": 7}, "phases": {"spmm": {"seconds": 0.1}, "verify": None},
    "n": 3, "run": {"started": "now"},
}  # fmt: skip


def test_a_good_result_has_no_problem():
    assert problem_of_result(GOOD) == ""
    assert problem_of_result({"status": "error", "exit_code": 2}) == ""


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"memory": 3}, "memory is no map"),
        ({"memory": {"process_peak_bytes": "7"}}, "memory is no number"),
        ({"seconds": "x"}, "seconds is no map"),
        ({"seconds": {"total": "x"}}, "seconds holds what is no number"),
        ({"phases": [1]}, "phases is no map"),
        ({"phases": {"spmm": 1}}, "phases holds what is no time"),
        ({"phases": {"spmm": {"flops": []}}}, "phases holds what is no time"),
        ({"n": "x"}, "n is no number"),
        ({"exit_code": [1]}, "exit_code is no number"),
        ({"device_name": 3}, "device_name is no text"),
        ({"run": []}, "run is no map"),
        ({"status": {}}, "without a status"),
        ({"limited_by_rounding": 3}, "limited_by_rounding are no list"),
        ({"residuals": [1.0]}, "different lengths"),
        ({"eigenvalues": [float("inf"), 1.0]}, "eigenvalues are no list of numbers"),
        ({"eigenvalues": [10**400, 1.0]}, "eigenvalues are no list of numbers"),
        ({"eigenvalues": [None, 1.0]}, "calls eigenvalues converged which are no numbers"),
        ({"error_bounds": [0.0, -1.0]}, "negative error bound"),
    ],
)
def test_a_damaged_result_is_named_and_adopted_as_a_row(wrong, complaint):
    result = json.loads(json.dumps(GOOD | wrong))
    assert complaint in problem_of_result(result)
    run = Run("k", "m", "c", "c", "m-1", {}, 0, "heddle", "heddle", {})
    record = adopted_record(run, result, Machine("host", "cpu"), "1")
    assert record.status == "unreadable_results" and complaint in record.reason
    assert record.result is None
