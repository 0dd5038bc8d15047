"""The examples run, and check what they compute."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "python" / "examples").glob("*.py"))
PICTURES = {"spectral_embedding", "vibration_modes"}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path, tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("networkx")
    command = [sys.executable, str(path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    if done.stderr.startswith("skipped"):
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    assert done.stdout
    pictures = [picture.stem for picture in tmp_path.glob("*.svg")]
    assert pictures == ([path.stem] if path.stem in PICTURES else [])


def test_all_are_there():
    assert {path.stem for path in EXAMPLES} == PICTURES | {
        "principal_components",
        "many_right_hand_sides",
        "matrix_free",
        "gpu",
    }


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_code_of_the_documents(page):
    text = (Path(__file__).parents[2] / page).read_text()
    code = text.split("```python\n")[1].split("```")[0]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "converged: " in done.stdout
