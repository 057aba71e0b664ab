"""Second method of A07: the answers as somebody finds them who has the prompt and the world.

The prompt names the pages and the table; mails and pages are read as text, the table is asked in
SQLite. Nothing that the material demands is looked at.
"""

import re
import sqlite3
from contextlib import closing

from harness.world import Scene

PAGES = re.compile(r"The pages are (.+?); fetch them")
TABLE = re.compile(r"the table (\w+)\((\w+), (\w+), \w+\)")
MAIL = re.compile(r"inbox/(\d\d)\.txt")
ITEM = re.compile(r"^Item: (\w+), (\w+)$", re.MULTILINE)
CORRECTED = re.compile(
    r"^Correction:.*? is (?:not (?P<wrong>\w+), it is (?P<instead>\w+)"
    r"|(?P<right>\w+)(?:,| and) not (?P<other>\w+))",
    re.MULTILINE,
)
ORDER = re.compile(r'So "Item: (\w+), (\w+)" is written: (\w+) (\w+)')
STATION = re.compile(r"^Lost property: station (\w+)$", re.MULTILINE)
LISTED = re.compile(r"^Mails of this station: ([\d, ]+)$", re.MULTILINE)


def answers(prompt: str, scene: Scene) -> dict[str, str]:
    """Return item, station and code of every mail."""
    found = {}
    for path, text in scene.files.items():
        mail = MAIL.fullmatch(path)
        if mail:
            found[f"item {mail[1]}"] = _item(text, scene.files["policy/handover.md"])
    for address in PAGES.search(prompt)[1].split(", "):
        page = scene.pages[address]
        for number in LISTED.search(page)[1].split(", "):
            found[f"station {number}"] = STATION.search(page)[1]
    table, mail_column, code_column = TABLE.search(prompt).groups()
    with closing(sqlite3.connect(":memory:")) as base:
        base.executescript(scene.tables)
        rows = base.execute(f"SELECT {mail_column}, {code_column} FROM {table}")  # noqa: S608
        found |= {f"code {number}": code for number, code in rows}
    return found


def _item(mail: str, handover: str) -> str:
    thing, colour = ITEM.search(mail).groups()
    corrected = CORRECTED.search(mail)
    if corrected:
        wrong = corrected["wrong"] or corrected["other"]
        if colour != wrong:
            raise ValueError(f"a correction of {colour} names {wrong}")
        colour = corrected["right"] or corrected["instead"]
    first, second, *written = ORDER.search(handover).groups()
    if written != [second, first]:
        raise ValueError(f"{first}, {second} becomes {written}")
    return f"{colour} {thing}"
