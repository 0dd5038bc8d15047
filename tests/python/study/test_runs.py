"""Runs with limits, failures, resumption, shards, locks and stops, with a program that stands for
heddle's."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from heddle.study import journal, process
from heddle.study.records import Record


WITHOUT_THE_PACKAGE = (  # so that a process starts at once
    "import sys, types; package = types.ModuleType('heddle'); package.__path__ = [sys.argv.pop(1)];"
    "sys.modules['heddle'] = package; from heddle.commands.study import main; sys.exit(main())"
)


def command(path, *options):
    package = str(Path(process.__file__).parent.parent)
    return [sys.executable, "-c", WITHOUT_THE_PACKAGE, package, str(path), "-q", *options]


def wait_for(condition, seconds=20):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.01)


def test_each_end_of_a_run_is_a_row_with_its_reason(place, monkeypatch, capsys):
    monkeypatch.setattr(process, "GRACE_S", 0.2)
    names = ["good", "crash", "hang", "memory", "nothing", "words", "nonsense", "lengths"]
    names += ["refused", "device", "odd"]
    path = place.study(names, "run: {timeout_s: 1.5, memory_gb: 0.2}")
    assert place.run(path, "--jobs", "3") == 0
    found = {name: (record.status, record.reason) for name, record in place.records().items()}
    assert found["good"] == ("converged", "it did")
    assert found["crash"][0] == "crashed" and "SIGSEGV" in found["crash"][1]
    assert found["hang"][0] == "timeout" and "run.timeout_s" in found["hang"][1]
    assert found["memory"][0] == "out_of_memory" and "run.memory_gb" in found["memory"][1]
    assert found["nothing"][0] == "unreadable_results" and "no complete" in found["nothing"][1]
    assert found["words"] == (
        "unreadable_results", "exit code 7, no complete result.json: no such luck"
    )  # fmt: skip
    assert found["nonsense"][0] == "unreadable_results"
    assert "2 eigenvalues, 1 residuals" in found["lengths"][1]
    assert found["odd"][0] == "unreadable_results" and "memory is no map" in found["odd"][1]
    assert found["refused"] == ("refused", "solver.nev: is 9, but the matrix has 3 rows")
    assert found["device"] == ("out_of_memory", "CUDA: out of memory")
    records = place.records()
    assert records["crash"].signal == signal.SIGSEGV and records["crash"].exit_code is None
    assert 1.5 < records["hang"].wall_seconds < 4
    assert records["memory"].peak_rss_bytes > 2e8 and records["good"].peak_rss_bytes < 1e8
    said = capsys.readouterr().out
    assert "11 of 11 runs have ended" in said and "crashed: crash/a: SIGSEGV" in said


def test_a_second_start_runs_nothing_and_retry_the_failed(place):
    path = place.study(["good", "crash", "words"])
    assert place.run(path) == 0 and place.starts() == ["good", "crash", "words"]
    assert place.run(path) == 0 and len(place.starts()) == 3
    assert place.run(path, "--retry") == 0 and place.starts()[3:] == ["crash", "words"]
    assert len(place.journal_lines()) == 5 and len(place.records()) == 3


def test_an_edited_study_runs_what_is_new(place):
    place.run(place.study(["one", "two"]))
    path = place.study(["two", "one", "three"], cases="[{name: b, solver: {nev: 2}}]")
    place.run(path)
    assert place.starts() == ["one", "two", "three"]  # names of cases are no part of a key
    place.run(place.study(["one"], cases="[{name: b, solver: {nev: 2, tolerance: 1e-3}}]"))
    assert place.starts()[3:] == ["one"]
    place.set_program("another")
    place.run(path)
    assert place.starts()[4:] == ["one"]


def test_a_torn_line_of_the_journal_is_run_again_or_adopted(place):
    path = place.study(["one", "two", "three"])
    place.run(path)
    lines = (place.output / "journal.jsonl").read_bytes().splitlines(keepends=True)
    (place.output / "journal.jsonl").write_bytes(b"".join(lines[:2]) + lines[2][:40])
    assert [each.matrix for each in journal.read_records(place.output).values()] == ["one", "two"]
    assert place.run(path) == 0 and len(place.starts()) == 3  # record.json had it
    assert len(place.records()) == 3
    for name in ("record.json", "result.json"):
        (place.output / place.records()["three"].folder / name).unlink()
    (place.output / "journal.jsonl").write_bytes(b"".join(lines[:2]) + lines[2][:40])
    assert place.run(path) == 0 and place.starts()[3:] == ["three"]


def test_a_result_without_a_record_is_adopted(place):
    path = place.study(["one", "two"])
    place.run(path)
    (place.output / "journal.jsonl").unlink()
    for record in place.output.glob("runs/*/record.json"):
        record.unlink()
    assert place.run(path) == 0
    assert len(place.starts()) == 2 and place.records()["one"].status == "converged"
    assert place.records()["one"].wall_seconds == 0.5  # of the result, the study did not see it


def test_kill_9_loses_nothing_and_runs_nothing_twice(place):
    names = [f"slow{letter}" for letter in "abcdefgh"]
    path = place.study(names)
    first = subprocess.Popen(command(path, "--jobs", "2"))
    wait_for(lambda: len(place.starts()) >= 4)
    first.kill()
    first.wait()
    ended = {record.matrix for record in place.records().values()}
    started = place.starts()
    time.sleep(0.5)  # a child that outlived the study would write its result now
    assert subprocess.run(command(path, "--jobs", "2"), check=False).returncode == 0
    records = place.records()
    assert set(records) == set(names) and all(r.status == "converged" for r in records.values())
    again = place.starts()[len(started) :]
    assert ended and not ended & set(again), "what had ended was run again"
    assert sorted(again) == sorted(set(names) - ended) and len(again) == len(set(again))
    assert len(place.journal_lines()) == len(names)


def test_a_request_to_stop_ends_the_children_and_the_next_start_goes_on(place):
    path = place.study(["one", "slow_b", "hang_c", "four"], "run: {timeout_s: 60}")
    running = subprocess.Popen(command(path), stderr=subprocess.PIPE, text=True)
    wait_for(lambda: place.starts()[-1:] == ["hang_c"])
    running.terminate()
    time.sleep(0.2)
    running.terminate()  # the second request does not wait for a child that ignores SIGTERM
    said = running.communicate(timeout=20)[1]
    assert running.returncode == 130 and "2 of 4 runs have ended" in said and "goes on" in said
    assert place.records()["hang_c"].status == "interrupted"
    place.matrix("hang_c").rename(place.folder / "fine.mtx")
    path.write_text(path.read_text().replace("hang_c", "fine"))
    assert place.run(path) == 0
    assert place.starts() == ["one", "slow_b", "hang_c", "fine", "four"]


def test_shards_share_a_folder_and_do_each_run_once(place):
    names = [f"m{i}" for i in range(7)]
    path = place.study(names, cases="[{name: a}, {name: b, solver: {nev: 2}}]")
    both = [subprocess.Popen(command(path, "--shard", f"{i}/3")) for i in (1, 2)]
    assert [each.wait(timeout=60) for each in both] == [0, 0]
    assert len(place.starts()) == 10 and place.run(path, "--shard", "3/3") == 0
    assert sorted(place.starts()) == sorted(names * 2)
    assert len(list(place.output.glob("journal.*-of-3.jsonl"))) == 3
    assert len(journal.read_records(place.output)) == 14
    assert place.run(path) == 0 and len(place.starts()) == 14


def test_two_studies_in_one_folder(place, capsys):
    path = place.study(["one"])
    with journal.Journal(place.output):
        assert place.run(path) == 2
        assert "another study is running in" in capsys.readouterr().err
        assert place.run(path, "--shard", "1/2") == 2
    with journal.Journal(place.output, (1, 2)):
        capsys.readouterr()
        assert place.run(path, "--shard", "1/2") == 2
        assert "the shard 1/2 is already running" in capsys.readouterr().err
    assert place.starts() == [] and place.run(path) == 0


def test_a_run_that_another_process_holds_is_waited_for(place):
    path = place.study(["one", "two"])
    place.run(path)
    records = place.records()
    (place.output / "journal.jsonl").unlink()
    folder = place.output / records["one"].folder
    for name in ("record.json", "result.json"):
        (folder / name).unlink()
    holder = subprocess.Popen(
        [sys.executable, "-S", "-c", "import fcntl, sys, time; f = open(sys.argv[1], 'ab');"
         "fcntl.flock(f, 2); print('held', flush=True); time.sleep(0.7)", str(folder / ".lock")],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert holder.stdout.readline() == "held\n"
    began = time.monotonic()
    assert place.run(path) == 0 and time.monotonic() - began > 0.5
    assert place.records()["one"].status == "converged" and holder.wait() == 0


def test_a_file_in_place_of_the_folder(place, capsys):
    path = place.study(["one"])
    place.output.write_text("I was here first")
    assert place.run(path) == 2
    said = capsys.readouterr().err
    assert str(place.output) in said and "--output" in said and "Traceback" not in said


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written(place, capsys):
    path = place.study(["one"])
    place.output.mkdir(mode=0o500)
    assert place.run(path) == 2 and "--output" in capsys.readouterr().err


def test_a_full_disk_stops_the_study(place, capsys):
    path = place.study(["one", "full", "three"])
    assert place.run(path) == 2
    assert "is full" in capsys.readouterr().err
    assert place.starts() == ["one", "full"] and list(place.records()) == ["one"]


def test_a_journal_that_cannot_grow(place):
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))

    path = place.study([f"m{i}" for i in range(12)])
    ended = subprocess.run(
        command(path), preexec_fn=limit, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 2 and "limit is reached" in ended.stderr
    assert "Traceback" not in ended.stderr
    before = len(journal.read_records(place.output))
    assert 0 < before < 12 and place.run(path) == 0
    assert len(journal.read_records(place.output)) == 12 and len(place.starts()) <= 13


def test_later_records_replace_earlier_ones(tmp_path):
    def line(status, started):
        record = Record("k", "m", "c", 0, "g", "heddle", "p", status, "", started=started)
        return journal.json.dumps(journal.as_dict(record)) + "\n"

    times = [f"2026-01-01T00:00:0{i}Z" for i in range(4)]
    (tmp_path / "journal.jsonl").write_text(line("crashed", times[0]) + line("converged", times[1]))
    (tmp_path / "journal.1-of-2.jsonl").write_text(line("interrupted", times[3]) + '{"key": ')
    assert journal.read_records(tmp_path)["k"].status == "converged"


def test_a_report_needs_no_program(place, monkeypatch, capsys):
    path = place.study(["one", "two"])
    assert place.run(path, "--report-only") == 2
    assert "nothing to report" in capsys.readouterr().err
    place.run(path, "--only", "one")
    monkeypatch.setenv("HEDDLE_PROGRAMS", "/no/such/folder")
    assert place.run(path, "--report-only") == 0 and place.starts() == ["one"]
    assert "1 of the study's 2 runs are still missing" in capsys.readouterr().out
    assert place.run(path) == 2 and "has no program heddle" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--shard", "3/2"], ["--jobs", "0"], ["--onyl", "x"]])
def test_wrong_options_end_with_1(place, words, capsys):
    assert place.run(place.study(["one"]), *words) == 1
    assert words[0] in capsys.readouterr().err


def test_a_pattern_that_chooses_nothing(place, capsys):
    assert place.run(place.study(["one"]), "--only", "two") == 1
    assert "none of the 1 runs is chosen by 'two'" in capsys.readouterr().err
    assert place.run(place.study(["one"]), "--dry-run") == 0 and place.starts() == []
    assert "1 are to run" in capsys.readouterr().out and not place.output.exists()


def test_peak_memory_is_that_of_the_program_alone(tmp_path, heddle_program):
    """getrusage of a program counts the process that started it."""
    large = bytearray(b"1" * 700_000_000)
    ended = subprocess.run(
        [heddle_program, "solve", "laplace1d:50", "-q", "--json", "-o", tmp_path / "out"],
        capture_output=True, preexec_fn=os.getpid, check=True,
    )  # fmt: skip
    peak = json.loads(ended.stdout)["memory"]["process_peak_bytes"]
    assert 1e6 < peak < len(large) / 2  # CUDA's libraries take some 200 MB


def test_programs_that_cannot_be_started(place, capsys):
    cases = "[{name: a, solver: {nev: 2}}, {external: slepc, python: /no/such/python}]"
    path = place.study(["one"], cases=cases)
    assert place.run(path) == 0
    found = {record.case: record for record in journal.read_records(place.output).values()}
    assert found["a"].status == "converged" and found["slepc"].status == "unavailable"
    assert "/no/such/python cannot be started: No such file" in found["slepc"].reason
    program = place.folder / "programs" / "heddle"
    text = program.read_text()
    program.write_text(text.replace("config*) exit 0;;", 'config*) rm "$0"; exit 0;;'))
    assert place.run(place.study(["two"])) == 5
    assert "programs/heddle cannot be started" in capsys.readouterr().err


def test_a_program_that_does_not_work(place, capsys):
    program = place.folder / "programs" / "heddle"
    program.write_text("#!/bin/sh\necho 'no libcuda.so' >&2\nexit 127\n")
    assert place.run(place.study(["one"])) == 5
    said = capsys.readouterr().err
    assert "exit code 127" in said and "no libcuda.so" in said
