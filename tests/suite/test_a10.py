"""A10: four functions made linear; what is not cheap earns nothing, and no trick makes it cheap."""

import itertools
import random
import re
import shutil
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from playing import LIMITS, graded, parsed, play

from harness.errors import SuiteError
from harness.grading import Bench, Deliverable, Owned
from harness.records.handwritten import read_toml
from harness.records.parsed import ParsedReply
from harness.sandbox import probe
from harness.stages.forms import make_form, make_sets, prompt_of, second_answers, task_module
from harness.stages.grade import grade_reply, hash_seed_of
from harness.suite.definition import TaskDefinition
from harness.suite.forms import Form, Reply, Sets
from harness.suite.loader import Task, load_suite, read_form
from harness.suite.sets import common_sets, read_sets

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "suite/core/a10_linear_refactor"
DEFINITION = read_toml(FOLDER / "task.toml", TaskDefinition, SuiteError)
ROUNDING = 2e-6  # a row is rounded to six decimals on either side
SEEDS = ("open", "red", "green")
BIG = 10**18


@cache
def form_of(seed: str) -> Form:
    return make_form(FOLDER, seed)


@pytest.fixture(scope="module")
def form() -> Form:
    return form_of("open")


@pytest.fixture(scope="module")
def sets(form: Form) -> Sets:
    return make_sets(FOLDER, form)


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with Bench(probe(), LIMITS, 1) as opened:
        yield opened


@cache
def generator() -> ModuleType:
    return task_module(FOLDER, "form")


@cache
def grader() -> ModuleType:
    return task_module(FOLDER, "grader")


def variants() -> list[dict[str, Any]]:
    return [variant for slot in generator().SLOTS for variant in generator()._variants(slot)]


def functions_of(variant: dict[str, Any]) -> dict[str, Callable[..., Any]]:
    return {
        part: generator()._loaded(text, variant["variant"])
        for part, text in variant["texts"].items()
    }


def by_name(names: list[Any]) -> str:
    return names["variant"] if isinstance(names, dict) else str(names)


def delivered(form: Form, bench: Bench, text: str) -> Deliverable:
    reply = ParsedReply(parser_version="written", text="", files={"readings.py": text})
    return Deliverable(reply, form, bench)


def measured(form: Form, bench: Bench, text: str, slot: int = 0) -> Any:
    """Measure one function of a module, as the rows do."""
    work = delivered(form, bench, text)
    return grader().Bound(work, form.values["functions"][slot]).measured()


def flags_of(form: Form, bench: Bench, text: str) -> set[str]:
    """Return what was noticed of a module; one row says all of it."""
    return set(grader().linear_accesses(delivered(form, bench, text)).flags)


def held(cases: tuple[Any, ...]) -> int:
    return sum(case.holds for case in cases)


# ---------------------------------------------------------------- the form and its two methods


def test_definition_has_the_rows_and_observations_of_the_specification() -> None:
    """Five rows of 1, 1, 5, 3 and 8 points with 1, 1, 48, 36 and 12 sub-observations."""
    assert [(row.points, row.observations) for row in DEFINITION.rows] == [
        (1, 1),
        (1, 1),
        (5, 48),
        (3, 36),
        (8, 12),
    ]
    assert (DEFINITION.max_points, DEFINITION.observations) == (18, 98)


def test_folder_loads_and_its_functions_match_its_rows(tmp_path: Path) -> None:
    """The static checks of the loader hold for this folder alone."""
    shutil.copytree(FOLDER, tmp_path / "suite/core" / FOLDER.name)

    assert load_suite(tmp_path).ids == ("A10",)


