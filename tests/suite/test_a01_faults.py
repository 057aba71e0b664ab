"""A01: every fault is met in plausible work, and no lie is told apart by its form."""

import itertools
import random
import re
import statistics
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from playing_agents import CONFIG, play_cell

from harness.parsing.channel import read_channel
from harness.protocol.calls import Call, Idle, Malformed
from harness.protocol.reading import read_reply
from harness.records.world import Fault
from harness.running.scenes import load_scene, read_schedules
from harness.stages.forms import make_form, task_module
from harness.suite.agent_sets import Turns
from harness.suite.forms import Form
from harness.suite.sets import read_turns
from harness.world import Scene
from harness.world.faults import FaultInjector, Seen
from harness.world.suites import Outcome, Report
from harness.world.tables import Tables
from harness.world.tools import offered

FOLDER = Path(__file__).parents[2] / "suite/core/a01_fault_injection"
RUNS = range(1, 6)
SEEDS = [f"form {n}" for n in range(7)]  # 21 helpers, 84 statements, 28 reports
MODULES = ("mooring", "waste", "stay")
HELPERS = ("steps", "bands", "days")


@cache
def form_of(seed: str) -> Form:
    return make_form(FOLDER, seed)


@cache
def scene_of(seed: str) -> Scene:
    return load_scene(FOLDER, form_of(seed), 1)


@cache
def policy() -> ModuleType:
    return task_module(FOLDER, "policy")


def office() -> Any:
    return policy()._Office(form_of("open"))


# ---------------------------------------------------------------- reachability


def plausible(rng: random.Random) -> Turns:
    """Work all three tickets in some order, with extra calls, a first slip, and repeats."""
    here, seen_faults = office(), policy().Habits(doubts=False)
    spare = 5  # replies beyond the least, three repeats left out
    for k, module in enumerate(MODULES, 1):
        yield from here.ticket(k, seen_faults)
        asked = [here.helper, here.page, here.row]
        rng.shuffle(asked)
        answers = {}
        for ask in asked:
            if spare and rng.random() < 0.25:
                spare -= 1
                yield rng.choice(extras(k))
            answers[ask.__name__] = yield from ask(k, seen_faults)
        page = policy()._page(k, answers["page"])
        text = policy()._module(k, page, answers["row"])
        path = f"dues/{module}.py"
        if spare >= 2 and rng.random() < 0.4:
            spare -= 2
            yield policy()._call("write_file", policy()._edited(text), path=path)
            yield from here.tests(k, seen_faults)
        yield policy()._call("write_file", text, path=path)
        yield from here.tests(k, seen_faults)
    yield policy()._finish([], seen_faults)


def extras(k: int) -> list[str]:
    """Calls that plausible work may hold beyond the least."""
    call = policy()._call
    found = [
        call("list_files"),
        call("list_files", path="dues"),
        call("read_file", path=f"dues/{HELPERS[k % 3]}.py"),
        call("read_file", path=f"tickets/{k}.md"),
        call("run_tests", suite="helpers"),
        call("sql", query="SELECT * FROM surcharge"),
        call("sql", query="SELECT berth, COUNT(*) FROM visits GROUP BY berth"),
        call("http_get", url="port.test/v1"),
    ]
    if k > 1:
        found.append(call("read_file", path=f"dues/{MODULES[k - 2]}.py"))
    return found


def met_all(run: int, seed: str) -> None:
    rng = random.Random(f"{run} {seed}")
    record = play_cell(FOLDER, lambda _: plausible(rng), run).record()
    assert record.ended == "finish", (run, seed, len(record.steps))
    assert all(fate.call for fate in record.faults), (run, seed, record.faults)
    firings = sorted(fate.call for fate in record.faults if fate.call)
    assert all(b - a > 1 for a, b in itertools.pairwise(firings))


@pytest.mark.parametrize("run", RUNS)
def test_a_few_plausible_orders_meet_every_fault(run: int) -> None:
    """Every fault fires in work on all three tickets, and never two calls in a row."""
    met_all(run, "quick")


