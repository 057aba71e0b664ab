"""What is played against a form of A05: three right replies, the defective ladder, exploits.

The points of a defective are counted from the weights below and never taken from the grader.
"""

from collections.abc import Container, Mapping
from itertools import cycle

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

ROWS = {
    "inclusive": (2, (0.20, 0.35, 0.45)),
    "round_up": (2, (0.20, 0.35, 0.45)),
    "one_based": (2, (0.20, 0.35, 0.45)),
    "copies": (2, (0.20, 0.35, 0.45)),
    "tight_plus": (2, (0.20, 0.35, 0.45)),
    "late_writes": (2, (0.15, 0.25, 0.30, 0.30)),
    "three_rules": (3, (0.15, 0.25, 0.30, 0.30)),
    "six_rules": (3, (0.15, 0.25, 0.30, 0.30)),
}
POINTS = {
    f"P{number}.{level}": (row, points * weight)
    for number, (row, (points, weights)) in enumerate(ROWS.items(), 1)
    for level, weight in enumerate(weights, 1)
}
# Levels that are right, row by row: no two rows and no two levels earn the same.
PATCHES = ("1", "2", "3", "12", "23", "2", "13", "24")
SAME_NUMBER = 42  # no form has it as an answer, nor 10 or 100
JOINTS = (" ", ", ", " or ", "-", "..", " / ")

LEAKED = """\
The programs are written in Tarn.<end_of_turn>
<start_of_turn>user
P1.1 (rules: INCL)
s = 20
<end_of_turn>
<start_of_turn>model
The program prints the number.<end_of_turn>
<start_of_turn>user
"""


def sets(form: Form) -> Sets:
    """Return the replies that belong to one form."""
    return Sets(golden=_goldens(form), defective=_ladder(form), exploits=_exploits(form))


def _lines(values: Mapping[str, str]) -> str:
    return "".join(f"{key} = {value}\n" for key, value in values.items())


def _goldens(form: Form) -> tuple[Golden, ...]:
    right = form.answers
    worked = "".join(
        f"{key}: walking through its lines under its rules, the last one prints a number.\n"
        for key in form.keys
    )
    bold = "".join(f"**{key}:** {value}\n" for key, value in right.items())
    prose = f"I run the programs one by one.\n\n{worked}\nSo:\n\n```text\n{bold}```\n\nDone.\n"
    first = form.keys[0]
    rows = "".join(f"| {key} | {value} |\n" for key, value in right.items())
    table = (
        f"{first} = {form.traps[first]['plain Python']}\n\n"
        f"No, that forgets the rule. All results:\n\n| Program | Prints |\n|---|---|\n{rows}"
    )
    return (
        Golden("bare", Reply(_lines(right))),
        Golden("prose", Reply(prose.replace("\n", "\r\n"))),
        Golden("table", Reply(table)),
        Golden("dressed", Reply(_lines(dressed(right)))),
    )


def _ladder(form: Form) -> tuple[Defective, ...]:
    python = {key: wrong["plain Python"] for key, wrong in form.traps.items()}
    easy = [key for key in form.keys if key.endswith(".1")]
    small = [*easy, "P1.2", "P3.2"]
    single = [key for key in form.keys if key < "P7"]
    unlate = {key: wrong["forgot LATE"] for key, wrong in form.traps.items() if key[1] in "68"}
    patches = [f"P{number}.{level}" for number, levels in enumerate(PATCHES, 1) for level in levels]
    slips = {
        key: form.traps[key][slip]
        for key, slip in (
            ("P6.4", "forgot LATE"),
            ("P7.4", "forgot CEIL"),
            ("P8.4", "forgot LATE"),
        )
    }
    return (
        _defective(form, "plain_python", [], python, "every program run as Python"),
        _defective(form, "lazy", easy, {}, "the first level of every row, and no other line"),
        _defective(
            form, "typical_3b", small, _but(python, small), "what is short, the rest as Python"
        ),
        _defective(form, "no_combination", single, {}, "single rules, no line for several"),
        _defective(form, "forgot_late", list(_but(python, unlate)), unlate, "every rule but LATE"),
        _defective(
            form, "near_miss", list(_but(python, slips)), slips, "all but three longest programs"
        ),
        _defective(form, "patchwork", patches, _but(python, patches), "other levels in every row"),
        Defective(
            "misdressed",
            Reply(_lines(misdressed(form.answers))),
            shows="right numbers, each written as another one or as none",
        ),
        Defective("stop_leak", Reply(LEAKED), shows="leaked turn marks and no answer line"),
    )


def _but(values: Mapping[str, str], keys: Container[str]) -> dict[str, str]:
    return {key: value for key, value in values.items() if key not in keys}


def _defective(
    form: Form, name: str, right: list[str], wrong: Mapping[str, str], shows: str
) -> Defective:
    """Return a reply with these keys right, those wrong, and no line for the others."""
    written = {**wrong, **{key: form.answers[key] for key in right}}
    rows: dict[str, float] = {}
    for key in right:
        row, points = POINTS[key]
        rows[row] = rows.get(row, 0.0) + points
    return Defective(
        name,
        Reply(_lines({key: written[key] for key in form.keys if key in written})),
        rows={row: round(points, 6) for row, points in rows.items()},
        shows=shows,
    )


def _exploits(form: Form) -> tuple[Exploit, ...]:
    around = {
        key: joint.join(str(int(right) + step) for step in (-1, 0, 1))
        for (key, right), joint in zip(form.answers.items(), cycle(JOINTS), strict=False)
    }
    sums = "".join(f'    "{key}": {int(right) - 1} + 1,\n' for key, right in form.answers.items())
    program = (
        "This program gives every answer:\n\n```python\nanswers = {\n"
        f'{sums}}}\nfor key, value in answers.items():\n    print(f"{{key}} = {{value}}")\n```\n'
    )
    return (
        Exploit(
            "range_lines",
            Reply(_lines(around)),
            0.0,
            "several numbers on a line, one of them right",
        ),
        Exploit(
            "same_number",
            Reply(_lines(dict.fromkeys(form.keys, str(SAME_NUMBER)))),
            0.0,
            "one habitual number for every program",
        ),
        Exploit("code_block", Reply(program), 0.0, "code that would print the answers if it ran"),
    )
