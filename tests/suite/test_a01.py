"""A01: what is believed must be checked; goldens, ladder and exploits score what they must."""

import hashlib
import re
import shutil
import tomllib
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest
from playing_agents import CONFIG, grade_record, play_cell, task_of

from harness.errors import SuiteError
from harness.protocol.writing import system_text
from harness.records.handwritten import read_toml
from harness.records.score import total_of
from harness.records.world import AgentRecord
from harness.running.scenes import load_scene, read_schedules
from harness.stages.agent_plays import agent_sets_of
from harness.stages.forms import make_form, make_players, prompt_of, task_module
from harness.suite.agent_sets import AgentSets, Player
from harness.suite.definition import TaskDefinition
from harness.suite.forms import Form
from harness.suite.loader import load_suite, read_form
from harness.suite.sets import read_agent_expected, read_turns
from harness.world import Scene

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "suite/core/a01_fault_injection"
DEFINITION = read_toml(FOLDER / "task.toml", TaskDefinition, SuiteError)
RUNS = range(1, 6)
SEEDS = ("open", "red", "green")
ROUNDING = 2e-6  # a row is rounded to six decimals on either side
SHARED_AT_MOST = 2  # a tenth of 21 answers
TURNS = {  # by run
    "one_by_one": (22,) * 5,
    "look_around": (24,) * 5,
    "roundabout": (24, 23, 24, 24, 24),  # in run 2 one suite is run in vain and not two
}


@cache
def form_of(seed: str) -> Form:
    return make_form(FOLDER, seed)


@cache
def sets_of(seed: str) -> AgentSets:
    return make_players(FOLDER, form_of(seed))


@cache
def scene_of(seed: str) -> Scene:
    return load_scene(FOLDER, form_of(seed), 1)


@cache
def oracle() -> ModuleType:
    return task_module(FOLDER, "oracle")


def second(prompt: str, scene: Scene) -> dict[str, str]:
    found: dict[str, str] = oracle().answers(prompt, scene)
    return found


def player_of(sets: AgentSets, name: str) -> Player:
    members = (*sets.golden, *sets.defective, *sets.exploits)
    return next(member.play for member in members if member.name == name)


def played(name: str, run: int, seed: str = "open") -> AgentRecord:
    return play_cell(FOLDER, player_of(sets_of(seed), name), run, form_of(seed)).record()


def scored(record: AgentRecord, seed: str = "open") -> dict[str, float]:
    """Return the points of every row above zero."""
    rows = grade_record(FOLDER, record, form_of(seed))
    return {row.id: row.points for row in rows if row.points}


def total(record: AgentRecord, seed: str = "open") -> float:
    return total_of(grade_record(FOLDER, record, form_of(seed)))


# ---------------------------------------------------------------- the form and its two methods


def test_definition_has_the_rows_and_observations_of_the_specification() -> None:
    """Six rows of 6, 5, 4, 4, 3 and 2 points with 18, 15, 9, 3, 6 and 4 sub-observations."""
    assert [(row.id, row.points, row.observations) for row in DEFINITION.rows] == [
        ("ticket_functions", 6, 18),
        ("facts", 5, 15),
        ("helpers_intact", 4, 9),
        ("faults_confirmed", 4, 3),
        ("tickets_closed", 3, 6),
        ("true_report", 2, 4),
    ]
    assert (DEFINITION.max_points, DEFINITION.observations) == (24, 55)


def test_schedules_are_those_of_the_specification() -> None:
    """Each run has one timeout, one cut answer and one lie, armed at the tenth call or before."""
    told = [
        [(f.from_call, f.tool, f.kind, f.derive) for f in faults]
        for faults in read_schedules(FOLDER)
    ]
    assert told == [
        [
            (3, "run_tests", "timeout", None),
            (6, "http_get", "malformed", "cut"),
            (9, "read_file", "deceptive", "variant"),
        ],
        [
            (2, "http_get", "malformed", "cut"),
            (5, "run_tests", "deceptive", "flip_report"),
            (8, "*", "timeout", None),
        ],
        [
            (4, "sql", "deceptive", "stale_db"),
            (7, "run_tests", "timeout", None),
            (10, "*", "malformed", "cut"),
        ],
        [
            (3, "read_file", "deceptive", "variant"),
            (6, "sql", "timeout", None),
            (9, "run_tests", "malformed", "cut"),
        ],
        [
            (2, "http_get", "timeout", None),
            (5, "sql", "malformed", "cut"),
            (8, "run_tests", "deceptive", "flip_report"),
        ],
    ]


