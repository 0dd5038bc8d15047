"""Reading a study's folder: histories, accuracy, the table."""

import csv
import io
import json

import numpy as np
import pytest
import scipy.sparse as sp
from heddle.report import matrices, table
from heddle.report.accuracy import accuracy_of
from heddle.report.collect import NoStudy, read_study
from heddle.report.pictures import Density
from heddle.report.results import Curve, phase_seconds, read_convergence, thinned
from made_study import MadeStudy, eigenvalues, ordinary_study, result


def test_a_folder_that_is_no_study(tmp_path):
    with pytest.raises(NoStudy, match="neither plan.json nor journal.jsonl"):
        read_study(tmp_path)


def test_the_journal_counts_over_the_plan(tmp_path):
    study = MadeStudy(tmp_path)
    study.matrix("m", 20)
    study.run("m", "a", None, "timeout", reason="took longer than 1 s")
    study.run("m", "b", ended=False)
    study.records.append({**study.records[0], "status": "converged", "result": result(20, 3, 1, 2)})
    found = read_study(study.write())  # with a torn last line
    assert [run.status for run in found.runs] == ["converged", "not run"]
    assert found.runs[0].products == 2
    assert found.problems[0].name == "m, 3 smallest"


def test_a_renamed_case_has_its_new_name(tmp_path):
    """Names are no part of a key, so that the record keeps the name of its time."""
    study = MadeStudy(tmp_path)
    study.matrix("m", 20)
    study.run("m", "new", result(20, 3, 1, 2))
    study.records[0] |= {"case": "old", "setting": "old"}
    found = read_study(study.write())
    assert [run.case for run in found.runs] == ["new"] and found.cases == ["new"]


def test_convergence_of_each_pair(tmp_path):
    study = MadeStudy(tmp_path)
    study.matrix("m", 20)
    key = study.run("m", "a", result(20, 3, 1.0, 10))
    found = read_convergence(tmp_path / "runs" / key)
    assert found.worst.products.tolist() == [8, 16, 24]  # without the torn line
    assert found.worst.residuals.tolist() == [1e-1, 1e-4, 1e-7]
    assert len(found.pairs) == 3
    assert found.pairs[1].residuals == pytest.approx([1e-2, 1e-5, 1e-8])
    assert found.pairs[1].products.tolist() == [8, 16, 24]
    assert found.pairs[1].seconds == pytest.approx([0, 0.1, 0.2])
    assert read_convergence(tmp_path) is None


def test_thinned_curves_keep_peaks_and_ends():
    residuals = np.geomspace(1, 1e-8, 1000)
    residuals[500] = 3.0
    steps = np.arange(1000.0)
    found = thinned(Curve(steps, steps, residuals), 50)
    assert found.residuals.size <= 52
    assert found.residuals.max() == 3.0
    assert (found.products[0], found.products[-1]) == (0, 999)
    assert (np.diff(found.products) > 0).all()


def test_phases():
    parts = phase_seconds(result(20, 3, 4.0, 10))
    assert parts["products with A"] == 2.0
    assert parts["update, residual"] == 2.0
    assert phase_seconds({"seconds": {"total": 5, "load": 1}}) == {"not divided": 4.0}
    assert phase_seconds({}) == {}


def test_accuracy_against_truth_and_by_bounds(tmp_path):
    study = MadeStudy(tmp_path)
    study.matrix("known", 40)
    study.matrix("unknown", 40)
    study.truth("known", 40, 3)
    values = eigenvalues(40, 3)
    study.run("known", "a", result(40, 3, 1, 1, 1e-9))
    study.run("unknown", "a", result(40, 3, 1, 1, 1e-9))
    limited = result(40, 3, 1, 1) | {"limited_by_rounding": [True, False, False]}
    study.run("unknown", "limited", limited)
    study.run("unknown", "gave up", result(40, 3, 1, 1), "max_iterations")
    known, unknown = read_study(study.write()).problems
    found = accuracy_of(known.runs[0], known)
    assert found.error == pytest.approx(1e-9 / values[0])  # the smallest value has the largest one
    assert found.against == "dense LAPACK"
    by_bound, without_first, gave_up = (accuracy_of(run, unknown) for run in unknown.runs)
    assert by_bound.error == pytest.approx(1e-12 / (values[0] + 1e-9))
    assert by_bound.against == "its bound"
    assert without_first.error == pytest.approx(1e-12 / values[1])
    assert gave_up is None


