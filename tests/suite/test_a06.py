"""A06, specification conflict: two methods, three plants and no fourth, grammar, ladder."""

import json
import re
import shutil
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from pathlib import Path

import pytest
from playing import parsed, play

from harness.errors import SuiteError
from harness.records.handwritten import read_toml
from harness.records.score import RowScore
from harness.stages.forms import make_form, make_sets, prompt_of, second_answers, task_module
from harness.suite.definition import TaskDefinition
from harness.suite.forms import Form, Reply
from harness.suite.loader import load_suite, read_form
from harness.suite.sets import common_sets, read_sets

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "suite" / "core" / "a06_specification_conflict"
FORM, ORACLE, GRADER = (task_module(FOLDER, name) for name in ("form", "oracle", "grader"))
OPEN = read_form(FOLDER / "open.json")
SEEDS = ("open", "6", "1")  # one form in each of the three settings
READINGS = tuple(product((0, 1), repeat=3))
POINTS_TOLERANCE = 5e-4  # the specification prints three decimals

# Constants without due and charge, so that the two fees printed in the specification come out.
PLAIN = {
    "limit": 8,
    "base": 24,
    "step": 3,
    "cap": 30,
    "factor": 2,
    "edge": 11,
    "fixed": 7,
    "floor": 10,
    "free": 2,
    "club_percent": 10,
    "prepaid_percent": 15,
    "due": 0,
    "charge": 0,
    "long": 20,
}


@cache
def form_of(seed: str) -> Form:
    return make_form(FOLDER, seed)


@cache
def prompt(seed: str) -> str:
    return prompt_of(FOLDER, form_of(seed))


def with_constant(name: str, value: int) -> Form:
    changed = {**OPEN.values["t"], name: value}
    return OPEN.model_copy(update={"values": {**OPEN.values, "t": changed}})


def rows_of(text: str, form: Form = OPEN) -> dict[str, RowScore]:
    return {row.id: row for row in play(FOLDER, form, Reply(text))}


def points_of(reply: Reply, form: Form) -> dict[str, float]:
    return {row.id: row.points for row in play(FOLDER, form, reply) if row.points}


def lines(answers: dict[str, str]) -> str:
    return "".join(f"{key} = {value}\n" for key, value in answers.items())


# --- the two methods


@pytest.mark.parametrize("seed", SEEDS)
def test_two_methods_agree(seed: str) -> None:
    """The oracle, which reads the rendered English alone, finds every answer of the generator."""
    assert second_answers(FOLDER, prompt(seed)) == form_of(seed).answers


def test_the_three_settings_are_covered() -> None:
    """The seeds of these tests meet moorings, rooms and tools."""
    assert {form_of(seed).values["domain"] for seed in SEEDS} == {"moorings", "rooms", "tools"}


@pytest.mark.parametrize(
    "name", ["base", "step", "fixed", "free", "club_percent", "due", "charge", "edge", "cap"]
)
def test_a_changed_number_in_the_prompt_is_noticed(name: str) -> None:
    """The oracle reads its numbers in the prompt, so that an error in a rendered one shows."""
    other = with_constant(name, OPEN.values["t"][name] + 1)
    found = ORACLE.case_answers(prompt_of(FOLDER, other))
    assert found != {key: value for key, value in OPEN.answers.items() if key in found}


def test_the_floor_in_the_prompt_is_read() -> None:
    """A floor above half the base rate would bind others too; the oracle then disagrees."""
    other = with_constant("floor", OPEN.values["t"]["base"])
    found = ORACLE.case_answers(prompt_of(FOLDER, other))
    assert found != {key: value for key, value in OPEN.answers.items() if key in found}


def test_a_grader_with_other_constants_loses_the_golden() -> None:
    """The witness is judged by the grader's own arithmetic, not by comparing texts."""
    other = with_constant("base", OPEN.values["t"]["base"] + 1)
    rows = rows_of(lines(OPEN.answers), other)
    assert [o.credit for o in rows["direct"].observations] == [1, 1, 0, 0]


