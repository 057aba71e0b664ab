"""Grader of A06: pairs, witnesses and fees are checked by arithmetic on the parsed lines.

How values are read, beyond the answer lines themselves:

CONFLICT  exactly two section numbers such as 2.2 and 5.1, in any order, with anything between
          and around them that is no section number: `2.2 / 5.1`, `§2.2 – §5.1.`, `(5.1, 2.2)`,
          `sections 2.2 and 5.1`. Fewer or more numbers name no pair. The same pair twice,
          in whatever order, counts once, true or false; its lowest number gives the witness.
WITNESS   the six items in any order as `name value`, `name = value`, `name: value` or `name is
          value`, parted by commas, semicolons, bars, `and` or spaces; yes/no also as y/n or
          true/false; a unit may follow a number. Each item once, nothing else on the line.
FIRST, SECOND and a determined CASE  one whole number.
open CASE  two whole numbers parted by `|`, `/`, `;`, `, `, `or`, `and`, then perhaps `by k`,
          `by CONFLICT k`, `by #k`, with or without brackets.

The fee of a witness is worked out here from the constants of the form.
"""

import itertools
import re
from dataclasses import dataclass

from harness.grading import (
    Deliverable,
    Observation,
    Verdict,
    observed,
    per_deliverable,
    row,
    weighted,
)

DECLARATIONS = 6
LONGEST_VALUE = 400  # characters; a longer one is prose and names nothing
WEIGHTS = {"pair": 0.4, "witness": 0.2, "first": 0.2, "second": 0.2}
FALSE_PAIRS_THAT_EMPTY = 3
HEAVY, GUEST = 0, 2  # the kinds by their place in the list of kinds

SECTION = re.compile(r"(?<![\d.])(\d{1,2}\.\d{1,2})(?!\.?\d)")
NUMBER = r"\$?(\d{1,3}(?:[,_\u2009\u202f]\d{3})+|\d{1,9})\$?"  # INT inside an open case
TWO_FEES = re.compile(
    rf"{NUMBER}\s*(?:[|/;]|,\s|\bor\b|\band\b)\s*{NUMBER}"
    r"(?:[\s|,;(\[]*\bby\s*(?:conflict\s*)?#?(\d{1,2})[)\]]?)?",
    re.IGNORECASE,
)
UNIT = r"(?:m|metres?|meters?|kw|kilowatts?|(?:days?|pallets?)(?=\s*(?:[,;|]|$)))"
YES_NO = {"y": "yes", "true": "yes", "n": "no", "false": "no"}

Pair = frozenset[str]
Stay = tuple[int, ...]  # size, days, place of the kind, then 0 or 1 for season, club, prepaid


@dataclass(frozen=True)
class Declared:
    """One CONFLICT line that names a pair of sections, in its order."""

    k: int
    sections: tuple[str, str]

    @property
    def pair(self) -> Pair:
        """The pair without its order."""
        return frozenset(self.sections)


@per_deliverable
def declarations(work: Deliverable) -> list[Declared]:
    """Read every CONFLICT line that names a pair."""
    found = []
    for k in range(1, DECLARATIONS + 1):
        sections = SECTION.findall(_given(work, f"CONFLICT {k}"))
        if len(sections) == 2 and sections[0] != sections[1]:
            found.append(Declared(k, (sections[0], sections[1])))
    return found


def _given(work: Deliverable, key: str) -> str:
    text = work.given(key) or ""
    return text if len(text) <= LONGEST_VALUE else ""


def _sections(work: Deliverable, name: str) -> list[str]:
    """Return the two sections of a contradiction, in the order of the reference."""
    return next(c["sections"] for c in work.values["conflicts"] if c["name"] == name)


def declared(work: Deliverable, name: str) -> list[Declared]:
    """Return the declarations of one true contradiction, by rising number."""
    pair = frozenset(_sections(work, name))
    return [d for d in declarations(work) if d.pair == pair]


def fee(t: dict[str, int], stay: Stay, second: tuple[bool, bool, bool]) -> int:
    """Return the fee of an input.

    Parameters
    ----------
    second : for the direct, the defined and the derived contradiction, whether the second of
        its sections holds (every day charged; exact rate; discounts in turn) and the first is
        struck (free days; floor; one sum of discounts)
    """
    size, days, kind, season, club, prepaid = stay
    rate = t["base"] + t["step"] * max(0, min(size, t["cap"]) - t["limit"])
    rate *= t["factor"] if kind == HEAVY else 1
    if season:
        rate = rate // 2 if second[1] else max(rate // 2, t["floor"])
        if second[1] and club and size <= t["edge"]:
            rate = t["fixed"]
    uncharged = min(days, t["free"]) if kind == GUEST and not second[0] else 0
    left = rate * (days - uncharged)
    percents = [t["club_percent"] * club, t["prepaid_percent"] * prepaid]
    for percent in percents if second[2] else [sum(percents)]:
        left = left * (100 - percent) // 100
    due = t["due"] if kind != HEAVY else 0
    return left + due + (t["charge"] if days > t["edge"] else 0)


