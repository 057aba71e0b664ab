"""The files of a world: a mapping, and one normal form of a path, made at the border.

There is nothing else: no disk stands behind it, and a path that leads elsewhere finds nothing.
"""

import re
from collections.abc import Mapping

LONGEST_PATH = 200  # characters, as written
LONGEST_NAME_BYTES = 255  # of one part: what the file systems of the sandbox can hold
LONGEST_SHOWN = 80  # characters of a path that an answer repeats
HOME = "workspace"  # what many models take the root for
DRIVE = re.compile(r"\A[A-Za-z]:")
CONTROL = re.compile(r"[\x00-\x1f\x7f]|[\ud800-\udfff]")
BLANKS = re.compile(r"\s+")


def normal_path(written: str) -> str | None:
    r"""Return the normal form of a path; empty for the root, None for what never is a file.

    Blanks around parts, a drive letter, empty parts, `.` and a leading `workspace/` are dropped,
    `\` is `/`, and `..` is resolved. Above the root, with control characters or too long, it is
    no path.
    """
    path = written.strip()
    if len(path) > LONGEST_PATH or CONTROL.search(path):
        return None
    parts = [part.strip() for part in path.replace("\\", "/").split("/")]
    found: list[str] = []
    for part in _below_home([part for part in parts if part not in ("", ".")]):
        if part != "..":
            found.append(part)
        elif found:
            found.pop()
        else:
            return None
    found = _below_home(found)
    if any(len(part.encode("utf-8")) > LONGEST_NAME_BYTES for part in found):
        return None
    return "/".join(found)


def _below_home(parts: list[str]) -> list[str]:
    """Return the parts without what models put before the root."""
    rest = list(parts)
    while rest:
        first = DRIVE.sub("", rest[0]).strip()
        if first not in ("", ".", HOME):
            return [first, *rest[1:]]
        rest = rest[1:]
    return rest


def shown_path(written: str) -> str:
    """Return a path as an answer repeats it: its normal form, or on one line and not too long."""
    normal = normal_path(written)
    if normal:
        return normal
    line = BLANKS.sub(" ", CONTROL.sub(" ", written)).strip()
    return line if len(line) <= LONGEST_SHOWN else line[: LONGEST_SHOWN - 1] + "…"


def is_below(path: str, folder: str) -> bool:
    """Say whether a path is a folder, or lies below it. Both in normal form; "" is the root."""
    return not folder or path == folder or path.startswith(f"{folder}/")


class Files:
    """Path → text. Paths are in their normal form already."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._texts = dict(sorted(files.items()))

    def text(self, path: str) -> str | None:
        """Return a file's text, or None."""
        return self._texts.get(path)

    def put(self, path: str, text: str) -> None:
        """Write a whole file. What no tree of files could hold beside it is gone."""
        for other in [o for o in self._texts if is_below(o, path) or is_below(path, o)]:
            del self._texts[other]
        self._texts[path] = text

    def remove(self, path: str) -> None:
        """Remove a file, if there is one."""
        self._texts.pop(path, None)

    def paths(self) -> tuple[str, ...]:
        """Return every path, sorted."""
        return tuple(sorted(self._texts))

    def below(self, folder: str) -> tuple[str, ...]:
        """Return the paths below a folder, and the file of that name, sorted."""
        return tuple(path for path in self.paths() if is_below(path, folder))

    def can_hold(self, path: str) -> bool:
        """Say whether a file may have this path: no folder has it, and no file is its folder."""
        return bool(path) and not any(
            other != path and (is_below(other, path) or is_below(path, other))
            for other in self._texts
        )

    def snapshot(self) -> dict[str, str]:
        """Return path → text, sorted."""
        return {path: self._texts[path] for path in self.paths()}
