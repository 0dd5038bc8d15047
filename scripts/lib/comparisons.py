"""Tables and pictures of docs/performance.md and docs/scaling.md from the result files in
docs/performance/. `pages` gives the text of each page and picture as it should be.

A result file (JSON) has `title`, `text`, `machine`, `versions`, `commit` (null: not on record),
`command` and `other`, the program compared with; optional `note`, `page` (performance), `unit`, `own`
(heddle), `overall` mean, and a `picture` drawn by another program with its `alt`.
`rows` are single measurements: `case`, time of `heddle`, variant `by` which the `other` was run,
time of the `other`. Where only statistics were kept, `groups` have `cases`, `mean`, `least`, `most`.
All ratios are time of the other / time of heddle."""

import json
import math
import re
import textwrap
from html import escape

BEGIN, END = "<!-- figures: begin -->\n", "<!-- figures: end -->\n"
MOST_ROWS = 8  # of a table with single measurements: more are shown as groups
FASTER, SLOWER, INK, MUTED, GRID, PAPER = "#0072b2", "#c4500a", "#1f2328", "#59636e", "#d1d9e0", "#fffffe"
WIDTH, LABELS, LINE, BOTTOM = 680, 300, 20, 34  # of a picture, in pixels


def read(root):
    """The comparisons in the order of the pages, each with its `name` and its `groups`."""
    found = []
    for path in (root / "docs/performance").glob("*.json"):
        one = json.loads(path.read_text())
        found.append({"page": "performance", "own": "heddle", "name": path.stem, **one})
    return sorted(found, key=lambda one: (one["page"], one["place"]))


def ratio(row):
    return row["other"] / row["heddle"]


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def single(one):
    """Whether the table and the picture show each measurement."""
    return len(one.get("rows", [])) in range(1, MOST_ROWS + 1)


def groups(one):
    """Ratios by case: as they were kept, or counted here."""
    if "groups" in one:
        return one["groups"]
    cases = {}
    for row in one["rows"]:
        cases.setdefault(row["case"], []).append(row)
    made = []
    for case, rows in cases.items():
        low, high = min(rows, key=ratio), max(rows, key=ratio)
        made.append({"case": case, "cases": len(rows), "mean": mean(list(map(ratio, rows))), "least": ratio(low),
                     "least_at": low["by"], "most": ratio(high), "most_at": high["by"]})
    return made


def number(value, digits=3):
    """Three digits, none of them after thousands: 0.63, 5.48, 20.5, 987."""
    if value <= 0:
        return "0"
    places = max(0, digits - 1 - math.floor(math.log10(value)))
    return f"{value:.{places}f}"


def marked(value):
    """Bold where heddle is slower."""
    return f"**{number(value)}**" if value < 1 else number(value)


def table(one):
    if single(one):
        variants = len({row["by"] for row in one["rows"]}) > 1
        head = f"| | {one['own']}, {one['unit']} |{' variant |' * variants} {one['other']}, {one['unit']} | ratio |\n"
        return head + "|---" * (4 + variants) + "|\n" + "".join(
            f"| {row['case']} | {row['heddle']:g} |{(' ' + row['by'] + ' |') * variants} {row['other']:g} | "
            f"{marked(ratio(row))} |\n" for row in one["rows"])
    if "least" not in groups(one)[0]:
        return "| ratio | cases | mean |\n|---|---|---|\n" + "".join(
            f"| {group['case']} | {group['cases']} | {marked(group['mean'])} |\n" for group in groups(one))
    return "| ratio | cases | mean | least | most |\n|---|---|---|---|---|\n" + "".join(
        f"| {group['case']} | {group['cases']} | {marked(group['mean'])} | {marked(group['least'])} ({group['least_at']}) "
        f"| {number(group['most'])} ({group['most_at']}) |\n" for group in groups(one))


def bars(one):
    """(label, least, mean, most) per line of the picture."""
    if single(one):
        different = {key: len({row[key] for row in one["rows"]}) for key in ("case", "by")}
        keys = [key for key, count in different.items() if count > 1] or ["case"]
        keys = keys[:1] if different[keys[0]] == len(one["rows"]) else keys
        return [(", ".join(row[key] for key in keys), *[ratio(row)] * 3) for row in one["rows"]]
    return [(group["case"], group.get("least", group["mean"]), group["mean"], group.get("most", group["mean"]))
            for group in groups(one)]


