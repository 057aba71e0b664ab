"""The deep validation: sets that are weak are found to be weak, and nothing else is."""

import json
import os
import time
from pathlib import Path

import psutil
import pytest
from playing import LIMITS
from small_suite import FOLDER, GRADER, add, deep, write_suite

from harness.errors import InstrumentError, SuiteError
from harness.grading.grader import row_functions
from harness.records.validation import Mutation, OperatorStrength, Strength, TaskStrength
from harness.sandbox import probe
from harness.stages.strength.equivalents import Equivalent, read_equivalents
from harness.stages.strength.forked import in_a_fork
from harness.stages.strength.specimen import Memory, NotRememberedError
from harness.stages.strength.trial import Trial
from harness.stages.strength.trials import run_trials

LINE = "if number >= 10:"


def survivors(found: Strength, text: str) -> set[tuple[str, str]]:
    (task,) = found.tasks
    return {(s.operator, s.change) for s in task.survivors if s.text == text}


@pytest.fixture(scope="module")
def weak(tmp_path_factory: pytest.TempPathFactory) -> Strength:
    """The strength of a set without a member near the boundary."""
    validation, found = deep(write_suite(tmp_path_factory.mktemp("weak")))
    assert validation.holds, validation.problems
    return found


def test_a_set_without_a_member_at_the_boundary_does_not_hold_it(weak: Strength) -> None:
    """Every change near ten survives, and the report names line, operator and text."""
    assert {
        ("boundary", "number >= 10 → number > 10"),
        ("constant changed", "10 → 11"),
        ("constant changed", "10 → 9"),
    } == survivors(weak, LINE)
    (task,) = weak.tasks
    boundary = next(s for s in task.survivors if s.operator == "boundary")
    assert (boundary.file, boundary.function) == (f"{FOLDER}/grader.py", "large")
    assert GRADER.splitlines()[boundary.line - 1].strip() == LINE


def test_what_a_member_tells_apart_is_noticed(weak: Strength) -> None:
    """The other changes of the same line, and the arithmetic, are seen in the rows."""
    (task,) = weak.tasks
    counted = {o.operator: (o.noticed, o.mutants) for o in task.operators}
    noticed, made = counted["arithmetic swapped"]
    assert noticed == made >= 2  # number % 2, points × fraction, and what shared code has
    assert survivors(weak, 'return failed("it is small")') == set()


def test_a_ladder_without_a_part_does_not_hold_the_row_table(weak: Strength) -> None:
    """Where every member scores all or nothing, points can move from row to row."""
    (task,) = weak.tasks
    moved = [s for s in task.survivors if s.operator == "points moved"]
    assert {(s.function, s.change) for s in moved} == {
        ("large", "0.15 to even"),
        ("even", "0.05 to large"),
    }


def test_the_numbers_of_a_task_add_up(weak: Strength) -> None:
    """Every mutant that was tried is noticed, a survivor, wording, or asked for something new."""
    (task,) = weak.tasks
    assert task.judged == task.made
    unexplained = [s for s in task.survivors if not s.reason]
    assert task.mutants == task.noticed + len(unexplained)
    assert task.judged == task.mutants + task.equivalent + task.wording + task.asked


def named(root: Path, line: str, *operators: str) -> Equivalent:
    """Say of a line's mutants that they are equivalent: they are tried in any case, then."""
    entry = Equivalent(
        file=f"{FOLDER}/grader.py",
        function="large",
        line=line,
        operators=operators,
        reason="A test wants these mutants to be tried.",
    )
    listed = "\n".join(
        ["schema_version = 1", "[[equivalent]]"]
        + [f"{key} = {json.dumps(value)}" for key, value in entry if key != "changes"]
    )
    (root / FOLDER / "equivalent.toml").write_text(listed, encoding="utf-8")
    return entry


def test_two_members_hold_the_boundary(tmp_path: Path) -> None:
    """Ten itself, and nine, are what was missing; who calls the mutants equivalent is wrong then."""
    root = write_suite(tmp_path)
    named(root, LINE, "boundary", "constant changed")
    _, before = deep(root, sample=0)
    (task,) = before.tasks
    assert (before.problems, task.equivalent, task.mutants) == ((), 3, 0)
    add(root, "golden", "ten", 10)
    add(root, "defective", "nine", 9, "points = 0.0\n")
    _, after = deep(root, sample=0)
    (task,) = after.tasks
    assert (task.equivalent, task.mutants, task.noticed) == (0, 3, 3)
    (problem,) = after.problems
    assert "no mutant of boundary, constant changed survives" in problem
    assert LINE in problem


def test_an_endless_loop_is_noticed_and_ends(tmp_path: Path) -> None:
    """A mutant that never comes back costs its limit and no more."""
    loop = "    while number > 40:\n        number -= 1\n    if number >= 10:\n"
    root = write_suite(tmp_path, GRADER.replace("    if number >= 10:\n", loop))
    add(root, "golden", "fifty", 50)
    named(root, "number -= 1", "arithmetic swapped", "statement removed")
    _, found = deep(root, sample=0)
    (task,) = found.tasks
    assert (task.mutants, task.noticed) == (2, 2)


