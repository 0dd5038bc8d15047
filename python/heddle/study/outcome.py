"""From how a process ended, and what it left, to the record of its run."""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .process import Ended
from .records import DEVICE, INPUT, UNFINISHED, USAGE, Record, Run, read_json, shortened
from .sense import problem_of_result

# Exit codes of heddle.study.external: the library cannot be imported, or fails.
EXTERNAL_CODES = {69: "unavailable", 70: "crashed"}


@dataclass(frozen=True)
class Machine:
    """What the records of one start share."""

    host: str
    cpu: str


def record_of(
    run: Run, ended: Ended, folder: Path, machine: Machine, started: str, version: str
) -> Record:
    """`folder`: of the run. Raises StudyError where the run failed because the disk is full, which
    is no fault of the run."""
    result = read_json(folder / "result.json")
    problem = problem_of_result(result)
    status, reason = _judge(run, ended, folder, result, problem)
    if "No space left on device" in reason:
        from .journal import disk_full

        raise disk_full(folder)
    record = _record(run, status, reason, machine, started, version)
    record.exit_code, record.signal = ended.exit_code, ended.signal
    record.wall_seconds = round(ended.wall_seconds, 6)
    record.peak_rss_bytes = ended.peak_rss_bytes
    if isinstance(result, dict) and not problem:
        record.result = shortened(result)
        _take_from_result(record, result)
    return record


def adopted_record(run: Run, result: dict[str, Any], machine: Machine, version: str) -> Record:
    """The record of a run whose study was killed between its end and its record."""
    if problem := problem_of_result(result):
        return _record(run, "unreadable_results", problem, machine, "", version)
    started = str((result.get("run") or {}).get("started", ""))
    status, reason = str(result["status"]), str(result.get("reason", ""))
    if status == "error":
        status = status_of_error(int(result.get("exit_code") or 0), reason)
    record = _record(run, status, reason, machine, started, version)
    record.exit_code = result.get("exit_code")
    record.wall_seconds = float((result.get("seconds") or {}).get("total") or 0.0)
    record.result = shortened(result)
    _take_from_result(record, result)
    return record


def unavailable_record(run: Run, reason: str, machine: Machine) -> Record:
    """The record of an external solver whose Python cannot be started."""
    return _record(run, "unavailable", reason, machine, "", "")


def _record(
    run: Run, status: str, reason: str, machine: Machine, started: str, version: str
) -> Record:
    return Record(
        key=run.key,
        matrix=run.matrix,
        case=run.case,
        repeat=run.repeat,
        problem_group=run.problem_group,
        kind=run.kind,
        program=run.program,
        status=status,
        reason=reason,
        started=started,
        host=machine.host,
        cpu=machine.cpu,
        version=version,
        folder=run.folder,
    )


def _take_from_result(record: Record, result: dict[str, Any]) -> None:
    record.device = " ".join(filter(None, [result.get("device"), result.get("device_name")]))
    peak = (result.get("memory") or {}).get("process_peak_bytes")
    if isinstance(peak, int):
        record.peak_rss_bytes = max(record.peak_rss_bytes or 0, peak)


def _judge(run: Run, ended: Ended, folder: Path, result: Any, problem: str) -> tuple[str, str]:
    """Status and reason."""
    if ended.stopped == "interrupt":
        return UNFINISHED, "stopped by the user; the next start of the study runs it again"
    if ended.stopped == "memory":
        return "out_of_memory", "its resident memory passed the limit run.memory_gb of the study"
    if ended.stopped == "timeout":
        return "timeout", "it took longer than run.timeout_s of the study"
    if ended.signal is not None:
        return _signalled(ended.signal, folder)
    code = ended.exit_code or 0
    if isinstance(result, dict) and not problem and result["status"] != "error":
        return str(result["status"]), str(result.get("reason", ""))
    said = (result or {}).get("reason") if isinstance(result, dict) else None
    message = str(said or last_words(folder) or "it wrote no message")
    if run.kind == "external" and code in EXTERNAL_CODES:
        return EXTERNAL_CODES[code], message
    if code in (USAGE, INPUT, DEVICE):
        return status_of_error(code, message), message
    left = problem or "no result.json"
    return "unreadable_results", f"exit code {code}, {left}: {message}"


def status_of_error(code: int, message: str) -> str:
    """The status of a run that its program refused with an exit code of heddle."""
    if code != DEVICE:
        return "refused"
    return "out_of_memory" if "memory" in message.lower() else "unavailable"


def _signalled(number: int, folder: Path) -> tuple[str, str]:
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    words = last_words(folder)
    if number == signal.SIGKILL:
        return (
            "out_of_memory",
            "ended by SIGKILL from outside of the study, as the system does where memory runs out",
        )
    if "bad_alloc" in words or "MemoryError" in words:
        return "out_of_memory", f"{name}: {words}"
    return "crashed", f"{name}: {words}" if words else name


def last_words(folder: Path) -> str:
    """The last line that a process wrote to stderr, else to stdout."""
    for name in ("stderr.txt", "stdout.txt"):
        try:
            with open(folder / name, "rb") as file:
                file.seek(max(0, file.seek(0, 2) - 4096))
                text = file.read().decode("utf-8", "replace")
        except OSError:
            continue
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if lines:
            line = "".join(each for each in lines[-1] if each.isprintable())[:500]
            return _PROGRAM_AND_PLACE.sub("", line)
    return ""


# heddle's own name and the place in the config.yaml that the study wrote
_PROGRAM_AND_PLACE = re.compile(r"^heddle[\w -]*: error: (\S*config\.yaml:[\d:]+ )?")
