"""A deviation of few runs is printed with what few runs know."""

import math

import pytest

from harness.errors import StatisticsError
from harness.stats.noise import df_for_upper_factor, few_runs_sentence, run_spread, sigma_factors

NAN = math.nan


@pytest.mark.parametrize(
    ("runs", "low", "high"),
    [
        (3, 0.520658, 6.284735),
        (4, 0.566490, 3.728547),
        (5, 0.599133, 2.873556),
        (6, 0.624208, 2.452614),
        (10, 0.687835, 1.825610),
    ],
)
def test_factors_of_the_interval_of_sigma(runs: int, low: float, high: float) -> None:
    """The published factors, to their six decimals."""
    assert sigma_factors(runs - 1) == pytest.approx((low, high), abs=1e-6)


def test_three_runs_get_their_sentence() -> None:
    """σ of three runs is never printed without what it does not know."""
    expected = "from 3 runs, sigma is known only to between half and six times the printed value"

    assert run_spread([88.50, 88.50, 81.08]).sentence == expected
    assert few_runs_sentence(10).endswith("between 0.69 and 1.83 times the printed value")


def test_runs_that_agree_give_no_sigma() -> None:
    """Zero observed spread is no estimate of zero, nor is rounding inside a sum a spread."""
    spread = run_spread([0.1 + 0.2, 0.3, 0.3])

    assert spread.all_equal
    assert (spread.sd, spread.sd_low, spread.sd_high) == (None, None, None)
    assert spread.sentence == "0 observed; sigma not estimable"


def test_one_run_gives_a_mean_and_no_sigma() -> None:
    """One run has no spread."""
    spread = run_spread([120.0])

    assert (spread.runs, spread.mean, spread.sd, spread.all_equal) == (1, 120.0, None, False)
    assert spread.sentence == "from one run nothing is known about sigma"


def test_two_runs_give_a_sigma_with_a_wide_interval() -> None:
    """Two runs know σ to within a factor of seventy between both ends."""
    spread = run_spread([100.0, 102.0])

    assert spread.sd == pytest.approx(math.sqrt(2))
    assert spread.sd_high / spread.sd_low > 70


def test_copies_have_their_sigma_refused() -> None:
    """Copies of a run are not runs, even where a world made their totals differ."""
    spread = run_spread([100.0, 102.0, 99.0], copied=True)

    assert (spread.sd, spread.all_equal) == (None, False)
    assert spread.sentence == "runs are copies of each other; sigma refused"


def test_a_missing_run_is_no_zero() -> None:
    """A run without a total leaves the others as they are."""
    assert run_spread([88.5, NAN, 81.08]) == run_spread([88.5, 81.08])


@pytest.mark.parametrize("totals", [[], [NAN, NAN]])
def test_no_run_is_an_error(totals: list[float]) -> None:
    """Without a run there is nothing to summarise."""
    with pytest.raises(StatisticsError, match="no run has a total"):
        run_spread(totals)


def test_how_many_runs_bound_sigma() -> None:
    """σ to within 1.5 needs 17 degrees of freedom, to within 1.25 needs 48, better than 1 never."""
    assert (df_for_upper_factor(1.5), df_for_upper_factor(1.25)) == (17, 48)
    with pytest.raises(StatisticsError):
        df_for_upper_factor(1.0)
