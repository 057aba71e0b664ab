"""Files of a reply: a header `### FILE: name`, then one fenced block.

Only asked paths are kept. Lines end in LF whatever the model wrote, and a byte order mark is
dropped. A header names a path in any form that `paths.normal_path` understands.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.parsing.fences import Fence, opening_fence
from harness.parsing.paths import normal_path

UNCLOSED = "unclosed"
DUPLICATE = "duplicate"
PATH = "path"
EXTRA_FILES = "extra-files"
NO_HEADER = "no-header"
ORPHAN_FENCE = "orphan-fence"

HEADER = re.compile(r" {0,3}[*_>]*[ ]?(#{1,6})[ \t]*[*_`]*FILE[*_`]*[ \t]*:(.*)", re.IGNORECASE)


@dataclass(frozen=True)
class FilesFound:
    """What a text delivers of the files that were asked.

    files : asked path → content
    flags : integrity marks; they change no points by themselves
    steps : one sentence per decision, for the reader
    """

    files: dict[str, str] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()


@dataclass(frozen=True)
class Block:
    """One fenced block: the name in its header if it has one, its content, its first line."""

    name: str | None
    content: str
    closed: bool
    fence: Fence
    at: int

    @property
    def stray(self) -> bool:
        """Say whether the fence opens nothing: it may close what was never opened."""
        return not self.closed and not self.content.strip()


def read_files(text: str, asked: Sequence[str]) -> FilesFound:
    """Find the asked files in a visible text.

    A block belongs to the header before it; the last block of a path wins. The last block may
    be unclosed. One asked file and exactly one block without a header: taken. One asked file
    and a closing fence that nothing opened: what stands before it is taken.

    Parameters
    ----------
    text : the visible text, reasoning removed
    asked : relative paths with `/`
    """
    if not asked:
        return FilesFound()
    lines = text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff").split("\n")
    walk = _Walk(lines, asked)
    finding = _Finding(asked)
    for block in walk.blocks:
        if block.name is not None and not block.stray:
            finding.deliver(block.name, block)
    foreign = any(normal_path(name, asked) not in asked for _, name in walk.names)
    if not finding.files and len(asked) == 1 and not foreign:
        finding.only(asked[0], walk)
    return FilesFound(finding.files, tuple(sorted(finding.flags)), tuple(finding.steps))


@dataclass
class _Finding:
    """Files as they are found, block by block."""

    asked: Sequence[str]
    files: dict[str, str] = field(default_factory=dict)
    flags: set[str] = field(default_factory=set)
    steps: list[str] = field(default_factory=list)

    def note(self, flag: str, step: str) -> None:
        """Keep a flag and a sentence."""
        self.flags.add(flag)
        self.steps.append(step)

    def deliver(self, name: str, block: Block) -> None:
        """Take the block of a header, if its path was asked."""
        path = normal_path(name, self.asked)
        shown = name.strip()[:80]
        if path is None:
            self.note(PATH, f"Left out a file with the path {shown!r}, which is never made.")
        elif path not in self.asked:
            self.note(EXTRA_FILES, f"Left out {path!r}, which was not asked.")
        else:
            if self.files.get(path, block.content) != block.content:
                self.note(DUPLICATE, f"Replaced {path} by a later block with other content.")
            self.take(path, block)

    def take(self, path: str, block: Block) -> None:
        """Keep a block as a file."""
        self.files[path] = block.content
        self.steps.append(f"Took {path} from the block at line {block.at + 1}.")
        if not block.closed:
            self.note(UNCLOSED, f"The block of {path} is never closed; took it to its end.")

    def only(self, path: str, walk: "_Walk") -> None:
        """Take the one file that was asked from a text without a block under its header."""
        full = [block for block in walk.blocks if not block.stray]
        strays = [block for block in walk.blocks if block.stray and not block.fence.info]
        if len(full) == 1:
            self.note(NO_HEADER, f"The only block stands under no header; took it as {path}.")
            self.take(path, full[0])
        elif full:
            self.steps.append(f"{len(full)} blocks stand under no header: none is {path}.")
        elif strays:
            start = walk.names[-1][0] + 1 if walk.names else 0
            before = "\n".join(walk.lines[start : strays[0].at]).strip("\n")
            if before.strip():
                self.files[path] = before + "\n"
                self.note(ORPHAN_FENCE, f"Took {path} from the text before a closing fence.")


class _Walk:
    """One pass over the lines of a text: its headers and its blocks, in order.

    names : line and name of every header
    """

    def __init__(self, lines: Sequence[str], asked: Sequence[str]) -> None:
        self.lines = lines
        self.asked = asked
        self.names: list[tuple[int, str]] = []
        self.blocks: list[Block] = []
        self._walk()

    def _walk(self) -> None:
        name: str | None = None
        at = 0
        while at < len(self.lines):
            header = HEADER.match(self.lines[at])
            fence = opening_fence(self.lines[at])
            if header:
                name = header[2]
                self.names.append((at, name))
            if header or fence is None:
                at += 1
                continue
            start = at + 1
            inner = self._header_inside(start) if name is None else None
            if inner is not None and self._fence_after(inner + 1):
                at += 1  # a fence around headers and blocks is none of a file
                continue
            if inner is not None:
                start = inner + 1
                name = self.lines[inner].partition(":")[2]
                self.names.append((inner, name))
            end, closed = self._end_of(fence, start)
            content = self._content(fence, start, end)
            if not closed:
                content = content.rstrip("\n") + "\n"
            self.blocks.append(Block(name, content, closed, fence, at))
            name = None
            at = end + 1 if closed else end

    def _end_of(self, fence: Fence, start: int) -> tuple[int, bool]:
        """Return where a block ends: its closing fence, the next asked file, or the text's end."""
        for at in range(start, len(self.lines)):
            if fence.closed_by(self.lines[at]):
                return at, True
            if self._next_file(at, fence):
                return at, False
        return len(self.lines), False

    def _content(self, fence: Fence, start: int, end: int) -> str:
        """Return the lines of a block as text: each ends in LF, no byte order mark."""
        lines = (f"{fence.content(line)}\n" for line in self.lines[start:end])
        return "".join(lines).removeprefix("\ufeff")

    def _next_file(self, at: int, fence: Fence) -> bool:
        """Say whether the header of an asked file stands here, so that an open block ends.

        A block that quotes such a header on purpose has a longer fence, or another kind.
        """
        header = HEADER.match(self.lines[at])
        inner = self._fence_after(at + 1) if header else None
        return (
            header is not None
            and inner is not None
            and inner.signs.startswith(fence.signs)
            and normal_path(header[2], self.asked) in self.asked
        )

    def _header_inside(self, at: int) -> int | None:
        """Return the line where a header with two signs or more begins a block, or None."""
        place = self._written(at)
        header = HEADER.match(self.lines[place]) if place is not None else None
        return place if header and len(header[1]) > 1 else None

    def _fence_after(self, at: int) -> Fence | None:
        """Return the fence that the next written line opens, or None."""
        place = self._written(at)
        return None if place is None else opening_fence(self.lines[place])

    def _written(self, at: int) -> int | None:
        """Return the first line from here that is not blank, or None."""
        for place in range(at, len(self.lines)):
            if self.lines[place].strip():
                return place
        return None
