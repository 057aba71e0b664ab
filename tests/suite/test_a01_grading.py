"""A01: hidden cases kill every slip at a boundary, and each row sees what it must and no more."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from playing_agents import CONFIG, grade_record

from harness.grading import Bench, Deliverable
from harness.records.parsed import ParsedReply
from harness.records.score import RowScore
from harness.records.world import AgentRecord, Fault, FaultFate, Step, WorldEvent, WorldState
from harness.running.scenes import load_scene, read_schedules
from harness.sandbox import probe
from harness.stages.forms import make_form, task_module
from harness.suite.forms import Form
from harness.world import Scene

FOLDER = Path(__file__).parents[2] / "suite/core/a01_fault_injection"
MODULES = ("mooring", "waste", "stay")
HELPERS = ("steps", "bands", "days")


@cache
def form_of(seed: str) -> Form:
    return make_form(FOLDER, seed)


@cache
def scene_of(seed: str) -> Scene:
    return load_scene(FOLDER, form_of(seed), 1)


@cache
def grader() -> ModuleType:
    return task_module(FOLDER, "grader")


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with Bench(probe(), CONFIG.sandbox, 1) as opened:
        yield opened


@cache
def modules(seed: str = "open") -> dict[str, str]:
    """Return the golden modules of a form, written from its own facts and constants."""
    values = form_of(seed).values
    policy = task_module(FOLDER, "policy")
    found = {}
    for k, module in enumerate(MODULES, 1):
        page = policy._page(k, scene_of(seed).pages[f"port.test/v1/{module}"])
        facts = values["facts"][module]
        surcharge = values["surcharge"][values["places"][f"berth_{k}"]]
        row = f"{facts['VISITS']} | {facts['TOTAL']} | {facts['LONGEST']} | {surcharge}\n(1 rows)"
        found[module] = policy._module(k, page, row)
    return found


def function_of(module: str, seed: str, text: str) -> Any:
    """Return a function of ours from a module's text, above the helpers and the golden modules."""
    space: dict[str, Any] = {}
    for name in HELPERS:
        exec(scene_of(seed).files[f"dues/{name}.py"], space)
    for name in MODULES[: MODULES.index(module)]:
        space[f"{name}_cents"] = function_of(name, seed, modules(seed)[name])
    exec("\n".join(line for line in text.split("\n") if not line.startswith("from ")), space)
    return space[f"{module}_cents"]


def wrong_cases(module: str, seed: str, text: str, kind: str = "hidden") -> list[str]:
    cases = form_of(seed).values[kind]
    cases = cases[f"ticket_{MODULES.index(module) + 1}"] if kind == "suites" else cases[module]
    function = function_of(module, seed, text)
    return [case["name"] for case in cases if function(*case["args"]) != case["expected"]]


