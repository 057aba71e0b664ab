"""The published strength: of the grader as it is now, or no strength at all."""

from pathlib import Path

import pytest
from campaigning import ROOT
from small_suite import FOLDER, GRADER, write_suite

from harness.arnes import load_arnes
from harness.errors import SuiteError
from harness.records.validation import OperatorStrength, Strength, TaskStrength
from harness.stages.strength import below_bar, publish
from harness.stages.strength.measure import grader_digest
from harness.stages.strength.published import read_measured
from harness.suite.loader import load_suite

OTHER = FOLDER.replace("a90", "a91")


def found(root: Path, *tasks: tuple[str, int, int]) -> Strength:
    """What a deep validation found: task, noticed, of how many."""
    return Strength(
        holds=True,
        bar=0.95,
        problems=(),
        tasks=tuple(
            TaskStrength(
                id=name,
                made=of,
                judged=of,
                wording=0,
                asked=0,
                equivalent=0,
                operators=(OperatorStrength(operator="boundary", mutants=of, noticed=noticed),),
                survivors=(),
                of=grader_digest(load_arnes(root), load_suite(root), name),
            )
            for name, noticed, of in tasks
        ),
    )


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A checkout with two tasks."""
    write_suite(tmp_path)
    for path in sorted((tmp_path / FOLDER).rglob("*")):
        if path.is_file():
            copy = tmp_path / OTHER / path.relative_to(tmp_path / FOLDER)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(
                path.read_text(encoding="utf-8").replace("A90", "A91"), encoding="utf-8"
            )
    prompt = tmp_path / OTHER / "prompt.md"  # no two tasks have one canary
    prompt.write_text(prompt.read_text().replace("0" * 32, "1" * 32), encoding="utf-8")
    return tmp_path


def put(root: Path, *tasks: tuple[str, int, int]) -> None:
    publish(load_suite(root), found(root, *tasks))


def reasons(root: Path) -> dict[str, str]:
    return below_bar(root, load_suite(root))


def test_a_grader_that_was_never_measured_has_a_reason(root: Path) -> None:
    """What nobody looked at is not called strong."""
    assert reasons(root) == dict.fromkeys(("A90", "A91"), "not measured yet")


def test_a_share_below_the_bar_is_never_rounded_up_to_it(root: Path) -> None:
    """At 95 of 100 there is nothing to say, at 949 of 1000 there is."""
    put(root, ("A90", 95, 100), ("A91", 949, 1000))
    assert reasons(root) == {"A91": "noticed 94 %, the bar is 95 %"}


def test_a_changed_grader_concerns_its_own_task_alone(root: Path) -> None:
    """Every task is measured for itself; a new measurement leaves the others' entries."""
    put(root, ("A90", 10, 10), ("A91", 10, 10))
    assert reasons(root) == {}
    path = root / FOLDER / "grader.py"
    path.write_text(GRADER.replace(">= 10", "> 9"), encoding="utf-8")
    assert reasons(root) == {"A90": "not measured since the grader changed"}
    put(root, ("A90", 9, 10))
    assert reasons(root) == {"A90": "noticed 90 %, the bar is 95 %"}
    assert [task.id for task in read_measured(root).tasks] == ["A90", "A91"]


def test_points_are_part_of_a_grader_and_notes_are_not(root: Path) -> None:
    """Only what makes points counts."""
    put(root, ("A90", 10, 10), ("A91", 10, 10))
    (root / FOLDER / "NOTES.md").write_text("# More\n", encoding="utf-8")
    assert reasons(root) == {}
    path = root / FOLDER / "task.toml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("1.5", "1.0").replace("0.5", "1.0"), encoding="utf-8")
    assert reasons(root) == {"A90": "not measured since the grader changed"}


def test_a_damaged_file_is_no_result(root: Path) -> None:
    """The operator is told what to do."""
    (root / "suite/strength.json").write_text("{", encoding="utf-8")
    with pytest.raises(SuiteError, match="cannot be read"):
        reasons(root)


def test_the_published_result_is_of_the_present_graders_and_reaches_the_bar() -> None:
    """Whoever changes what makes points runs `arnes validate --deep` and commits what it writes."""
    assert reasons(ROOT) == {}