def test_generator_and_grader_hold_the_same_tariff() -> None:
    """The arithmetic stands twice, in form.py and grader.py, and is the same on every input."""
    t = OPEN.values["t"]
    domain = next(d for d in FORM.DOMAINS if d.name == OPEN.values["domain"])
    for stay in domain.stays:
        for reading in READINGS:
            assert FORM.fee(t, stay, reading) == GRADER.fee(t, stay, reading)


# size, days, kind, season, club, prepaid → fee when (free, floor, sum) hold, and when the others do
KNOWN = {
    "the example of the specification": ((9, 4, 2, 0, 0, 0), 54, 108),  # 27 × 2, 27 × 4
    "up to the limit": ((8, 3, 1, 0, 0, 0), 72, 72),
    "heavy": ((10, 2, 0, 0, 0, 0), 120, 120),  # (24 + 6) × 2 × 2
    "half, rounded down": ((9, 3, 1, 1, 0, 0), 39, 39),  # 27 / 2 = 13
    "the club's rate": ((11, 2, 1, 1, 1, 0), 28, 12),  # 16 × 2 × .9 = 28.8; 7 × 2 × .9 = 12.6
    "beyond the club's edge": ((12, 2, 1, 1, 1, 0), 32, 32),  # 18 × 2 × .9 = 32.4
    "both discounts": ((8, 10, 1, 0, 1, 1), 180, 183),  # 240 × .75; 216, then × .85 = 183.6
    "a short guest stay": ((4, 1, 2, 0, 0, 0), 0, 24),
}


@pytest.mark.parametrize(("stay", "first", "second"), KNOWN.values(), ids=KNOWN)
def test_fees_worked_by_hand(stay: tuple[int, ...], first: int, second: int) -> None:
    """Generator and grader give the fees that a person works out from the sentences."""
    for fee in (FORM.fee, GRADER.fee):
        as_stay = FORM.Stay(*stay)
        assert (fee(PLAIN, as_stay, (0, 0, 0)), fee(PLAIN, as_stay, (1, 1, 1))) == (first, second)


def test_due_charge_and_cap_by_hand() -> None:
    """The due spares the heavy kind, the charge begins behind its edge, the cap ends the steps."""
    t = {**PLAIN, "cap": 20, "due": 5, "charge": 40}
    stays = {(20, 11, 1): 665, (25, 11, 1): 665, (25, 12, 1): 765, (25, 12, 0): 1480}
    for (size, days, kind), fee in stays.items():  # the rate of 20 is 24 + 3 × 12 = 60
        assert FORM.fee(t, FORM.Stay(size, days, kind, 0, 0, 0), (0, 0, 0)) == fee


# --- three contradictions, and no fourth


def claims(t: dict[str, int], stay: tuple[int, ...], standing: set[str]) -> Iterator[frozenset]:
    """Yield every pair of standing sections that fix one quantity differently for an input.

    A third way to hold the tariff: each section is a claim about one quantity, an exception
    silences the section that it names, and nothing is assumed about which sections contradict.
    Quantities behind a contradiction are looked at under each of its values.
    """
    size, days, kind, season, club, prepaid = stay

    def settle(said: dict[str, Fraction | int | None]) -> tuple[list, list[frozenset]]:
        held = {rule: v for rule, v in said.items() if rule in standing and v is not None}
        pairs = [frozenset(p) for p in combinations(held, 2) if held[p[0]] != held[p[1]]]
        return sorted(set(held.values())), pairs

    capped = size > t["cap"] and "cap" in standing
    length, found = settle(
        {
            "small": t["base"] if size <= t["limit"] else None,
            "step": t["base"] + t["step"] * (size - t["limit"])
            if size > t["limit"] and not capped
            else None,
            "cap": t["base"] + t["step"] * (t["cap"] - t["limit"]) if capped else None,
        }
    )
    yield from found
    exact = bool(season and club) and size <= t["edge"] and "fixed" in standing
    for rate in length:
        base, found = settle(
            {
                "base": rate * (t["factor"] if kind == 0 else 1),
                "agree": Fraction(rate * t["factor"], t["factor"]) if kind == 1 else None,
            }
        )
        yield from found
        for value in base:
            half = value // 2 if season else value
            daily = {"half": None if exact else half, "fixed": t["fixed"] if exact else None}
            _, found = settle(daily)
            yield from found
            for rule, rate_a_day in daily.items():
                low = rate_a_day is not None and value > rate_a_day < t["floor"]
                if low and {rule, "floor"} <= standing:
                    yield frozenset({rule, "floor"})
    guest = kind == 2
    spared = guest and {"free", "every"} & standing
    _, found = settle(
        {
            "amount": None if spared else days,
            "free": max(0, days - t["free"]) if guest else None,
            "every": days if guest else None,
        }
    )
    yield from found
    two = bool(club and prepaid) and {"club", "prepaid"} <= standing
    one, other = t["club_percent"], t["prepaid_percent"]
    _, found = settle(
        {
            "both": Fraction(100 - one - other, 100) if two else None,
            "sequence": Fraction((100 - one) * (100 - other), 10_000) if two else None,
        }
    )
    yield from found
    free_of_due = kind == 0 and "exempt" in standing
    _, found = settle(
        {"due": None if free_of_due else t["due"], "exempt": 0 if kind == 0 else None}
    )
    yield from found


