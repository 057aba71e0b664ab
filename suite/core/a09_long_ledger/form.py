"""Forms of A09: a quay ledger of 660 lines, 24 questions, and the answers by a forward replay.

What a question needs is planned, not hoped for: the lines of the 18 holds that are asked for and
the look-ups with their near-named twins are put in first, and the ledger is then written from
its first line to its last around them, so that no hold ever holds less than nothing. A draw that
still misses a band is drawn again.
"""

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from harness.suite.forms import Form, generator, refuse

TASK = "A09"
FAMILY = 1
DRAWS = 100

LINES = 660
NOTES, ORDERS = 60, 24  # 40 % of the NOTE lines look like orders: one against each question
REACH = 500  # a VOID or CORRECT line stands at most so many lines after its entry
LEAST, MOST = 11, 98  # sacks of one line
RESERVE = 50  # sacks that a line nobody asks about leaves in its hold
LAST = 630  # later lines are neither planned nor named by VOID and CORRECT: too few lines follow
ROWS = {"L": "look_ups", "B": "balances", "C": "counts_and_rule", "V": "voided_sums"}
SIZES = {  # what stands for each of a row's six questions: entries, entries since COUNT, MOVE lines
    "B": (6, 7, 9, 10, 11, 13),
    "C": (5, 7, 8, 10, 11, 13),
    "V": (4, 5, 6, 7, 8, 9),
}
BANDS = {  # name or first part of the name of a structure number → lowest and highest
    "lowest_balance": (0, 0),
    "orders_share": (0.4, 0.4),
    "longest_void": (400, REACH),
    "fifths": (5, 5),
    "size_B": (6, 13),
    "size_C": (5, 13),
    "size_V": (4, 9),
    "counts_B": (0, 0),
    "late_ins_B": (0, 0),
    "early_ins_C": (1, 13),
    "late_ins_C": (1, 13),
    "moves_L": (1, 1),
    "different_L": (3, 3),  # the right answer and every wrong one that has a name, all different
    "different_B": (6, 6),
    "different_C": (8, 8),
    "different_V": (6, 6),
    "smallest_answer": (LEAST, 999),
    "units": (0, 999_999),
}

CLUSTERS = (
    ("Marrow", "Morrow", "Marlow", "Morlow"),
    ("Wexham", "Wrexham", "Wexford", "Wesham"),
    ("Harlow", "Hallow", "Harrow", "Hadlow"),
    ("Tarrant", "Tarrent", "Torrant", "Torrent"),
    ("Kelby", "Kilby", "Kelsby", "Kelbey"),
    ("Denholm", "Dunholm", "Denham", "Dunham"),
    ("Ashdon", "Ashton", "Ashden", "Ashdown"),
    ("Corley", "Corney", "Conley", "Cowley"),
    ("Penrith", "Penrick", "Penrice", "Penwith"),
    ("Brandon", "Branston", "Branton", "Brandan"),
)
HOLDS = tuple(hold for cluster in CLUSTERS for hold in cluster)
CLERKS = ("Tomas Vell", "Ines Marok", "Odo Fenwick", "Sara Lindt", "Paul Ekene")
CARGO = ("dry, seals checked", "by barge, seals whole", "dry, weighed twice")
CARTED = ("carted to the mill", "loaded for the coast", "sold at the gate")
REMARKS = (
    "Rain on the east quay all morning.",
    "Two lamps near {h} need oil.",
    "The crane was greased and tried without load.",
    "The door of {h} sticks in wet weather.",
    "Sweepers finished at {h} before noon.",
    "The scales came back from repair.",
    "The path between {h} and {g} was salted.",
    "Fog until ten, no barge before that.",
)
READERS = {  # who passes over the lines of a kind
    "ignored VOID": "VOID",
    "ignored CORRECT": "CORRECT",
    "ignored COUNT": "COUNT",
    "ignored RULE 7": "RULE",
}
NOTED = "obeyed a NOTE"


