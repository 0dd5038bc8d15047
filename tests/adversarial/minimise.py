"""Makes a case simpler as long as it keeps one of its findings."""

import copy


def simpler(case):
    """Cases with one thing less: an option, a vector, rows, pairs."""
    for key in list(case.solver):
        if key not in ("nev", "which", "interval"):
            changed = copy.deepcopy(case)
            del changed.solver[key]
            yield changed
    for name, plain in (("guess", None), ("constraints", None), ("precision", "double"),
                        ("random_seed", 42)):
        if getattr(case, name) != plain:
            changed = copy.deepcopy(case)
            setattr(changed, name, plain)
            yield changed
    for n in (case.n // 8, case.n // 4, case.n // 2, 3 * case.n // 4, case.n - 1):
        if 0 < n < case.n:
            changed = copy.deepcopy(case)
            changed.n = n
            yield changed
    for nev in (1, case.nev // 2, case.nev - 1):
        if 0 < nev < case.nev:
            changed = copy.deepcopy(case)
            changed.solver["nev"] = nev
            yield changed


def minimised(case, findings_of):
    """The simplest case found greedily. `findings_of`: the findings of a case."""
    kinds = {finding.kind for finding in findings_of(case) if finding.severity != "note"}
    if not kinds:
        return case
    progress = True
    while progress:
        progress = False
        for changed in simpler(case):
            if kinds & {finding.kind for finding in findings_of(changed)}:
                case, progress = changed, True
                break
    return case
