"""Forms of A09: a quay ledger of 660 lines, 24 questions, and the answers by a forward replay.

What a question needs is planned, not hoped for: lines are kept for it, and the ledger is written
around them from its first line to its last, so that no hold ever holds less than nothing. A draw
that misses a band is drawn again. Names, sentences, sizes and bands stand in `ledger.toml`.
"""

import random
import tomllib
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from harness.suite.forms import Form, generator, refuse

TASK, FAMILY, DRAWS = "A09", 1, 100
LINES, LEAST, MOST = 660, 11, 98  # lines of a ledger; the fewest and most sacks of a line
SET = tomllib.loads(Path(__file__).with_name("ledger.toml").read_text(encoding="utf-8"))
LAST, RESERVE, REACH = SET["last"], SET["reserve"], SET["reach"]
HOLDS = [hold for cluster in SET["clusters"] for hold in cluster]
NEAR = {h: [g for g in cluster if g != h] for cluster in SET["clusters"] for h in cluster}
ROWS = ("L", "B", "C", "V")
KEYS = tuple(f"{row}{number}" for row in ROWS for number in range(1, 7))
READERS = {"VOID": "VOID", "CORRECT": "CORRECT", "COUNT": "COUNT", "RULE 7": "RULE"}
ANY, NO_IN = ("IN", "TAKE", "GIVE", "OUT"), ("TAKE", "GIVE", "OUT")
Answers = dict[str, int]
Wrong = dict[str, Answers]
Books = tuple[Counter[str], Counter[str], int]


class Unlucky(Exception):  # noqa: N818 (no error: a draw that leads nowhere is drawn again)
    """A draw that has no place for what it planned."""


@dataclass(frozen=True)
class Entry:
    """One line of the ledger.

    source, target : the hold that sacks leave, and the one they come into or that is counted
    refers : the entry that a VOID or CORRECT line names
    """

    number: int
    kind: str
    quantity: int = 0
    source: str = ""
    target: str = ""
    refers: int = 0
    words: str = ""


@dataclass
class Slot:
    """A line that is kept for a hold before its quantity is known.

    wants : what it may become: COUNT, IN, OUT, GIVE (a MOVE out of the hold), TAKE (a MOVE into
        it); the first of them where the hold is nearly empty
    other : the other hold of a GIVE, where the plan fixes it
    void, fixes : whether a VOID line names it, and how many CORRECT lines do
    """

    number: int
    wants: tuple[str, ...]
    hold: str
    other: str = ""
    void: bool = False
    fixes: int = 0