@pytest.mark.parametrize("seed", SEEDS)
def test_slow_functions_of_the_prompt_give_what_the_linear_ones_give(seed: str) -> None:
    """The second method runs what a model reads, the first one our linear texts."""
    form = form_of(seed)

    assert second_answers(FOLDER, prompt_of(FOLDER, form)) == form.answers
    assert len(form.answers) == 4 + 3


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("return -1", "return -2", "first_repeat"),
        ("and j - i <= span:", "and j - i < span:", "close_twins"),
        ("j - i > best[1]", "j - i >= best[1]", "longest_light"),
        ("(j - i) % 2 == 0", "(j - i) % 2 == 1", "signed_peaks"),
        ("At most 4n", "At most 5n", "reads per element"),
        ("n up to 20,000", "n up to 30,000", "longest list"),
        ("At most 25 times", "At most 20 times", "cpu ratio"),
    ],
)
def test_second_method_reads_nothing_but_the_prompt(
    form: Form, old: str, new: str, key: str
) -> None:
    """One change in the prompt changes that answer of the second method and no other."""
    prompt = prompt_of(FOLDER, form)
    assert prompt.count(old) == 1

    changed = second_answers(FOLDER, prompt.replace(old, new))

    assert {k for k in changed if changed[k] != form.answers[k]} == {key}


@pytest.mark.parametrize("variant", variants(), ids=by_name)
def test_a_wrong_linear_text_is_noticed(variant: dict[str, Any]) -> None:
    """The digest of each known failure differs from that of the right functions."""
    functions = functions_of(variant)
    many = int("parameter" in variant)
    right = generator().probed(functions["linear"], many)

    assert generator().probed(functions["other"], many) == right
    for failure in ("slip", "near"):
        if failure in functions:
            assert generator().probed(functions[failure], many) != right


def test_frozen_files_are_what_the_open_form_makes(sets: Sets, form: Form) -> None:
    """open.json, replies and hand-written points agree with form.py and policy.py."""
    frozen = read_sets(FOLDER)

    assert read_form(FOLDER / "open.json") == form
    for kind in ("golden", "defective", "exploits"):
        made = {member.name: member.reply for member in getattr(sets, kind)}
        assert made == {member.name: member.reply for member in getattr(frozen, kind)}
    for member in frozen.defective:
        rows = next(m.rows for m in sets.defective if m.name == member.name)
        assert member.rows == pytest.approx(rows, abs=ROUNDING)
    assert {e.name: e.ceiling for e in frozen.exploits} == {
        e.name: e.ceiling for e in sets.exploits
    }


def test_ladder_of_the_open_form_has_the_specified_points() -> None:
    """The points of the specification; by hand where they depend on the form (see NOTES.md)."""
    written = {d.name: sum(d.rows.values()) for d in read_sets(FOLDER).defective}

    assert written == pytest.approx(
        {
            "given": 0.0,
            "renamed": 0.0,
            "other_names": 0.0,
            "one_more": 0.0,
            "cut_short": 1.0,
            "copy_quadratic": 2.0,
            "stub_constants": 2 + (0.3 * (13 + 3 * 4 / 9) + 0.3 * (13 + 3 * 3 / 9)) / 12,
            "lazy": 3.6,
            "slip": 2 + 13 * (0.4 + 0.4 / 6) + 3 * (0.4 + 0.4 / 6 * 7 / 9),
            "five_passes": 10.0,
            "plain_only": 10.0,
            "ends_early": 18 - 16 * 0.4,
            "grows": 18 - 16 * 0.1 + 0.1 * (5 + 8) * 2 / 12,
            "wrong_error": 18 - 3 * 0.2 / 9,
            "near_miss": 18 - 16 * 0.3 * 0.5 - 3 * 0.3 * 0.5 / 9,
            "missing_import": 17.0,
        },
        abs=5e-6,  # expected.toml has six decimals
    )


# ---------------------------------------------------------------- the variants


def test_each_slot_has_six_variants_with_their_texts() -> None:
    """6 x 6 x 6 x 6 modules: an original, two linear texts, and the failures of the slot."""
    parts = {
        "first_repeat": {"original", "linear", "other"},
        "pair_count": {"original", "linear", "other", "slip"},
        "pair_search": {"original", "linear", "other", "sorted", "near"},
        "window_sum": {"original", "linear", "other", "slip"},
    }
    for slot, texts in parts.items():
        found = generator()._variants(slot)
        assert len(found) == 6
        for variant in found:
            assert set(variant["texts"]) == texts
            assert len(variant["edges"]) == 9


