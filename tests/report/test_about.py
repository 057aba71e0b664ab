"""What a report says of tasks comes from the suite, as far as the suite still holds them."""

from pathlib import Path

from campaigning import ROOT
from small_suite import FOLDER, write_suite

from harness.report.about import about_tasks


def test_a_task_is_named_by_its_title() -> None:
    """A reader who does not know `A04` learns what it measures and what it does not."""
    (found,) = about_tasks(ROOT, ["A04"]).values()
    assert found.title
    assert found.measures
    assert found.does_not_measure


def test_a_task_that_is_gone_or_broken_is_left_out(tmp_path: Path) -> None:
    """An old campaign has its report whatever the suite has become."""
    root = write_suite(tmp_path)
    assert set(about_tasks(root, ["A90", "A99"])) == {"A90"}
    (root / FOLDER / "task.toml").write_text("not a task", encoding="utf-8")
    assert about_tasks(root, ["A90"]) == {}
