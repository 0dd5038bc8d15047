"""The classes of a source file and how many member functions each has.

The text is cut at its braces and semicolons into statements. This reads C++ as clang-format leaves
it, not all of C++: a brace between parentheses is part of a statement, every other one ends it."""

import re

NOISE = re.compile(  # preprocessor lines, comments and literals
    r'^[ \t]*#(?:[^\n]*\\\n)*[^\n]*|//[^\n]*|/\*[\s\S]*?\*/|R"(\w*)\([\s\S]*?\)\1"'
    r"""|"(?:\\.|[^"\\\n])*"|(?<!\w)'(?:\\.|[^'\\\n])+'""", re.MULTILINE)
CLASS = re.compile(r"(?:class|struct) ([\w:]+)(?: final)?(?: ?:[^:].*)?")
PREFIX = re.compile(r"^(?:(?:public|private|protected)\s*:|\[\[.*?\]\]|template\b|\s+)+")
NO_FUNCTION = re.compile(r"(?:using|typedef|friend|static_assert|class|struct|enum|union)\b|,|$")


class Frame:
    """What stands between two braces, or the whole file."""

    def __init__(self, name=None, line=0, inert=False):
        self.name = name  # of the class whose body this is
        self.line = line
        self.inert = inert  # part of a statement: its semicolons end nothing
        self.functions = 0
        self.text = ""
        self.parentheses = 0


def flat(text):
    """A statement without template arguments, the names of its operators and its access label."""
    text = re.sub(r"\boperator\s*(\(\)|[^\w\s(]+)", lambda m: "assign" if m[1] == "=" else "op", text)
    text = text.replace("->", " ")
    while (shorter := re.sub(r"<[^<>]*>", "", text)) != text:
        text = shorter
    text = re.sub(r"\b(alignas|decltype|noexcept|requires|explicit)\s*\([^()]*\)", "", text)
    return PREFIX.sub("", text).strip()


def is_member_function(statement, owner):
    """Whether a statement of a class body declares or defines a function, special ones apart."""
    text = flat(statement)
    head, parenthesis, _ = text.partition("(")
    if not parenthesis or "=" in head or NO_FUNCTION.match(text):
        return False
    name = head.split()[-1].lstrip("*&") if head.split() else ""
    return name not in (owner, "assign") and "~" not in head


def classes(text):
    """(line, name, number of member functions) for each class that is defined in the text."""
    text = NOISE.sub(lambda m: "\n" * m[0].count("\n"), text)
    frames, line, found = [Frame()], 1, []
    for mark in re.findall(r"[^(){};\n]+|[\s\S]", text):
        top = frames[-1]
        line += mark == "\n"
        if mark == "{":
            declared = CLASS.fullmatch(" ".join(flat(top.text).split()))
            inert = top.inert or top.parentheses > 0
            if top.name and not inert and not declared:
                top.functions += is_member_function(top.text, top.name)
            name = declared[1] if declared and not inert else None
            frames.append(Frame(name, line, inert))
        elif mark == "}" and len(frames) > 1:
            frames.pop()
            if top.name:
                found.append((top.line, top.name, top.functions))
            if not top.inert:
                frames[-1].text = ""
        elif mark == ";" and not top.inert and top.parentheses == 0:
            if top.name:
                top.functions += is_member_function(top.text, top.name)
            top.text = ""
        else:
            top.parentheses += (mark == "(") - (mark == ")")
            top.text += mark
    return found