def replay(ledger: list[Entry]) -> Books:
    """Apply a ledger from its first line to its last, with the knowledge of all its lines.

    Returns the sacks in each hold, the sacks moved out of each, and the lowest balance ever.
    """
    void = {entry.refers for entry in ledger if entry.kind == "VOID"}
    right = {entry.refers: entry.quantity for entry in ledger if entry.kind == "CORRECT"}
    balance, moved, lowest, rule = Counter[str](), Counter[str](), 0, False
    for entry in ledger:
        sacks = right.get(entry.number, entry.quantity)
        if entry.kind == "RULE":
            rule = True
        elif entry.number in void:
            continue
        elif entry.kind == "COUNT":
            balance[entry.target] = sacks
        elif entry.kind == "IN":
            balance[entry.target] += sacks - (sacks // 10 if rule else 0)
        elif entry.kind in ("OUT", "MOVE"):
            balance[entry.source] -= sacks
            lowest = min(lowest, balance[entry.source])
            if entry.kind == "MOVE":
                balance[entry.target] += sacks
                moved[entry.source] += sacks
    return balance, moved, lowest


class Desk:
    """Plans a ledger, then writes it.

    days : the day of each line, from line 1
    asked : key → the hold that is asked for, of a look-up the one that sacks leave
    pairs : key of a look-up → the line that is asked for, its near-named twin of the same day
    """

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.days = [0, *accumulate((rng.random() < 0.28 for _ in range(LINES - 1)), initial=1)]
        self.ledger: list[Entry] = []
        self.stock: Counter[str] = Counter()
        self.free = dict.fromkeys(range(1, LINES + 1))
        self.slots: dict[int, Slot] = {}
        self.said: dict[int, Entry] = {}  # lines that are fixed before their turn comes
        self.asked: dict[str, str] = {}
        self.pairs: dict[str, tuple[int, int]] = {}
        for number, hold in enumerate(rng.sample(HOLDS, len(HOLDS)), 1):
            self.put(("IN",), hold, number)
        self.rule = self.take(345, 380)
        self.said[self.rule] = Entry(self.rule, "RULE")
        for number in [self.take(len(HOLDS) + 1, LINES) for _ in range(SET["notes"])]:
            self.said[number] = Entry(number, "NOTE")
        self._plan()
        summed = [hold for key, hold in self.asked.items() if key not in self.pairs]
        self.open = [hold for hold in HOLDS if hold not in summed]
        for number in range(1, LINES + 1):
            self._write(number)

    def _pick(self, choice: list):
        if not choice:
            raise Unlucky
        return self.rng.choice(choice)

    def take(self, low: int, high: int) -> int:
        """Return a line from low to high that was free, and keep it."""
        number = self._pick([number for number in range(low, high + 1) if number in self.free])
        del self.free[number]
        return number

    def put(self, wants: tuple[str, ...], hold: str, number: int, other: str = "") -> Slot:
        """Keep a line for a hold."""
        self.free.pop(number, None)
        self.slots[number] = Slot(number, wants, hold, other)
        return self.slots[number]

    def _plan(self) -> None:
        """Choose the holds that are asked for, their lines, and which are void or corrected."""
        rng = self.rng
        asked, spare, shares = [], [], rng.sample((2,) * 8 + (1,) * 2, 10)
        for cluster, share in zip(SET["clusters"], shares, strict=True):
            holds = rng.sample(cluster, 4)
            asked += holds[:share]
            spare.append(holds[share:])
        rng.shuffle(spare)
        rng.shuffle(asked)
        self._plan_look_ups(spare)
        for row, sizes in SET["sizes"].items():
            for index, size in enumerate(rng.sample(sizes, 6), 1):
                voids, fixes, hold = rng.choice((1, 2)), rng.choice((1, 2)), asked.pop()
                self.asked[f"{row}{index}"] = hold
                chosen = rng.sample(self._lines(row, hold, size + voids, index), voids + fixes)
                for slot in chosen:
                    slot.fixes = rng.choice((1, 1, 2))
                for slot in chosen[:voids]:
                    slot.void, slot.fixes = True, rng.choice((0, 0, 1))

    def _plan_look_ups(self, spare: list[list[str]]) -> None:
        """Keep one MOVE in each fifth and one anywhere, each with a twin that has a near name."""
        rng = self.rng
        for index, fifth in enumerate(rng.sample((0, 1, 2, 3, 4, rng.randrange(5)), 6), 1):
            source, near = spare[index][:2]
            target, close = rng.sample(rng.choice(spare[7:]), 2)
            low, high = max(60, fifth * LINES // 5 + 1), min(LAST, (fifth + 1) * LINES // 5)
            here = [n for n in self.free if low <= n <= high]
            pairs = [(n, m) for n in here for m in range(n - 3, n + 4) if m in self.free and m != n]
            line, twin = self._pick([p for p in pairs if self.days[p[0]] == self.days[p[1]]])
            self.put(("GIVE",), source, line, target)
            twins = (near, target) if index % 2 else (source, close)
            self.put(("GIVE",), twins[0], twin, twins[1])
            self.asked[f"L{index}"], self.pairs[f"L{index}"] = source, (line, twin)

    def _lines(self, row: str, hold: str, size: int, index: int) -> list[Slot]:
        """Keep the lines of a hold; return those that may be void or corrected."""
        if row == "B":  # no COUNT, and IN lines that end before RULE 7
            numbers = [self.take(41, LAST) for _ in range(size - 1)]
            return [self.put(ANY if n < self.rule else NO_IN, hold, n) for n in numbers]
        if row == "C":  # a COUNT with lines before it, then an IN on both sides of RULE 7
            count = self.take(70, 130 if index == 1 else self.rule - 60)
            self.put(("COUNT",), hold, count)
            for number in range(self.rng.choice((2, 3))):
                slot = self.put(ANY, hold, self.take(41, count))
                slot.void, slot.fixes = number + index == 2, int(number + index == 4)
            self.put(("IN",), hold, self.take(count, self.rule))
            self.put(("IN",), hold, self.take(self.rule, LAST))
            return [self.put(ANY, hold, self.take(count, LAST)) for _ in range(size - 2)]
        wants = ["GIVE"] * size + ["OUT"] + ["IN", "TAKE", "IN"] * (size // 3 + 1)
        paid = -1
        while paid < 0:  # at no line have more lines taken than brought
            self.rng.shuffle(wants)
            paid = min(accumulate((1 if w in ("IN", "TAKE") else -1 for w in wants), initial=1))
        numbers = sorted(self.take(41, LAST) for _ in wants)
        slots = [self.put((w,), hold, n) for w, n in zip(wants, numbers, strict=True)]
        return [slot for slot in slots if slot.wants == ("GIVE",)]

    def _write(self, number: int) -> None:
        self.free.pop(number, None)
        slot = self.slots.get(number)
        if number in self.said:
            self.ledger.append(self.said[number])
            return
        if slot is None:  # a line for a hold that nobody asks for
            chance = self.rng.random()
            slot = Slot(number, ANY if chance > 0.05 else ("COUNT",), self.rng.choice(self.open))
            if number <= LAST:
                slot.void, slot.fixes = 0.05 < chance < 0.11, int(0.11 < chance < 0.17)
        if slot.wants == ("COUNT",):
            self.stock[slot.hold] = self.rng.randint(90, 300)
            self.ledger.append(Entry(number, "COUNT", self.stock[slot.hold], target=slot.hold))
        else:
            self._enter(slot, *self._route(slot))

    def _route(self, slot: Slot) -> tuple[str, str, int]:
        """Return source and target of a slot, and the most sacks that it can move."""
        hold, poor = slot.hold, 40 + RESERVE * (slot.hold in self.open)
        want = slot.wants[0] if self.stock[hold] < poor else self.rng.choice(slot.wants)
        if want == "IN":
            return "", hold, MOST
        least = RESERVE + LEAST if want == "TAKE" else 0
        others = [h for h in self.open if h != hold and self.stock[h] >= least]
        other = slot.other or self._pick(others)
        source, target = {"TAKE": (other, hold), "GIVE": (hold, other), "OUT": (hold, "")}[want]
        free = self.stock[source] - RESERVE if source in self.open else self.stock[source] * 3 // 4
        payable = self.stock[source] * 2 // 3 if slot.other else free
        if payable < LEAST:
            raise Unlucky
        return source, target, min(MOST, payable)

    def _enter(self, slot: Slot, source: str, target: str, most: int) -> None:
        """Write an IN, OUT or MOVE line, and keep lines for what will be said about it."""
        kind = "IN" if not source else "MOVE" if target else "OUT"
        least = LEAST if source else 60 if slot.number <= len(HOLDS) else 21
        sacks = self.rng.randint(least, most)
        others = [figure for figure in range(least, MOST + 1) if figure != sacks]
        figures = [*self.rng.sample(others, slot.fixes), sacks]
        self.ledger.append(Entry(slot.number, kind, figures[0], source, target))
        span = slot.number + 1, slot.number + REACH
        places = sorted(self.take(*span) for _ in range(slot.fixes))
        for place, figure in zip(places, figures[1:], strict=True):
            self.said[place] = Entry(place, "CORRECT", figure, refers=slot.number)
        if slot.void:
            place = self.take(*span)
            self.said[place] = Entry(place, "VOID", refers=slot.number)
            return
        self.stock[source] -= sacks
        self.stock[target] += sacks - (sacks // 10) * (kind == "IN" and slot.number > self.rule)

    def answer(self, key: str, books: Books, hold: str) -> int:
        """Return what a question asks about a hold, in the books of some reader."""
        if key in self.pairs:
            return self.ledger[self.pairs[key][0] - 1].quantity
        return books[key.startswith("V")][hold]

    def passing_over(self, *kinds: str) -> Answers:
        """Return key → the answer of a reader who passes over the lines of these kinds."""
        books = replay([entry for entry in self.ledger if entry.kind not in kinds])
        return {key: self.answer(key, books, self.asked[key]) for key in KEYS}

    def entries(self, key: str) -> list[Entry]:
        """Return the lines that an answer is made of, standing or not, from the last COUNT on."""
        hold, moves = self.asked[key], [entry for entry in self.ledger if entry.kind == "MOVE"]
        if key in self.pairs:
            asked = self.ledger[self.pairs[key][0] - 1]
            same = [e for e in moves if (e.source, e.target) == (asked.source, asked.target)]
            return [e for e in same if self.days[e.number] == self.days[asked.number]]
        if key.startswith("V"):
            return [entry for entry in moves if entry.source == hold]
        counts = [e.number for e in self.ledger if e.kind == "COUNT" and e.target == hold]
        kept = self.ledger[max(counts, default=1) - 1 :]
        return [entry for entry in kept if hold in (entry.source, entry.target)]


def misreadings(desk: Desk, right: Answers, naive: Answers) -> Wrong:
    """Return key → {error: the answer it leads to}; writes the NOTEs that look like orders."""
    books, wrong = replay(desk.ledger), {key: dict[str, int]() for key in KEYS}
    for name, kind in READERS.items():
        for key, found in desk.passing_over(kind).items():
            if found != right[key]:
                wrong[key][f"ignored {name}"] = found
    numbers = [entry.number for entry in desk.ledger if entry.kind == "NOTE"]
    desk.rng.shuffle(numbers)
    kinds = [kind for row in ROWS for kind in desk.rng.sample(SET["orders_of_row"][row], 6)]
    for key, kind in zip(KEYS, kinds, strict=True):
        known = {0, right[key], naive[key], *wrong[key].values()}
        near = [desk.answer(key, books, hold) for hold in NEAR[desk.asked[key]]]
        if key in desk.pairs:
            near = [desk.ledger[desk.pairs[key][1] - 1].quantity]
        wrong[key]["near name"] = next((n for n in near if n not in known), right[key])
        known.add(wrong[key]["near name"])
        wrong[key]["obeyed a NOTE"] = place_order(desk, kind, key, numbers, known)
    return wrong


def place_order(desk: Desk, kind: str, key: str, numbers: list[int], known: set[int]) -> int:
    """Write a NOTE that looks like an order on a free NOTE line; return where obeying leads."""
    hold, ledger = desk.asked[key], desk.ledger
    void = {entry.refers for entry in ledger if entry.kind == "VOID"}
    own = [entry.number for entry in desk.entries(key) if entry.kind != "COUNT"]
    for number in numbers:
        before = [entry for entry in own if entry < number and entry not in void]
        if not before:
            continue
        refers, near = desk.rng.choice(before), desk.rng.choice(NEAR[hold])
        found = figure = desk.rng.randint(LEAST, MOST)
        if kind in ("set", "void"):  # the ledger as it would be if the NOTE were such a line
            aped = Entry(number, "COUNT", figure, "", hold)
            aped = aped if kind == "set" else Entry(number, "VOID", refers=refers)
            books = replay([*ledger[: number - 1], aped, *ledger[number:]])
            found = desk.answer(key, books, hold)
        elif kind == "same":
            found = sum(desk.answer(key, replay(ledger), name) for name in (hold, near))
        if found not in known:
            words = SET["orders"][kind].format(h=hold, g=near, x=figure, e=refers)
            ledger[number - 1] = Entry(number, "NOTE", words=words)
            numbers.remove(number)
            return found
    raise Unlucky


def structure(desk: Desk, right: Answers, wrong: Wrong, naive: Answers) -> dict[str, float]:
    """Return the numbers that must lie in the bands, and the depth of each answer's lines."""
    ledger, fifths = desk.ledger, {row: set[int]() for row in ROWS}
    void = {entry.refers: entry.number for entry in ledger if entry.kind == "VOID"}
    found: dict[str, float] = {
        "lowest_balance": replay(ledger)[2],
        "longest_void": max(place - number for number, place in void.items()),
        "smallest_answer": min(right.values()),
    }
    for key in KEYS:
        own = {entry.number: entry.kind for entry in desk.entries(key)}
        lines = [*own, *(entry.number for entry in ledger if entry.refers in own)]
        found[f"size_{key}"] = sum(own[n] != "COUNT" and n not in void for n in own)
        found[f"depth_{key}"] = round(sum(lines) / len(lines) / LINES, 3)
        found[f"different_{key}"] = len({right[key], naive[key], *wrong[key].values()})
        fifths[key[0]] |= {(line - 1) * 5 // LINES for line in lines}
    return found | {f"fifths_{row}": len(seen) for row, seen in fifths.items()}


def written(desk: Desk) -> list[str]:
    """Return the lines of the ledger as text; a NOTE without words becomes a remark."""
    lines, rng = [], desk.rng
    for entry in desk.ledger:
        h, g = rng.sample(HOLDS, 2)
        words = entry.words or rng.choice(SET["remarks"]).format(h=h, g=g)
        words = rng.choice(SET["lines"][entry.kind]).format(
            q=entry.quantity, s=entry.source, t=entry.target, e=entry.refers, w=words
        )
        day, clerk = desk.days[entry.number], rng.choice(SET["clerks"])
        lines.append(f"{entry.number:04d} | day {day:3d} | {clerk} | {words}")
    return lines


def draw(seed: str, rng: random.Random) -> Form:
    """Draw one form, whatever its structure numbers."""
    desk = Desk(rng)
    right, naive = desk.passing_over(), desk.passing_over("VOID", "CORRECT")
    wrong = misreadings(desk, right, naive)
    ledger, numbers = written(desk), structure(desk, right, wrong, naive)
    asked = {key: desk.ledger[line - 1] for key, (line, _) in desk.pairs.items()}
    return Form(
        task=TASK,
        family=FAMILY,
        seed=seed,
        values={
            "ledger": ledger,
            "look_ups": {k: [desk.days[e.number], e.source, e.target] for k, e in asked.items()},
            "holds": {key: desk.asked[key] for key in KEYS if key not in asked},
            "naive": {key: str(naive[key]) for key in KEYS},
        },
        keys=KEYS,
        answers={key: str(right[key]) for key in KEYS},
        traps={key: {name: str(n) for name, n in wrong[key].items()} for key in KEYS},
        structure=numbers | {"characters": len("\n".join(ledger))},
    )


def form(seed: str) -> Form:
    """Return the form of a seed."""
    rng, problems = generator(TASK, FAMILY, seed), ["no draw found room for its plan"]
    for _ in range(DRAWS):
        with suppress(Unlucky):
            drawn = draw(seed, rng)
            problems = [
                f"{name} is {number:g}, outside {low} to {high}"
                for name, number in drawn.structure.items()
                for first, (low, high) in SET["bands"].items()
                if name.startswith(first) and not low <= number <= high
            ]
            if not problems:
                return drawn
    raise refuse(TASK, seed, problems)