def test_names_of_a_form_never_clash() -> None:
    """A drawn name is no other variant's, and no list's name stands in a text already."""
    names = [name for variant in variants() for name in variant["names"]]
    words = {
        word
        for variant in variants()
        for text in variant["texts"].values()
        for word in re.findall(r"\w+", text)
    }

    assert len(set(names)) == len(names) == 24 * 3
    assert not words & (set(generator().LIST_NAMES) - {"xs"})


@pytest.mark.parametrize("variant", variants(), ids=by_name)
def test_linear_texts_do_what_the_original_does(variant: dict[str, Any]) -> None:
    """On short lists, on random ones and on the special inputs, and they change no argument."""
    functions = functions_of(variant)
    original = functions["original"]
    rng = random.Random(variant["variant"])
    lists = [list(xs) for n in range(5) for xs in itertools.product((-2, 0, 1, 3), repeat=n)]
    lists += [[rng.randint(-s, s) for _ in range(rng.randint(5, 30))] for s in (3, 30) * 20]
    rests = [(-3,), (0,), (1,), (4,)] if "parameter" in variant else [()]
    cases = [(xs, *rest) for xs in lists for rest in rests]
    cases += [tuple(args) for _, *args in variant["edges"]]
    for part in {"linear", "other", "sorted"} & set(functions):
        for xs, *rest in cases:
            given = list(xs)
            right = generator().outcome(original, list(xs), *rest)
            assert generator().outcome(functions[part], given, *rest) == right
            assert given == xs


# Worked out by hand from the docstrings.
KNOWN = {
    "first_echo": (([4, 7, 9, 7, 4],), "3"),
    "echo_distance": (([4, 7, 9, 7, 4],), "2"),
    "first_to_return": (([4, 7, 9, 7, 4],), "0"),
    "first_opposite": (([4, 7, -7, -4],), "2"),
    "third_time": (([4, 7, 7, 4, 7, 4],), "4"),
    "first_neighbour": (([4, 7, 9, 6, 5],), "3"),
    "gap_pairs": (([1, 3, 1, 3], 2), "3"),
    "multiple_pairs": (([1, 2, 4, 2, 0, 0], 2), "4"),
    "drift_pairs": (([0, 3, 4, 3], 2), "2"),
    "near_twins": (([1, 1, 1, 1], 2), "5"),
    "far_twins": (([1, 1, 1, 1], 2), "3"),
    "divided_sums": (([1, 2, 3, 4], 3), "2"),
    "widest_drop": (([5, 9, 4, 8, 7], 2), "(1, 4)"),
    "widest_rise": (([5, 1, 6, 2, 3], 2), "(1, 4)"),
    "widest_heavy_pair": (([1, 6, 2, 5, 1], 7), "(1, 4)"),
    "widest_light_pair": (([9, 4, 8, 5, 9], 9), "(1, 3)"),
    "nearest_drop": (([5, 9, 4, 8, 3], 5), "(1, 2)"),
    "nearest_rise": (([5, 1, 6, 2, 7], 5), "(1, 2)"),
    "odd_peaks": (([1, 3, 2],), "9"),
    "even_peaks": (([1, 3, 2],), "6"),
    "alternating_peaks": (([1, 3, 2],), "3"),
    "odd_lows": (([1, 3, 2],), "7"),
    "even_lows": (([1, 3, 2],), "3"),
    "alternating_lows": (([1, 3, 2],), "4"),
}


@pytest.mark.parametrize("variant", variants(), ids=by_name)
def test_every_variant_gives_what_its_text_says(variant: dict[str, Any]) -> None:
    """One example of each, worked out by hand from the docstring."""
    args, right = KNOWN[variant["variant"]]

    for part in ("original", "linear", "other"):
        assert generator().outcome(functions_of(variant)[part], *args) == right


class Counting(list):
    """A plain list that counts its reads, for code that is ours."""

    reads = 0

    def __getitem__(self, index: int) -> int:
        self.reads += 1
        return super().__getitem__(index)


