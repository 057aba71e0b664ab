"""A05, counterfactual code tracing: two methods, bands, ladder, exploits."""

import ast
import contextlib
import io
import re
import shutil
from itertools import combinations
from pathlib import Path

import pytest
from playing import parsed, play

from harness.errors import FormError
from harness.records.score import total_of
from harness.stages.forms import make_form, make_sets, prompt_of, second_answers, task_module
from harness.suite.forms import Form, Reply
from harness.suite.loader import load_suite, read_form
from harness.suite.sets import common_sets, read_sets

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "suite" / "core" / "a05_counterfactual_tracing"
FORM, ORACLE = task_module(FOLDER, "form"), task_module(FOLDER, "oracle")
OPEN = read_form(FOLDER / "open.json")
ALL = ("INCL", "CEIL", "ONE", "COPY", "PLUS", "LATE")
THREE = ("INCL", "CEIL", "ONE")

# The table of the specification: rules of a row, executed statements of its levels.
ROWS = (
    (("INCL",), ((7, 11), (21, 28), (46, 74))),
    (("CEIL",), ((4, 4), (12, 14), (25, 25))),
    (("ONE",), ((2, 2), (13, 15), (53, 65))),
    (("COPY",), ((4, 4), (13, 13), (25, 25))),
    (("PLUS",), ((1, 1), (5, 5), (19, 22))),
    (("LATE",), ((8, 10), (21, 25), (38, 71), (84, 93))),
    (THREE, ((8, 8), (39, 39), (39, 39), (74, 74))),
    (ALL, ((15, 15), (27, 27), (35, 43), (63, 63))),
)
TABLE = {
    f"P{number}.{level}": (rules, fewest, most)
    for number, (rules, levels) in enumerate(ROWS, 1)
    for level, (fewest, most) in enumerate(levels, 1)
}

# Worked by hand from the rules' text.
KNOWN = {
    "INCL takes the end": ("INCL", "s = 0\nfor i in range(2, 4):\n    s += i\nprint(s)", 9),
    "INCL with one number": ("INCL", "s = 0\nfor i in range(3):\n    s += i\nprint(s)", 6),
    "INCL of equal ends": ("INCL", "s = 0\nfor i in range(5, 5):\n    s += i\nprint(s)", 5),
    "no INCL": ("CEIL", "s = 0\nfor i in range(2, 4):\n    s += i\nprint(s)", 5),
    "CEIL rounds up": ("CEIL", "print(7 // 2 * 10 + 6 // 2)", 43),
    "CEIL leaves %": ("CEIL", "print(7 % 2 * 10 + 9 % 4)", 11),
    "ONE reads": ("ONE", "xs = [5, 6, 7]\nprint(xs[1] * 10 + xs[len(xs)])", 57),
    "ONE writes": ("ONE", "xs = [5, 6, 7]\nxs[2] = 9\nprint(xs[1] * 100 + xs[2])", 509),
    "COPY of a name": ("COPY", "xs = [5]\nys = xs\nys[0] += 3\nprint(xs[0] * 10 + ys[0])", 58),
    "COPY of an argument": (
        "COPY",
        (
            "def f(vs):\n    vs.append(4)\n    return len(vs)\n"
            "xs = [5, 6]\na = f(xs)\nprint(a * 10 + len(xs))"
        ),
        32,
    ),
    "PLUS before *": ("PLUS", "print(2 * 3 + 4)", 14),
    "PLUS before //": ("PLUS", "print(20 // 3 + 2)", 4),
    "PLUS groups from the left": ("PLUS", "print(10 - 2 - 3 + 1)", 6),
    "PLUS on both sides": ("PLUS", "print(2 * 3 + 4 * 5 - 1)", 56),
    "PLUS and parentheses": ("PLUS", "print((2 * 3) + 4)", 10),
    "PLUS before comparing": (
        "PLUS",
        "a = 1\nif 1 + 2 * 3 > 8:\n    a = 2\nelse:\n    a = 3\nprint(a)",
        2,
    ),
    "LATE in a for": (
        "LATE",
        "a = 1\nb = 10\nfor i in range(2):\n    a += b\n    b += a\nprint(a * 100 + b)",
        2222,  # (1, 10) → (11, 11) → (22, 22)
    ),
    "LATE assigned twice": (
        "LATE",
        "a = 1\nfor i in range(2):\n    a += 5\n    a = a * 3\nprint(a)",
        9,
    ),
    "LATE and a while": (
        "LATE",
        "n = 0\ns = 0\nwhile n < 3:\n    n += 1\n    s += n\nprint(s)",
        3,  # adds 0, 1, 2
    ),
    "LATE lets elements act at once": (
        "LATE",
        "xs = [1, 1]\ns = 0\nfor i in range(2):\n    xs[i] += 4\n    s += xs[i]\nprint(s)",
        10,
    ),
    "LATE and a function called from a loop": (
        "LATE",
        (
            "def f(x):\n    x = x + 1\n    return x * 2\n"
            "a = 1\nb = 0\nfor i in range(2):\n    a = f(a)\n    b += a\nprint(b)"
        ),
        5,
    ),
    "all six": (
        " ".join(ALL),
        (
            "xs = [7, 8]\nys = xs\ns = 1\nfor i in range(1, 1):\n    s += ys[i] // 1 + 2\n"
            "    xs[i] = s * 2 + 1\nprint(s + ys[1] * 2)"
        ),
        22,  # s = 1 + ⌈7 / 3⌉ = 4, xs[1] = 1 × 3, ys is a copy: (4 + 7) × 2
    ),
}


