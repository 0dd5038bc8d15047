"""The compiled module beside those of other packages in a process."""

import shutil
import subprocess

import pytest

import heddle._core


def test_module_exports_its_initialisation_alone():
    """Symbols of heddle's libraries, or of a C++ library linked into the module, must not be mixed with
    those of other modules."""
    if shutil.which("nm") is None:
        pytest.skip("nm is not installed")
    command = ["nm", "--dynamic", "--defined-only", heddle._core.__file__]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    names = [line.split()[-1].partition("@")[0] for line in listed.splitlines()]
    assert [name for name in names if name not in ("_init", "_fini")] == ["PyInit__core"]
