"""What a check finds."""

from dataclasses import dataclass


@dataclass
class Finding:
    """severity: `wrong` (an answer or an ending that misleads), `doubtful` (worth a look), `note`
    (no answer: counted, not judged)."""

    kind: str
    severity: str
    text: str


def wrong(kind, text):
    return Finding(kind, "wrong", text)


def doubtful(kind, text):
    return Finding(kind, "doubtful", text)
