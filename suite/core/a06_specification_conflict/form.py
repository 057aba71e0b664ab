"""Generator of A06: a tariff with three planted contradictions, its witnesses and its cases.

Method 1: the fee is one formula with a switch per contradiction, evaluated for every input of
the domain under all eight readings. The English stands in `prompt.md`; a form holds numbers,
places of sections and words of the inputs.
"""

import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from harness.suite.forms import Form, generator, refuse

TASK = "A06"
FAMILY = 1
DRAWS = 40  # most draws pass their bands; forty failures are a fault, not chance

CONFLICTS = {
    "direct": ("free", "every"),
    "defined": ("floor", "fixed"),
    "derived": ("both", "sequence"),
}
READINGS = tuple(itertools.product((0, 1), repeat=3))  # 1: the second section of the pair holds
FLIPS = dict(zip(CONFLICTS, (4, 2, 1), strict=True))  # xor to a reading's place: a switch turned
LEAST_GAP = 5  # the two fees of an open case differ by at least this
SHARE = (0.02, 0.30)  # of the domain, for the inputs on which one contradiction alone matters
BANDS = {
    "sections": (24, 28),
    **{f"{name}_share": SHARE for name in CONFLICTS},
    "direct_distance": (1, 5),  # chapters between the two sections
    "defined_distance": (2, 5),
    "derived_distance": (2, 5),
    "boundary_cases": (3, 3),
    "least_gap": (LEAST_GAP, 99_999),
    "different_fees": (18, 18),  # no fee of a case is the answer of another one
    "silent": (0, 0),  # inputs to which both sections of a pair apply and give the same fee
    "half_above_floor": (0, 99),  # so the floor meets the club's rate and nothing else
}
DECOYS = {
    "stated exception": ("step", "cap"),
    "same number, other unit": ("fixed", "charge"),
    "same rule in other words": ("base", "agree"),
    "announced special case": ("due", "exempt"),
    "unused definition": ("long",),
}
KEYS = (
    *(f"{word} {k}" for word in ("CONFLICT", "WITNESS", "FIRST", "SECOND") for k in range(1, 7)),
    *(f"CASE {i:02}" for i in range(1, 13)),
)
HEAVY, GUEST = 0, 2  # the kinds by their place in the list
Tariff = dict[str, int]  # the constants, named by what they do

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
FILLERS = ("filler_0", "filler_1", "filler_2")  # they say nothing about the fee


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
    def inputs(self) -> list[dict[str, Any]]:
        """The six items of an input as the prompt and the grader need them."""
        return [
            {"name": self.size, "low": self.low, "high": self.high},
            {"name": "days", "low": 1, "high": self.days},
            {"name": "kind", "words": [*self.kinds]},
            *({"name": n, "words": ["no", "yes"]} for n in (self.season, self.club, "prepaid")),
        ]

    def text(self, stay: Stay) -> str:
        """Write an input as the prompt and an answer do."""
        words = [item.get("words") for item in self.inputs]
        told = [w[value] if w else value for w, value in zip(words, stay, strict=True)]
        return ", ".join(f"{item['name']} {t}" for item, t in zip(self.inputs, told, strict=True))


DOMAINS = (
    Domain("moorings", "length", 4, 30, 40, ("work", "sail", "guest"), "winter", "member"),
    Domain("rooms", "pallets", 3, 34, 33, ("deep", "chill", "trial"), "spring", "grower"),
    Domain("tools", "power", 2, 31, 36, ("site", "home", "trial"), "slack", "builder"),
)


def fee(t: Tariff, stay: Stay, reading: tuple[int, int, int]) -> int:
    """Return the fee of an input; a switch of 1 strikes the first section of its pair."""
    direct, defined, derived = reading
    over = max(0, min(stay.size, t["cap"]) - t["limit"])
    rate = (t["base"] + t["step"] * over) * (t["factor"] if stay.kind == HEAVY else 1)
    if stay.season and stay.club and stay.size <= t["edge"] and defined:
        rate = t["fixed"]
    elif stay.season:
        rate = rate // 2 if defined else max(rate // 2, t["floor"])
    unpaid = 0 if direct or stay.kind != GUEST else min(t["free"], stay.days)
    amount = rate * (stay.days - unpaid)
    club, prepaid = t["club_percent"] * stay.club, t["prepaid_percent"] * stay.prepaid
    if derived:
        amount = amount * (100 - club) // 100 * (100 - prepaid) // 100
    else:
        amount = amount * (100 - club - prepaid) // 100
    return amount + (stay.kind != HEAVY) * t["due"] + (stay.days > t["edge"]) * t["charge"]


