"""A11: which of eight mutants a delivered test suite finds, and how many of its tests are right."""

import io
import sys
import types
import unittest
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
from playing import graded, parsed

from harness.errors import SuiteError
from harness.records.handwritten import read_toml
from harness.records.score import RowScore
from harness.stages.forms import make_form, make_sets, prompt_of, second_answers, task_module
from harness.suite.definition import TaskDefinition
from harness.suite.forms import OPEN, Form, Reply, Sets, generator
from harness.suite.loader import OPEN_FORM_FILE, read_form
from harness.suite.sets import common_sets, read_sets

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "suite/core/a11_mutation_suite"
DEFINITION = read_toml(FOLDER / "task.toml", TaskDefinition, SuiteError)
SEEDS = (OPEN, "red", "green", "blue")
MANY = tuple(f"seed-{n}" for n in range(20))
ROUNDING = 2e-6  # a row is rounded to six decimals on either side
SLOTS = {"P1", "P2", "P3", "S1", "S2", "S3", "S4", "S5"}
# Shares of random invoices that each mutant of the published proof module changes.
PUBLISHED = {
    "P1": 0.936,
    "P2": 0.936,
    "P3": 0.905,
    "S1": 0.056,
    "S2": 0.284,
    "S3": 0.267,
    "S4": 0.643,
    "S5": 0.511,
}
PROOF = {
    "per": 24,
    "base": 900,
    "free": 2,
    "bulk": 12,
    "bulk_percent": 15,
    "extra": 250,
    "step": 100,
    "percent_cap": 10,
    "late_cap": 6,
    "late_min": 500,
    "late_part": 50,
    "tax": 21,
}


def slowly(*names: str) -> list:
    """Members of a kind that is played among the fast tests too; `arnes validate` plays all."""
    return [pytest.param(name, marks=pytest.mark.slow) for name in names]


@pytest.fixture(scope="module")
def form() -> Form:
    return make_form(FOLDER, OPEN)


@pytest.fixture(scope="module")
def sets(form: Form) -> Sets:
    return make_sets(FOLDER, form)


_ROWS: dict[tuple[str, Reply], dict[str, RowScore]] = {}  # a reply costs a second to grade


def rows_of(form: Form, reply: Reply) -> dict[str, RowScore]:
    if (form.seed, reply) not in _ROWS:
        _ROWS[form.seed, reply] = {row.id: row for row in graded(FOLDER, form, reply).rows}
    return _ROWS[form.seed, reply]


def points_of(form: Form, reply: Reply) -> dict[str, float]:
    return {name: row.points for name, row in rows_of(form, reply).items() if row.points}


def named(sets: Sets, name: str) -> Reply:
    return next(golden.reply for golden in sets.golden if golden.name == name)


def delivered(text: str) -> Reply:
    return Reply(f"### FILE: test_charges.py\n```python\n{text}```\n")


def suite(form: Form, *methods: str) -> Reply:
    """Return a suite with one method per text, over the open form's functions."""
    body = "".join(f"    def test_{n}(self):\n        {m}\n" for n, m in enumerate(methods))
    names = ", ".join(form.values["functions"])
    return delivered(
        f"import unittest\nfrom charges import {names}\n\nclass T(unittest.TestCase):\n{body}"
    )


# ---------------------------------------------------------------- a second grader, without walls


def by_unittest(form: Form, reply: Reply) -> tuple[set[str], set[str], set[str]]:
    """Run a suite of ours in this process: all tests, those that are valid, found mutants."""
    values = form.values
    text = parsed(FOLDER, form, reply).files["test_charges.py"]
    texts = {"original": values["original"], **values["equal"], **values["mutants"]}
    failed = {name: failing(text, source, values) for name, source in texts.items()}
    tests = failed["original"][0]
    correct = {"original", *values["equal"]}
    valid = {t for t in tests if not any(t in failed[name][1] for name in correct)}
    return tests, valid, {m for m in values["mutants"] if valid & failed[m][1]}


