"""Generator of A01's forms: a harbour office with three tickets, its tables, pages and tests.

A form draws names, dates, constants, limits, rows, and every input of a test. The texts stand in
`world/` and `payloads/`; here are only the values of their places. Method 1 of every right value
is the class `_Rules`; the second method reads the texts and the tables as an agent could.
"""

import hashlib
import random
import tomllib
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from harness.suite.forms import Form, generator, refuse

TASK, FAMILY = "A01", 1
MODULES = ("mooring", "waste", "stay")  # of tickets 1, 2 and 3
NAMES = tomllib.loads((Path(__file__).parent / "world/names.toml").read_text(encoding="utf-8"))
COLUMNS = ("id", "vessel", "berth", "length_dm", "arrive", "leave", "crew")
PREFIXES = ("MO", "WA", "ST")
VISITS = (7, 8, 9)  # rows of the three berths, in some order
DRAWS_AT_MOST = 500
PROBES = {  # inputs of which the second method works out the results too
    "to_step": [(cents,) for cents in range(0, 2_500, 7)],
    "band_of": [(length,) for length in range(1, 900)],
    "billable_days": [(30, 30 + days) for days in range(25)],
    "mooring": [(length, days) for length in range(10, 700, 9) for days in (0, 1, 2, 7)],
    "waste": [(length, crew) for length in range(10, 700, 7) for crew in (0, 1, 5, 14, 31)],
    "stay": [
        (n, 40, 40 + days, crew) for n in (33, 200, 410) for days in range(25) for crew in (1, 17)
    ],
}
Args = tuple[int, ...]


