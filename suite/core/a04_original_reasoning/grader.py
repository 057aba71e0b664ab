"""Grader of A04: constructions are checked against their puzzle, numbers against the answer.

Executes the deliverable: no. Reads: the answer lines and the puzzles of the form.
An order, a route or a choice that the form does not know earns the same as the known one if it
keeps all rules and is as good.
"""

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

from harness.grading import Deliverable, Verdict, observed, row, weighted

WEIGHTS = (0.20, 0.35, 0.45)  # of the levels 1, 2, 3 in every row
RIGHT = "right"
Puzzle = dict[str, Any]
Judged = tuple[float, str]  # credit and reason


@row("seating")
def seating(work: Deliverable) -> Verdict:
    return _over_levels(work, "seating", _seated)


@row("units")
def units(work: Deliverable) -> Verdict:
    return _over_levels(work, "units", _converted)


@row("operation")
def operation(work: Deliverable) -> Verdict:
    return _over_levels(work, "operation", _operated)


@row("route")
def route(work: Deliverable) -> Verdict:
    return _over_levels(work, "route", _travelled)


@row("packing")
def packing(work: Deliverable) -> Verdict:
    return _over_levels(work, "packing", _packed)


@row("counting")
def counting(work: Deliverable) -> Verdict:
    return _over_levels(work, "counting", _counted)


def _over_levels(
    work: Deliverable, family: str, judge: Callable[[Deliverable, str, Puzzle], Judged]
) -> Verdict:
    observations = []
    for level, (puzzle, weight) in enumerate(zip(work.values[family], WEIGHTS, strict=True), 1):
        key = f"{family}.{level}"
        credit, reason = judge(work, key, puzzle)
        observations.append(observed(key, credit, weight, reason))
    return weighted(observations)


def _wrong(work: Deliverable, key: str, canonical: str, why: str) -> Judged:
    """No credit: what was written, why it is wrong, and the error that leads to it, if known."""
    trap = work.trap(key, canonical)
    return 0.0, f"wrote {canonical}, {why}" + (f" ({trap})" if trap else "")


def _seated(work: Deliverable, key: str, puzzle: Puzzle) -> Judged:
    reading = work.word(key)
    if reading.value is None:
        return 0.0, reading.problem
    order = reading.value
    if sorted(order) != sorted(puzzle["people"]):
        return _wrong(work, key, order, "which is not each of the people once")
    broken = [str(n) for n, clue in enumerate(puzzle["clues"], 1) if not _holds(clue, order)]
    if broken:
        return _wrong(work, key, order, f"which breaks clue {', '.join(broken)}")
    return 1.0, RIGHT


def _holds(clue: Puzzle, order: str) -> bool:
    seats = [order.index(name) + 1 for name in (clue["a"], clue["b"])]
    at_end = [seat in {1, len(order)} for seat in seats]
    match clue["kind"]:
        case "directly_left":
            return seats[1] == seats[0] + 1
        case "left":
            return seats[1] > seats[0]
        case "between":
            return abs(seats[1] - seats[0]) - 1 == clue["k"]
        case "inner":
            return not at_end[0]
        case "one_end":
            return at_end.count(True) == 1
        case "odd_sum":
            return sum(seats) % 2 == 1
    raise ValueError(f"no kind of clue: {clue['kind']}")


def _converted(work: Deliverable, key: str, puzzle: Puzzle) -> Judged:
    reading = work.numbers(key)
    if reading.value is None:
        return 0.0, reading.problem
    right = _numbers(work.expected(key))
    if reading.value == right:
        return 1.0, RIGHT
    why = f"right is {work.expected(key)}"
    if len(reading.value) == len(right):
        written, wanted = (_in_small(puzzle, amount) for amount in (reading.value, right))
        if written == wanted:
            why = f"the same amount as {work.expected(key)} but not fully carried"
    return _wrong(work, key, reading.canonical, why)


def _in_small(puzzle: Puzzle, amount: tuple[int, ...]) -> int:
    large, middle, small = amount
    return (large * puzzle["middle_per_large"] + middle) * puzzle["small_per_middle"] + small


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in text.split("-"))