def test_the_table_comes_back_from_csv(tmp_path):
    rows = table.rows(read_study(ordinary_study(tmp_path)))
    text = table.to_csv(rows)
    back = list(csv.DictReader(io.StringIO(text)))
    assert len(back) == len(rows) == 9
    for written, row in zip(back, rows, strict=True):
        assert written == {name: table.text(row[name]) for name in table.COLUMNS}
        if row["seconds"] is not None:
            assert float(written["seconds"]) == row["seconds"]
            assert [float(v) for v in written["eigenvalues"].split()] == pytest.approx(
                [float(v) for v in row["eigenvalues"].split()], rel=0
            )
    crashed = next(row for row in back if row["status"] == "crashed")
    assert crashed["seconds"] == ""
    assert "signal 11" in crashed["reason"]


def test_spy_grids_count_entries():
    rng = np.random.default_rng(4)
    matrix = sp.random_array((70, 50), density=0.1, rng=rng, format="csr")
    grid = matrices.spy_grid(matrix, cells=10)
    dense = (matrix.toarray() != 0).reshape(10, 7, 10, 5).sum(axis=(1, 3))
    assert ((grid > 0) == (dense > 0)).all()
    assert np.unravel_index(grid.argmax(), grid.shape) == np.unravel_index(dense.argmax(), (10, 10))
    order = np.argsort(dense, axis=None, kind="stable")
    assert (np.diff(grid.ravel()[order]) >= 0).all()
    small = matrices.spy_grid(sp.csr_array(np.eye(3)), cells=10)
    assert (small == np.eye(3)).all()
    assert not matrices.spy_grid(sp.csr_array((4, 4)), cells=10).any()


def test_a_portrait_is_kept_and_says_what_is_missing(tmp_path, monkeypatch):
    edges = np.linspace(0, 4, 5)
    monkeypatch.setattr(matrices, "density_of", lambda problem: Density(edges, [1, 2, 3, 4]))
    path = MadeStudy(tmp_path).matrix("m", 20)
    problem, store = {"matrix": str(path)}, tmp_path / "kept" / "m.json"
    first = matrices.portrait_of(problem, store)
    monkeypatch.undo()
    path.unlink()
    again = matrices.portrait_of(problem, store)
    assert again.rows == 20
    assert (again.spy == first.spy).all()
    assert list(again.density.edges) == list(edges)
    other = matrices.portrait_of({"matrix": str(path), "mass": "x"}, store)
    assert "there is no file" in other.spy_note
    assert "pencil" in other.density_note
    path.write_text("%%MatrixMarket matrix coordinate real general\n3 3 9\n1 1\n")
    assert f"{path} cannot be read" in matrices.portrait_of(problem, store).spy_note


def test_a_density_is_asked_for_again_where_the_program_was_missing(tmp_path, monkeypatch):
    monkeypatch.setenv("HEDDLE_PROGRAMS", str(tmp_path))
    path = MadeStudy(tmp_path).matrix("m", 20)
    program = tmp_path / "heddle-info"
    found = matrices.portrait_of({"matrix": str(path)}, tmp_path / "kept.json")
    assert "no program heddle-info" in found.density_note
    parts = [{"from": 0, "to": 1, "count": 2.5}, {"from": 1, "to": 2, "count": 17.5}]
    program.write_text(f"#!/bin/sh\necho '{json.dumps({'spectrum': parts})}'\n")
    program.chmod(0o755)
    found = matrices.portrait_of({"matrix": str(path)}, tmp_path / "kept.json")
    assert found.density == Density([0, 1, 2], [2.5, 17.5])
    program.write_text("#!/bin/sh\necho 'heddle-info: error: it broke' >&2\nexit 2\n")
    problem = {"matrix": str(path), "transform": "laplacian"}
    found = matrices.portrait_of(problem, tmp_path / "2.json")
    assert found.density_note == "heddle-info: error: it broke"


def test_names_of_generated_matrices():
    spec = {"generate": "rmat", "size": [11, 2], "density": 8}
    assert matrices.info_name(spec) == "rmat:11,2:8"
    with pytest.raises(ValueError, match="seed"):
        matrices.info_name(spec | {"seed": 3})
