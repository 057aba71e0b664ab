"""Generator of A06: a tariff with three planted contradictions, its witnesses and its cases.

Method 1: the fee is one formula with a switch per contradiction, evaluated for every input of
the domain under all eight readings. The English stands in `prompt.md`; a form holds numbers,
places of sections and words of the inputs.
"""

import itertools
import random
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple

from harness.suite.forms import Form, generator, refuse

TASK = "A06"
FAMILY = 1
DRAWS = 300  # a draw passes its bands more often than not; 300 failures are a fault, not chance

CONFLICTS = {"direct": ("free", "every"), "defined": ("floor", "fixed"), "derived": ("both", "sequence")}
DISTANCE = {"direct": 1, "defined": 2, "derived": 2}  # chapters between the two sections, at least
READINGS = tuple(itertools.product((0, 1), repeat=3))  # 1: the second section of the pair holds
LEAST_GAP = 5  # the two fees of an open case differ by at least this
SHARE = (0.02, 0.30)  # of the domain, for the inputs on which one contradiction alone matters
HEAVY, GUEST = 0, 2  # the kinds by their place in the list

TOPICS = ("terms", "rates", "season", "discounts", "charges", "reckoning")
HOME = {
    "terms": ("scope", "kinds", "persons", "reduction"),
    "rates": ("small", "step", "base"),
    "season": ("months", "half", "fixed"),
    "discounts": ("club", "prepaid", "both"),
    "charges": ("due", "exempt", "charge"),
    "reckoning": ("amount", "rounding", "fee"),
}
ANYWHERE = ("free", "every", "floor", "sequence", "cap", "agree", "long")
FILLERS = ("filler_0", "filler_1", "filler_2")


class Stay(NamedTuple):
    """One input: two numbers, the place of the kind in its list, three yes (1) or no (0)."""

    size: int
    days: int
    kind: int
    season: int
    club: int
    prepaid: int


@dataclass(frozen=True)
class Domain:
    """The words and ranges of the inputs in one setting."""

    name: str
    size: str
    low: int
    high: int
    days: int
    kinds: tuple[str, str, str]
    season: str
    club: str

    @property
    def stays(self) -> list[Stay]:
        """Every input, the first item slowest, words in the order of their lists."""
        sizes, days, two = range(self.low, self.high + 1), range(1, self.days + 1), (0, 1)
        return [Stay(*x) for x in itertools.product(sizes, days, range(3), two, two, two)]

    @property
    def inputs(self) -> list[dict[str, object]]:
        """The six items of an input as the prompt and the grader need them."""
        flags = (self.season, self.club, "prepaid")
        return [
            {"name": self.size, "low": self.low, "high": self.high},
            {"name": "days", "low": 1, "high": self.days},
            {"name": "kind", "words": list(self.kinds)},
            *({"name": name, "words": ["no", "yes"]} for name in flags),
        ]

    def text(self, stay: Stay) -> str:
        """Write an input as the prompt and an answer do."""
        yes = ("no", "yes")
        return (
            f"{self.size} {stay.size}, days {stay.days}, kind {self.kinds[stay.kind]}, "
            f"{self.season} {yes[stay.season]}, {self.club} {yes[stay.club]}, "
            f"prepaid {yes[stay.prepaid]}"
        )


DOMAINS = (
    Domain("moorings", "length", 4, 30, 40, ("work", "sail", "guest"), "winter", "member"),
    Domain("rooms", "pallets", 3, 34, 33, ("deep", "chill", "trial"), "spring", "grower"),
    Domain("tools", "power", 2, 31, 36, ("site", "home", "trial"), "slack", "builder"),
)


@dataclass(frozen=True)
class Tariff:
    """The constants of the tariff, named by what they do."""

    limit: int
    base: int
    step: int
    cap: int
    factor: int
    edge: int  # of the club's rate, in units of size, and of the charge, in days
    fixed: int
    floor: int
    free: int
    club_percent: int
    prepaid_percent: int
    due: int
    charge: int
    long: int


def fee(t: Tariff, stay: Stay, reading: tuple[int, int, int]) -> int:
    """Return the fee of an input; a switch of 1 strikes the first section of its pair."""
    direct, defined, derived = reading
    over = max(0, min(stay.size, t.cap) - t.limit)
    rate = (t.base + t.step * over) * (t.factor if stay.kind == HEAVY else 1)
    if stay.season and stay.club and stay.size <= t.edge and defined:
        rate = t.fixed
    elif stay.season:
        rate = rate // 2 if defined else max(rate // 2, t.floor)
    unpaid = 0 if direct or stay.kind != GUEST else min(t.free, stay.days)
    amount = rate * (stay.days - unpaid)
    club, prepaid = t.club_percent * stay.club, t.prepaid_percent * stay.prepaid
    if derived:
        amount = amount * (100 - club) // 100 * (100 - prepaid) // 100
    else:
        amount = amount * (100 - club - prepaid) // 100
    return amount + (stay.kind != HEAVY) * t.due + (stay.days > t.edge) * t.charge


