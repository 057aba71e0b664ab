"""The world of A03: a vault that changes its form once, between two calls, and says nothing.

The change comes after the executed call by which four rows of slips stand in the old table, or
after call 12, whichever is first; also when the old table has gone or lost its columns. Its copy
was taken a moment before: rows of the very statement that set it off are in the rejects, and so
are rows that have no whole number of units.
"""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from harness.suite.forms import Form
from harness.world import Case, Scene, Step, Table, Trigger, World

SUITE = "summary"
SUMMARY = "vault/summary.py"
NOTICE = "NOTICE.md"
MIGRATED = "migrated"
SLIP_ROWS, LAST_CALL = 4, 12
LARGEST = 10**12  # units; a number beyond is nobody's amount, and its product may not fit
TABLES_SCRIPT = "new tables.sql"  # no file of the world: what its statements of sql can show

Row = tuple[Any, ...]


def scene(form: Form, run: int) -> Scene:  # noqa: ARG001 (only the schedules differ by run)
    """Return the world of a form; it is the same in every run."""
    values = form.values
    old, new = values["old_folder"], values["new_folder"]
    slips = values["slip_texts"]
    return Scene(
        files={
            SUMMARY: values["summary"],
            **{f"{old}/{letter}.txt": text for letter, text in slips.items()},
        },
        tables=values["old_script"],
        read_only=(old, new, NOTICE),
        suites={SUITE: _cases(values, "old_rows")},
        triggers=(_migration(values),),
        later={
            NOTICE: values["notice"],
            **{f"{new}/{letter}.txt": text for letter, text in slips.items()},
            TABLES_SCRIPT: values["new_script"],
        },
    )


def _cases(values: Mapping[str, Any], rows: str) -> tuple[Case, ...]:
    """Return the tests of the function, on rows of one of the two forms."""
    entry = f"vault.summary:{values['function']}"
    return tuple(
        Case(one["name"], entry, (one[rows], one["place"]), one["right"])
        for one in values["visible"]
    )


def _migration(values: Mapping[str, Any]) -> Trigger:
    """Return what looks after every call whether it is time, and then changes the vault."""
    slips = {row[0] for rows in values["slips"].values() for row in rows}

    def migrate(world: World, _step: Step, before: Mapping[str, Table]) -> None:
        if world.happened(MIGRATED):
            return
        rows = _old_rows(values, world.tables.dump())
        seen = _old_rows(values, before)
        if rows is None:
            rows, late = seen or [], Counter[Row]()
        elif world.calls >= LAST_CALL or sum(row[0] in slips for row in rows) >= SLIP_ROWS:
            late = Counter(rows) - Counter(seen or [])
        else:
            return
        _move(world, values, rows, late)

    return migrate


def _old_rows(values: Mapping[str, Any], tables: Mapping[str, Table]) -> list[Row] | None:
    """Return the rows of the old table, or None if it is not there with its columns."""
    table = tables.get(values["old_table"])
    columns = values["old_columns"]
    if table is None or not set(columns) <= set(table.columns):
        return None
    return [tuple(row[column] for column in columns) for row in table.dicts()]


def _move(world: World, values: Mapping[str, Any], rows: Sequence[Row], late: Counter[Row]) -> None:
    """Change tables, folder, suite, and leave the notice."""
    copied, rejected = [], []
    for row in rows:
        new = _in_new_form(values, row)
        if new is None or late[row] > 0:
            late[row] -= 1
            rejected.append(row)
        else:
            copied.append(new)
    _clear(world, values)
    world.tables.script(values["new_script"])
    _insert(world, values["new_table"], copied)
    _insert(world, values["rejects"], rejected)
    for path in world.files.below(values["old_folder"]):
        name = path.removeprefix(values["old_folder"])
        world.files.put(values["new_folder"] + name, world.files.text(path) or "")
        world.files.remove(path)
    world.files.put(NOTICE, values["notice"])
    world.suites[SUITE] = _cases(values, "new_rows")
    known = {row[0] for row in copied}
    left_out = {str(row[0]) for row in rejected if row[0] not in known}
    world.note(MIGRATED, json.dumps(sorted(left_out), ensure_ascii=False))


def _in_new_form(values: Mapping[str, Any], row: Row) -> Row | None:
    """Return a row as the new table has it, or None where it cannot be copied."""
    code, kind, amount, place = row
    number = values["numbers"].get(kind) if isinstance(kind, str) else None
    if number is None or not isinstance(amount, int | float) or not abs(amount) < LARGEST:
        return None
    if amount != math.floor(amount):
        return None
    return code, number, int(amount) * values["factor"], place


def _clear(world: World, values: Mapping[str, Any]) -> None:
    """Drop the old table, and whatever has the name of a new one."""
    names = [values["old_table"], values["new_table"], values["kinds_table"], values["rejects"]]
    listed = ", ".join(f"'{name}'" for name in names)
    found = world.tables.rows(
        "SELECT type, name FROM sqlite_master"  # noqa: S608 (names of the form's own)
        f" WHERE lower(name) IN ({listed}) ORDER BY type = 'table'"
    )
    for kind, name in found:
        world.tables.script(f'DROP {kind} IF EXISTS "{name}"')


def _insert(world: World, table: str, rows: Sequence[Row]) -> None:
    """Enter rows one by one: a model may have made more than one script can hold."""
    for row in rows:
        cells = ", ".join(map(_literal, row))
        world.tables.script(f"INSERT INTO {table} VALUES ({cells})")  # noqa: S608 (quoted)


def _literal(value: str | float | None) -> str:
    """Return a value as a statement holds it; a model may have entered anything."""
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return "'" + value.replace("'", "''").replace("\0", "") + "'"
    return repr(value)
