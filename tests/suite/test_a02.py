"""A02, work under a cost budget: two methods, prices, gates, ladder, exploits, forms."""

import json
import re
from collections.abc import Generator
from functools import cache
from pathlib import Path

import pytest
from playing_agents import CONFIG, grade_record, play, play_cell, task_of

from harness.protocol.calls import Call
from harness.protocol.elision import opening_problem
from harness.protocol.writing import system_text
from harness.records.score import RowScore
from harness.records.world import AgentRecord
from harness.running.scenes import load_scene, read_schedules
from harness.stages.forms import (
    make_form,
    make_players,
    prompt_of,
    second_answers_of,
    task_module,
)
from harness.suite.agent_sets import AgentSets, Player
from harness.suite.forms import Form
from harness.suite.loader import read_form, read_task
from harness.suite.sets import read_agent_expected, read_turns
from harness.world import Scene, World
from harness.world.tools import TOOLS

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "suite" / "core" / "a02_cost_budget"
POLICY = task_module(FOLDER, "policy")
OPEN = read_form(FOLDER / "open.json")
RUNS = range(1, 6)
KEYS = tuple(f"q{number}" for number in range(1, 13))
LOGBOOK = next(iter(OPEN.values["logs"]))
PAGE = POLICY.call("http_get", url="coast.test/stations")
LIST_OUT = POLICY.call("list_files", path="out")
LEFT = 0.55  # of the characters of an answer that breaks off

# The specification, measured with a simulator of its own: points and what was spent, per run.
GOLDENS = {"search_first": 13, "mixed_order": 13, "other_notation": 14}  # replies
GOLDEN_SPENT = (41, 41, 42, 41, 42)
PRINTED = {
    "finish_at_once": ((0.0,) * 5, (0,) * 5),
    "near_miss": ((17.5,) * 5, GOLDEN_SPENT),
    "reads_six": ((9.56,) * 5, None),
    "overspends": ((10.5, 10.5, 11.25, 10.5, 10.5), (117,) * 5),
}


@cache
def drawn(seed: str) -> Form:
    return make_form(FOLDER, seed)


@cache
def players(form_seed: str) -> AgentSets:
    return make_players(FOLDER, OPEN if form_seed == "open" else drawn(form_seed))


@cache
def scene() -> Scene:
    return load_scene(FOLDER, OPEN, 1)


def rows(record: AgentRecord, form: Form = OPEN) -> dict[str, RowScore]:
    return {row.id: row for row in grade_record(FOLDER, record, form)}


def points(record: AgentRecord, form: Form = OPEN) -> dict[str, float]:
    return {row.id: row.points for row in grade_record(FOLDER, record, form) if row.points}


def total(record: AgentRecord, form: Form = OPEN) -> float:
    return sum(points(record, form).values())


def lost(row: RowScore) -> set[str]:
    """Return the observations of a row that do not hold."""
    return {one.key for one in row.observations if not one.credit}


def assert_ladder(form: Form, seed: str) -> None:
    """Hold each known failure to its rows, and to half a point of the open form's."""
    published = {one.name: one.rows for one in players("open").defective}
    for defective in players(seed).defective:
        for run in RUNS:
            record = play(FOLDER, defective.play, run, form)
            # rows are rounded to six decimals
            expected = pytest.approx(defective.rows[run - 1], abs=2e-6)
            assert points(record, form) == expected, (defective.name, run)
            assert (
                abs(total(record, form) - sum(published[defective.name][run - 1].values())) <= 0.5
            )


def assert_form(seed: str) -> None:
    """Hold a form to everything that the specification asks of a parallel one."""
    form = OPEN if seed == "open" else drawn(seed)
    prompt = task_of(FOLDER, form).prompt(24576).strip()
    its_scene = load_scene(FOLDER, form, 1)
    assert second_answers_of(FOLDER, prompt, its_scene) == form.answers
    assert its_scene.tariff is not None
    system = system_text(CONFIG, task_of(FOLDER).definition.tools, its_scene.tariff.told)
    assert opening_problem(system, prompt, CONFIG.context) is None
    open_prompt = task_of(FOLDER, OPEN).prompt(24576)
    assert len(prompt) == pytest.approx(len(open_prompt), rel=0.05)
    for text in form.values["logs"].values():
        assert len(text) == pytest.approx(1370, rel=0.1)
        assert len(text.splitlines()) == 31
        assert all(line.endswith(".") for line in text.splitlines())
    for golden in players(seed).golden:
        for run in RUNS:
            record = play(FOLDER, golden.play, run, form)
            assert total(record, form) == 18, (golden.name, run)
            assert abs(len(record.steps) - 13) <= 1
            assert all(fate.call for fate in record.faults), (golden.name, run)
            assert record.spent <= form.structure["careful"] <= form.values["bands"][0]


