"""What is played against a form of A04: goldens, the defective ladder, exploits.

Points are counted from the weights of the levels, without the grader.
"""

from collections.abc import Iterable
from itertools import permutations

from harness.suite.forms import Defective, Exploit, Form, Golden, Reply, Sets

ROW_POINTS = 3.0
WEIGHTS = (0.20, 0.35, 0.45)
CANDIDATES = 40
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
            return ", ".join(answer)
        case "route":
            return " → ".join(answer)
        case "packing":
            return " ".join(reversed(answer.lower()))
        case "units" | "operation":
            return f"({answer.replace('-', ', ')})"
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
    )


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
    )


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