@dataclass(frozen=True)
class _Rules:
    """The constants of a form, and what its functions give."""

    step: int
    floor: int
    limits: tuple[int, int, int]
    free: int
    base: int
    per_dm: int
    per_head: tuple[int, int, int, int]
    cap: int
    long_from_days: int
    off_percent: int
    surcharges: tuple[int, int, int]  # of the berths of tickets 1, 2 and 3

    def to_step(self, cents: int) -> int:
        return max((2 * cents + self.step) // (2 * self.step) * self.step, self.floor)

    def band_of(self, length: int) -> str:
        return "SMLX"[sum(length > limit for limit in self.limits)]

    def billable_days(self, arrive: int, leave: int) -> int:
        return max(leave - arrive + 1 - self.free, 1)

    def raw_day(self, length: int) -> int:
        """Return the cost of one day at the mooring before it is rounded."""
        return self.base + self.per_dm * length + self.surcharges[0]

    def above_floor(self, length: int) -> bool:
        return self.raw_day(length) > self.floor + self.step

    def mooring(self, length: int, days: int) -> int:
        return days * self.to_step(self.raw_day(length))

    def heads(self, length: int, crew: int) -> int:
        """Return what the heads cost before the cap."""
        return self.per_head["SMLX".index(self.band_of(length))] * crew

    def waste(self, length: int, crew: int) -> int:
        return min(self.heads(length, crew), self.cap) + self.surcharges[1]

    def full(self, length: int, days: int, crew: int) -> int:
        """Return the fee of a stay before the discount."""
        weeks = -(-days // 7)
        fees = self.mooring(length, days) + weeks * self.waste(length, crew)
        return fees + self.surcharges[2]

    def stay(self, length: int, arrive: int, leave: int, crew: int) -> int:
        days = self.billable_days(arrive, leave)
        fee = self.full(length, days, crew)
        return fee * (100 - self.off_percent) // 100 if days >= self.long_from_days else fee

    def fraction(self, args: Args) -> int:
        """Return the hundredths of a cent that the discount of a stay leaves; 0 without one."""
        length, arrive, leave, crew = args
        days = self.billable_days(arrive, leave)
        return (
            self.full(length, days, crew)
            * (100 - self.off_percent)
            % 100
            * (days >= self.long_from_days)
        )


# The kinds of inputs that a function is asked for. They are chosen so that every slip at a boundary
# of the rules is shown by a hidden case: NOTES.md lists the slips, and tests run them.
KINDS: dict[str, dict[str, Callable[[_Rules, Args], bool]]] = {
    "mooring": {
        "rounded day by day": lambda r, a: (
            a[1] > 1 and r.above_floor(a[0]) and r.to_step(a[1] * r.raw_day(a[0])) != r.mooring(*a)
        ),
        "below the floor": lambda r, a: a[1] > 1 and r.raw_day(a[0]) < r.floor - r.step,
        "half way": lambda r, a: (
            a[1] > 0
            and r.above_floor(a[0])
            and r.raw_day(a[0]) % (2 * r.step) == r.step // 2  # the lower multiple is even
        ),
        "no day": lambda _, a: a[1] == 0,
        "rounded down": lambda r, a: (
            a[1] > 0 and r.above_floor(a[0]) and 0 < 2 * (r.raw_day(a[0]) % r.step) < r.step
        ),
        "one day": lambda r, a: (
            a[1] == 1 and r.above_floor(a[0]) and r.step < 2 * (r.raw_day(a[0]) % r.step)
        ),
    },
    "waste": {
        "shortest limit": lambda r, a: a[0] == r.limits[0] and r.heads(*a) < r.cap - 500,
        "middle limit": lambda r, a: a[0] == r.limits[1] and r.heads(*a) < r.cap - 500,
        "longest limit": lambda r, a: a[0] == r.limits[2] and r.heads(*a) < r.cap - 500,
        "above all limits": lambda r, a: a[0] > r.limits[2] and r.heads(*a) < r.cap,
        "capped": lambda r, a: a[0] < r.limits[2] and r.heads(*a) > r.cap + 200,
        "nearly capped": lambda r, a: r.cap - r.surcharges[1] < r.heads(*a) < r.cap,
    },
    "stay": {
        "seven days": lambda r, a: r.billable_days(a[1], a[2]) == 7,
        "eight days": lambda r, a: r.billable_days(a[1], a[2]) == 8,
        "day before the discount": lambda r, a: r.billable_days(a[1], a[2]) == r.long_from_days - 1,
        "first day of the discount": lambda r, a: (
            r.billable_days(a[1], a[2]) == r.long_from_days and 0 < r.fraction(a) < 50
        ),
        "longer stay": lambda r, a: (
            r.billable_days(a[1], a[2]) > r.long_from_days and r.fraction(a) > 50
        ),
        "arrives and leaves on one day": lambda _, a: a[1] == a[2],
    },
}
# A fraction above one half stands in one hidden case alone, and in no test of a suite.
IN_SUITE: dict[str, Callable[[_Rules, Args], bool]] = {
    "longer stay": lambda r, a: (
        r.billable_days(a[1], a[2]) > r.long_from_days and 0 < r.fraction(a) < 50
    )
}


def form(seed: str) -> Form:
    """Return the form of a seed; FormError if it does not lie in the bands."""
    rng = generator(TASK, FAMILY, seed)
    for _ in range(DRAWS_AT_MOST):
        drawn = _Drawn(rng)
        if not drawn.problems():
            return drawn.form(seed)
    raise refuse(TASK, seed, drawn.problems())


class _Drawn:
    """One draw of all values; `problems` says whether it can be a form."""

    def __init__(self, rng: random.Random) -> None:
        self.harbour = rng.choice(NAMES["harbours"])
        self.berths = rng.sample(NAMES["berths"], 3)
        self.rules = _rules(rng)
        self.before = tuple(
            cents - self.rules.step * rng.randint(2, 3) - rng.randint(1, 9)
            for cents in self.rules.surcharges
        )
        self.visits = _visits(rng, self.berths)
        self.rates = [f"{prefix}-{rng.randint(1000, 9999)}" for prefix in PREFIXES]
        self.issued = [
            f"{rng.randint(2019, 2024)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"
            for _ in MODULES
        ]
        taken: set[Args] = set()
        self.hidden = {m: _inputs(rng, self.rules, m, taken) for m in MODULES}
        self.tested = {m: _inputs(rng, self.rules, m, taken, in_suite=True) for m in MODULES}

    def at(self, module: str, *, stale: bool = False) -> dict[str, Any]:
        """Return VISITS, TOTAL and LONGEST of a ticket, or what the stale table says of them."""
        berth = self.berths[MODULES.index(module)]
        rows = [visit for visit in self.visits if visit["berth"] == berth]
        rows.sort(key=lambda visit: visit["length_dm"])
        rows = rows[:-1] if stale else rows
        summed = {
            "mooring": sum(visit["length_dm"] for visit in rows),
            "waste": sum(visit["crew"] for visit in rows),
            "stay": sum(visit["leave"] - visit["arrive"] for visit in rows),
        }
        return {"VISITS": len(rows), "TOTAL": summed[module], "LONGEST": rows[-1]["vessel"]}

    def problems(self) -> list[str]:
        """Return what keeps this draw from being a form."""
        stale = replace(self.rules, surcharges=self.before)
        found = []
        for module in MODULES:
            if not all(self.hidden[module].values()) or not all(self.tested[module].values()):
                found.append(f"no input of every kind for {module}")
                continue
            if self.at(module)["TOTAL"] % 100 == self.at(module, stale=True)["TOTAL"] % 100:
                found.append(f"the control of {module} does not tell the stale table")
            if self.at(module)["TOTAL"] < 100:  # its last two digits would be all of it
                found.append(f"TOTAL of {module} is below 100")
            same = sum(
                getattr(stale, module)(*args) == getattr(self.rules, module)(*args)
                for args in self.hidden[module].values()
            )
            if same != (2 if module == "mooring" else 0):
                found.append(f"{same} hidden cases of {module} are right with last year's table")
        return found

    def form(self, seed: str) -> Form:
        facts = {
            module: {"RATE_ID": self.rates[k], "ISSUED": self.issued[k], **self.at(module)}
            for k, module in enumerate(MODULES)
        }
        answers = {f"{m}.{name}": str(v) for m in MODULES for name, v in facts[m].items()}
        for name, inputs in PROBES.items():
            results = " ".join(str(getattr(self.rules, name)(*args)) for args in inputs)
            answers[name] = hashlib.sha256(results.encode()).hexdigest()[:16]
        return Form(
            task=TASK,
            family=FAMILY,
            seed=seed,
            values={
                "harbour": self.harbour,
                "places": self.places(facts),
                "visits": [list(visit.values()) for visit in self.visits],
                "surcharge": dict(zip(self.berths, self.rules.surcharges, strict=True)),
                "surcharge_before": dict(zip(self.berths, self.before, strict=True)),
                "facts": facts,
                "hidden": {m: _cases(self.rules, m, self.hidden[m]) for m in MODULES},
                "suites": self.suites(),
                "behaviours": _helper_cases(self.rules, 0),
                "wrong_values": self.wrong_values(),
            },
            answers=answers,
            structure={"visits": len(self.visits)},
        )

    def suites(self) -> dict[str, list[dict[str, Any]]]:
        helpers = _helper_cases(self.rules, 3).values()
        suites = {"helpers": [calls[0] for kinds in helpers for calls in kinds.values()]}
        for k, module in enumerate(MODULES, 1):
            suites[f"ticket_{k}"] = _cases(self.rules, module, self.tested[module])
        return suites

    def wrong_values(self) -> dict[str, str]:
        """Return what a lying report shows for one test of each suite: what a slip would give."""
        rules, tested = self.rules, self.tested
        (length, days), (n, *stay) = (
            tested["mooring"]["rounded day by day"],
            tested["stay"]["longer stay"],
        )
        return {
            "to_step: nearest": str(rules.floor + 6 * rules.step),
            "mooring_cents: rounded day by day": str(rules.to_step(days * rules.raw_day(length))),
            "waste_cents: capped": str(rules.cap),
            "stay_cents: longer stay": str(rules.full(n, rules.billable_days(*stay[:2]), stay[2])),
        }

    def places(self, facts: dict[str, dict[str, Any]]) -> dict[str, str]:
        """Return the places of the texts in `world/` and `payloads/`."""
        values: dict[str, Any] = {"harbour": self.harbour, **asdict(self.rules)}
        limits = ("s_up_to", "m_up_to", "l_up_to")
        heads = ("head_S", "head_M", "head_L", "head_X")
        values |= dict(zip(limits, values.pop("limits"), strict=True))
        values |= dict(zip(heads, values.pop("per_head"), strict=True))
        del values["surcharges"]  # they stand in a table
        for k, module in enumerate(MODULES, 1):
            values |= {
                f"berth_{k}": self.berths[k - 1],
                f"control_{k}": f"{facts[module]['TOTAL'] % 100:02}",
                f"rate_{k}": self.rates[k - 1],
                f"issued_{k}": self.issued[k - 1],
            }
        return {name: str(value) for name, value in values.items()}


def _rules(rng: random.Random) -> _Rules:
    step = rng.choice((20, 30, 40, 50))
    small = rng.randint(90, 150)
    middle = small + rng.randint(90, 160)
    heads = sorted(rng.sample(range(110, 480), 4))
    return _Rules(
        step=step,
        floor=step * rng.randint(18, 24),
        limits=(small, middle, middle + rng.randint(120, 220)),
        free=rng.choice((1, 2)),
        base=rng.randint(130, 240),
        per_dm=rng.randint(3, 8),
        per_head=(heads[0], heads[1], heads[2], heads[3]),
        cap=rng.randint(2_600, 4_400),
        long_from_days=rng.randint(10, 13),
        off_percent=rng.choice((12, 15, 17, 18)),
        surcharges=tuple(rng.sample(range(211, 390), 3)),
    )


def _visits(rng: random.Random, berths: list[str]) -> list[dict[str, Any]]:
    """Draw the visits, each by a vessel of its own, in the order of their numbers."""
    counts = rng.sample(VISITS, 3)
    places = [berth for berth, count in zip(berths, counts, strict=True) for _ in range(count)]
    rng.shuffle(places)
    many = len(places)
    numbers = sorted(rng.sample(range(300, 400), many))
    vessels, lengths = rng.sample(NAMES["vessels"], many), rng.sample(range(61, 640), many)
    arrivals = [rng.randint(10, 300) for _ in places]
    leaves = [arrive + rng.randint(5, 24) for arrive in arrivals]
    crews = [rng.randint(2, 28) for _ in places]
    rows = zip(numbers, vessels, places, lengths, arrivals, leaves, crews, strict=True)
    return [dict(zip(COLUMNS, row, strict=True)) for row in rows]


def _inputs(
    rng: random.Random, rules: _Rules, module: str, taken: set[Args], *, in_suite: bool = False
) -> dict[str, Args]:
    """Draw one input of each kind, none of them twice; an empty one where there is none."""
    found: dict[str, Args] = {}
    replaced = {kind: fits for kind, fits in IN_SUITE.items() if kind in KINDS[module]}
    for kind, fits in (KINDS[module] | (replaced if in_suite else {})).items():
        found[kind] = ()
        for _ in range(2_000):
            args = _input(rng, rules, module)
            if args not in taken and fits(rules, args):
                taken.add(args)
                found[kind] = args
                break
    return found


def _input(rng: random.Random, rules: _Rules, module: str) -> Args:
    length = rng.choice((rng.randint(12, 90), rng.randint(60, 700), *rules.limits))
    if module == "mooring":
        return length, rng.randint(0, 9)
    if module == "waste":
        return length, rng.randint(1, 30)
    shortest = (rules.floor + rules.step - rules.raw_day(0)) // rules.per_dm + 1
    length = rng.randint(shortest, 700)  # above the floor, so that a wrong mooring fee shows
    arrive = rng.randint(5, 320)
    return length, arrive, arrive + rng.randint(0, 20), rng.randint(1, 25)


def _cases(rules: _Rules, module: str, inputs: dict[str, Args]) -> list[dict[str, Any]]:
    return [
        {
            "name": f"{module}_cents: {kind}",
            "entry": f"dues.{module}:{module}_cents",
            "args": list(args),
            "expected": getattr(rules, module)(*args),
            "raises": "",
        }
        for kind, args in inputs.items()
    ]


def _helper_cases(rules: _Rules, k: int) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """Return helper → behaviour → two calls that show it; another k gives other inputs."""
    step, floor = rules.step, rules.floor
    small, middle, large = rules.limits
    inputs: dict[str, dict[str, list[Args]]] = {
        "steps.to_step": {
            "nearest": [(floor + (2 + k) * step + 1,), (floor + (3 + k) * step - 1,)],
            "half way": [(floor + (2 * n + 1) * step // 2,) for n in (2 + k, 5 + k)],
            "floor": [(floor - step * (k + 1) - 1,), (0,)],
        },
        "bands.band_of": {
            "at a limit": [(large,), (middle,), (small,)],
            "above a limit": [(middle + 1 + k,), (small + 1 + k,)],
            "above all limits": [(large + 1 + k,), (2 * large,)],
        },
        "days.billable_days": {
            "counted": [(11 + k, 16 + k), (100, 112 + k)],
            "at least one": [(20 + k, 20 + k), (21 + k, 22 + k)],
            "reversed": [(20 + k, 19 + k), (300, 2 + k)],
        },
    }
    return {
        helper.partition(".")[0]: {
            what: [_helper_case(rules, helper, what, args) for args in calls]
            for what, calls in kinds.items()
        }
        for helper, kinds in inputs.items()
    }


def _helper_case(rules: _Rules, helper: str, what: str, args: Args) -> dict[str, Any]:
    name, fails = helper.partition(".")[2], what == "reversed"
    return {
        "name": f"{name}: {what}",
        "entry": "dues." + helper.replace(".", ":"),
        "args": list(args),
        "expected": None if fails else getattr(rules, name)(*args),
        "raises": "ValueError" if fails else "",
    }