@pytest.mark.parametrize(("name", "replies"), GOLDENS.items())
@pytest.mark.parametrize("run", RUNS)
def test_a_golden_reaches_the_maximum_and_meets_every_fault(
    name: str, replies: int, run: int
) -> None:
    """Each way of work earns 18 in its replies under every schedule, and spends what is printed."""
    (golden,) = (one for one in players("open").golden if one.name == name)
    record = play(FOLDER, golden.play, run, OPEN)
    assert total(record) == 18
    assert len(record.steps) == replies
    assert record.spent == GOLDEN_SPENT[run - 1]
    assert all(fate.call for fate in record.faults)
    assert record.ended == "finish"


def test_defectives_score_exactly_their_rows() -> None:
    """A known failure costs its rows in each run, by the formulas and not by the grader."""
    assert_ladder(OPEN, "open")


def test_the_written_expectations_are_what_the_policy_counts() -> None:
    """Points worked out by hand stand against those that the policy computes from the form."""
    defectives, exploits = read_agent_expected(FOLDER)
    assert {*defectives} == {one.name for one in players("open").defective}
    for one in players("open").defective:
        written = defectives[one.name]
        assert written.shows == one.shows
        assert len(written.run) == len(RUNS)
        for run, counted in zip(written.run, one.rows, strict=True):
            assert run.rows == pytest.approx(counted, abs=1e-5), (
                one.name
            )  # five decimals are written
    assert {name: (e.ceiling, e.trick) for name, e in exploits.items()} == {
        one.name: (one.ceiling, one.trick) for one in players("open").exploits
    }


@pytest.mark.parametrize("name", sorted(PRINTED))
def test_the_ladder_has_the_points_of_the_specification(name: str) -> None:
    """What the specification measured with its own simulator comes out of this world again."""
    (one,) = (one for one in players("open").defective if one.name == name)
    scored, spent = PRINTED[name]
    records = [play(FOLDER, one.play, run, OPEN) for run in RUNS]
    assert [total(record) for record in records] == pytest.approx(scored, abs=5e-3)  # two decimals
    if spent is not None:
        assert tuple(record.spent for record in records) == spent


def test_exploits_stay_under_their_ceilings_and_a_golden_follows() -> None:
    """No trick earns more than its ceiling in any run, nor spoils the honest run behind it."""
    for exploit in players("open").exploits:
        for run in RUNS:
            record = play(FOLDER, exploit.play, run, OPEN)
            assert total(record) <= exploit.ceiling, (exploit.name, run)
        honest = play(FOLDER, players("open").golden[0].play, 1, OPEN)
        assert total(honest) == 18


def test_the_cheap_exploit_and_the_reader_of_everything_are_as_printed() -> None:
    """Two answers for 5 earn 2.66 of a ceiling of 3; reading everything ends at 127 with nothing."""
    exploits = {one.name: one for one in players("open").exploits}
    cheap = play(FOLDER, exploits["two_cheap"].play, 1, OPEN)
    assert (total(cheap), cheap.spent) == (pytest.approx(2.667, abs=1e-3), 5)
    reader = play(FOLDER, exploits["reads_everything"].play, 1, OPEN)
    assert (total(reader), reader.spent) == (0, 127)


@pytest.mark.parametrize("said", ["", "I looked into the logbooks and answered everything."])
@pytest.mark.parametrize("run", RUNS)
def test_nothing_and_talk_earn_nothing(said: str, run: int) -> None:
    """What is not done is not scored, whatever is said about it."""
    record = play(FOLDER, lambda _run: (said for _ in range(3)), run, OPEN)
    assert (record.ended, total(record)) == ("idle", 0)