def test_a_grade_that_depends_on_the_order_is_a_problem(tmp_path: Path) -> None:
    """Members are graded again in random orders, and every word must be the same."""
    grader = GRADER.replace(
        '    if number >= 10:\n        return passed("it is large")',
        "    SEEN.append(number)\n"
        '    if number >= 10:\n        return passed(f"large, after {len(SEEN) - 1} others")',
    ).replace('\n\n@row("large")', '\nSEEN = []\n\n\n@row("large")', 1)
    validation, found = deep(write_suite(tmp_path, grader), sample=0)
    assert validation.holds, validation.problems
    assert not found.holds
    assert any("is given other rows when it is graded after" in p for p in found.problems)


def test_a_sample_is_the_same_each_time_and_says_so(tmp_path: Path) -> None:
    """A number that changes from run to run is no measurement."""
    root = write_suite(tmp_path)
    first, second = (deep(root, sample=10)[1].tasks[0] for _ in range(2))
    assert (first.judged, first.made > 10) == (10, True)
    assert first == second


def test_an_entry_of_the_list_needs_a_reason(tmp_path: Path) -> None:
    """An entry without a reason is a wish."""
    root = write_suite(tmp_path)
    entry = named(root, LINE, "boundary")
    assert read_equivalents(root / FOLDER) == (entry,)
    path = root / FOLDER / "equivalent.toml"
    path.write_text(path.read_text().replace(entry.reason, ""), encoding="utf-8")
    with pytest.raises(SuiteError, match="reason"):
        read_equivalents(root / FOLDER)
    assert read_equivalents(tmp_path / "nothing") == ()


def test_an_entry_holds_when_lines_are_added_above() -> None:
    """A mutant is known by its file, function, operator and line, not by its number."""
    claim = Equivalent(
        file="grader.py",
        function="large",
        line=LINE,
        operators=("boundary",),
        changes=("number >= 10 → number > 10",),
        reason="No number near ten is ever asked.",
    )
    mutant = Mutation(
        file="grader.py",
        function="large",
        line=11,
        text=LINE,
        operator="boundary",
        change="number >= 10 → number > 10",
    )
    assert claim.covers(mutant)
    assert claim.covers(mutant.model_copy(update={"line": 99}))
    assert not claim.covers(mutant.model_copy(update={"operator": "constant changed"}))
    assert not claim.covers(mutant.model_copy(update={"change": "10 → 9"}))
    assert claim.untrue([mutant]) == []
    assert claim.untrue([]) == ["boundary", "number >= 10 → number > 10"]


def test_the_code_that_grades_here_is_never_changed(tmp_path: Path) -> None:
    """Mutants live in processes that are thrown away."""
    root = write_suite(tmp_path)
    before = {name: f.__code__ for name, f in row_functions(root / FOLDER).items()}
    deep(root, sample=20)
    assert {name: f.__code__ for name, f in row_functions(root / FOLDER).items()} == before


def test_a_fork_says_its_word_hangs_or_dies() -> None:
    """What a mutant does to its process is told apart, and nothing of it is left."""
    begun, before = time.monotonic(), psutil.Process().children()
    assert in_a_fork(lambda: "noticed", 5.0) == "noticed"
    assert in_a_fork(lambda: os._exit(3), 5.0) == "died"
    assert in_a_fork(spin, 0.1) == "hung"
    assert time.monotonic() - begun < 5  # the limit of the first two; each ends at once
    assert psutil.Process().children() == before


def spin() -> str:
    while True:
        pass


def test_a_bench_of_memory_runs_nothing() -> None:
    """An observation that was never made is an exception, not a run."""
    with Memory(probe(), LIMITS, 0, {}) as bench, pytest.raises(NotRememberedError):
        bench.seat({"a.py": "x = 1\n"}).load("a")


def test_a_trial_that_fails_is_an_error_of_ours(tmp_path: Path) -> None:
    """A task that cannot be judged is never reported as strong."""
    trial = Trial(
        root=tmp_path / "nothing",
        form="open",
        task="A90",
        limits=LIMITS,
        plays={},
        sample=1,
    )
    with pytest.raises(InstrumentError, match="A90 were not judged to the end"):
        run_trials([trial])


def test_the_share_is_of_what_counts() -> None:
    """Equivalents, wording and what was never observed are in no denominator."""
    task = TaskStrength(
        id="A90",
        made=100,
        judged=50,
        wording=5,
        asked=5,
        equivalent=20,
        operators=(
            OperatorStrength(operator="boundary", mutants=10, noticed=9),
            OperatorStrength(operator="constant changed", mutants=10, noticed=10),
        ),
        survivors=(),
        of="",
    )
    assert (task.mutants, task.noticed, task.share) == (20, 19, 0.95)
    assert task.model_copy(update={"operators": ()}).share == 1.0
