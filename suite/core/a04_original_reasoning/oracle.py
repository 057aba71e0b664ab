"""Second method of A04: every answer from the rendered prompt alone.

Placing people seat by seat, columns with carries, a table of the operation, shortest paths over
(place, leg, colour), a dynamic programme over both limits, and transfer states for words.
"""

import heapq
import re
from collections.abc import Callable

LETTER = r"\b([A-Z])\b"
# The rules that the methods below build in. A prompt that says something else is not read.
BUILT_IN = (
    '"Directly left of" means a seat number lower by exactly 1',
    '"somewhere left of" one lower by 1 or more',
    "exactly k seats lie between theirs",
    '"Times" applies only to the amount directly after it',
    "if a >= b, then a # b is the remainder of u*a + b + w on division by m",
    "if a < b, then a # b is the remainder of a + v*b on division by m",
    "may be used in both directions",
    "Every third leg (3, 6, ...) costs twice the price of its road",
    "No leg on a red road may directly follow another leg on a red road",
    "Each thing is given as letter, weight, volume, worth",
    "A banned pair XY means that no X is directly followed by Y",
)


def answers(prompt: str) -> dict[str, str]:
    """Return key → answer for every puzzle that the prompt asks."""
    missing = [rule for rule in BUILT_IN if rule not in prompt]
    if missing:
        raise ValueError(f"the prompt does not say: {missing}")
    solvers = {
        "seating": _seat,
        "units": _add,
        "operation": _operate,
        "route": _travel,
        "packing": _pack,
        "counting": _count,
    }
    found = re.findall(r"^Puzzle (([a-z]+)\.\d)\. (.*)$", prompt, re.MULTILINE)
    return {key: solvers[family](text) for key, family, text in found}


Test = Callable[[list[int], int, int], bool]  # seats of the people named, k, the last seat
SENTENCES: tuple[tuple[str, Test], ...] = (
    ("_ sits directly left of _", lambda s, _k, _last: s[0] + 1 == s[1]),
    ("_ sits somewhere left of _", lambda s, _k, _last: s[0] < s[1]),
    (r"Exactly \d+ (?:person sits|people sit) between _ and _", lambda s, k, _: _gap(s) == k),
    ("_ sits at neither end", lambda s, _k, last: 1 < s[0] < last),
    ("Exactly one of _ and _ sits at an end", lambda s, _k, n: s.count(1) + s.count(n) == 1),
    ("The seat numbers of _ and _ add up to an odd number", lambda s, _k, _: bool(sum(s) & 1)),
)


def _gap(seats: list[int]) -> int:
    return max(seats) - min(seats) - 1


def _clue(sentence: str) -> tuple[str, int, Test]:
    """The people that a clue names, its number if it has one, and the test of their seats."""
    number, *_ = [*re.findall(r"\d+", sentence), "0"]
    for pattern, test in SENTENCES:
        if re.fullmatch(pattern.replace("_", "[A-Z]"), sentence):
            return "".join(re.findall(LETTER, sentence)), int(number), test
    raise ValueError(f"a clue was not understood: {sentence}")


def _seat(text: str) -> str:
    people, sentences = re.fullmatch(r"People: (.*?)\. Clues: (.*)\.", text).groups()
    names = people.split(", ")
    clues = [_clue(sentence) for sentence in sentences.split(". ")]
    names.sort(key=lambda name: -sum(name in who for who, _, _ in clues))
    solutions: list[str] = []

    def place(seats: dict[str, int]) -> None:
        if len(seats) == len(names):
            solutions.append("".join(sorted(seats, key=lambda name: seats[name])))
            return
        name = names[len(seats)]
        for seat in range(1, len(names) + 1):
            if seat in seats.values():
                continue
            more = {**seats, name: seat}
            if all(
                holds([more[person] for person in who], number, len(names))
                for who, number, holds in clues
                if name in who and all(person in more for person in who)
            ):
                place(more)

    place({})
    return _only(solutions)


def _only(found: list[str]) -> str:
    """The one solution; several or none are told in the answer, so that methods disagree."""
    return found[0] if len(found) == 1 else f"{len(found)} solutions: {found}"


def _add(text: str) -> str:
    mid, low = map(int, re.match(r"1 large = (\d+) middle, 1 middle = (\d+) small", text).groups())
    columns = [0, 0, 0]
    for word, times, *amount in re.findall(
        r"(plus|minus|Find)(?: (\d+) times)? \((\d+)-(\d+)-(\d+)\)", text
    ):
        for i, digit in enumerate(amount):
            columns[i] += int(digit) * int(times or 1) * (-1 if word == "minus" else 1)
    for place, size in ((2, low), (1, mid)):
        while columns[place] >= size:
            columns[place] -= size
            columns[place - 1] += 1
        while columns[place] < 0:
            columns[place] += size
            columns[place - 1] -= 1
    return "-".join(map(str, columns))


def _table(m: int, u: int, v: int, w: int) -> list[list[int]]:
    """Row a, column b: a # b, by counting remainders down instead of dividing."""

    def rest(number: int) -> int:
        while number >= m:
            number -= m
        return number

    return [
        [rest(u * a + b + w) if b <= a else rest(a + v * b) for b in range(m)] for a in range(m)
    ]