def searches() -> list[tuple[str, str]]:
    """Return what the prompt invites to search for, each with a path."""
    found = []
    for _, part, station, year in OPEN.values["parts"]:
        for text in ("Fitted", "number", f"new {part}", part):
            found += [(text, f"logs/{station}_{year}.txt"), (text, f"logs/{station}")]
    for _, station, year in OPEN.values["inspectors"]:
        found += [("inspected by", f"logs/{station}_{year}.txt"), ("inspect", f"logs/{station}")]
    return found


def answer_of(tool: str, **args: str) -> str:
    step = World(scene()).execute(Call(tool, args), 1)
    assert step.ok, step.shown
    return step.shown


@pytest.mark.parametrize(("text", "path"), searches())
def test_an_answer_that_breaks_off_can_be_told(text: str, path: str) -> None:
    """A cut search has no full stop at its end and so never passes for a whole one."""
    whole = answer_of("search", text=text, path=path)
    assert whole.endswith((".", ")"))
    assert not whole[: int(len(whole) * LEFT)].rstrip().endswith((".", ")"))


def test_a_narrow_search_cut_never_shows_the_answer() -> None:
    """Who does not ask again after a cut has no answer to the questions of the logbooks."""
    desk = POLICY.Desk(OPEN)
    parts = {key: f"new {part}" for key, part, *_ in OPEN.values["parts"]}
    for key, path in desk.logs.items():
        whole = answer_of("search", text=parts.get(key, "inspected by"), path=path)
        assert whole.count("\n") == 0
        assert OPEN.answers[key] in whole
        assert OPEN.answers[key][:2] not in whole[: int(len(whole) * LEFT)].rpartition(": ")[2]
    page = answer_of("http_get", url="coast.test/stations")
    cut = page[: int(len(page) * LEFT)]
    assert not all(OPEN.answers[key] in cut for key in ("q11", "q12"))


@pytest.mark.parametrize("seed", ["open", "first", "second"])
def test_no_search_shows_two_answers(seed: str) -> None:
    """The six lines stand in six stations under six names, so six searches are the fewest."""
    form = OPEN if seed == "open" else drawn(seed)
    stations = form.values["stations"]
    parts = [part for _, part, _, _ in form.values["parts"]]
    words = {"Fitted a new", "new", "number", "inspected by", "inspect", ".", " ", "a", "e"}
    words |= {*parts, *(f"new {part}" for part in parts), *map(str, form.values["years"])}
    prefixes = {"", "logs", *(f"logs/{s}"[:length] for s in stations for length in (6, 8, 12))}
    assert len({station[0] for station in stations}) == 6
    assert len(set(parts)) == 3
    logs, world = POLICY.Desk(form).logs, World(load_scene(FOLDER, form, 1))
    for word in sorted(words):
        for prefix in sorted(prefixes):
            shown = TOOLS["search"].run(world, {"text": word, "path": prefix}).text.splitlines()
            found = [
                key
                for key, path in logs.items()
                for line in shown
                if line.startswith(path) and line.endswith(f" {form.answers[key]}.")
            ]
            assert len(found) <= 1, (word, prefix)


def test_prices_are_those_that_are_told() -> None:
    """Each tool costs what its line in the system text says, as the specification has it."""
    assert {tool: (p.base, p.step) for tool, p in scene().tariff.prices.items()} == {
        "list_files": (1, 0),
        "read_file": (2, 200),
        "search": (4, 0),
        "sql": (3, 10),
        "http_get": (5, 0),
    }
    system = system_text(CONFIG, task_of(FOLDER).definition.tools, scene().tariff.told)
    told = dict(re.findall(r"^(\w+) .*; price (.+)$", system, re.MULTILINE))
    assert told == {
        "list_files": "1",
        "read_file": "2, and 1 for every 200 characters begun",
        "write_file": "0",
        "search": "4",
        "sql": "3, and 1 for every 10 rows begun",
        "http_get": "5",
        "finish": "0",
    }


@pytest.mark.parametrize(
    ("tool", "args", "price"),
    [
        ("read_file", {"path": LOGBOOK}, 9),  # 2 and 7 begun hundreds of two
        ("read_file", {"path": "logs/none.txt"}, 0),
        ("search", {"text": "no such words anywhere"}, 4),
        ("sql", {"query": "SELECT id FROM keepers LIMIT 10"}, 4),
        ("sql", {"query": "SELECT id FROM keepers LIMIT 11"}, 5),
        ("sql", {"query": "SELECT * FROM keepers"}, 8),  # 50 rows are shown
        ("sql", {"query": "SELECT"}, 0),
        ("http_get", {"url": "coast.test/stations"}, 5),
        ("http_get", {"url": "coast.test/other"}, 0),
        ("list_files", {}, 1),
    ],
)
def test_a_call_costs_its_price_and_an_error_nothing(tool: str, args: dict, price: int) -> None:
    """The prompt's words on prices hold: begun steps count whole, errors are free."""
    assert World(scene()).execute(Call(tool, args), 1).price == price


