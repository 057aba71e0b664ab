"""Fenced blocks of a Markdown text, by the rules of CommonMark with one tolerance.

A block opens with three or more backticks or tildes and closes with at least as many of the
same kind, alone on their line. What follows the opening signs is dropped, whatever it says;
the lines between are content, other fences among them. The tolerance: an opening fence may be
indented as far as a list needs, and its content loses that indentation.
"""

import re
from dataclasses import dataclass

OPENING = re.compile(r"([ \t]*)(`{3,}(?=[^`]*\Z)|~{3,})[ \t]*(.*)")
CLOSING_INDENT = 3  # spaces more than the opening fence has; deeper is content


@dataclass(frozen=True)
class Fence:
    """An opening fence: its signs, its indentation, and what is written behind it."""

    signs: str
    indent: str = ""
    info: str = ""

    def closed_by(self, line: str) -> bool:
        """Say whether a line closes the block."""
        signs = line.strip()
        return (
            len(signs) >= len(self.signs)
            and signs.strip(self.signs[0]) == ""
            and len(line) - len(line.lstrip()) <= len(self.indent) + CLOSING_INDENT
        )

    def content(self, line: str) -> str:
        """Return a line of content without the indentation of its fence."""
        depth = min(len(self.indent), len(line) - len(line.lstrip(" \t")))
        return line[depth:]


def opening_fence(line: str) -> Fence | None:
    """Return the fence that a line opens, or None."""
    match = OPENING.fullmatch(line)
    return Fence(signs=match[2], indent=match[1], info=match[3].strip()) if match else None
