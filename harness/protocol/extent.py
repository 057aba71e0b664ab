"""Where a call begins and ends in the lines of a reply.

Inside a body `@@CALL` and `@@RESULT` open and `@@END` closes, so that a document may quote
whole calls and results. A body ends only at a line that holds nothing but `@@END`, in the same
Markdown quotation as the call, whose signs its lines lose. In a call without a body an end that
shares its line with something is understood.
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
        marked = [(n, read_mark(line)) for n, line in enumerate(lines) if "@@" in line]
        fences = [n for n, line in enumerate(lines) if is_fence(line)]
        return Lines(lines, {n: mark for n, mark in marked if mark}, fences)

    def in_fence(self, number: int) -> bool:
        """Say whether a line stands behind a fence that no other fence line has closed."""
        return bisect_left(self.fences, number) % 2 == 1

    def first_result(self, start: int) -> int:
        """Return the number of the first result behind a line, or of the text's end."""
        found = (n for n, mark in self.marks.items() if n > start and mark.kind == "result")
        return next(found, len(self.lines))

    def close_of(self, first: int, *, depth: int, cut: bool) -> int | None:
        """Return the line of the end that closes what is open before a line, or None.

        Where the reply was cut, its last line may be the beginning of another one.
        """
        opened = 1
        for number in range(first, len(self.lines) - int(cut)):
            mark = self.marks.get(number)
            if mark is None or mark.depth != depth:
                continue
            if mark.kind in {"call", "result"} and not mark.closed:
                opened += 1
            elif mark.kind == "end" and mark.alone:
                opened -= 1
                if opened == 0:
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
    depth = reply.marks[start].depth
    header: list[str] = []
    number = start
    for number in range(start + 1, len(reply.lines)):
        mark = reply.marks.get(number)
        if mark is not None:
            return _at_mark(reply, start, Extent(inline, header, "none", number), mark, cut=cut)
        line = unquoted(reply.lines[number], depth)
        content = CONTENT_LINE.match(line) if takes_content else None
        if content:
            found = Extent(inline, header, "none", number + 1)
            return _with_body(reply, start, found, content[1].strip(), "content:", cut=cut)
        header.append(line)
    return _unclosed(reply, start, Extent(inline, header, "none", number + 1), cut=cut)


def _at_mark(reply: Lines, start: int, found: Extent, mark: Mark, *, cut: bool) -> Extent:
    """Go on at the first mark below the opening line."""
    match mark.kind:
        case "end":
            ending: Ending = "end" if mark.alone else "one_line"
            return replace(found, ending=ending, end=found.end + 1, exact=mark.exact)
        case "body":
            found = replace(found, end=found.end + 1, exact=mark.exact)
            rest = mark.rest.strip(f" \t:{DRESS}")
            return _with_body(reply, start, found, rest, "@@BODY", cut=cut)
        case "call":
            return _unclosed(reply, start, replace(found, ending="call"), cut=cut)
        case "result":
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
    depth = reply.marks[start].depth
    close = reply.close_of(begin, depth=depth, cut=cut)
    lines = [unquoted(line, depth) for line in reply.lines[begin:close]]
    found = replace(found, body=[first, *lines] if first else lines, opener=opener)
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
            return replace(found, header=found.header[:place], end=number + 1)
    written = "\n".join([found.inline, *found.header]).rstrip()
    something_else = EMPTY_LINE.search(written) or SIGN.search(written)
    return replace(found, ending="prose") if something_else and found.ending == "none" else found
