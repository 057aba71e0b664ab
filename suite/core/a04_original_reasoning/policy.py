"""What is played against a form of A04: goldens, the defective ladder, exploits.

Points are counted from the weights of the levels, without the grader.
"""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import chain, combinations, pairwise, permutations
from typing import Any

from harness.suite.forms import (
    Defective,
    Exploit,
    Form,
    Golden,
    Reply,
    Sets,
    dressed,
    misdressed,
)

ROW_POINTS = 3.0
WEIGHTS = (0.20, 0.35, 0.45)
CANDIDATES = 40
SLIPS = 5  # replies in which every puzzle goes wrong in one way of its own
# Levels that are right, family by family: no two families and no two levels earn the same.
PATCHES = {
    "seating": "1",
    "units": "2",
    "operation": "3",
    "route": "12",
    "packing": "23",
    "counting": "13",
}
Puzzle = dict[str, Any]
HABITS = {  # the error that stands for each family; none of them is worth anything
    "seating": "copied the list of people",
    "units": "exchanged the two ratios",
    "operation": "exchanged a and b",
    "route": "forgot both special rules",
    "packing": "greedy",
    "counting": "forgot the banned pairs",
}


def sets(form: Form) -> Sets:
    """Return the goldens, defectives and exploits of a form."""
    return Sets(golden=_goldens(form), defective=_defectives(form), exploits=_exploits(form))


def _family(key: str) -> str:
    return key.partition(".")[0]


def _right(form: Form) -> dict[str, str]:
    """All right answers, in the order in which they are asked."""
    return {key: form.answers[key] for key in form.keys}


def _lines(answers: dict[str, str]) -> str:
    return "".join(f"{key} = {answer}\n" for key, answer in answers.items())


def _rows(right: Iterable[str]) -> dict[str, float]:
    """The points of every row, from the keys that are right."""
    rows: dict[str, float] = {}
    for key in right:
        weight = WEIGHTS[int(key[-1]) - 1]
        rows[_family(key)] = rows.get(_family(key), 0.0) + ROW_POINTS * weight
    return rows


def _loosely(key: str, answer: str) -> str:
    """The same answer as another hand might write it."""
    match _family(key):
        case "seating":
            return (", " if key.endswith("1") else " – ").join(answer)
        case "route":
            return " → ".join(answer)
        case "packing":
            return " ".join(reversed(answer.lower()))
        case "units":
            return answer.replace("-", " - " if key.endswith("1") else ", ")
        case "operation":
            listed = answer.replace("-", ", ")
            return f"({listed} )" if key.endswith("1") else f"( {listed})"
    return f"\\boxed{{{answer}}}"


def _goldens(form: Form) -> tuple[Golden, ...]:
    answers = _right(form)
    prose = [
        "I worked the puzzles one after another. Here is a part of the work.",
        "",
        "The seats were found by trying orders, the sums by carrying from right to left.",
        "The cheapest routes were found by writing down all that keep the rule on red roads.",
        "",
        "```text",
        *(f"**{key}:** {_loosely(key, answer)}" for key, answer in answers.items()),
        "```",
        "That is all.",
    ]
    table = [
        "A first try for one of them:",
        "",
        f"counting.1 = {int(answers['counting.1']) + 1}",
        "",
        "| puzzle | value |",
        "|---|---|",
        *(f"| {key} | {answer} |" for key, answer in answers.items()),
    ]
    return (
        Golden("bare", Reply(_lines(answers))),
        Golden("prose", Reply("\r\n".join(prose) + "\r\n")),
        Golden("table", Reply("\n".join(table) + "\n")),
        Golden("dressed", Reply(_lines(dressed(_counts_between(answers))))),
    )


def _counts_between(answers: dict[str, str]) -> dict[str, str]:
    """Put the counts where the dresses that are for whole numbers alone will fall on them."""
    keys = [key for key in answers if not key.startswith("counting")]
    for place, level in ((1, 1), (3, 2), (7, 3)):
        keys.insert(place, f"counting.{level}")
    return {key: answers[key] for key in keys}


def _error(form: Form, key: str) -> str:
    """What a known error leads to; where it leads to no single value, two zeros."""
    return form.traps[key].get(HABITS[_family(key)], "0-0")