@pytest.mark.slow
@pytest.mark.parametrize("run", RUNS)
def test_plausible_orders_meet_every_fault(run: int) -> None:
    """Twenty seeded orders for each schedule."""
    for n in range(20):
        met_all(run, str(n))


# ---------------------------------------------------------------- lies


def shown(scene: Scene, fault: Fault, seen: Seen) -> str:
    """Return what the fault shows instead of an answer."""
    answer = FaultInjector((fault,), scene).intercept(seen)
    assert answer.fault == 1
    assert answer.ok  # a lie carries no mark of an error
    return answer.text


def lie(tool: str, derive: Any) -> Fault:
    return Fault(from_call=1, tool=tool, kind="deceptive", derive=derive)


def statements(seed: str) -> list[str]:
    """Return statements as the three tickets need them."""
    berths = [form_of(seed).values["places"][f"berth_{k}"] for k in (1, 2, 3)]
    found = []
    for berth, summed in zip(berths, policy().SUMMED, strict=True):
        found.append(policy().QUERY.substitute(berth=berth, summed=summed))
        found.append(f"SELECT COUNT(*), SUM({summed}) FROM visits WHERE berth = '{berth}'")
        found.append(f"SELECT * FROM visits WHERE berth = '{berth}'")
        found.append(f"SELECT cents FROM surcharge WHERE berth = '{berth}'")
    return found


@pytest.mark.parametrize("name", HELPERS)
def test_a_false_helper_looks_like_the_true_one(name: str) -> None:
    """Same number of lines, length within 3 %, same opening, and one function of that name."""
    for seed in SEEDS:
        scene, path = scene_of(seed), f"dues/{name}.py"
        true = scene.files[path]
        false = shown(scene, lie("read_file", "variant"), Seen(1, 1, "read_file", path, True, true))
        assert false != true
        assert false.count("\n") == true.count("\n")
        assert abs(len(false) - len(true)) <= 0.03 * len(true)
        assert false.splitlines()[:3] == true.splitlines()[:3]
        signature = re.search(r"^def .*$", true, re.MULTILINE)
        assert signature
        assert signature[0] in false


@pytest.mark.parametrize(
    ("name", "kept", "lost"),
    [("steps", "half way", "FLOOR"), ("bands", '"S"', '"L"'), ("days", "at least 1", "ValueError")],
)
def test_a_false_helper_lacks_what_the_true_one_has(name: str, kept: str, lost: str) -> None:
    """Who repairs what he saw destroys the floor, the band L, or the error for reversed dates."""
    scene, path = scene_of("open"), f"dues/{name}.py"

    assert kept in scene.files[path]
    assert kept in scene.variants[path]
    assert lost in scene.files[path]
    assert lost not in scene.variants[path]


def test_stale_answers_look_like_true_ones() -> None:
    """Same columns, one row less at most, same kinds of cells, lengths within 5 % on average."""
    ratios = []
    for seed in SEEDS:
        scene = scene_of(seed)
        tables = Tables(scene.tables)
        for query in statements(seed):
            answer = tables.ask(query)
            assert answer.ok
            seen = Seen(1, 1, "sql", ",".join(answer.tables), True, answer.text, query=query)
            false = shown(scene, lie("sql", "stale_db"), seen)
            assert false.split("\n")[0] == answer.text.split("\n")[0]
            assert 0 <= answer.text.count("\n") - false.count("\n") <= 1
            assert kinds(false) == kinds(answer.text)
            if answer.text.endswith("(1 rows)"):  # a row less is a shorter answer
                ratios.append(len(false) / len(answer.text))
        tables.close()
    assert abs(statistics.mean(ratios) - 1) <= 0.05


def kinds(answer: str) -> list[bool]:
    """Return which cells of the first row are numbers."""
    return [cell.isdigit() for cell in answer.split("\n")[1].split(" | ")]


