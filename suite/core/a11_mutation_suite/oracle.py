"""Second method of A11: reads the module's numbers in the rendered prompt and keeps tables.

Shares nothing with `form.py`. The module's text is read, never run: each line of an invoice is
written out span by span, and every rounding is done on exact fractions.
"""

import math
import re
from dataclasses import dataclass
from fractions import Fraction

HALF = Fraction(1, 2)
HUNDRED = 100

# The probes of the task, one line each: units at time for each line of the invoice, then points
# and weeks. b is the edge of the bulk rebate, p the time of one span, s the points of one percent.
PROBES = """
    b @ 9p yes                                  | 7s     | 2
    5 @ 1 no, 1 @ 1p yes                        | 4s-1   | 0
    2b @ 12p no, 5 @ 5p+1 yes                   | 99s+3  | 99
    b+1 @ 2p yes, b @ 3p+1 no                   | 5s+1   | 5
    1 @ 4p+1 yes                                | 3s     | 3
    5 @ 7p+2 no                                 | 500    | 0
    5 @ 1p+1 no, 5 @ 11p yes, b+1 @ 8p+3 yes    | 2s+1   | 1
    2b @ 6p+5 yes, 1 @ 250 no                   | 8s+50  | 4
"""


@dataclass(frozen=True)
class Tariff:
    """What the text says, number by number."""

    rate: int
    free: int
    bulk: int
    extra: int
    step: int
    percent_cap: int
    late_cap: int
    late_min: int
    span: int
    bulk_percent: int
    late_free: int
    late_part: int
    tax: int


def answers(prompt: str) -> dict[str, str]:
    """Return the amounts of every probe: net, discount, late, tax, total."""
    tariff = _read(prompt)
    letters = {"b": tariff.bulk, "p": tariff.span, "s": tariff.step}
    found = {}
    for number, probe in enumerate(PROBES.strip().splitlines(), 1):
        lines, points, weeks = probe.split("|")
        written = [
            (_number(units, letters), _number(time, letters), flag == "yes")
            for units, time, flag in re.findall(r"(\S+) @ (\S+) (yes|no)", lines)
        ]
        amounts = _invoice(tariff, written, _number(points, letters), int(weeks))
        found[f"probe.{number}"] = " ".join(map(str, amounts))
    return found


def _read(prompt: str) -> Tariff:
    text = prompt.partition("```python\n")[2].partition("```")[0]
    constants = [int(n) for n in re.findall(r"^[A-Z_]+ = (\d+)", text, re.MULTILINE)]

    def number(pattern: str) -> int:
        (only,) = re.findall(pattern, text)
        return int(only)

    return Tariff(
        *constants,
        span=number(r"-\(-\w+ // (\d+)\)"),
        bulk_percent=number(r"amount -= amount \* (\d+) // 100"),
        late_free=number(r"min\(\w+ - (\d+), MAX_LATE\)"),
        late_part=number(r"max\(LATE_MIN, net // (\d+)\)"),
        tax=number(r"\(\(net - off\) \* (\d+) \+ 50\) // 100"),
    )


def _number(text: str, letters: dict[str, int]) -> int:
    """Return what a term such as 2b, 4s-1 or 9p+1 comes to."""
    total = 0
    for sign, count, letter in re.findall(r"([+-]?)(\d*)([bps]?)", text.strip()):
        if count or letter:
            value = int(count or 1) * letters.get(letter, 1)
            total += -value if sign == "-" else value
    return total


def _invoice(
    tariff: Tariff, lines: list[tuple[int, int, bool]], points: int, weeks: int
) -> tuple[int, int, int, int, int]:
    net = sum(_line(tariff, *line) for line in lines)
    percent = len([p for p in range(1, tariff.percent_cap + 1) if p * tariff.step <= points])
    off = math.floor(Fraction(net * percent, HUNDRED) + HALF)
    charged = [w for w in range(1, weeks + 1) if w > tariff.late_free][: tariff.late_cap]
    week = math.floor(Fraction(net, tariff.late_part))
    late = sum(max(week, tariff.late_min) for _ in charged)
    tax = math.floor(Fraction((net - off) * tariff.tax, HUNDRED) + HALF)
    return net, off, late, tax, net - off + late + tax


def _line(tariff: Tariff, units: int, time: int, flag: bool) -> int:
    """Add one line up, span by span and unit by unit."""
    begins = list(range(0, time, tariff.span))  # a span is started as soon as its first time runs
    rate = extra = 0
    for place, _ in enumerate(begins, 1):
        rate += sum(tariff.rate for _ in range(units)) if place > tariff.free else 0
        extra += sum(tariff.extra for _ in range(units)) if flag else 0
    if units >= tariff.bulk:
        rate -= math.floor(Fraction(rate * tariff.bulk_percent, HUNDRED))
    return rate + extra