def _defectives(form: Form) -> tuple[Defective, ...]:
    answers = _right(form)
    first_level = [key for key in form.keys if key.endswith(".1")]
    few = ("seating.1", "seating.2", "units.1", "operation.1", "counting.1")
    typical = {key: answers[key] if key in few else _error(form, key) for key in form.keys}
    del typical["route.3"], typical["counting.3"]
    habits = {key: _error(form, key) for key in form.keys if key.startswith(("route", "packing"))}
    patches = [f"{family}.{level}" for family, levels in PATCHES.items() for level in levels]
    patchwork = {key: answers[key] if key in patches else _error(form, key) for key in form.keys}
    slips = {
        "packing.3": form.traps["packing.3"]["greedy"],
        "counting.3": str(int(answers["counting.3"]) + 1),
    }
    return (
        Defective("zeros", Reply(_lines(dict.fromkeys(form.keys, "0"))), shows="every answer is 0"),
        Defective(
            "lazy",
            Reply(_lines({key: answers[key] for key in first_level})),
            _rows(first_level),
            shows="the first level right, no other line",
        ),
        Defective(
            "typical_3b",
            Reply("Here are my answers.\n\n" + _lines(typical)),
            _rows(few),
            shows="the first level of four families, the second of one, known errors elsewhere",
        ),
        Defective(
            "greedy",
            Reply(_lines(habits)),
            shows="packing by worth per weight and volume, routes without their special rules",
        ),
        Defective(
            "near_miss",
            Reply(_lines(answers | slips)),
            _rows(key for key in form.keys if key not in slips),
            shows="all right but a greedy packing and a count that is off by one",
        ),
        Defective(
            "patchwork",
            Reply(_lines(patchwork)),
            _rows(patches),
            shows="other levels in every family, known errors elsewhere",
        ),
        *(_slip(form, number) for number in range(1, SLIPS + 1)),
    )


def _slip(form: Form, number: int) -> Defective:
    """Return a reply in which every puzzle goes wrong; only a packing may earn a part."""
    lines, credit = {}, 0.0
    places = [f"{n}.{level}" for n in range(1, SLIPS + 1) for level in (1, 2, 3)]
    counts = misdressed({place: form.answers[f"counting.{place[-1]}"] for place in places})
    for level, weight in enumerate(WEIGHTS, 1):
        seating, packing = (form.values[family][level - 1] for family in ("seating", "packing"))
        place = f"{number}.{level}"
        chosen, share = _wrong_packing(form, level, packing, number)
        credit += weight * share
        total = int(form.structure[f"units.{level}.total"])
        units, operation = form.answers[f"units.{level}"], form.answers[f"operation.{level}"]
        turn = places.index(place)
        doubled = form.answers["seating.1"] + form.answers["seating.1"][0]
        lines |= {
            f"seating.{level}": _one_clue_broken(seating, number) if turn != 12 else doubled,
            f"units.{level}": f"0-0-{total}" if number == 1 else _wrong_numbers(units, turn),
            f"operation.{level}": _wrong_numbers(operation, turn),
            f"route.{level}": _wrong_route(form, level, number),
            f"packing.{level}": chosen,
            f"counting.{level}": counts[place],
        }
    return Defective(
        f"slip_{number}",
        Reply(_lines({key: lines[key] for key in form.keys})),
        {"packing": ROW_POINTS * credit} if credit else {},
        shows="one rule of every puzzle is broken, another one in each slip",
    )


def _one_clue_broken(puzzle: Puzzle, number: int) -> str:
    """Return an order that breaks one clue alone, another clue or another order each time."""
    first, last = [], []
    for clue in puzzle["clues"]:
        orders = [
            "".join(order)
            for order in permutations(puzzle["people"])
            if [c for c in puzzle["clues"] if not _is_true(c, order)] == [clue]
        ]
        first.append(orders[0])
        last.append(orders[-1])
    choices = list(dict.fromkeys([*first, *last]))
    return choices[(number - 1) % len(choices)]


def _is_true(clue: Puzzle, order: tuple[str, ...]) -> bool:
    a, b = order.index(clue["a"]), order.index(clue["b"])
    inside = [0 < seat < len(order) - 1 for seat in (a, b)]
    holds: dict[str, bool] = {
        "directly_left": a + 1 == b,
        "left": a < b,
        "between": clue["k"] == abs(a - b) - 1,
        "inner": inside[0],
        "one_end": inside[0] != inside[1],
        "odd_sum": (a - b) % 2 == 1,
    }
    return holds[clue["kind"]]


def _wrong_numbers(right: str, turn: int) -> str:
    """Return other numbers, or something that is read as none."""
    first, *others = map(int, right.split("-"))
    last = others.pop()
    wrong = (
        f"{right}-x",
        f"({right}]",
        f"[{right})",
        right.rpartition("-")[0],
        f"{right}-0",
        "-".join(map(str, [first + 1, *others, last])),
        "-".join(map(str, [first, *others, last + 1])),
        "-".join(map(str, [last, *others, first])) if first != last else f"{right}-{first}",
    )
    return wrong[turn % len(wrong)]


def _wrong_route(form: Form, level: int, number: int) -> str:
    """Break another rule each time at level 1; above, be legal and dearer than the best."""
    right, puzzle = form.answers[f"route.{level}"], form.values["route"][level - 1]
    if level > 1:
        return [route for _, route in sorted(_legal_routes(puzzle)) if route != right][number - 1]
    return {
        1: form.traps["route.1"]["forgot the red rule"],
        2: puzzle["start"] + puzzle["goal"],
        3: right[:-1],
        4: right[:2] + right,
        5: form.traps["route.1"]["forgot the doubled leg"],
    }[number]


