"""`heddle plot` of the JSON that the lab's spmm_prediction and spmm_timing write."""

import json
import xml.etree.ElementTree as ElementTree

import pytest
from heddle.commands.plot import main
from heddle.plot.rooflines import read_rooflines

SVG = "{http://www.w3.org/2000/svg}"


def prediction():
    """Two kernels with blocks of 1 and 8 columns, as spmm_prediction writes them."""
    widths = [
        {
            "N": N,
            "kernels": [
                {"kernel": name, "seconds": 1e-6, "gflops": 100.0 * N, "flops_per_byte": 0.2 * N / f}
                for name, f in (("row_split", 1), ("merge", 2))
            ],
        }
        for N in (1, 8)
    ]
    return {
        "matrix": "a<b & c", "rows": 720, "nnz": 4556, "precision": "double",
        "device": "NVIDIA H200", "memory_bytes_per_second": 4.8e12, "widths": widths,
    }  # fmt: skip


def timing():
    """Two precisions, as spmm_timing writes them: a kernel with a prediction and one without."""
    kernels = [
        {"kernel": "row_split", "predicted_ms": 0.5, "warm_ms": 0.25, "flops_per_byte": 0.5},
        {"kernel": "merge", "predicted_ms": 1.0, "failure": "wrong", "flops_per_byte": 0.25},
        {"kernel": "cusparse_alg1", "warm_ms": 2.0},
    ]
    matrices = [
        {"matrix": "m", "precision": p, "widths": [{"N": 8, "flops": 1e9, "kernels": kernels}]}
        for p in ("double", "single")
    ]
    return {"device": "a GPU", "memory_bytes_per_second": 2e12, "matrices": matrices}


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(name, content):
        (tmp_path / name).write_text(json.dumps(content))
        return name

    return write


def texts(path):
    return ["".join(node.itertext()) for node in ElementTree.parse(path).getroot().iter(f"{SVG}text")]


def test_predictions_become_a_picture(write, capsys):
    write("p.json", prediction())
    assert main(["p.json", "-o", "p.svg"]) == 0
    assert capsys.readouterr().out == "p.svg\n"
    words = texts("p.svg")
    assert {"row_split", "merge", "predicted", "flops per byte", "GFlop/s"} <= set(words)
    assert "memory, 4.80 TB/s" in words
    assert "a<b & c: SpMM in double precision on NVIDIA H200" in words
    assert "measured" not in words
    assert not any("nan" in word or "inf" in word for word in words)


def test_numbers_are_those_of_the_file(write):
    (one,) = read_rooflines(write("p.json", prediction()))
    assert one.bandwidth == 4.8e12
    assert [kernel.name for kernel in one.kernels] == ["row_split", "merge"]
    assert one.kernels[1].intensity == [0.1, 0.8]
    assert one.kernels[1].predicted == pytest.approx([1e11, 8e11])
    assert one.kernels[1].measured == [None, None]
    double, single = read_rooflines(write("t.json", timing()))
    assert single.title == "m: SpMM in single precision on a GPU"
    assert [kernel.name for kernel in double.kernels] == ["row_split", "merge"]
    assert double.kernels[0].predicted == pytest.approx([2e12])
    assert double.kernels[0].measured == pytest.approx([4e12])
    assert double.kernels[1].measured == [None]


def test_a_picture_per_matrix_and_precision(write):
    write("t.json", timing())
    assert main(["t.json", "-q", "-o", "t.svg", "--title", "both"]) == 0
    words = texts("t.svg")
    assert words.count("flops per byte") == 2
    assert words.count("measured") == 2
    assert "both" in words and "cusparse_alg1" not in words
    assert main(["t.json", "-q", "-o", "t.png", "--dpi", "50"]) == 0


def test_a_matrix_without_entries(write):
    write("e.json", prediction() | {"widths": [{"N": 1, "kernels": []}]})
    assert main(["e.json", "-q", "-o", "e.svg"]) == 0
    assert "no kernel has a prediction" in texts("e.svg")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["other.json"], 2, "other.json holds no roofline"),
        (["list.json"], 2, "list.json holds no roofline"),
        (["p.json", "folder"], 1, "is drawn without results of solves"),
        (["p.json", "-p", "spy"], 1, "--picture is for results of solves"),
        (["p.json", "-o", "missing/p.svg"], 2, "cannot be written"),
        (["missing.json"], 2, "there is no folder missing.json"),
    ],
)
def test_refusals(write, capsys, arguments, code, message):
    write("p.json", prediction())
    write("other.json", {"a": 1})
    write("list.json", [1])
    assert main(arguments) == code
    assert message in capsys.readouterr().err