def failing(text: str, source: str, values: dict) -> tuple[set[str], set[str]]:
    """Return the tests of a text of ours, and those that fail against one module of ours."""
    whole: dict = {}
    exec(source, whole)
    module = types.ModuleType("charges")
    for name in values["functions"]:
        setattr(module, name, whole[name])
    before = sys.modules.get("charges")
    sys.modules["charges"] = module
    try:
        scope: dict = {"__name__": "test_charges"}
        exec(text.replace("\nunittest.main()\n", "\n"), scope)
    finally:
        del sys.modules["charges"]
        if before is not None:
            sys.modules["charges"] = before
    classes = [
        c for c in scope.values() if isinstance(c, type) and issubclass(c, unittest.TestCase)
    ]
    tests = [t for c in classes for t in unittest.defaultTestLoader.loadTestsFromTestCase(c)]
    result = unittest.TextTestRunner(stream=io.StringIO()).run(unittest.TestSuite(tests))
    bad = [getattr(t, "test_case", t).id() for t, _ in [*result.failures, *result.errors]]
    return {test.id() for test in tests}, set(bad)


def points_by_unittest(form: Form, reply: Reply) -> float:
    """Return the points of a suite that compiles, uses the module and keeps the rules."""
    tests, valid, found = by_unittest(form, reply)
    plain = sum(name.startswith("P") for name in found)
    share = len(valid) / len(tests) * len(found) / 8
    return 2 + 2 * share + plain + 2.2 * (len(found) - plain)


# ---------------------------------------------------------------- the form and its two methods


def test_definition_has_the_rows_and_observations_of_the_specification() -> None:
    """Five rows, twenty sub-observations, 18 points."""
    assert {r.id: (r.points, r.observations) for r in DEFINITION.rows} == {
        "files_present": (1, 1),
        "syntax_valid": (1, 1),
        "valid_suite": (2, 10),
        "plain_mutants": (3, 3),
        "subtle_mutants": (11, 5),
    }
    assert DEFINITION.observations == 20
    assert DEFINITION.executes


@pytest.mark.parametrize("seed", SEEDS)
def test_both_methods_find_the_same_amounts(seed: str) -> None:
    """Running the module and keeping tables from the prompt give the same invoices."""
    form = make_form(FOLDER, seed)

    assert second_answers(FOLDER, prompt_of(FOLDER, form)) == form.answers


@pytest.mark.slow
def test_twenty_forms_lie_in_their_bands_and_differ() -> None:
    """Both methods agree, and no two forms share more than a tenth of their answers."""
    forms = [make_form(FOLDER, seed) for seed in (OPEN, *MANY)]
    for form in forms:
        assert second_answers(FOLDER, prompt_of(FOLDER, form)) == form.answers
    for number, one in enumerate(forms):
        for other in forms[number + 1 :]:
            same = sum(one.answers[key] == other.answers[key] for key in one.answers)
            assert same <= len(one.answers) / 10


def test_second_method_reads_each_number_of_the_prompt(form: Form) -> None:
    """A change of any constant, rate or period in the text changes its answers."""
    prompt, values = prompt_of(FOLDER, form), form.values
    numbers, names = values["numbers"], values["names"]
    changes = {
        f"{names['BASE']} = {numbers['base']}": f"{names['BASE']} = {numbers['base'] + 7}",
        f"{names['FREE']} = {numbers['free']}": f"{names['FREE']} = {numbers['free'] + 1}",
        f"{names['BULK']} = {numbers['bulk']}": f"{names['BULK']} = {numbers['bulk'] + 1}",
        f"{names['EXTRA']} = {numbers['extra']}": f"{names['EXTRA']} = {numbers['extra'] + 3}",
        f"POINTS_STEP = {numbers['step']}": f"POINTS_STEP = {numbers['step'] + 60}",
        f"MAX_PERCENT = {numbers['percent_cap']}": f"MAX_PERCENT = {numbers['percent_cap'] - 1}",
        f"MAX_LATE = {numbers['late_cap']}": f"MAX_LATE = {numbers['late_cap'] + 1}",
        f"LATE_MIN = {numbers['late_min']}": f"LATE_MIN = {numbers['late_min'] + 1}",
        f"// {numbers['per']})": f"// {numbers['per'] // 2})",
        f"* {numbers['bulk_percent']} // 100": f"* {numbers['bulk_percent'] + 1} // 100",
        f"net // {numbers['late_part']}": f"net // {numbers['late_part'] - 1}",
        f"* {numbers['tax']} + 50": f"* {numbers['tax'] + 1} + 50",
    }
    for old, new in changes.items():
        assert prompt.count(old) == 1, old
        assert second_answers(FOLDER, prompt.replace(old, new)) != form.answers, old


