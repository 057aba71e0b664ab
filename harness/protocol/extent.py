"""Where a call begins and ends in the lines of a reply.

Inside a body `@@CALL` and `@@RESULT` open and `@@END` closes, so that a document may quote
whole calls and results. A body ends only at a line that holds nothing but `@@END`, quoted if
the call is. In a call without a body an end that shares its line with something is understood.
"""

import re
from bisect import bisect_left
from dataclasses import dataclass, replace
from itertools import dropwhile
from typing import Literal

from harness.protocol.marks import BLANK, DRESS, GLUED_END, Mark, is_fence, read_mark, unquoted

Ending = Literal[
    "end",  # a line of its own
    "one_line",  # an end that shares its line
    "none",  # header only; then the reply, its code fence, or an invented result ended it
    "prose",  # the same, but behind an empty line or a sign of an end something else follows
    "body",  # a body that is never closed
    "call",  # a second call came
]

BEGINS_JSON = re.compile(r"\s*+(?:(?:args|arguments)[ \t]*+:\s*+)?\{", re.IGNORECASE)
CONTENT_LINE = re.compile(
    rf"[{BLANK}]*+[{DRESS}]{{0,3}}+content[{DRESS}]{{0,3}}+[ \t]*+[:\uff1a][{DRESS}]{{0,3}}+(.*)",
    re.IGNORECASE | re.DOTALL,
)
EMPTY_LINE = re.compile(r"\n[^\S\n]*+\n")
SIGN = re.compile(r"@@[ \t\u00a0]?END", re.IGNORECASE)
INLINE_CONTENT = re.compile(r"(?:^|(?<=\s))content[ \t]*+:", re.IGNORECASE)


@dataclass(frozen=True)
class Lines:
    """The lines of a reply; marks by the number of their line; numbers of the fence lines."""

    lines: list[str]
    marks: dict[int, Mark]
    fences: list[int]

    @staticmethod
    def of(text: str) -> "Lines":
        """Split a text; every form of a line end is a line end."""
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        marks = {n: mark for n, line in enumerate(lines) if (mark := read_mark(line))}
        return Lines(lines, marks, [n for n, line in enumerate(lines) if is_fence(line)])

    def in_fence(self, number: int) -> bool:
        """Say whether a line stands behind a fence that no other fence line has closed."""
        return bisect_left(self.fences, number) % 2 == 1

    def first_result(self, start: int) -> int:
        """Return the number of the first result behind a line, or of the text's end."""
        found = (n for n, mark in self.marks.items() if n > start and mark.kind == "result")
        return next(found, len(self.lines))

    def close_of(self, first: int, *, quoted: bool, cut: bool) -> int | None:
        """Return the line of the end that closes what is open before a line, or None.

        Where the reply was cut, its last line may be the beginning of another one.
        """
        depth = 1
        for number in range(first, len(self.lines) - int(cut)):
            mark = self.marks.get(number)
            if mark is None or mark.quoted != quoted:
                continue
            if mark.kind in {"call", "result"} and not mark.closed:
                depth += 1
            elif mark.kind == "end" and mark.alone:
                depth -= 1
                if depth == 0:
                    return number
        return None


@dataclass(frozen=True)
class Extent:
    """The parts of a call as they are written.

    inline : what stands behind the tool on the opening line
    header : the lines below it
    end : number of the first line behind the call
    body : lines of the body, None where none was opened
    opener : how the body was opened: `@@BODY`, `content:`, or `|` for an indented block
    exact : the marks behind the opening line are written as the system text writes them
    """

    inline: str
    header: list[str]
    ending: Ending
    end: int
    body: list[str] | None = None
    opener: str = ""
    exact: bool = True