def matters(fees: list[int]) -> tuple[str, ...]:
    """Return the contradictions on which eight fees, in the order of READINGS, depend."""
    flips = {"direct": 4, "defined": 2, "derived": 1}
    return tuple(
        name for name, bit in flips.items() if any(fees[i] != fees[i ^ bit] for i in range(8))
    )


class Open(NamedTuple):
    """An input on which one contradiction alone matters, with the fee under each section."""

    stay: Stay
    fees: tuple[int, int]


@dataclass(frozen=True)
class Split:
    """The domain by what matters: nothing, one contradiction alone, or several."""

    determined: list[tuple[Stay, int]]
    alone: dict[str, list[Open]]
    all_three: list[Stay]
    size: int

    def wide(self, name: str) -> list[Open]:
        """Return the inputs of one contradiction whose two fees are well apart."""
        return [o for o in self.alone[name] if abs(o.fees[0] - o.fees[1]) >= LEAST_GAP]


def split(t: Tariff, domain: Domain) -> Split:
    """Evaluate every input under every reading."""
    found = Split([], {name: [] for name in CONFLICTS}, [], len(domain.stays))
    last = {"direct": 4, "defined": 2, "derived": 1}
    for stay in domain.stays:
        fees = [fee(t, stay, reading) for reading in READINGS]
        which = matters(fees)
        if not which:
            found.determined.append((stay, fees[0]))
        elif len(which) == 1:
            found.alone[which[0]].append(Open(stay, (fees[0], fees[last[which[0]]])))
        elif len(which) == 3:
            found.all_three.append(stay)
    return found


