"""Levels are kept apart by type."""

import math

import numpy as np
import pytest

from harness.errors import StatisticsError
from harness.stats.hygiene import sigma_test
from harness.stats.levels import LevelATotals, level_scores, refuse_mixed
from harness.stats.means import model_means

NAN = math.nan
POINTS = [[[8.0, 7.0], [1.0, NAN]], [[6.0, 6.0], [2.0, 2.0]]]


def test_levels_mixed_in_one_table_are_refused() -> None:
    """One table, one level."""
    with pytest.raises(StatisticsError, match="levels A, B are mixed"):
        level_scores(POINTS, [8.0, 2.0], ["A", "B"])


def test_totals_of_levels_cannot_be_added() -> None:
    """No addition is defined, of two levels or of one, by Python or by numpy."""
    a = level_scores(POINTS, [8.0, 2.0], ["A", "A"]).totals()
    b = level_scores(POINTS, [8.0, 2.0], ["B", "B"]).totals()

    for add in (
        lambda: a + b,
        lambda: sum([a, b]),
        lambda: np.add(a, b),
        lambda: np.ones((2, 2)) + a,
        lambda: a * 0.5,
    ):
        with pytest.raises(TypeError):
            add()


def test_totals_read_as_arrays_where_an_array_is_taken() -> None:
    """A function of this room takes totals of a level as they are."""
    totals = level_scores(POINTS, [8.0, 2.0], ["A", "A"]).totals()

    assert [m.mean for m in model_means(totals)] == [9.0, 8.0]


def test_only_level_a_has_totals_that_order() -> None:
    """The type says it."""
    kinds = {
        level: isinstance(level_scores(POINTS, [8, 2], [level] * 2).totals(), LevelATotals)
        for level in "ABCM"
    }

    assert kinds == {"A": True, "B": False, "C": False, "M": False}


def test_two_levels_in_one_comparison_are_refused() -> None:
    """Not even two arguments of one function may be of two levels."""
    a = level_scores(POINTS, [8.0, 2.0], ["A", "A"]).totals()
    b = level_scores(POINTS, [8.0, 2.0], ["B", "B"]).totals()

    with pytest.raises(StatisticsError, match="mixed"):
        sigma_test(a, b)
    refuse_mixed(a, a, [1.0])


def test_a_run_with_a_missing_cell_has_no_total() -> None:
    """A missing cell is no zero; its run has no total, its share stays missing."""
    scores = level_scores(POINTS, [8.0, 2.0], ["A", "A"])

    assert np.isnan(scores.totals().values[0, 1])
    assert scores.shares()[0, 0].tolist() == [1.0, 0.875]
    assert np.isnan(scores.shares()[0, 1, 1])


@pytest.mark.parametrize(
    ("points", "most", "levels"),
    [
        (POINTS, [8.0], ["A"]),
        (POINTS, [8.0, 2.0], ["A"]),
        (POINTS, [7.0, 2.0], ["A", "A"]),
        (POINTS, [8.0, 0.0], ["A", "A"]),
        ([[[-1.0]]], [8.0], ["A"]),
    ],
)
def test_scores_outside_their_scale_are_refused(points: list, most: list, levels: list) -> None:
    """Shapes that differ, a score over its maximum, a maximum of nothing, a negative score."""
    with pytest.raises(StatisticsError):
        level_scores(points, most, levels)