def applying(t: Tariff, stay: Stay) -> list[str]:
    """Return the contradictions of which both sections apply to an input, whatever the fees."""
    held = (stay.kind == GUEST, stay.season and stay.club and stay.size <= t["edge"])
    both = dict(zip(CONFLICTS, (*held, stay.club and stay.prepaid), strict=True))
    return [name for name in CONFLICTS if both[name]]


def matters(fees: list[int]) -> list[str]:
    """Return the contradictions on which eight fees, in the order of READINGS, depend."""
    return [n for n, bit in FLIPS.items() if any(fees[i] != fees[i ^ bit] for i in range(8))]


class Case(NamedTuple):
    """An input with its one fee, or with the fee under each section of what alone matters."""

    stay: Stay
    fees: tuple[int, ...]
    conflict: str = ""


def split(t: Tariff, domain: Domain) -> dict[str, list[Case]]:
    """Evaluate every input under every reading and sort them by what matters.

    The keys are `none`, the names of CONFLICTS, `several`, and `silent` for inputs on which a
    contradiction applies without mattering.
    """
    found: dict[str, list[Case]] = {k: [] for k in ("none", *CONFLICTS, "several", "silent")}
    for stay in domain.stays:
        fees = [fee(t, stay, reading) for reading in READINGS]
        which = matters(fees)
        if which != applying(t, stay):
            found["silent"].append(Case(stay, ()))
        if len(which) == 1:
            found[which[0]].append(Case(stay, (fees[0], fees[FLIPS[which[0]]]), which[0]))
        else:
            found["several" if which else "none"].append(Case(stay, (fees[0],)))
    return found


def _wide(found: dict[str, list[Case]], name: str) -> list[Case]:
    """Return the inputs of one contradiction whose two fees are well apart."""
    return [c for c in found[name] if abs(c.fees[0] - c.fees[1]) >= LEAST_GAP]


