"""Generator of A11's forms: a module of invoices, eight mutants, six equal copies.

One frame of four functions; domain, names, constants and the places of two mutants are drawn.
Method 1 for the answers runs the generated text itself, in ordinary Python.
"""

import random
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path

from harness.suite.forms import Form, generator, refuse

TASK = "A11"
FAMILY = 1
MODULE = "charges"
BUDGET = 40
SECONDS = 3  # an honest suite takes a fortieth of one
DRAWS_AT_MOST = 40

# Shares of random invoices that a mutant changes. The task wants .02 at least, and .70 at most
# for the subtle ones; of 5,000 invoices a share has a standard error of .002 at .02 and of .0065
# at .70, so the bands stand three standard errors inside.
SAMPLE = 5_000
LEAST, MOST = 0.026, 0.68
LINES_AT_MOST = 55
SUBTLE = ("S1", "S2", "S3", "S4", "S5")

FRAME = '''\
"""{about}. All money is in whole cents (int)."""

{BASE} = {base}  # per {one} and charged {one_span}
{FREE} = {free}  # the first {span} of a line cost nothing
{BULK} = {bulk}  # {unit} on one line
{EXTRA} = {extra}  # per {one} and started {one_span}, also a free one
POINTS_STEP = {step}
MAX_PERCENT = {percent_cap}
MAX_LATE = {late_cap}  # weeks charged
LATE_MIN = {late_min}  # least charge for one week


def {spans}({time}):
    """A started {one_span} counts as a whole one; 0 {time} are 0 {span}."""
    if {time} < 0:
        raise ValueError("{time} must not be negative")
    return {rounded_up}


def {fee}({unit}, {time}, {flag}=False):
    """Fee of one line."""
    {span} = {spans}({time})
    charged = max(0, {span} - {FREE})
    amount = {unit} * charged * {BASE}
{adjusted}
    return amount


def {rebate}(amount, points):
    """One percent per POINTS_STEP points, at most MAX_PERCENT, rounded half up."""
    percent = min(points // POINTS_STEP, MAX_PERCENT)
    return {off}


def {bill}(lines, points=0, late_weeks=0):
    """Total of lines of ({unit}, {time}, {flag}), for a customer with points."""
{net}
    off = {rebate}(net, points)
    late = 0
    if late_weeks > 1:
        late = min(late_weeks - 1, MAX_LATE) * max(LATE_MIN, {late_on})
    tax = {tax}
    total = net - off + late + tax
    return {{"net": net, "discount": off, "late": late, "tax": tax, "total": total}}
'''
BULK_PART = "    if {edge}:\n        {less}\n"
EXTRA_PART = "    if {flag}:\n        amount += {unit} * {span} * {EXTRA}\n"

# Invoices on which the second method must find the same amounts: lines of (units by name, time
# beyond whole spans, whole spans, flag), then points as whole steps and more, then weeks. One time
# and one number of points stand without spans and steps, so that these show, too.
PROBES: tuple[tuple[list[tuple[str, int, int, bool]], tuple[int, int], int], ...] = (
    ([("bulk", 0, 9, True)], (7, 0), 2),
    ([("few", 1, 0, False), ("one", 0, 1, True)], (4, -1), 0),
    ([("twice", 0, 12, False), ("few", 1, 5, True)], (99, 3), 99),
    ([("more", 0, 2, True), ("bulk", 1, 3, False)], (5, 1), 5),
    ([("one", 1, 4, True)], (3, 0), 3),
    ([("few", 2, 7, False)], (0, 500), 0),
    ([("few", 1, 1, False), ("few", 0, 11, True), ("more", 3, 8, True)], (2, 1), 1),
    ([("twice", 5, 6, True), ("one", 250, 0, False)], (8, 50), 4),
)

Invoice = tuple[list[tuple[int, int, bool]], int, int]
Bill = Callable[[list[tuple[int, int, bool]], int, int], dict[str, int]]


def form(seed: str) -> Form:
    """Return the form of a seed; FormError if no draw lies in the bands."""
    rng = generator(TASK, FAMILY, seed)
    problems: list[str] = []
    for _ in range(DRAWS_AT_MOST):
        names, numbers = _drawn(rng)
        texts = _texts(names, numbers, rng)
        bills = {name: bill_of(text, names["bill"]) for name, text in texts.items()}
        sample = [random_invoice(numbers, rng) for _ in range(SAMPLE)]
        found = {name: _differing(bills[name], bills["original"], sample) for name in texts}
        structure = _structure(texts["original"], found)
        problems = _problems(structure, texts)
        if not problems:
            values = _values(names, numbers, texts, found)
            answers = _answers(bills["original"], numbers)
            return Form(
                task=TASK,
                family=FAMILY,
                seed=seed,
                values=values,
                answers=answers,
                structure=structure,
            )
    raise refuse(TASK, seed, problems)


