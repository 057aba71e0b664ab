"""A04, verifiable original reasoning: two methods, bands, ladder, exploits, reasons."""

import re
import sys
from functools import cache
from itertools import combinations, pairwise
from pathlib import Path
from types import ModuleType

import pytest
from playing import parsed, play

from harness.errors import SuiteError
from harness.records.base import readable_json
from harness.records.handwritten import read_toml
from harness.records.score import RowScore, total_of
from harness.stages.forms import make_form, make_sets, prompt_of, second_answers, task_module
from harness.suite.definition import TaskDefinition
from harness.suite.forms import Form, Reply, Sets
from harness.suite.loader import read_form
from harness.suite.sets import common_sets, merged, read_sets

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "suite" / "core" / "a04_original_reasoning"
FORM, ORACLE = task_module(FOLDER, "form"), task_module(FOLDER, "oracle")
OPEN = read_form(FOLDER / "open.json")
OPEN_PROMPT = prompt_of(FOLDER, OPEN)
FAMILIES = ("seating", "units", "operation", "route", "packing", "counting")
KEYS = tuple(f"{family}.{level}" for family in FAMILIES for level in (1, 2, 3))
FEW_SEEDS = ("open", "another", "a third")
TWENTY_SEEDS = tuple(f"seed-{number}" for number in range(20))


@cache
def form_of(seed: str) -> Form:
    return make_form(FOLDER, seed)


def all_sets(form: Form) -> Sets:
    own = make_sets(FOLDER, form)
    return merged(common_sets(prompt_of(FOLDER, form), own.golden[0]), own)


def points(rows: tuple[RowScore, ...]) -> dict[str, float]:
    return {row.id: row.points for row in rows if row.points}


def reason(form: Form, key: str, value: str) -> tuple[float, str]:
    """Credit and reason of one answer line, alone in its reply."""
    rows = play(FOLDER, form, Reply(f"{key} = {value}\n"))
    found = [o for row in rows for o in row.observations if o.key == key]
    assert len(found) == 1
    return found[0].credit, found[0].reason


def changed_source(module: str, old: str, new: str) -> ModuleType:
    """One of the task's own files with one place of its text changed."""
    source = (FOLDER / f"{module}.py").read_text(encoding="utf-8")
    assert source.count(old) == 1
    path = FOLDER / f"{module}.py"
    made = ModuleType("changed")
    # dataclasses look their module up by name while the class is made
    sys.modules["changed"] = made
    try:
        exec(compile(source.replace(old, new), str(path), "exec"), made.__dict__)
    finally:
        del sys.modules["changed"]
    return made


def first_answers(module: ModuleType, values: dict) -> dict[str, str]:
    """The answers of the first method for puzzles that exist already."""
    found = {}
    for level in (1, 2, 3):
        seating, units, operation, route, packing, counting = (
            values[family][level - 1] for family in FAMILIES
        )
        legal = [(path, legs) for path, legs in module.routes(route) if module.is_legal(legs)]
        found |= {
            f"seating.{level}": " ".join(module.seatings(seating)),
            f"units.{level}": module.carried(
                module.total_in_small_units(units),
                units["middle_per_large"],
                units["small_per_middle"],
            ),
            f"operation.{level}": module.operation_value(
                operation, module.operations(operation)["right"]
            ),
            f"route.{level}": " ".join(module.cheapest(legal)),
            f"packing.{level}": " ".join(module.best_choices(packing, ("weight", "volume"))[1]),
            f"counting.{level}": str(module.count_words(counting)),
        }
    return {key: found[key] for key in KEYS}


# --- tiny puzzles, solved by hand ------------------------------------------------------------


def clue(kind: str, a: str, b: str, k: int = 0) -> dict:
    return {"kind": kind, "a": a, "b": b, "k": k}


def road(ends: str, price: int, *, red: bool = False) -> dict:
    return {"ends": list(ends), "price": price, "red": red}


def thing(name: str, weight: int, volume: int, worth: int) -> dict:
    return {"name": name, "weight": weight, "volume": volume, "worth": worth}


