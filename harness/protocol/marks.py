"""The lines that carry a call: how each is recognised, whatever a model dresses it in."""

import re
from dataclasses import dataclass
from typing import Literal

BLANK = r"\s\u00ad\u200b-\u200d\u2060\ufeff"  # inside a character class: what cannot be seen
DRESS = "*_`~"  # Markdown signs that may stand around a mark
TAIL = rf"[{BLANK}{DRESS}]*+(?:<[^<>\n]{{1,60}}>[{BLANK}{DRESS}]*+)*+"  # nothing, or turn tokens

MARK = re.compile(
    rf"([{BLANK}>]*+)([{DRESS}]{{0,3}}+)@@([ \t\u00a0]?)(?:(CALL|BODY|RESULT)(?!\w)|(END))(.*)",
    re.IGNORECASE | re.DOTALL,
)
ALONE = re.compile(TAIL)
GLUED_END = re.compile(rf"@@[ \t\u00a0]?END{TAIL}\Z", re.IGNORECASE)
FENCE = re.compile(r"[ \t>]*+(`{3,}|~{3,})[^`\n]*+")
QUOTE = re.compile(r"[ \t]*+(?:>[ \t]?)++")


@dataclass(frozen=True)
class Mark:
    """A line that begins with one of the four marks.

    rest : what stands behind the mark
    quoted : the line is part of a Markdown quotation
    dress : the emphasis or code signs directly before the mark
    exact : the mark is written as the system text writes it
    """

    kind: Literal["call", "body", "end", "result"]
    rest: str
    quoted: bool
    dress: str
    exact: bool

    @property
    def alone(self) -> bool:
        """Nothing stands behind the mark but decoration and turn tokens."""
        return ALONE.fullmatch(self.rest) is not None

    @property
    def closed(self) -> bool:
        """The end stands on the same line."""
        return GLUED_END.search(self.rest) is not None


def read_mark(line: str) -> Mark | None:
    """Return the mark that a line begins with, or None; quotation and emphasis do not count."""
    match = MARK.match(line) if "@@" in line else None
    if match is None:
        return None
    lead, dress, gap, opener, end, rest = match.groups()
    word = opener or end
    kind: Literal["call", "body", "end", "result"]
    match word.upper():
        case "CALL":
            kind = "call"
        case "BODY":
            kind = "body"
        case "END":
            kind = "end"
        case _:
            kind = "result"
    exact = not dress and not gap and ">" not in lead and word.isupper()
    return Mark(kind, rest, ">" in lead, dress, exact)


def is_fence(line: str) -> bool:
    """Say whether a line is nothing but a code fence and its info string."""
    return FENCE.fullmatch(line) is not None


def unquoted(line: str) -> str:
    """Return a line without the signs of a Markdown quotation."""
    return QUOTE.sub("", line, count=1) if line.lstrip().startswith(">") else line