def fees_alone(work: Deliverable, stay: Stay, name: str) -> tuple[int, int] | None:
    """Return the fees under the first and the second section of a contradiction.

    None if the fee does not depend on this contradiction, or depends on another one too.
    """
    place = [c["name"] for c in work.values["conflicts"]].index(name)
    fees: tuple[set[int], set[int]] = (set(), set())
    for reading in itertools.product((False, True), repeat=3):
        fees[reading[place]].add(fee(work.values["t"], stay, reading))
    if len(fees[0]) > 1 or len(fees[1]) > 1 or fees[0] == fees[1]:
        return None
    return min(fees[0]), min(fees[1])


def read_stay(inputs: list[dict], text: str) -> Stay | str:
    """Read a witness, or say why it is none."""
    given = _items([item["name"] for item in inputs], text)
    if given is None:
        return "could not be read as `name value, name value, …`"
    if sorted(name for name, _ in given) != sorted(item["name"] for item in inputs):
        return "does not give each of the six items once"
    values, stay = dict(given), []
    for item in inputs:
        value = values[item["name"]]
        if "words" in item:
            value = YES_NO.get(value, value) if "yes" in item["words"] else value
            place = item["words"].index(value) if value in item["words"] else None
        else:
            place = int(value) if value.isdigit() else None
            place = place if place is not None and item["low"] <= place <= item["high"] else None
        if place is None:
            return f"{item['name']} {value} is outside the domain"
        stay.append(place)
    return tuple(stay)


def _items(names: list[str], text: str) -> list[tuple[str, str]] | None:
    """Read `name value` again and again; None if anything else stands on the line.

    Item by item, never going back: one pattern for the whole line could take for ever.
    """
    named = "|".join(re.escape(name) for name in names)
    item = re.compile(rf"({named})\b(?:\s*[:=]|\s+is\b)?+\s*+([a-z]+|\d{{1,4}})(?:\s*{UNIT})?\b")
    rest, found = re.sub(r"[*`'\"(){}\[\]]", " ", text).strip(" .").casefold(), []
    while rest:
        match = item.match(rest)
        if match is None:
            return None
        found.append((match[1], match[2]))
        rest = re.sub(r"^(?:[\s,;|]|\band\b)++", "", rest[match.end() :])
    return found


@row("direct")
def direct(work: Deliverable) -> Verdict:
    return _contradiction(work, "direct")


@row("defined")
def defined(work: Deliverable) -> Verdict:
    return _contradiction(work, "defined")


@row("derived")
def derived(work: Deliverable) -> Verdict:
    return _contradiction(work, "derived")


def _contradiction(work: Deliverable, name: str) -> Verdict:
    """Grade a pair; its witness counts with the pair, its two fees with the witness."""
    sections = _sections(work, name)
    lines = declared(work, name)
    if not lines:
        missing = f"{sections[0]} / {sections[1]} is not declared"
        return weighted(observed(key, 0, weight, missing) for key, weight in WEIGHTS.items())
    line = lines[0]
    fees, problem = _witness(work, name, line.k)
    by_section = dict(zip(sections, fees, strict=True)) if fees else {}
    first, second = (by_section.get(section) for section in line.sections)
    return weighted(
        [
            observed("pair", 1, WEIGHTS["pair"], f"CONFLICT {line.k} names it"),
            observed("witness", fees is not None, WEIGHTS["witness"], problem),
            _fee_line(work, f"FIRST {line.k}", first, second),
            _fee_line(work, f"SECOND {line.k}", second, first),
        ]
    )


def _witness(work: Deliverable, name: str, k: int) -> tuple[tuple[int, int] | None, str]:
    """Return the fees of a witness under the two sections, or None and why it proves nothing."""
    if work.given(f"WITNESS {k}") is None:
        return None, "no line"
    stay = read_stay(work.values["inputs"], _given(work, f"WITNESS {k}"))
    if isinstance(stay, str):
        return None, stay
    fees = fees_alone(work, stay, name)
    if fees is None:
        return None, "the fee does not depend on this contradiction alone"
    return fees, f"fees {fees[0]} and {fees[1]}"