TINY_OPERATION = {"m": 11, "u": 2, "v": 3, "w": 1}
TINY_ROADS = [road("BC", 1), road("CD", 1), road("DF", 4), road("CF", 6), road("BF", 9)]
TINY = {
    "seating": [
        # C is in the middle, B before C.
        {"people": ["B", "C", "D"], "clues": [clue("inner", "C", "C"), clue("left", "B", "C")]},
        # B and D at the ends, C between them and right of D.
        {
            "people": ["B", "C", "D"],
            "clues": [clue("between", "B", "D", 1), clue("directly_left", "D", "C")],
        },
        # B or C is in the middle, since their seats differ in parity; so is B or D. So B is.
        {
            "people": ["B", "C", "D"],
            "clues": [
                clue("odd_sum", "B", "C"),
                clue("one_end", "B", "D"),
                clue("left", "C", "D"),
            ],
        },
    ],
    "units": [
        # 2-3-4 + 1-4-5 = 3-7-9; 9 = 6 + 3, 8 = 5 + 3.
        {
            "middle_per_large": 5,
            "small_per_middle": 6,
            "factor": 1,
            "first": [2, 3, 4],
            "terms": [{"sign": "plus", "amount": [1, 4, 5]}],
        },
        # 6-9-12 less 1-4-5 = 5-5-7; 7 = 6 + 1, 6 = 5 + 1.
        {
            "middle_per_large": 5,
            "small_per_middle": 6,
            "factor": 3,
            "first": [2, 3, 4],
            "terms": [{"sign": "minus", "amount": [1, 4, 5]}],
        },
        # 9-3-3 less 1-4-5 = 8-(-1)-(-2); borrow one middle: 8-(-2)-4; borrow one large: 7-3-4.
        {
            "middle_per_large": 5,
            "small_per_middle": 6,
            "factor": 3,
            "first": [3, 1, 1],
            "terms": [{"sign": "minus", "amount": [1, 4, 5]}],
        },
    ],
    "operation": [
        # The inner value is 8, from 19. Then 8 # 3 is 9, from 20, and 3 # 8 is 5, from 27.
        TINY_OPERATION | {"kind": "nested", "a": 7, "b": 4, "c": 3},
        # y = 3: 2 # 3 = 0, 3 # 0 = 7. y = 1: 7 # 1 = 5, 1 # 5 = 5. y = 4: 5 # 4 = 4, 4 # 4 = 2.
        # y = 6: 2 # 6 = 9, 6 # 9 = 0. y = 0: 0 # 0 = 1, 0 # 1 = 3.
        TINY_OPERATION | {"kind": "chain", "start": 2, "ys": [3, 1, 4, 6, 0]},
        # m = 3: x = 0 gives 2 # 1 = 0, x = 1 gives 1 # 2 = 2, x = 2 gives 0 # 1 = 2; so x = 0,
        # and (0 # 0) # 1 = 1 # 1 = 1.
        {"m": 3, "u": 2, "v": 2, "w": 1, "kind": "solve", "a": 1, "b": 0, "c": 0},
    ],
    "route": [
        # BF 9; BCF 1 + 6 = 7; BCDF 1 + 1 + 2 × 4 = 10 (6 if nothing were doubled).
        {"start": "B", "goal": "F", "roads": TINY_ROADS},
        # The red legs BC, CF must not follow each other: BF 9 is left, and BCDF 1 + 1 + 2 × 5.
        {
            "start": "B",
            "goal": "F",
            "roads": [
                road("BC", 1, red=True),
                road("CD", 1),
                road("DF", 5),
                road("CF", 6, red=True),
                road("BF", 9),
            ],
        },
        # The same roads the other way: FDCB 4 + 1 + 2 × 1 = 7, FCB 7 + 1 = 8, FB 9.
        {
            "start": "F",
            "goal": "B",
            "roads": [road("BC", 1), road("CD", 1), road("DF", 4), road("CF", 7), road("BF", 9)],
        },
    ],
    "packing": [
        # Two of C, D, F fill the limits; D and F are worth most. Greedy takes B and F: 24.
        {
            "weight_limit": 6,
            "volume_limit": 6,
            "things": [
                thing("B", 2, 2, 10),
                thing("C", 3, 3, 12),
                thing("D", 3, 3, 13),
                thing("F", 3, 3, 14),
            ],
        },
        # Everything weighs too much by one; without D the volume is too large as well.
        {
            "weight_limit": 8,
            "volume_limit": 7,
            "things": [thing("B", 2, 5, 20), thing("C", 3, 3, 19), thing("D", 4, 1, 15)],
        },
        # Only B alone fits the weight, only C alone the volume, only D both.
        {
            "weight_limit": 3,
            "volume_limit": 3,
            "things": [thing("B", 3, 4, 30), thing("C", 4, 3, 30), thing("D", 3, 3, 5)],
        },
    ],
    "counting": [
        # Only CBC: BCB holds two B.
        {
            "length": 3,
            "letters": ["B", "C"],
            "pairs": [["B", "B"], ["C", "C"]],
            "limited": "B",
            "limit": 1,
            "not_last": "B",
        },
        # CCB, CDB, DCB; CCC, DCC; BDC, CDC.
        {
            "length": 3,
            "letters": ["B", "C", "D"],
            "pairs": [["B", "C"], ["D", "D"]],
            "limited": "B",
            "limit": 1,
            "not_last": "D",
        },
        # Ending in B: BBB, DBB, BDB, CDB, DDB; as many in C, with B and C exchanged.
        {
            "length": 3,
            "letters": ["B", "C", "D"],
            "pairs": [["B", "C"], ["C", "B"]],
            "limited": "D",
            "limit": 2,
            "not_last": "D",
        },
    ],
}
TINY_ANSWERS = {
    "seating.1": "BCD",
    "seating.2": "DCB",
    "seating.3": "CBD",
    "units.1": "4-3-3",
    "units.2": "6-1-1",
    "units.3": "7-3-4",
    "operation.1": "9-5",
    "operation.2": "2-3",
    "operation.3": "0-1",
    "route.1": "BCF",
    "route.2": "BF",
    "route.3": "FDCB",
    "packing.1": "DF",
    "packing.2": "BD",
    "packing.3": "D",
    "counting.1": "1",
    "counting.2": "7",
    "counting.3": "10",
}
TINY_FORM = Form(task="A04", family=1, seed="by hand", values=TINY, keys=KEYS, answers=TINY_ANSWERS)


