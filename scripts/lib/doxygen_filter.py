"""The input filter of Doxygen: tells it what the comments of heddle's headers leave unsaid. The lines
keep their numbers.

- A `///` comment describes all declarations up to the next empty line: they become a group.
- Names that mean the same everywhere are described here (STANDARD).
- A function of a CudaContext and a class for one memory space are those of the host, or the general
  ones, there.
- Copies and moves are left out.

usage: scripts/lib/doxygen_filter.py HEADER"""

import re
import sys

STANDARD = {
    "rows": "The number of rows.",
    "cols": "The number of columns.",
    "nnz": "The number of stored entries.",
    "ld": "The leading dimension: entry (i, j) is at data[i·ld + j].",
    "data": "The first entry.",
    "size": "The number of entries.",
    "view": "A view of all of it.",
    "columns": "Columns first … first + count − 1, all rows.",
    "operator()": "Entry (i, j).",
    "Space": "The memory space of the blocks and matrices.",
    "ContextType": "The context of this memory.",
    "type": "The type.",
    "shape": "The shape.",
    "values": "The values.",
    "operator=": "Takes the value of the other one.",
    "block": "The part from (i, j) on.",
    "empty": "Whether there is no entry.",
    "seconds": "The time in seconds.",
    "is_stored": "Whether the matrix is stored. If not, a function multiplies by it.",
    "is_distributed": "Whether processes share the rows.",
    "completeness": "How it was made sure that no pair is missing.",
    "limited_by_rounding": "As in `EigenResult`.",
    "which": "The wanted end of the spectrum.",
    "name": "The name.",
    "reason": "The reason in one sentence.",
    "seed": "Equal seeds give equal bits.",
    "status": "How the solve ended.",
    "iterations": "The number of iterations.",
    "max_iterations": "The solve ends after this number of iterations.",
    "time_limit_s": "The solve ends after this number of seconds.",
    "checkpoint": "Where and how often the solve is written to a file.",
    "history": "A record of each iteration.",
    "orthogonalization": "The work of orthonormalisation.",
    "profile": "The time, bytes and operations of each phase.",
    "allocation_count": "The memory that was allocated.",
}
# Copies, moves and comparisons that do what these do everywhere.
SPECIAL = re.compile(
    r"\s*(explicit |virtual )?(~?(\w+)\((const \3&|\3&&)?( \w+)?\)|[\w&]+ operator=+\(.*\)|"
    r"(constexpr )?bool operator==\(.*\) const)( noexcept)?( override)?( = \w+)?(;| \{.*\})")
DECLARED = re.compile(r"(?!\s*(?:return|throw|explicit)\b)[\w:<>,&* ]*?[\s&*]"
                      r"(operator\(\)|operator=|\w+)\s*(\(|=|;|\{)")
MEMORY = re.compile(r"\s*(class|struct) \w+<.*(Host|Cuda|Device)(Context|Space)> \{")
ON_GPU = re.compile(r"[\w:<>, ]+ \w+\(CudaContext& \w+,")


def unsaid(line):
    """What the convention says of the declaration that begins on the line, or nothing."""
    if where := MEMORY.match(line):
        return f"The same {'on the host' if where[2] == 'Host' else 'on a GPU'}."
    if ON_GPU.match(line):
        return "The same on a GPU. Work is queued on the stream of the context."
    declared = DECLARED.match(line)
    return STANDARD.get(declared[1]) if declared else None


def is_group(lines):
    """Whether the lines are a comment and several whole declarations that have none of their own."""
    if any("//" in line for line in lines if not is_comment(line)):
        return False
    code = [re.sub(r"//.*", "", line) for line in lines if not is_comment(line)]
    text = "\n".join(code)
    if text.count("{") != text.count("}") or text.count("(") != text.count(")"):
        return False
    opens = re.match(r"(template\s*<[^\n]*>\s*)?(class|struct|enum|namespace|union)\b[^;\n]*\n",
                     text.lstrip())
    return not opens and sum(line.rstrip().endswith((";", "}")) for line in code) > 1


def is_comment(line):
    return line.strip().startswith("///")


def as_group(lines):
    """The group, with its comment as one of the form /** … */, before which a mark can stand."""
    count = sum(1 for line in lines if is_comment(line))
    words = [line.strip().removeprefix("///") for line in lines[:count]]
    words[0] = "/** @{ */ /**" + words[0]
    words[-1] += " */"
    return [*words, *lines[count:-1], f"{lines[-1]} /** @}} */"]


def filtered_paragraph(lines):
    """Lines without an empty one between them, with what they leave unsaid."""
    begins = [i for i in range(1, len(lines)) if is_comment(lines[i])
              and not is_comment(lines[i - 1]) and not lines[i].strip().startswith("///<")]
    if begins:
        return filtered_paragraph(lines[: begins[0]]) + filtered_paragraph(lines[begins[0]:])
    if is_comment(lines[0]) and is_group(lines):
        return as_group(lines)
    result = list(lines)
    for i, line in enumerate(lines):
        first = i - (i > 0 and lines[i - 1].strip().startswith("template <"))
        above = first > 0 and is_comment(lines[first - 1])
        below = lines[i + 1].strip() if i + 1 < len(lines) else ""
        beside = "///<" in line or below.startswith("///<")
        said = None if above or beside or line.strip().startswith("//") else unsaid(line)
        if said:
            result[first] = f"/** {said} */ {lines[first].strip()}"
    return result


def without_special_members(lines):
    """The lines with empty ones for special members and for their comments."""
    result = list(lines)
    for i in (i for i, line in enumerate(lines) if SPECIAL.fullmatch(line)):
        result[i], at = "", i - 1
        while at >= 0 and is_comment(result[at]):
            result[at], at = "", at - 1
    return result


def filtered(text):
    lines = without_special_members(text.split("\n"))
    result, paragraph = [], []
    for line in lines + [""]:
        if line.strip():
            paragraph.append(line)
            continue
        result += (filtered_paragraph(paragraph) if paragraph else []) + [line]
        paragraph = []
    return "\n".join(result[:-1])


if __name__ == "__main__":
    sys.stdout.write(filtered(open(sys.argv[1], encoding="utf-8").read()))
