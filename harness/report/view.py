"""Tables as a page shows them: every entry knows how it sorts and where it came from."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """One entry of a table.

    text : what is read
    sort : what it sorts by; None sorts last, whichever way
    evidence : its id in EVIDENCE.json; empty for a name
    link : anchor on the page that explains it, without `#`
    """

    text: str
    sort: float | str | None = None
    evidence: str = ""
    link: str = ""


@dataclass(frozen=True)
class Column:
    """A heading; `about` is the sentence behind it, for whoever asks."""

    title: str
    numeric: bool = True
    about: str = ""


@dataclass(frozen=True)
class Line:
    """A row. The first entry names it; `cut` draws a line above, `doubt` hatches it."""

    entries: tuple[Entry, ...]
    anchor: str = ""
    cut: bool = False
    doubt: str = ""


@dataclass(frozen=True)
class Table:
    """A table with the sentence that says what it holds; notes stand under it."""

    name: str
    caption: str
    columns: tuple[Column, ...]
    lines: tuple[Line, ...]
    notes: tuple[str, ...] = ()

    @property
    def heading(self) -> int:
        """The column whose entries name the rows: the first that holds no numbers."""
        return next((n for n, c in enumerate(self.columns) if not c.numeric), 0)


def word(text: str, link: str = "") -> Entry:
    """Return an entry that is no number: a name, a verdict."""
    return Entry(text=text, sort=text, link=link)
