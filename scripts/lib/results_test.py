"""Shows that the closing lines of scripts/test.sh name what failed, and that the parts after a part that
failed run: a copy of the scripts runs with a cmake, a ctest and packages that are not real."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent
GOOD_REPORT = '<testsuite><testcase name="A.Passes" classname="A.Passes" status="run"/></testsuite>'
BAD_REPORT = """<testsuite>
<testcase name="A.Passes" classname="A.Passes" status="run"/>
<testcase name="A.IsLess/a &lt; b" classname="A.IsLess/a &lt; b" status="fail"><failure message=""/></testcase>
<testcase name="A.HasNoGpu" classname="A.HasNoGpu" status="disabled"/>
<testcase name="A.IsSkipped" classname="A.IsSkipped" status="notrun"><skipped message=""/></testcase>
<testcase name="test_f" classname="tests.python.test_a" time="0.1"><error message="">text</error></testcase>
<testcase name="test_g" classname="tests.python.test_a" time="0.1"/>
</testsuite>
"""
BUILD_ERROR = "tests/support/a.cpp:12:3: error: 'x' was not declared"
LOGS = {  # what the first error of a log is: the log
    BUILD_ERROR: f"[1/2] Building CXX object error.o\nFAILED: a.o\n/a.hpp:1: warning: no error\n{BUILD_ERROR}\n",
    "CMake Error at CMakeLists.txt:3 (message): needs CUDA":
        "-- Found\nCMake Error at CMakeLists.txt:3 (message):\n\n  needs CUDA\n\nerror: later\n",
    "a.cpp:(.text+0x1): undefined reference to `f()'":
        "a.cpp:(.text+0x1): undefined reference to `f()'\ncollect2: error: ld returned 1 exit status\n",
    "ERROR: No matching distribution": "Looking\nERROR: No matching distribution\nWARNING: a\n",
    "the last line": "a line\nthe last line\n\n",
}
failed = []


def expect(what, holds):
    if not holds:
        failed.append(what)
        print(f"FAILED: {what}")


def run_script(tools, *arguments):
    """(exit code, lines) of a copy of scripts/test.sh, with tools {name: script} first in PATH."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        shutil.copytree(SCRIPTS, root / "scripts")
        for name, text in tools.items():
            tool = root / "tools" / name
            tool.parent.mkdir(exist_ok=True)
            tool.write_text("#!/bin/sh\n" + text)
            tool.chmod(0o755)
        path = f"{root / 'tools'}:{os.environ['PATH']}"
        done = subprocess.run([root / "scripts/test.sh", *arguments], text=True, capture_output=True,
                              env={**os.environ, "PATH": path})
    return done.returncode, done.stdout.splitlines() or [done.stderr]


def ctest(reports):
    """A ctest that writes the report of each build folder, and fails where there is none or a bad one."""
    script = 'for report; do case $report in *.xml) break ;; esac; done\nmkdir -p "${report%/*}"\n'
    for folder, text in reports.items():
        script += f"""case $report in *{folder}*)
cat >"$report" <<'END'
{text}
END
exit {0 if text == GOOD_REPORT else 8} ;;
esac
"""
    return script + "exit 1\n"


def last_lines(lines, count):
    return "\n" + "\n".join(lines[-count:])


def check_failures():
    cmake = f'case "$*" in *--preset*) ;; *build/test*) echo "{BUILD_ERROR}"; exit 1 ;; esac\n'
    tools = {"cmake": cmake, "ctest": ctest({"build/sanitize": BAD_REPORT}),
             "dpkg-query": "exit 1\n", "sudo": "exit 100\n", "apt-get": "echo cannot be fetched; exit 100\n"}
    code, lines = run_script(tools, "--release", "--python", "--sanitize")
    expect("failures give exit code 1", code == 1)
    wanted = [r"failed: Packages of the system: .*",
              r"could not be built: Release build, warnings as errors: " + re.escape(BUILD_ERROR),
              r"could not be built: Release build for the Python package: " + re.escape(BUILD_ERROR),
              r"failed: build/sanitize: A\.IsLess/a < b",
              r"failed: build/sanitize: tests\.python\.test_a\.test_f",
              r"times: packages \d+ s, release build \d+ s, python build \d+ s, sanitize build \d+ s, "
              r"sanitize tests \d+ s, all \d+ s",
              r"3 passed, 5 failed, 2 skipped"]
    missing = [pattern for pattern, line in zip(wanted, lines[-len(wanted):])
               if not re.fullmatch(pattern, line)]
    expect(f"the closing lines are right, got {last_lines(lines, 7)}\nnot {missing}", not missing)
    code, lines = run_script({**tools, "ctest": ctest({})}, "--sanitize")
    expect("a report without tests is a failure, got" + last_lines(lines, 4), code == 1 and any(
        re.fullmatch(r"failed: build/sanitize: no tests in .*build/sanitize/ctest\.xml, exit code 1", line)
        for line in lines))


def check_success():
    tools = {"cmake": "", "ctest": ctest({"build/": GOOD_REPORT}), "dpkg-query": "echo install ok installed\n"}
    code, lines = run_script(tools, "--release", "--sanitize")
    expect("no failure: exit code 0", code == 0)
    expect("no failure: no line but the times and the last one, got" + last_lines(lines, 3),
           lines[-1] == "5 passed, 0 failed, 0 skipped" and lines[-2].startswith("times: ")
           and not any("failed:" in line or "FAILED" in line for line in lines))
    tools["ctest"] = ctest({"build/": GOOD_REPORT}).replace("exit 0", "exit 8")
    code, lines = run_script(tools, "--sanitize")
    expect("an exit code that no test explains is a failure, got" + last_lines(lines, 3),
           code == 1 and lines[-1] == "3 passed, 1 failed, 0 skipped" and "exit code 8" in lines[-3])


def check_first_error():
    for error, log in LOGS.items():
        with tempfile.NamedTemporaryFile("w", suffix=".log") as file:
            file.write(log)
            file.flush()
            found = subprocess.run(["bash", "-c", "source scripts/lib/results.sh && first_error " + file.name],
                                   cwd=SCRIPTS.parent, text=True, capture_output=True).stdout
        expect(f"the first error is '{error}', got '{found}'", found == error)


def check_without_gpu():
    """Where there is no GPU, one test of an executable that needs one is started, and all are counted."""
    with tempfile.TemporaryDirectory() as folder:
        tests, report = Path(folder, "CTestTestfile.cmake"), Path(folder, "report.xml")
        script = f'include("{SCRIPTS.parent}/tests/without_gpu.cmake")\n'
        tests.write_text("".join(f'add_test({name} "{shutil.which("true")}")\n' for name in ("A", "B", "C", "Host"))
                         + f'set(heddle_gpu_tests A B C)\n{script}{script}set(heddle_gpu_tests Host)\n{script}')
        subprocess.run(["ctest", "--output-junit", report], cwd=folder, capture_output=True)
        counts = subprocess.run([sys.executable, SCRIPTS / "lib/junit.py", report], text=True,
                                capture_output=True).stdout
    devices = [*Path("/dev").glob("nvidia[0-9]*"), *Path("/dev").glob("dxg"), *Path("/dev").glob("nvmap")]
    wanted = "passed 4\nskipped 0\n" if devices else "passed 2\nskipped 2\n"
    expect(f"tests without a GPU: {wanted}, got {counts}", counts == wanted)


check_failures()
check_success()
check_first_error()
check_without_gpu()
sys.exit(1 if failed else 0)
