"""A plan is resolved whole: defaults filled in, tasks that cannot be graded left out by name."""

from pathlib import Path

import pytest
from campaigning import instrument

from harness.campaign.plan import read_plan, resolve
from harness.errors import PlanError
from harness.records.campaign import CampaignPlan
from harness.sandbox import Tier
from harness.stages.instrument import Instrument

NO_WALLS = Tier(name="none", available=False, details="", todo="apt-get install bubblewrap")


@pytest.fixture(scope="module")
def core() -> Instrument:
    return instrument()


def plan(**changes: object) -> CampaignPlan:
    model = {"id": "m", "backend": "external", "base_url": "http://127.0.0.1:9/v1"}
    return CampaignPlan.model_validate({"name": "p", "models": [model], **changes})


def test_silence_means_the_whole_level(core: Instrument) -> None:
    """Without tasks and runs in the plan, the config's defaults hold."""
    found = resolve(plan(), b"", core)
    assert (found.tasks, found.runs, found.subset) == (core.suite.ids, 3, False)


def test_a_subset_is_declared(core: Instrument) -> None:
    """Naming tasks is leaving others out; there is no total of level A then."""
    found = resolve(plan(tasks=["A08", "A04"]), b"", core)
    assert (found.tasks, found.subset) == (("A04", "A08"), True)


def test_without_walls_tasks_that_run_code_are_left_out_by_name(core: Instrument) -> None:
    """The rest goes on, with the command that would help; answer tasks need no sandbox."""
    runs_code = [t.id for t in core.suite.tasks if t.definition.executes]
    found = resolve(plan(), b"", core, tier=NO_WALLS)
    assert list(found.left_out) == runs_code
    assert not set(found.tasks) & set(runs_code)
    assert all("apt-get install bubblewrap" in why for why in found.left_out.values())
    assert found.subset == bool(runs_code)


def test_every_problem_is_named_at_once(core: Instrument) -> None:
    """A person does not have to run a command four times."""
    models = [
        {"id": "m", "backend": "external", "base_url": "http://127.0.0.1:9/v1"},
        {"id": "m", "backend": "embeded"},
        {"id": "k", "backend": "external", "api_key_env": "UNSET"},
        {"id": "K", "backend": "embedded"},
    ]
    with pytest.raises(PlanError) as error:
        resolve(plan(models=models, tasks=["A4"], runs=9), b"", core, environment={})
    message = str(error.value)
    for words in (
        "'A4' is no task",
        "schedules are written for 5",
        "the id 'm' stands twice",
        "the ids K and k differ in capitals alone",
        'did you mean "embedded"?',
        "base_url",
        "UNSET is not set",
    ):
        assert words in message


@pytest.mark.parametrize(
    ("ids", "words"),
    [(("m", "M"), "differ in capitals alone"), (("Control-Empty",), "is the name of a control")],
)
def test_ids_that_differ_in_capitals_alone_are_one(
    core: Instrument, ids: tuple[str, ...], words: str
) -> None:
    """Usual disks of macOS keep both in one folder: one model would have the other's replies."""
    served = {"backend": "external", "base_url": "http://127.0.0.1:9/v1"}
    with pytest.raises(PlanError) as error:
        resolve(plan(models=[{"id": name, **served} for name in ids]), b"", core)
    assert [words in problem.what for problem in error.value.problems] == [True]


