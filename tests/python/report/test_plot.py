"""`heddle plot`: pictures of single results, and what it refuses."""

import json
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
import scipy.io
from heddle.commands.plot import main
from heddle.plot.modes import field, moved, whole
from heddle.plot.sources import PlotError, Result, read_kept
from made_study import HOSTILE, MadeStudy, result


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Two results of a matrix with 12 rows, the first with eigenvectors."""
    monkeypatch.chdir(tmp_path)
    study = MadeStudy(tmp_path / "study")
    path = study.matrix("m", 12)
    for name in ("one", "two"):
        found = result(12, 3, 1.0, 10)
        found["configuration"]["problem"] = {"matrix": path.name}
        found["run"] = {"current_folder": str(path.parent)}
        key = study.run("m", name, found)
        (tmp_path / "study/runs" / key).rename(tmp_path / name)
    vectors = np.linalg.qr(np.random.default_rng(2).standard_normal((12, 3)))[0]
    np.save(tmp_path / "one" / "eigenvectors.npy", vectors)
    scipy.io.mmwrite(tmp_path / "two" / "eigenvectors.mtx", vectors)
    return tmp_path


def texts(path):
    svg = ElementTree.parse(path).getroot()
    return ["".join(node.itertext()) for node in svg.iter("{http://www.w3.org/2000/svg}text")]


def test_a_picture_of_two_results(folder, capsys):
    assert main(["one", "two/result.json", "-o", "both.svg", "--title", HOSTILE]) == 0
    assert capsys.readouterr().out == "both.svg\n"
    words = texts(folder / "both.svg")
    assert {"one", "two", HOSTILE, "operator applications (columns)", "time (s)"} <= set(words)
    first = (folder / "both.svg").read_bytes()
    assert main(["one", "two", "-q", "-o", "both.svg", "--title", HOSTILE]) == 0
    assert (folder / "both.svg").read_bytes() == first


def test_pictures_by_name_and_format(folder):
    assert main(["one", "-q", "-p", "spy", "-p", "phases", "-o", "a.png", "--dpi", "50"]) == 0
    assert (folder / "a.png").read_bytes().startswith(b"\x89PNG")
    assert main(["one", "-q", "-p", "spectrum", "-o", "a.pdf"]) == 0
    assert (folder / "a.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_modes_on_coordinates(folder, dimensions):
    for points in (12, 4):
        xyz = np.random.default_rng(1).standard_normal((points, dimensions))
        np.savetxt(folder / "xyz.csv", xyz, delimiter=",")
        given = ["one", "two", "-q", "--coordinates", "xyz.csv", "--mode", "2", "-o", "m.svg"]
        assert main(given) == 0
        assert sum("λ" in word for word in texts(folder / "m.svg")) == 2


def test_rows_of_modes_are_grouped_by_point():
    vectors = np.arange(24.0).reshape(6, 4)
    result = Result(None, "", {})
    modes = field(vectors, np.zeros((3, 2)), result)
    assert modes.shape == (4, 3, 2)
    assert modes[1].tolist() == [[1, 5], [9, 13], [17, 21]]
    points = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 5.0]])
    shift = moved(points, modes[1]) - points
    largest = np.linalg.norm(modes[1], axis=1).max()
    assert shift == pytest.approx(modes[1] * 0.12 * 10 / largest)
    with pytest.raises(PlotError, match="4 points.*6 rows"):
        field(vectors, np.zeros((4, 2)), result)


def test_deleted_rows_are_zero(folder, capsys):
    """12 rows are left of 6 points with 3 unknowns each, where the first two points are held."""
    held = np.arange(18) < 6
    vectors = np.load(folder / "one" / "eigenvectors.npy")
    expected = np.zeros((18, 3))
    expected[6:] = vectors
    np.save("xyz.npy", np.random.default_rng(1).standard_normal((6, 3)))
    for kept in (~held, np.flatnonzero(~held)):
        np.save("rows.npy", kept)
        rows = read_kept(folder / "rows.npy", 6)
        assert (whole(vectors, rows, Result(None, "", {})) == expected).all()
        given = ["one", "-q", "--coordinates", "xyz.npy", "--kept", "rows.npy", "-o", "m.svg"]
        assert main(given) == 0
        assert sum("λ" in word for word in texts(folder / "m.svg")) == 3

    def error(kept, code=2):
        np.save("rows.npy", kept)
        return error_of(given, code, capsys)

    assert "11 rows were kept, and the eigenvectors of one have 12" in error(np.arange(11))
    assert "names a row twice" in error(np.zeros(12, dtype=int))
    assert "numbers from 0" in error(np.arange(12) - 1)
    assert "numbers from 0" in error(np.arange(12.0))
    given[given.index("rows.npy")] = "gone.npy"
    assert "there is no file gone.npy" in error_of(given, 2, capsys)
    assert "--coordinates" in error_of(["one", "--kept", "rows.npy"], 1, capsys)


def error_of(arguments, code, capsys):
    assert main(arguments) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("heddle plot: error: ")
    assert err.count("\n") == 1
    return err


def test_what_is_refused_says_the_way_out(folder, capsys):
    def error(*arguments, code=2):
        return error_of(list(arguments), code, capsys)

    assert "there is no folder nowhere" in error("nowhere")
    assert "output.directory" in error(".")
    assert "neither" not in error("one", "-o", "a.gif", code=1)
    assert ".svg, .png, .pdf" in error("one", "-o", "a.gif", code=1)
    assert "RESULTS" in error(code=1)
    assert "invalid choice" in error("one", "-p", "nonsense", code=1)
    assert "for 1 results" in error("one", "--label", "a", "--label", "b", code=1)
    assert "cannot be written" in error("one", "-o", "nowhere/a.svg")
    assert "--coordinates xyz.npy" in error("one", "-p", "modes")
    np.save("xyz.npy", np.zeros((5, 3)))
    assert "5 points" in error("one", "--coordinates", "xyz.npy")
    np.save("xyz.npy", np.zeros((4, 4)))
    assert "4 x 4" in error("one", "--coordinates", "xyz.npy")
    np.save("xyz.npy", np.full((4, 3), np.nan))
    assert "not finite" in error("one", "--coordinates", "xyz.npy")
    np.save("xyz.npy", np.zeros((4, 3)))
    assert "modes 1 to 3" in error("one", "--coordinates", "xyz.npy", "--mode", "4", code=1)
    (folder / "one" / "eigenvectors.npy").unlink()
    assert "--eigenvectors npy" in error("one", "--coordinates", "xyz.npy")
    (folder / "one" / "history.csv").unlink()
    assert "output.history=pairs" in error("one", "-p", "convergence")
    (folder / "study" / "inputs" / "m0.mtx").unlink()
    assert "m0.mtx" in error("one", "-p", "spy")
    (folder / "study" / "plan.json").write_text("[]")
    assert "folder of a study" in error("study")
    failed = {"status": "error", "reason": "no disk"}
    (folder / "one" / "result.json").write_text(json.dumps(failed))
    assert "no disk" in error("one")
    (folder / "one" / "result.json").write_text("{")
    assert "damaged result.json" in error("one")


def test_help_shows_examples(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    assert "examples:" in capsys.readouterr().out
