"""Second method of A06: reads the tariff's English and evaluates it as ordered cases.

Every number comes out of a sentence of the rendered prompt. A section is struck by taking its
clause away; what then applies is the first case whose condition holds. Nothing is shared with
`form.py`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product

# clause → its sentence; the groups are the numbers and words that the clause fixes
CLAUSES = {
    "kinds": r"is of one of three kinds: (\w+), (\w+) or (\w+)\.",
    "short": r"rate of a \w+ of up to (\d+) \w+ is (\d+) \w+ a day\.",
    "longer": r"rate of a \w+ of more than (\d+) \w+ is (\d+) \w+ a day plus (\d+) \w+ a day ",
    "ceiling": r"^Notwithstanding [\d.]+, \w+ above (\d+) \w+ do not raise the",
    "base": r"^The base rate of a (\w+) \w+ and of a (\w+) \w+ is the .*"
    r"The base rate of a (\w+) \w+ is (twice|three times) the",
    "season": r"the daily rate is the base rate\. In .+, the daily rate is half the base rate\.",
    "exact": r"the daily rate of a \w+'s \w+ of up to (\d+) \w+ is exactly (\d+) ",
    "lowest": r"^No reduction leads to a daily rate of less than (\d+) ",
    "of_person": r"^A \w+ has a discount of (\d+) percent\.",
    "of_payment": r"^A \w+ that is prepaid has a discount of (\d+) percent\.",
    "sum": r"has both discounts\. Taken together they are a discount of (\d+) percent\.",
    "in_turn": r"^Where two discounts meet, the discount for \w+s is taken first\.",
    "due": r"due of (\d+) \w+ is added once for every \w+, unless",
    "no_due": r"announces: for a (\w+) \w+, no \w+ due is added\.",
    "charge": r"charge of (\d+) \w+ is added once for a \w+ of more than (\d+) days",
    "later": r"^For a (\w+) \w+, charging begins with day (\d+):",
    "each": r"^For a (\w+) \w+, every day of the \w+ is a charged day",
}
PAIRS = (("later", "each"), ("lowest", "exact"), ("sum", "in_turn"))
APART = 5  # the fees of a written witness differ by at least this
TIMES = {"twice": 2, "three times": 3}

Stay = tuple[int, int, str, str, str, str]  # size, days, kind, season, person, payment


@dataclass(frozen=True)
class Tariff:
    """The clauses that stand, each with its numbers and words."""

    clauses: dict[str, tuple[str, ...]]

    def number(self, clause: str, place: int = 0) -> int:
        """Return one number of a clause."""
        return int(self.clauses[clause][place])

    @cached_property
    def rates(self) -> dict[tuple[int, str, str, str], int]:
        """Daily rates that were needed so far, by size, kind, season and person."""
        return {}

    @cached_property
    def day_counts(self) -> dict[tuple[str, int], int]:
        """Numbers of charged days that were needed so far, by kind and days."""
        return {}

    def fee(self, stay: Stay) -> int:
        """Return the fee of one input."""
        size, days, kind, season, person, payment = stay
        of = (size, kind, season, person)
        if of not in self.rates:
            self.rates[of] = next(rate for holds, rate in self._rates(*of) if holds)
        if (kind, days) not in self.day_counts:
            self.day_counts[kind, days] = sum(self._charged(kind, d + 1) for d in range(days))
        amount = self.rates[of] * self.day_counts[kind, days]
        fee = next(left for holds, left in self._left(amount, person, payment) if holds)
        if kind != self.clauses["no_due"][0]:
            fee += self.number("due")
        if days > self.number("charge", 1):
            fee += self.number("charge")
        return fee

    def _rates(self, size: int, kind: str, season: str, person: str) -> Iterator[tuple[bool, int]]:
        """Yield the cases of the daily rate."""
        base = self.number("short", 1)
        for unit in range(self.number("short") + 1, size + 1):
            if unit <= self.number("ceiling"):
                above = unit - self.number("longer")
                base = self.number("longer", 1) + self.number("longer", 2) * above
        if kind == self.clauses["base"][2]:
            base *= TIMES[self.clauses["base"][3]]
        if "exact" in self.clauses:
            small = size <= self.number("exact")
            yield season == person == "yes" and small, self.number("exact", 1)
        yield season == "no", base
        half = (base - base % 2) // 2
        if "lowest" in self.clauses:
            yield half < self.number("lowest"), self.number("lowest")
        yield True, half

    def _charged(self, kind: str, day: int) -> bool:
        later = self.clauses.get("later")
        return later is None or kind != later[0] or day >= int(later[1])

    def _left(self, amount: int, person: str, payment: str) -> Iterator[tuple[bool, int]]:
        """Yield the cases of what the discounts leave, each rounded down."""
        after_person = _less(amount, self.number("of_person"))
        yield person == payment == "no", amount
        yield payment == "no", after_person
        yield person == "no", _less(amount, self.number("of_payment"))
        if "sum" in self.clauses:
            yield True, _less(amount, self.number("sum"))
        yield True, _less(after_person, self.number("of_payment"))


def _less(amount: int, percent: int) -> int:
    """Take a percentage off: as the rest is rounded down, what is taken is rounded up."""
    return amount - (amount * percent + 99) // 100


@dataclass(frozen=True)
class Verdict:
    """On which contradictions a fee depends, and the fee, or both fees of the first of them."""

    matters: tuple[int, ...]
    fees: tuple[int, ...]


class Readings:
    """The eight tariffs that are left when one section of each pair is struck."""

    def __init__(self, clauses: dict[str, tuple[str, ...]], pairs: list[list[str]]) -> None:
        self._tariffs = {}
        for struck in product((1, 0), repeat=3):
            gone = {pair[i] for pair, i in zip(pairs, struck, strict=True)}
            standing = {name: c for name, c in clauses.items() if name not in gone}
            self._tariffs[struck] = Tariff(standing)

    def verdict(self, stay: Stay) -> Verdict:
        """Return what matters for one input."""
        fees = {struck: tariff.fee(stay) for struck, tariff in self._tariffs.items()}
        matters = tuple(
            k
            for k in range(3)
            if any(fee != fees[_with(struck, k, 1 - struck[k])] for struck, fee in fees.items())
        )
        if not matters:
            return Verdict((), (fees[1, 1, 1],))
        both = tuple(fees[_with((1, 1, 1), matters[0], i)] for i in (1, 0))
        return Verdict(matters, both)


def _with(struck: tuple[int, ...], k: int, value: int) -> tuple[int, ...]:
    return (*struck[:k], value, *struck[k + 1 :])


def answers(prompt: str) -> dict[str, str]:
    """Return the canonical answer of every key, from the prompt alone."""
    found = case_answers(prompt)
    total = sum(int(fee) for fees in found.values() for fee in fees.split(" by ")[0].split(" | "))
    numbers, pairs, readings = _readings(prompt)
    names, stays = _domain(prompt)
    alone: list[list[tuple[Stay, tuple[int, ...]]]] = [[], [], []]
    for stay in stays:
        verdict = readings.verdict(stay)
        if len(verdict.matters) == 1 and abs(verdict.fees[0] - verdict.fees[1]) >= APART:
            alone[verdict.matters[0]].append((stay, verdict.fees))
    for k, pair in enumerate(pairs, start=1):
        stay, fees = alone[k - 1][total % len(alone[k - 1])]
        found[f"CONFLICT {k}"] = " / ".join(numbers[clause] for clause in pair)
        found[f"WITNESS {k}"] = ", ".join(f"{n} {v}" for n, v in zip(names, stay, strict=True))
        found[f"FIRST {k}"], found[f"SECOND {k}"] = map(str, fees)
    return found


def case_answers(prompt: str) -> dict[str, str]:
    """Return the answers of the cases alone."""
    _, _, readings = _readings(prompt)
    names, _ = _domain(prompt)
    found = {}
    for number, text in re.findall(r"^(\d\d): (.+)$", prompt, flags=re.MULTILINE):
        case = readings.verdict(_stay(text, names))
        by = "".join(f" by {k + 1}" for k in case.matters)
        found[f"CASE {number}"] = " | ".join(map(str, case.fees)) + by
    return found


def _readings(prompt: str) -> tuple[dict[str, str], list[list[str]], Readings]:
    """Return the section of each clause, the pairs in the order of their sections, readings."""
    clauses, numbers = _clauses(prompt)
    pairs = [sorted(pair, key=lambda clause: _place(numbers[clause])) for pair in PAIRS]
    return numbers, pairs, Readings(clauses, pairs)


def _clauses(prompt: str) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """Read the tariff: clause → what it fixes, and clause → number of its section."""
    tariff = prompt[: prompt.index("# Inputs")]
    sections = re.findall(r"^(\d+\.\d+) (.+)$", tariff, flags=re.MULTILINE)
    clauses, numbers = {}, {}
    for name, pattern in CLAUSES.items():
        hits = [(number, m) for number, text in sections if (m := re.search(pattern, text))]
        if len(hits) != 1:
            raise ValueError(f"{len(hits)} sections read as {name!r}, one is needed")
        numbers[name], clauses[name] = hits[0][0], hits[0][1].groups()
    return clauses, numbers


def _place(number: str) -> tuple[int, ...]:
    return tuple(int(part) for part in number.split("."))


def _domain(prompt: str) -> tuple[list[str], list[Stay]]:
    """Return the names of the items and every input, the first item slowest."""
    part = prompt[prompt.index("# Inputs") : prompt.index("# Cases")]
    names, ranges = [], []
    for name, text in re.findall(r"^- (\w+): (.+)$", part, flags=re.MULTILINE):
        names.append(name)
        if span := re.search(r"from (\d+) to (\d+)$", text):
            ranges.append(range(int(span[1]), int(span[2]) + 1))
        elif kinds := re.search(r", (\w+), (\w+) or (\w+)$", text):
            ranges.append(kinds.groups())
        else:
            ranges.append(("no", "yes"))
    return names, list(product(*ranges))


def _stay(text: str, names: list[str]) -> Stay:
    found = dict(item.split(" ") for item in text.split(", "))
    size, days, kind, season, person, payment = (found[name] for name in names)
    return int(size), int(days), kind, season, person, payment