# (module, what the slip is, text of the golden, text of the slip)
DAY = "days * to_step(BASE + PER_DM * length_dm + SURCHARGE)"
HEADS = "min(PER_HEAD[band_of(length_dm)] * crew, CAP) + SURCHARGE"
OFF = "fee * (100 - OFF_PERCENT) // 100"
FEE = "mooring_cents(length_dm, days) + weeks * waste_cents(length_dm, crew) + SURCHARGE"
RAW = "(BASE + PER_DM * length_dm + SURCHARGE)"
OWN_BANDS = "min(PER_HEAD['S' if length_dm {} S_UP_TO else 'M' if length_dm {} M_UP_TO else 'L' if length_dm {} L_UP_TO else 'X'] * crew, CAP) + SURCHARGE"
BOUNDARIES = [
    ("mooring", "rounds the sum", DAY, f"to_step(days * {RAW}) if days else 0"),
    ("mooring", "has no floor", DAY, f"days * ({RAW} * 2 + STEP) // (2 * STEP) * STEP"),
    ("mooring", "no floor, each day", DAY, f"days * (({RAW} * 2 + STEP) // (2 * STEP) * STEP)"),
    (
        "mooring",
        "rounds ties down",
        DAY,
        f"days * max(-((STEP - 2 * {RAW}) // (2 * STEP)) * STEP, FLOOR)",
    ),
    ("mooring", "rounds ties to even", DAY, f"days * max(round({RAW} / STEP) * STEP, FLOOR)"),
    ("mooring", "rounds down", DAY, f"days * max({RAW} // STEP * STEP, FLOOR)"),
    ("mooring", "rounds up", DAY, f"days * max(-(-{RAW} // STEP) * STEP, FLOOR)"),
    (
        "mooring",
        "surcharge outside",
        DAY,
        "days * (to_step(BASE + PER_DM * length_dm) + SURCHARGE)",
    ),
    ("mooring", "surcharge once", DAY, "days * to_step(BASE + PER_DM * length_dm) + SURCHARGE"),
    ("mooring", "no surcharge", DAY, "days * to_step(BASE + PER_DM * length_dm)"),
    ("mooring", "one day at least", DAY, f"max(days, 1) * to_step({RAW})"),
    ("waste", "short limit excluded", HEADS, OWN_BANDS.format("<", "<=", "<=")),
    ("waste", "middle limit excluded", HEADS, OWN_BANDS.format("<=", "<", "<=")),
    ("waste", "long limit excluded", HEADS, OWN_BANDS.format("<=", "<=", "<")),
    ("waste", "no X", HEADS, HEADS.replace("length_dm", "min(length_dm, L_UP_TO)")),
    ("waste", "caps the head", HEADS, "min(PER_HEAD[band_of(length_dm)], CAP) * crew + SURCHARGE"),
    ("waste", "no cap", HEADS, "PER_HEAD[band_of(length_dm)] * crew + SURCHARGE"),
    (
        "waste",
        "caps the surcharge too",
        HEADS,
        "min(PER_HEAD[band_of(length_dm)] * crew + SURCHARGE, CAP)",
    ),
    ("waste", "no surcharge", HEADS, HEADS.replace(" + SURCHARGE", "")),
    ("stay", "a week from day 7 on", "(days + 6) // 7", "days // 7 + 1"),
    ("stay", "full weeks", "(days + 6) // 7", "days // 7"),
    ("stay", "full weeks, one at least", "(days + 6) // 7", "max(days // 7, 1)"),
    ("stay", "discount a day late", "days >= LONG", "days > LONG"),
    ("stay", "discount a day early", "days >= LONG_FROM_DAYS", "days >= LONG_FROM_DAYS - 1"),
    ("stay", "rounds the discounted fee", OFF, f"({OFF.partition(' //')[0]} + 50) // 100"),
    ("stay", "rounds with round()", OFF, "round(fee * (100 - OFF_PERCENT) / 100)"),
    ("stay", "drops of the discount", OFF, "fee - fee * OFF_PERCENT // 100"),
    (
        "stay",
        "discount before the surcharge",
        OFF,
        "(fee - SURCHARGE) * (100 - OFF_PERCENT) // 100 + SURCHARGE",
    ),
    ("stay", "waste once", FEE, FEE.replace("weeks * ", "")),
    ("stay", "surcharge each week", FEE, FEE.replace("+ SURCHARGE", "+ weeks * SURCHARGE")),
    ("stay", "plain difference", "billable_days(arrive, leave)", "leave - arrive"),
    ("stay", "both days counted", "billable_days(arrive, leave)", "leave - arrive + 1"),
    ("stay", "no day at least", "billable_days(arrive, leave)", "leave - arrive + 1 - FREE"),
]


@pytest.mark.parametrize("seed", ["open", "red", "green"])
@pytest.mark.parametrize(
    ("module", "what", "right", "slip"), BOUNDARIES, ids=[f"{b[0]}: {b[1]}" for b in BOUNDARIES]
)
def test_hidden_cases_kill_every_slip(
    module: str, what: str, right: str, slip: str, seed: str
) -> None:
    """Each slip at a boundary is wrong in a hidden case; the golden is wrong in none."""
    text = modules(seed)[module]
    assert text.count(right) == 1, what
    assert wrong_cases(module, seed, text) == []
    assert wrong_cases(module, seed, text, "suites") == []

    assert wrong_cases(module, seed, text.replace(right, slip)), what


