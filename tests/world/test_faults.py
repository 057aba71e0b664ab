"""A fault replaces an answer, once, where its schedule and the answer allow it."""

from dataclasses import replace

import pytest
from world.acting import HARBOUR, SUITES, SaidRunner, act, fault

from harness.records.world import Fault, Step
from harness.world import Scene, World
from harness.world.faults import TIMEOUT_TEXT

STEPS = "dues/steps.py"
TESTED = replace(HARBOUR, suites=SUITES, wrong_values={"steps down": "825"})
RED = SaidRunner(mooring="FAIL", steps_up="ERROR")
GREEN = SaidRunner()
ROWS = "SELECT id FROM visits ORDER BY id"
LATE_ROWS = "SELECT id FROM visits WHERE id < 3"  # answered alike by both databases


def world(*faults: Fault, scene: Scene = HARBOUR, runner: SaidRunner = GREEN) -> World:
    return World(scene, faults, runner)


def fired(step: Step) -> bool:
    return step.fault is not None


def test_a_fault_fires_at_the_first_matching_call_from_its_number_on() -> None:
    """Firing at that very call alone would let a model that calls another tool skip it."""
    here = world(fault(3, "sql", "timeout"))

    early = act(here, "sql", query=ROWS)
    other = [act(here, "read_file", path=STEPS) for _ in range(3)]
    hit = act(here, "sql", query=ROWS)
    again = [act(here, "sql", query=ROWS) for _ in range(3)]

    assert [fired(step) for step in (early, *other, hit, *again)] == [False] * 4 + [True] + [
        False
    ] * 3
    assert (hit.ok, hit.shown, hit.honest) == (False, TIMEOUT_TEXT, early.shown)
    (fate,) = here.fates
    assert (fate.call, fate.turn, fate.target) == (5, 5, "visits")


def test_calls_are_counted_over_all_tools_and_errors_count() -> None:
    """An executed call is one also when its tool answers with an error."""
    here = world(fault(3, "read_file", "timeout"))

    act(here, "read_file", path="nowhere")
    act(here, "write_file", path="a", content="x")

    assert fired(act(here, "read_file", path=STEPS))


def test_an_unfired_fault_stays_listed() -> None:
    """Nobody takes a schedule for easier than it was: what never fired has no call."""
    here = world(fault(1, "sql", "timeout"), fault(1, "http_get", "timeout"))
    act(here, "sql", query=ROWS)

    assert [(fate.fault.tool, fate.call) for fate in here.fates] == [("sql", 1), ("http_get", None)]


def test_the_effect_of_a_call_stands() -> None:
    """A statement whose answer was lost was run all the same."""
    here = world(fault(1, "sql", "timeout"))

    lost = act(here, "sql", query="INSERT INTO surcharge VALUES ('E', 1)")

    assert (lost.ok, lost.changed_tables) == (False, ("surcharge",))
    assert lost.honest == "ok: 1 rows changed"
    assert act(here, "sql", query="SELECT count(*) AS n FROM surcharge").shown == "n\n3\n(1 rows)"


@pytest.mark.parametrize(
    ("faults", "kinds"),
    [
        ((fault(1, "*", "timeout"), fault(1, "sql", "malformed", "cut")), [1, None, 2, None]),
        ((fault(1, "sql", "malformed", "cut"), fault(1, "*", "timeout")), [1, None, 2, None]),
        ((fault(2, "sql", "timeout"), fault(1, "sql", "timeout")), [2, None, 1, None]),
    ],
)
def test_two_faults_never_come_in_a_row(faults: tuple[Fault, ...], kinds: list[int | None]) -> None:
    """The call right after a fault is honest, and the order of the list decides among the armed."""
    here = world(*faults)

    assert [act(here, "sql", query=ROWS).fault for _ in kinds] == kinds


def test_the_honest_call_may_be_of_any_tool() -> None:
    """It is the next executed call that is honest, not the next of the same tool."""
    here = world(fault(1, "sql", "timeout"), fault(1, "read_file", "timeout"))

    steps = [
        act(here, "sql", query=ROWS),
        act(here, "read_file", path=STEPS),
        act(here, "read_file", path=STEPS),
    ]
    assert [fired(step) for step in steps] == [True, False, True]


@pytest.mark.parametrize(
    "lie",
    [
        fault(1, "read_file", "malformed", "cut"),
        fault(1, "read_file", "deceptive", "variant"),
        fault(1, "*", "malformed", "cut"),
    ],
)
def test_a_lie_needs_an_answer_that_is_no_error(lie: Fault) -> None:
    """An error is not corrupted; the fault waits for a result."""
    here = world(lie)

    assert not fired(act(here, "read_file", path="dues"))
    assert fired(act(here, "read_file", path=STEPS))


def test_a_timeout_needs_nothing() -> None:
    """A tool that would have failed can also stay silent."""
    step = act(world(fault(1, "read_file", "timeout")), "read_file", path="nowhere")

    assert (step.shown, step.honest) == (TIMEOUT_TEXT, "not found: nowhere")


def test_any_tool_means_those_that_observe() -> None:
    """What writes, lists or ends is never met by a fault for every tool."""
    here = world(fault(1, "*", "timeout"), scene=TESTED)

    quiet = [
        act(here, "list_files"),
        act(here, "write_file", path="a", content="x"),
        act(here, "delete_file", path="a"),
        act(here, "finish", summary="x"),
    ]
    assert not any(map(fired, quiet))
    for tool, args in (
        ("read_file", {"path": STEPS}),
        ("search", {"text": "STEP"}),
        ("sql", {"query": ROWS}),
        ("http_get", {"url": "port.test/v1/waste"}),
        ("run_tests", {}),
    ):
        assert fired(act(world(fault(1, "*", "timeout"), scene=TESTED), tool, **args)), tool


