"""Verdicts on constructed results: who is right is known beforehand."""

import json

import pytest

from heddle.study.compare import compare
from heddle.study.live import verdicts
from heddle.study.records import Record, Run

TRUTH = [1.0, 2.0, 2.0, 2.0, 3.0, 4.0]


@pytest.fixture
def judge(tmp_path):
    """judge({case: values}, truth, ...) -> {case: finding}"""

    def run(found, truth=None, bound=1e-9, which="smallest", status="converged", **options):
        runs, records = [], {}
        for case, values in found.items():
            question = {"matrix": "m", "which": which, "nev": len(values)} | options
            runs.append(Run(case, "m", case, case, "m-1", question, 0, "heddle", "heddle", {}))
            result = {
                "eigenvalues": values,
                "error_bounds": [bound] * len(values),
                "converged": [True] * len(values),
                "residuals": [1e-9] * len(values),
            }
            records[case] = Record(
                case, "m", case, 0, "m-1", "heddle", "heddle", status, "", result=result
            )
        if truth is not None:
            answer = {
                "method": "dense LAPACK",
                "values": truth,
                "uncertainty": [1e-12] * len(truth),
            }
            (tmp_path / "m-1.json").write_text(json.dumps(answer | options))
        entries = compare(runs, records, tmp_path)
        json.dumps(entries)
        return {finding["case"]: finding for entry in entries for finding in entry["runs"]}

    return run


def test_right_values_are_confirmed(judge):
    finding = judge({"a": [1.0, 2.0 + 5e-10, 2.0, 2.0]}, TRUTH)["a"]
    assert finding["verdict"] == "confirmed" and finding["detail"].startswith("all 4 values")
    assert [pair["verdict"] for pair in finding["pairs"]] == ["confirmed"] * 4


def test_a_missed_copy_is_proven_wrong(judge):
    finding = judge({"a": [1.0, 2.0, 2.0, 3.0, 4.0]}, TRUTH)["a"]
    assert finding["verdict"] == "proven wrong"
    assert "number 4 is 2 (1 of its 3 copies missed); 3 is number 5" in finding["detail"]
    assert [pair["verdict"] == "proven wrong" for pair in finding["pairs"]] == [
        False, False, False, True, True
    ]  # fmt: skip
    assert finding["pairs"][3]["truth"] == 2.0


def test_a_missed_smallest_value_and_one_too_many(judge):
    assert (
        "number 1 is 1 (missed); 2 is number 2"
        in judge({"a": [2.0, 2.0, 2.0]}, TRUTH)["a"]["detail"]
    )
    finding = judge({"a": [1.0, 1.0, 2.0]}, TRUTH)["a"]
    assert finding["verdict"] == "proven wrong" and "1 is number 1" in finding["detail"]
    assert "1.7 is none of the first 6" in judge({"a": [1.0, 1.7]}, TRUTH)["a"]["detail"]


def test_a_bound_that_is_too_small(judge):
    finding = judge({"a": [1.0 + 1e-8, 2.0]}, TRUTH)["a"]
    assert finding["verdict"] == "proven wrong" and "the bound is too small" in finding["detail"]


def test_a_wide_bound_confirms_no_other_eigenvalue(judge):
    """The bound reaches the reference each time, so that nothing is proven wrong."""
    finding = judge({"a": [2.0, 2.0, 2.0]}, TRUTH, bound=5.0)["a"]
    assert [pair["verdict"] for pair in finding["pairs"]] == ["unchecked"] + 2 * ["confirmed"]
    assert "reaches eigenvalue number 1, but number 2 is nearer" in finding["detail"]
    assert judge({"a": [1.4, 2.4]}, TRUTH, bound=5.0)["a"]["verdict"] == "confirmed"
    zeros = [-1e-13, 0.0, 3.0]  # exact for an isolated vertex, to rounding for the others
    assert judge({"a": [-5e-14, -9e-14]}, zeros, rounding=1e-12)["a"]["verdict"] == "confirmed"
    close = [1.0, 1.0 + 4e-8]  # told apart by the reference, and by nobody who asks for 1e-6
    assert judge({"a": [1.0 + 3e-8, 1.0]}, close, bound=1e-7)["a"]["verdict"] == "confirmed"


