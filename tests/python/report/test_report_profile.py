"""Performance profiles and the table that decides, against numbers computed by hand."""

import math

import numpy as np
import pytest
from heddle.report.collect import read_study
from heddle.report.outcomes import costs_of, decide, outcomes_of
from heddle.report.profile import geometric_mean, profile, ratios
from made_study import MadeStudy, ordinary_study, result

INF = math.inf


def test_profile_of_two_solvers():
    costs = np.array([[1.0, 2.0], [4.0, 2.0], [INF, 3.0], [5.0, INF], [INF, INF]])
    found = ratios(costs)
    assert found.tolist() == [[1, 2], [2, 1], [INF, 1], [1, INF], [INF, INF]]
    tau, share = profile(found[:, 0])  # solves three of five: two as the fastest, one at twice
    assert tau.tolist() == [1, 2]
    assert share.tolist() == [2 / 5, 3 / 5]
    tau, share = profile(np.array([3.0, 3.0, INF, 7.0]))
    assert tau.tolist() == [1, 3, 7]
    assert share.tolist() == [0, 2 / 4, 3 / 4]


def test_profile_without_a_solved_problem():
    tau, share = profile(np.array([INF, INF]))
    assert (tau.tolist(), share.tolist()) == ([1.0], [0.0])
    assert geometric_mean(np.array([])) is None
    assert geometric_mean(np.array([1.0, 4.0, 2.0])) == pytest.approx(2.0)


def test_a_wrong_answer_is_no_fast_one(tmp_path):
    study = read_study(ordinary_study(tmp_path))
    outcomes = outcomes_of(study)
    costs = costs_of(outcomes, study.cases, lambda outcome: outcome.seconds)
    assert costs.methods == ["quick", "slow", "sloppy"]
    assert costs.values.tolist() == [[1, 4, 0.5], [1, INF, 0.5], [1, 4, INF]]


def test_the_table_that_decides(tmp_path):
    study = read_study(ordinary_study(tmp_path))
    decision = decide(study, outcomes_of(study))
    quick, slow, sloppy = decision.standings
    assert decision.common == 1  # the first matrix alone is solved by all
    assert (quick.time_ratio, slow.time_ratio, sloppy.time_ratio) == pytest.approx((2, 8, 1))
    assert (quick.product_ratio, slow.product_ratio) == pytest.approx((2, 1))
    assert (quick.fastest, slow.fastest, sloppy.fastest) == (1, 0, 2)
    assert (slow.failed, sloppy.wrong, quick.unsolved) == (1, 1, 0)


def test_methods_that_ask_other_questions_are_left_out(tmp_path):
    study = MadeStudy(tmp_path)
    for name in ("one", "two", "three"):
        study.matrix(name, 30)
        for case, seconds in (("a", 1.0), ("b", 3.0)):
            study.run(name, case, result(30, 3, seconds, 10))
        study.run(name, "many", result(30, 9, 0.1, 10), count=9)  # no other method wants 9
        study.run(name, "absent", None, "unavailable", reason="not installed")
    study.run("one", "a", ended=False, repeat=1)
    found = read_study(study.write())
    costs = costs_of(outcomes_of(found), found.cases, lambda outcome: outcome.seconds)
    assert (costs.methods, costs.left_out) == (["a", "b"], ["many", "absent"])
    decision = decide(found, outcomes_of(found))
    assert decision.common == 3
    assert decision.standings[1].time_ratio == pytest.approx(3)
    assert decision.standings[0].not_run == 1
    assert decision.standings[3].failed == 0  # what is not installed has not failed


def test_repeats_count_by_their_median_and_fail_together(tmp_path):
    study = MadeStudy(tmp_path)
    study.matrix("m", 30)
    for repeat, seconds in enumerate((9.0, 2.0, 3.0)):
        study.run("m", "a", result(30, 3, seconds, 10), repeat=repeat)
        status = "stagnated" if repeat == 2 else "converged"
        study.run("m", "b", result(30, 3, 1.0, 10, status=status), status, repeat=repeat)
    outcomes = outcomes_of(read_study(study.write()))["group0-3"]
    assert outcomes["a"].seconds == pytest.approx(3.0)
    assert (outcomes["a"].solved, outcomes["b"].solved) == (True, False)
    assert outcomes["b"].kind == "not converged"
