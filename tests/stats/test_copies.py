"""A deterministic server gives one run several times."""

import numpy as np
import pytest

from harness.errors import StatisticsError
from harness.stats.copies import find_copies
from harness.stats.means import model_means
from harness.stats.noise import run_spread


def test_identical_transcripts_refuse_sigma() -> None:
    """Three equal runs are one run."""
    copies = find_copies([["a", "b"]] * 3)

    assert copies.sigma_refused
    assert copies.repeated == (1, 2)
    assert run_spread([90.0, 90.0, 90.0], copied=copies.sigma_refused).sd is None


def test_different_transcripts_do_not() -> None:
    """One cell that differs makes two runs; a short answer may well come out the same."""
    copies = find_copies([["a", "b"], ["a", "c"]])

    assert not copies.sigma_refused
    assert copies.shares == ((0, 1, 0.5),)


def test_worlds_that_differ_do_not_hide_a_server_without_a_seed() -> None:
    """Cells with a schedule differ between runs by themselves, so they prove nothing."""
    runs = [["world 1", "same"], ["world 2", "same"]]

    assert not find_copies(runs).sigma_refused
    assert find_copies(runs, scheduled=[True, False]).sigma_refused


def test_a_suite_of_schedules_alone_is_still_compared() -> None:
    """Where every cell has a schedule they are all there is to compare."""
    assert find_copies([["x"], ["x"]], scheduled=[True]).sigma_refused


def test_missing_cells_are_not_compared() -> None:
    """Two cells that are both missing are no copy."""
    copies = find_copies([["a", None], ["b", None], [None, None]])

    assert not copies.sigma_refused
    assert copies.shares == ((0, 1, 0.0),)


def test_what_remains_counts_as_what_was_observed() -> None:
    """With its copies blanked a model has one run, and an interval from the others alone."""
    copies = find_copies([["a"], ["a"], ["a"]])
    totals = np.array([copies.distinct([90.0, 90.0, 90.0]), [80.0, 84.0, 82.0]])
    first, second = model_means(totals)

    assert (first.runs, first.raw, second.runs) == (1, None, 3)
    assert first.shrunk.half > second.shrunk.half


def test_runs_of_different_shape_are_refused() -> None:
    """Cells are compared with themselves, so every run lists the same ones."""
    with pytest.raises(StatisticsError):
        find_copies([["a", "b"], ["a"]])
    with pytest.raises(StatisticsError):
        find_copies([["a"], ["a"]]).distinct([1.0, 2.0, 3.0])
