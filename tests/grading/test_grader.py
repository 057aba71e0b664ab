"""A grader that breaks stops the run; what it gives instead of a verdict is never points."""

from pathlib import Path

import pytest
from small_suite import FOLDER, GRADER, write_suite

from harness.errors import GraderError
from harness.grading import Deliverable
from harness.grading.grader import grade
from harness.records.parsed import ParsedReply
from harness.records.score import RowScore
from harness.suite.loader import load_suite

LARGE = 'passed("it is large")'


def graded(root: Path, instead: str) -> tuple[RowScore, ...]:
    """Grade the answer 12 with a grader whose first row gives something else."""
    assert GRADER.count(LARGE) == 1
    write_suite(root, GRADER.replace(LARGE, instead))
    task = load_suite(root).task("A90")
    parsed = ParsedReply(parser_version="written", text="N = 12", answers={"N": "12"})
    return grade(root / FOLDER, task.definition, Deliverable(parsed, task.form))


def test_a_row_has_the_points_of_its_verdict(tmp_path: Path) -> None:
    """The grader that the others are made from is sound: 1.5 and 0.5 points."""
    assert [row.points for row in graded(tmp_path, LARGE)] == [1.5, 0.5]


@pytest.mark.parametrize(
    "instead",
    [
        '__import__("nowhere")',
        "1 / 0",
        "exec('raise TimeoutError')",
        "None",
        "True",
        "1.0",
        'Verdict(float("nan"), "", passed("").observations)',
        'Verdict(float("inf"), "", passed("").observations)',
        'Verdict(1.5, "", passed("").observations)',
        'Verdict(-0.5, "", passed("").observations)',
        'Verdict(True, "", passed("").observations)',
        'Verdict("1", "", passed("").observations)',
        'Verdict(1.0, "", passed("").observations, gate=2.0)',
        'Verdict(1.0, "", passed("").observations * 2)',
        'Verdict(1.0, "", ())',
        'passed("").gated(1.5, "")',
        'passed("").flagged("chanse")',
    ],
)
def test_what_is_no_verdict_is_our_fault(tmp_path: Path, instead: str) -> None:
    """An error, a bare value, and every number that is no share: the run stops, no model pays."""
    with pytest.raises(GraderError, match="A90") as raised:
        graded(tmp_path, instead)

    assert "large" in raised.value.problems[0].where


def test_a_flag_stands_beside_the_points_and_moves_none(tmp_path: Path) -> None:
    """Flags come once each and sorted, through gates too; everything else is as without them."""
    plain = graded(tmp_path / "plain", f'{LARGE}.gated(0.5, "half")')
    flags = '"told-apart", "chance", "chance"'
    marked = graded(tmp_path / "marked", f'{LARGE}.flagged({flags}).gated(0.5, "half")')

    assert [row.flags for row in marked] == [("chance", "told-apart"), ()]
    assert [row.model_copy(update={"flags": ()}) for row in marked] == list(plain)