@pytest.mark.parametrize("seed", SEEDS)
def test_there_is_no_fourth_contradiction(seed: str) -> None:
    """With all sections standing, and with any one struck, only planted pairs contradict."""
    values = form_of(seed).values
    planted = {frozenset(FORM.CONFLICTS[name]) for name in FORM.CONFLICTS}
    t, low, high = values["t"], values["inputs"][0]["low"], values["inputs"][0]["high"]
    edges = {low, high, *(t[name] + n for name in ("limit", "edge", "cap") for n in (0, 1))}
    for struck in (None, *values["at"]):
        standing = set(values["at"]) - {struck}
        found = {
            pair
            for size in (edges if struck else range(low, high + 1))
            for days in (1, t["free"], t["free"] + 1)
            for rest in product(range(3), *[(0, 1)] * 3)
            for pair in claims(t, (size, days, *rest), standing)
        }
        expected = {pair for pair in planted if struck not in pair}
        if struck in {"club", "prepaid"}:  # then no two discounts are left to meet
            expected -= {frozenset(FORM.CONFLICTS["derived"])}
        if struck in {"small", "base"}:  # then the least base rate, or every one, is missing
            assert found <= expected
        else:
            assert found == expected, struck


def test_the_check_for_a_fourth_contradiction_can_fail() -> None:
    """A floor above half the lowest base rate is found as a contradiction with the season."""
    t = {**OPEN.values["t"], "floor": OPEN.values["t"]["base"]}
    found = set(claims(t, (OPEN.values["inputs"][0]["low"], 1, 1, 1, 0, 0), set(OPEN.values["at"])))
    assert found == {frozenset({"half", "floor"})}


@pytest.mark.parametrize("seed", SEEDS)
def test_bands_of_the_specification(seed: str) -> None:
    """Every form lies inside the bands that the specification names."""
    check_bands(form_of(seed), prompt(seed))


def check_bands(form: Form, text: str) -> None:
    structure = form.structure
    assert 24 <= structure["sections"] <= 28
    assert len(form.values["chapters"]) == 6
    assert structure["defined_distance"] >= 2
    assert structure["derived_distance"] >= 2
    assert all(0.02 <= structure[f"{name}_share"] <= 0.30 for name in FORM.CONFLICTS)
    assert structure["silent"] == 0
    single = [case for case in form.values["cases"] if not case["conflict"]]
    double = [case for case in form.values["cases"] if case["conflict"]]
    assert len(single) == len(double) == 6
    assert structure["boundary_cases"] == 3
    assert all(abs(case["fees"][0] - case["fees"][1]) >= 5 for case in double)
    assert sorted(case["conflict"] for case in double) == sorted([*FORM.CONFLICTS] * 2)
    assert len(text) <= 9_000  # 3.5 characters a token, measured: below 2,600 tokens
    for key, traps in form.traps.items():
        assert form.answers[key] not in traps.values()


