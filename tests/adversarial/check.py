"""What is wrong about an outcome: exit code, status, files, and the answer itself."""

import math
import re

import numpy as np

import check_pairs
import check_systems
from finding import Finding, doubtful, wrong

EXIT_CODES = {"converged": 0, "max_iterations": 3, "time_limit": 3, "breakdown": 4, "stagnated": 4,
              "indefinite": 4, "verification_failed": 6, "interrupted": 130}
SLOW_SECONDS = 5.0  # a dense solve of the largest problem takes a tenth


def check(case, problem, outcome):
    """The findings of one run, none for a right answer."""
    findings = ending(outcome)
    if findings or not outcome.converged:
        return findings + unfinished(outcome)
    if problem.refuse:
        return [wrong("should_refuse", f"converged, but {problem.refuse}")]
    findings = not_finite(outcome, problem) + foreign(outcome, problem) + contradictions(outcome)
    if findings:
        return findings
    if outcome.processor_seconds > SLOW_SECONDS:
        findings.append(doubtful("slow", f"{outcome.processor_seconds:.1f} s of processor time"))
    judge = {"eigen": check_pairs.eigenpairs, "triplets": check_pairs.triplets,
             "linear": check_systems.linear, "least_squares": check_systems.least_squares}
    return findings + judge[problem.kind](case, problem, outcome)


def ending(outcome):
    """Crashes, hangs, and exit codes that contradict the status."""
    if outcome.exit_code is None:
        return [wrong("hang", f"killed after {outcome.seconds:.0f} s, far beyond its time limit")]
    if outcome.exit_code == 99 or "runtime error:" in outcome.stderr:
        return [wrong("sanitizer", outcome.stderr[-1500:])]
    if outcome.exit_code < 0 or outcome.exit_code in (134, 139):
        return [wrong("crash", f"signal {-outcome.exit_code}: {outcome.stderr[-500:]}")]
    if outcome.unreadable:
        return [wrong("output", f"result.json or arrays are unreadable: {outcome.unreadable}")]
    if outcome.exit_code in (1, 2, 5):
        return []
    if outcome.result is None:
        return [wrong("output", f"exit code {outcome.exit_code} without a result.json")]
    expected = EXIT_CODES.get(outcome.status)
    if expected != outcome.exit_code:
        return [wrong("exit_code", f"status {outcome.status} with exit code {outcome.exit_code}")]
    return []


def unfinished(outcome):
    """Runs without an answer."""
    if outcome.converged or outcome.exit_code is None:
        return []
    if outcome.result is None or outcome.exit_code in (1, 2, 5):
        last = [line for line in outcome.stderr.splitlines() if line.strip()][-1:]
        return [Finding("refused", "note", f"exit code {outcome.exit_code}: {''.join(last)[:300]}")]
    return [Finding("unfinished", "note",
                    f"{outcome.status}: {outcome.result.get('reason', '')[:300]}")]


def contradictions(outcome):
    """Counts and marks of a converged result that say that something has not converged."""
    reason = outcome.result.get("reason", "")
    counts = re.search(r"(\d+) of (\d+) (pairs|columns)", reason)
    if counts and counts[1] != counts[2] or "nan" in reason.split():
        return [wrong("reason", f"converged, but its reason is: {reason[:300]}")]
    open_places = [i for i, passes in enumerate(outcome.result.get("converged", [])) if not passes]
    if open_places:
        return [wrong("reason", f"converged, but value {open_places[0]} is marked as not converged")]
    return []


def not_finite(outcome, problem):
    """Squares of singular values may overflow where the singular values do not."""
    names = ["singular_values", "residuals", "backward_errors", "error_bounds", "orthogonality"]
    if problem.kind != "triplets":
        names.append("eigenvalues")
    found = [name for name in names if not all_finite(outcome.result.get(name) or 0)]
    found += [name for name, array in outcome.arrays.items() if not np.all(np.isfinite(array))]
    return [wrong("not_finite", ", ".join(found))] if found else []


def foreign(outcome, problem):
    """Complex vectors of a real problem, real ones of a complex problem."""
    found = [name for name, array in outcome.arrays.items()
             if np.iscomplexobj(array) != problem.complex]
    return [wrong("numbers", f"{', '.join(found)}: {problem.numbers.__name__} expected")] if found else []


def all_finite(value):
    if isinstance(value, list):
        return all(all_finite(item) for item in value)
    return isinstance(value, (int, float)) and math.isfinite(value)