# ---------------------------------------------------------------- what is drawn


def _drawn(rng: random.Random) -> tuple[dict[str, str], dict[str, int]]:
    """Return the words and the numbers of a module."""
    domains = tomllib.loads(Path(__file__).with_name("domains.toml").read_text(encoding="utf-8"))
    words = domains[rng.choice(sorted(domains))]
    one, unit = rng.choice(words["unit"])
    one_span, span = words["span"]
    names = {
        "about": words["about"],
        "one": one,
        "unit": unit,
        "time": words["time"],
        "one_span": one_span,
        "span": span,
        "FREE": f"FREE_{span.upper()}",
        **{key.upper(): rng.choice(words[key]) for key in ("base", "bulk", "extra")},
        **{key: rng.choice(words[key]) for key in ("flag", "spans", "fee", "rebate", "bill")},
    }
    numbers = {
        "per": words["per"],
        "base": rng.randrange(400, 1500, 10),
        "free": rng.randint(1, 3),
        "bulk": rng.randint(9, 15),
        "bulk_percent": rng.randint(11, 24),
        "extra": rng.randrange(110, 400, 10),
        "step": rng.choice((50, 80, 100, 120, 200)),
        "percent_cap": rng.randint(8, 12),
        "late_cap": rng.randint(4, 8),
        "late_min": rng.randrange(350, 950, 50),
        "late_part": rng.choice((40, 50, 80)),
        "tax": rng.randint(7, 25),
    }
    return names, numbers


def _texts(names: dict[str, str], numbers: dict[str, int], rng: random.Random) -> dict[str, str]:
    """Return the original, then mutants by their slot, then equal copies by their name."""
    parts = _parts(names, numbers)
    changes = {"original": {}} | _mutations(parts, numbers, rng) | _equal_changes(parts, numbers)
    return {name: FRAME.format_map(parts | change) for name, change in changes.items()}


def _parts(names: Mapping[str, str], numbers: Mapping[str, int]) -> dict[str, str]:
    """Return every piece of the frame, as it stands in the original."""
    parts = dict(names) | {key: str(number) for key, number in numbers.items()}
    less = f"amount -= amount * {numbers['bulk_percent']} // 100"
    edge = f"{names['unit']} >= {names['BULK']}"
    return parts | {
        "rounded_up": f"-(-{names['time']} // {numbers['per']})",
        "bulk_part": BULK_PART.format(edge=edge, less=less),
        "extra_part": EXTRA_PART.format_map(names),
        "adjusted": (
            BULK_PART.format(edge=edge, less=less) + EXTRA_PART.format_map(names)
        ).rstrip(),
        "less": less,
        "off": "(amount * percent + 50) // 100",
        "net": f"    net = sum({names['fee']}(u, t, f) for u, t, f in lines)",
        "late_on": f"net // {numbers['late_part']}",
        "tax": f"((net - off) * {numbers['tax']} + 50) // 100",
    }


def _mutations(
    parts: dict[str, str], numbers: dict[str, int], rng: random.Random
) -> dict[str, dict[str, str]]:
    """Return slot → changed pieces. The kind of a slot is fixed, sizes and places are drawn."""
    cap = rng.choice(("late_cap", "percent_cap"))
    half = rng.choice(("off", "tax"))
    truncated = {
        "off": "amount * percent // 100",
        "tax": f"(net - off) * {numbers['tax']} // 100",
    }
    base = numbers["base"] + rng.choice((-1, 1)) * rng.randrange(20, 100, 10)
    over = BULK_PART.format(edge=f"{parts['unit']} > {parts['BULK']}", less=parts["less"])
    return {
        "P1": {"base": str(base)},
        "P2": {"free": str(numbers["free"] + rng.choice((-1, 1)))},
        "P3": {"tax": f"(net * {numbers['tax']} + 50) // 100"},
        "S1": {"adjusted": (over + parts["extra_part"]).rstrip()},
        "S2": {half: truncated[half]},
        "S3": {cap: str(numbers[cap] + rng.choice((-1, 1)))},
        "S4": {"late_on": f"(net - off) // {numbers['late_part']}"},
        "S5": {"adjusted": (parts["extra_part"] + parts["bulk_part"]).rstrip()},
    }


