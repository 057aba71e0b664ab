"""Forms of A03: a vault of twelve things, ten slips, and the form that the vault changes into.

Everything is drawn as whole eighths of a unit, so every amount is exact in both forms. The first
method of the answers multiplies what was drawn; the texts are filled from `world/` and carried
whole. Where one of several words is drawn, the open form has the first.
"""

import random
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from string import Template
from typing import Any

from harness.suite.forms import OPEN, Form, generator, refuse

TASK, FAMILY, DRAWS = "A03", 1, 200
FOLDER = Path(__file__).parent
SETTINGS = tomllib.loads((FOLDER / "settings.toml").read_text(encoding="utf-8"))
STORED, SLIPS = 12, {"a": 4, "b": 3, "c": 3}
KINDS, PLACES = 8, 5
FRACTIONS_STORED, FRACTIONS_SLIPS = 2, 3
EIGHTHS = 8
REJECTS = "migration_rejects"
OLD_FOLDERS, NEW_FOLDERS = ("slips", "arrivals", "receipts"), ("intake", "entries", "incoming")
ENDINGS, LABELS = ("_id", "_no", "_nr"), ("name", "label", "title")
LETTERS = "BCDFGHJKLMNPQRSTVWXZ"  # none that reads like a digit or makes a word
MANY = 60  # rows of the longest hidden list