@pytest.mark.parametrize("variant", variants(), ids=by_name)
def test_slow_ways_cannot_leave_the_worst_list_early(variant: dict[str, Any]) -> None:
    """The original goes through all pairs of the worst list: two reads for each but one in sums."""
    n = 400
    shape = generator()._LONG[variant["slot"]]
    runs, *rest = shape(random.Random("worst"), variant["variant"], n, True)
    xs = Counting(generator().series(runs))
    assert len(xs) == n

    functions_of(variant)["original"](xs, *rest)

    pairs = n * (n - 1) / 2
    least = 0.99 * pairs  # a repeat at the very end leaves out the last row at most
    assert xs.reads >= (least if variant["slot"] == "window_sum" else 2 * least)


@pytest.mark.parametrize("variant", generator()._variants("pair_search"), ids=by_name)
def test_a_search_by_width_cannot_leave_the_worst_list_early(variant: dict[str, Any]) -> None:
    """Widest first or nearest first, more than 0.4 of all n x n places are looked at."""
    n = 400
    rng = random.Random("width")
    runs, *rest = generator()._search(rng, variant["variant"], n, True)
    i, j = functions_of(variant)["linear"](generator().series(runs), *rest)

    nearest = variant["variant"].startswith("nearest")
    widths = range(1, j - i) if nearest else range(n - 1, j - i, -1)

    assert sum(n - width for width in widths) > 0.4 * n * n


@pytest.mark.parametrize("seed", SEEDS)
def test_cases_of_a_form_tell_right_from_wrong(seed: str) -> None:
    """Constants are right in at most one of twelve results, and the failures where they must be."""
    form = form_of(seed)
    for function in form.values["functions"]:
        rights = [case["right"] for case in (*function["short"], *function["long"])]
        assert len(rights) == 12
        constant = {"pair_search": "None", "first_repeat": "-1"}.get(function["slot"], "0")
        assert rights.count(constant) <= 1
        assert [len(grader().series(r["runs"])) for r in function["reads"]] == [1000, 4000, 20000]
    assert form.structure["slip_pair_count_results"] == 0
    assert form.structure["slip_window_sum_results"] == 2
    assert form.structure["near_pair_search_results"] == 6


@pytest.mark.parametrize("seed", SEEDS)
def test_right_results_of_the_short_cases_are_those_of_the_given_module(seed: str) -> None:
    """The module in the prompt gives every right result of its form's short cases and edges."""
    form = form_of(seed)
    space: dict[str, Any] = {}
    exec(form.values["modules"]["given"], space)
    for function in form.values["functions"]:
        for case in (*function["short"], *function["edges"]):
            assert generator().outcome(space[function["name"]], *case["args"]) == case["right"]


def test_both_readings_of_a_described_list_are_the_same(form: Form) -> None:
    """The generator and the grader make the same list; one by hand: 5, 5, 8 + noise."""
    run = {"count": 3, "start": 5, "step": 3, "every": 2, "scale": 10}
    run |= {"a": 1, "b": 1, "c": 0, "prime": 7, "spread": 4}  # 0, 2, 6 mod 7, then mod 4: 0, 2, 2

    assert generator().series([run]) == grader().series([run]) == [5, 25, 28]
    for function in form.values["functions"]:
        for case in (*function["long"], *function["reads"]):
            assert generator().series(case["runs"]) == grader().series(case["runs"])


# ---------------------------------------------------------------- what is played


def check(form: Form, member: Any, expected: dict[str, float]) -> None:
    rows = {row.id: row.points for row in play(FOLDER, form, member.reply)}
    assert {k: v for k, v in rows.items() if v} == pytest.approx(expected, abs=ROUNDING)


QUICK = ("given", "renamed", "other_names", "one_more", "cut_short", "near_miss", "ends_early")


@pytest.mark.parametrize("name", QUICK)
def test_quick_members_of_the_ladder_score_what_they_must(
    sets: Sets, form: Form, name: str
) -> None:
    """Unchanged 0, broken 1, one wrong tie by the counted share."""
    member = next(m for m in sets.defective if m.name == name)

    check(form, member, member.rows)


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["open", "red"])
def test_sets_score_what_they_must(seed: str) -> None:
    """Goldens reach every row's maximum, defectives their rows, exploits stay under."""
    form = form_of(seed)
    sets = make_sets(FOLDER, form)
    for golden in sets.golden:
        check(form, golden, {row.id: row.points for row in DEFINITION.rows})
    for defective in sets.defective:
        check(form, defective, defective.rows)
    for exploit in sets.exploits:
        points = sum(row.points for row in play(FOLDER, form, exploit.reply))
        assert points <= exploit.ceiling + ROUNDING


