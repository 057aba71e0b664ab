"""Forms of A04: six puzzle families at three levels, answered by the first method.

First methods: all orders (seating), smallest units (units), the formula (operation), all simple
routes (route), all subsets (packing), all words (counting). `oracle.py` has the second methods.

A `_draw_…` function makes one puzzle, or None where a band fails; then it is drawn again. Every
trap is the answer that one named error leads to, and differs from the right answer.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, pairwise, permutations, product
from typing import Any

from harness.suite.forms import Form, generator, refuse

TASK = "A04"
FAMILY = 1
TRIES = 50_000  # the rarest puzzle, the route of level 1, takes a few thousand draws
LETTERS = "BCDFGHJKLMNPQRSTVWXYZ"  # no vowels, so that no answer is an English word
Puzzle = dict[str, Any]
Operation = Callable[[int, int], int]
Draw = Callable[[random.Random, int], "Item | None"]
Legs = list[tuple[int, bool]]  # price and redness of each road of a route, in order


@dataclass(frozen=True)
class Item:
    """One puzzle with its answer, its traps, and the numbers that lie in its bands."""

    puzzle: Puzzle
    answer: str
    traps: dict[str, str]
    structure: dict[str, float] = field(default_factory=dict)


def form(seed: str) -> Form:
    """Draw a form; it raises a refusal if a puzzle stays outside its bands."""
    rng = generator(TASK, FAMILY, seed)
    items: dict[str, Item] = {}
    for family, draw in DRAWS.items():
        for level in (1, 2, 3):
            item = _first_sound(rng, draw, level, [i.answer for i in items.values()])
            if item is None:
                raise refuse(TASK, seed, [f"{family}.{level}: none of {TRIES} draws is in band"])
            items[f"{family}.{level}"] = item
    return Form(
        task=TASK,
        family=FAMILY,
        seed=seed,
        values={f: [items[f"{f}.{level}"].puzzle for level in (1, 2, 3)] for f in DRAWS},
        keys=tuple(items),
        answers={key: item.answer for key, item in items.items()},
        traps={key: dict(sorted(item.traps.items())) for key, item in items.items()},
        structure={f"{k}.{n}": x for k, item in items.items() for n, x in item.structure.items()},
    )


def _first_sound(rng: random.Random, draw: Draw, level: int, taken: list[str]) -> Item | None:
    for _ in range(TRIES):
        item = draw(rng, level)
        if item is not None and item.answer not in [*taken, *item.traps.values()]:
            return item
    return None


def clue_holds(clue: Puzzle, order: str) -> bool:
    """Whether an order of the people, first seat first, satisfies a clue."""
    a, b = order.index(clue["a"]), order.index(clue["b"])
    ends = (0, len(order) - 1)
    return {
        "directly_left": b - a == 1,
        "left": a < b,
        "between": abs(a - b) == clue["k"] + 1,
        "inner": a not in ends,
        "one_end": (a in ends) != (b in ends),
        "odd_sum": (a + b) % 2 == 1,  # counted from 0 or from 1, the parity is the same
    }[clue["kind"]]


def seatings(puzzle: Puzzle) -> list[str]:
    """All orders that satisfy every clue."""
    orders = ("".join(order) for order in permutations(puzzle["people"]))
    return [o for o in orders if all(clue_holds(clue, o) for clue in puzzle["clues"])]


def _true_clues(order: str) -> list[Puzzle]:
    """Every clue that an order satisfies, each written once."""
    clues = [{"kind": "inner", "a": a, "b": a, "k": 0} for a in order]
    for a, b in permutations(order, 2):
        apart = abs(order.index(a) - order.index(b)) - 1
        kinds = ["directly_left", "left"]
        if a < b:  # the others say the same when their names are exchanged
            kinds += ["one_end", "odd_sum"] + ["between"] * (apart > 0)
        clues += [{"kind": k, "a": a, "b": b, "k": apart * (k == "between")} for k in kinds]
    return [clue for clue in clues if clue_holds(clue, order)]


def _draw_seating(rng: random.Random, level: int) -> Item | None:
    size = level + 3
    people = sorted(rng.sample(LETTERS, size))
    order = "".join(rng.sample(people, size))
    clues = rng.sample(_true_clues(order), size + 3)
    if len(seatings({"people": people, "clues": clues})) != 1:
        return None
    for clue in tuple(clues):
        rest = [other for other in clues if other is not clue]
        if len(seatings({"people": people, "clues": rest})) == 1:
            clues = rest
    kinds = [clue["kind"] for clue in clues]
    # Three kinds at least: a chain of neighbours would be easier than its level says.
    if len(clues) != size - 1 or len(set(kinds)) < 3 or kinds.count("directly_left") > 1:
        return None
    traps = {"copied the list of people": "".join(people), "right to left": order[::-1]}
    return Item({"people": people, "clues": clues}, order, traps, {"clues": len(clues)})


def _multiples(puzzle: Puzzle) -> list[tuple[int, list[int]]]:
    """Each amount of a units puzzle, with what it is multiplied by."""
    signed = [(1 if t["sign"] == "plus" else -1, t["amount"]) for t in puzzle["terms"]]
    return [(puzzle["factor"], puzzle["first"]), *signed]


def total_in_small_units(puzzle: Puzzle) -> int:
    """The result of a units puzzle, in its smallest unit."""
    mid, low = puzzle["middle_per_large"], puzzle["small_per_middle"]
    return sum(times * ((a * mid + b) * low + c) for times, (a, b, c) in _multiples(puzzle))


def carried(total: int, mid: int, low: int) -> str:
    """A number of smallest units as large-middle-small."""
    return f"{total // (mid * low)}-{total // low % mid}-{total % low}"


def _unit_traps(puzzle: Puzzle, columns: list[int]) -> dict[str, str]:
    mid, low = puzzle["middle_per_large"], puzzle["small_per_middle"]
    exchanged = puzzle | {"middle_per_large": low, "small_per_middle": mid}
    in_tens = columns[0] * 100 + columns[1] * 10 + columns[2]
    traps = {
        "exchanged the two ratios": carried(total_in_small_units(exchanged), low, mid),
        "carried at ten": carried(in_tens, 10, 10),
    }
    if min(columns) >= 0:
        traps["carried nothing"] = "-".join(map(str, columns))
    alone = total_in_small_units(puzzle | {"factor": 1})
    if puzzle["factor"] > 1 and alone > 0:
        traps["forgot the factor"] = carried(alone, mid, low)
    return traps


def _draw_units(rng: random.Random, level: int) -> Item | None:
    mid, low = rng.sample((5, 6, 7, 8, 9, 11, 12), 2)
    first, *others = (
        [rng.randint(2, 9), rng.randint(1, mid - 1), rng.randint(1, low - 1)]
        for _ in range(level + 1)
    )
    signs = rng.sample((["plus"], ["plus", "minus"], ["plus", "minus", "minus"])[level - 1], level)
    puzzle = {
        "middle_per_large": mid,
        "small_per_middle": low,
        "factor": 1 if level == 1 else rng.randint(3, 7),
        "first": first,
        "terms": [{"sign": s, "amount": a} for s, a in zip(signs, others, strict=True)],
    }
    total = total_in_small_units(puzzle)
    columns = [sum(times * amount[i] for times, amount in _multiples(puzzle)) for i in range(3)]
    carries = columns[2] >= low and columns[1] >= mid
    borrows = columns[2] < 0
    if not (carries if level < 3 else borrows) or total < 2 * mid * low:
        return None
    structure = {"low_column": columns[2], "total": total}
    return Item(puzzle, carried(total, mid, low), _unit_traps(puzzle, columns), structure)


def operations(puzzle: Puzzle) -> dict[str, Operation]:
    """The operation of a puzzle under "right", then what known errors make of it."""
    m, u, v, w = (puzzle[name] for name in "muvw")

    def upper(a: int, b: int) -> int:
        return int((u * a + b + w) % m)

    def lower(a: int, b: int) -> int:
        return int((a + v * b) % m)

    return {
        "right": lambda a, b: upper(a, b) if a >= b else lower(a, b),
        "used the line for a >= b only": upper,
        "used the line for a < b only": lower,
        "exchanged the two lines": lambda a, b: lower(a, b) if a >= b else upper(a, b),
        "exchanged a and b": lambda a, b: upper(b, a) if b >= a else lower(b, a),
    }


def operation_value(puzzle: Puzzle, op: Operation) -> str | None:
    """The two numbers asked for under an operation; None if no single x solves the equation."""
    if puzzle["kind"] == "nested":
        inner = op(puzzle["a"], puzzle["b"])
        return f"{op(inner, puzzle['c'])}-{op(puzzle['c'], inner)}"
    if puzzle["kind"] == "chain":
        xs = [puzzle["start"]]
        for y in puzzle["ys"]:
            xs.append(op(y, op(xs[-1], y)))
        return f"{xs[3]}-{xs[-1]}"
    a, b, c = puzzle["a"], puzzle["b"], puzzle["c"]
    solutions = [x for x in range(puzzle["m"]) if op(op(x, a), op(b, x)) == c]
    if len(solutions) != 1:
        return None
    return f"{solutions[0]}-{op(op(solutions[0], solutions[0]), a)}"


def _draw_operation(rng: random.Random, level: int) -> Item | None:
    m = rng.choice((11, 13))
    u, v, w = rng.randint(2, 5), rng.randint(2, 5), rng.randint(1, 6)
    puzzle: Puzzle = {"m": m, "u": u, "v": v, "w": w}
    if level == 2:
        ys = [rng.randrange(m) for _ in range(5)]
        puzzle |= {"kind": "chain", "start": rng.randrange(m), "ys": ys}
    else:
        a, b, c = (rng.randrange(m) for _ in range(3))
        puzzle |= {"kind": "nested" if level == 1 else "solve", "a": a, "b": b, "c": c}
    known = operations(puzzle)
    right = known.pop("right")
    upper_line: list[bool] = []  # for each application of the operation, whether a >= b

    def watched(a: int, b: int) -> int:
        upper_line.append(a >= b)
        return right(a, b)

    answer = operation_value(puzzle, watched)
    if answer is None:
        return None
    first, second = answer.split("-")
    rarer = min(upper_line.count(True), upper_line.count(False))
    # x > 2: trying small numbers must not be enough. Equal numbers would hide an exchange.
    if first == second or (level == 3 and int(first) <= 2) or rarer < (1, 3, 3)[level - 1]:
        return None
    traps = {n: value for n, op in known.items() if (value := operation_value(puzzle, op))}
    return Item(puzzle, answer, traps, {"rarer_line": rarer})


def routes(puzzle: Puzzle, again_within: int | None = None) -> Iterator[tuple[str, Legs]]:
    """All routes from start to goal with their legs, whatever the colours.

    again_within : if given, places may be visited again, up to this cost
    """
    near: dict[str, list[tuple[str, tuple[int, bool]]]] = {}
    for road in puzzle["roads"]:
        for here, there in permutations(road["ends"]):
            near.setdefault(here, []).append((there, (road["price"], road["red"])))
    waiting: list[tuple[str, Legs]] = [(puzzle["start"], [])]
    while waiting:
        path, legs = waiting.pop()
        if path[-1] == puzzle["goal"]:
            yield path, legs
            continue
        for there, leg in near.get(path[-1], []):
            longer = [*legs, leg]
            if there not in path if again_within is None else cost_of(longer) <= again_within:
                waiting.append((path + there, longer))


def is_legal(legs: Legs) -> bool:
    """Whether no two red legs follow each other."""
    return not any(one[1] and other[1] for one, other in pairwise(legs))


def cost_of(legs: Legs, *, doubled: bool = True) -> int:
    """The cost of a route, with every third leg doubled or not."""
    return sum(p * (2 if doubled and n % 3 == 0 else 1) for n, (p, _) in enumerate(legs, 1))


def cheapest(found: list[tuple[str, Legs]], *, doubled: bool = True) -> list[str]:
    """The routes of least cost among those found, in alphabetical order."""
    least = min((cost_of(legs, doubled=doubled) for _, legs in found), default=0)
    return sorted(path for path, legs in found if cost_of(legs, doubled=doubled) == least)


def _draw_route(rng: random.Random, level: int) -> Item | None:
    size, roads, fewest_legs = ((5, 8, 3), (7, 13, 4), (9, 18, 4))[level - 1]
    places = sorted(rng.sample(LETTERS, size))
    start, goal = rng.sample(places, 2)
    pairs = [pair for pair in combinations(places, 2) if set(pair) != {start, goal}]
    listed = [
        {"ends": list(ends), "price": rng.randint(2, 19), "red": rng.random() < 0.45}
        for ends in sorted(rng.sample(pairs, roads))
    ]
    puzzle = {"start": start, "goal": goal, "roads": listed}
    every = list(routes(puzzle))
    legal = [(path, legs) for path, legs in every if is_legal(legs)]
    best = cheapest(legal)
    if len(legal) < 8 or len(best) != 1 or len(best[0]) <= fewest_legs:
        return None
    variants = {
        "forgot both special rules": cheapest(every, doubled=False),
        "forgot the doubled leg": cheapest(legal, doubled=False),
        "forgot the red rule": cheapest(every),
    }
    if any(best[0] in variant for variant in variants.values()):
        return None  # each rule must matter, also where a variant has several optima
    least = cost_of(dict(legal)[best[0]])
    if sum(is_legal(legs) for _, legs in routes(puzzle, again_within=least)) != 1:
        return None  # a route that visits a place again must not even be as cheap
    traps = {name: variant[0] for name, variant in variants.items()}
    structure = {"legal_routes": len(legal), "legs": len(best[0]) - 1, "cost": least}
    return Item(puzzle, best[0], traps, structure)


def best_choices(puzzle: Puzzle, limits: tuple[str, ...]) -> tuple[int, list[str]]:
    """The highest worth within the named limits (`weight`, `volume`), and all that reach it."""
    best, reaching = 0, [""]
    for size in range(1, len(puzzle["things"]) + 1):
        for chosen in combinations(puzzle["things"], size):
            if any(sum(t[of] for t in chosen) > puzzle[f"{of}_limit"] for of in limits):
                continue
            worth, names = sum(t["worth"] for t in chosen), "".join(t["name"] for t in chosen)
            if worth > best:
                best, reaching = worth, [names]
            elif worth == best:
                reaching.append(names)
    return best, reaching


def greedy(puzzle: Puzzle, ranked: list[Puzzle]) -> tuple[int, str]:
    """Worth and names of what is taken when things are tried in an order, each if it fits."""
    taken: list[Puzzle] = []
    for thing in ranked:
        more = [*taken, thing]
        if all(sum(t[of] for t in more) <= puzzle[f"{of}_limit"] for of in ("weight", "volume")):
            taken = more
    return sum(t["worth"] for t in taken), "".join(sorted(t["name"] for t in taken))


def _draw_packing(rng: random.Random, level: int) -> Item | None:
    ranges = {"weight": (2, 12), "volume": (2, 12), "worth": (5, 40)}
    things: list[Puzzle] = [
        {"name": name} | {of: rng.randint(*ends) for of, ends in ranges.items()}
        for name in sorted(rng.sample(LETTERS, (5, 8, 11)[level - 1]))
    ]
    limits = {f"{of}_limit": sum(t[of] for t in things) * 45 // 100 for of in ("weight", "volume")}
    puzzle = {"things": things} | limits
    rates = {t["name"]: Fraction(t["worth"], t["weight"] + t["volume"]) for t in things}
    by_rate = greedy(puzzle, sorted(things, key=lambda t: -rates[t["name"]]))
    by_worth = greedy(puzzle, sorted(things, key=lambda t: -int(t["worth"])))
    best, reaching = best_choices(puzzle, ("weight", "volume"))
    # With equal rates, greedy would depend on how ties are broken.
    if len(set(rates.values())) < len(things) or len(reaching) != 1 or best - by_rate[0] < 3:
        return None
    traps = {
        "greedy": by_rate[1],
        "greedy by worth": by_worth[1],
        "forgot the volume limit": best_choices(puzzle, ("weight",))[1][0],
        "forgot the weight limit": best_choices(puzzle, ("volume",))[1][0],
    }
    return Item(puzzle, reaching[0], traps, {"best": best, "greedy": by_rate[0]})


def count_words(puzzle: Puzzle, forgotten: str = "") -> int:
    """How many words obey the rules, but for a forgotten one."""
    kept = {"banned pairs": 0, "second pair": 1}.get(forgotten, 2)
    banned = ["".join(pair) for pair in puzzle["pairs"][:kept]]
    limit = puzzle["length"] if forgotten == "limited letter" else puzzle["limit"]
    not_last = "" if forgotten == "last letter" else puzzle["not_last"]
    return sum(
        word[-1] != not_last
        and word.count(puzzle["limited"]) <= limit
        and not any(pair in word for pair in banned)
        for word in map("".join, product(puzzle["letters"], repeat=puzzle["length"]))
    )


def _draw_counting(rng: random.Random, level: int) -> Item | None:
    length, sizes, limits = ((3, (4, 5, 6), (1,)), (5, (4,), (1, 2)), (7, (3,), (2, 3)))[level - 1]
    letters = sorted(rng.sample(LETTERS, rng.choice(sizes)))
    puzzle = {
        "length": length,
        "letters": letters,
        "pairs": [list(pair) for pair in rng.sample(list(product(letters, repeat=2)), 2)],
        "limited": rng.choice(letters),
        "limit": rng.choice(limits),
        "not_last": rng.choice(letters),
    }
    words = count_words(puzzle)
    if not 12 <= words <= 2500:
        return None
    rules = ("banned pairs", "second pair", "limited letter", "last letter")
    traps = {f"forgot the {rule}": str(count_words(puzzle, rule)) for rule in rules}
    return Item(puzzle, str(words), traps, {"words": words})


DRAWS: dict[str, Draw] = {
    "seating": _draw_seating,
    "units": _draw_units,
    "operation": _draw_operation,
    "route": _draw_route,
    "packing": _draw_packing,
    "counting": _draw_counting,
}