# How a wrong total_… comes out: amounts of the asked place, all amounts, small units in one unit.
MUTANTS: dict[str, Callable[[list[int], list[int], int], float]] = {
    "whole_units": lambda here, _all, factor: sum(here) // factor,
    "whole_units_each": lambda here, _all, factor: sum(small // factor for small in here),
    "rounded": lambda here, _all, factor: round(sum(here) / factor),
    "two_decimals": lambda here, _all, factor: round(sum(here) / factor, 2),
    "small_units": lambda here, _all, _factor: sum(here),
    "every_place": lambda _here, everything, factor: sum(everything) / factor,
    "first_row": lambda here, _all, factor: sum(here[:1]) / factor,
    "last_row": lambda here, _all, factor: sum(here[-1:]) / factor,
    "zero": lambda _here, _all, _factor: 0,
}
BANDS = {
    "fractions_stored": (FRACTIONS_STORED, FRACTIONS_STORED),
    "fractions_slips": (FRACTIONS_SLIPS, FRACTIONS_SLIPS),
    "numbers_out_of_order": (6, 22),  # of the 28 pairs of kinds, against the alphabet
    "real_inputs": (4, 4),
    "notice_chars": (800, 1_100),
    "slips_chars": (330, 480),
    **{f"{name}_fails": (2, 4) for name in MUTANTS},
}

Rows = list[list[Any]]


def form(seed: str) -> Form:
    """Return the form of a seed; FormError if none is found within the bands."""
    rng = generator(TASK, FAMILY, seed)
    problems: list[str] = []
    for _ in range(DRAWS):
        vault = _Vault(rng, first_words=seed == OPEN)
        structure = vault.structure()
        problems = [
            f"{name} is {structure[name]:g}, not in {low} to {high}"
            for name, (low, high) in BANDS.items()
            if not low <= structure[name] <= high
        ]
        if not problems:
            return Form(
                task=TASK,
                family=FAMILY,
                seed=seed,
                values=vault.values(),
                answers=vault.answers(),
                structure=structure,
            )
    raise refuse(TASK, seed, problems)


class _Vault:
    """One drawn vault.

    stored, slips : rows of [code, kind, eighths of a unit, place]
    numbers : kind → its number in the new form
    """

    def __init__(self, rng: random.Random, *, first_words: bool) -> None:
        self.rng = rng
        self.first_words = first_words
        self.words: dict[str, Any] = SETTINGS[self._word(tuple(SETTINGS))]
        self.factor: int = self.words["factor"]
        self.kinds = sorted(rng.sample(self.words["names"], KINDS))
        self.numbers = dict(zip(self.kinds, rng.sample(range(11, 100), KINDS), strict=True))
        self.order = rng.sample(self.kinds, KINDS)
        self.places = self._places(PLACES + 1)
        self.absent = self.places.pop()
        self._name_everything()
        codes = self._codes(STORED + sum(SLIPS.values()))
        self.stored = self._rows(codes[:STORED], FRACTIONS_STORED)
        new = iter(self._rows(codes[STORED:], FRACTIONS_SLIPS))
        self.slips = {letter: [next(new) for _ in range(many)] for letter, many in SLIPS.items()}
        self.hidden = self._hidden()
        self.visible = self._visible()

    def _word(self, words: Sequence[str]) -> str:
        drawn = self.rng.choice(words)
        return words[0] if self.first_words else drawn

    def _name_everything(self) -> None:
        words = self.words
        thing, things = words["thing"]
        ending, small = self._word(ENDINGS), self._word(words["small_columns"])
        self.place: str = words["place"][0]
        self.old_table, self.new_table, self.kinds_table = things, thing, words["kind"]
        self.old = [thing, words["kind"], words["amount"], self.place]
        self.new = [f"{thing}{ending}", f"{words['kind']}{ending}", small, self.place]
        self.kinds_columns = [self.new[1], self._word(LABELS)]
        self.folders = self._word(OLD_FOLDERS), self._word(NEW_FOLDERS)

    def _codes(self, many: int) -> list[str]:
        letter = self.rng.choice(LETTERS)
        return [f"{letter}-{number}" for number in self.rng.sample(range(110, 990), many)]

    def _places(self, many: int) -> list[str]:
        letters = self.rng.sample(LETTERS, many)
        return [f"{letter}{self.rng.randint(1, 9)}" for letter in letters]

    def _rows(self, codes: list[str], fractions: int) -> Rows:
        """Draw a row for each code; so many of them have a fraction of a unit."""
        rng = self.rng
        broken = set(rng.sample(codes, fractions))
        return [
            [
                code,
                rng.choice(self.kinds),
                rng.randint(2, 95) * EIGHTHS + (rng.randint(1, EIGHTHS - 1) * (code in broken)),
                rng.choice(self.places),
            ]
            for code in codes
        ]

    # ------------------------------------------------------------ the inputs of the function

    def _list(self, amounts: Sequence[tuple[int, str]]) -> list[dict[str, Any]]:
        """Return rows of the new form, of amounts in small units and their places."""
        codes = self._codes(len(amounts))
        return [
            dict(zip(self.new, (code, self._number(), small, place), strict=True))
            for code, (small, place) in zip(codes, amounts, strict=True)
        ]

    def _number(self) -> int:
        return self.numbers[self.rng.choice(self.kinds)]

    def _hidden(self) -> list[dict[str, Any]]:
        rng, factor = self.rng, self.factor
        one, other, *rest = self.places
        spread = [one, one, one, other, other, rest[0], rest[1]]
        rng.shuffle(spread)
        some = self._list([(rng.randint(2 * factor, 90 * factor), place) for place in spread])
        little = [(rng.randint(factor // 9, factor // 3), one) for _ in range(2)]
        little += [(rng.randint(2 * factor, 90 * factor), place) for place in (other, rest[0])]
        rng.shuffle(little)
        many = self._list(
            [(rng.randint(1, 90 * factor), rng.choice(self.places)) for _ in range(MANY)]
        )
        inputs = (
            (f"one {self.place}", some, one),
            (f"other {self.place}", some, other),
            (f"a {self.place} without rows", some, self.absent),
            ("no rows", [], one),
            ("less than one unit", self._list(little), one),
            ("many rows", many, other),
        )
        cases = []
        for what, rows, place in inputs:
            right = sum(row[self.new[2]] for row in rows if row[self.place] == place)
            cases.append({"what": what, "rows": rows, "place": place, "right": right})
        return cases

    def _visible(self) -> list[dict[str, Any]]:
        """Draw the suite: the same sums before and after the change, none of them whole."""
        one, other, third, *_ = self.places
        eighths = [(8 * self.rng.randint(2, 60), one) for _ in range(2)]
        eighths += [(8 * self.rng.randint(2, 60) + 2, one)]
        eighths += [(8 * self.rng.randint(2, 60) + 5, other), (8 * self.rng.randint(2, 60), other)]
        eighths += [(4, third)]
        self.rng.shuffle(eighths)
        new = self._list([(self._small(amount), place) for amount, place in eighths])
        of_number = {number: kind for kind, number in self.numbers.items()}
        old = [
            dict(
                zip(self.old, (code, of_number[number], _units(amount), place), strict=True),
            )
            for (code, number, _, place), (amount, _) in zip(
                (tuple(row.values()) for row in new), eighths, strict=True
            )
        ]
        names = (f"one_{self.place}", f"other_{self.place}", "less_than_one")
        return [
            {
                "name": name,
                "place": place,
                "old_rows": old,
                "new_rows": new,
                "right": sum(amount for amount, where in eighths if where == place) / EIGHTHS,
            }
            for name, place in zip(names, (one, other, third), strict=True)
        ]

    def _small(self, eighths: int) -> int:
        return eighths * self.factor // EIGHTHS  # both factors are multiples of eight

    # ------------------------------------------------------------ what the form carries

    def structure(self) -> dict[str, float]:
        """Return the numbers that must lie in the bands."""
        files = self._files()
        numbers = [self.numbers[kind] for kind in self.kinds]
        pairs = [(a, b) for n, a in enumerate(numbers) for b in numbers[n + 1 :]]
        found: dict[str, float] = {
            "fractions_stored": sum(row[2] % EIGHTHS > 0 for row in self.stored),
            "fractions_slips": sum(row[2] % EIGHTHS > 0 for row in self._new_rows()),
            "numbers_out_of_order": sum(a > b for a, b in pairs),
            "real_inputs": sum(case["right"] > 0 for case in self.hidden),
            "notice_chars": len(files["notice"]),
            "slips_chars": sum(len(files[letter]) for letter in SLIPS),
        }
        for name, mutant in MUTANTS.items():
            found[f"{name}_fails"] = sum(self._dies(mutant, case) for case in self.hidden)
        return found

    def _dies(self, mutant: Callable[..., float], case: dict[str, Any]) -> bool:
        if case["right"] == 0:
            return False  # such an input counts only beside another one
        everything = [row[self.new[2]] for row in case["rows"]]
        here = [row[self.new[2]] for row in case["rows"] if row[self.place] == case["place"]]
        return mutant(here, everything, self.factor) != case["right"] / self.factor

    def answers(self) -> dict[str, str]:
        """Return the right row of each thing, and which things each way of working loses."""
        new, old = self._new_rows(), [row for row in self.stored if row[2] % EIGHTHS]
        found = {
            code: f"{self.numbers[kind]} {self._small(eighths)} {place}"
            for code, kind, eighths, place in (*self.stored, *new)
        }
        lost = {"slip by slip": [*old, *self.slips["a"]], "at once": [*old, *new], "late": old}
        found |= {
            f"left out {way}": " ".join(sorted(row[0] for row in rows))
            for way, rows in lost.items()
        }
        found["table"] = _call(self.new_table, self.new)
        found["function"] = self.words["function"]
        found["slips"] = " ".join(f"{self.folders[1]}/{letter}.txt" for letter in SLIPS)
        return found

    def values(self) -> dict[str, Any]:
        """Return what prompt, world and grader are made from."""
        thing, things = self.words["thing"]
        files = self._files()
        return {
            "vault": self.words["vault"],
            "thing": thing,
            "things": things,
            "kind": self.words["kind"],
            "measure": self.words["measure"],
            "amount": self.words["amount"],
            "place": self.place,
            "function": self.words["function"],
            "factor": self.factor,
            "old_table": self.old_table,
            "new_table": self.new_table,
            "kinds_table": self.kinds_table,
            "rejects": REJECTS,
            "old_columns": self.old,
            "new_columns": self.new,
            "kinds_columns": self.kinds_columns,
            "old_folder": self.folders[0],
            "new_folder": self.folders[1],
            "numbers": self.numbers,
            "stored": [_in_units(row) for row in self.stored],
            "slips": {k: [_in_units(row) for row in rows] for k, rows in self.slips.items()},
            "slip_texts": {letter: files[letter] for letter in SLIPS},
            "notice": files["notice"],
            "summary": files["summary"],
            "old_script": self._old_script(),
            "new_script": self._new_script(),
            "visible": self.visible,
            "hidden": self.hidden,
        }

    def _new_rows(self) -> Rows:
        return [row for rows in self.slips.values() for row in rows]

    def _files(self) -> dict[str, str]:
        thing, things = self.words["thing"]
        words = {
            **{key: self.words[key] for key in ("vault", "measure", "amount", "unit")},
            **{key: self.words[key] for key in ("small", "small_unit", "function")},
            "thing": thing,
            "things": things,
            "place": self.place,
            "places": self.words["place"][1],
            "factor": f"{self.factor:,}",
            "old_table": self.old_table,
            "new_table": self.new_table,
            "kinds_table": self.kinds_table,
            "rejects": REJECTS,
            "old_columns": ", ".join(self.old),
            "new_columns": ", ".join(self.new),
            "kinds_columns": ", ".join(self.kinds_columns),
            "id_column": self.new[0],
            "kind_column": self.new[1],
            "small_column": self.new[2],
            "old_folder": self.folders[0],
            "new_folder": self.folders[1],
        }
        texts = {name: _template(name).substitute(words) for name in ("notice", "summary")}
        for letter, rows in self.slips.items():
            lines = "\n".join("; ".join(map(str, _in_units(row))) for row in rows)
            texts[letter] = _template("slip").substitute(
                letter=letter.upper(),
                count=len(rows),
                things=things,
                columns="; ".join(self.old),
                lines=lines,
            )
        return texts

    def _old_script(self) -> str:
        return _table(self.old_table, self.old, "TEXT TEXT NUMERIC TEXT") + _inserts(
            self.old_table, [_in_units(row) for row in self.stored]
        )

    def _new_script(self) -> str:
        """Return the script of the new tables, of which only that of the kinds has rows yet."""
        return (
            _table(self.new_table, self.new, "TEXT INTEGER INTEGER TEXT")
            + _table(self.kinds_table, self.kinds_columns, "INTEGER TEXT")
            + _table(REJECTS, self.old, "TEXT TEXT NUMERIC TEXT")
            + _inserts(self.kinds_table, [[self.numbers[kind], kind] for kind in self.order])
        )


def _template(name: str) -> Template:
    return Template((FOLDER / "world" / f"{name}.txt").read_text(encoding="utf-8"))


def _units(eighths: int) -> int | float:
    """Return an amount in units: whole where it is whole."""
    return eighths // EIGHTHS if eighths % EIGHTHS == 0 else eighths / EIGHTHS


def _in_units(row: list[Any]) -> list[Any]:
    code, kind, eighths, place = row
    return [code, kind, _units(eighths), place]


def _call(name: str, columns: Sequence[str]) -> str:
    return f"{name}({', '.join(columns)})"


def _table(name: str, columns: Sequence[str], types: str) -> str:
    typed = (f"{column} {kind}" for column, kind in zip(columns, types.split(), strict=True))
    return f"CREATE TABLE {_call(name, list(typed))};\n"


def _inserts(table: str, rows: Rows) -> str:
    """Return statements that enter rows; no text of ours has a quote in it."""
    lines = []
    for row in rows:
        cells = (f"'{cell}'" if isinstance(cell, str) else str(cell) for cell in row)
        lines.append(f"INSERT INTO {table} VALUES ({', '.join(cells)});\n")  # noqa: S608 (ours)
    return "".join(lines)
