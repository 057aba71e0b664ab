"""The one normal form of a path that a model wrote, and which paths are never made."""

import re
from collections.abc import Sequence

LONGEST_NAME = 400  # characters as written, emphasis and remarks included
LONGEST_PATH = 240  # characters

QUOTED = re.compile(r"[*_]*`([^`]+)`.*")
TAIL = re.compile(r"\s+(?:#+|\([^()]*\))$")
HERE = re.compile(r"(?:\A|(?<=/))(?:\./)+")
HOSTILE = re.compile(r"\A[/~]|\A[A-Za-z]:|(?:\A|/)\.\.(?:/|\Z)|[\x00-\x1f\x7f]|\A\.?\Z|/\Z")


def normal_path(name: str, asked: Sequence[str]) -> str | None:
    """Return the normal form of a path, or None if no such file is ever made.

    Emphasis, quotes, a colon and a remark in parentheses around it do not count; `/` stands
    between its parts, and no `./` before them. A backslash is a separator, unless only reading
    it as Markdown's escape gives an asked path. A path that is absolute, climbs, holds control
    characters, is too long, or is empty is never made.
    """
    if len(name) > LONGEST_NAME:
        return None
    quoted = QUOTED.fullmatch(name.strip())
    plain = quoted[1] if quoted else TAIL.sub("", name.strip())
    outer = None
    while outer != plain:
        outer, plain = plain, plain.strip("*`\"'“”‘’ \t").rstrip(":")
        if len(plain) > 1 and plain[0] == plain[-1] == "_":
            plain = plain[1:-1]
    path = _joined(plain.replace("\\", "/"))
    unescaped = _joined(plain.replace("\\", ""))
    if path not in asked and unescaped in asked:
        return unescaped
    return None if len(path) > LONGEST_PATH or HOSTILE.search(path) else path


def _joined(path: str) -> str:
    """Return a path without empty parts and without `.` parts."""
    return HERE.sub("", re.sub(r"/+", "/", path))