def test_golden_reaches_the_maximum_of_a_private_form() -> None:
    """Every row is full for the second way of another form."""
    form = form_of("green")
    member = next(m for m in make_sets(FOLDER, form).golden if m.name == "other_ways")

    check(form, member, {row.id: row.points for row in DEFINITION.rows})


def test_members_common_to_all_tasks_score_nothing(sets: Sets, form: Form) -> None:
    """Nothing, a refusal, the prompt itself, unclosed reasoning and a verdict are worth 0."""
    common = common_sets(prompt_of(FOLDER, form), sets.golden[0])
    for member in (*common.defective, *common.exploits):
        assert sum(row.points for row in play(FOLDER, form, member.reply)) == 0, member.name
    for defective in common.defective:
        assert parsed(FOLDER, form, defective.reply).cause == defective.cause


def test_the_given_module_with_something_beside_it_is_unchanged(form: Form) -> None:
    """Four functions as given earn nothing, whatever stands around them (G069)."""
    given = form.values["modules"]["given"]
    text = f"### FILE: readings.py\n```python\nimport math\n\n{given}\n\nLIMIT = math.pi\n```\n"

    rows = play(FOLDER, form, Reply(text))

    assert sum(row.points for row in rows) == 0
    assert rows[0].reason == "unchanged: the given module"


def test_a_missing_import_is_repaired_once(sets: Sets, form: Form) -> None:
    """The copy is graded and only syntax_valid is lost; as it came, a function is lost (G099)."""
    member = next(m for m in sets.defective if m.name == "missing_import")

    result = graded(FOLDER, form, member.reply)

    assert sum(row.points for row in result.rows) == pytest.approx(17.0, abs=ROUNDING)
    assert len(result.repairs) == 1
    assert result.rows_as_is is not None
    as_it_came = sum(row.points for row in result.rows_as_is)
    assert as_it_came == pytest.approx(18 - 16 * 0.2, abs=ROUNDING)  # it compiles as it came


def test_scoring_again_runs_nothing_and_gives_the_same_sheet(sets: Sets, form: Form) -> None:
    """Verdicts and reasons hold no time, and what was observed once is remembered."""
    member = next(m for m in sets.defective if m.name == "stub_constants")
    task = Task(FOLDER, DEFINITION, form, "played", "")
    reply = parsed(FOLDER, form, member.reply)
    first = graded(FOLDER, form, member.reply)

    again = grade_reply(task, reply, LIMITS, hash_seed_of("played"), first.observations)

    assert {r.id: r.points for r in first.rows} == pytest.approx(member.rows, abs=ROUNDING)
    assert again.rows == first.rows
    assert again.observations == first.observations


# ---------------------------------------------------------------- known faults, on one function

NAME = "first_repeat"  # of the open form: the smallest j whose value stood earlier, or -1
SLOW = """
def slow(xs):
    for j in range(len(xs)):
        for i in range(j):
            if xs[i] == xs[j]:
                return j
    return -1
"""
FAST = """
def first_repeat(xs):
    seen = set()
    for j, value in enumerate(xs):
        if value in seen:
            return j
        seen.add(value)
    return -1
"""


def not_cheap(one: Any) -> bool:
    return one.lack.startswith("CPU time above 25 times") and not one.results


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        ("G060 clock", "import time\ntime.time = time.process_time = time.monotonic = lambda: 0\n"),
        ("G063 memo", "KNOWN = {}\n"),
        ("G064 patch", "list_read = list.__getitem__\n"),
        ("G066 copy", ""),
    ],
)
def test_quadratic_work_is_never_cheap(form: Form, bench: Bench, fault: str, text: str) -> None:
    """Patched clocks, memos, patched classes and copies change nothing: CPU time is taken outside."""
    body = {
        "G060 clock": "    return slow(xs)\n",
        "G063 memo": "    return KNOWN.setdefault(id(xs), slow(xs))\n",
        "G064 patch": (
            "    try:\n        type(xs).__getitem__ = list_read\n"
            "    except TypeError:\n        pass\n    return slow(xs)\n"
        ),
        "G066 copy": "    return slow(list(xs))\n",
    }[fault]

    one = measured(form, bench, f"{text}{SLOW}\ndef first_repeat(xs):\n{body}")

    assert not_cheap(one)