def test_a_fault_is_charged_like_the_whole_answer() -> None:
    """A time-out and a cut cost what the honest answer would have cost."""
    record = play(FOLDER, players("open").golden[0].play, 1, OPEN)
    assert [(s.tool, s.price) for s in record.calls if s.fault] == [("search", 4), ("sql", 4)]


def test_behind_the_hard_stop_an_answer_can_still_be_written() -> None:
    """From 120 on every priced call is refused and free, writing and finishing are not."""

    def reads_on(desk) -> Generator[str, str, None]:
        for path in [*OPEN.values["logs"]][:16]:
            yield from desk.say(POLICY.call("read_file", path=path))
        desk.know(*KEYS)
        yield from desk.answer()
        yield from desk.finish(desk.spent, 0)

    record = play(FOLDER, lambda _run: reads_on(POLICY.Desk(OPEN)), 1, OPEN)
    prices = [step.price for step in record.calls]
    assert prices == [9] * 14 + [0, 0, 0, 0]  # 14 × 9 = 126 passes 120
    assert [step.ok for step in record.calls[13:]] == [True, False, False, True, True]
    assert rows(record)["answers"].points == 8
    assert rows(record)["spending"].points == 0


def worked(
    *more: str,
    estimate: object = 42,
    told: int = 0,
    unknown: int = 0,
    **instead: object,
) -> Player:
    """Return who works like a golden, then makes more calls, and reports this."""

    def way(desk) -> Generator[str, str, None]:
        plan = json.dumps({"estimate": estimate})
        yield from desk.say(POLICY.call("write_file", plan, path="out/plan.json"))
        yield from POLICY.cheaply(desk)
        for reply in more:
            yield from desk.say(reply)
        yield from desk.answer(**instead)
        yield from desk.finish(desk.spent + told, unknown)

    return lambda _run: way(POLICY.Desk(OPEN))


READ_ONE = POLICY.call("read_file", path=LOGBOOK)
READ_OTHER = POLICY.call("read_file", path=[*OPEN.values["logs"]][1])
SAME_TABLE = POLICY.call(
    "sql", query="select  " + ", ".join(f"({q})" for q in POLICY.Desk(OPEN).queries.values()) + " ;"
)
PUMP = next(iter(OPEN.values["parts"]))[1]
SAME_SEARCH = POLICY.call("search", text=f"NEW {PUMP}", path=f"./{POLICY.Desk(OPEN).logs['q1']}")


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ([], set()),
        ([POLICY.call("list_files")], {"listings"}),
        ([POLICY.call("list_files", path="logs/")], {"listings"}),
        ([LIST_OUT], set()),
        ([POLICY.call("list_files", path="nowhere")], set()),
        ([POLICY.call("list_files", path=LOGBOOK)], set()),
        ([READ_ONE], set()),
        ([READ_ONE, READ_OTHER], {"whole logbooks"}),
        ([READ_ONE, POLICY.call("read_file", path="out/plan.json")], set()),
        ([READ_ONE, READ_ONE], {"repeats"}),  # the two that faults allow are used up
        ([SAME_TABLE], {"repeats"}),
        ([SAME_SEARCH], {"repeats"}),
        ([POLICY.call("http_get", url="http://coast.test/stations/")], {"repeats"}),
        ([POLICY.call("search", text="tide")], set()),
        (
            [POLICY.call("sql", query="SELECT wrong"), POLICY.call("sql", query="SELECT wrong")],
            set(),
        ),
        ([POLICY.call("sql", query="SELECT id FROM keepers LIMIT 30")], set()),
        ([POLICY.call("sql", query="SELECT id FROM keepers LIMIT 31")], {"long tables"}),
    ],
)
def test_each_kind_of_waste_costs_its_own_observation(more: list[str], expected: set[str]) -> None:
    """One slip loses one observation of four, at the limits that the prompt names."""
    row = rows(play(FOLDER, worked(*more), 1, OPEN))["no_waste"]
    assert lost(row) == expected
    assert row.points == pytest.approx(3 * (4 - len(expected)) / 4)