def test_both_methods_give_the_answers_worked_by_hand() -> None:
    """Puzzles small enough to be solved on paper have the answers of the paper."""
    assert first_answers(FORM, TINY) == TINY_ANSWERS
    assert ORACLE.answers(prompt_of(FOLDER, TINY_FORM)) == TINY_ANSWERS


# --- two methods -----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", FEW_SEEDS)
def test_methods_agree(seed: str) -> None:
    """The answers of the generator and those read from its prompt are the same."""
    form = form_of(seed)
    assert second_answers(FOLDER, prompt_of(FOLDER, form)) == form.answers
    assert form.keys == KEYS


@pytest.mark.parametrize(
    ("key", "old", "new"),
    [
        ("seating.1", "P sits directly left of G", "G sits directly left of P"),
        ("seating.2", "Exactly 3 people", "Exactly 2 people"),
        ("seating.3", "B sits somewhere left of L", "L sits somewhere left of B"),
        ("units.1", "(3-1-7)", "(3-1-6)"),
        ("units.2", "4 times", "5 times"),
        ("units.3", "1 large = 12 middle", "1 large = 13 middle"),
        ("operation.1", "(10 # 5) # 2 and", "(10 # 6) # 2 and"),
        ("operation.2", "x = 0. For y = 10, 3", "x = 0. For y = 10, 4"),
        ("operation.3", "(12 # x) = 8", "(12 # x) = 9"),
        ("route.1", "CW 11 red", "CW 31 red"),
        ("route.2", "DV 8 red", "DV 8"),
        ("route.3", "MR 10 red", "MR 40 red"),
        ("packing.1", "Weight limit 11", "Weight limit 8"),
        ("packing.2", "W 4 7 31", "W 4 7 1"),
        ("packing.3", "V 8 10 28", "V 8 11 28"),
        ("counting.1", "J occurs at most once", "J occurs at most twice"),
        ("counting.2", "Length 5", "Length 4"),
        ("counting.3", "JG and LL", "JG and JJ"),
    ],
)
def test_second_method_reads_the_prompt(key: str, old: str, new: str) -> None:
    """One changed word of the prompt changes the answer of its puzzle and of no other."""
    assert OPEN_PROMPT.count(old) == 1
    second = ORACLE.answers(OPEN_PROMPT.replace(old, new))
    assert {k for k in KEYS if second[k] != OPEN.answers[k]} == {key}


def test_second_method_refuses_other_rules() -> None:
    """A prompt whose rules are not those that the second method builds in is not solved."""
    with pytest.raises(ValueError, match="does not say"):
        ORACLE.answers(OPEN_PROMPT.replace("Every third leg (3, 6, ...)", "Every second leg"))