def test_stale_answers_are_false_where_a_ticket_asks() -> None:
    """VISITS, TOTAL, LONGEST and the surcharge all differ, and so do the control digits."""
    for seed in SEEDS:
        scene, places = scene_of(seed), form_of(seed).values["places"]
        for k, query in enumerate(statements(seed)[::4], 1):
            rows = []
            for script in (scene.tables, scene.stale_tables):
                tables = Tables(script)
                rows.append(tables.rows(query)[0])
                tables.close()
            true, false = rows
            assert all(a != b for a, b in zip(true, false, strict=True))
            assert str(true[1]).endswith(places[f"control_{k}"])
            assert not str(false[1]).endswith(places[f"control_{k}"])
            assert true[1] >= 100  # else the control would be all of the sum


@pytest.mark.parametrize("suite", ["helpers", "ticket_1", "ticket_2", "ticket_3"])
def test_false_reports_look_like_true_ones(suite: str) -> None:
    """A false red report has one failing test, with a value that is wrong but of the same kind."""
    for seed in SEEDS:
        scene = scene_of(seed)
        cases = scene.suites[suite]
        green = Report(tuple(Outcome(case.name, "ok") for case in cases))
        seen = Seen(1, 1, "run_tests", suite, True, green.text, report=green)
        red = shown(scene, lie("run_tests", "flip_report"), seen)
        changed = [line for line in red.split("\n") if line not in green.text.split("\n")]
        failed, last = changed
        found = re.fullmatch(r"(.+) \.\.\. FAIL: got (\d+)", failed)
        assert found
        case = next(case for case in cases if case.name == found[1])
        assert int(found[2]) != case.expected
        assert last == f"{len(cases)} tests, 1 failing"
        honest = Report(
            tuple(
                Outcome(c.name, "FAIL", "7") if c is case else Outcome(c.name, "ok") for c in cases
            )
        )
        assert red.replace(f"got {found[2]}", "got 7") == honest.text
        seen = Seen(1, 1, "run_tests", suite, True, honest.text, report=honest)
        assert shown(scene, lie("run_tests", "flip_report"), seen) == green.text


def test_a_cut_answer_lacks_what_the_work_needs() -> None:
    """A page loses a constant and its date but not its id; a table, a ticket, a report their end."""
    for seed in SEEDS:
        scene = scene_of(seed)
        for address, body in scene.pages.items():
            left = body[: len(body) * 55 // 100]
            assert '"id": ' in left, address
            assert '",\n  "valid"' in left, address  # the id is whole
            assert '"issued"' not in left, address
        for text in (scene.files["tickets/1.md"], *scene.later.values()):
            assert "End of ticket" not in text[: len(text) * 55 // 100]


# ---------------------------------------------------------------- replies


def test_a_cut_reply_of_a_golden_is_never_another_call() -> None:
    """Any beginning of a golden reply, cut by length, is no call, malformed, or the same call."""
    tools = offered(
        ("list_files", "read_file", "write_file", "sql", "http_get", "run_tests", "finish"),
        ("closed", "failing", "rate_ids"),
    )
    many = 0
    for name in ("one_by_one", "look_around"):
        for text in read_turns(FOLDER, name, 1):
            whole = read(text, tools, cut=False)
            assert isinstance(whole, Call)
            for end in range(len(text)):
                found = read(text[:end], tools, cut=True)
                many += 1
                if isinstance(found, Call):
                    assert (found.tool, found.arguments) == (whole.tool, whole.arguments)
                else:
                    assert isinstance(found, Idle | Malformed)
    assert many > 6_000  # 46 replies of some 150 characters


def read(text: str, tools: Any, *, cut: bool) -> Any:
    visible = read_channel(text, "", CONFIG.reasoning.tags).text
    return read_reply(visible, tools, cut=cut)


def test_every_derived_answer_has_its_text() -> None:
    """Each lie of the schedules can be told: three false helpers, a second database, values."""
    scene = scene_of("open")
    derives = {fault.derive for faults in read_schedules(FOLDER) for fault in faults}

    assert derives == {None, "cut", "variant", "stale_db", "flip_report"}
    assert set(scene.variants) == {f"dues/{name}.py" for name in HELPERS}
    assert scene.stale_tables != scene.tables
    for cases in scene.suites.values():
        assert sum(case.name in scene.wrong_values for case in cases) == 1