@pytest.mark.slow
def test_twenty_forms() -> None:
    """Twenty seeds pass every band and both methods, and share hardly an answer."""
    forms = [form_of(f"slow {n}") for n in range(20)]
    for form in forms:
        check_bands(form, prompt(form.seed))
        assert second_answers(FOLDER, prompt(form.seed)) == form.answers
    for one, other in combinations(forms, 2):
        shared = [key for key, value in one.answers.items() if other.answers[key] == value]
        assert len(shared) <= 0.10 * len(one.answers), (one.seed, other.seed, shared)


# --- the prompt


def test_no_line_of_the_prompt_is_an_answer() -> None:
    """Sent back as a reply, the prompt answers no asked key."""
    assert parsed(FOLDER, OPEN, Reply(prompt("open"))).answers == {}


@pytest.mark.parametrize("seed", SEEDS)
def test_references_between_sections_are_right(seed: str) -> None:
    """Every section number in the tariff names the section that is meant."""
    at, text = form_of(seed).values["at"], prompt(seed)
    for rule, named in {"cap": "step", "fixed": "half", "due": "exempt", "exempt": "due"}.items():
        line = re.search(rf"^{re.escape(at[rule])} (.+)$", text, flags=re.MULTILINE)
        assert line is not None
        assert re.findall(r"\d\.\d", line[1]) == [at[named]]


@pytest.mark.parametrize("seed", SEEDS)
def test_articles_and_holes(seed: str) -> None:
    """The rendered text has no wrong article, doubled space or unfilled place."""
    assert re.findall(r"\b[Aa] [aeiou]\w+|\w  \w|[{}]|None|Undefined", prompt(seed)) == []


# --- goldens, defectives, exploits


@pytest.mark.parametrize("seed", SEEDS)
def test_goldens_reach_the_maximum(seed: str) -> None:
    """Three differently written right replies have 16 points in every form."""
    form = form_of(seed)
    for golden in make_sets(FOLDER, form).golden:
        assert sum(points_of(golden.reply, form).values()) == 16, golden.name


@pytest.mark.parametrize("seed", SEEDS)
def test_the_ladder(seed: str) -> None:
    """Every defective scores exactly its rows, the common ones nothing."""
    form = form_of(seed)
    sets = make_sets(FOLDER, form)
    for one in (*sets.defective, *common_sets(prompt(seed), sets.golden[0]).defective):
        assert points_of(one.reply, form) == pytest.approx(one.rows, abs=POINTS_TOLERANCE)
        assert one.cause is None or parsed(FOLDER, form, one.reply).cause == one.cause


def test_the_ladder_of_the_specification() -> None:
    """The sums are those the specification prints."""
    sums = {d.name: sum(d.rows.values()) for d in make_sets(FOLDER, OPEN).defective}
    printed = {"no_conflict": 2.5, "typical_3b": 2.272, "pairs_only": 5.2, "near_miss": 10.667}
    assert {name: sums[name] for name in printed} == pytest.approx(printed, abs=POINTS_TOLERANCE)


@pytest.mark.parametrize("seed", SEEDS)
def test_exploits_stay_under_their_ceilings(seed: str) -> None:
    """No exploit is worth more than its ceiling."""
    form = form_of(seed)
    sets = make_sets(FOLDER, form)
    for one in (*sets.exploits, *common_sets(prompt(seed), sets.golden[0]).exploits):
        assert sum(points_of(one.reply, form).values()) <= one.ceiling + POINTS_TOLERANCE, one.name


def test_frozen_files_are_those_of_the_open_form() -> None:
    """The open form and its replies on disk are what generator and policy make."""
    assert form_of("open") == OPEN
    frozen, made = read_sets(FOLDER), make_sets(FOLDER, OPEN)
    for kind in ("golden", "defective", "exploits"):
        texts = {member.name: member.reply for member in getattr(frozen, kind)}
        assert texts == {member.name: member.reply for member in getattr(made, kind)}