@pytest.mark.parametrize(
    ("family", "old", "new"),
    [
        ("seating", '"left": a < b', '"left": a > b'),
        ("units", "total // low % mid", "total // mid % low"),
        ("operation", "(a + v * b) % m", "(a + v * b + 1) % m"),
        ("route", "n % 3 == 0", "n % 3 == 2"),
        ("packing", "worth > best:", "worth < best:"),
        ("counting", 'word.count(puzzle["limited"]) <= limit', "True"),
    ],
)
def test_an_error_in_the_first_method_is_noticed(family: str, old: str, new: str) -> None:
    """A slip in one family of the generator makes the methods disagree there and only there."""
    first = first_answers(changed_source("form", old, new), OPEN.values)
    assert {key.split(".")[0] for key in KEYS if first[key] != OPEN.answers[key]} == {family}


@pytest.mark.parametrize(
    ("family", "old", "new"),
    [
        ("seating", "s[0] < s[1]", "s[0] > s[1]"),
        ("units", "columns[place - 1] += 1", "columns[place - 1] += 0"),
        ("operation", "if b <= a else", "if b < a - 3 else"),
        ("route", "(phase == 2)", "(phase == 1)"),
        ("packing", "range(volume, volume_limit + 1)", "range(volume, volume_limit)"),
        ("counting", "last + name not in pairs", "name + last not in pairs"),
    ],
)
def test_an_error_in_the_second_method_is_noticed(family: str, old: str, new: str) -> None:
    """A slip in one family of the second method makes the methods disagree there and only there."""
    second = changed_source("oracle", old, new).answers(OPEN_PROMPT)
    assert {key.split(".")[0] for key in KEYS if second[key] != OPEN.answers[key]} == {family}


# --- bands -----------------------------------------------------------------------------------


def assert_in_bands(form: Form) -> None:
    """Check the bands of the specification, as far as possible without the generator."""
    prompt, structure = prompt_of(FOLDER, form), form.structure
    assert second_answers(FOLDER, prompt) == form.answers
    # 2.72 characters per token is the least that was measured (61 forms, digits one by one).
    assert len(prompt) / 2.71 <= 2000
    for level, clues in ((1, 3), (2, 4), (3, 5)):
        assert len(form.values["seating"][level - 1]["clues"]) == clues
        assert_every_clue_is_needed(prompt, f"seating.{level}")
        assert structure[f"route.{level}.legal_routes"] >= 8
        assert structure[f"packing.{level}.best"] - structure[f"packing.{level}.greedy"] >= 3
        assert 12 <= int(form.answers[f"counting.{level}"]) <= 2500
    assert int(form.answers["operation.3"].split("-")[0]) > 2
    assert len(set(form.answers.values())) == len(KEYS)
    for key in KEYS:
        assert form.answers[key] not in {"", "0", *form.traps[key].values()}
    rows = {defective.name: defective.rows for defective in make_sets(FOLDER, form).defective}
    assert rows["zeros"] == rows["greedy"] == {}


def assert_every_clue_is_needed(prompt: str, key: str) -> None:
    """Leave each clue out in turn; the second method must then find several orders."""
    line = re.search(rf"^Puzzle {key}\. .*$", prompt, re.MULTILINE)
    assert line is not None
    head, _, clues = line[0].rstrip(".").partition("Clues: ")
    sentences = clues.split(". ")
    for left_out in sentences:
        rest = ". ".join(sentence for sentence in sentences if sentence != left_out)
        second = ORACLE.answers(prompt.replace(line[0], f"{head}Clues: {rest}."))
        assert "solutions" in second[key]
        assert not second[key].startswith("0 ")


def assert_special_rules_matter(form: Form) -> None:
    """Without the special rules another route is strictly cheaper than the answer."""
    for level in (1, 2, 3):
        roads = {frozenset(r["ends"]): r["price"] for r in form.values["route"][level - 1]["roads"]}
        known, plain = (
            sum(roads[frozenset(ends)] for ends in pairwise(route))
            for route in (
                form.answers[f"route.{level}"],
                form.traps[f"route.{level}"]["forgot both special rules"],
            )
        )
        assert plain < known


@pytest.mark.parametrize("seed", FEW_SEEDS)
def test_bands_hold(seed: str) -> None:
    """Every form lies in the bands of the specification, and lazy answers are wrong in it."""
    form = form_of(seed)
    assert_in_bands(form)
    assert_special_rules_matter(form)


@pytest.mark.slow
def test_twenty_forms_are_sound_and_different() -> None:
    """Twenty forms pass every band and score as declared; no two share more than a tenth."""
    forms = [form_of(seed) for seed in TWENTY_SEEDS]
    for form in forms:
        assert_in_bands(form)
        assert_special_rules_matter(form)
        assert_sets_score_as_declared(form)
    for one, other in combinations(forms, 2):
        shared = [key for key in KEYS if one.answers[key] == other.answers[key]]
        assert len(shared) <= len(KEYS) / 10