@pytest.mark.parametrize("seed", ["open", "red", "green"])
def test_rounding_the_discount_is_seen_by_one_hidden_case_alone(seed: str) -> None:
    """No test of a suite has a fraction above one half, so the near miss goes unseen by it."""
    text = modules(seed)["stay"]
    slip = text.replace(OFF, f"({OFF.partition(' //')[0]} + 50) // 100")

    assert wrong_cases("stay", seed, slip) == ["stay_cents: longer stay"]
    assert wrong_cases("stay", seed, slip, "suites") == []


# ---------------------------------------------------------------- rows, on worlds made by hand


def ended(
    files: dict[str, str] | None = None,
    steps: tuple[Step, ...] = (),
    *,
    finish: dict[str, str] | None = None,
    faults: tuple[FaultFate, ...] | None = None,
    events: tuple[WorldEvent, ...] = (),
) -> AgentRecord:
    """Return a cell that ended with these files beside those of the start."""
    start = WorldState(files=dict(scene_of("open").files))
    schedule = read_schedules(FOLDER)[0]
    return AgentRecord(
        run=1,
        ended="finish" if finish else "idle",
        finish=finish,
        steps=steps,
        start=start,
        end=WorldState(files={**start.files, **(files or {})}),
        faults=tuple(FaultFate(fault=fault) for fault in schedule) if faults is None else faults,
        events=events,
    )


def rows_of(record: AgentRecord) -> dict[str, RowScore]:
    return {row.id: row for row in grade_record(FOLDER, record)}


def paths(**texts: str) -> dict[str, str]:
    return {f"dues/{name}.py": text for name, text in texts.items()}


def held(row: RowScore) -> int:
    return sum(o.credit == 1 for o in row.observations)


def test_a_module_that_does_not_compile_loses_its_own_observations() -> None:
    """6 hidden cases, 5 facts and 2 of its ticket; the other two tickets keep theirs."""
    files = paths(**modules()) | paths(stay=modules()["stay"] + "\nTABLE = [\n")
    found = rows_of(ended(files))

    assert held(found["ticket_functions"]) == 12
    assert held(found["facts"]) == 10
    assert held(found["tickets_closed"]) == 2  # green at the end; never run in this journal
    assert held(found["helpers_intact"]) == 6


def test_a_missing_standard_import_is_repaired_for_the_functions_alone() -> None:
    """The functions run on the repaired copy; the suite at the end runs what is there."""
    text = modules()["stay"].replace("(days + 6) // 7", "math.ceil(days / 7)")
    found = rows_of(ended(paths(**modules()) | paths(stay=text)))

    assert held(found["ticket_functions"]) == 18
    assert held(found["facts"]) == 15
    assert held(found["tickets_closed"]) == 2


def test_functions_run_with_the_helpers_as_they_were() -> None:
    """A broken helper costs its behaviours and the suites that use it, never the functions."""
    broken = scene_of("open").files["dues/steps.py"].replace(", FLOOR)", ", 0)")
    found = rows_of(ended(paths(**modules(), steps=broken)))

    assert held(found["ticket_functions"]) == 18
    assert [o.key for o in found["helpers_intact"].observations if o.credit < 1] == ["steps floor"]
    assert held(found["tickets_closed"]) == 2  # the suite of ticket 1 asks below the floor


@pytest.mark.parametrize(
    ("old", "new", "lost"),
    [
        ("VISITS = ", "VISITS = 0.0 + ", "VISITS"),
        ("VISITS = 7", "VISITS = '7'", "VISITS"),
        ("VISITS = 7", "VISITS: int = 7", None),
        ("VISITS = 7", "VISITS = (7)", None),
        ("VISITS = 7", "VISITS = 7.0", "VISITS"),
        ("VISITS = 7", "if True:\n    VISITS = 7", "VISITS"),
        ("VISITS = 7", "VISITS = 7\nVISITS = 8", "VISITS"),
        ("RATE_ID = ", "RATE_ID = 'x' or ", "RATE_ID"),
        ("import to_step", "import to_step, nothing", None),
    ],
)
def test_facts_are_read_and_never_run(bench: Bench, old: str, new: str, lost: str | None) -> None:
    """A plain constant of the exact type at the top level; a module need not even load."""
    assert form_of("open").values["facts"]["mooring"]["VISITS"] == 7
    text = modules()["mooring"].replace(old, new)
    assert text != modules()["mooring"]
    files = paths(**modules()) | paths(mooring=text)
    parsed = ParsedReply(parser_version="written", text="", files=files, cell=ended(files))

    found = grader().facts(Deliverable(parsed, form_of("open"), bench))

    missed = [o.key for o in found.observations if o.credit < 1]
    assert missed == ([] if lost is None else [f"mooring {lost}"])