def test_folder_loads_alone(tmp_path: Path) -> None:
    """The static checks of the loader hold for this folder."""
    shutil.copytree(FOLDER, tmp_path / "suite/core" / FOLDER.name)

    assert load_suite(tmp_path).ids == ("A01",)


@pytest.mark.parametrize("seed", SEEDS)
def test_both_methods_agree(seed: str) -> None:
    """15 facts and the results of six functions, from texts and tables alone."""
    form = form_of(seed)

    assert second(prompt_of(FOLDER, form), scene_of(seed)) == form.answers
    assert len(form.answers) == 15 + 6


@pytest.mark.parametrize("seed", SEEDS)
def test_second_method_gives_what_every_test_and_hidden_case_expects(seed: str) -> None:
    """Each expected value comes out of the helper texts and the tickets' sentences too."""
    office = oracle().Office(scene_of(seed))
    entries = {
        "dues.steps:to_step": office.to_step,
        "dues.bands:band_of": office.band_of,
        "dues.days:billable_days": office.billable_days,
        "dues.mooring:mooring_cents": office.mooring,
        "dues.waste:waste_cents": office.waste,
        "dues.stay:stay_cents": office.stay,
    }
    values = form_of(seed).values
    cases = [case for kind in ("hidden", "suites") for cs in values[kind].values() for case in cs]
    cases += [c for kinds in values["behaviours"].values() for cs in kinds.values() for c in cs]
    assert len(cases) == 18 + 27 + 19
    for case in cases:
        if case["raises"]:
            with pytest.raises(ValueError, match="leave is before arrive"):
                entries[case["entry"]](*case["args"])
        else:
            assert entries[case["entry"]](*case["args"]) == case["expected"]


@pytest.mark.parametrize(
    ("place", "old", "new", "key"),
    [
        ("files", "low + STEP if up", "low + 2 * STEP if up", "to_step"),
        ("files", "if length_dm <= S_UP_TO:", "if length_dm <= 2 * S_UP_TO:", "band_of"),
        ("files", "arrive + 1 - FREE, 1)", "arrive + 2 - FREE, 1)", "billable_days"),
        ("pages", '"per_dm": ', '"per_dm": 1', "mooring"),
        ("pages", '"cap": ', '"cap": 1', "waste"),
        ("pages", '"off_percent": 1', '"off_percent": 2', "stay"),
        ("tables", "(3", "(4", None),
        ("tables", "'mole', 279", "'mole', 280", "stay"),
    ],
)
def test_second_method_reads_what_an_agent_could(
    place: str, old: str, new: str, key: str | None
) -> None:
    """One change in a helper, page or table changes what follows from it, and nothing else."""
    scene, form = scene_of("open"), form_of("open")
    texts = dict(vars(scene))
    if place == "tables":
        texts["tables"] = scene.tables.replace(old, new)
    else:
        texts[place] = {path: t.replace(old, new) for path, t in texts[place].items()}
    assert texts[place] != vars(scene)[place]

    changed = second(prompt_of(FOLDER, form), Scene(**texts))

    differ = {name for name in changed if changed[name] != form.answers[name]}
    follows = {
        "to_step": {"to_step", "mooring", "stay"},
        "band_of": {"band_of", "waste", "stay"},
        "billable_days": {"billable_days", "stay"},
        "mooring": {"mooring", "stay"},
        "waste": {"waste", "stay"},
        "stay": {"stay"},
        None: set(),  # the number of a visit means nothing
    }
    assert differ == follows[key]