def picture(one):
    """SVG: ratios on a logarithmic axis, a bar from 1 to the mean and a line from the least to the most."""
    lines = bars(one)
    low = min(0.5, *(line[1] for line in lines)) * 0.9
    high = max(2.0, *(line[3] for line in lines)) * 1.1
    right = WIDTH - 60

    def x(value):
        return LABELS + (right - LABELS) * math.log(value / low) / math.log(high / low)

    height, label = 10 + LINE * len(lines) + BOTTOM, escape(plain(f"{one['other']} / {one['own']}"))
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
             f'font-family="DejaVu Sans, sans-serif" font-size="11" fill="{INK}">',
             f"<title>{escape(one['title'])}: {label}</title>",
             f'<rect width="{WIDTH}" height="{height}" fill="{PAPER}"/>']
    base = 10 + LINE * len(lines)
    wide = high > 20 * low  # a line per decade, else per 1, 2 and 5
    for tick in (10**power * step for power in range(-3, 5) for step in ((1,) if wide else (1, 2, 5))):
        if low <= tick <= high:
            parts.append(f'<path d="M{x(tick):.1f} 6V{base}" stroke="{MUTED if tick == 1 else GRID}"/>'
                         f'<text x="{x(tick):.1f}" y="{base + 14}" text-anchor="middle" fill="{MUTED}">{tick:g}</text>')
    parts.append(f'<text x="{LABELS}" y="{base + 28}" fill="{MUTED}">time, {label}</text>')
    for place, (name, least, middle, most) in enumerate(lines):
        y, colour = 10 + LINE * place, FASTER if middle >= 1 else SLOWER
        left, end = sorted((x(1), x(middle)))
        parts.append(f'<text x="{LABELS - 8}" y="{y + 13}" text-anchor="end">{escape(plain(name))}</text>'
                     f'<rect x="{left:.1f}" y="{y + 4}" width="{end - left:.1f}" height="10" fill="{colour}"/>')
        if most > least:
            parts.append(f'<path d="M{x(least):.1f} {y + 9}H{x(most):.1f}" stroke="{INK}"/>')
        parts.append(f'<text x="{max(x(most), x(1)) + 5:.1f}" y="{y + 13}">{number(middle)}</text>')
    return "\n".join(parts) + "\n</svg>\n"


def wrapped(text):
    return textwrap.fill(text, 140, break_long_words=False, break_on_hyphens=False) + "\n"


def plain(text):
    return text.replace("`", "").replace("**", "")


def section(one):
    """A comparison: what, table, picture, command."""
    where, alt = one.get("picture"), one.get("alt")
    image = where.replace("../", "") if where else f"performance/{one['name']}.svg"
    commit = f"at {one['commit']}" if one["commit"] else "at a commit that is not on record"
    parts = [f"### {one['title']}\n", wrapped(one["text"]), table(one)]
    if "note" in one:
        parts.append(wrapped(one["note"]))
    parts.append(f"![{alt or plain(one['title'])}]({image})\n")
    machine = one["machine"][0].upper() + one["machine"][1:]
    parts.append(wrapped(f"{machine}. {one['versions']}. heddle {commit}."))
    parts.append("```sh\n" + "\n".join(one["command"]) + "\n```\n")
    return "\n".join(parts)


def summary(comparisons):
    """A line per comparison: how many cases, the mean and the least ratio."""
    text = "| | cases | mean | least |\n|---|---|---|---|\n"
    for one in comparisons:
        parts = groups(one)
        all_of = one.get("overall") or {"cases": sum(part["cases"] for part in parts),
                                        "mean": mean([ratio(row) for row in one["rows"]] if "rows" in one else
                                                     [part["mean"] for part in parts for _ in range(part["cases"])])}
        least = min((part for part in parts if "least" in part), key=lambda part: part["least"], default=None)
        where = f"{marked(least['least'])} ({least['case']})" if least else "not on record"
        anchor = re.sub(r"[^\w\- ]", "", one["title"].lower()).replace(" ", "-")
        text += f"| [{one['title']}](#{anchor}) | {all_of['cases']} | {marked(all_of['mean'])} | {where} |\n"
    return text


def pages(root):
    """{path: text} of the pages and pictures, as the result files make them."""
    comparisons, made = read(root), {}
    for page in sorted({one["page"] for one in comparisons}):
        path = root / f"docs/{page}.md"
        own = [one for one in comparisons if one["page"] == page]
        head, rest = path.read_text().split(BEGIN)
        body = "\n".join(section(one) for one in own)
        if len(own) > 2:
            body = summary(own) + "\n" + body
        made[path] = head + BEGIN + "\n" + body + "\n" + END + rest.split(END)[1]
    for one in comparisons:
        if "picture" not in one:
            made[root / f"docs/performance/{one['name']}.svg"] = picture(one)
    return made


def stale(root):
    """Findings: pages and pictures that are not what the result files make."""
    for path, text in pages(root).items():
        if not path.exists() or path.read_text() != text:
            yield f"{path.relative_to(root)}:1: not what scripts/draw-performance.py makes of docs/performance/*.json"