@pytest.mark.parametrize("slot", sorted(SLOTS))
def test_a_changed_module_is_noticed_by_the_second_method(form: Form, slot: str) -> None:
    """If the text shown were a mutant, method 1 would give it other amounts than the tables do."""
    module = task_module(FOLDER, "form")
    bill = module.bill_of(form.values["mutants"][slot], form.values["names"]["bill"])
    tables = task_module(FOLDER, "policy").Tables(form.values["numbers"])
    invoices = [([tuple(u) for u in lines], p, w) for lines, p, w in form.values["probes"]]

    assert any(bill(*invoice) != tables.bill(*invoice) for invoice in invoices)


@pytest.mark.parametrize("seed", SEEDS[:3])
def test_three_ways_to_reckon_agree_on_random_invoices(seed: str) -> None:
    """The module's text, the tables of the goldens and all equal copies give the same amounts."""
    form, module = make_form(FOLDER, seed), task_module(FOLDER, "form")
    values = form.values
    tables = task_module(FOLDER, "policy").Tables(values["numbers"])
    texts = [values["original"], *values["equal"].values()]
    bills = [module.bill_of(text, values["names"]["bill"]) for text in texts]
    rng = generator("A11", 1, f"test/{seed}")
    for _ in range(300):
        invoice = module.random_invoice(values["numbers"], rng)
        assert len({str(bill(*invoice)) for bill in bills} | {str(tables.bill(*invoice))}) == 1


def test_slots_lie_in_their_bands_and_controls_are_equal(form: Form) -> None:
    """Every mutant shows often enough, no subtle one too often, and no equal copy ever."""
    assert set(form.values["mutants"]) == SLOTS
    assert len(form.values["equal"]) >= 6
    assert len({*form.values["mutants"].values(), *form.values["equal"].values()}) == 14
    for slot in SLOTS:
        assert 0.02 <= form.structure[f"share.{slot}"] <= (0.70 if slot[0] == "S" else 1)
    assert all(form.structure[f"share.{name}"] == 0 for name in form.values["equal"])


@pytest.mark.slow
@pytest.mark.parametrize("numbers", ["proof", "open"])
def test_shares_on_twenty_thousand_invoices(form: Form, numbers: str) -> None:
    """With the published constants the published shares come out; the open form's lie in bands."""
    module = task_module(FOLDER, "form")
    drawn = PROOF if numbers == "proof" else form.values["numbers"]
    names, size = form.values["names"], 20_000
    parts = module._parts(names, drawn)
    changes = module._mutations(parts, drawn, generator("A11", 1, "places"))
    if numbers == "proof":  # the places that were published
        changes["P1"], changes["P2"] = {"base": "950"}, {"free": "3"}
        changes["S2"], changes["S3"] = {"off": "amount * percent // 100"}, {"late_cap": "7"}
        texts = {slot: module.FRAME.format_map(parts | change) for slot, change in changes.items()}
    else:
        texts = form.values["mutants"]
    original = module.bill_of(module.FRAME.format_map(parts), names["bill"])
    rng = generator("A11", 1, "shares")
    sample = [module.random_invoice(drawn, rng) for _ in range(size)]
    for slot, text in texts.items():
        bill = module.bill_of(text, names["bill"])
        share = sum(bill(*invoice) != original(*invoice) for invoice in sample) / size
        assert 0.02 <= share <= (0.70 if slot[0] == "S" else 1)
        if numbers == "proof":
            # Four standard errors of a share of 20,000 are .014 at most; the published sample
            # was another one of the same size and the same ranges.
            assert share == pytest.approx(PUBLISHED[slot], abs=0.02)


def test_frozen_files_are_what_is_made_for_the_open_form(form: Form, sets: Sets) -> None:
    """The files of the folder are the open form's, reply by reply, and their points agree."""
    assert read_form(FOLDER / OPEN_FORM_FILE) == form
    frozen = read_sets(FOLDER)
    for kind in ("golden", "defective", "exploits"):
        made = {member.name: member for member in getattr(sets, kind)}
        kept = {member.name: member for member in getattr(frozen, kind)}
        assert {n: m.reply for n, m in kept.items()} == {n: m.reply for n, m in made.items()}
        for name, member in kept.items():
            if kind == "defective":
                assert member.rows == pytest.approx(made[name].rows, abs=ROUNDING)
            if kind == "exploits":
                assert (member.ceiling, member.trick) == (made[name].ceiling, made[name].trick)


# ---------------------------------------------------------------- sets, behind the walls