def points(reply: Reply, form: Form = OPEN) -> dict[str, float]:
    """Return the points of every row above zero, and their sum as `total`."""
    rows = play(FOLDER, form, reply)
    found = {row.id: row.points for row in rows if row.points}
    return {**found, "total": total_of(rows)}


def lines(values: dict[str, str]) -> Reply:
    """Return a reply of answer lines."""
    return Reply("".join(f"{key} = {value}\n" for key, value in values.items()))


def shared_answers(first: Form, second: Form) -> int:
    """Count the keys whose answer is the same in both forms."""
    return sum(first.answers[key] == second.answers[key] for key in first.keys)


def assert_bands(form: Form) -> None:
    """Assert everything the specification asks of a form, and that both methods agree on it."""
    prompt = prompt_of(FOLDER, form)
    assert second_answers(FOLDER, prompt) == form.answers
    assert tuple(form.answers) == form.keys == tuple(TABLE)
    assert len(set(form.answers.values())) >= 24
    # 3,405 tokens were measured for the open form; texts of one template have one density
    assert len(prompt) / len(prompt_of(FOLDER, OPEN)) < 3700 / 3405
    for program in form.values["programs"]:
        key = program["key"]
        rules, fewest, most = TABLE[key]
        assert tuple(program["rules"]) == rules
        assert 10 <= int(form.answers[key]) <= 99_999
        assert fewest <= form.structure[f"statements {key}"] <= most
        assert {*form.traps[key]} == {"plain Python", *(f"forgot {rule}" for rule in rules)}
        assert form.answers[key] not in form.traps[key].values()


@pytest.mark.parametrize(("rules", "source", "right"), KNOWN.values(), ids=KNOWN)
def test_both_methods_give_what_a_hand_gives(rules: str, source: str, right: int) -> None:
    """Each rule means what its text says, worked by hand on a few lines."""
    assert FORM.Machine(source, tuple(rules.split())).run() == right
    assert ORACLE.printed(source, frozenset(rules.split())) == right


