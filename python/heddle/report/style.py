"""Colours, fonts and the form of SVG that all pictures share.

Pictures are drawn in the light colours below. A picture that stands in the report's page has its
colours as variables of the page's style sheet, so that they follow light and dark."""

from __future__ import annotations

import html
import io
import re
from typing import Any

import matplotlib
from matplotlib.figure import Figure

INK, MUTED, GRID, PAPER = "#1f2328", "#59636e", "#d1d9e0", "#fffffe"

# Colours of methods, told apart also with the common kinds of colour blindness, and their
# counterparts on a dark page. Line styles and markers differ as well.
LIGHT = ("#0072b2", "#c4500a", "#00835f", "#a3478f", "#7d6200", "#5b4bb7", "#b3123f", "#5f6b78")
DARK = ("#56b4e9", "#ff9a57", "#2fd1a0", "#e7a3d6", "#e6c84a", "#a99bff", "#ff7a95", "#aab4c0")
LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (3, 1)), (0, (1, 1)), (0, (8, 2)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")

# Fills of phases (Tol's light scheme), which read on light and dark pages alike.
FILLS = ("#77aadd", "#ee8866", "#eedd88", "#44bb99", "#bbcc33", "#99ddff", "#ffaabb", "#aaaa00")
PLAIN_FILL = "#b8c0c8"

SETTINGS: Any = {
    "svg.hashsalt": "heddle",  # the same ids in every run
    "svg.fonttype": "none",
    "font.family": ["DejaVu Sans"],
    "font.size": 9,
    "text.parse_math": False,  # names of matrices may hold $ and _
    "axes.unicode_minus": True,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": MUTED,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "figure.facecolor": PAPER,
    "savefig.facecolor": PAPER,
    "figure.dpi": 72,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "lines.linewidth": 1.6,
    "path.simplify": True,
}


def settings() -> Any:
    """A context in which figures are made and saved."""
    return matplotlib.rc_context(SETTINGS)


def colour(place: int) -> str:
    return LIGHT[place % len(LIGHT)]


def line(place: int) -> Any:
    """The line style of a method. Beyond eight methods the colours repeat, with other styles."""
    return LINES[(place + place // len(LIGHT)) % len(LINES)]


def marker(place: int) -> str:
    return MARKERS[(place + place // len(LIGHT)) % len(MARKERS)]


def to_svg(figure: Figure) -> str:
    """The figure as SVG. The same figure gives the same text in every run."""
    buffer = io.BytesIO()
    with settings():
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return lean(buffer.getvalue().decode())


def lean(svg: str) -> str:
    """Without metadata, comments, ids that nothing refers to, blank space and digits beyond the
    tenth of a point. The other ids become i0, i1 ..."""
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!DOCTYPE.*?>", "", svg, flags=re.DOTALL)
    used = re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', svg)
    # matplotlib's ids are hashes of coordinates, which its layout computes up to rounding.
    names = {old: f"i{place}" for place, old in enumerate(dict.fromkeys("".join(p) for p in used))}
    svg = re.sub(r' id="([^"]*)"', lambda m: f' id="{names[m[1]]}"' if m[1] in names else "", svg)
    svg = re.sub(r'href="#([^"]+)"', lambda m: f'href="#{names[m[1]]}"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", lambda m: f"url(#{names[m[1]]})", svg)
    svg = re.sub(r' transform="rotate\(-0 [^)]*\)"', "", svg)
    svg = re.sub(r'\b(?:d|x|y)="[^"]*"', lambda m: re.sub(r"-?\d+\.\d+", tenths, m[0]), svg)
    svg = re.sub(r">\s+<", "><", svg)
    return re.sub(r" *\n *", " ", svg).strip() + "\n"


def tenths(number: re.Match[str]) -> str:
    """A coordinate in points, rounded to tenths."""
    return f"{float(number[0]):.1f}".removesuffix(".0")


def inline(svg: str, prefix: str, label: str) -> str:
    """An SVG element for an HTML page: ids begin with the prefix, colours are the page's, and
    screen readers are told the label."""
    body = svg[svg.index("<svg") :].strip()
    head_end = body.index(">") + 1
    box = re.search(r'viewBox="([^"]+)"', body[:head_end])
    content = re.sub(r"<style.*?</style>", "", body[head_end:], flags=re.DOTALL)
    content = re.sub(r' id="([^"]+)"', rf' id="{prefix}-\1"', content)
    content = re.sub(r'(?:xlink:)?href="#([^"]+)"', rf'href="#{prefix}-\1"', content)
    content = content.replace("xlink:href=", "href=")
    content = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}-\1)", content)
    for light, name in page_colours().items():
        content = content.replace(light, f"var(--{name})")
    width = float(box[1].split()[2]) if box else 500.0
    return (
        f'<svg role="img" aria-label="{html.escape(label)}" viewBox="{box[1] if box else ""}" '
        f'style="width:{width * 4 / 3:.0f}px">{content}'
    )


def page_colours() -> dict[str, str]:
    """Names of the page's variables for the colours of pictures."""
    methods = {light: f"c{place}" for place, light in enumerate(LIGHT)}
    return {INK: "ink", MUTED: "muted", GRID: "grid", PAPER: "paper", **methods}