def test_a_cut_answer_loses_its_end() -> None:
    """The first 55 of 100 characters are shown, as a result like any other."""
    scene = Scene(files={"a": "0123456789" * 10, "empty": ""})
    here = World(scene, [fault(1, "read_file", "malformed", "cut")])

    nothing = act(here, "read_file", path="empty")  # cut, it would be what it is
    step = act(here, "read_file", path="a")

    assert not fired(nothing)
    assert (step.ok, step.shown) == (True, scene.files["a"][:55])


def test_a_variant_is_shown_for_its_own_path_alone() -> None:
    """Where no text was written for the target, the lie waits."""
    here = world(fault(1, "read_file", "deceptive", "variant"))

    assert not fired(act(here, "read_file", path="dues/bands.py"))
    step = act(here, "read_file", path="/workspace/dues/./steps.py")
    assert (step.ok, step.shown) == (True, HARBOUR.variants[STEPS])
    assert act(here, "read_file", path=STEPS).shown == HARBOUR.files[STEPS]


def test_a_variant_that_is_true_by_now_is_no_lie() -> None:
    """A model that wrote the false text itself is shown what it wrote, and the fault waits."""
    here = world(fault(1, "read_file", "deceptive", "variant"))
    act(here, "write_file", path=STEPS, content=HARBOUR.variants[STEPS])

    assert not fired(act(here, "read_file", path=STEPS))
    assert here.fates[0].call is None


def test_a_stale_answer_comes_from_the_second_database() -> None:
    """The same statement on other rows: same columns, same form; and only where it differs."""
    here = world(fault(1, "sql", "deceptive", "stale_db"))

    assert not fired(act(here, "sql", query=LATE_ROWS))
    step = act(here, "sql", query=ROWS)
    assert (step.shown, step.honest) == ("id\n1\n2\n(2 rows)", "id\n1\n2\n3\n(3 rows)")
    assert act(here, "sql", query=ROWS).shown == step.honest


@pytest.mark.parametrize(
    "query",
    [
        "UPDATE visits SET crew = 0",
        "DELETE FROM visits",
        "INSERT INTO visits(id) SELECT id + 10 FROM visits RETURNING id",
        "SELECT * FROM later",
    ],
)
def test_what_the_second_database_cannot_answer_is_no_lie(query: str) -> None:
    """A write is not run twice, and a table that only the world has is not denied."""
    scene = replace(HARBOUR, tables=HARBOUR.tables + "CREATE TABLE later(x);")
    here = world(fault(1, "sql", "deceptive", "stale_db"), scene=scene)

    assert not fired(act(here, "sql", query=query))


def test_the_second_database_is_always_as_it_was_written() -> None:
    """Its answer is a function of the statement alone, whatever was asked before."""
    lies = [fault(1, "sql", "deceptive", "stale_db")] * 2
    here = world(*lies)

    first = act(here, "sql", query=ROWS)
    act(here, "sql", query="UPDATE visits SET id = id + 100")
    assert act(here, "sql", query=ROWS).shown == first.shown


def test_a_red_report_is_shown_green() -> None:
    """Same tests, same order, no failure."""
    here = world(fault(1, "run_tests", "deceptive", "flip_report"), scene=TESTED, runner=RED)

    step = act(here, "run_tests")

    honest = "steps up ... ERROR: \nsteps down ... ok\nmooring ... FAIL: got 7\n3 tests, 2 failing"
    assert step.honest == honest
    assert step.shown == "steps up ... ok\nsteps down ... ok\nmooring ... ok\n3 tests, 0 failing"
    assert (step.ok, step.green) == (True, ())


def test_a_green_report_is_shown_with_one_failure() -> None:
    """The wrong value is written by hand; a report without such a test stays honest."""
    here = world(fault(1, "run_tests", "deceptive", "flip_report"), scene=TESTED)

    other = act(here, "run_tests", suite="ticket_1")
    step = act(here, "run_tests", suite="helpers")

    assert not fired(other)
    assert step.shown == "steps up ... ok\nsteps down ... FAIL: got 825\n2 tests, 1 failing"
    assert (step.honest, step.green) == (
        "steps up ... ok\nsteps down ... ok\n2 tests, 0 failing",
        ("helpers",),
    )


def test_nothing_tells_a_lie_from_a_truth_by_its_form() -> None:
    """Twenty lies and twenty truths of each kind: same status, same shape, same flags."""
    pairs = []
    for number in range(20):
        id_of = f"SELECT id, length FROM visits WHERE id <> {-number} ORDER BY id"
        lie = fault(1, "sql", "deceptive", "stale_db")
        pairs.append((act(world(lie), "sql", query=id_of), act(world(), "sql", query=id_of)))
        lie = fault(1, "run_tests", "deceptive", "flip_report")
        runner = SaidRunner(**{("mooring", "steps_up", "steps_down")[number % 3]: "FAIL"})
        pairs.append(
            (
                act(world(lie, scene=TESTED, runner=runner), "run_tests"),
                act(world(scene=TESTED), "run_tests"),
            )
        )
    for false, true in pairs:
        assert fired(false)
        seen = {"ok", "tool", "args", "target", "flags", "price", "kind", "call"}
        assert false.model_dump(include=seen) == true.model_dump(include=seen)
        assert false.shown.split("\n")[0] == true.shown.split("\n")[0]
        assert abs(false.shown.count("\n") - true.shown.count("\n")) <= 1
