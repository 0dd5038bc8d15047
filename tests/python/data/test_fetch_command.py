"""The command heddle fetch as a process."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
import zlib
from pathlib import Path

import heddle
import numpy as np
import pytest
import scipy.io
from heddle.commands.fetch import main

from .site_of_matrices import archive, code, instead, slow


@pytest.fixture
def fetch(site, tmp_path, monkeypatch, capsys):
    """Runs heddle fetch with a cache of its own and returns its exit code, stdout and stderr.
    `start` does it in a process of its own."""
    monkeypatch.setenv("HEDDLE_COLLECTION", site.address)
    monkeypatch.setenv("HEDDLE_DATA", str(tmp_path / "cache"))

    def run(*arguments, **environment):
        with monkeypatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            try:
                code = main(arguments)
            except SystemExit as end:  # of --help
                code = end.code
        out, err = capsys.readouterr()
        return code, out, err

    def start(*arguments):
        return subprocess.Popen(
            [sys.executable, "-m", "heddle.commands.fetch", *arguments],
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    run.start = start
    run.cache = tmp_path / "cache" / "SuiteSparse"
    return run


def test_several_names_at_once(fetch):
    code, out, err = fetch("HB/line04", "SuiteSparse:Mesh/square7", "mikota")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith("HB/line04: fetched 0.2 kB, ")
    assert lines[1].endswith("cache/SuiteSparse/Mesh/square7/square7.mtx")
    assert lines[2].endswith("mikota.mtx; parts: M, coord")
    code, out, _ = fetch("HB/line04")
    assert code == 0 and out.startswith("HB/line04: was in the cache, ")


def test_where_prints_paths_alone(fetch):
    process = fetch.start("--where", "HB/line07", "Oberwolfach/mikota:M", "HB/line07")
    out, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (0, "")
    first, second = out.splitlines()
    assert (scipy.io.mmread(first).toarray() == heddle.generate("laplace1d", 7).toarray()).all()
    assert second == str(fetch.cache / "Oberwolfach" / "mikota" / "mikota_M.mtx")
    code, out, _ = fetch("-q", "HB/line07")
    assert (code, out) == (0, "")


def test_a_query_fetches_what_it_finds(fetch):
    code, out, err = fetch("--query", "group=HB,kind=structural", "--query", "rows=:7", "--json")
    assert (code, err) == (0, "")
    assert sorted(row["name"] for row in json.loads(out)) == [
        "HB/line04",
        "HB/line07",
        "HB/zero_free",
    ]
    code, out, _ = fetch("--where", "HB/line*", "Mesh/square4")
    assert code == 0
    assert [line.rsplit("/", 1)[1] for line in out.splitlines()] == [
        "line04.mtx",
        "line07.mtx",
        "line12.mtx",
        "square4.mtx",
    ]
    assert fetch("--query", "rows=12345")[::2] == (
        2,
        "heddle fetch: error: no matrix of the index meets the query\n",
    )


def test_lists(fetch, site):
    fetch("HB/line04")
    code, out, _ = fetch("--list", "--query", "group=HB,sort=-rows")
    lines = out.splitlines()
    assert code == 0 and lines[0].split()[:4] == ["matrix", "rows", "cols", "nnz"]
    assert [line.split()[0] for line in lines[1:3]] == ["HB/band12", "HB/band7"]
    (cached,) = [line for line in lines[:-1] if line.startswith("*")]
    assert cached.split()[1:] == [
        "HB/line04",
        "4",
        "4",
        "10",
        "yes",
        "yes",
        "structural",
        "problem",
    ]
    assert lines[-1] == f"{len(lines) - 2} matrices; *: in the cache, {fetch.cache.parent}"
    code, out, _ = fetch("--list", "--json")
    rows = json.loads(out)
    assert len(rows) == len(site.lines) and rows[0]["cached"] and not rows[1]["cached"]
    assert {"group", "name", "rows", "nnz", "symmetric", "kind"} <= set(rows[0])
    code, out, _ = fetch("--list", "--offline", HEDDLE_COLLECTION="http://127.0.0.1:1")
    assert code == 0 and len(out.splitlines()) == 3
    assert len(fetch("--list", "HB/line*")[1].splitlines()) == 5


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ([], 1, "a matrix is missing; usage: heddle fetch NAME..., see --help"),
        (["--lst"], 1, "unrecognized arguments: --lst; see heddle fetch --help"),
        (["a/b/c"], 1, "'a/b/c' is no name of a matrix: write GROUP/NAME as in HB/bcsstk17"),
        (["--query", "grup=HB"], 1, "a query has no key 'grup' (did you mean group?)"),
        (["--query", "HB"], 1, "'HB' is no part of a query: write KEY=VALUE"),
        (["HB/line05"], 2, "has no matrix HB/line05 (did you mean HB/line0"),
        (["HB/q*"], 2, "the index has no matrix that fits 'HB/q*'"),
        (["--checksums", "none.txt", "HB/line04"], 2, "none.txt: cannot be read: No such file"),
        (["--offline", "HB/line04"], 2, "--offline forbids to fetch it"),
    ],
)
def test_wrong_uses(fetch, arguments, status, message):
    code, out, err = fetch(*arguments)
    assert (code, out) == (status, "")
    assert err.startswith("heddle fetch: error: ") and message in err
    assert err.count("\n") == 1


def test_a_query_of_many_matrices_asks_first(fetch, site):
    site.lines += [f"HB,m{k},3,3,3,1,0,0,1,1,1,x,3" for k in range(120)]
    site.publish_index()
    code, _, err = fetch("--query", "name=m*")
    assert code == 1
    assert err == (
        "heddle fetch: error: that would fetch 121 matrices; --list shows them, limit=N in "
        "--query takes the first, --all takes all\n"
    )


def test_some_matrices_cannot_be_had(fetch, site):
    site.plan("/MM/HB/line07.tar.gz", instead(b"junk"), instead(b"junk"))
    status, out, err = fetch("HB/line04", "HB/line07", "HB/line12")
    assert status == 2
    assert [line.split(":")[0] for line in out.splitlines()] == ["HB/line04", "HB/line12"]
    assert "line07.tar.gz is refused, it was fetched twice: " in err
    assert err.endswith("heddle fetch: 2 of 3 matrices are in the cache\n")


def test_without_a_network_one_sentence(fetch):
    status, out, err = fetch("HB/line04", "HB/line07", HEDDLE_COLLECTION="http://127.0.0.1:1")
    assert (status, out) == (2, "")
    assert err.startswith(
        f"heddle fetch: error: HB/line04 is not in the cache ({fetch.cache.parent}), and "
        "http://127.0.0.1:1 cannot be reached: connection refused; "
    )
    assert err.count("error:") == 1


def test_known_sums_from_a_file(fetch, site, tmp_path):
    sums = tmp_path / "sums.txt"
    sums.write_text(
        hashlib.md5(site.files["/MM/HB/line04.tar.gz"]).hexdigest()
        + "  HB/line04.tar.gz\n"
        + "0" * 64
        + "  HB/line07.tar.gz\n"
    )
    status, out, err = fetch("--checksums", str(sums), "HB/line04", "HB/line07")
    assert status == 2 and out.startswith("HB/line04: fetched")
    assert "line07.tar.gz does not have the known sum sha256:000" in err


def test_verify_finds_and_mends_changed_files(fetch):
    path = fetch("--where", "HB/line04")[1].strip()
    assert fetch("--verify")[1] == "HB/line04: as it was fetched\n"
    with open(path, "r+b") as file:
        file.seek(-3, os.SEEK_END)
        file.write(b"9")
    status, out, _ = fetch("--verify", "--offline")
    assert (status, out) == (2, "HB/line04: changed: line04.mtx\n")
    status, out, _ = fetch("--verify", "HB/line04")
    assert (status, out) == (0, "HB/line04: changed: line04.mtx; fetched anew\n")
    assert fetch("--verify", "--offline")[1] == "HB/line04: as it was fetched\n"
    assert fetch("--verify", "HB/line07")[:2] == (2, "HB/line07: not in the cache\n")


def test_the_index_is_updated(fetch, site):
    fetch("HB/line04")
    site.add("HB", "young", heddle.generate("laplace1d", 3), "structural problem")
    assert fetch("--list", "HB/young")[0] == 2
    assert fetch("--update-index")[:2] == (0, "")
    assert fetch("--list", "HB/young")[0] == 0


def test_a_broken_answer_of_the_site_is_told_of(fetch, site):
    site.plan("/MM/HB/line04.tar.gz", instead(archive({"x/x": b""})))
    assert "lies outside of the folder line04" in fetch("HB/line04")[2]
    site.plan("/MM/HB/line04.tar.gz", code(403))
    assert "the server answers HTTP 403" in fetch("HB/line04")[2]


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_an_interrupted_fetch_leaves_nothing_half(fetch, site, number, status):
    site.plan("/MM/Rajat/large.tar.gz", slow(0.5))
    started = fetch.start("Rajat/large")
    part = fetch.cache / ".downloads" / "Rajat--large.tar.gz.part"
    for _ in range(200):
        if part.exists() and part.stat().st_size > 0:
            break
        time.sleep(0.05)
    started.send_signal(number)
    _, err = started.communicate(timeout=20)
    assert started.returncode == status
    if number == signal.SIGINT:
        assert err == "heddle fetch: error: interrupted; a later run goes on from here\n"
    assert not (fetch.cache / "Rajat").exists() and part.exists()
    assert fetch("Rajat/large")[0] == 0
    assert (fetch.cache / "Rajat" / "large" / "large.mtx").is_file()


def test_help_shows_examples(fetch):
    status, out, _ = fetch("--help")
    assert status == 0
    for word in (
        "heddle fetch HB/bcsstk17",
        "HEDDLE_DATA",
        "HEDDLE_COLLECTION",
        "positive_definite",
    ):
        assert word in out
    assert fetch("--version")[1].startswith("heddle-fetch ")


def test_a_name_stands_for_a_file_in_python(site, tmp_path, monkeypatch):
    monkeypatch.setenv("HEDDLE_COLLECTION", site.address)
    monkeypatch.setenv("HEDDLE_DATA", str(tmp_path))
    A = heddle.read_matrix("SuiteSparse:HB/line07")
    assert (A.toarray() == heddle.generate("laplace1d", 7).toarray()).all()
    with pytest.raises(heddle.InputError, match="has no matrix HB/nothing"):
        heddle.read_matrix("SuiteSparse:HB/nothing")


def test_importing_heddle_takes_no_downloads_along():
    text = "import heddle, sys; print(sorted({'pooch', 'requests', 'urllib3'} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


@pytest.mark.skipif(
    "HEDDLE_PROGRAMS" not in os.environ, reason="HEDDLE_PROGRAMS names no executables"
)
def test_the_executables_fetch_what_they_are_asked_for(fetch, site, tmp_path, monkeypatch):
    program = tmp_path / "heddle-fetch"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m heddle.commands.fetch "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    heddle_program = Path(os.environ["HEDDLE_PROGRAMS"]) / "heddle"
    words = [
        heddle_program,
        "solve",
        "SuiteSparse:HB/line12",
        "-n",
        "2",
        "-o",
        tmp_path / "out",
        "-q",
    ]
    run = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    results = json.loads((tmp_path / "out" / "result.json").read_text())
    expected = np.linalg.eigvalsh(heddle.generate("laplace1d", 12).toarray())[:2]
    assert np.allclose(results["eigenvalues"], expected, rtol=1e-8)
    path = fetch.cache / "HB" / "line12" / "line12.mtx"
    assert results["inputs"][0]["file"] == str(path)
    assert results["inputs"][0]["crc32"] == f"{zlib.crc32(path.read_bytes()):08x}"
    listed = subprocess.run(
        [heddle_program, "fetch", "--list", "--offline"], capture_output=True, text=True
    )
    assert "HB/line12" in listed.stdout
    site.plan("/MM/HB/line07.tar.gz", code(403))
    words[2] = "SuiteSparse:HB/line07"
    run = subprocess.run(words, capture_output=True, text=True, check=False)
    assert run.returncode == 2 and "the server answers HTTP 403" in run.stderr
