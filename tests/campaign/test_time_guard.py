"""The time guard: what it starts ends in time, unless the run itself grew beyond the margin."""

import random

import pytest

from harness.campaign.time_guard import GROWTH, RESERVE_S, next_run_fits


def test_without_a_deadline_everything_fits() -> None:
    """A campaign without a deadline is never cut."""
    assert next_run_fits(None, previous_s=1e9, estimate_s=None).fits


@pytest.mark.parametrize(
    ("remaining_s", "previous_s", "fits"),
    [
        (3600 * GROWTH + RESERVE_S, 3600, True),
        (3600 * GROWTH + RESERVE_S - 1, 3600, False),
        (0, 60, False),
        (-5, 60, False),
    ],
)
def test_a_run_needs_its_last_duration_the_growth_and_the_reserve(
    remaining_s: float, previous_s: float, fits: bool
) -> None:
    """previous × 1.15 + 15 minutes, to the second."""
    assert next_run_fits(remaining_s, previous_s=previous_s, estimate_s=1).fits is fits


def test_the_first_run_goes_by_the_estimate() -> None:
    """Nothing was measured of this model yet but its speed."""
    assert next_run_fits(4000, previous_s=None, estimate_s=1000).fits
    assert not next_run_fits(2000, previous_s=None, estimate_s=1000).fits


def test_a_model_of_unknown_speed_is_started_while_the_reserve_is_left() -> None:
    """Somebody has to measure it; a deadline that has passed still refuses it."""
    assert next_run_fits(RESERVE_S, previous_s=None, estimate_s=None).fits
    assert not next_run_fits(RESERVE_S - 1, previous_s=None, estimate_s=None).fits


def test_the_arithmetic_is_told() -> None:
    """A skipped run is recorded with the numbers that skipped it."""
    told = next_run_fits(3600, previous_s=4000, estimate_s=None).why
    assert told == (
        "its previous run took 1 h 07 min: 1 h 32 min with 1.15 × and 15 min in reserve"
        " > 1 h 00 min left"
    )
    unknown = next_run_fits(600, previous_s=None, estimate_s=None).why  # no factor of nothing
    assert unknown == "nothing is known of its speed: 15 min in reserve > 10 min left"


@pytest.mark.parametrize("seed", range(200))
def test_no_started_run_ends_late_unless_it_grew_beyond_the_margin(seed: int) -> None:
    """Random nights: models in turn, durations that drift, a deadline somewhere."""
    draw = random.Random(seed)
    models = draw.randint(1, 5)
    deadline_s = draw.uniform(600, 50_000)
    usual = [draw.uniform(30, 8_000) for _ in range(models)]
    previous: list[float | None] = [None] * models
    now_s = 0.0
    for _run in range(5):
        for model in range(models):
            estimate_s = usual[model] * draw.uniform(1.0, 1.5)
            fit = next_run_fits(
                deadline_s - now_s, previous_s=previous[model], estimate_s=estimate_s
            )
            if not fit.fits:
                continue
            took_s = usual[model] * draw.uniform(0.6, 1.6)
            expected_s = previous[model] or estimate_s
            now_s += took_s
            grew = took_s > expected_s * GROWTH + RESERVE_S
            assert now_s <= deadline_s or grew
            previous[model] = took_s


def test_a_deadline_that_has_passed_is_said_so() -> None:
    """The morning's resume reads how long ago it was, and no negative time."""
    why = next_run_fits(-7500, previous_s=600, estimate_s=None).why
    assert "26 min with 1.15 × and 15 min in reserve are needed" in why
    assert why.endswith("the deadline passed 2 h 05 min ago")
