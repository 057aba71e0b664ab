"""A score sheet holds numbers that a score can have, and no others."""

import json

import pytest
from pydantic import ValidationError

from harness.records.score import Observation, RowScore, ScoreSheet

ROW = {"id": "a", "points": 1.0, "max_points": 2.0, "fraction": 0.5, "reason": "half"}
OBSERVATION = {"key": "a", "credit": 1.0, "weight": 0.5}
SHEET = {
    "cell": {"model": "m", "run": 1, "task": "A04", "form_id": "open"},
    "points": 1.0,
    "max_points": 2.0,
    "points_as_is": 1.0,
    "rows": [ROW],
    "evidence": "0" * 64,
    "stamps": {
        "arnes_version": "3",
        "profile": "core",
        "signature": "0" * 64,
        "run_side": "0" * 64,
        "score_side": "0" * 64,
        "parts": {},
    },
}


def written(record: dict[str, object], field: str, number: str) -> str:
    """The JSON text of a record with one field replaced, also by what `json` would not write."""
    return json.dumps(record | {field: "@"}).replace('"@"', number)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "-0.5", "null", '"x"', "[1]"])
@pytest.mark.parametrize("field", ["points", "max_points", "fraction", "gate"])
def test_a_row_has_ordinary_numbers(field: str, number: str) -> None:
    """What is no number, or no score, is refused where it is read."""
    assert RowScore.model_validate_json(json.dumps(ROW)).points == 1.0
    with pytest.raises(ValidationError):
        RowScore.model_validate_json(written(ROW, field, number))


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1.5", "-0.5", "null"])
@pytest.mark.parametrize("field", ["credit", "weight"])
def test_an_observation_is_a_share(field: str, number: str) -> None:
    """Credit and weight lie between nothing and all."""
    with pytest.raises(ValidationError):
        Observation.model_validate_json(written(OBSERVATION, field, number))


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1.5", "-0.5", "null"])
def test_the_points_of_a_sheet_are_those_of_its_rows(number: str) -> None:
    """A total that its rows do not make is refused, whatever it is."""
    assert ScoreSheet.model_validate_json(json.dumps(SHEET)).points == 1.0
    with pytest.raises(ValidationError):
        ScoreSheet.model_validate_json(written(SHEET, "points", number))


def test_no_share_is_above_one() -> None:
    """More than all of a row is a broken grader."""
    for field in ("fraction", "gate"):
        with pytest.raises(ValidationError):
            RowScore.model_validate_json(written(ROW, field, "1.5"))