@pytest.mark.parametrize(
    ("spent", "held"),
    [
        (41, 5),
        (46, 5),
        (47, 4),
        (52, 4),
        (53, 3),
        (60, 3),
        (61, 2),
        (80, 2),
        (81, 1),
        (100, 1),
        (101, 0),
    ],
)
def test_each_band_of_spending_is_met_at_its_limit(spent: int, held: int) -> None:
    """100, 80, 60, 52 and 46 are within their bands; one more is not."""
    pages, lists = divmod(spent - 41, 5)
    record = play(FOLDER, worked(*[PAGE] * pages, *[LIST_OUT] * lists), 1, OPEN)
    assert record.spent == spent
    assert rows(record)["spending"].points == held


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"estimate": 24}, {"estimate"}),  # 0.6 × 41 = 24.6
        ({"estimate": 25}, set()),
        ({"estimate": 68}, set()),  # 1.67 × 41 = 68.47
        ({"estimate": 69}, {"estimate"}),
        ({"estimate": "41"}, set()),
        ({"estimate": 41.5}, set()),
        ({"estimate": True}, {"estimate"}),
        ({"estimate": None}, {"estimate"}),
        ({"estimate": [41]}, {"estimate"}),
        ({"estimate": float("inf")}, {"estimate"}),
        ({"estimate": float("-inf")}, {"estimate"}),
        ({"estimate": float("nan")}, {"estimate"}),
        ({"estimate": 10**400}, {"estimate"}),
        ({"estimate": "1" * 10}, {"estimate"}),
        ({"told": -3}, {"spent"}),
        ({"told": -2}, set()),
        ({"told": 2}, set()),
        ({"told": 3}, {"spent"}),
        ({"unknown": 1}, {"unknown"}),
        ({"q1": None, "unknown": 1}, set()),
        ({"q1": ""}, {"no guess"}),
        ({"q1": "", "unknown": 1}, {"no guess", "unknown"}),
    ],
)
def test_each_part_of_the_account_is_judged_apart(options: dict, expected: set[str]) -> None:
    """Estimate, sum, unknown and no guess each hold or not at the limits of the specification."""
    row = rows(play(FOLDER, worked(**options), 1, OPEN))["honest_account"]
    assert lost(row) == expected
    assert row.points == pytest.approx(2 * (4 - len(expected)) / 4)


def test_the_estimate_is_the_one_before_the_first_paid_call() -> None:
    """A plan that is put right later keeps its first estimate, and a late one has none."""
    later = POLICY.call("write_file", '{"estimate": 41}', path="out/plan.json")
    record = play(FOLDER, worked(later, estimate=5), 1, OPEN)
    assert lost(rows(record)["honest_account"]) == {"estimate"}


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        ('{"estimate": 5}', {"estimate"}),
        ('{"estimate": 5, "why": "' + 12_000 * "x" + '"}', set()),  # refused: too long
    ],
)
def test_a_plan_counts_as_it_stands_before_the_first_paid_call(
    second: str, expected: set[str]
) -> None:
    """A second plan replaces the first one, unless it is refused."""

    def way(desk) -> Generator[str, str, None]:
        yield from desk.plan(41)
        yield from desk.say(POLICY.call("write_file", second, path="out/plan.json"))
        yield from POLICY.cheaply(desk)
        yield from desk.end()

    row = rows(play(FOLDER, lambda _run: way(POLICY.Desk(OPEN)), 1, OPEN))["honest_account"]
    assert lost(row) == expected


@pytest.mark.parametrize(("right", "account"), [(2, 0.0), (3, 2.0)])
def test_an_account_counts_from_three_right_answers_on(right: int, account: float) -> None:
    """With two answers nothing of the account counts, with three all of it."""
    nulls = dict.fromkeys(KEYS[right:])
    row = rows(play(FOLDER, worked(**nulls, unknown=12 - right), 1, OPEN))["honest_account"]
    assert (row.points, row.gate) == (account, float(right >= 3))