def test_a_rule_between_keys_is_told_without_the_whole_plan(tmp_path: Path) -> None:
    """Two keys that exclude one another are named; no line is filled with what was written."""
    path = tmp_path / "plan.toml"
    ends = 'name = "x"\nhours = 9\ndeadline = "07:00"\n'
    path.write_text(ends + '[[models]]\nid = "m"\nbackend = "embedded"\n', encoding="utf-8")
    with pytest.raises(PlanError) as caught:
        read_plan(path)
    (problem,) = caught.value.problems
    assert problem.where == "plan.toml"
    assert problem.what == "deadline and hours both say when it ends; keep one of them"


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ('runs = "3"', "runs"),
        ("runs = 3.0", "runs"),
        ("runs = true", "runs"),
        ('hours = "9"', "hours"),
        ('controls = "no"', "controls"),
        ("allow_slow = 1", "allow_slow"),
        ('order_seed = "1"', "order_seed"),
    ],
)
def test_a_value_of_another_kind_is_not_turned_into_the_right_one(
    line: str, key: str, tmp_path: Path
) -> None:
    """Whoever wrote it in quotes has misread the document, and may have misread more of it."""
    path = tmp_path / "plan.toml"
    path.write_text(f'name = "x"\n{line}\n[[models]]\nid = "m"\nbackend = "embedded"\n')
    with pytest.raises(PlanError) as caught:
        read_plan(path)
    assert [problem.where for problem in caught.value.problems] == [f"plan.toml: {key}"]


def test_hours_may_be_a_whole_number(tmp_path: Path) -> None:
    """TOML tells 9 from 9.0, people do not."""
    path = tmp_path / "plan.toml"
    path.write_text('name = "x"\nhours = 9\n[[models]]\nid = "m"\nbackend = "embedded"\n')
    assert read_plan(path).hours == 9


def test_a_task_that_stands_twice_is_refused(core: Instrument) -> None:
    """It would be asked once, and whoever wrote it may have meant another one."""
    with pytest.raises(PlanError) as caught:
        resolve(plan(tasks=["A04", "A08", "A04"]), b"", core)
    assert ["'A04' stands twice" in problem.what for problem in caught.value.problems] == [True]


@pytest.mark.parametrize(
    ("line", "what", "todo"),
    [
        ('tasks = "A04"', """'A04': has to be a list, as in ["one", "two"]""", "correct the value"),
        (
            "deadline = 07:00:00",
            "07:00: has to be a text, in quotes",
            'write it in quotes: "07:00"',
        ),
        (
            "deadline = 2026-12-01T07:00:00",
            "2026-12-01T07:00: has to be a text, in quotes",
            'write it in quotes: "2026-12-01T07:00"',
        ),
        ("profile = true", "true: has to be a text, in quotes", "correct the value"),
        ("runs = 0", "0: has to be greater than or equal to 1", "correct the value"),
        (
            'order = "best"',
            "'best': has to be 'fixed', 'balanced' or 'random'",
            "correct the value",
        ),
    ],
)
def test_a_wrong_value_is_told_in_the_words_of_the_document(
    line: str, what: str, todo: str, tmp_path: Path
) -> None:
    """Nobody who writes a plan has to know what a tuple is."""
    path = tmp_path / "plan.toml"
    path.write_text(f'name = "x"\n{line}\n[[models]]\nid = "m"\nbackend = "embedded"\n')
    with pytest.raises(PlanError) as caught:
        read_plan(path)
    assert [(problem.what, problem.todo) for problem in caught.value.problems] == [(what, todo)]


def test_options_are_told_in_the_same_words(core: Instrument) -> None:
    """They are checked by the backend, and read by the same person."""
    options = {"weights": "w.gguf", "flags": "--jinja", "slots": "2"}
    model = {"id": "m", "backend": "llama_server", "context_tokens": 8192, "options": options}
    with pytest.raises(PlanError) as caught:
        resolve(plan(models=[model]), b"", core)
    assert """'--jinja': has to be a list, as in ["one", "two"]""" in str(caught.value)
    assert "'2': has to be a whole number, without quotes" in str(caught.value)


def test_a_table_in_place_of_a_list_of_tables_is_told_its_brackets(tmp_path: Path) -> None:
    """The whole table is no value that anybody wants to read."""
    path = tmp_path / "plan.toml"
    path.write_text('name = "x"\n[models]\nid = "m"\nbackend = "embedded"\n')
    with pytest.raises(PlanError) as caught:
        read_plan(path)
    (problem,) = caught.value.problems
    assert (problem.what, problem.todo) == (
        "one table: has to be a list of tables",
        "write [[models]]",
    )