def _value(expression: str, table: list[list[int]], **known: int) -> int:
    """Evaluate an expression of numbers, names, # and parentheses, innermost pair first."""
    for name, number in known.items():
        expression = re.sub(rf"\b{name}\b", str(number), expression)
    while "#" in expression:
        shorter = re.sub(
            r"\((\d+) # (\d+)\)|^(\d+) # (\d+)$",
            lambda m: str(table[int(m[1] or m[3])][int(m[2] or m[4])]),
            expression,
        )
        if shorter == expression:
            raise ValueError(f"no expression: {expression}")
        expression = shorter
    return int(expression)


def _operate(text: str) -> str:
    m, u, v, w = (int(re.search(rf"\b{name} = (\d+)", text)[1]) for name in "muvw")
    table = _table(m, u, v, w)
    if chain := re.search(r"x = (\d+)\. For y = ([\d, ]+) in turn, replace x by (.*?)\. ", text):
        x, seen = int(chain[1]), []
        for y in map(int, chain[2].split(", ")):
            x = _value(chain[3], table, x=x, y=y)
            seen.append(x)
        return f"{seen[2]}-{seen[-1]}"
    if equation := re.search(r"satisfies (.*) = (\d+)\. Find this x and (.*)\.", text):
        target = int(equation[2])
        fitting = [x for x in range(m) if _value(equation[1], table, x=x) == target]
        return _only([f"{x}-{_value(equation[3], table, x=x)}" for x in fitting])
    first, second = re.search(r"Find (.*) and (.*)\.", text).groups()
    return f"{_value(first, table)}-{_value(second, table)}"


def _travel(text: str) -> str:
    """Dijkstra over (place, legs so far modulo 3, whether the last leg was red)."""
    start, goal = re.match(f"Start {LETTER}, goal {LETTER}", text).groups()
    near: dict[str, list[tuple[str, int, bool]]] = {}
    for a, b, price, red in re.findall(r"([A-Z])([A-Z]) (\d+)( red)?", text):
        near.setdefault(a, []).append((b, int(price), bool(red)))
        near.setdefault(b, []).append((a, int(price), bool(red)))
    waiting = [(0, start, 0, False)]
    settled: set[tuple[str, int, bool]] = set()
    best, cheapest = 0, []
    while waiting:
        cost, path, phase, was_red = heapq.heappop(waiting)
        if cheapest and cost > best:
            break
        if path[-1] == goal:
            best = cost
            cheapest.append(path)
            continue
        state = (path[-1], phase, was_red)
        if state in settled:
            continue
        settled.add(state)
        for there, price, red in near[path[-1]]:
            if not (red and was_red):
                step = price + price * (phase == 2)
                heapq.heappush(waiting, (cost + step, path + there, (phase + 1) % 3, red))
    return _only(cheapest)


def _pack(text: str) -> str:
    """Best worth for every pair of limits, thing by thing; then the choice read backwards."""
    weight_limit, volume_limit = map(
        int, re.match(r"Weight limit (\d+), volume limit (\d+)", text).groups()
    )
    things = [
        (name, int(weight), int(volume), int(worth))
        for name, weight, volume, worth in re.findall(r"([A-Z]) (\d+) (\d+) (\d+)", text)
    ]
    layers = [[[0] * (volume_limit + 1) for _ in range(weight_limit + 1)]]
    for _, weight, volume, worth in things:
        before = layers[-1]
        layer = [row[:] for row in before]
        for w in range(weight, weight_limit + 1):
            for v in range(volume, volume_limit + 1):
                layer[w][v] = max(layer[w][v], before[w - weight][v - volume] + worth)
        layers.append(layer)
    chosen, w, v = "", weight_limit, volume_limit
    for (name, weight, volume, _), before, after in zip(
        reversed(things), layers[-2::-1], layers[:0:-1], strict=True
    ):
        if after[w][v] != before[w][v]:
            chosen, w, v = name + chosen, w - weight, v - volume
    return chosen


def _count(text: str) -> str:
    """Number of words by (last letter, how often the limited letter stands)."""
    length, letters = re.match(r"Length (\d+), letters ([A-Z, ]+)\.", text).groups()
    pairs = re.search(r"Banned pairs: ([A-Z]{2}) and ([A-Z]{2})\.", text).groups()
    limited, times = re.search(LETTER + r" occurs at most (once|twice|3 times)", text).groups()
    limit = {"once": 1, "twice": 2, "3 times": 3}[times]
    not_last = re.search(r"last letter is not ([A-Z])", text)[1]
    names = letters.split(", ")
    states = {(name, int(name == limited)): 1 for name in names}
    for _ in range(int(length) - 1):
        following: dict[tuple[str, int], int] = {}
        for (last, used), words in states.items():
            for name in names:
                state = (name, used + (name == limited))
                if last + name not in pairs and state[1] <= limit:
                    following[state] = following.get(state, 0) + words
        states = following
    return str(sum(words for (last, _), words in states.items() if last != not_last))