@pytest.mark.parametrize("source", ["xs = [5, 6]\nprint(xs[0])", "xs = [5, 6]\nprint(xs[3])"])
def test_numbering_from_one_has_no_element_outside(source: str) -> None:
    """Under ONE neither 0 nor one past the length is an index, in either method."""
    with pytest.raises(FORM.TarnError, match="IndexError"):
        FORM.Machine(source, ("ONE",)).run()
    with pytest.raises(IndexError):
        ORACLE.printed(source, frozenset({"ONE"}))


def test_a_program_without_end_is_cut_in_both_methods() -> None:
    """A loop that never ends stops the method with an error, not the machine."""
    source = "a = 1\nwhile a > 0:\n    a += 1\nprint(a)"
    with pytest.raises(FORM.TarnError):
        FORM.Machine(source, ()).run()
    with pytest.raises(RuntimeError):
        ORACLE.printed(source, frozenset())


@pytest.mark.parametrize("seed", ["open", "first", "second", "third"])
def test_a_form_keeps_its_bands_and_both_methods_agree(seed: str) -> None:
    """A form is used only if it lies in every band and two methods agree on every answer."""
    assert_bands(make_form(FOLDER, seed))


def test_twenty_forms_keep_their_bands_and_share_few_answers() -> None:
    """No two of twenty forms share more than a tenth of their answers."""
    forms = [make_form(FOLDER, f"seed-{number}") for number in range(20)]
    for form in forms:
        assert_bands(form)
    assert max(shared_answers(*pair) for pair in combinations(forms, 2)) <= len(TABLE) // 10


def test_the_open_form_shares_few_answers_with_another() -> None:
    """Knowing the published answers earns next to nothing on another form."""
    assert shared_answers(OPEN, make_form(FOLDER, "first")) <= len(TABLE) // 10


def test_the_trap_plain_python_is_what_python_prints() -> None:
    """The answer named `plain Python` is the one that Python itself gives."""
    for program in OPEN.values["programs"]:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(program["source"], {})  # our own programs
        assert out.getvalue().strip() == OPEN.traps[program["key"]]["plain Python"]


def test_the_second_method_reads_the_prompt_alone() -> None:
    """One changed number in the prompt changes the answer of its program and no other."""
    prompt = prompt_of(FOLDER, OPEN)
    head = re.escape("P5.1 (rules: PLUS)\nprint(")
    changed = re.sub(head + r"(\d)", lambda m: f"{m[0][:-1]}{int(m[1]) + 1}", prompt)
    found = second_answers(FOLDER, changed)
    assert {key for key in TABLE if found[key] != OPEN.answers[key]} == {"P5.1"}


def test_the_second_method_follows_the_rules_that_are_named() -> None:
    """A program whose rule is taken away in the prompt gets the answer of the trap."""
    prompt = prompt_of(FOLDER, OPEN).replace("P8.3 (rules: INCL CEIL ", "P8.3 (rules: INCL ")
    assert second_answers(FOLDER, prompt)["P8.3"] == OPEN.traps["P8.3"]["forgot CEIL"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("-(-left // right) if", "left // right + 1 if"),
        ("last + 1 if", "last if"),
        ("place = index - 1 if", "place = index if"),
        ("list(value) if", "value if"),
        ("(PRODUCTS, SUMS) if", "(SUMS, PRODUCTS) if"),
        ('{} if "LATE"', 'None if "LATE"'),
        ("names.update(late or {})", "names.update({})"),
    ],
)
def test_a_slip_in_the_first_method_is_noticed(tmp_path: Path, old: str, new: str) -> None:
    """A wrong rule in form.py gives some program another answer than the second method."""
    altered = task_module(altered_copy(tmp_path, "form.py", old, new), "form")
    second = second_answers(FOLDER, prompt_of(FOLDER, OPEN))
    first = {}
    for program in OPEN.values["programs"]:
        machine = altered.Machine(program["source"], tuple(program["rules"]))
        try:
            first[program["key"]] = str(machine.run())
        except altered.TarnError as error:
            first[program["key"]] = str(error)
    assert first != second


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("whole + (rest != 0)", "whole + 1"),
        ("ends[-1] + 1", "ends[-1]"),
        ("return number - from_one", "return number"),
        ("value[:] if", "value if"),
        ('.replace("*", "<<")', ""),
        ('if "LATE" in self._rules and self._loops:', "if False:"),
        ("outside, self._loops = self._loops, 0", "outside, self._loops = self._loops, 1"),
    ],
)
def test_a_slip_in_the_second_method_is_noticed(tmp_path: Path, old: str, new: str) -> None:
    """A wrong rule in oracle.py makes the two methods disagree, or fails."""
    altered = altered_copy(tmp_path, "oracle.py", old, new)
    try:
        found = second_answers(altered, prompt_of(FOLDER, OPEN))
    except FormError as error:
        failed = error.__cause__
    else:
        failed = None
        assert found != OPEN.answers
    assert isinstance(failed, ArithmeticError | LookupError | NameError | None)


