"""The report's page: one HTML file that needs nothing beside it."""

from __future__ import annotations

import base64
import collections
import gzip
import math
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from . import style
from .accuracy import accuracy_of
from .collect import Problem, Run, Study, method
from .outcomes import Decision, Outcome, Outcomes
from .table import largest

TEMPLATES = Path(__file__).parent / "templates"
SIGNS = {"converged": "✓", "not converged": "◐", "failed": "✗", "wrong": "✗", "not run": "–"}
MARKS = {"converged": "good", "not converged": "warn", "failed": "bad", "wrong": "bad",
         "not run": "none"}  # fmt: skip
VERDICT_MARKS = {"confirmed": "good", "disagrees": "bad", "proven wrong": "bad"}

DARK_PAGE = {
    "color-scheme": "dark", "--paper": "#14171b", "--raised": "#1d2228", "--ink": "#e6e9ec",
    "--muted": "#9aa5b1", "--grid": "#353c45", "--link": "#7cc0ff", "--good": "#4fd69c",
    "--warn": "#e9c46a", "--bad": "#ff8a9a",
}  # fmt: skip
LIGHT_PAGE = {
    "color-scheme": "light", "--paper": "#ffffff", "--raised": "#f4f6f8", "--ink": "#1f2328",
    "--muted": "#59636e", "--grid": "#d1d9e0", "--link": "#0757a8", "--good": "#00693e",
    "--warn": "#7a5200", "--bad": "#b0122f",
}  # fmt: skip


@dataclass
class Picture:
    """A picture of the page. `svg`: the text of its file."""

    anchor: str
    heading: str
    caption: str
    label: str
    svg: str
    values: list[str] = field(default_factory=list)
    values_of: str = ""

    @property
    def id(self) -> str:
        return f"picture-{self.anchor}"

    @property
    def file(self) -> str:
        return f"{self.anchor}.svg"

    def inlined(self) -> str:
        return style.inline(self.svg, self.anchor, self.label)

    def packed(self) -> dict[str, str]:
        """For a page that unpacks the picture when it is asked for."""
        data = gzip.compress(self.inlined().encode(), 9, mtime=0)
        return {"id": self.id, "data": base64.b64encode(data).decode()}


@dataclass
class MatrixPage:
    """What the page shows of a matrix."""

    name: str
    anchor: str
    notes: list[str]
    pictures: list[Picture]


def whole(value: Any) -> str:
    """12 345 for 12345, with narrow spaces that do not break."""
    return "" if value is None else f"{value:,.0f}".replace(",", "\u202f")


def short(value: Any) -> str:
    """Three digits."""
    if value is None:
        return ""
    value = float(value)
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    if not 1e-4 <= abs(value) < 1e5:
        return f"{value:.1e}"
    digits = max(2 - math.floor(math.log10(abs(value))), 0)
    return whole(value) if digits == 0 else f"{value:.{digits}f}"


def key(value: Any) -> str:
    """What a cell sorts by."""
    return f"{float(value):.6g}"


def breakable(name: str) -> Markup:
    """The name of a method, which a narrow table may break within its brackets."""
    safe = str(Markup.escape(name))
    return Markup(safe.replace("[", "<wbr>[").replace(",", ",<wbr>"))


def declared(variables: dict[str, str]) -> str:
    return " ".join(f"{name}: {value};" for name, value in variables.items())


