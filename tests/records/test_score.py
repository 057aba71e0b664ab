"""A score sheet holds numbers that a score can have, and no others."""

import json

import pytest
from pydantic import ValidationError

from harness.records.score import Observation, RowScore, ScoreSheet, points_of

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


NO_NUMBERS = ("NaN", "Infinity", "-Infinity", "-0.5", "null", '"x"', "[1]", "true", '"1"')


@pytest.mark.parametrize("number", NO_NUMBERS)
@pytest.mark.parametrize("field", ["points", "max_points", "fraction", "gate"])
def test_a_row_has_ordinary_numbers(field: str, number: str) -> None:
    """What is no number, or no score, is refused where it is read."""
    assert RowScore.model_validate_json(json.dumps(ROW)).points == 1.0
    with pytest.raises(ValidationError):
        RowScore.model_validate_json(written(ROW, field, number))


@pytest.mark.parametrize("number", [*NO_NUMBERS, "1.5"])
@pytest.mark.parametrize("field", ["credit", "weight"])
def test_an_observation_is_a_share(field: str, number: str) -> None:
    """Credit and weight lie between nothing and all."""
    with pytest.raises(ValidationError):
        Observation.model_validate_json(written(OBSERVATION, field, number))


@pytest.mark.parametrize("number", [*NO_NUMBERS, "1.5"])
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


def test_a_whole_number_is_a_number() -> None:
    """JSON may write 1 for 1.0; both are read as the same."""
    row = RowScore.model_validate_json(written(ROW | {"points": 2}, "fraction", "1"))

    assert (row.points, row.fraction) == (2.0, 1.0)
    assert Observation.model_validate_json(written(OBSERVATION, "credit", "1")).credit == 1.0


@pytest.mark.parametrize("where", ["rows", "rows_as_is"])
def test_no_row_has_more_points_than_it_can(where: str) -> None:
    """A sheet with more points in a row than its maximum is refused, also as it came."""
    too_many = [ROW | {"points": 2.1}]
    sums = {"points": 2.1 if where == "rows" else 1.0, "max_points": 4.0}
    repairs = [{"file": "a.py", "kind": "add_init_file", "detail": ""}]
    sheet = SHEET | sums | {"repairs": repairs, "rows_as_is": [ROW]}

    ScoreSheet.model_validate(SHEET | {"repairs": repairs, "rows_as_is": [ROW]})
    with pytest.raises(ValidationError, match=r"2\.1 points of 2"):
        ScoreSheet.model_validate(sheet | {where: too_many})


def test_a_sheet_has_no_more_points_than_its_task() -> None:
    """The total is held as each row is."""
    ScoreSheet.model_validate(SHEET | {"max_points": 1.0})
    with pytest.raises(ValidationError, match=r"1\.0 points of 0\.9"):
        ScoreSheet.model_validate(SHEET | {"max_points": 0.9})


def test_points_that_were_rounded_up_are_the_maximum() -> None:
    """All of a third of 2 is 0.666667, which is a little more than a third of 2."""
    row = ROW | {"points": points_of(2 / 3, 1), "max_points": 2 / 3}
    sheet = SHEET | {"rows": [row], "points": row["points"], "max_points": 2 / 3}

    assert ScoreSheet.model_validate(sheet).points == 0.666667


def test_a_flag_of_a_row_is_one_of_the_list() -> None:
    """What a flag means is written down once; others are refused where they are read."""
    assert RowScore.model_validate(ROW | {"flags": ["chance"]}).flags == ("chance",)
    with pytest.raises(ValidationError):
        RowScore.model_validate(ROW | {"flags": ["two-finals"]})
