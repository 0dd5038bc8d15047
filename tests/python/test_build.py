"""`pip install .`: what it would build, and what it says about it. The compiler is not run: Ninja and
make name their steps (`-n`), and no step is installed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAMS = ["", "-lobpcg", "-lanczos", "-cg", "-info", "-spgemm", "-spmm"]

pytest.importorskip("scikit_build_core")
pytest.importorskip("nanobind")
pytest.importorskip("pip")


@pytest.fixture
def without_gpu(tmp_path, monkeypatch):
    """A machine with a CUDA toolkit, or what looks like one, where no GPU responds."""
    programs = tmp_path / "bin"
    programs.mkdir()
    names = ["nvidia-smi"] if toolkit() else ["nvidia-smi", "nvcc"]
    for name in names:
        (programs / name).write_text("#!/bin/sh\nexit 9\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    for name in ("HEDDLE_CUDA", "SKBUILD_CMAKE_DEFINE", "SKBUILD_CMAKE_ARGS", "CMAKE_ARGS"):
        monkeypatch.delenv(name, raising=False)


def toolkit():
    return shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")


def steps_of_pip(tmp_path, *settings):
    """The output of pip, which ends well."""
    options = [f"build-dir={tmp_path}/build", "build.tool-args=-n", "install.components=none"]
    run = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", str(ROOT), "--verbose", "--no-build-isolation"]
        + ["--no-deps", f"--wheel-dir={tmp_path}/wheel"]
        + [f"--config-settings={setting}" for setting in [*options, *settings]],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert run.returncode == 0, run.stdout
    return run.stdout


def test_a_toolkit_without_a_gpu(without_gpu, tmp_path):
    said = steps_of_pip(tmp_path)
    assert "-- A CUDA toolkit but no GPU: building for the CPU." in said
    assert said.index("building for the CPU") < said.index("Found OpenMP") < said.index("/lobpcg/")
    assert "CUDA backend: on" not in said and ".cu.o" not in said
    assert list((tmp_path / "wheel").glob("heddle_solvers-*.whl"))
    if "Without executables" not in said:
        has_programs_and_their_texts((tmp_path / "build" / "cmake_install.cmake").read_text())


def has_programs_and_their_texts(script):
    for program in PROGRAMS:
        assert f'/heddle/apps/heddle{program}"' in script
        assert f'/texts/heddle{program}.1"' in script
        assert f'/texts/heddle{program}"' in script
    assert "/share/man/man1" in script and "/share/bash-completion/completions" in script


@pytest.mark.skipif(not toolkit(), reason="no CUDA toolkit")
def test_the_gpu_is_asked_for(without_gpu, tmp_path, monkeypatch):
    monkeypatch.setenv("HEDDLE_CUDA", "ON")
    said = steps_of_pip(tmp_path, "cmake.define.CMAKE_CUDA_ARCHITECTURES=90")
    assert "CUDA backend: on" in said and ".cu.o" in said and "for the CPU" not in said