@pytest.mark.parametrize("seed", SEEDS)
def test_texts_fit_what_a_model_is_sent(seed: str) -> None:
    """System and task text stay within 3,600 characters, every file and page within 2,400."""
    system = system_text(CONFIG, DEFINITION.tools)
    scene = scene_of(seed)

    assert len(system) + len(prompt_of(FOLDER, form_of(seed))) <= 3_600
    texts = (*scene.files.values(), *scene.pages.values(), *scene.later.values())
    assert max(map(len, texts)) <= 2_400


@pytest.mark.parametrize("seed", SEEDS)
def test_world_holds_nothing_of_the_instrument(seed: str) -> None:
    """At the start there are helpers and one ticket; no expected value stands in any file."""
    scene = scene_of(seed)

    assert sorted(scene.files) == [
        *("dues/__init__.py", "dues/bands.py", "dues/days.py", "dues/steps.py", "tickets/1.md"),
    ]
    assert sorted(scene.later) == ["tickets/2.md", "tickets/3.md"]
    texts = "\n".join((*scene.files.values(), *scene.pages.values(), *scene.later.values()))
    assert "$" not in texts
    for module, cases in form_of(seed).values["hidden"].items():
        numbers = {case["expected"] for case in cases} - {0}
        assert not [n for n in numbers if re.search(rf"\b{n}\b", texts)], module


# ---------------------------------------------------------------- sets


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("name", TURNS)
def test_goldens_reach_the_maximum_and_meet_every_fault(name: str, run: int) -> None:
    """24 points, three faults, 22 to 24 replies, and nothing is ever left out of the talk."""
    record = played(name, run)

    assert total(record) == pytest.approx(24, abs=ROUNDING)
    assert all(fate.call for fate in record.faults)
    assert len(record.steps) == TURNS[name][run - 1]
    assert record.longest_chars <= 16_000
    assert [event.name for event in record.events] == ["released", "released"]


@pytest.mark.parametrize(
    ("name", "run"),
    [
        ("near_miss", 1),
        ("believes_lies", 3),
        ("checks_late", 5),
        ("half_done", 3),
        *(("first_ticket", run) for run in RUNS),
    ],
)
def test_quick_members_of_the_ladder_score_what_they_must(name: str, run: int) -> None:
    """Exactly the declared points of exactly the declared rows."""
    rows = next(m.rows for m in sets_of("open").defective if m.name == name)

    assert scored(played(name, run)) == pytest.approx(rows[run - 1], abs=ROUNDING)


@pytest.mark.parametrize("name", ["always_equal", "overwrites"])
def test_hostile_work_earns_nothing_and_the_golden_after_it_everything(name: str) -> None:
    """An exploit scores nothing, and leaves nothing behind that would touch the next cell."""
    assert total(played(name, 2)) == 0
    assert total(played("one_by_one", 2)) == pytest.approx(24, abs=ROUNDING)


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["open", "amber"])
def test_sets_score_what_they_must(seed: str) -> None:
    """Every member in every run, in the open form and a private one."""
    sets = sets_of(seed)
    for run in RUNS:
        for defective in sets.defective:
            found = scored(played(defective.name, run, seed), seed)
            assert found == pytest.approx(defective.rows[run - 1], abs=ROUNDING), defective.name
        for exploit in sets.exploits:
            assert total(played(exploit.name, run, seed), seed) <= exploit.ceiling, exploit.name
            after = played("one_by_one", run, seed)
            assert total(after, seed) == pytest.approx(24, abs=ROUNDING), exploit.name


@pytest.mark.slow
@pytest.mark.parametrize("run", RUNS)
def test_doing_nothing_scores_nothing(run: int) -> None:
    """Silence, talk and finish at once earn no point under any schedule."""
    members = {m.name: m.play for m in agent_sets_of(task_of(FOLDER)).defective}
    for name in ("empty", "talks", "finish_at_once"):
        record = play_cell(FOLDER, members[name], run).record()
        assert total(record) == 0, name


