"""The tables of a world: SQLite in memory, of which a model's statement sees the tables alone.

Nothing a statement does depends on time, chance or the build of SQLite, reaches the machine, or
takes more than some seconds and some hundred MiB.
"""

import math
import re
import sqlite3
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Never

from harness.records.world import CellValue, Table

MAX_STEPS = 200_000  # of SQLite's machine, per statement
STEPS_AT_ONCE = 1_000
ROWS_SHOWN = 50
LONGEST_VALUE = 5_000  # bytes of one value or row: looking for a text in a text is one step
LONGEST_PATTERN = 200  # of LIKE and GLOB
MOST_PAGES = 4_096  # of 4 KiB
SCHEMA = "sqlite_master"
COLUMNS = "table_info"  # the one PRAGMA that may be asked, of one table
INTERNAL = "sqlite_"
# Atomic, or a row of comments would be tried in every way that it can be cut into comments.
EXPLAIN = re.compile(
    r"\A(?>(?:\s|;|--[^\n]*(?:\n|\Z)|/\*.*?\*/)*)EXPLAIN\b", re.IGNORECASE | re.DOTALL
)
SQL_RECURSIVE = 33  # SQLITE_RECURSIVE, which the module does not name
READING = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, SQL_RECURSIVE}
)
WRITING = frozenset(
    {sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE}
    | {sqlite3.SQLITE_CREATE_TABLE, sqlite3.SQLITE_DROP_TABLE, sqlite3.SQLITE_ALTER_TABLE}
    | {sqlite3.SQLITE_CREATE_INDEX, sqlite3.SQLITE_DROP_INDEX, sqlite3.SQLITE_REINDEX}
)
UNSTEADY = (
    *("random", "randomblob", "load_extension", "sqlite_offset"),
    *("date", "time", "datetime", "julianday", "unixepoch", "strftime", "timediff"),
    *("current_date", "current_time", "current_timestamp"),
    *("sqlite_version", "sqlite_source_id"),
    *("sqlite_compileoption_get", "sqlite_compileoption_used"),
)
Row = tuple[CellValue, ...]


@dataclass(frozen=True)
class SqlAnswer:
    """What a statement gave.

    rows : how many rows are shown
    tables : the tables that it touched, sorted
    wrote : it was one that may change something
    """

    ok: bool
    text: str
    rows: int = 0
    tables: tuple[str, ...] = ()
    wrote: bool = False


@dataclass
class _Watch:
    """The authorizer of one statement, and what it saw."""

    touched: set[str] = field(default_factory=set)
    wrote: bool = False
    steps: int = 0

    def allow(
        self, action: int, first: str | None, second: str | None, _base: str | None, _by: str | None
    ) -> int:
        """Allow what reads and writes tables, and to ask for columns; all else is denied."""
        if action == sqlite3.SQLITE_PRAGMA and (first or "").lower() == COLUMNS and second:
            self.touched.add(second.lower())
            return sqlite3.SQLITE_OK
        function = (second or "").lower() if action == sqlite3.SQLITE_FUNCTION else ""
        if action not in READING | WRITING or function in UNSTEADY:
            return sqlite3.SQLITE_DENY
        self.wrote = self.wrote or action in WRITING
        name = second if action in _TABLE_IS_SECOND else first
        if name and action != sqlite3.SQLITE_FUNCTION:
            self.touched.add(name.lower())
        return sqlite3.SQLITE_OK

    def tick(self) -> bool:
        """Say whether the statement has taken too many steps."""
        self.steps += STEPS_AT_ONCE
        return self.steps > MAX_STEPS


_TABLE_IS_SECOND = frozenset(
    {sqlite3.SQLITE_ALTER_TABLE, sqlite3.SQLITE_CREATE_INDEX, sqlite3.SQLITE_DROP_INDEX}
)