def extent(reply: Lines, start: int, inline: str, *, takes_content: bool, cut: bool) -> Extent:
    """Find the parts of the call whose opening line has a number.

    Parameters
    ----------
    inline : what stands behind the tool on that line, without an end
    takes_content : `content:` opens a body
    cut : the reply was cut, so that an end in the middle of a value is not believed
    """
    closed = reply.marks[start].closed and not (cut and start + 1 == len(reply.lines))
    found = Extent(inline, [], "one_line", start + 1)
    content = INLINE_CONTENT.search(inline) if takes_content else None
    if content and not BEGINS_JSON.match(inline):
        rest = inline[content.end() :].strip()
        found = replace(found, inline=inline[: content.start()])
        if closed:
            return replace(found, body=[rest] if rest else [], opener="content:")
        return _with_body(reply, start, found, rest, "content:", cut=cut)
    if closed:
        return found
    return _below(reply, start, inline, takes_content=takes_content, cut=cut)


def _below(reply: Lines, start: int, inline: str, *, takes_content: bool, cut: bool) -> Extent:
    """Find the end of a call that goes on below its opening line."""
    header: list[str] = []
    opening = inline  # what the arguments begin with
    for number in range(start + 1, len(reply.lines)):
        mark = reply.marks.get(number)
        found = Extent(inline, header, "end", number + 1)
        if mark is None:
            line = reply.lines[number]
            line = unquoted(line) if reply.marks[start].quoted else line
            opening = opening if opening.strip() or is_fence(line) else line
            content = CONTENT_LINE.match(line) if takes_content else None
            if content and not BEGINS_JSON.match(opening):
                return _with_body(reply, start, found, content[1].strip(), "content:", cut=cut)
            header.append(line)
        elif mark.kind == "end":
            return replace(found, ending="end" if mark.alone else "one_line", exact=mark.exact)
        elif mark.kind == "body":
            found = replace(found, exact=mark.exact)
            rest = mark.rest.strip(f" \t:{DRESS}")
            return _with_body(reply, start, found, rest, "@@BODY", cut=cut)
        else:
            ending: Ending = "call" if mark.kind == "call" else "none"
            return _unclosed(reply, start, replace(found, ending=ending, end=number), cut=cut)
    found = Extent(inline, header, "none", len(reply.lines))
    return _unclosed(reply, start, found, cut=cut)


def _with_body(
    reply: Lines, start: int, found: Extent, first: str, opener: str, *, cut: bool
) -> Extent:
    """Add the body that begins behind a line, and with what that line says of it."""
    begin = found.end
    if opener == "content:" and not first:
        blank = dropwhile(lambda n: not reply.lines[n].strip(), range(begin, len(reply.lines)))
        number = next(blank, begin)
        mark = reply.marks.get(number)
        begin = number + 1 if mark and mark.kind == "body" and mark.alone else begin
    if first in {"|", "|-", "|+", ">", ">-"}:
        first, opener = "", "|"
    elif opener == "@@BODY" and first:
        opener = "content:"
    quoted = reply.marks[start].quoted
    close = reply.close_of(begin, quoted=quoted, cut=cut)
    lines = [*([first] if first else []), *reply.lines[begin:close]]
    if quoted and all(line.lstrip().startswith(">") for line in lines if line.strip()):
        lines = [unquoted(line) for line in lines]
    found = replace(found, body=lines, opener=opener)
    if close is None:
        return replace(found, ending="body", end=len(reply.lines))
    exact = found.exact and reply.marks[close].exact
    return replace(found, ending="end", end=close + 1, exact=exact)


def _unclosed(reply: Lines, start: int, found: Extent, *, cut: bool) -> Extent:
    """Judge a header that no line `@@END` closes."""
    if cut:
        return found
    fenced = reply.in_fence(start)
    for place, line in enumerate(found.header):
        number = start + 1 + place
        glued = GLUED_END.search(line)
        if glued:
            header = [*found.header[:place], line[: glued.start()]]
            return replace(found, header=header, ending="one_line", end=number + 1)
        if fenced and is_fence(line):
            return replace(found, header=found.header[:place], ending="none", end=number + 1)
    written = "\n".join([found.inline, *found.header]).rstrip()
    something_else = EMPTY_LINE.search(written) or SIGN.search(written)
    return replace(found, ending="prose") if something_else and found.ending == "none" else found
