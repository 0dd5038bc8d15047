"""values.csv: the best value of each eigenvalue, and which methods agree with it."""

import csv
import io

from heddle.report import values
from heddle.report.collect import read_study
from made_study import MadeStudy, result


def pair(number, value, bound, verdict, **more):
    return {"pair": number, "value": value, "bound": bound, "verdict": verdict, **more}


def lines_of(tmp_path, claims):
    """`claims`: per case the pairs that comparison.json has for it."""
    study = MadeStudy(tmp_path)
    study.matrix("m", 20)
    for case, pairs in claims.items():
        study.run("m", case, result(20, 3, 1.0, 2), verdict="unchecked")
        study.verdicts[-1]["pairs"] = pairs
    text = values.to_text(read_study(study.write()))
    return list(csv.DictReader(io.StringIO(text)))


def test_the_closest_confirmed_value_counts(tmp_path):
    known = {"truth": 1.0, "uncertainty": 1e-12, "against": "dense LAPACK"}
    lines = lines_of(tmp_path, {
        "a": [pair(1, 1.0 + 1e-9, 1e-8, "confirmed", **known)],
        "b": [pair(1, 1.0 + 1e-10, 1e-9, "confirmed", **known)],
        "c": [pair(1, 1.0, 1e-15, "unchecked", why="not converged", **known)],
        "d": [pair(1, 2.0, 1e-16, "proven wrong", **known)],
    })  # fmt: skip
    assert len(lines) == 1
    line = lines[0]
    assert (line["value"], line["error_bound"], line["found_by"]) == ("1.0000000001", "1e-09", "b")
    assert (line["reference"], line["checked_by"]) == ("1.0", "dense LAPACK")
    assert (line["confirmed"], line["unchecked"], line["proven_wrong"]) == ("a b", "c", "d")
    assert (line["matrix"], line["problem"], line["n"], line["residual"]) == (
        "m", "3 smallest", "20", "1e-09",
    )  # fmt: skip


def test_copies_are_counted_within_their_bounds(tmp_path):
    lines = lines_of(tmp_path, {
        "a": [pair(2, 2.0, 1e-9, "confirmed"), pair(1, 1.0, 1e-9, "confirmed"),
              pair(3, 2.0 + 1.5e-9, 1e-9, "confirmed")],
    })  # fmt: skip
    assert [line["number"] for line in lines] == ["1", "2", "3"]
    assert [line["multiplicity"] for line in lines] == ["1", "2", "2"]


def test_a_place_whose_claims_are_all_excluded_has_no_value(tmp_path):
    lines = lines_of(tmp_path, {"a": [pair(1, 3.0, 1e-9, "proven wrong", truth=1.0)],
                                "b": [pair(1, None, None, "unchecked")]})  # fmt: skip
    assert [(line["value"], line["multiplicity"], line["reference"]) for line in lines] == [
        ("", "", "1.0")
    ]


def test_bounds_are_rounded_upwards(tmp_path):
    line = lines_of(tmp_path, {"a": [pair(1, 1.0, 1.2341e-9, "confirmed")]})[0]
    assert line["error_bound"] == "1.24e-09"
    assert values.rounded_up(0.0) == 0.0 and values.rounded_up(None) is None
    for size in (1e-300, 9.999e-5, 0.5, 123456.0):
        assert size <= values.rounded_up(size) <= 1.01 * size