def _fee_line(work: Deliverable, key: str, right: int | None, other: int | None) -> Observation:
    part = key.split(maxsplit=1)[0].lower()
    if right is None:
        return observed(part, 0, WEIGHTS[part], "there is no witness")
    reading = work.whole_number(key)
    if reading.value is None:
        return observed(part, 0, WEIGHTS[part], reading.problem)
    if reading.value == right:
        return observed(part, 1, WEIGHTS[part], f"{right} is right")
    because = " (the fee of the other section)" if reading.value == other else ""
    return observed(part, 0, WEIGHTS[part], f"wrote {reading.value}, right is {right}{because}")


@row("restraint")
def restraint(work: Deliverable) -> Verdict:
    """Grade (true pairs / 3) × max(0, 1 - false pairs / 3), shown on the five decoys.

    A false pair costs 5/3 of a decoy. One that is a decoy takes its decoy away first; what is
    left of the cost lies evenly on the decoys that were left alone.
    """
    true = {frozenset(conflict["sections"]) for conflict in work.values["conflicts"]}
    named = {d.pair for d in declarations(work)}
    decoys = {decoy["name"]: frozenset(decoy["sections"]) for decoy in work.values["decoys"]}
    called = [name for name, part in decoys.items() if any(p >= part for p in named - true)]
    wrong, alone = len(named - true), len(decoys) - len(called)
    cost = min(wrong / FALSE_PAIRS_THAT_EMPTY, 1) * len(decoys) - len(called)
    spared = 1 - cost / alone if alone else 0
    verdict = weighted(
        observed(
            name,
            0 if name in called else spared,
            1 / len(decoys),
            f"{'declared' if name in called else 'left alone'}; {wrong} false pairs in all",
        )
        for name in decoys
    )
    share = len(named & true) / len(true)
    return verdict.gated(share, f"{len(named & true)} of {len(true)} true pairs are declared")


@row("determined_cases")
def determined_cases(work: Deliverable) -> Verdict:
    cases = [case for case in work.values["cases"] if not case["conflict"]]
    return weighted(_determined(work, f"CASE {case['number']}", len(cases)) for case in cases)


def _determined(work: Deliverable, key: str, of: int) -> Observation:
    reading, right = work.whole_number(key), work.expected(key)
    if reading.value is None:
        return observed(key, 0, 1 / of, reading.problem)
    if reading.value == int(right):
        return observed(key, 1, 1 / of, f"{right} is right")
    trap = work.trap(key, reading.canonical)
    because = f" ({trap})" if trap else ""
    return observed(key, 0, 1 / of, f"wrote {reading.canonical}, right is {right}{because}")


@row("open_cases")
def open_cases(work: Deliverable) -> Verdict:
    cases = _open(work)
    return weighted(observed(c.key, c.fees_right, 1 / len(cases), c.reason) for c in cases)


@row("attribution")
def attribution(work: Deliverable) -> Verdict:
    cases = _open(work)
    return weighted(observed(c.key, c.attributed, 1 / len(cases), c.by_reason) for c in cases)


@dataclass(frozen=True)
class OpenCase:
    """What was found of one open case."""

    key: str
    fees_right: bool
    reason: str
    attributed: bool = False
    by_reason: str = "its fees are not right"


@per_deliverable
def _open(work: Deliverable) -> list[OpenCase]:
    return [_open_case(work, case) for case in work.values["cases"] if case["conflict"]]


def _open_case(work: Deliverable, case: dict) -> OpenCase:
    key, lines = f"CASE {case['number']}", declared(work, case["conflict"])
    if work.given(key) is None:
        return OpenCase(key, fees_right=False, reason="no line")
    if not lines:
        return OpenCase(key, fees_right=False, reason="the pair it depends on is not declared")
    found = TWO_FEES.fullmatch(_given(work, key).replace("\\|", "|").strip(" .*`$"))
    if found is None:
        trap = work.trap(key, work.whole_number(key).canonical)
        return OpenCase(key, False, f"not two fees{f' ({trap})' if trap else ''}")
    fees = sorted(int(re.sub(r"\D", "", part)) for part in found.groups()[:2])
    if fees != sorted(case["fees"]):
        wrote, right = " and ".join(map(str, fees)), " and ".join(map(str, sorted(case["fees"])))
        return OpenCase(key, False, f"wrote {wrote}, right are {right}")
    by = found[3]
    return OpenCase(
        key,
        fees_right=True,
        reason="both fees are right",
        attributed=by is not None and int(by) in {line.k for line in lines},
        by_reason=f"by {by}" if by else "no `by k`",
    )