def altered_copy(tmp_path: Path, name: str, old: str, new: str) -> Path:
    """Return a copy of the task folder in which one piece of one file is another."""
    altered = tmp_path / FOLDER.name
    shutil.copytree(FOLDER, altered, ignore=shutil.ignore_patterns("__pycache__"))
    text = (FOLDER / name).read_text(encoding="utf-8")
    assert text.count(old) == 1
    (altered / name).write_text(text.replace(old, new), encoding="utf-8")
    return altered


def test_a_form_outside_its_bands_is_refused(tmp_path: Path) -> None:
    """A shape that never reaches its statements is named in the error, and no form is made."""
    altered = altered_copy(tmp_path, "programs.txt", "P3.2 ONE 13-15", "P3.2 ONE 16-16")
    with pytest.raises(FormError, match=r"P3\.2: no numbers inside the bands"):
        make_form(altered, "open")


def test_no_program_uses_what_the_rules_leave_open() -> None:
    """No nested loop or late first value under LATE, and only the constructs that are explained."""
    simple = (
        *(ast.Module, ast.FunctionDef, ast.arguments, ast.arg, ast.Return, ast.Expr, ast.Call),
        *(ast.Assign, ast.AugAssign, ast.For, ast.While, ast.If, ast.Compare, ast.BinOp),
        *(ast.Name, ast.Constant, ast.List, ast.Subscript, ast.Attribute, ast.expr_context),
        *(ast.operator, ast.cmpop),
    )
    for program in OPEN.values["programs"]:
        tree = ast.parse(program["source"])
        assert all(isinstance(node, simple) for node in ast.walk(tree))
        if "LATE" not in program["rules"]:
            continue
        loops = [node for node in ast.walk(tree) if isinstance(node, ast.For | ast.While)]
        assert len(loops) == 1
        assert loops[0] in tree.body
        before = {
            target.id
            for node in tree.body[: tree.body.index(loops[0])]
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        assert names_written(loops[0]) <= before


def names_written(loop: ast.For | ast.While) -> set[str]:
    """Return the plain names that a loop's body assigns."""
    return {
        node.id
        for line in loop.body
        for node in ast.walk(line)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


@pytest.mark.parametrize("seed", ["open", "first"])
def test_goldens_reach_the_maximum(seed: str) -> None:
    """Right answers count whole, in every notation that is tolerated."""
    form = make_form(FOLDER, seed)
    for golden in make_sets(FOLDER, form).golden:
        assert points(golden.reply, form)["total"] == 18, golden.name


@pytest.mark.parametrize("seed", ["open", "first"])
def test_defectives_score_their_rows_and_exploits_stay_under_their_ceiling(seed: str) -> None:
    """A known failure costs exactly its rows, and no trick earns anything, on any form."""
    form = make_form(FOLDER, seed)
    own = make_sets(FOLDER, form)
    common = common_sets(prompt_of(FOLDER, form), own.golden[0])
    for defective in (*own.defective, *common.defective):
        expected = {**defective.rows, "total": round(sum(defective.rows.values()), 6)}
        assert points(defective.reply, form) == pytest.approx(expected), defective.name
        if defective.cause:
            assert parsed(FOLDER, form, defective.reply).cause == defective.cause, defective.name
    for exploit in (*own.exploits, *common.exploits):
        assert points(exploit.reply, form)["total"] <= exploit.ceiling, exploit.name


def test_the_frozen_ladder_has_the_points_of_the_specification() -> None:
    """The frozen replies of the open form score what the specification prints."""
    printed = {
        "plain_python": 0,
        "lazy": 3.2,
        "typical_3b": 4.6,
        "no_combination": 12.0,
        "forgot_late": 13.0,
        "near_miss": 15.6,
        "stop_leak": 0,
        "smollm2_raw": 0,
        "patchwork": 8.2,  # not in the specification: weights of the levels, added by hand
        "misdressed": 0,
    }
    frozen = {defective.name: defective for defective in read_sets(FOLDER).defective}
    assert {*frozen} == {*printed}
    for name, total in printed.items():
        scored = points(frozen[name].reply)
        assert scored == pytest.approx({**frozen[name].rows, "total": total}), name
    raw = frozen["smollm2_raw"]
    assert parsed(FOLDER, OPEN, raw.reply).cause == raw.cause == "truncated"


def test_frozen_files_are_what_the_policy_makes() -> None:
    """The open form and its sets are the generator's; only a real model's raw reply is extra."""
    form = make_form(FOLDER, "open")
    made, frozen = make_sets(FOLDER, form), read_sets(FOLDER)
    assert form == OPEN
    assert {g.name: g.reply for g in made.golden} == {g.name: g.reply for g in frozen.golden}
    assert {e.name: e for e in made.exploits} == {e.name: e for e in frozen.exploits}
    kept = {d.name: d for d in frozen.defective if d.name != "smollm2_raw"}
    assert {d.name: d for d in made.defective} == kept


def test_one_number_for_all_earns_at_most_one_program() -> None:
    """A reply that repeats a number which is right somewhere earns that program, 0.9 at most."""
    heaviest = max(0.45 * 2, 0.30 * 3)
    for right in OPEN.answers.values():
        assert points(lines(dict.fromkeys(OPEN.keys, right)))["total"] <= heaviest


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("P2.1", None, "no line"),
        ("P2.1", "12.5", "not a whole number"),
        ("P6.1", OPEN.traps["P6.1"]["forgot LATE"], "(forgot LATE)"),
        ("P8.4", OPEN.traps["P8.4"]["forgot COPY"], "(forgot COPY)"),
        ("P8.4", OPEN.traps["P8.4"]["plain Python"], "(plain Python)"),
        ("P1.1", OPEN.answers["P1.1"], "is right"),
    ],
)
def test_a_verdict_says_why(key: str, value: str | None, reason: str) -> None:
    """Each observation says what was written, what is right, and which rule was forgotten."""
    reply = lines({} if value is None else {key: value})
    observations = [o for row in play(FOLDER, OPEN, reply) for o in row.observations]
    (found,) = [o for o in observations if o.key == key]
    assert found.reason.endswith(reason)
    if "forgot" in reason:
        assert f"wrote {value}, right is {OPEN.answers[key]}" in found.reason


def test_the_suite_loads_the_task(tmp_path: Path) -> None:
    """Rows, functions, points and files of the folder fit together: 8 rows, 27 observations."""
    shutil.copytree(FOLDER, tmp_path / "suite" / "core" / FOLDER.name)
    task = load_suite(tmp_path).task("A05")
    assert task.definition.max_points == 18
    assert (len(task.definition.rows), task.definition.observations) == (8, 27)
    assert [len(levels) for _, levels in ROWS] == [r.observations for r in task.definition.rows]
