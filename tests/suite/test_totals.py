"""What level A adds up to, and what every task folder promises."""

import pytest
from campaigning import ROOT, instrument
from playing import play

from harness.protocol.elision import opening_problem
from harness.protocol.writing import system_text
from harness.running.scenes import load_scene, read_schedules
from harness.stages.agent_plays import agent_sets_of
from harness.stages.forms import make_form, make_players, make_sets
from harness.stages.validate import sets_of
from harness.suite.forms import OPEN
from harness.suite.loader import Task, read_form
from harness.suite.sets import read_agent_expected, read_sets

SUITE = instrument().suite
SINGLE = [task for task in SUITE.tasks if not task.is_agent]
AGENT = [task for task in SUITE.tasks if task.is_agent]
SCHEDULES = 5

# Points, rows and sub-observations of the specification's table.
SPECIFIED = {
    "A01": (24, 6, 55),
    "A02": (18, 4, 25),
    "A03": (20, 4, 44),
    "A07": (18, 5, 32),
    "A04": (18, 6, 18),
    "A05": (18, 8, 27),
    "A06": (16, 7, 35),
    "A08": (16, 19, 121),
    "A09": (16, 4, 24),
    "A10": (18, 5, 98),
    "A11": (18, 5, 20),
}
# What a model gets that reads nothing and answers something.
LAZY = {
    "A04": "lazy",
    "A05": "lazy",
    "A06": "no_conflict",
    "A08": "one_section",
    "A09": "lazy",
    "A10": "lazy",
    "A11": "happy_path",
}


@pytest.mark.parametrize("task", SUITE.tasks, ids=lambda t: t.id)
def test_points_rows_and_observations_are_the_specified_ones(task: Task) -> None:
    """The published table is the instrument."""
    assert task.id in SPECIFIED, f"{task.id} is in suite/ but not in SPECIFIED: add its figures"
    d = task.definition
    assert (d.max_points, len(d.rows), d.observations) == SPECIFIED[task.id]
    assert sum(row.points for row in d.rows) == pytest.approx(d.max_points, abs=1e-9)


def test_level_a_is_eleven_tasks_200_points_73_rows_and_499_observations() -> None:
    """The whole level, and its two halves: seven single prompts and four agent tasks."""
    assert {task.id for task in SUITE.tasks if task.definition.level == "A"} == SPECIFIED.keys()
    assert tuple(map(sum, zip(*SPECIFIED.values(), strict=True))) == (200, 73, 499)
    of_singles = [SPECIFIED[task.id] for task in SINGLE]
    assert tuple(map(sum, zip(*of_singles, strict=True))) == (120, 54, 343)


def test_nothing_is_ranked_that_is_not_specified() -> None:
    """A task of level A that nobody specified would move every total."""
    ranked = {task.id for task in SUITE.tasks if task.definition.level == "A"}
    assert ranked - SPECIFIED.keys() == set(), "in suite/core but not in SPECIFIED: add its figures"
    assert LAZY.keys() == {task.id for task in SINGLE}


@pytest.mark.parametrize("task", SINGLE, ids=lambda t: t.id)
def test_an_empty_reply_scores_nothing_and_the_lazy_set_at_most_a_quarter(task: Task) -> None:
    """The floor of each task is published, and it is low."""
    ladder = {d.name: sum(d.rows.values()) for d in sets_of(task).defective}
    assert ladder["empty"] == 0
    assert 0 < ladder[LAZY[task.id]] <= task.definition.max_points / 4


@pytest.mark.parametrize("task", SUITE.tasks, ids=lambda t: t.id)
def test_the_frozen_open_form_is_what_the_generator_draws(task: Task) -> None:
    """open.json can be made again from its seed."""
    assert make_form(task.folder, OPEN) == read_form(task.folder / "open.json")