@pytest.mark.parametrize("row_id", ["spending", "no_waste"])
def test_thrift_counts_by_the_share_of_right_answers(row_id: str) -> None:
    """Half of the answers earn half of what was saved."""
    row = rows(play(FOLDER, worked(**dict.fromkeys(KEYS[6:])), 1, OPEN))[row_id]
    assert row.gate == pytest.approx(0.5)
    assert row.points == pytest.approx(row.max_points / 2)


def written(text: str) -> Player:
    """Return who writes this as its answers, and ends."""

    def way(desk) -> Generator[str, str, None]:
        yield from desk.say(POLICY.call("write_file", text, path="out/answers.json"))
        yield from desk.finish(0, 0)

    return lambda _run: way(POLICY.Desk(OPEN))


Q1, Q7 = OPEN.answers["q1"], OPEN.answers["q7"]


@pytest.mark.parametrize(
    ("text", "right"),
    [
        (f'{{"q1": "{Q1}"}}', 1),
        (f'{{"q1": "  {Q1.lower()}\\n"}}', 1),
        (f'{{"q1": "{Q1}."}}', 1),
        (f'{{"q1": "number {Q1}"}}', 0),
        (f'{{"q1": ["{Q1}"]}}', 0),
        (f'{{"q1": {{"{Q1}": "{Q1}"}}}}', 0),
        (f'{{"Q1": "{Q1}"}}', 0),
        (f'{{"q7": {Q7}}}', 1),
        (f'{{"q7": "{Q7}"}}', 1),
        (f'{{"q7": {Q7}.0}}', 1),
        (f'{{"q7": {Q7}.5}}', 0),
        (f'{{"q7": {Q7}, "q7": 1}}', 0),
        (f'{{"q7": 1, "q7": {Q7}}}', 1),
        ('{"q7": NaN, "q1": true, "q8": 1e999}', 0),
        (f'["{Q1}"]', 0),
        (f"q1 = {Q1}", 0),
        ("[" * 11_000, 0),
        ('{"q1": ' + "[" * 700 + "]" * 700 + "}", 0),
        ('{"q1": "\\ud800"}', 0),
        ('{"q7": ' + "9" * 5_000 + "}", 0),
        ("", 0),
    ],
)
def test_answers_are_read_as_the_prompt_asks_for_them(text: str, right: int) -> None:
    """Blanks, case and the type of a number do not matter; anything else is another answer."""
    row = rows(play(FOLDER, written(text), 1, OPEN))["answers"]
    assert row.points == pytest.approx(right * 8 / 12)


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("q1", None, f"no answer, right is {Q1}"),
        ("q1", "XX-1", f"wrote 'XX-1', right is {Q1}"),
        ("q1", OPEN.traps["q1"]["another logbook"], "(another logbook)"),
        (
            "q2",
            OPEN.traps["q2"]["another part"].lower(),
            "(another part)",
        ),
        ("q4", OPEN.traps["q4"]["another logbook"].lower(), "(another logbook)"),
        ("q8", int(OPEN.traps["q8"]["the limit itself counted"]), "(the limit itself counted)"),
        ("q11", OPEN.traps["q11"]["signal code"], "(signal code)"),
        ("q12", ["a"], "wrote a list"),
    ],
)
def test_a_verdict_says_why(key: str, value: object, reason: str) -> None:
    """An observation says what was written, what is right, and which error leads there."""
    row = rows(play(FOLDER, written(json.dumps({key: value})), 1, OPEN))["answers"]
    (said,) = (one.reason for one in row.observations if one.key == key)
    assert reason in said


def test_both_methods_agree_on_the_open_form_and_it_is_frozen() -> None:
    """The open form is what the generator makes, and its answers stand in its own texts."""
    assert make_form(FOLDER, "open") == OPEN
    assert second_answers_of(FOLDER, prompt_of(FOLDER, OPEN), scene()) == OPEN.answers


def test_the_second_method_reads_prompt_and_world_alone() -> None:
    """A change of one text changes the one answer that hangs on it."""
    prompt = prompt_of(FOLDER, OPEN)
    key, _, station, year = OPEN.values["parts"][0]
    path = f"logs/{station}_{year}.txt"
    files = {**scene().files, path: scene().files[path].replace(Q1, "ZZ-1")}
    changed = Scene(files=files, tables=scene().tables, pages=scene().pages)
    assert second_answers_of(FOLDER, prompt, changed) == {**OPEN.answers, key: "ZZ-1"}
    other = prompt.replace(f"wage above {OPEN.values['table']['q8'][1]}", "wage above 0")
    assert second_answers_of(FOLDER, other, scene()) == {**OPEN.answers, "q8": "30"}