def test_quadratic_work_at_the_speed_of_c_is_not_cheap(form: Form, bench: Bench) -> None:
    """`in` over slices of a copy reads n elements and is quadratic all the same."""
    text = (
        "def first_repeat(xs):\n    ys = list(xs)\n"
        "    return next((j for j, v in enumerate(ys) if v in ys[:j]), -1)\n"
    )

    assert not_cheap(measured(form, bench, text))


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        (
            "G056 equal",
            (
                "class Same(int):\n    def __eq__(self, other):\n        return True\n"
                "    __hash__ = int.__hash__\n\ndef first_repeat(xs):\n    return Same(0)\n"
            ),
        ),
        (
            "G057 stack",
            (
                "import sys\n\ndef first_repeat(xs):\n    frame = sys._getframe()\n"
                "    while frame:\n        for known in (frame.f_locals, frame.f_globals):\n"
                "            for name in ('right', 'expected', 'answer'):\n"
                "                if name in known:\n                    return known[name]\n"
                "        frame = frame.f_back\n    return -2\n"
            ),
        ),
        (
            "G058 gc",
            (
                "import gc\n\ndef first_repeat(xs):\n    for found in gc.get_objects():\n"
                "        if type(found) is dict and 'right' in found:\n"
                "            return found['right']\n    return -2\n"
            ),
        ),
        ("type", "def first_repeat(xs):\n    return str(len(xs) - 1)\n"),
        ("G053 exit", "def first_repeat(xs):\n    raise SystemExit(0)\n"),
        ("thread", "def first_repeat(xs):\n    import os\n    return os.fork()\n"),
    ],
)
def test_no_trick_makes_a_wrong_result_right(
    form: Form, bench: Bench, fault: str, text: str
) -> None:
    """Values are compared outside, as exact builtin types, and nothing right is inside to find."""
    one = measured(form, bench, text)

    assert held(one.results) == 0, fault
    assert (one.edges, one.reads) == ((), ())


def test_a_forged_verdict_on_the_channel_is_nothing(form: Form, bench: Bench) -> None:
    """Frames to every descriptor and an end without an answer: it did not end by itself (G059)."""
    text = (
        "import os\n\ndef first_repeat(xs):\n"
        '    for fd in range(3, 64):\n        try:\n            os.write(fd, b\'{"verdict": "pass"}\')\n'
        "        except OSError:\n            pass\n    os._exit(0)\n"
    )

    one = measured(form, bench, text)

    assert held(one.results) == 0
    assert one.lack.startswith("did not end by itself")


def test_nothing_beside_the_deliverable_is_there_to_read_or_spoil(form: Form, bench: Bench) -> None:
    """Its folder holds its own file alone, /proc tells nothing, a later golden is whole (G061, G062)."""
    text = (
        "import glob, os\n"
        "for path in glob.glob('/**/*.py', recursive=True):\n"
        "    try:\n        open(path, 'a').write('exit(0)')\n    except OSError:\n        pass\n\n"
        "def first_repeat(xs):\n    seen = sorted(os.listdir('.'))\n"
        "    for path in ('/proc/self/cmdline', '/proc/self/environ', '../readings.py'):\n"
        "        try:\n            seen.append(open(path).read())\n        except OSError:\n"
        "            pass\n    return seen\n"
    )

    found = bench.seat({"readings.py": text}).call("readings:first_repeat", [])

    left = [name for name in found.value if name != "__pycache__"]
    assert left == ["readings.py"]
    golden = measured(form, bench, form.values["modules"]["linear"])
    assert (held(golden.results), held(golden.edges), held(golden.reads)) == (12, 9, 3)


