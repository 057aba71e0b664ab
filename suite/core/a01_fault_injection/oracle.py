"""Second method of A01: every fact and function from what an agent can read.

Helpers are run as they stand in their files, tables are asked in SQLite, pages are read as JSON,
and the rules of each ticket are taken from its sentences: a sentence that is not understood stops
the reading.
"""

import hashlib
import json
import math
import re
import sqlite3
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.world import Scene

ALLOWED = {"max": max, "min": min, "ValueError": ValueError}  # all that a helper may use
FACTS = ("RATE_ID", "ISSUED", "VISITS", "TOTAL", "LONGEST")
# What the functions below build in. A ticket that says something else is not read.
SAID = {
    1: (
        "One day costs to_step(base + per_dm * length_dm + surcharge)",
        "The result is days times the cost of one day. days may be 0; then the result is 0.",
    ),
    2: (
        "per_head of the band times crew is limited to at most cap.",
        "surcharge is added after that, so the result may be above cap.",
    ),
    3: (
        "n is `billable_days(arrive, leave)`",
        "mooring_cents(length_dm, n); waste_cents(length_dm, crew) for each started week of n",
        "(1 to 7 days are one, 8 to 14 are two, and so on); and surcharge, once for the stay.",
        "If n is long_from_days or more, the whole fee is reduced by off_percent percent,",
        "and a fraction of a cent in the reduced fee is dropped.",
    ),
}
SUMS = {"length_dm": "length_dm", "crew": "crew", "leave - arrive": "leave - arrive"}


def answers(prompt: str, scene: "Scene") -> dict[str, str]:
    """Return every fact, and a digest of the results of each function on a fixed domain."""
    office = Office(scene)
    for name in ("dues/steps.py", "dues/bands.py", "dues/days.py", "tickets/1.md"):
        if f"`{name}`" not in prompt:
            raise ValueError(f"the prompt does not name {name}")
    found = {}
    for k, module in enumerate(("mooring", "waste", "stay"), 1):
        found |= {f"{module}.{name}": value for name, value in office.facts(k).items()}
    for name, (function, inputs) in office.asked().items():
        results = " ".join(str(function(*args)) for args in inputs)
        found[name] = hashlib.sha256(results.encode()).hexdigest()[:16]
    return found


class Office:
    """What an agent can see, and functions made from it."""

    def __init__(self, scene: "Scene") -> None:
        texts = {**scene.files, **scene.later}
        self.tickets = {k: texts[f"tickets/{k}.md"] for k in (1, 2, 3)}
        for k, sentences in SAID.items():
            missing = [s for s in sentences if s not in self.tickets[k]]
            if missing:
                raise ValueError(f"ticket {k} does not say: {missing}")
        self.pages = {k: json.loads(scene.pages[self._address(k)]) for k in (1, 2, 3)}
        self.base = sqlite3.connect(":memory:")
        self.base.executescript(scene.tables)
        space: dict[str, Any] = {"__builtins__": ALLOWED}
        for name in ("steps", "bands", "days"):
            exec(texts[f"dues/{name}.py"], space)  # noqa: S102 (texts of this folder)
        self.to_step, self.band_of = space["to_step"], space["band_of"]
        self.billable_days = space["billable_days"]
        self.surcharge = {k: self._surcharge(k) for k in (1, 2, 3)}

    def _address(self, k: int) -> str:
        return re.search(r"on the page (port\.test/\S+?)\.? ", self.tickets[k])[1]

    def _berth(self, k: int) -> str:
        named = re.search(r"the cents of the berth `(\w+)` in", self.tickets[k])[1]
        if f"have the berth `{named}`\n" not in self.tickets[k]:
            raise ValueError(f"ticket {k} names two berths")
        return named

    def _surcharge(self, k: int) -> int:
        query = "SELECT cents FROM surcharge WHERE berth = ?"
        return self.base.execute(query, (self._berth(k),)).fetchone()[0]

    def facts(self, k: int) -> dict[str, str]:
        """Return the five facts of a ticket, with its control looked at."""
        summed = re.search(r"TOTAL, number: the sum of (.+?) over those rows", self.tickets[k])[1]
        query = f"SELECT vessel, length_dm, {SUMS[summed]} FROM visits WHERE berth = ?"  # noqa: S608
        rows = self.base.execute(query, (self._berth(k),)).fetchall()
        total = sum(row[2] for row in rows)
        control = re.search(r"its last two digits are (\d\d)\.", self.tickets[k])[1]
        if not str(total).endswith(control):
            raise ValueError(f"the control of ticket {k} is {control}, the sum {total}")
        lengths = sorted((row[1], row[0]) for row in rows)
        if lengths[-1][0] == lengths[-2][0]:
            raise ValueError(f"ticket {k} has no longest vessel")
        page = self.pages[k]
        values = (page["id"], page["issued"], len(rows), total, lengths[-1][1])
        return dict(zip(FACTS, map(str, values), strict=True))

    def mooring(self, length_dm: int, days: int) -> int:
        """Add up the days of a mooring."""
        page = self.pages[1]
        raw = page["base"] + page["per_dm"] * length_dm + self.surcharge[1]
        return sum(self.to_step(raw) for _ in range(days))

    def waste(self, length_dm: int, crew: int) -> int:
        """Add up the heads of a crew, up to the cap."""
        page = self.pages[2]
        heads = sum(page["per_head"][self.band_of(length_dm)] for _ in range(crew))
        return min(page["cap"], heads) + self.surcharge[2]

    def stay(self, length_dm: int, arrive: int, leave: int, crew: int) -> int:
        """Add up a stay, and take the discount exactly."""
        page, days = self.pages[3], self.billable_days(arrive, leave)
        fee = Fraction(self.mooring(length_dm, days) + self.surcharge[3])
        fee += math.ceil(Fraction(days, 7)) * self.waste(length_dm, crew)
        if days >= page["long_from_days"]:
            fee -= fee * Fraction(page["off_percent"], 100)
        return math.floor(fee)

    def asked(self) -> dict[str, tuple[Callable[..., Any], list[tuple[int, ...]]]]:
        """Return each function with the inputs of its digest."""
        weeks = [40 + days for days in range(25)]
        return {
            "to_step": (self.to_step, [(cents,) for cents in range(0, 2_500, 7)]),
            "band_of": (self.band_of, [(n,) for n in range(1, 900)]),
            "billable_days": (self.billable_days, [(30, day - 10) for day in weeks]),
            "mooring": (self.mooring, [(n, d) for n in range(10, 700, 9) for d in (0, 1, 2, 7)]),
            "waste": (
                self.waste,
                [(n, c) for n in range(10, 700, 7) for c in (0, 1, 5, 14, 31)],
            ),
            "stay": (
                self.stay,
                [(n, 40, day, c) for n in (33, 200, 410) for day in weeks for c in (1, 17)],
            ),
        }