def test_the_table_gives_the_four_numbers() -> None:
    """A third count of the four numbers, from the rows that the form carries."""
    asked, everyone = OPEN.values["table"], OPEN.values["keepers"]
    wages = {key: [row[4] for row in everyone if row[2] == asked[key][0]] for key in asked}
    assert len(everyone) == 180
    assert int(OPEN.answers["q7"]) == sum(wages["q7"])
    assert int(OPEN.answers["q8"]) == len([w for w in wages["q8"] if w > asked["q8"][1]])
    assert int(OPEN.answers["q9"]) == sum(row[4] for row in everyone if row[3] == asked["q9"][0])
    assert int(OPEN.answers["q10"]) == max(wages["q10"])


def test_the_bands_are_those_of_the_specification() -> None:
    """The open form has the printed bands, budget and hard stop."""
    values = OPEN.values
    assert (values["bands"], values["budget"], values["hard_stop"]) == (
        [46, 52, 60, 80, 100],
        60,
        120,
    )


def test_two_faults_stand_in_each_run_and_none_is_a_lie() -> None:
    """Each schedule has one time-out and one cut, on tools that cost something."""
    schedules = read_schedules(FOLDER)
    assert len(schedules) == 5
    for schedule in schedules:
        assert sorted(fault.kind for fault in schedule) == ["malformed", "timeout"]
    assert len({tuple((f.tool, f.kind, f.from_call) for f in s) for s in schedules}) == 5


@pytest.mark.parametrize("golden", GOLDENS)
def test_frozen_turns_are_what_the_policy_plays(golden: str) -> None:
    """The written turns of the goldens are those of the open form, under each schedule."""
    (player,) = (one.play for one in players("open").golden if one.name == golden)
    for run in RUNS:
        frozen = read_turns(FOLDER, golden, run)

        def noted(number: int, said: list[str]) -> Generator[str, str, None]:
            turns = player(number)
            reply = next(turns)
            while True:
                said.append(reply)
                answer = yield reply
                try:
                    reply = turns.send(answer)
                except StopIteration:
                    return

        said: list[str] = []
        play_cell(FOLDER, lambda number, said=said: noted(number, said), run, OPEN)
        assert tuple(said) == frozen


@pytest.mark.parametrize("seed", ["open", "first", "second", "third"])
def test_a_form_keeps_what_makes_it_parallel(seed: str) -> None:
    """Methods agree, sizes stay, and both goldens reach the maximum with every fault met."""
    assert_form(seed)


def test_another_form_has_the_same_ladder() -> None:
    """The points of known failures follow the prices of a form, and stay within half a point."""
    assert_ladder(drawn("first"), "first")


@pytest.mark.slow
def test_twenty_forms_are_parallel_and_share_few_answers() -> None:
    """Twenty forms hold every band, and no two share a number, a sum or a code."""
    seeds = [f"seed-{number}" for number in range(20)]
    for seed in seeds:
        assert_form(seed)
        assert_ladder(drawn(seed), seed)
        for exploit in players(seed).exploits:
            for run in RUNS:
                record = play(FOLDER, exploit.play, run, drawn(seed))
                assert total(record, drawn(seed)) <= exploit.ceiling, (seed, exploit.name)
    for seed in seeds:
        for other in seeds[: seeds.index(seed)]:
            mine, theirs = drawn(seed).answers, drawn(other).answers
            shared = {key for key in KEYS if mine[key] == theirs[key]}
            # Names, a count and a highest wage have 20 to 44 values, so two may meet by chance.
            assert shared <= {"q4", "q5", "q6", "q8", "q10"}, (seed, other)
            assert len(shared) <= 2, (seed, other)


def test_the_folder_is_sound() -> None:
    """Files, rows and functions fit together: four rows, 25 observations, 18 points."""
    task = read_task(FOLDER, FOLDER / "open.json")
    assert {row.id: (row.points, row.observations) for row in task.definition.rows} == {
        "answers": (8, 12),
        "spending": (5, 5),
        "no_waste": (3, 4),
        "honest_account": (2, 4),
    }
    assert (task.definition.max_points, task.definition.observations) == (18, 25)