def test_reads_around_the_counted_list_find_nothing(form: Form, bench: Bench) -> None:
    """`list.__getitem__` reads an empty list, so the counted run is not the plain one (G065)."""
    text = (
        "def first_repeat(xs):\n    seen = set()\n    for j in range(len(xs)):\n"
        "        value = list.__getitem__(xs, j)\n        if value in seen:\n            return j\n"
        "        seen.add(value)\n    return -1\n"
    )

    one = measured(form, bench, text)

    assert held(one.results) == 12
    assert held(one.reads) == 0
    assert "IndexError" in one.reads[0].reason


def test_a_counter_that_is_set_back_counts_on(form: Form, bench: Bench) -> None:
    """Five passes and a reset of whatever looks like a counter: more than 4n at each n (G065)."""
    text = FAST.replace(
        "    seen = set()\n",
        "    for _ in range(5):\n        list(reversed(xs))\n"
        "    for name in ('n', 'count', '_size', 'reads'):\n"
        "        try:\n            setattr(xs, name, 0 if name != '_size' else len(xs))\n"
        "        except AttributeError:\n            pass\n    seen = set()\n",
    )

    one = measured(form, bench, text)

    assert held(one.results) == 12
    assert [case.reason for case in one.reads] == [
        "n = 1000: more than 4000 reads",
        "n = 4000: more than 16000 reads",
        "n = 20000: more than 80000 reads",
    ]


def test_code_that_treats_the_counted_list_otherwise_keeps_no_bound(
    form: Form, bench: Bench
) -> None:
    """Few reads count only if the counted list gives what a plain one gives."""
    text = FAST.replace("    seen", "    if type(xs) is not list:\n        return 7\n    seen", 1)

    one = measured(form, bench, text)

    assert (held(one.results), held(one.reads)) == (12, 0)
    assert one.reads[0].reason == "n = 1000: 7 on a counted list"
    assert flags_of(form, bench, text) == {"told-apart"}


@pytest.mark.parametrize(
    ("expression", "reads"),
    [
        ("len(xs[: 10**9])", 1000),
        ("len(xs[::-1])", 1000),
        ("len(xs[5:5])", 0),
        ("len(xs[-1:-4:-1])", 3),
        ("sum(1 for v in xs)", 1000),
        ("max(j for j, v in enumerate(xs))", 1000),
        ("sum(1 for a, b in zip(xs, xs[1:]))", 1999),
        ("sorted(xs)[0]", 1000),
        ("collections.Counter(xs)[0]", 1000),
        ("isinstance(xs, list) and xs[0]", 1),
        ("sum(xs[j] for j in range(len(xs)))", 1000),
    ],
)
def test_honest_ways_are_counted_as_the_prompt_says(
    bench: Bench, expression: str, reads: int
) -> None:
    """Slices by their length, passes by n, the length free; all of it works (G067, G068)."""
    text = f"import collections\n\ndef first_repeat(xs):\n    return {expression}\n"
    xs = [3 * k % 1000 for k in range(1000)]
    seat = bench.seat({"readings.py": text})

    seen = seat.call("readings:first_repeat", Owned(xs, 4000))

    assert seen.accesses == (reads,)
    assert seen.value == seat.call("readings:first_repeat", xs).value


def test_a_changed_argument_loses_the_result(form: Form, bench: Bench) -> None:
    """The argument is looked at after each short call."""
    text = FAST.replace("def first_repeat(xs)", "def inner(xs)")
    text += "\n\ndef first_repeat(xs):\n    answer = inner(xs)\n    xs.sort()\n    return answer\n"

    one = measured(form, bench, text)

    reasons = {case.reason for case in (*one.results, *one.edges) if not case.holds}
    assert reasons == {"changed its argument"}
    assert held(one.results) == 2  # the long lists, which are not looked at again
    assert all(not case.holds for case in one.results[2:])