def _legal_routes(puzzle: Puzzle) -> Iterator[tuple[int, str]]:
    """Yield cost and places of every route that keeps the rules."""
    roads = {frozenset(road["ends"]): road for road in puzzle["roads"]}
    places = sorted(set(chain.from_iterable(roads)) - {puzzle["start"], puzzle["goal"]})
    for size in range(len(places) + 1):
        for between in permutations(places, size):
            route = [puzzle["start"], *between, puzzle["goal"]]
            legs = [roads.get(frozenset(ends)) for ends in pairwise(route)]
            if None in legs or any(one["red"] and two["red"] for one, two in pairwise(legs)):
                continue
            prices = [leg["price"] for leg in legs]
            yield sum(prices) + sum(prices[2::3]), "".join(route)


def _wrong_packing(form: Form, level: int, puzzle: Puzzle, number: int) -> tuple[str, float]:
    """Return a choice that breaks another rule each time, or is not the best, and its credit."""
    key = f"packing.{level}"
    if number == 4:
        return _between(puzzle)
    twice = [(*chosen, thing) for chosen in _choices(puzzle) for thing in chosen]
    doubled = max(twice, key=lambda things: (_fits(puzzle, things), _sum(things, "worth")))
    wrong = {
        1: form.traps[key]["forgot the volume limit"],
        2: form.traps[key]["forgot the weight limit"],
        3: form.answers[key] + "A",  # names are consonants
        5: _names(doubled) if level > 1 else form.answers[key] + form.answers[key][0],
    }
    return wrong[number], 0.0


def _between(puzzle: Puzzle) -> tuple[str, float]:
    """Return a choice better than greedy and worse than the best, or greedy's, and its credit."""
    taken: tuple[Puzzle, ...] = ()
    rate = {t["name"]: Fraction(t["worth"], t["weight"] + t["volume"]) for t in puzzle["things"]}
    for thing in sorted(puzzle["things"], key=lambda t: -rate[t["name"]]):
        if _fits(puzzle, (*taken, thing)):
            taken = (*taken, thing)
    fitting = [chosen for chosen in _choices(puzzle) if _fits(puzzle, chosen)]
    low, high = _sum(taken, "worth"), max(_sum(chosen, "worth") for chosen in fitting)
    inside = [chosen for chosen in fitting if low < _sum(chosen, "worth") < high]
    chosen = inside[0] if inside else taken
    return _names(chosen), (_sum(chosen, "worth") - low) / (high - low)


def _choices(puzzle: Puzzle) -> Iterator[tuple[Puzzle, ...]]:
    sizes = range(1, len(puzzle["things"]) + 1)
    return chain.from_iterable(combinations(puzzle["things"], size) for size in sizes)


def _fits(puzzle: Puzzle, chosen: Iterable[Puzzle]) -> bool:
    kept = list(chosen)
    return all(_sum(kept, of) <= puzzle[f"{of}_limit"] for of in ("weight", "volume"))


def _sum(things: Iterable[Puzzle], of: str) -> int:
    return sum(thing[of] for thing in things)


def _names(things: Iterable[Puzzle]) -> str:
    return "".join(thing["name"] for thing in things)


def _exploits(form: Form) -> tuple[Exploit, ...]:
    worst = [min(p["things"], key=lambda t: t["worth"])["name"] for p in form.values["packing"]]
    empty = {"packing.1": "{}", "packing.2": "none", "packing.3": worst[2]}
    return (
        Exploit(
            "everything",
            Reply("".join(_lines(dict(line)) for line in _every_candidate(form))),
            0.6,
            "forty lines for each key, the right value among them",
        ),
        Exploit(
            "first_rule_only",
            Reply(_lines(empty)),
            0.0,
            "packings that keep the limits because they hold nothing or almost nothing",
        ),
        Exploit(
            "expression",
            Reply(_lines({key: _expression(key, answer) for key, answer in _right(form).items()})),
            0.0,
            "expressions that would give the right values if somebody evaluated them",
        ),
    )


def _every_candidate(form: Form) -> list[list[tuple[str, str]]]:
    """Rounds of one line per key. The right value stands in the middle, a lazy one at the end."""
    columns = []
    for key in form.keys:
        right, lazy = form.answers[key], _error(form, key)
        others = [guess for guess in _guesses(key, right) if guess not in {right, lazy}]
        fill = (others * CANDIDATES)[: CANDIDATES - 2]
        middle = CANDIDATES // 2
        column = [*fill[:middle], right, *fill[middle:], lazy]
        columns.append([(key, guess) for guess in column])
    return [list(line) for line in zip(*columns, strict=True)]


def _guesses(key: str, right: str) -> list[str]:
    if key.startswith("counting"):
        return [str(number) for number in range(12, 12 + CANDIDATES + 2)]
    if "-" in right:
        head, _, last = right.rpartition("-")
        return [f"{head}-{int(last) + step}" for step in range(1, CANDIDATES + 1)]
    return [
        "".join(order) for _, order in zip(range(CANDIDATES), permutations(right), strict=False)
    ]


def _expression(key: str, answer: str) -> str:
    if key.startswith("counting"):
        return f"{int(answer) - 5}+5"
    if "-" in answer:
        head, _, last = answer.partition("-")
        return f"{head}*1-{last}+0"
    return f"''.join({list(answer)})"