# --- sets ------------------------------------------------------------------------------------


def assert_sets_score_as_declared(form: Form) -> None:
    sets = all_sets(form)
    for golden in sets.golden:
        rows = play(FOLDER, form, golden.reply)
        assert points(rows) == dict.fromkeys(FAMILIES, 3.0), golden.name
    for defective in sets.defective:
        rows = play(FOLDER, form, defective.reply)
        assert points(rows) == pytest.approx(defective.rows), defective.name
        assert parsed(FOLDER, form, defective.reply).cause == defective.cause, defective.name
    for exploit in sets.exploits:
        rows = play(FOLDER, form, exploit.reply)
        assert total_of(rows) <= exploit.ceiling, exploit.name


@pytest.mark.parametrize("seed", FEW_SEEDS)
def test_sets_score_as_declared(seed: str) -> None:
    """Goldens reach the maximum, defectives exactly their rows, exploits stay at their ceiling."""
    assert_sets_score_as_declared(form_of(seed))


def test_ladder_has_the_totals_of_the_specification() -> None:
    """The ladder stands where the specification puts it."""
    totals = {d.name: sum(d.rows.values()) for d in all_sets(OPEN).defective}
    assert totals == pytest.approx(
        {
            "empty": 0,
            "refusal": 0,
            "echo": 0,
            "think_only": 0,
            "zeros": 0,
            "lazy": 3.6,
            "typical_3b": 3.45,
            "greedy": 0,
            "near_miss": 15.3,
            "patchwork": 9.0,  # not in the specification: weights of the levels, added by hand
            **{f"slip_{number}": 0 for number in range(1, 6)},
        }
    )
    ceilings = {e.name: e.ceiling for e in all_sets(OPEN).exploits}
    assert ceilings == {"verdict": 0, "everything": 0.6, "first_rule_only": 0, "expression": 0}


def test_everything_holds_every_right_value_forty_lines_per_key() -> None:
    """The exploit that writes every candidate does write the right one, and loses it."""
    (everything,) = (e for e in make_sets(FOLDER, OPEN).exploits if e.name == "everything")
    lines = everything.reply.text.splitlines()
    for key in KEYS:
        assert sum(line.startswith(f"{key} = ") for line in lines) == 40
        assert f"{key} = {OPEN.answers[key]}" in lines
    assert "two-finals" in parsed(FOLDER, OPEN, everything.reply).flags


def test_frozen_files_are_those_of_the_open_form() -> None:
    """What lies in the folder is what the generator and the policy make today."""
    assert (FOLDER / "open.json").read_bytes() == readable_json(form_of("open"))
    frozen, made = read_sets(FOLDER), make_sets(FOLDER, OPEN)
    for kind in ("golden", "defective", "exploits"):
        assert {m.name: m.reply for m in getattr(frozen, kind)} == {
            m.name: m.reply for m in getattr(made, kind)
        }
    by_hand = {d.name: (d.rows, d.cause, d.shows) for d in frozen.defective}
    for defective in made.defective:
        rows, cause, shows = by_hand[defective.name]
        assert rows == pytest.approx(defective.rows)
        assert (cause, shows) == (defective.cause, defective.shows)
    assert {(e.name, e.ceiling, e.trick) for e in frozen.exploits} == {
        (e.name, e.ceiling, e.trick) for e in made.exploits
    }


def test_points_and_observations_are_those_of_the_specification() -> None:
    """Six rows of three points with three observations each, weighted .20, .35, .45."""
    definition = read_toml(FOLDER / "task.toml", TaskDefinition, SuiteError)
    assert [(r.id, r.points, r.observations) for r in definition.rows] == [
        (family, 3.0, 3) for family in FAMILIES
    ]
    for row in play(FOLDER, OPEN, Reply("")):
        assert [o.weight for o in row.observations] == [0.20, 0.35, 0.45]
        assert [o.reason for o in row.observations] == ["no line"] * 3