def render(
    study: Study, outcomes: Outcomes, decision: Decision, overview: list[Picture],
    matrices: list[MatrixPage], roof: str,
) -> str:  # fmt: skip
    """The page as text. The same study gives the same text."""
    loader = jinja2.FileSystemLoader(TEMPLATES)
    environment = jinja2.Environment(
        loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )  # fmt: skip
    environment.filters.update(whole=whole, short=short, key=key, breakable=breakable)
    macros: Any = environment.get_template("macros.html").module
    runs = [run_row(run, problem) for problem in study.problems for run in problem.runs]
    settings = study.definition.get("report")
    settings = settings if isinstance(settings, dict) else {}
    context = {
        "title": str(settings.get("title") or f"Study {study.name}"),
        "text": settings.get("text"),
        "lead": lead(study),
        "css": Markup(style_sheet()),
        "js": Markup((TEMPLATES / "report.js").read_text(encoding="utf-8")),
        "tiles": tiles(study),
        "verdict": verdict(decision),
        "decision": decision_rows(study, decision),
        "decision_note": decision_note(decision),
        "methods": study.cases,
        "problems": problem_rows(study, outcomes, {page.name: page for page in matrices}),
        "overview": [
            {"anchor": p.anchor, "heading": p.heading, "caption": p.caption, "file": p.file,
             "svg": Markup(p.inlined())}
            for p in overview
        ],
        "runs": runs,
        "run_filters": run_filters(runs),
        "repeated": any(row["repeat"] > 1 for row in runs),
        "folder": str(study.folder),
        "matrices": [matrix_row(study, page) for page in matrices],
        "packed": [picture.packed() for page in matrices for picture in page.pictures],
        "failures": [row for row in runs if row["ended_badly"]],
        "disagreements": [row for row in runs if row["verdict_mark"] == "bad"],
        "checked": checked(study),
        "environment": environment_rows(study, roof),
        "definition": definition_text(study),
        "number": macros.number,
        "real": macros.real,
        "filters": macros.filters,
    }  # fmt: skip
    context["sections"] = sections(context)
    return environment.get_template("page.html").render(context)


def style_sheet() -> str:
    """The colours of the pictures' methods join those of the page."""
    light = {f"--c{place}": value for place, value in enumerate(style.LIGHT)}
    dark = {f"--c{place}": value for place, value in enumerate(style.DARK)}
    text = (TEMPLATES / "style.css").read_text(encoding="utf-8")
    values = {"light": light, "dark_page": DARK_PAGE | dark, "light_page": LIGHT_PAGE | light}
    for name, variables in values.items():
        text = text.replace(f"{{{{ {name} }}}}", declared(variables))
    return text


def sections(context: dict[str, Any]) -> list[tuple[str, str]]:
    found = [("summary", "Summary")]
    found += [("problems", "Problems")] if context["problems"] else []
    found += [(picture["anchor"], picture["heading"]) for picture in context["overview"]]
    found += [("runs", "Runs")] if context["runs"] else []
    found += [("matrices", "Matrices")] if context["matrices"] else []
    found += [("failures", "Failures"), ("disagreements", "Disagreements")]
    return [*found, ("environment", "Environment")]


def lead(study: Study) -> str:
    """What was run, in a sentence."""
    if not study.runs:
        return "The study has no runs."
    counts = (
        (len({run.matrix for run in study.runs}), "matrix", "matrices"),
        (len(study.problems), "problem", "problems"),
        (len(study.cases), "method", "methods"),
        (len(study.runs), "run", "runs"),
    )
    words = ", ".join(f"{n} {one if n == 1 else many}" for n, one, many in counts)
    started = sorted(str(run.started) for run in study.runs if run.started)
    when = f" Started between {started[0]} and {started[-1]}." if started else ""
    return f"{words}.{when}"


def tiles(study: Study) -> list[dict[str, Any]]:
    ends = collections.Counter(run.kind_of_end for run in study.runs)
    judged = collections.Counter(run.verdict.get("verdict") for run in study.runs)
    found = [
        (len(study.runs), "runs", ""),
        (ends["converged"], "converged", "good"),
        (ends["not converged"], "not converged", "warn"),
        (ends["failed"], "failed", "bad"),
        (ends["wrong"], "proven wrong", "bad"),
        (judged["disagrees"], "disagree", "bad"),
        (judged["confirmed"], "confirmed by a reference", "good"),
        (ends["not run"], "not run", "warn"),
    ]
    return [
        {"number": whole(number), "words": words, "mark": mark if number else ""}
        for number, words, mark in found
        if number or words in ("runs", "converged", "failed")
    ]