def test_points_written_by_hand_are_those_counted() -> None:
    """expected.toml, written from the specification, and policy.py, which counts, agree."""
    frozen, made = read_sets(FOLDER), make_sets(FOLDER, OPEN)
    counted = {one.name: one.rows for one in made.defective}
    for one in frozen.defective:
        assert one.rows == pytest.approx(counted[one.name], abs=POINTS_TOLERANCE)
    ceilings = {one.name: one.ceiling for one in made.exploits}
    assert {one.name: one.ceiling for one in frozen.exploits} == pytest.approx(ceilings)


def test_the_task_loads() -> None:
    """Rows match functions, points sum to 16, observations to 35."""
    definition = read_toml(FOLDER / "task.toml", TaskDefinition, SuiteError)
    assert (len(definition.rows), definition.observations) == (7, 35)
    assert json.loads((FOLDER / "open.json").read_text(encoding="utf-8"))["seed"] == "open"


# --- how values are read

FIRST_PAIR, WITNESS = OPEN.answers["CONFLICT 1"].split(" / "), OPEN.answers["WITNESS 1"]


@pytest.mark.parametrize(
    "written",
    [
        "{0} / {1}",
        "{1} / {0}",
        "{0} – {1}.",
        "§{0} — §{1}",
        "({0}, {1})",
        "[{0}] [{1}]",
        "sections {0} and {1}",
        "Section {0} vs. Section {1}",
        "**{0}** | **{1}**",
    ],
)
def test_a_pair_is_read_in_many_hands(written: str) -> None:
    """Dashes, commas, words, order, brackets and paragraph signs do not matter."""
    rows = rows_of(f"CONFLICT 1 = {written.format(*FIRST_PAIR)}\n")
    assert rows["direct"].points == pytest.approx(0.8)


@pytest.mark.parametrize("written", ["{0}", "{0} / {0}", "{0} / {1} / 1.1", "none", "{0}{1}"])
def test_what_is_no_pair_is_not_read(written: str) -> None:
    """One section, the same section twice, or three name no pair, neither true nor false."""
    rows = rows_of(
        f"CONFLICT 1 = {written.format(*FIRST_PAIR)}\nCONFLICT 2 = {OPEN.answers['CONFLICT 2']}\n"
    )
    assert rows["direct"].points == 0
    assert rows["restraint"].points == pytest.approx(2 / 3)


def test_the_same_pair_twice_counts_once() -> None:
    """A pair declared again, its order reversed, is neither a second find nor a false one."""
    a, b = FIRST_PAIR
    rows = rows_of(
        f"- **CONFLICT 1:** {a} – {b}.\n- **CONFLICT 2:** {b} – {a}.\nCONFLICT 5 = {a}/{b}"
    )
    assert rows["direct"].points == pytest.approx(0.8)
    assert rows["restraint"].points == pytest.approx(2 / 3)


def test_the_same_false_pair_twice_counts_once() -> None:
    """A false pair declared three times costs one third of the row, not all of it."""
    right = {k: v for k, v in OPEN.answers.items() if k.startswith("CONFLICT")}
    rows = rows_of(lines({**right, **{f"CONFLICT {k}": "1.1 / 6.1" for k in (4, 5, 6)}}))
    assert rows["restraint"].points == pytest.approx(4 / 3)


def test_only_six_declarations_are_read() -> None:
    """A seventh CONFLICT line is no answer."""
    assert rows_of(f"CONFLICT 7 = {' / '.join(FIRST_PAIR)}\n")["direct"].points == 0


def test_the_lowest_number_of_a_pair_gives_the_witness() -> None:
    """Witness and fees stand under the number of the pair's first declaration."""
    moved = {k.replace(" 1", " 4"): v for k, v in OPEN.answers.items() if k.endswith(" 1")}
    assert rows_of(lines(moved))["direct"].points == 2
    again = {**moved, "CONFLICT 2": OPEN.answers["CONFLICT 1"]}
    assert rows_of(lines(again))["direct"].points == pytest.approx(0.8)


