"""Second method of A02: the questions as the prompt words them, asked of the archive's texts.

Logbooks and page are read with regular expressions, the table with one SQL query per question.
"""

import re
import sqlite3
from typing import Protocol

PART = re.compile(r"^(q\d+): number of the new (\w+), (\w+) (\d{4})$", re.MULTILINE)
INSPECTOR = re.compile(r"^(q\d+): name of the inspector, (\w+) (\d{4})$", re.MULTILINE)
STATION_SUM = re.compile(r"^(q\d+): sum of wage, station (\w+)$", re.MULTILINE)
YEAR_SUM = re.compile(r"^(q\d+): sum of wage, year (\d{4})$", re.MULTILINE)
COUNT = re.compile(r"^(q\d+): number of rows, station (\w+), wage above (\d+)$", re.MULTILINE)
HIGHEST = re.compile(r"^(q\d+): highest wage, station (\w+)$", re.MULTILINE)
HARBOUR = re.compile(r"^(q\d+): harbour code, (\w+)$", re.MULTILINE)
PAGE = re.compile(r"^- page (\S+):", re.MULTILINE)


class Archive(Protocol):
    """What of a scene is read."""

    files: dict[str, str]
    pages: dict[str, str]
    tables: str


def answers(prompt: str, scene: Archive) -> dict[str, str]:
    """Return key → answer for every question that the prompt asks."""
    found: dict[str, str] = {}
    for key, part, station, year in PART.findall(prompt):
        said = rf"Fitted a new {part}, number (\S+)\.$"
        found[key] = the_one(said, scene.files[f"logs/{station}_{year}.txt"])
    for key, station, year in INSPECTOR.findall(prompt):
        found[key] = the_one(r"inspected by (\w+)\.$", scene.files[f"logs/{station}_{year}.txt"])
    for pattern, query in (
        (STATION_SUM, "SELECT SUM(wage) FROM keepers WHERE station = ?"),
        (YEAR_SUM, "SELECT TOTAL(wage) FROM keepers WHERE year = CAST(? AS INTEGER)"),
        (COUNT, "SELECT COUNT(*) FROM keepers WHERE station = ? AND wage > CAST(? AS INTEGER)"),
        (HIGHEST, "SELECT wage FROM keepers WHERE station = ? ORDER BY wage DESC LIMIT 1"),
    ):
        for key, *asked in pattern.findall(prompt):
            found[key] = str(int(asked_of(scene.tables, query, asked)))
    (page,) = PAGE.findall(prompt)
    for key, station in HARBOUR.findall(prompt):
        found[key] = the_one(rf"^{station}: harbour code (\w+),", scene.pages[page])
    return found


def the_one(pattern: str, text: str) -> str:
    """Return what the one line says that fits."""
    (said,) = re.findall(pattern, text, re.MULTILINE)
    return said


def asked_of(script: str, query: str, values: list[str]) -> float:
    """Return the one number that a query gives on the table."""
    base = sqlite3.connect(":memory:")
    try:
        base.executescript(script)
        ((number,),) = base.execute(query, values).fetchall()
    finally:
        base.close()
    return number