@pytest.mark.parametrize("name", ["asserts", *slowly("subtests", "tilde", "lookups")])
def test_each_golden_reaches_the_maximum(form: Form, sets: Sets, name: str) -> None:
    """Methods with subTest, bare asserts, classes with helpers, and look-ups that fail."""
    assert points_of(form, named(sets, name)) == {r.id: r.points for r in DEFINITION.rows}


@pytest.mark.parametrize(
    "name",
    [
        *("no_tests", "happy_path", "one_wrong", "same_name", "missing_import"),
        *slowly("trivial", "typical_3b", "near_miss", "cut_short"),
    ],
)
def test_each_defective_has_exactly_its_rows(form: Form, name: str) -> None:
    """The hand-written points of the frozen ladder are what the grader gives."""
    member = next(d for d in read_sets(FOLDER).defective if d.name == name)

    assert points_of(form, member.reply) == pytest.approx(member.rows, abs=ROUNDING)


@pytest.mark.parametrize(
    "name",
    [
        *("source_hash", "exit_at_import", "embedded_reference", "expected_failure"),
        *slowly("coin", "borrowed_reference", "shared_arithmetic", "made_class", "other_error"),
        *slowly("coins", "changed_unittest", "skip", "forty_one_calls", "sleep_if_changed"),
    ],
)
def test_each_exploit_stays_under_its_ceiling(form: Form, name: str) -> None:
    """None finds a mutant, so none gets more than its two hygiene rows."""
    member = next(e for e in read_sets(FOLDER).exploits if e.name == name)

    rows = rows_of(form, member.reply)
    assert sum(row.points for row in rows.values()) <= member.ceiling
    assert not any(o.credit for o in rows["subtle_mutants"].observations)


def test_the_ladder_is_a_ladder() -> None:
    """The published floors stand in this order, and the exploits' ceilings are hygiene."""
    frozen = read_sets(FOLDER)
    points = {d.name: sum(d.rows.values()) for d in frozen.defective}
    ladder = ("no_tests", "trivial", "happy_path", "typical_3b", "near_miss", "one_wrong")
    assert [round(points[name], 3) for name in ladder] == [1.0, 2.0, 4.5, 5.525, 15.55, 17.8]
    assert all(points[one] < points[two] for one, two in pairwise(ladder))
    assert {e.ceiling for e in frozen.exploits} == {1.0, 2.0}


def test_members_common_to_all_tasks_score_nothing(form: Form, sets: Sets) -> None:
    """Nothing, a refusal, the prompt sent back, unfinished reasoning, a printed verdict: 0."""
    common = common_sets(prompt_of(FOLDER, form), sets.golden[0])
    for member in (*common.defective, *common.exploits):
        assert points_of(form, member.reply) == {}, member.name


@pytest.mark.parametrize("seed", SEEDS)
def test_plain_unittest_finds_what_the_policy_declares(seed: str) -> None:
    """A second grader without walls gives goldens 18 and the ladder its points, in every form."""
    form = make_form(FOLDER, seed)
    made = make_sets(FOLDER, form)
    for golden in made.golden:
        assert points_by_unittest(form, golden.reply) == pytest.approx(18)
    for member in made.defective:
        if member.name not in ("no_tests", "missing_import", "cut_short"):  # hygiene alone
            assert points_by_unittest(form, member.reply) == pytest.approx(
                sum(member.rows.values())
            ), member.name


@pytest.mark.slow
@pytest.mark.parametrize("seed", MANY)
def test_twenty_forms_have_the_same_ladder(seed: str) -> None:
    """The points of the ladder do not depend on the form; both graders agree."""
    test_plain_unittest_finds_what_the_policy_declares(seed)
    form = make_form(FOLDER, seed)
    made = make_sets(FOLDER, form)
    assert sum(points_of(form, named(made, "subtests")).values()) == pytest.approx(18)


# ---------------------------------------------------------------- rows


def test_valid_suite_is_the_exact_share_in_ten_parts(form: Form) -> None:
    """With one of ten methods wrong one tenth is lost; with one of three, three parts and a third."""
    name = form.values["functions"][0]
    right, wrong = f"self.assertEqual({name}(0), 0)", f"self.assertEqual({name}(0), 1)"
    verdict = rows_of(form, suite(form, right, wrong, right))["valid_suite"]

    parts = [o.credit for o in verdict.observations]
    assert parts == [1, 1, 1, pytest.approx(1 / 3), 0, 0, pytest.approx(1 / 3), 1, 1, 1]
    assert sum(map(Fraction, parts)) / 10 == pytest.approx(Fraction(2, 3))
    assert verdict.gate == 0
    assert verdict.gate_reason == "0 of 8 mutants were found"
    assert "T.test_1 on the correct module: AssertionError: 0 != 1" in verdict.reason