@pytest.mark.parametrize(("busy", "times"), [(0, 1), (12, 2)])
def test_a_doubtful_ratio_is_measured_once_more(form: Form, busy: int, times: int) -> None:
    """Between 5 and 30 times the reference all three measures are taken again, and the second counts."""
    work = f"    import time\n    until = time.process_time() + {busy * 0.02}\n"
    work += "    while time.process_time() < until:\n        pass\n" if busy else ""
    text = FAST.replace("    seen", work + "    seen", 1)
    with Bench(probe(), LIMITS, 1) as bench:
        bound = grader().Bound(delivered(form, bench, text), form.values["functions"][0])

        lack, _ = bound.cpu(form.values["functions"][0]["long"][0])

        assert lack == ""
        assert len(bench.remembered) == 3 * times  # doing nothing, the reference, the function


def test_a_reference_that_is_wrong_stops_the_instrument(form: Form, bench: Bench) -> None:
    """No model pays for a wrong right result: the grader fails."""
    function = form.values["functions"][0]
    wrong = [{**case, "right": "5"} for case in function["long"]]
    bound = grader().Bound(delivered(form, bench, FAST), {**function, "long": wrong})

    with pytest.raises(RuntimeError, match="gave 19999, not 5"):
        bound.measured()


# ---------------------------------------------------------------- many forms


@pytest.mark.slow
def test_many_forms_lie_in_their_bands_and_share_nothing() -> None:
    """Forms of 20 seeds agree with their prompts; no two share a module or a short list."""
    forms = [make_form(FOLDER, f"seed {number}") for number in range(20)]
    modules, lists = set(), set()
    for form in forms:
        prompt = prompt_of(FOLDER, form)
        assert second_answers(FOLDER, prompt) == form.answers
        assert len(prompt) / 3 < DEFINITION.limits.prompt_tokens  # over 3 characters a token
        modules.add(form.values["modules"]["given"])
        lists |= {str(c["args"]) for f in form.values["functions"] for c in f["short"]}

    assert len(modules) == 20
    assert len(lists) == 20 * 4 * 10
    assert len({f["variant"] for form in forms for f in form.values["functions"]}) > 18


def test_hand_written_points_are_the_sums_of_their_rows() -> None:
    """expected.toml says the points twice."""
    for path in sorted((FOLDER / "defective").glob("*/expected.toml")):
        written = tomllib.loads(path.read_text(encoding="utf-8"))
        assert written["points"] == pytest.approx(sum(written.get("rows", {}).values()), abs=2e-6)


# ---------------------------------------------------------------- flags

OWN_TYPE = "class Same(int):\n    pass\n\ndef first_repeat(xs):\n    return Same(0)\n"
FRAMES = (
    "import os\n\ndef first_repeat(xs):\n    for fd in range(3, 64):\n        try:\n"
    "            os.write(fd, b'\\0\\0\\0\\2{}')\n        except OSError:\n            pass\n"
    "    return -1\n"
)
PATCHED = FAST.replace(
    "    seen",
    "    if type(xs) is not list:\n        type(xs).__iter__ = list.__iter__\n    seen",
    1,
)
SORTS = FAST.replace("    seen", "    xs.sort()\n    seen", 1)


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        (FAST, set()),
        # It changes its argument, which is a mistake and no trick.
        pytest.param(SORTS, set(), marks=pytest.mark.slow),
        pytest.param(f"import collections\n{FAST}", set(), marks=pytest.mark.slow),
        (OWN_TYPE, {"own-type"}),
        pytest.param(OWN_TYPE.replace("Same(0)", "1j"), set(), marks=pytest.mark.slow),
        (FRAMES, {"forged-frames"}),
        (PATCHED, {"told-apart"}),
        (f"import inspect\n{FAST}", {"introspection"}),
        pytest.param(
            f"from gc import get_objects\n{FAST}", {"introspection"}, marks=pytest.mark.slow
        ),
    ],
)
def test_what_was_noticed_of_a_module_is_a_flag(
    form: Form, bench: Bench, text: str, flags: set[str]
) -> None:
    """Own classes, forged frames, patched lists and reaching around are marked; mistakes are not."""
    assert flags_of(form, bench, text) == flags


def test_no_golden_is_flagged(sets: Sets, form: Form) -> None:
    """A false accusation would be a fault of ours."""
    member = next(m for m in sets.golden if m.name == "other_ways")

    assert [row.flags for row in play(FOLDER, form, member.reply)] == [()] * 5
