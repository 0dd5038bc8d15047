"""Writes a study's report: the page, the pictures and the tables."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import zip_longest
from pathlib import Path

from . import page, sheets, style, table, values
from .collect import Problem, Study, read_study, slug_of
from .machine import Machine, machine_of
from .matrices import Portrait, portrait_of
from .outcomes import Outcomes, decide, outcomes_of
from .page import MatrixPage, Picture
from .sheets import Places, Sheet

FULL_DETAIL = 20  # problems whose curves are drawn with all their points


def write_report(folder: Path) -> Path:
    """Writes report/ in a study's folder and returns the page, report/report.html.

    Raises NoStudy for a folder that is none, OSError where report/ cannot be written. What is
    measured or computed for pictures is kept in report/kept, so that the same study gives the same
    bytes."""
    study = read_study(Path(folder))
    target = study.folder / "report"
    target.mkdir(exist_ok=True)
    outcomes = outcomes_of(study)
    decision = decide(study, outcomes)
    places = {name: place for place, name in enumerate(study.cases)}
    machine = machine_of(target / "kept" / "machine.json") if study.runs else None
    with style.settings():
        overview = overview_pictures(study, outcomes, places, machine)
        matrices = matrix_pages(study, places, target / "kept")
    pictures = [*overview, *(p for entry in matrices for p in entry.pictures)]
    for picture in pictures:
        write(target / picture.file, picture.svg)
    for old in target.glob("*.svg"):
        if old.name not in {picture.file for picture in pictures}:
            old.unlink()
    write(target / "table.csv", table.to_csv(table.rows(study)))
    write(target / "values.csv", values.to_text(study))
    text = page.render(study, outcomes, decision, overview, matrices, roof_of(machine))
    write(target / "report.html", text)
    return target / "report.html"


def write(path: Path, text: str) -> None:
    """A reader finds the old file or the new one, never a part."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, path)


def roof_of(machine: Machine | None) -> str:
    if machine is None:
        return ""
    return (
        f"{machine.host} ({machine.cpu}, {machine.cpus} threads), measured when the report was "
        f"first written: triad {machine.bandwidth / 1e9:.1f} GB/s, dense product "
        f"{machine.peak / 1e9:.1f} GFlop/s in double precision"
    )


def other_roofs(study: Study, machine: Machine | None) -> str:
    """A sentence on runs to which the measured roof does not apply."""
    places = {
        f"{run.device} on {run.host}"
        for run in study.runs
        if run.full.get("phases") and (run.device != "host" or machine and run.host != machine.host)
    }
    return f" It is not that of runs of {', '.join(sorted(places))}." if places else ""


def picture_of(sheet: Sheet, anchor: str, heading: str, caption: str) -> Picture:
    notes = "; ".join(sheet.notes)
    text = f"{caption} {notes[:1].upper()}{notes[1:]}." if notes else caption
    return Picture(anchor, heading, text, sheet.label, style.to_svg(sheet.figure))


def overview_pictures(
    study: Study, outcomes: Outcomes, places: Places, machine: Machine | None
) -> list[Picture]:
    if not any(run.kind_of_end != "not run" for run in study.runs):
        return []
    made: list[tuple[Callable[[], Sheet], str, str, str]] = [
        (lambda: sheets.profiles(study, outcomes, places), "profiles", "Performance profiles",
         "Share of the problems that a method solves within a multiple of the smallest cost. Runs "
         "that fail or are proven wrong never count as solved. Left: time of setup and solve. "
         "Right: columns multiplied by A."),
        (lambda: sheets.accuracy(study, places), "accuracy", "Accuracy",
         "A mark per run that converged: the largest relative error of its values, over the "
         "requested tolerance. Values that only rounding limits are left out."),
        (lambda: sheets.phases(study, outcomes), "phases", "Time by phase",
         "Mean over the problems that a method solved. Solvers that tell no phases are left out."),
        (lambda: sheets.roofline(study, places, machine), "roofline", "Roofline of the products",
         "A mark per run: all its products with A, counted with their compulsory traffic. Matrices "
         "that fit in a cache can lie above the roof, which is that of memory. Roof: "
         f"{roof_of(machine)}.{other_roofs(study, machine)}"),
    ]  # fmt: skip
    return [picture_of(make(), anchor, heading, text) for make, anchor, heading, text in made]


def matrix_pages(study: Study, places: Places, kept: Path) -> list[MatrixPage]:
    """A page per matrix, in the order of the plan."""
    detail = min(1.0, FULL_DETAIL / max(len(study.problems), 1))
    matrices: dict[str, list[Problem]] = {}
    for problem in study.problems:
        matrices.setdefault(problem.matrix, []).append(problem)
    taken = {"profiles", "accuracy", "phases", "roofline", *(p.slug for p in study.problems)}
    pages = []
    for name, problems in matrices.items():
        slug = slug_of(f"matrix-{name}", taken)
        portrait = portrait_for(problems, kept / f"{slug}.json")
        made = [matrix_picture(name, slug, portrait, problems)] if portrait else []
        made += [problem_picture(problem, places, detail) for problem in problems]
        notes = [note for note in (portrait.spy_note, portrait.density_note) if note] \
            if portrait else []  # fmt: skip
        pages.append(MatrixPage(name, slug, notes, [one for one in made if one is not None]))
    return pages


def portrait_for(problems: list[Problem], store: Path) -> Portrait | None:
    """None where no configuration names the matrix."""
    stated = [run.problem for problem in problems for run in problem.runs if run.problem]
    return portrait_of(stated[0], store) if stated else None


def matrix_picture(
    name: str, slug: str, portrait: Portrait, problems: list[Problem]
) -> Picture | None:
    sheet = sheets.matrix_sheet(name, portrait, problems)
    if sheet is None:
        return None
    parts = []
    if portrait.spy is not None:
        parts.append("where the entries stand, in a fuller colour where more do")
    if portrait.density is not None:
        parts.append("the density of the spectrum (kernel polynomial method), with found values")
    text = ", and ".join(parts)
    return picture_of(sheet, slug, "", f"{text[:1].upper()}{text[1:]}.")


def problem_picture(problem: Problem, places: Places, detail: float) -> Picture | None:
    if not any(run.kind_of_end != "not run" for run in problem.runs):
        return None
    sheet = sheets.problem_sheet(problem, places, detail)
    text = (
        "Thick lines: the worst residual of the wanted pairs, thin lines: each pair, a cross: did "
        "not converge."
    )
    made = picture_of(sheet, problem.slug, problem.question, text)
    made.values, made.values_of = values_of(problem)
    return made


def values_of(problem: Problem) -> tuple[list[str], str]:
    """Values with their errors, and where they are from."""
    if problem.truth is not None:
        truth = problem.truth
        return [
            f"{value:.12g} ± {error:.1e}"
            for value, error in zip(truth.values, truth.uncertainty)
        ], truth.method  # fmt: skip
    for run in problem.runs:
        values = run.result.get("eigenvalues") or []
        if run.solved and values:
            bounds = run.result.get("error_bounds") or []
            return [
                f"{value:.12g}" + ("" if bound is None else f" ± {bound:.1e}")
                for value, bound in zip_longest(values, bounds)
                if value is not None
            ], str(run.case)
    return [], ""