class Unlucky(Exception):  # noqa: N818 (no error: a draw that leads nowhere is drawn again)
    """A draw that has no place for what it planned."""


@dataclass(frozen=True)
class Entry:
    """One line of the ledger.

    source : the hold that sacks leave
    target : the hold that they come into, or that is counted
    refers : the entry that a VOID or CORRECT line names
    """

    number: int
    kind: str
    quantity: int = 0
    source: str = ""
    target: str = ""
    refers: int = 0
    words: str = ""

    def names(self, hold: str) -> bool:
        """Say whether sacks come into this hold or leave it by this line."""
        return self.kind in ("IN", "OUT", "MOVE") and hold in (self.source, self.target)


@dataclass
class Books:
    """What a replay ends with: sacks in each hold, sacks moved out of each, the lowest balance."""

    balance: Counter[str] = field(default_factory=Counter)
    moved: Counter[str] = field(default_factory=Counter)
    lowest: int = 0


def replay(ledger: Iterable[Entry]) -> Books:
    """Apply a ledger from its first line to its last, with the knowledge of all its lines."""
    ledger = list(ledger)
    void = {entry.refers for entry in ledger if entry.kind == "VOID"}
    right = {entry.refers: entry.quantity for entry in ledger if entry.kind == "CORRECT"}
    books, rule = Books(), False
    for entry in ledger:
        sacks = right.get(entry.number, entry.quantity)
        if entry.kind == "RULE":
            rule = True
        elif entry.number in void:
            continue
        elif entry.kind == "COUNT":
            books.balance[entry.target] = sacks
        elif entry.kind == "IN":
            books.balance[entry.target] += sacks - (sacks // 10 if rule else 0)
        elif entry.kind in ("OUT", "MOVE"):
            books.balance[entry.source] -= sacks
            books.lowest = min(books.lowest, books.balance[entry.source])
            if entry.kind == "MOVE":
                books.balance[entry.target] += sacks
                books.moved[entry.source] += sacks
    return books


@dataclass
class Slot:
    """A line that is kept for a hold before its quantity is known.

    want : COUNT, IN, OUT, GIVE (a MOVE out of the hold), TAKE (a MOVE into it), ANY of the last
        four, or EARLY (the same, but an IN only before RULE 7)
    other : the other hold of a GIVE, where the plan fixes it
    void, fixes : whether a VOID line names it, and how many CORRECT lines do
    after : those lines stand after this number
    """

    number: int
    want: str
    hold: str
    other: str = ""
    void: bool = False
    fixes: int = 0
    after: int = 0


class Desk:
    """Plans a ledger, then writes it.

    days : the day of each line, from line 1
    asked : key → the hold that is asked for, of a look-up the one that sacks leave
    look_ups : key → the line that is asked for, and its near-named twin of the same day
    """

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.days = [0, 1]
        while len(self.days) <= LINES:
            self.days.append(self.days[-1] + (rng.random() < 0.28))
        self.ledger: list[Entry] = []
        self.stock: Counter[str] = Counter()
        self.free = dict.fromkeys(range(1, LINES + 1))
        self.slots: dict[int, Slot] = {}
        self.said: dict[int, Entry] = {}  # lines that are fixed before their turn comes
        self.asked: dict[str, str] = {}
        self.look_ups: dict[str, tuple[int, int]] = {}
        for number, hold in enumerate(rng.sample(HOLDS, len(HOLDS)), 1):
            self.put("IN", hold, number, number)
        self.rule = self.take(345, 380)
        self.said[self.rule] = Entry(self.rule, "RULE")
        for number in [self.take(41, LINES) for _ in range(NOTES)]:
            self.said[number] = Entry(number, "NOTE")
        self.spare = self._cast()
        self._plan()
        self.open = [hold for holds in self.spare for hold in holds]
        for number in range(1, LINES + 1):
            self._write(number)

    def take(self, low: int, high: int) -> int:
        """Return a line from low to high that was free, and keep it."""
        choice = [number for number in self.free if low <= number <= high]
        if not choice:
            raise Unlucky
        number = self.rng.choice(choice)
        del self.free[number]
        return number

    def put(self, want: str, hold: str, low: int, high: int, other: str = "") -> Slot:
        """Keep a line from low to high for a hold."""
        number = self.take(low, high)
        self.slots[number] = Slot(number, want, hold, other)
        return self.slots[number]

    def _cast(self) -> list[list[str]]:
        """Choose the holds that are asked for; return those that are left of each cluster."""
        asked, spare = [], []
        for cluster, share in zip(CLUSTERS, self.rng.sample((2,) * 8 + (1,) * 2, 10), strict=True):
            holds = self.rng.sample(cluster, 4)
            asked += holds[:share]
            spare.append(holds[share:])
        self.rng.shuffle(asked)
        keys = [f"{row}{number}" for row in SIZES for number in range(1, 7)]
        self.asked = dict(zip(keys, asked, strict=True))
        return spare

    def _plan(self) -> None:
        """Keep the lines of every hold that is asked for, and choose which are void or corrected."""
        rng = self.rng
        self._plan_look_ups()
        for row, plan in (("C", self._plan_count), ("B", self._plan_balance), ("V", self._plan_sum)):
            for number, size in enumerate(rng.sample(SIZES[row], 6), 1):
                voids = rng.choice((1, 2))
                slots = plan(self.asked[f"{row}{number}"], size + voids, number)
                chosen = rng.sample(slots, voids + rng.choice((1, 2)))
                for slot in chosen[:voids]:
                    slot.void, slot.fixes = True, rng.choice((0, 0, 1))
                for slot in chosen[voids:]:
                    slot.fixes = rng.choice((1, 1, 2))

    def _plan_look_ups(self) -> None:
        """Keep one MOVE in each fifth and one anywhere, each with a twin that has a near name."""
        rng = self.rng
        order = rng.sample(range(len(CLUSTERS)), len(CLUSTERS))
        for index, fifth in enumerate(rng.sample((0, 1, 2, 3, 4, rng.randrange(5)), 6), 1):
            source, near = rng.sample(self.spare[order[index - 1]], 2)
            target, near_target = rng.sample(self.spare[rng.choice(order[6:])], 2)
            low, high = fifth * LINES // 5 + 1, (fifth + 1) * LINES // 5
            pairs = [
                (line, twin)
                for line in self.free
                for twin in range(line - 3, line + 4)
                if low <= line <= high and line != twin and twin in self.free
                if self.days[line] == self.days[twin]
            ]
            line, twin = rng.choice(pairs)
            self.put("GIVE", source, line, line, target)
            if index % 2:
                self.put("GIVE", near, twin, twin, target)
            else:
                self.put("GIVE", source, twin, twin, near_target)
            self.asked[f"L{index}"] = source
            self.look_ups[f"L{index}"] = line, twin

    def _plan_balance(self, hold: str, size: int, _: int) -> list[Slot]:
        """Keep lines for a hold without COUNT whose IN lines end before RULE 7."""
        return [self.put("EARLY", hold, 41, LAST) for _ in range(size - 1)]

    def _plan_count(self, hold: str, size: int, number: int) -> list[Slot]:
        """Keep lines for a hold with a COUNT, and an IN between it and RULE 7 and one after both."""
        count = self.put("COUNT", hold, 70, 130 if number == 1 else self.rule - 60).number
        before = [self.put("ANY", hold, 41, count) for _ in range(self.rng.choice((2, 3)))]
        if number % 2:  # a late VOID or CORRECT line that the COUNT makes idle
            before[0].void = self.rng.random() < 0.5
            before[0].fixes, before[0].after = int(not before[0].void), count
        self.put("IN", hold, count, self.rule)
        self.put("IN", hold, self.rule, LAST)
        return [self.put("ANY", hold, count, LAST) for _ in range(size - 2)]

    def _plan_sum(self, hold: str, size: int, _: int) -> list[Slot]:
        """Keep MOVE lines out of a hold, and lines that bring what these take."""
        wants = ["GIVE"] * size + ["OUT"] + ["IN", "TAKE", "IN"] * (size // 3 + 1)
        self.rng.shuffle(wants)
        numbers = sorted(self.take(41, LAST) for _ in wants)
        slots = [Slot(number, want, hold) for number, want in zip(numbers, wants, strict=True)]
        self.slots |= {slot.number: slot for slot in slots}
        return [slot for slot in slots if slot.want == "GIVE"]

    def _write(self, number: int) -> None:
        self.free.pop(number, None)
        slot = self.slots.get(number) or self._filler(number)
        if number in self.said:
            self.ledger.append(self.said[number])
        elif slot.want == "COUNT":
            self.stock[slot.hold] = self.rng.randint(90, 300)
            self.ledger.append(Entry(number, "COUNT", self.stock[slot.hold], target=slot.hold))
        else:
            self._enter(slot, *self._route(slot))

    def _filler(self, number: int) -> Slot:
        """Return a line for a hold that nobody asks for."""
        hold, chance = self.rng.choice(self.open), self.rng.random()
        slot = Slot(number, "COUNT" if chance < 0.05 else "ANY", hold)
        if number <= LAST:
            slot.void, slot.fixes = 0.05 < chance < 0.11, int(0.11 < chance < 0.17)
        return slot

    def _route(self, slot: Slot) -> tuple[str, str, int]:
        """Return source and target of a slot, and the most sacks that it can move."""
        hold, want, floor = slot.hold, slot.want, RESERVE * (slot.hold in self.open)
        if want in ("ANY", "EARLY"):
            wants = ["OUT", "GIVE", "TAKE"] + ["IN"] * (want == "ANY" or slot.number < self.rule)
            poor = self.stock[hold] < floor + 40
            want = wants[-1] if poor else self.rng.choice(wants)
        if want == "IN":
            return "", hold, MOST
        others = [other for other in self.open if other != hold]
        if want == "TAKE":
            rich = [other for other in others if self.stock[other] >= RESERVE + LEAST]
            if not rich:
                raise Unlucky
            source, target = self.rng.choice(rich), hold
            payable = self.stock[source] - RESERVE
        else:
            source, target = hold, "" if want == "OUT" else slot.other or self.rng.choice(others)
            payable = self.stock[hold] - floor if floor else self.stock[hold] * 3 // 4
            if slot.other:
                payable = self.stock[hold] // 2
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
        span = max(slot.number, slot.after) + 1, min(slot.number + REACH, LINES)
        for place, figure in zip(
            sorted(self.take(*span) for _ in range(slot.fixes)), figures[1:], strict=True
        ):
            self.said[place] = Entry(place, "CORRECT", figure, refers=slot.number)
        if slot.void:
            place = self.take(*span)
            self.said[place] = Entry(place, "VOID", refers=slot.number)
        else:
            lost = sacks // 10 if kind == "IN" and slot.number > self.rule else 0
            self.stock[source] -= sacks
            self.stock[target] += sacks - lost

    def read(self, ledger: Iterable[Entry]) -> dict[str, int]:
        """Return key → what a reader answers to whom this is the ledger."""
        books = replay(ledger)
        found = {key: self.ledger[line - 1].quantity for key, (line, _) in self.look_ups.items()}
        for key, hold in self.asked.items():
            if key not in found:
                found[key] = answer(books, key, hold)
        return found


def answer(books: Books, key: str, hold: str) -> int:
    """Return what a question with this key asks about a hold."""
    return books.moved[hold] if key.startswith("V") else books.balance[hold]


def without(ledger: Sequence[Entry], *kinds: str) -> list[Entry]:
    """Return the ledger of a reader who passes over the lines of these kinds."""
    return [entry for entry in ledger if entry.kind not in kinds]


def siblings(hold: str) -> list[str]:
    """Return the holds with nearly the same name."""
    return [other for cluster in CLUSTERS if hold in cluster for other in cluster if other != hold]


def misreadings(desk: Desk) -> dict[str, dict[str, int]]:
    """Return key → {error: the answer it leads to}, and write the NOTE lines on the way."""
    right, books = desk.read(desk.ledger), replay(desk.ledger)
    wrong: dict[str, dict[str, int]] = {key: {} for key in right}
    for name, kind in READERS.items():
        for key, found in desk.read(without(desk.ledger, kind)).items():
            if found != right[key]:
                wrong[key][name] = found
    for key, hold in desk.asked.items():
        near = [answer(books, key, other) for other in siblings(hold)]
        if key in desk.look_ups:
            near = [desk.ledger[desk.look_ups[key][1] - 1].quantity]
        wrong[key]["near name"] = next((n for n in near if n not in (0, right[key])), right[key])
    numbers = [entry.number for entry in desk.ledger if entry.kind == "NOTE"]
    desk.rng.shuffle(numbers)
    for row, kinds in ORDERS.items():
        for index, kind in enumerate(desk.rng.sample(kinds, 6), 1):
            key = f"{row}{index}"
            wrong[key][NOTED] = place_order(desk, kind, key, numbers, right[key])
    for number in numbers:
        h, g = desk.rng.sample(HOLDS, 2)
        words = desk.rng.choice(REMARKS).format(h=h, g=g)
        desk.ledger[number - 1] = Entry(number, "NOTE", words=words)
    return wrong


def place_order(desk: Desk, kind: str, key: str, numbers: list[int], right: int) -> int:
    """Write a NOTE that looks like an order on one of these lines; return where obeying leads.

    Obeying is replayed: the ledger as it would be if the NOTE were a line of the kind it apes.
    """
    hold, figure = desk.asked[key], desk.rng.randint(LEAST, MOST)
    void = {entry.refers for entry in desk.ledger if entry.kind == "VOID"}
    for number in numbers:
        own = [e.number for e in desk.ledger[:number] if e.names(hold) and e.number not in void]
        if kind == "slip":
            own = [line for line in desk.look_ups[key][:1] if line < number]
        if not own:
            continue
        refers = desk.rng.choice(own)
        aped = {
            "set": Entry(number, "COUNT", figure, target=hold),
            "void": Entry(number, "VOID", refers=refers),
        }
        words = ORDER_WORDS[kind].format(h=hold, g=siblings(hold)[0], x=figure, e=refers)
        note = Entry(number, "NOTE", words=words)
        found = desk.read(aped.get(kind, e) if e.number == number else e for e in desk.ledger)[key]
        if kind == "same":
            found += answer(replay(desk.ledger), key, siblings(hold)[0])
        elif kind in ("answer", "slip"):
            found = figure
        if found != right:
            numbers.remove(number)
            desk.ledger[number - 1] = note
            return found
    raise Unlucky


def evidence(desk: Desk, key: str) -> list[Entry]:
    """Return the lines that decide an answer: entries, their VOID and CORRECT lines, the COUNT."""
    hold = desk.asked[key]
    if key in desk.look_ups:
        return [desk.ledger[desk.look_ups[key][0] - 1]]
    since = max((e.number for e in desk.ledger if e.kind == "COUNT" and e.target == hold), default=0)
    kept = desk.ledger[max(0, since - 1) :]
    own = [e for e in kept if e.names(hold)]
    if key.startswith("V"):
        own = [e for e in desk.ledger if e.kind == "MOVE" and e.source == hold]
    numbers = {e.number for e in own} | {since}
    return [e for e in desk.ledger if e.number in numbers or e.refers in numbers]