def verdict(decision: Decision) -> str:
    """Which method left the fewest runs unsolved, and which took the least time."""
    compared = [row for row in decision.standings if row.time_ratio is not None]
    if len(compared) < 2 or not decision.common:
        return ""
    surest = min(compared, key=lambda row: (row.unsolved, row.time_ratio))
    fastest = min(compared, key=lambda row: row.time_ratio or 0.0)
    others = [r.method for r in compared if r.unsolved == surest.unsolved and r is not surest]
    also = f" (as did {', '.join(others)})" if others else ""
    plural = "s" if decision.common > 1 else ""
    every = "every method" if len(compared) == len(decision.standings) else "all methods compared"
    return (
        f"{surest.method} left the fewest runs unsolved: {surest.unsolved} of {surest.ended}"
        f"{also}. "
        f"On the {decision.common} problem{plural} that {every} solved, {fastest.method} took "
        f"the least time: {short(fastest.time_ratio)} times the fastest one of each problem in the "
        "geometric mean."
    )


def decision_note(decision: Decision) -> str:
    note = (
        "Ratios: cost over the smallest cost of the problem, geometric mean over the "
        f"{decision.common} problems that all methods compared solved. A run that is proven wrong "
        "counts as a failure. Total time: of all processes, also of those that failed."
    )
    blank = [row.method for row in decision.standings if row.time_ratio is None]
    if blank and decision.common:
        note += (
            " Not compared, because they solved less than half of their problems or share less "
            f"than half of them with the others: {', '.join(blank)}."
        )
    return note


def decision_rows(study: Study, decision: Decision) -> list[dict[str, Any]]:
    places = {name: place for place, name in enumerate(study.cases)}
    return [
        {**vars(row), "runs": row.runs, "place": places[row.method]} for row in decision.standings
    ]


def problem_rows(
    study: Study, outcomes: Outcomes, pages: dict[str, MatrixPage]
) -> list[dict[str, Any]]:
    rows = []
    for problem in study.problems:
        row = outcomes[problem.group]
        solved = [o.seconds for o in row.values() if o.solved and o.seconds is not None]
        sizes = next((run.result for run in problem.runs if run.result.get("n")), {})
        facts = study.matrices.get(problem.matrix) or {}
        page = pages.get(problem.matrix)
        rows.append({
            "matrix": problem.matrix,
            "question": problem.question,
            "anchor": page.anchor if page else "problems",
            "n": sizes.get("n") or facts.get("n"),
            "nnz": sizes.get("nnz") or facts.get("nnz"),
            "cells": [cell(row.get(name), min(solved, default=None)) for name in study.cases],
        })  # fmt: skip
    return rows


def cell(outcome: Outcome | None, best: float | None) -> dict[str, Any]:
    """A method's cell in the table of problems."""
    if outcome is None:
        return {"text": "", "value": None, "mark": "", "why": ""}
    if not outcome.solved:
        kind, run = outcome.kind, outcome.typical
        return {"text": f"{SIGNS[kind]} {run.status if kind != 'wrong' else kind}", "value": None,
                "mark": MARKS[kind], "why": run.verdict.get("detail") if kind == "wrong"
                else run.reason}  # fmt: skip
    is_best = outcome.seconds is not None and outcome.seconds == best
    return {"text": short(outcome.seconds), "value": key(outcome.seconds or 0), "why": "",
            "mark": "best" if is_best else ""}  # fmt: skip


def run_row(run: Run, problem: Problem) -> dict[str, Any]:
    kind, accuracy = run.kind_of_end, accuracy_of(run, problem)
    found = run.verdict.get("verdict") or ""
    has_folder = run.status != "not run" and run.path.is_dir()
    relation = {"its bound": "≤\u202f"}.get(accuracy.against, "=\u202f") if accuracy else ""
    return {
        "matrix": problem.matrix,
        "question": problem.question,
        "case": run.case,
        "method": method(run),
        "repeat": (run.repeat or 0) + 1,
        "status": run.status,
        "reason": run.reason or "",
        "hint": run.reason if not run.solved else "",
        "sign": SIGNS[kind],
        "mark": MARKS[kind],
        "ended_badly": kind in ("not converged", "failed"),
        "seconds": run.seconds,
        "products": run.products,
        "iterations": run.result.get("iterations"),
        "residual": largest(run.result.get("residuals")),
        "error": accuracy and accuracy.error,
        "relation": relation,
        "memory": run.peak_rss_bytes and run.peak_rss_bytes / 1e6,
        "verdict": found,
        "verdict_mark": VERDICT_MARKS.get(found, "none"),
        "against": run.verdict.get("against") or "",
        "detail": run.verdict.get("detail") or "",
        "key": run.key,
        "link": f"../{run.data.get('folder') or 'runs/' + run.key}/" if has_folder else "",
        "command": command(run),
    }