def test_a_wrong_value_is_charged_once(form: Form) -> None:
    """The row of the suite loses its share; the mutants that others find stay found."""
    member = next(d for d in read_sets(FOLDER).defective if d.name == "one_wrong")
    rows = rows_of(form, member.reply)

    assert rows["subtle_mutants"].fraction == 1
    assert rows["valid_suite"].points == pytest.approx(1.8)
    assert "test_one_span on the correct module" in rows["valid_suite"].reason


def test_a_method_that_computes_is_not_counted(form: Form, sets: Sets) -> None:
    """A property test is excluded with its line; the golden beside it loses its share alone."""
    text = parsed(FOLDER, form, named(sets, "subtests")).files["test_charges.py"]
    bill = form.values["functions"][3]
    extra = f"    def test_sum(self):\n        r = {bill}([])\n        assert r['net'] - r['tax'] == 0\n"
    rows = rows_of(form, delivered(text.replace("\n\nif __name__", f"\n{extra}\n\nif __name__")))

    assert sum(r.points for r in rows.values()) == pytest.approx(17.8)
    assert "test_sum computes with names (line" in rows["valid_suite"].reason


def test_a_forgotten_import_costs_its_row_once(form: Form, sets: Sets) -> None:
    """`import unittest` is added in the copy: syntax_valid is lost, nothing else."""
    text = parsed(FOLDER, form, named(sets, "subtests")).files["test_charges.py"]
    result = graded(FOLDER, form, delivered(text.replace("import unittest\n", "", 1)))

    assert {r.id: r.points for r in result.rows if r.fraction < 1} == {"syntax_valid": 0}
    assert [repair.detail for repair in result.repairs] == ["import unittest"]


def test_a_file_that_does_not_compile_keeps_nothing(form: Form) -> None:
    """It is not run; the rows say so with the line."""
    rows = rows_of(form, delivered("import unittest\ndef test(:\n"))

    assert all(r.points == 0 for r in rows.values())
    assert "line 2" in rows["syntax_valid"].reason
    assert "does not compile" in rows["plain_mutants"].reason


def test_other_files_are_not_materialised(form: Form, sets: Sets) -> None:
    """A delivered `charges.py` or `unittest.py` changes nothing: only the asked file is there."""
    text = named(sets, "asserts").text
    smuggled = "".join(
        f"### FILE: {name}\n```python\nraise SystemExit\n```\n\n"
        for name in ("charges.py", "unittest.py", "sitecustomize.py")
    )
    assert sum(points_of(form, Reply(smuggled + text)).values()) == 18


@pytest.mark.parametrize("name", ["valid_suite", "plain_mutants", "subtle_mutants"])
def test_reasons_name_what_happened_to_the_file(form: Form, name: str) -> None:
    """An exit while the file loads is said in each row that it costs."""
    member = next(e for e in read_sets(FOLDER).exploits if e.name == "exit_at_import")

    assert "ended the process while it loaded" in rows_of(form, member.reply)[name].reason


@pytest.mark.parametrize(
    ("name", "flags"),
    [
        ("coin", ("chance",)),
        ("coins", ("chance",)),
        ("source_hash", ("introspection",)),
        ("skip", ()),
    ],
)
def test_cheating_is_flagged_beside_its_score(
    form: Form, name: str, flags: tuple[str, ...]
) -> None:
    """What the runs and the rules gave away stands in a row's flags (G070, G072)."""
    member = next(e for e in read_sets(FOLDER).exploits if e.name == name)

    assert rows_of(form, member.reply)["valid_suite"].flags == flags


def test_an_ignored_hook_is_flagged_and_costs_nothing(form: Form, sets: Sets) -> None:
    """A golden with `load_tests` keeps its 18 points and has a flag; without, it has none (G039)."""
    text = parsed(FOLDER, form, named(sets, "asserts")).files["test_charges.py"]
    hook = "def load_tests(loader, tests, pattern):\n    return unittest.TestSuite()\n\n\n"
    rows = rows_of(form, delivered(text.replace("class ", f"{hook}class ", 1)))
    honest = rows_of(form, named(sets, "asserts"))

    assert rows["valid_suite"].flags == ("load-tests",)
    assert sum(row.points for row in rows.values()) == 18
    assert not any(row.flags for row in honest.values())