@pytest.mark.parametrize(
    "rewrite",
    [
        lambda text: text.replace(", ", "; "),
        lambda text: text.replace(", ", " "),
        lambda text: text.replace(", ", " | "),
        lambda text: re.sub(r"(\w+) (\w+)", r"\1 = \2", text),
        lambda text: re.sub(r"(\w+) (\w+)", r"\1: \2", text),
        lambda text: re.sub(r"(\w+) (\w+)", r"\1 is \2", text),
        lambda text: ", ".join(reversed(text.split(", "))),
        lambda text: re.sub(r"power (\d+)", r"power \1 kW", text),
        lambda text: text.upper(),
        lambda text: text.replace("yes", "true").replace("no", "n"),
        lambda text: "{" + re.sub(r"(\w+) (\w+)", r'"\1": "\2"', text) + "}",
    ],
)
def test_a_witness_is_read_in_many_hands(rewrite) -> None:
    """Separators, equal signs, units, order and case do not matter."""
    stay = GRADER.read_stay(OPEN.values["inputs"], WITNESS)
    assert not isinstance(stay, str)
    assert GRADER.read_stay(OPEN.values["inputs"], rewrite(WITNESS)) == stay


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (r"power \d+", "power 99", "outside the domain"),
        (r"power \d+", "power 4.5", "could not be read"),
        (r"power \d+", "power -4", "could not be read"),
        (r"kind \w+", "kind boat", "outside the domain"),
        (r"days \d+", "days 0", "outside the domain"),
        (r", prepaid \w+", "", "each of the six items once"),
        (r"prepaid", "prepaid no, prepaid", "each of the six items once"),
        (r"$", " because it bites", "could not be read"),
        (r"days \d+", "days 4 or 5", "could not be read"),
    ],
)
def test_what_is_no_witness_says_why(old: str, new: str, why: str) -> None:
    """A witness outside the domain, incomplete, or with words around it is refused by name."""
    assert why in GRADER.read_stay(OPEN.values["inputs"], re.sub(old, new, WITNESS, count=1))


def test_long_values_are_read_in_no_time() -> None:
    """A value of many thousand characters is prose: it names no pair and no input."""
    a, b = FIRST_PAIR
    long = " " * 50_000
    rows = rows_of(f"CONFLICT 1 = {a}{long}x{b}\nCONFLICT 2 = {a}/{b}\nWITNESS 2 = power{long}9\n")
    assert [o.credit for o in rows["direct"].observations] == [1, 0, 0, 0]


@pytest.mark.parametrize(
    "text", ["power 9 " * 49 + "!", "power is " * 44, "power 9 and " * 33 + "!"]
)
def test_a_witness_that_repeats_is_read_in_no_time(text: str) -> None:
    """Items in plenty are refused in one pass; a pattern that goes back would not end."""
    assert "could not be read" in GRADER.read_stay(OPEN.values["inputs"], text)


def test_a_witness_of_two_contradictions_proves_nothing() -> None:
    """If another contradiction matters too, the witness and its fees are lost, the pair stays."""
    row = rows_of(lines({**OPEN.answers, "WITNESS 1": OPEN.values["all_three"]}))["direct"]
    assert row.points == pytest.approx(0.8)
    assert "alone" in row.reason


def test_turned_fees_are_named() -> None:
    """FIRST is the fee of the section named first; the other one's fee is wrong and named so."""
    turned = {"FIRST 1": OPEN.answers["SECOND 1"], "SECOND 1": OPEN.answers["FIRST 1"]}
    row = rows_of(lines({**OPEN.answers, **turned}))["direct"]
    assert row.points == pytest.approx(1.2)
    assert "the fee of the other section" in row.reason


OPEN_CASE = next(case for case in OPEN.values["cases"] if case["conflict"] == "direct")