def _tariff(rng: random.Random, domain: Domain) -> Tariff:
    """Draw the constants; the ranges of the sums of money do not meet, so that all differ."""
    base, edge = rng.randint(56, 84), domain.low + rng.randint(7, 10)
    club, prepaid = rng.sample((15, 20, 25, 30), 2)
    return {
        "limit": domain.low + rng.randint(3, 6),  # the last size of the plain rate
        "base": base,
        "step": rng.choice((3, 5, 7)),
        "cap": domain.high - rng.randint(3, 6),
        "factor": rng.choice((2, 3)),
        "edge": edge,  # of the club's rate, in units of size, and of the charge, in days
        "fixed": rng.randint(15, 22),
        "floor": rng.randint(25, base // 2 - 1),
        "free": rng.randint(2, 4),
        "club_percent": club,
        "prepaid_percent": prepaid,
        "due": rng.randint(8, 14),
        "charge": rng.randint(43, 54),
        "long": edge + rng.randint(6, 12),
    }


def _layout(rng: random.Random) -> list[tuple[str, list[str]]]:
    """Draw chapters and their sections until the sections that contradict stand far enough."""
    while True:
        topics = [TOPICS[0], *rng.sample(TOPICS[1:-1], 4), TOPICS[-1]]
        sections = {topic: [*HOME[topic]] for topic in topics}
        for rule in (*ANYWHERE, *rng.sample(FILLERS, rng.randint(1, 2))):
            sections[rng.choice(topics)].append(rule)
        for rules in sections.values():
            rng.shuffle(rules)
        sections["terms"].sort(key=lambda rule: rule != "scope")  # what it is about stands first
        layout = [(topic, sections[topic]) for topic in topics]
        far = all(BANDS[name][0] <= value for name, value in _distances(layout).items())
        if far and max(len(rules) for rules in sections.values()) <= 6:
            return layout


def _distances(layout: list[tuple[str, list[str]]]) -> dict[str, int]:
    """Return how many chapters the two sections of each contradiction are apart."""
    chapter = {rule: i for i, (_, rules) in enumerate(layout) for rule in rules}
    return {f"{n}_distance": abs(chapter[a] - chapter[b]) for n, (a, b) in CONFLICTS.items()}


def at_boundary(t: Tariff, stay: Stay) -> bool:
    """Tell whether an input lies next to a limit of size or of days."""
    sizes = {t["limit"], t["limit"] + 1, t["edge"], t["edge"] + 1, t["cap"], t["cap"] + 1}
    return stay.size in sizes or stay.days in {t["edge"], t["edge"] + 1}


def _wanted(t: Tariff) -> list[Callable[[Stay], bool]]:
    """Return what the six determined cases must be: three at a boundary, three away from any."""
    return [
        lambda s: bool(s.season and s.club) and s.size == t["edge"] + 1,
        lambda s: s.days in {t["edge"], t["edge"] + 1},
        lambda s: s.size in {t["limit"] + 1, t["cap"] + 1},
        lambda s: not at_boundary(t, s) and bool(s.prepaid) and s.kind != HEAVY,
        lambda s: not at_boundary(t, s) and bool(s.season and not s.club) and s.days > t["edge"],
        lambda s: not at_boundary(t, s) and s.kind == HEAVY and bool(s.club) and s.size > t["cap"],
    ]


def _cases(rng: random.Random, t: Tariff, found: dict[str, list[Case]]) -> list[Case]:
    """Draw six determined and six open cases, shuffled."""
    cases = [rng.choice([c for c in found["none"] if want(c.stay)]) for want in _wanted(t)]
    for name in CONFLICTS:
        cases += rng.sample(_wide(found, name), 2)
    rng.shuffle(cases)
    return cases


@dataclass(frozen=True)
class Draft:
    """Everything that was drawn for one form."""

    domain: Domain
    tariff: Tariff
    layout: list[tuple[str, list[str]]]
    found: dict[str, list[Case]]
    cases: list[Case]
    witness: dict[str, Case]  # the one in the answers, and another one
    spare: dict[str, Case]

    @property
    def at(self) -> dict[str, str]:
        """Rule → number of its section."""
        return {
            rule: f"{i}.{j}"
            for i, (_, rules) in enumerate(self.layout, start=1)
            for j, rule in enumerate(rules, start=1)
        }

    def pair(self, name: str) -> tuple[str, str]:
        """Return the two sections of a contradiction, in the order of its switch."""
        first, second = CONFLICTS[name]
        return self.at[first], self.at[second]

    def turned(self, name: str) -> int:
        """Return 1 if the second section of a contradiction stands before the first one."""
        order = list(self.at)
        first, second = CONFLICTS[name]
        return int(order.index(second) < order.index(first))


def _draft(rng: random.Random) -> Draft:
    domain = rng.choice(DOMAINS)
    tariff = _tariff(rng, domain)
    found = split(tariff, domain)
    cases = _cases(rng, tariff, found)
    count = sum(value for case in cases for value in case.fees)  # so forms share no witness
    wide = {name: _wide(found, name) for name in CONFLICTS}
    witness = {name: cases[count % len(cases)] for name, cases in wide.items()}
    spare = {n: rng.choice([c for c in cases if c != witness[n]]) for n, cases in wide.items()}
    return Draft(domain, tariff, _layout(rng), found, cases, witness, spare)


def _structure(draft: Draft) -> dict[str, float]:
    t, total = draft.tariff, len(draft.domain.stays)
    open_fees = [case.fees for case in draft.cases if case.conflict]
    lowest = Stay(draft.domain.low, 1, GUEST - 1, season=1, club=0, prepaid=0)
    return {
        "sections": len(draft.at),
        "determined_share": len(draft.found["none"]) / total,
        **{f"{name}_share": len(draft.found[name]) / total for name in CONFLICTS},
        **_distances(draft.layout),
        "boundary_cases": sum(at_boundary(t, c.stay) for c in draft.cases if not c.conflict),
        "least_gap": min(abs(first - second) for first, second in open_fees),
        "different_fees": len({value for case in draft.cases for value in case.fees}),
        "silent": len(draft.found["silent"]),
        "half_above_floor": fee({**t, "due": 0}, lowest, (0, 1, 0)) - t["floor"],
    }


def _answers(draft: Draft) -> dict[str, str]:
    answers, number = {}, {name: k for k, name in enumerate(CONFLICTS, start=1)}
    for name, k in number.items():
        pair, witness, turned = draft.pair(name), draft.witness[name], draft.turned(name)
        answers[f"CONFLICT {k}"] = f"{pair[turned]} / {pair[1 - turned]}"
        answers[f"WITNESS {k}"] = draft.domain.text(witness.stay)
        answers[f"FIRST {k}"] = str(witness.fees[turned])
        answers[f"SECOND {k}"] = str(witness.fees[1 - turned])
    for i, case in enumerate(draft.cases, start=1):
        text = str(case.fees[0])
        if case.conflict:
            turned = draft.turned(case.conflict)
            text = f"{case.fees[turned]} | {case.fees[1 - turned]} by {number[case.conflict]}"
        answers[f"CASE {i:02}"] = text
    return answers


def _traps(draft: Draft) -> dict[str, dict[str, str]]:
    """Return the wrong fees of the cases that a known slip leads to."""
    t, traps = draft.tariff, {}
    for i, (stay, fees, conflict) in enumerate(draft.cases, start=1):
        slips = {
            "left out the due": ({**t, "due": 0}, stay),
            "left out the charge": ({**t, "charge": 0}, stay),
            "ignored the cap": ({**t, "cap": stay.size}, stay),
            "ignored the season": (t, stay._replace(season=0)),
            "ignored the discount": (t, stay._replace(club=0, prepaid=0)),
        }
        wrong = {name: fee(*slip, READINGS[0]) for name, slip in slips.items()}
        if conflict:
            wrong = {f"held {draft.pair(conflict)[j]} alone": fees[j] for j in (0, 1)}
        traps[f"CASE {i:02}"] = {n: str(v) for n, v in wrong.items() if (v,) != fees}
    return traps


def _values(draft: Draft) -> dict[str, object]:
    at, text, t = draft.at, draft.domain.text, draft.tariff
    all_three = (c.stay for c in draft.found["several"] if len(applying(t, c.stay)) == 3)
    return {
        "domain": draft.domain.name,
        "inputs": draft.domain.inputs,
        "t": t,
        "at": at,
        "chapters": [
            {"topic": topic, "sections": [{"number": at[rule], "rule": rule} for rule in rules]}
            for topic, rules in draft.layout
        ],
        "cases": [
            {"number": f"{i:02}", "text": text(c.stay), "conflict": c.conflict, "fees": [*c.fees]}
            for i, c in enumerate(draft.cases, start=1)
        ],
        "conflicts": [{"name": n, "sections": [at[r] for r in CONFLICTS[n]]} for n in CONFLICTS],
        "decoys": [{"name": n, "sections": [at[r] for r in DECOYS[n]]} for n in DECOYS],
        "spare": {n: {"text": text(o.stay), "fees": [*o.fees]} for n, o in draft.spare.items()},
        "all_three": text(next(all_three)),
    }


def form(seed: str) -> Form:
    """Draw the form of a seed; FormError if no draw passes its bands."""
    rng = generator(TASK, FAMILY, seed)
    problems: list[str] = []
    for _ in range(DRAWS):
        draft = _draft(rng)
        structure = _structure(draft)
        problems = [
            f"{name} is {structure[name]:g}, its band is {low:g} to {high:g}"
            for name, (low, high) in BANDS.items()
            if not low <= structure[name] <= high
        ]
        if not problems:
            return Form(
                task=TASK,
                family=FAMILY,
                seed=seed,
                values=_values(draft),
                keys=KEYS,
                answers=_answers(draft),
                traps=_traps(draft),
                structure=structure,
            )
    raise refuse(TASK, seed, problems)
