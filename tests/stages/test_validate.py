"""Validation in three directions, on a task that is broken on purpose."""

from pathlib import Path

import pytest
from small_suite import FOLDER, FORM, GRADER, add, write_suite

from harness.arnes import load_arnes
from harness.clock import SystemClock
from harness.records.base import readable_json
from harness.records.parsed import ParsedReply
from harness.records.validation import Validation
from harness.stages.validate import _groups, members_of, replies_of, validate
from harness.suite.loader import load_suite


def validated(root: Path) -> Validation:
    return validate(load_suite(root), load_arnes(root), SystemClock())


def test_a_sound_task_holds(tmp_path: Path) -> None:
    """The fixture itself is no problem."""
    assert validated(write_suite(tmp_path)).problems == ()


@pytest.mark.parametrize(
    ("observation", "problem"),
    [
        ('observed("row", 0.0, 1, "")', "add up to 0, its fraction is 1"),
        ('observed("row", 1.0, 0.5, "")', "the weights of its observations add up to 0.5"),
    ],
)
def test_observations_that_do_not_make_their_row_are_a_problem(
    tmp_path: Path, observation: str, problem: str
) -> None:
    """Statistics read the observations, points the fraction: they must be the same thing."""
    grader = GRADER.replace("import Deliverable", "import Deliverable, observed").replace(
        'passed("it is large")', f'Verdict(1.0, "it is large", ({observation},))'
    )
    found = validated(write_suite(tmp_path, grader))
    assert not found.holds
    assert any(problem in p for p in found.problems)
    assert f"{Path(FOLDER).name}/golden/forty" in found.problems[0]


def test_what_is_declared_and_not_scored_is_a_problem(tmp_path: Path) -> None:
    """A defective lands on its rows, an exploit stays under its ceiling, a golden is full."""
    root = write_suite(tmp_path)
    add(root, "defective", "eight", 8, "points = 0.4\n[rows]\neven = 0.4\n")
    add(root, "exploits", "ten", 10, "ceiling = 1.0\ntrick = 'the least that is enough'\n")
    add(root, "golden", "eleven", 11)
    problems = "\n".join(validated(root).problems)
    assert "even is declared 0.4 but scored 0.5" in problems
    assert "scored 2, its ceiling is 1" in problems
    assert "scored 1.5, the maximum is 2" in problems


@pytest.mark.parametrize("changed", [{"N": "13"}, {"N": "12", "M": "1"}, {}])
def test_a_gold_that_the_second_method_does_not_find_is_a_problem(
    tmp_path: Path, changed: dict[str, str]
) -> None:
    """One right answer changed by 1, one too many, one too few: the instrument does not hold."""
    root = write_suite(tmp_path)
    form = FORM.model_copy(update={"answers": changed})
    (root / FOLDER / "open.json").write_bytes(readable_json(form))
    found = validated(root)
    assert not found.holds
    assert any("the second method" in problem for problem in found.problems)


def test_an_exploit_and_the_golden_after_it_are_graded_in_one_process(tmp_path: Path) -> None:
    """What an exploit leaves behind is looked for where it would be left; all others are alone."""
    root = write_suite(tmp_path)
    task = load_suite(root).task("A90")
    sets = members_of(task, load_arnes(root)).sets
    reply = ParsedReply(parser_version="written", text="")
    groups = list(_groups(task, sets, dict.fromkeys(replies_of(task, sets), reply)))
    names = [[name.partition("/")[2] for name, _ in group.members] for group in groups]
    assert ["exploits/minus", "after/minus"] in names
    assert all(len(group) == (2 if group[0].startswith("exploits/") else 1) for group in names)
    assert [n for group in names for n in group] == [
        name.partition("/")[2] for name in replies_of(task, sets)
    ]