@pytest.mark.parametrize("task", SINGLE, ids=lambda t: t.id)
def test_frozen_replies_and_hand_written_points_agree_with_the_policy(task: Task) -> None:
    """Two methods for every expected point, neither of them the grader."""
    made, frozen = make_sets(task.folder, task.form), read_sets(task.folder)
    replies = {g.name: g.reply for g in frozen.golden}
    assert {g.name: g.reply.text for g in made.golden} == {n: r.text for n, r in replies.items()}
    by_hand = {d.name: d for d in frozen.defective}
    for member in made.defective:
        other = by_hand[member.name]
        assert other.reply.text == member.reply.text
        assert other.cause == member.cause
        assert other.flags == member.flags
        assert other.rows == pytest.approx(member.rows, abs=1e-3)
    ceilings = {e.name: (e.ceiling, e.reply.text, e.flags) for e in frozen.exploits}
    for exploit in made.exploits:
        ceiling, text, flags = ceilings[exploit.name]
        assert text == exploit.reply.text
        assert flags == exploit.flags
        assert ceiling == pytest.approx(exploit.ceiling, abs=1e-3)


@pytest.mark.parametrize("task", SUITE.tasks, ids=lambda t: t.id)
def test_every_prompt_carries_a_canary_that_is_never_sent(task: Task) -> None:
    """A prompt that turns up in a training set can be found there."""
    first = (task.folder / "prompt.md").read_text(encoding="utf-8").splitlines()[0]
    canary = first.split()[3]
    assert len(canary) == 32
    assert canary not in task.prompt(24576)
    others = [t for t in SUITE.tasks if t.id != task.id]
    assert all(canary not in (t.folder / "prompt.md").read_text() for t in others)


@pytest.mark.parametrize("task", AGENT, ids=lambda t: t.id)
def test_hand_written_points_of_agents_agree_with_the_policy_in_every_run(task: Task) -> None:
    """Two methods for every expected point under every schedule, neither of them the grader."""
    assert len(read_schedules(task.folder)) == SCHEDULES
    made = make_players(task.folder, task.form)
    defective, exploits = read_agent_expected(task.folder)
    assert {d.name for d in made.defective} == defective.keys()
    assert {e.name: e.ceiling for e in made.exploits} == {
        name: expected.ceiling for name, expected in exploits.items()
    }
    for member in made.defective:
        by_hand = [run.rows for run in defective[member.name].run]
        assert len(by_hand) == SCHEDULES
        for rows, expected in zip(member.rows, by_hand, strict=True):
            assert expected == pytest.approx(rows, abs=1e-3)


@pytest.mark.parametrize("task", AGENT, ids=lambda t: t.id)
def test_who_does_nothing_scores_nothing_under_any_schedule(task: Task) -> None:
    """Nothing broken is not work done: gates hold for silence, talk and an early finish."""
    members = {d.name: d.rows for d in agent_sets_of(task).defective}
    for name in ("empty", "talks", "finish_at_once"):
        assert members[name] == ({},) * SCHEDULES


@pytest.mark.parametrize("task", AGENT, ids=lambda t: t.id)
def test_what_opens_every_request_of_an_agent_fits_its_limit(task: Task) -> None:
    """The window is worked out for so many characters of system and task text together."""
    config = instrument().config
    scene = load_scene(task.folder, task.form, 1)
    told = scene.tariff.told if scene.tariff else None
    system = system_text(config, task.definition.tools, told)
    assert opening_problem(system, task.prompt(24576).strip(), config.context) is None


@pytest.mark.parametrize(
    "task",
    [
        # The tests of a task that runs code grade its goldens among the fast ones.
        pytest.param(task, marks=[pytest.mark.slow] if task.definition.executes else [])
        for task in SINGLE
    ],
    ids=lambda t: t.id,
)
def test_every_golden_reaches_the_maximum_of_every_row(task: Task) -> None:
    """At least two goldens of different style, each full in each row."""
    goldens = sets_of(task).golden
    assert len(goldens) >= 2
    for golden in goldens:
        assert all(row.fraction == 1 for row in play(task.folder, task.form, golden.reply))


def test_the_root_is_this_checkout() -> None:
    """Tests grade the suite beside them, not one that is installed elsewhere."""
    assert SUITE.root == ROOT