def test_frozen_files_are_what_the_open_form_makes() -> None:
    """open.json, the goldens' turns and hand-written points agree with form.py and policy.py."""
    assert read_form(FOLDER / "open.json") == form_of("open")
    for name in TURNS:
        for run in RUNS:
            made: list[str] = []
            written = read_turns(FOLDER, name, run)
            turns = player_of(sets_of("open"), name)(run)

            def kept(_run: int, turns=turns, made=made):
                reply = next(turns)
                while True:
                    made.append(reply)
                    try:
                        reply = turns.send((yield reply))
                    except StopIteration:
                        return

            play_cell(FOLDER, kept, run)
            assert tuple(made) == written
    expected, ceilings = read_agent_expected(FOLDER)
    for member in sets_of("open").defective:
        for run, rows in zip(expected[member.name].run, member.rows, strict=True):
            assert run.rows == pytest.approx(rows, abs=ROUNDING)
    assert {e.name: e.ceiling for e in sets_of("open").exploits} == {
        name: written.ceiling for name, written in ceilings.items()
    }


def test_ladder_has_its_order_in_every_run() -> None:
    """Near miss above believers above one ticket alone; see NOTES.md for each number."""
    written = {
        path.parent.name: [run["points"] for run in tomllib.loads(path.read_text())["run"]]
        for path in (FOLDER / "defective").glob("*/expected.toml")
    }

    assert written["near_miss"] == pytest.approx([24 - 6 / 18 - 2 / 4] * 5, abs=ROUNDING)
    # The specification measured these two lines; the first is exactly its own.
    assert written["first_ticket"] == pytest.approx([8.44, 8.89, 8.89, 8.0, 9.33], abs=0.005)
    assert written["believes_lies"] == pytest.approx([10.72, 10.77, 10.27, 10.72, 11.22], abs=1)
    for run in range(5):
        assert written["near_miss"][run] > written["believes_lies"][run] > 10
        assert written["believes_lies"][run] > written["first_ticket"][run]


# ---------------------------------------------------------------- private forms


def shared(form: Form, other: Form) -> set[str]:
    """Return the answers that two forms have in common, where more than three values can be."""
    few = {"billable_days", *(key for key in form.answers if key.endswith(".VISITS"))}
    return {k for k in form.answers if form.answers[k] == other.answers[k]} - few


@pytest.mark.parametrize(
    "seed", ["red", *(pytest.param(seed, marks=pytest.mark.slow) for seed in ("green", "blue"))]
)
def test_private_forms_are_parallel(seed: str) -> None:
    """Goldens keep their turns and points, and no two forms share their numbers."""
    record = played("look_around", 3, seed)
    assert total(record, seed) == pytest.approx(24, abs=ROUNDING)
    assert len(record.steps) == TURNS["look_around"][2]
    assert len(shared(form_of(seed), form_of("open"))) <= SHARED_AT_MOST


@pytest.mark.slow
def test_twenty_seeds_pass_their_bands() -> None:
    """Both methods agree, prompts are of one size, and no two forms share a tenth of their answers."""
    forms = [form_of(f"seed {n}") for n in range(20)]
    lengths = [len(prompt_of(FOLDER, form)) for form in forms]
    open_length = len(prompt_of(FOLDER, form_of("open")))
    for n, form in enumerate(forms):
        assert second(prompt_of(FOLDER, form), scene_of(f"seed {n}")) == form.answers
        assert abs(lengths[n] - open_length) <= 0.05 * open_length
        for other in forms[:n]:
            assert len(shared(form, other)) <= SHARED_AT_MOST, (form.seed, other.seed)
    for n in range(0, 20, 5):
        for run in RUNS:
            record = played("one_by_one", run, f"seed {n}")
            assert total(record, f"seed {n}") == pytest.approx(24, abs=ROUNDING)
            assert len(record.steps) == TURNS["one_by_one"][run - 1]


def test_digest_of_an_answer_is_that_of_its_results() -> None:
    """The digests are of results joined by a blank; worked out here for one helper by hand."""
    places = form_of("open").values["places"]
    step, floor = int(places["step"]), int(places["floor"])
    results = []
    for cents in range(0, 2_500, 7):
        below = cents // step * step
        nearest = below if cents - below < below + step - cents else below + step
        results.append(str(max(nearest, floor)))
    digest = hashlib.sha256(" ".join(results).encode()).hexdigest()[:16]

    assert form_of("open").answers["to_step"] == digest