@pytest.mark.parametrize(("nev", "verdict"), [(3, "confirmed"), (5, "proven wrong")])
def test_fewer_values_than_were_asked_for(judge, nev, verdict):
    finding = judge({"a": [1.0, 2.0, 2.0]}, TRUTH, nev=nev)["a"]
    assert finding["verdict"] == verdict
    assert ("2 of 5 wanted eigenvalues are missing" in finding["detail"]) == (nev == 5)
    known = judge({"a": TRUTH}, TRUTH, nev=9)["a"]  # a pencil may have fewer finite eigenvalues
    assert known["verdict"] == "confirmed"


def test_the_largest_end(judge):
    found = judge({"a": [4.0, 3.0, 2.0], "b": [4.0, 2.0, 2.0]}, TRUTH[::-1], which="largest")
    assert found["a"]["verdict"] == "confirmed" and found["b"]["verdict"] == "proven wrong"


def test_a_reference_that_knows_too_little(judge, tmp_path):
    answer = {"method": "inertia", "values": [1.0, None], "uncertainty": [1e-3, None]}
    (tmp_path / "m-1.json").write_text(json.dumps(answer))
    finding = judge({"a": [1.0, 2.0]})["a"]
    assert finding["verdict"] == "unchecked" and "±1.0e-03" in finding["detail"]
    finding = judge({"a": [1.1, 2.0]})["a"]
    assert finding["verdict"] == "proven wrong"  # excluded all the same
    assert "number 1 lies between 0.999 and 1.001; 1.1 is outside by 9.9e-02" in finding["detail"]


def test_zero_is_confirmed_to_the_rounding_of_the_reference(judge, tmp_path):
    answer = {
        "method": "dense LAPACK",
        "values": [3e-13],
        "uncertainty": [1e-12],
        "rounding": 1e-12,
    }
    (tmp_path / "m-1.json").write_text(json.dumps(answer))
    assert judge({"a": [-1e-15]}, bound=1e-15)["a"]["verdict"] == "confirmed"
    assert judge({"a": [1.2e-12]}, bound=1e-15)["a"]["verdict"] == "unchecked"
    assert judge({"a": [1e-9]}, bound=1e-15)["a"]["verdict"] == "proven wrong"


def test_without_a_reference_the_minimum_principle_tells_who_is_right(judge):
    found = judge({"lower": [1.0, 2.0, 2.0, 2.0], "missed": [1.0, 2.0, 2.0, 3.0]})
    assert found["lower"]["verdict"] == "unchecked"
    assert found["missed"]["verdict"] == "disagrees" and found["missed"]["against"] == "lower"
    assert "minimum principle" in found["missed"]["detail"]
    found = judge({"lower": [3.0, 2.0], "higher": [4.0, 2.0]}, which="largest")
    assert found["lower"]["verdict"] == "disagrees" and found["higher"]["verdict"] == "unchecked"
    assert judge({"a": [1.0], "b": [1.0 + 1e-9]})["a"]["verdict"] == "unchecked"  # within bounds


def test_what_a_run_does_not_claim_is_not_held_against_it(judge):
    finding = judge({"a": [1.5, 9.0]}, TRUTH, status="max_iterations")["a"]
    assert finding["verdict"] == "unchecked" and "does not call it converged" in finding["detail"]


def test_intervals_have_all_their_eigenvalues(judge):
    options = {"which": "interval", "interval": [1.5, 3.5]}
    inside = TRUTH[1:5]
    assert judge({"a": inside}, inside, **options)["a"]["verdict"] == "confirmed"
    finding = judge({"a": [2.0, 2.0, 3.0]}, inside, **options)["a"]
    assert finding["verdict"] == "proven wrong"
    assert any("1 of 4 eigenvalues" in pair.get("why", "") for pair in finding["pairs"])


def test_the_summary_counts_values(judge, tmp_path):
    found = judge({"a": [1.0, 2.0], "b": [1.0, 3.0]}, TRUTH)
    lines = verdicts([{"matrix": "m", "runs": list(found.values())}])
    assert lines[0].startswith("values: 3 confirmed, 0 unchecked, 0 disagrees, 1 proven wrong")
    assert "3 by dense LAPACK" in lines[0] and "proven wrong: m/b" in lines[1]