def _operated(work: Deliverable, key: str, _puzzle: Puzzle) -> Judged:
    reading = work.numbers(key)
    if reading.value is None:
        return 0.0, reading.problem
    if reading.value == _numbers(work.expected(key)):
        return 1.0, RIGHT
    return _wrong(work, key, reading.canonical, f"right is {work.expected(key)}")


def _travelled(work: Deliverable, key: str, puzzle: Puzzle) -> Judged:
    reading = work.word(key)
    if reading.value is None:
        return 0.0, reading.problem
    written, known = reading.value, work.expected(key)
    forbidden = _forbidden(puzzle, written)
    if forbidden:
        return _wrong(work, key, written, forbidden)
    cost, least = _cost(puzzle, written), _cost(puzzle, known)
    if cost > least:
        return _wrong(work, key, written, f"which costs {cost}; {known} costs {least}")
    return 1.0, RIGHT


def _roads(puzzle: Puzzle) -> dict[frozenset[str], Puzzle]:
    return {frozenset(road["ends"]): road for road in puzzle["roads"]}


def _forbidden(puzzle: Puzzle, written: str) -> str:
    """Return the rule that a route breaks, or nothing."""
    if (written[0], written[-1]) != (puzzle["start"], puzzle["goal"]):
        return f"which does not lead from {puzzle['start']} to {puzzle['goal']}"
    if len(set(written)) < len(written):
        return "which visits a place twice"
    roads = _roads(puzzle)
    for a, b in pairwise(written):
        if frozenset((a, b)) not in roads:
            return f"but there is no road {a}{b}"
    reds = [roads[frozenset(ends)]["red"] for ends in pairwise(written)]
    for leg, (one, other) in enumerate(pairwise(reds), 1):
        if one and other:
            return f"whose legs {leg} and {leg + 1} are both red"
    return ""


def _cost(puzzle: Puzzle, written: str) -> int:
    roads = _roads(puzzle)
    prices = [roads[frozenset(ends)]["price"] for ends in pairwise(written)]
    return sum(prices) + sum(prices[2::3])  # legs 3, 6, ... once more


def _packed(work: Deliverable, key: str, puzzle: Puzzle) -> Judged:
    reading = work.letters(key)
    if reading.value is None:
        return 0.0, reading.problem
    named = {thing["name"]: thing for thing in puzzle["things"]}
    unknown = sorted(reading.value - named.keys())
    if unknown:
        return _wrong(work, key, reading.canonical, f"but there is no thing {unknown[0]}")
    chosen = [named[name] for name in reading.canonical]
    for of in ("weight", "volume"):
        total, limit = _sum(chosen, of), puzzle[f"{of}_limit"]
        if total > limit:
            return _wrong(work, key, reading.canonical, f"of {of} {total}; the limit is {limit}")
    worth = _sum(chosen, "worth")
    best = _sum([named[name] for name in work.expected(key)], "worth")
    greedy = _sum(_greedily(puzzle), "worth")
    if worth >= best:
        return 1.0, RIGHT
    _, reason = _wrong(
        work, key, reading.canonical, f"of worth {worth}; greedy gives {greedy}, the best {best}"
    )
    return max(0.0, (worth - greedy) / (best - greedy)), reason


def _sum(things: list[Puzzle], of: str) -> int:
    return sum(thing[of] for thing in things)


def _greedily(puzzle: Puzzle) -> list[Puzzle]:
    """Things in falling worth per weight and volume, each taken if it still fits."""
    taken: list[Puzzle] = []
    rate = {t["name"]: Fraction(t["worth"], t["weight"] + t["volume"]) for t in puzzle["things"]}
    for thing in sorted(puzzle["things"], key=lambda t: rate[t["name"]], reverse=True):
        more = [*taken, thing]
        if all(_sum(more, of) <= puzzle[f"{of}_limit"] for of in ("weight", "volume")):
            taken = more
    return taken


def _counted(work: Deliverable, key: str, _puzzle: Puzzle) -> Judged:
    reading = work.whole_number(key)
    if reading.value is None:
        return 0.0, reading.problem
    if reading.value == int(work.expected(key)):
        return 1.0, RIGHT
    return _wrong(work, key, reading.canonical, f"right is {work.expected(key)}")