def _tariff(rng: random.Random, domain: Domain) -> Tariff:
    base, fixed = rng.randint(56, 84), rng.randint(15, 24)
    club, prepaid = rng.sample((10, 15, 20, 25), 2)
    edge = domain.low + rng.randint(7, 10)
    return Tariff(
        limit=domain.low + rng.randint(3, 6),
        base=base,
        step=rng.choice((3, 5, 7)),
        cap=domain.high - rng.randint(3, 6),
        factor=rng.choice((2, 3)),
        edge=edge,
        fixed=fixed,
        floor=rng.randint(fixed + 3, base // 2 - 1),
        free=rng.randint(2, 4),
        club_percent=club,
        prepaid_percent=prepaid,
        due=rng.randint(8, 19),
        charge=rng.randint(21, 39),
        long=edge + rng.randint(6, 12),
    )


def _layout(rng: random.Random) -> list[tuple[str, list[str]]] | None:
    """Draw the chapters and their sections, or None where two sections stand too near."""
    middle = list(TOPICS[1:-1])
    rng.shuffle(middle)
    topics = [TOPICS[0], *middle, TOPICS[-1]]
    sections = {topic: list(HOME[topic]) for topic in topics}
    for rule in (*ANYWHERE, *rng.sample(FILLERS, rng.randint(0, 2))):
        sections[rng.choice(topics)].append(rule)
    chapter = {rule: i for i, topic in enumerate(topics) for rule in sections[topic]}
    near = any(abs(chapter[a] - chapter[b]) < DISTANCE[n] for n, (a, b) in CONFLICTS.items())
    if near or max(len(rules) for rules in sections.values()) > 6:
        return None
    for rules in sections.values():
        rng.shuffle(rules)
    sections["terms"].sort(key=lambda rule: rule != "scope")  # what it is about stands first
    return [(topic, sections[topic]) for topic in topics]


def _numbers(layout: list[tuple[str, list[str]]]) -> dict[str, str]:
    return {
        rule: f"{i}.{j}"
        for i, (_, rules) in enumerate(layout, start=1)
        for j, rule in enumerate(rules, start=1)
    }


@dataclass(frozen=True)
class Case:
    """One of the twelve cases: the contradiction that matters, or none, and its one or two fees."""

    stay: Stay
    conflict: str | None
    fees: tuple[int, ...]


def at_boundary(t: Tariff, stay: Stay) -> bool:
    """Tell whether an input lies next to a limit of size or of days."""
    sizes = {t.limit, t.limit + 1, t.edge, t.edge + 1, t.cap, t.cap + 1}
    return stay.size in sizes or stay.days in {t.edge, t.edge + 1}


def _wanted(t: Tariff) -> list[Callable[[Stay], bool]]:
    """Return what the six determined cases must be: three at a boundary, three away from any."""
    return [
        lambda s: bool(s.season and s.club) and s.size == t.edge + 1,
        lambda s: s.days in {t.edge, t.edge + 1},
        lambda s: s.size in {t.limit + 1, t.cap + 1},
        lambda s: not at_boundary(t, s) and bool(s.prepaid) and s.kind != HEAVY,
        lambda s: not at_boundary(t, s) and bool(s.season and not s.club) and s.days > t.edge,
        lambda s: not at_boundary(t, s) and s.kind == HEAVY and bool(s.club) and s.size > t.cap,
    ]


def _cases(rng: random.Random, t: Tariff, found: Split) -> list[Case]:
    """Draw six determined and six open cases, shuffled."""
    cases = []
    for wanted in _wanted(t):
        stay, value = rng.choice([(s, value) for s, value in found.determined if wanted(s)])
        cases.append(Case(stay, None, (value,)))
    for name in CONFLICTS:
        cases += [Case(o.stay, name, o.fees) for o in rng.sample(found.wide(name), 2)]
    rng.shuffle(cases)
    return cases


@dataclass(frozen=True)
class Draft:
    """Everything that was drawn for one form."""

    domain: Domain
    tariff: Tariff
    layout: list[tuple[str, list[str]]]
    found: Split
    cases: list[Case]
    spare: dict[str, Open]
    triple: Stay

    @property
    def at(self) -> dict[str, str]:
        """Rule → number of its section."""
        return _numbers(self.layout)

    def witness(self, name: str) -> Open:
        """Return the canonical witness: the wide ones, counted off by the sum of all case fees.

        The count has no meaning; it only keeps forms from sharing their first witness.
        """
        wide = self.found.wide(name)
        return wide[sum(value for case in self.cases for value in case.fees) % len(wide)]

    def pair(self, name: str) -> tuple[str, str]:
        """Return the two sections of a contradiction, in the order of its switch."""
        first, second = CONFLICTS[name]
        return self.at[first], self.at[second]

    def written(self, name: str) -> tuple[str, str, int]:
        """Return the sections in ascending order, and 1 if that turns the fees around."""
        pair = self.pair(name)
        first, second = sorted(pair, key=lambda number: [int(n) for n in number.split(".")])
        return first, second, int(first != pair[0])


def _draft(rng: random.Random) -> Draft | None:
    domain = rng.choice(DOMAINS)
    tariff, layout = _tariff(rng, domain), _layout(rng)
    distinct = {getattr(tariff, n) for n in ("base", "step", "fixed", "floor", "due", "charge")}
    if layout is None or len(distinct) < 6 or tariff.limit == tariff.edge:
        return None
    found = split(tariff, domain)
    if min(len(found.wide(name)) for name in CONFLICTS) < 4 or not found.all_three:
        return None
    cases = _cases(rng, tariff, found)
    spare = {name: rng.choice(found.wide(name)) for name in CONFLICTS}
    return Draft(domain, tariff, layout, found, cases, spare, rng.choice(found.all_three))


def _structure(draft: Draft) -> dict[str, float]:
    found, chapter = draft.found, {rule: int(n.split(".")[0]) for rule, n in draft.at.items()}
    single = [case for case in draft.cases if case.conflict is None]
    gaps = [abs(case.fees[0] - case.fees[1]) for case in draft.cases if case.conflict]
    return {
        "sections": len(draft.at),
        "domain": found.size,
        "determined_share": len(found.determined) / found.size,
        **{f"{name}_share": len(found.alone[name]) / found.size for name in CONFLICTS},
        **{f"{n}_distance": abs(chapter[a] - chapter[b]) for n, (a, b) in CONFLICTS.items()},
        "boundary_cases": sum(at_boundary(draft.tariff, case.stay) for case in single),
        "least_gap": min(gaps),
        "different_fees": len({value for case in draft.cases for value in case.fees}),
    }


def _problems(draft: Draft, structure: dict[str, float]) -> list[str]:
    """Return every band that this draft misses."""
    t, low = draft.tariff, draft.domain.low
    least_half = min(fee(replace(t, due=0), Stay(low, 1, 1, 1, 0, 0), r) for r in READINGS)
    bands: list[tuple[bool, str]] = [
        (24 <= structure["sections"] <= 28, "24 to 28 sections"),
        (structure["boundary_cases"] == 3, "three determined cases at a boundary"),
        (structure["least_gap"] >= LEAST_GAP, "the fees of an open case differ by 5 or more"),
        (structure["different_fees"] == 18, "all fees of the cases differ"),
        (t.fixed < t.floor <= least_half, "the floor binds the club's rate and no other"),
        *(
            (SHARE[0] <= structure[f"{n}_share"] <= SHARE[1], f"{n} alone on 2 to 30 percent")
            for n in CONFLICTS
        ),
        *(
            (structure[f"{n}_distance"] >= DISTANCE[n], f"the sections of {n} stand apart")
            for n in CONFLICTS
        ),
        *(
            (draft.spare[n].stay != draft.witness(n).stay, f"two witnesses for {n}")
            for n in CONFLICTS
        ),
    ]
    return [what for holds, what in bands if not holds]


def _answers(draft: Draft) -> dict[str, str]:
    answers, number = {}, {name: k for k, name in enumerate(CONFLICTS, start=1)}
    for name, k in number.items():
        first, second, turned = draft.written(name)
        witness = draft.witness(name)
        answers[f"CONFLICT {k}"] = f"{first} / {second}"
        answers[f"WITNESS {k}"] = draft.domain.text(witness.stay)
        answers[f"FIRST {k}"] = str(witness.fees[turned])
        answers[f"SECOND {k}"] = str(witness.fees[1 - turned])
    for i, case in enumerate(draft.cases, start=1):
        text = str(case.fees[0])
        if case.conflict:
            turned = draft.written(case.conflict)[2]
            text = f"{case.fees[turned]} | {case.fees[1 - turned]} by {number[case.conflict]}"
        answers[f"CASE {i:02}"] = text
    return answers


def _traps(draft: Draft) -> dict[str, dict[str, str]]:
    """Return the wrong fees of the cases that a known slip leads to."""
    t, traps = draft.tariff, {}
    slips = {
        "left out the due": lambda s: fee(replace(t, due=0), s, READINGS[0]),
        "left out the charge": lambda s: fee(replace(t, charge=0), s, READINGS[0]),
        "ignored the cap": lambda s: fee(replace(t, cap=s.size), s, READINGS[0]),
        "ignored the season": lambda s: fee(t, s._replace(season=0), READINGS[0]),
        "ignored the discount": lambda s: fee(t, s._replace(club=0, prepaid=0), READINGS[0]),
        "took the due of an exempt kind": lambda s: fee(t, s, READINGS[0]) + t.due,
    }
    for i, case in enumerate(draft.cases, start=1):
        if case.conflict:
            named = {f"{CONFLICTS[case.conflict][j]} only": str(case.fees[j]) for j in (0, 1)}
        else:
            wrong = {name: slip(case.stay) for name, slip in slips.items()}
            named = {name: str(value) for name, value in wrong.items() if value != case.fees[0]}
        traps[f"CASE {i:02}"] = named
    return traps


def _values(draft: Draft) -> dict[str, object]:
    at, text = draft.at, draft.domain.text
    return {
        "domain": draft.domain.name,
        "inputs": draft.domain.inputs,
        "t": asdict(draft.tariff),
        "at": at,
        "chapters": [
            {"topic": topic, "sections": [{"number": at[rule], "rule": rule} for rule in rules]}
            for topic, rules in draft.layout
        ],
        "cases": [
            {"number": f"{i:02}", "text": text(c.stay), "conflict": c.conflict, "fees": [*c.fees]}
            for i, c in enumerate(draft.cases, start=1)
        ],
        "conflicts": {name: [*draft.pair(name)] for name in CONFLICTS},
        "decoys": {
            "stated exception": [at["step"], at["cap"]],
            "same number, other unit": [at["fixed"], at["charge"]],
            "same rule in other words": [at["base"], at["agree"]],
            "announced special case": [at["due"], at["exempt"]],
            "unused definition": [at["long"]],
        },
        "spare": {n: {"text": text(o.stay), "fees": [*o.fees]} for n, o in draft.spare.items()},
        "all_three": text(draft.triple),
    }


def form(seed: str) -> Form:
    """Draw the form of a seed.

    Raises
    ------
    FormError
        If no draw passes its bands.
    """
    rng = generator(TASK, FAMILY, seed)
    problems = ["no draw could be laid out"]
    for _ in range(DRAWS):
        draft = _draft(rng)
        if draft is None:
            continue
        structure = _structure(draft)
        problems = _problems(draft, structure)
        if not problems:
            asked = [f"{word} {k}" for word in ("CONFLICT", "WITNESS", "FIRST", "SECOND") for k in range(1, 7)]
            return Form(
                task=TASK,
                family=FAMILY,
                seed=seed,
                values=_values(draft),
                keys=(*asked, *(f"CASE {i:02}" for i in range(1, 13))),
                answers=_answers(draft),
                traps=_traps(draft),
                structure=structure,
            )
    raise refuse(TASK, seed, problems)
