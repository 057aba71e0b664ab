"""What level A adds up to, and what every task folder promises."""

import pytest
from campaigning import ROOT, instrument
from playing import play

from harness.stages.forms import make_form, make_sets
from harness.stages.validate import sets_of
from harness.suite.forms import OPEN
from harness.suite.loader import Task, read_form
from harness.suite.sets import read_sets

SUITE = instrument().suite

# Points, rows and sub-observations of the specification's table.
SPECIFIED = {
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


def test_the_single_prompts_add_up_to_120_points() -> None:
    """The specified table is that of all seven, 120 points and 343 sub-observations."""
    assert sum(points for points, _, _ in SPECIFIED.values()) == 120
    assert sum(observations for _, _, observations in SPECIFIED.values()) == 343


def test_nothing_is_ranked_that_is_not_specified() -> None:
    """A task of level A that nobody specified would move every total."""
    ranked = {task.id for task in SUITE.tasks if task.definition.level == "A"}
    assert ranked - SPECIFIED.keys() == set(), "in suite/core but not in SPECIFIED: add its figures"
    assert LAZY.keys() == SPECIFIED.keys()


@pytest.mark.parametrize("task", SUITE.tasks, ids=lambda t: t.id)
def test_an_empty_reply_scores_nothing_and_the_lazy_set_at_most_a_quarter(task: Task) -> None:
    """The floor of each task is published, and it is low."""
    ladder = {d.name: sum(d.rows.values()) for d in sets_of(task).defective}
    assert ladder["empty"] == 0
    assert 0 < ladder[LAZY[task.id]] <= task.definition.max_points / 4


@pytest.mark.parametrize("task", SUITE.tasks, ids=lambda t: t.id)
def test_the_frozen_open_form_is_what_the_generator_draws(task: Task) -> None:
    """open.json can be made again from its seed."""
    assert make_form(task.folder, OPEN) == read_form(task.folder / "open.json")


@pytest.mark.parametrize("task", SUITE.tasks, ids=lambda t: t.id)
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
        assert other.rows == pytest.approx(member.rows, abs=1e-3)
    ceilings = {e.name: (e.ceiling, e.reply.text) for e in frozen.exploits}
    for exploit in made.exploits:
        ceiling, text = ceilings[exploit.name]
        assert text == exploit.reply.text
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


@pytest.mark.parametrize("task", SUITE.tasks, ids=lambda t: t.id)
def test_every_golden_reaches_the_maximum_of_every_row(task: Task) -> None:
    """At least two goldens of different style, each full in each row."""
    goldens = sets_of(task).golden
    assert len(goldens) >= 2
    for golden in goldens:
        assert all(row.fraction == 1 for row in play(task.folder, task.form, golden.reply))


def test_the_root_is_this_checkout() -> None:
    """Tests grade the suite beside them, not one that is installed elsewhere."""
    assert SUITE.root == ROOT
