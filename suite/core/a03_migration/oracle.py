"""Second method for A03: read texts and tables as an agent could, and reckon in decimals.

Old rows come from running the first tables' script; slips, notice and numbers of kinds from the
texts of the world and from what the change brings. Nothing of `form.py` is used.
"""

import re
import sqlite3
from decimal import Decimal

from harness.world import Scene

FIRST_SLIP = "a"
REJECTED = "rejects"


def answers(prompt: str, scene: Scene) -> dict[str, str]:
    """Return the right row of each thing, what each way of working loses, and the new names."""
    notice = _notice(scene.later["NOTICE.md"])
    function = re.search(r"`(\w+)\(rows, \w+\)` in `vault/summary\.py`", prompt)[1]
    if function != notice["function"]:
        raise ValueError(f"the prompt names {function}, the notice {notice['function']}")
    numbers = _numbers(scene, notice)
    old = _old_rows(prompt, scene)
    slips = {path: _slip(scene.files[path]) for path in re.findall(r"`(\w+/[a-z]\.txt)`", prompt)}
    new = [row for rows in slips.values() for row in rows]
    first = next(rows for path, rows in slips.items() if path.endswith(f"/{FIRST_SLIP}.txt"))
    broken = [row for row in old if row[2] % 1]
    found = {
        code: f"{numbers[kind]} {(amount * notice['factor']).normalize():f} {place}"
        for code, kind, amount, place in (*old, *new)
    }
    lost = {"slip by slip": [*broken, *first], "at once": [*broken, *new], "late": broken}
    for way, rows in lost.items():
        found[f"left out {way}"] = " ".join(sorted(row[0] for row in rows))
    found["table"], found["function"] = notice["table"], function
    moved = sorted(path.replace(notice["old_folder"], notice["new_folder"]) for path in slips)
    if any(scene.later[path] != scene.files[old] for path, old in zip(moved, slips, strict=True)):
        raise ValueError("a slip says something else after the change")
    return found | {"slips": " ".join(moved)}


def _notice(text: str) -> dict[str, object]:
    """Return what the notice says, sentence by sentence."""
    patterns = {
        "table": r"Its rows are in (\w+\([\w, ]+\))\.",
        "kinds": r"its number in (\w+)\(",
        "kinds_columns": r"its number in \w+\(([\w, ]+)\)",
        "factor": r": 1 \w+ = ([\d,]+) \w+\.",
        "old_folder": r"The folder (\w+) is now",
        "new_folder": r"The folder \w+ is now (\w+)\.",
        "function": r"(\w+) in vault/summary\.py now gets rows",
    }
    found: dict[str, object] = {}
    for name, pattern in patterns.items():
        found[name] = re.search(pattern, text)[1]
    return found | {"factor": int(str(found["factor"]).replace(",", ""))}


def _numbers(scene: Scene, notice: dict[str, object]) -> dict[str, int]:
    number, name = str(notice["kinds_columns"]).split(", ")
    query = f"SELECT {name}, {number} FROM {notice['kinds']}"  # noqa: S608 (a text of ours)
    return dict(_rows(scene.later["new tables.sql"], query))


def _old_rows(prompt: str, scene: Scene) -> list[tuple[str, str, Decimal, str]]:
    table, columns = re.search(r"The table (\w+)\(([\w, ]+)\) holds twelve", prompt).groups()
    rows = _rows(scene.tables, f"SELECT {columns} FROM {table}")  # noqa: S608 (a text of ours)
    return [(code, kind, Decimal(str(amount)), place) for code, kind, amount, place in rows]


def _rows(script: str, query: str) -> list[tuple]:
    base = sqlite3.connect(":memory:")
    try:
        base.executescript(script)
        return base.execute(query).fetchall()
    finally:
        base.close()


def _slip(text: str) -> list[tuple[str, str, Decimal, str]]:
    """Return the rows of a slip, of which the first line says how many there are."""
    head, _, *lines = text.splitlines()
    rows = [tuple(line.split("; ")) for line in lines]
    if len(rows) != int(re.search(r": (\d+) new ", head)[1]):
        raise ValueError(f"not the number of rows that it names: {head}")
    return [(code, kind, Decimal(amount), place) for code, kind, amount, place in rows]
