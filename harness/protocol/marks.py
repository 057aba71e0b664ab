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
QUOTE = re.compile(r"[ \t]*+>[ \t]?")

Kind = Literal["call", "body", "end", "result"]
KINDS: dict[str, Kind] = {"CALL": "call", "BODY": "body", "END": "end"}


@dataclass(frozen=True)
class Mark:
    """A line that begins with one of the four marks.

    rest : what stands behind the mark
    depth : how many Markdown quotations the line stands in
    dress : the emphasis or code signs directly before the mark
    exact : the mark is written as the system text writes it
    """

    kind: Kind
    rest: str
    depth: int
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
    match = MARK.match(line)
    if match is None:
        return None
    lead, dress, gap, opener, end, rest = match.groups()
    word = opener or end
    depth = lead.count(">")
    exact = not (dress or gap or depth) and word.isupper()
    return Mark(KINDS.get(word.upper(), "result"), rest, depth, dress, exact)


def is_fence(line: str) -> bool:
    """Say whether a line is nothing but a code fence and its info string."""
    return ("`" in line or "~" in line) and FENCE.fullmatch(line) is not None


def unquoted(line: str, depth: int) -> str:
    """Return a line without the signs of so many quotations, or of as many as it has."""
    place = 0
    for _ in range(depth):
        sign = QUOTE.match(line, place)
        if sign is None:
            break
        place = sign.end()
    return line[place:]