def _equal_changes(parts: dict[str, str], numbers: dict[str, int]) -> dict[str, dict[str, str]]:
    """Return name → changed pieces that change no result."""
    below = BULK_PART.format(
        edge=f"not {parts['unit']} < {parts['BULK']}",
        less=f"amount = amount - (amount * {numbers['bulk_percent']}) // 100",
    )
    per = numbers["per"]
    return {
        "comment": {"net": f"    # the order of the lines does not matter\n{parts['net']}"},
        "product": {"base": f"{numbers['base'] // 10} * 10"},
        "loop": {
            "net": "    net = 0\n    for line in lines:\n"
            f"        net += {parts['fee']}(line[0], line[1], line[2])"
        },
        "ceiling": {"rounded_up": f"({parts['time']} + {per - 1}) // {per}"},
        "not_below": {"adjusted": (below + parts["extra_part"]).rstrip()},
        "doubled": {"off": "(2 * amount * percent + 100) // 200"},
    }


# ---------------------------------------------------------------- what it does


def bill_of(text: str, name: str) -> Bill:
    """Run a module of ours and return its function for a whole invoice."""
    scope: dict = {"__name__": MODULE}
    exec(compile(text, f"{MODULE}.py", "exec"), scope)  # noqa: S102 (our own text, never a reply)
    bill: Bill = scope[name]
    return bill


def random_invoice(numbers: Mapping[str, int], rng: random.Random) -> Invoice:
    """Draw an invoice on which every rule has a chance to matter."""
    lines = [
        (
            rng.randint(1, numbers["bulk"] * 5 // 2),
            rng.randint(0, numbers["per"] * 25 // 2),
            rng.random() < 0.5,
        )
        for _ in range(rng.randint(1, 3))
    ]
    points = rng.randint(0, numbers["step"] * numbers["percent_cap"] * 3 // 2)
    return lines, points, rng.randint(0, numbers["late_cap"] * 5 // 3)


def _differing(one: Bill, other: Bill, sample: list[Invoice]) -> list[Invoice]:
    if one is other:
        return []
    return [invoice for invoice in sample if one(*invoice) != other(*invoice)]


def _structure(original: str, found: dict[str, list[Invoice]]) -> dict[str, float]:
    shares = {f"share.{name}": len(cases) / SAMPLE for name, cases in found.items()}
    return shares | {"lines": float(len(original.splitlines()))}


def _problems(structure: dict[str, float], texts: dict[str, str]) -> list[str]:
    problems = [f"{structure['lines']:g} lines"] if structure["lines"] > LINES_AT_MOST else []
    if len(set(texts.values())) < len(texts):
        problems.append("two texts are the same")
    for name in texts:
        share = structure[f"share.{name}"]
        if name[0] in "PS":
            most = MOST if name in SUBTLE else 1.0
            if not LEAST <= share <= most:
                problems.append(f"{name} changes {share:.3f} of the invoices")
        elif share:
            problems.append(f"{name} is not equal: {share:.3f}")
    return problems


def probe(number: int, numbers: Mapping[str, int]) -> Invoice:
    """Return one probe as an invoice of this form."""
    lines, (steps, more), weeks = PROBES[number]
    bulk = numbers["bulk"]
    units = {"one": 1, "few": 5, "bulk": bulk, "more": bulk + 1, "twice": 2 * bulk}
    written = [(units[u], spans * numbers["per"] + over, flag) for u, over, spans, flag in lines]
    return written, max(0, steps * numbers["step"] + more), weeks


def _answers(bill: Bill, numbers: Mapping[str, int]) -> dict[str, str]:
    return {
        f"probe.{number + 1}": " ".join(map(str, bill(*probe(number, numbers)).values()))
        for number in range(len(PROBES))
    }


def _values(
    names: dict[str, str],
    numbers: dict[str, int],
    texts: dict[str, str],
    found: dict[str, list[Invoice]],
) -> dict:
    """Return what the prompt is rendered from, and what the grader reads beside it."""
    mutants = {name: text for name, text in texts.items() if name[0] in "PS"}
    equal = {n: t for n, t in texts.items() if n not in mutants and n != "original"}
    invoices = [probe(number, numbers) for number in range(len(PROBES))]
    invoices += [found[name][0] for name in mutants]  # so that each mutant shows on one of them
    return {
        "module": MODULE,
        "file": f"test_{MODULE}.py",
        "budget": BUDGET,
        "seconds": SECONDS,
        "names": names,
        "numbers": numbers,
        "functions": [names[key] for key in ("spans", "fee", "rebate", "bill")],
        "original": texts["original"],
        "mutants": mutants,
        "equal": equal,
        "probes": [[list(map(list, lines)), points, weeks] for lines, points, weeks in invoices],
    }
