"""Rules for the words of documents: no sentence above 35 words, no cell of a table above 15, and none
of the words in `AVOIDED`. Code, in blocks or between backticks, counts as one word."""

import re

MOST_WORDS, MOST_IN_CELL = 35, 15
AVOIDED = {  # what readers who do not know the authors stumble over: what to write instead
    r"\bbeside\b": "next to, in addition to",
    r"\bin turns\b": "alternately",
    r"\bbinds?\b": "limits",
    r"\btells?\b": "says, shows",
    r"\bfresh\b": "computed anew",
    r"\bso many\b": "a number",
    r"\bmend(?:ed|s)?\b": "correct",
    r"\brooms?\b": "folder, space",
}
SENTENCE_END = re.compile(r"(?<=[.!?])[)\"*]*\s+(?=[^a-z\s]|heddle|hypre|cuSPARSE|rcm)")


def cells(line):
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip()[1:].removesuffix("|"))]


def parts(text):
    """(line, kind, text) of paragraphs, items of lists and cells of tables, without code in blocks."""
    found, is_code = [], False
    open_part = None  # the part that the next line continues
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if line.startswith("```"):
            is_code, open_part = not is_code, None
        elif is_code or not line or line.startswith(("#", "<!--")):
            open_part = None
        elif line.startswith("|"):
            open_part = None
            found += [[number, "cell", cell] for cell in cells(line)]
        else:
            item = re.match(r"(?:[-*]|\d+\.)\s+", line)
            if item or open_part is None:
                open_part = [number, "sentence", line[item.end() if item else 0:]]
                found.append(open_part)
            else:
                open_part[2] += " " + line
    return found


def plain(text):
    """Text with one word for each code, and the text of links in their place."""
    return re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"`[^`]+`", "Code", text))


def words(text):
    return [word for word in text.split() if re.search(r"\w", word)]


def findings(text):
    """(line, what) for each part that breaks a rule."""
    for number, kind, part in parts(text):
        for sentence in SENTENCE_END.split(plain(part)) if kind == "sentence" else [plain(part)]:
            count, most = len(words(sentence)), MOST_IN_CELL if kind == "cell" else MOST_WORDS
            if count > most:
                yield number, f"a {kind} of {count} words, at most {most}: {sentence[:60]}…"
        for avoided, instead in AVOIDED.items():
            if found := re.search(avoided, plain(part)):
                yield number, f"'{found.group()}': write {instead}"
