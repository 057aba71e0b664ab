"""A task whose points do not add up, or whose rows are not told apart, is never asked."""

import shutil
import tomllib
from pathlib import Path

import pytest
from campaigning import ROOT
from pydantic import ValidationError

from harness.errors import SuiteError
from harness.suite.definition import TaskDefinition
from harness.suite.loader import load_suite

FOLDER = ROOT / "suite/core/a10_linear_refactor"
TEXT = (FOLDER / "task.toml").read_text(encoding="utf-8")


def changed(old: str, new: str) -> str:
    assert old in TEXT
    return TEXT.replace(old, new, 1)


@pytest.mark.parametrize("points", ["7.9", "8.1", "7.999", "1"])
def test_rows_that_do_not_add_up_are_refused(points: str) -> None:
    """17.9 of 18 points, or 18.1, is a mistake of ours; 18 as the sum of other parts is none."""
    definition = TaskDefinition.model_validate(tomllib.loads(TEXT))
    assert sum(row.points for row in definition.rows) == definition.max_points == 18
    with pytest.raises(ValidationError, match="rows add up to"):
        TaskDefinition.model_validate(tomllib.loads(changed("points = 8.0", f"points = {points}")))


@pytest.mark.parametrize("points", ["nan", "inf", "-1.0", "0.0", "'many'"])
def test_points_are_ordinary_numbers_above_zero(points: str) -> None:
    """A row that is worth nothing, less, or no number is none."""
    with pytest.raises(ValidationError):
        TaskDefinition.model_validate(tomllib.loads(changed("points = 8.0", f"points = {points}")))


def test_nothing_starts_with_points_that_do_not_add_up(tmp_path: Path) -> None:
    """The loader says folder and sum, and there is no suite to run."""
    place = tmp_path / "suite/core" / FOLDER.name
    shutil.copytree(FOLDER, place)
    assert load_suite(tmp_path).ids == ("A10",)
    (place / "task.toml").write_text(changed("points = 8.0", "points = 7.9"), encoding="utf-8")

    with pytest.raises(SuiteError) as refused:
        load_suite(tmp_path)

    assert "rows add up to 17.9 points, max_points says 18" in str(refused.value)
    assert FOLDER.name in str(refused.value)
