"""Several groups are graded at once, and nothing shows that they were."""

from pathlib import Path

import pytest
from campaigning import ROOT
from playing import LIMITS, parsed
from small_suite import GRADER, TASK, write_suite

from harness.errors import GraderError, InstrumentError
from harness.records.parsed import ParsedReply
from harness.stages.at_once import Group, grade_groups, usual_processes
from harness.stages.workers import cores
from harness.suite.loader import Task, load_suite
from harness.suite.sets import read_sets

NAMES = ("given", "cut_short", "renamed")


@pytest.fixture(scope="module")
def groups() -> list[Group]:
    """Quick members of a task that runs code: one alone, two in turn."""
    task = load_suite(ROOT).task("A10")
    replies = {d.name: d.reply for d in read_sets(task.folder).defective}
    members = [(name, parsed(task.folder, task.form, replies[name])) for name in NAMES]
    return [Group(task, (members[0],)), Group(task, (members[1], members[2]))]


def test_processes_give_what_one_process_gives(groups: list[Group]) -> None:
    """Rows, walls and the keys of all observations are the same, in the order of the groups."""
    told: list[tuple[str, int, int]] = []
    apart = grade_groups(groups, LIMITS, lambda *step: told.append(step), processes=2)
    alone = grade_groups(groups, LIMITS, processes=1)

    def seen(found: list[list]) -> list[list[tuple]]:
        return [[(g.rows, g.walls, sorted(g.observations)) for g in group] for group in found]

    assert seen(apart) == seen(alone)
    assert [len(group) for group in apart] == [1, 2]
    assert sorted(done for _, done, _ in told) in ([1, 3], [2, 3])
    assert {(what, total) for what, _, total in told} == {("validate A10", 3)}


def executing(root: Path, grader: str) -> Task:
    """A task whose rows say that they run code."""
    write_suite(root, grader)
    path = next(root.glob("suite/core/*/task.toml"))
    path.write_text(TASK.replace('kind = "answers"', 'kind = "executes"'), encoding="utf-8")
    return load_suite(root).task("A90")


def two(task: Task) -> list[Group]:
    reply = ParsedReply(parser_version="written", text="N = 12")
    return [Group(task, ((name, reply),)) for name in ("one", "other")]


def test_an_error_of_a_grader_comes_through_whole(tmp_path: Path) -> None:
    """The operator reads the same words, wherever the grader ran."""
    task = executing(tmp_path, GRADER.replace("    if number >= 10:", "    if number >= None:"))
    said = []
    for processes in (1, 2):
        with pytest.raises(GraderError) as caught:
            grade_groups(two(task), LIMITS, processes=processes)
        said.append(str(caught.value))
    assert said[0] == said[1]
    assert "large" in said[0]


def test_a_lost_process_is_an_error_of_ours(tmp_path: Path) -> None:
    """Nothing is called graded when the process that graded it is gone."""
    task = executing(
        tmp_path,
        GRADER.replace(
            "    if number >= 10:", "    __import__('os')._exit(1)\n    if number >= 10:"
        ),
    )
    with pytest.raises(InstrumentError, match="A90 was ended from outside"):
        grade_groups(two(task), LIMITS, processes=2)


def test_one_core_needs_no_process_beside_it() -> None:
    """Of more than two cores one is left for others."""
    assert usual_processes() == (cores() if cores() < 3 else cores() - 1)