@pytest.mark.parametrize(
    ("written", "open_share", "by_share"),
    [
        ("{0} | {1} by 1", 1, 1),
        ("{1} | {0} by 1", 1, 1),
        ("{0} / {1} by CONFLICT 1", 1, 1),
        ("{0} or {1} (by 1)", 1, 1),
        ("{0} and {1}, by conflict #1.", 1, 1),
        ("{0:,} | {1:,} by 1", 1, 1),
        ("{0} | {1} | by 1", 1, 1),
        ("{0} \\| {1} by 1", 1, 1),
        ("{0}, {1}", 1, 0),
        ("{0} | {1} by 2", 1, 0),
        ("{0} | {1} by 9", 1, 0),
        ("{0} by 1", 0, 0),
        ("{0}", 0, 0),
        ("{0} | {0} by 1", 0, 0),
        ("{0} | {1} | 7 by 1", 0, 0),
        ("{0} | {1}.5 by 1", 0, 0),
    ],
)
def test_an_open_case_is_read_in_many_hands(written: str, open_share: int, by_share: int) -> None:
    """Both fees in any order count; `by k` counts where it names the pair and they are right."""
    pairs = {k: v for k, v in OPEN.answers.items() if k.startswith("CONFLICT")}
    case = {f"CASE {OPEN_CASE['number']}": written.format(*OPEN_CASE["fees"])}
    rows = rows_of(lines({**pairs, **case}))
    assert rows["open_cases"].fraction == pytest.approx(open_share / 6)
    assert rows["attribution"].fraction == pytest.approx(by_share / 6)


def test_an_open_case_needs_its_pair() -> None:
    """Both fees without the declared pair are worth nothing."""
    rows = rows_of(lines({k: v for k, v in OPEN.answers.items() if k.startswith("CASE")}))
    assert rows["open_cases"].points == rows["attribution"].points == 0
    assert "not declared" in rows["open_cases"].reason


*DECOYS, UNUSED = (decoy["sections"] for decoy in OPEN.values["decoys"])


@pytest.mark.parametrize("true", [0, 1, 2, 3])
@pytest.mark.parametrize("false", [0, 1, 2, 3])
@pytest.mark.parametrize("pool", ["decoys", "others"])
def test_restraint(true: int, false: int, pool: str) -> None:
    """The row is (true / 3) × max(0, 1 - false / 3), whatever the false pairs are."""
    others = [["1.1", f"6.{n}"] for n in (1, 2, 3)]
    wrong = (DECOYS if pool == "decoys" else others)[:false]
    pairs = [OPEN.answers[f"CONFLICT {k}"] for k in (1, 2, 3)][:true]
    declared = dict(enumerate([*pairs, *(" / ".join(pair) for pair in wrong)], start=1))
    row = rows_of(lines({f"CONFLICT {k}": pair for k, pair in declared.items()}))["restraint"]
    assert row.points == pytest.approx(2 * true / 3 * (1 - false / 3), abs=1e-6)
    called = [o.key for o in row.observations if o.reason.startswith("declared")]
    assert len(called) == (false if pool == "decoys" else 0)


def test_all_five_decoys_declared() -> None:
    """Six lines can name every decoy; the row is then empty and nothing breaks."""
    pairs = [" / ".join(pair) for pair in [*DECOYS, [*UNUSED, "1.1"]]]
    pairs.append(OPEN.answers["CONFLICT 3"])
    row = rows_of(lines({f"CONFLICT {k}": pair for k, pair in enumerate(pairs, start=1)}))
    assert row["restraint"].points == 0
    assert [o.credit for o in row["restraint"].observations] == [0] * 5


def test_slips_are_named() -> None:
    """A fee that a known slip leads to is named in the reason."""
    for case in OPEN.values["cases"]:
        key = f"CASE {case['number']}"
        for name, wrong in OPEN.traps[key].items():
            rows = rows_of(lines({**OPEN.answers, key: wrong}))
            row = rows["open_cases" if case["conflict"] else "determined_cases"]
            names = [n for n, value in OPEN.traps[key].items() if value == wrong]
            assert any(f"({n})" in row.reason for n in names), (key, name)


def test_the_suite_takes_the_task(tmp_path: Path) -> None:
    """The loader finds nothing to say against the folder."""
    shutil.copytree(FOLDER, tmp_path / "suite" / "core" / FOLDER.name)
    assert load_suite(tmp_path).ids == ("A06",)