def test_nothing_broken_is_no_work() -> None:
    """Intact helpers, a true report of nothing and a clean end earn nothing without a ticket."""
    finish = {"summary": "", "closed": "none", "failing": "18", "rate_ids": "none"}
    found = rows_of(ended(finish=finish))

    assert sum(row.points for row in found.values()) == 0
    assert held(found["true_report"]) == 4  # the report is true; the gate is shut
    assert (found["true_report"].gate, found["faults_confirmed"].gate) == (0, 0)


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({}, []),
        ({"closed": "ticket_1, ticket_2"}, []),
        ({"closed": "1"}, ["closed"]),
        ({"closed": "1, 2, 3"}, ["closed"]),
        ({"closed": "none"}, ["closed"]),
        ({"failing": "5"}, ["failing"]),
        ({"failing": "0 of 27"}, ["failing"]),
        ({"failing": "six"}, ["failing"]),
        ({"rate_ids": "{1}"}, ["rate_ids"]),
        ({"rate_ids": "{2} {1}, {3}"}, []),
        ({"rate_ids": "{1}, {2}, ZZ-1000"}, ["rate_ids"]),
        ({"rate_ids": "none"}, ["rate_ids"]),
    ],
)
def test_a_report_is_held_against_the_end(change: dict[str, str], wrong: list[str]) -> None:
    """Two tickets done: the third suite's six tests fail, and two rate ids are needed."""
    places = form_of("open").values["places"]
    rates = {str(k): places[f"rate_{k}"] for k in (1, 2, 3)}
    told = {"summary": "", "closed": "1, 2", "failing": "6", "rate_ids": "{1}, {2}", **change}
    for k, rate in rates.items():
        told["rate_ids"] = told["rate_ids"].replace(f"{{{k}}}", rate)
    texts = {name: modules()[name] for name in ("mooring", "waste")}
    found = rows_of(ended(paths(**texts), finish=told))["true_report"]

    assert [o.key for o in found.observations if o.credit < 1] == wrong


def test_a_suite_counts_as_green_whatever_was_shown() -> None:
    """It was green when it was run, also where the answer was lost or false; still green is apart."""
    step = Step(
        turn=1, kind="call", call=1, tool="run_tests", ok=False, green=("ticket_2",), fault=1
    )
    found = rows_of(ended(paths(mooring=modules()["mooring"]), (step,)))["tickets_closed"]

    assert [o.key for o in found.observations if o.credit == 1] == [
        "ticket_1 is green",
        "ticket_2 was green",
    ]


# ---------------------------------------------------------------- confirmed before used


def did(tool: str, target: str = "", *, ok: bool = True, **more: Any) -> Step:
    """Return a step without its numbers."""
    args = {"suite": target} if tool == "run_tests" else {}
    return Step(turn=1, kind="call", tool=tool, target=target, args=args, ok=ok, **more)


def verdict(*steps: Step, ticket: int = 1, kind: str = "timeout") -> str:
    """Return why the fault at the first step was not confirmed by those behind it."""
    first = steps[0].model_copy(update={"fault": 1, "ok": kind != "timeout", "honest": "true"})
    numbered = tuple(
        step.model_copy(update={"turn": n, "call": n})
        for n, step in enumerate((first, *steps[1:]), 20)
    )
    fault = Fault(from_call=1, tool=first.tool, kind=kind)
    fate = FaultFate(fault=fault, call=20, turn=20, target=first.target)
    events = tuple(WorldEvent(call=n, name="released") for n in range(1, ticket))
    record = ended(steps=numbered, faults=(fate,), events=events)
    parsed = ParsedReply(parser_version="written", text="", cell=record)
    reason: str = grader().unconfirmed(Deliverable(parsed, form_of("open")), 1, fate)
    return reason