class Tables:
    """One database. `rows`, `script` and `dump` are ours; `ask` runs a model's statement.

    It is closed with `close()`, or when nobody holds it any more.
    """

    def __init__(self, script: str) -> None:
        self._base = sqlite3.connect(
            ":memory:", isolation_level=None, cached_statements=0, check_same_thread=False
        )
        self.close = weakref.finalize(self, self._base.close)
        self._base.text_factory = lambda data: data.decode("utf-8", "replace")
        self._base.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, LONGEST_PATTERN)
        for name in UNSTEADY:  # a default value asks no authorizer
            self._base.create_function(name, -1, _not_available)
        self._dump: dict[str, Table] | None = None
        self._base.executescript(
            f"PRAGMA temp_store = MEMORY; PRAGMA max_page_count = {MOST_PAGES};"
        )
        self.script(script)

    def rows(self, query: str) -> list[Row]:
        """Return the rows of a query of ours."""
        return [tuple(map(_plain, row)) for row in self._base.execute(query)]

    def script(self, sql: str) -> None:
        """Run statements of ours."""
        self._dump = None
        self._base.executescript(sql)

    def dump(self) -> dict[str, Table]:
        """Return every table, its columns and its rows, in canonical order."""
        if self._dump is None:
            names = self._names()
            self._dump = {name: self._table(name) for name in sorted(names)}
        return dict(self._dump)

    def ask(self, query: str) -> SqlAnswer:
        """Run one statement of a model's. It is applied whole or not at all."""
        before = self._names()
        watch = _Watch()
        try:
            if EXPLAIN.match(query):  # its answer is another one in each build
                return SqlAnswer(ok=False, text="sql error: not authorized")
            ok, text, rows = True, *self._run(query, watch)
        except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError, MemoryError) as error:
            ok, text, rows = False, f"sql error: {_message(error)}", 0
        if watch.wrote:
            self._dump = None
        known = {name.lower(): name for name in (*before, *self._names())}
        if not watch.wrote:
            known[SCHEMA] = SCHEMA
        touched = {known[name] for name in watch.touched if name in known}
        return SqlAnswer(ok, text, rows, tuple(sorted(touched)), watch.wrote)

    def _run(self, query: str, watch: _Watch) -> tuple[str, int]:
        """Return the text of an answer and how many rows it shows."""
        changes = self._base.total_changes
        self._base.set_authorizer(watch.allow)
        self._base.set_progress_handler(watch.tick, STEPS_AT_ONCE)
        longest = self._base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
        try:
            cursor = self._base.execute(query)
            columns = [column[0] for column in cursor.description or ()]
            shown = [tuple(map(_cell, row)) for row in cursor.fetchmany(ROWS_SHOWN)]
            count = len(shown) + sum(1 for _ in cursor)
        finally:
            self._base.set_authorizer(None)
            self._base.set_progress_handler(None, 0)
            self._base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, longest)
        if not columns:
            return f"ok: {self._base.total_changes - changes} rows changed", 0
        all_of_them = f"({count} rows)"
        last = all_of_them if count == len(shown) else f"({len(shown)} rows shown of {count})"
        lines = [" | ".join(map(_on_one_line, columns)), *map(" | ".join, shown), last]
        return "\n".join(lines), len(shown)

    def _names(self) -> list[str]:
        query = "SELECT name FROM sqlite_master WHERE type = 'table'"
        names = [str(name) for (name,) in self._base.execute(query)]
        return [name for name in names if not name.lower().startswith(INTERNAL)]

    def _table(self, name: str) -> Table:
        quoted = name.replace('"', '""')
        cursor = self._base.execute(f'SELECT * FROM "{quoted}"')  # noqa: S608 (a name of its own)
        columns = tuple(column[0] for column in cursor.description)
        rows = [tuple(map(_plain, row)) for row in cursor]
        return Table(columns=columns, rows=tuple(sorted(rows, key=_order)))


def changed_tables(before: Mapping[str, Table], after: Mapping[str, Table]) -> tuple[str, ...]:
    """Return the names of tables that differ, that came or that went, sorted."""
    return tuple(
        sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    )


def _not_available(*_arguments: object) -> Never:
    raise ValueError("not available")


def _message(error: BaseException) -> str:
    """Return an error as SQLite words it, where SQLite worded it."""
    if isinstance(error, sqlite3.Warning) or "one statement at a time" in str(error):
        return "only one statement is run at a time"
    if isinstance(error, sqlite3.Error) and not isinstance(error, sqlite3.ProgrammingError):
        return _on_one_line(str(error))
    return "the statement cannot be read"


def _plain(value: object) -> CellValue:
    """Return a value as a record holds it."""
    if isinstance(value, bytes):
        return f"x'{value.hex()}'"
    if isinstance(value, float) and not math.isfinite(value):
        return _real(value)
    if value is None or isinstance(value, int | float | str):
        return value
    raise TypeError(f"SQLite gave a {type(value).__name__}")


def _cell(value: object) -> str:
    """Return a value as it is shown."""
    plain = _plain(value)
    if plain is None:
        return "NULL"
    return _real(plain) if isinstance(plain, float) else _on_one_line(str(plain))


def _real(value: float) -> str:
    """Return a number with its point, in fifteen digits, the same on every machine."""
    if not math.isfinite(value):
        return "Inf" if value > 0 else "-Inf"
    text = format(value, ".15g")
    return text if set(text) & {".", "e"} else f"{text}.0"


def _on_one_line(text: str) -> str:
    return text.replace("\r", "\\r").replace("\n", "\\n")


def _order(row: Row) -> list[tuple[int, float, str]]:
    """Return a sort key for rows of mixed types: nothing, numbers, texts."""
    return [_place(value) for value in row]


def _place(value: CellValue) -> tuple[int, float, str]:
    if value is None:
        return (0, 0, "")
    if isinstance(value, str):
        return (2, 0, value)
    return (1, value, type(value).__name__)