# --- what the grader says --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "value", "credit", "says"),
    [
        ("seating.1", "B D C", 0, "wrote BDC, which breaks clue 1"),
        ("seating.1", "DCB", 0, "wrote DCB, which breaks clue 2"),
        ("seating.1", "BC", 0, "not each of the people once"),
        ("seating.1", "BCDD", 0, "not each of the people once"),
        ("seating.1", "b, c, d", 1, "right"),
        ("units.1", "3-7-9", 0, "the same amount as 4-3-3 but not fully carried"),
        ("units.1", "0-0-141", 0, "the same amount as 4-3-3 but not fully carried"),
        ("units.1", "4-3", 0, "right is 4-3-3"),
        ("units.1", "4,3,3", 1, "right"),
        ("operation.1", "5-9", 0, "wrote 5-9, right is 9-5"),
        ("operation.1", "9", 0, "wrote 9, right is 9-5"),
        ("route.1", "BF", 0, "which costs 9; BCF costs 7"),
        ("route.1", "CF", 0, "does not lead from B to F"),
        ("route.1", "BCBCF", 0, "visits a place twice"),
        ("route.1", "BDF", 0, "there is no road BD"),
        ("route.1", "BQF", 0, "there is no road BQ"),
        ("route.2", "BCF", 0, "whose legs 1 and 2 are both red"),
        ("route.1", "B -> C -> F", 1, "right"),
        ("packing.1", "CF", 2 / 3, "of worth 26; greedy gives 24, the best 27"),
        ("packing.1", "DC", 1 / 3, "of worth 25; greedy gives 24, the best 27"),
        ("packing.1", "BF", 0, "of worth 24; greedy gives 24, the best 27"),
        ("packing.1", "B", 0, "of worth 10; greedy gives 24, the best 27"),
        ("packing.1", "BDF", 0, "of weight 8; the limit is 6"),
        ("packing.2", "BC", 0, "of volume 8; the limit is 7"),
        ("packing.1", "DX", 0, "there is no thing X"),
        ("packing.1", "DDF", 0, "a letter stands twice"),
        ("packing.1", "{}", 0, "not a word"),
        ("packing.1", "F, D", 1, "right"),
        ("counting.2", "8", 0, "wrote 8, right is 7"),
        ("counting.2", "7.0", 0, "not a whole number"),
        ("counting.2", "seven", 0, "not a whole number"),
        ("counting.2", "7", 1, "right"),
    ],
)
def test_reason_names_what_is_wrong(key: str, value: str, credit: float, says: str) -> None:
    """Each verdict says what was written and which rule it breaks or how far it is off."""
    found, told = reason(TINY_FORM, key, value)
    assert found == pytest.approx(credit)
    assert says in told


def test_a_route_that_is_not_the_known_one_counts_if_it_costs_the_same() -> None:
    """Routes are checked, not compared: B-G-F costs 3 + 4 = 7, as the known B-C-F."""
    more = [*TINY_ROADS, road("BG", 3), road("GF", 4)]
    puzzle = {"start": "B", "goal": "F", "roads": more}
    form = TINY_FORM.model_copy(update={"values": TINY | {"route": [puzzle] * 3}})
    assert reason(form, "route.1", "BGF") == (1.0, "right")


def test_a_choice_that_is_not_the_known_one_counts_if_it_is_worth_the_same() -> None:
    """Choices are checked, not compared: C and F are worth 27 here, as the known D and F."""
    things = [thing("B", 2, 2, 10), thing("C", 3, 3, 13), thing("D", 3, 3, 13)]
    puzzle = {"weight_limit": 6, "volume_limit": 6, "things": [*things, thing("F", 3, 3, 14)]}
    form = TINY_FORM.model_copy(update={"values": TINY | {"packing": [puzzle] * 3}})
    assert reason(form, "packing.1", "CF") == (1.0, "right")


def test_an_order_that_is_not_the_known_one_counts_if_it_satisfies_all_clues() -> None:
    """Orders are checked, not compared: with one clue left, C-B-D is as good as B-C-D."""
    puzzle = {"people": ["B", "C", "D"], "clues": [clue("left", "B", "D")]}
    form = TINY_FORM.model_copy(update={"values": TINY | {"seating": [puzzle] * 3}})
    assert reason(form, "seating.1", "CBD") == (1.0, "right")


def test_known_errors_are_named() -> None:
    """An answer that a known error leads to is told by the name of that error."""
    for key in KEYS:
        for value in OPEN.traps[key].values():
            names = [name for name, answer in OPEN.traps[key].items() if answer == value]
            credit, told = reason(OPEN, key, value)
            assert credit < 1
            assert told.endswith(tuple(f"({name})" for name in names))
    assert reason(OPEN, "route.1", "WCTN")[1].endswith("(forgot the doubled leg)")
    assert reason(OPEN, "packing.1", "W")[1].endswith("(greedy)")