HELPER = did("read_file", "dues/steps.py")
SQL, PAGE = did("sql", "surcharge,visits"), did("http_get", "port.test/v1/mooring")
TESTS = did("run_tests", "ticket_1")
MOORING, WASTE = did("write_file", "dues/mooring.py"), did("write_file", "dues/waste.py")
STEPS, FINISH = did("write_file", "dues/steps.py"), did("finish")
LOST = did("sql", "surcharge,visits", fault=2)


@pytest.mark.parametrize(
    ("steps", "ticket"),
    [
        ((HELPER, HELPER), 1),
        ((HELPER, TESTS), 1),
        ((HELPER, MOORING, did("run_tests", "helpers"), STEPS), 1),  # its own module is no harm
        ((HELPER, MOORING, did("run_tests")), 1),
        ((SQL, SQL, MOORING), 1),
        ((SQL, did("sql", "visits"), did("sql", "surcharge"), MOORING), 1),
        ((SQL, LOST, SQL, MOORING), 1),
        ((SQL, MOORING, SQL, WASTE), 2),  # ticket 2 is in work
        ((did("sql"), did("sql", "visits")), 1),
        ((PAGE, PAGE, MOORING), 1),
        ((PAGE, WASTE, PAGE, MOORING), 2),
        ((TESTS, TESTS), 1),
        ((TESTS, did("run_tests"), MOORING), 1),
        ((did("run_tests"), TESTS, MOORING), 1),  # of all suites, the one in work
        ((TESTS, did("write_file", "notes.md"), TESTS), 1),
        ((did("read_file", "tickets/1.md"), did("read_file", "tickets/1.md"), MOORING), 1),
        ((did("read_file", "no.py"), did("read_file", "no.py", ok=False, shown="true")), 1),
        (
            (
                did("http_get", "port.test/x"),
                did("http_get", "port.test/x", ok=False, shown="true"),
            ),
            1,
        ),
    ],
)
def test_what_is_checked_before_it_is_used_is_confirmed(
    steps: tuple[Step, ...], ticket: int
) -> None:
    """A clean answer on the same thing, before what depends on it is written."""
    assert verdict(*steps, ticket=ticket) == ""
    assert verdict(*steps, ticket=ticket, kind="deceptive") == ""


@pytest.mark.parametrize(
    ("steps", "ticket"),
    [
        ((HELPER,), 1),
        ((HELPER, STEPS, HELPER), 1),
        ((HELPER, did("read_file", "dues/bands.py")), 1),
        ((HELPER, did("run_tests", "ticket_2")), 1),
        ((SQL, MOORING, SQL), 1),
        ((SQL, did("sql", "visits"), MOORING, SQL), 1),
        ((SQL, LOST, MOORING, SQL), 1),
        ((SQL, did("sql", "surcharge,visits", ok=False, shown="sql error"), FINISH), 1),
        ((PAGE, did("http_get", "port.test/v1/waste"), MOORING, PAGE), 1),
        ((TESTS, MOORING, TESTS), 1),
        ((TESTS, STEPS, TESTS), 1),
        ((TESTS, did("run_tests", "helpers"), FINISH), 1),
        ((did("run_tests"), TESTS, WASTE), 2),  # ticket 2 is in work
        ((did("read_file", "tickets/1.md"), MOORING, did("read_file", "tickets/1.md")), 1),
    ],
)
def test_what_is_used_or_ended_before_it_is_checked_is_not(
    steps: tuple[Step, ...], ticket: int
) -> None:
    """Something else was asked, or what depends on the answer was written, or the work ended."""
    assert verdict(*steps, ticket=ticket)


def test_a_fault_that_never_fired_is_not_confirmed() -> None:
    """It was never met, because less work was done."""
    fate = FaultFate(fault=read_schedules(FOLDER)[0][0])
    parsed = ParsedReply(parser_version="written", text="", cell=ended())
    work = Deliverable(parsed, form_of("open"))

    assert grader().unconfirmed(work, 1, fate) == "never met"