def command(run: Run) -> str:
    """What runs it again, from the study's folder."""
    configuration = shlex.quote(f"runs/{run.key}/config.yaml")
    if run.kind == "external":
        return f"python3 -m heddle.study.external {configuration}"
    return f"{run.program or 'heddle solve'} {configuration} -o {shlex.quote(f'again/{run.key}')}"


def run_filters(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    names = (("Matrix", "matrix"), ("Method", "method"), ("Status", "status"))
    return [
        {"label": label, "name": "case" if key == "method" else key,
         "choices": list(dict.fromkeys(row[key] for row in rows))}
        for label, key in names
    ]  # fmt: skip


def matrix_row(study: Study, page: MatrixPage) -> dict[str, Any]:
    runs = [run for run in study.runs if run.matrix == page.name]
    solved = sum(run.solved for run in runs)
    return {
        "name": page.name,
        "anchor": page.anchor,
        "facts": facts_of(study.matrices.get(page.name) or {}, runs),
        "count": f"{solved} of {len(runs)} runs converged",
        "mark": "good" if solved == len(runs) else "warn" if solved else "bad",
        "notes": page.notes,
        "pictures": page.pictures,
    }


def facts_of(facts: dict[str, Any], runs: list[Run]) -> str:
    result = next((run.result for run in runs if run.result.get("n")), {})
    rows = facts.get("n") or result.get("n")
    entries = result.get("nnz") or facts.get("nnz") or facts.get("stored")
    words = [
        f"{whole(rows)} rows" if rows else "",
        f"{whole(entries)} entries" if entries else "",
        *(str(facts[key]) for key in ("symmetry", "kind", "group") if facts.get(key)),
    ]
    return ", ".join(word for word in words if word)


def checked(study: Study) -> str:
    counts = collections.Counter(
        run.verdict.get("verdict") for run in study.runs if run.kind_of_end != "not run"
    )
    total = sum(counts.values())
    confirmed, disagree, wrong = (counts[k] for k in ("confirmed", "disagrees", "proven wrong"))
    return (
        f"Of {total} runs that ended, {confirmed} are confirmed by an independent method, "
        f"{wrong} are proven wrong, {disagree} disagree without proof of who is wrong, and "
        f"{total - confirmed - disagree - wrong} were not checked."
    )


def environment_rows(study: Study, roof: str) -> list[dict[str, Any]]:
    def count(what: str, values: Iterator[Any]) -> Iterator[dict[str, Any]]:
        for which, runs in sorted(collections.Counter(v for v in values if v).items()):
            yield {"what": what, "which": which, "runs": runs}

    runs = [run for run in study.runs if run.status != "not run"]
    compilers = ((run.full.get("versions") or {}).get("compiler") or "" for run in runs)
    absent = (f"{run.program}: {run.reason}" for run in runs if run.status == "unavailable")
    rows = [
        *count("Host", (str(run.host or "") for run in runs)),
        *count("Processor", (str(run.cpu or "") for run in runs)),
        *count("Device", (str(run.device or "") for run in runs)),
        *count("Program", (f"{run.program} ({run.version})" for run in runs if run.version)),
        *count("Compiler", (str(compiler) for compiler in compilers)),
        *count("Threads", (str(run.full.get("threads") or "") for run in runs)),
        *count("Not available", absent),
    ]
    return rows + ([{"what": "Roof of the roofline", "which": roof, "runs": None}] if roof else [])


def definition_text(study: Study) -> str:
    try:
        return (study.folder / "study.yaml").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
