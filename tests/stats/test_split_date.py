"""Level C says nothing until four gates are passed."""

from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from harness.errors import StatisticsError
from harness.stats.equivalence import equivalence, matched_difference
from harness.stats.split_date import (
    Design,
    SplitScores,
    SplitVerdict,
    Structure,
    memory_contrast,
    split_date_verdicts,
)

PAIRS = 30
CUTOFF = date(2026, 1, 1)
WAVE = 0.02 * np.sin(np.arange(PAIRS))  # differences that vary a little, with mean near 0


def structure() -> Structure:
    yes = [True] * PAIRS
    return Structure(
        same_template=yes,
        same_rows=yes,
        same_weights=yes,
        same_tools=yes,
        tokens=np.tile([500.0, 520.0], (PAIRS, 1)),
        golden_is_maximum=[[True, True]] * PAIRS,
        ladder=[[0.2, 0.21], [0.6, 0.6]],
    )


def design() -> Design:
    return Design(
        templates=[f"t{k}" for k in range(PAIRS)],
        late=[date(2026, 6, 1)] * PAIRS,
        early=[date(2025, 3, 1)] * PAIRS,
        structure=structure(),
        reference=np.vstack([WAVE, -WAVE + 0.001 * np.cos(np.arange(PAIRS))]),
    )


def model(gain: float, spread: float = 1.0, **options: object) -> SplitScores:
    early = 0.7 + gain + spread * WAVE
    return replace(SplitScores("m", early, np.full(PAIRS, 0.7), CUTOFF), **options)


def verdict(of: Design, scores: SplitScores) -> SplitVerdict:
    (found,) = split_date_verdicts(of, [scores])
    return found


def test_a_model_that_does_better_on_early_material_is_positive() -> None:
    """All gates passed and an interval above 0."""
    found = verdict(design(), model(0.10))

    assert (found.state, found.failed) == ("positive", None)
    assert found.delta.centre == pytest.approx(0.10, abs=0.005)
    assert found.delta.low > 0


def test_a_model_without_a_difference_is_none() -> None:
    """The interval lies inside ±3 %: equivalence, not a missing significance."""
    assert verdict(design(), model(0.0)).state == "none"


def test_between_the_two_it_is_unresolved() -> None:
    """A wide interval around 2 % is neither above 0 nor inside the margin."""
    assert verdict(design(), model(0.02, spread=7.0)).state == "unresolved"


def test_doing_worse_on_early_material_is_not_positive() -> None:
    """Only memory is looked for."""
    assert verdict(design(), model(-0.10)).state == "unresolved"


@pytest.mark.parametrize(
    ("change", "gate", "reason"),
    [
        ({"late": [date(2026, 3, 1)] * PAIRS}, "cutoff", "not after 2026-04-01"),
        ({"early": [date(2026, 2, 1)] * PAIRS}, "cutoff", "earlier item"),
        ({"structure": replace(structure(), same_rows=[False] * PAIRS)}, "structure", "same_rows"),
        (
            {"structure": replace(structure(), tokens=np.tile([500.0, 600], (PAIRS, 1)))},
            "structure",
            "tokens",
        ),
        (
            {"structure": replace(structure(), golden_is_maximum=[[True, False]] * PAIRS)},
            "structure",
            "golden",
        ),
        ({"structure": replace(structure(), ladder=[[0.2, 0.3]])}, "structure", "score apart"),
        ({"structure": replace(structure(), ladder=[])}, "structure", "no graded defective"),
        ({"reference": (0.1 + WAVE)[None]}, "difficulty", "not ±3 %"),
        ({"reference": np.zeros((1, PAIRS))}, "difficulty", "no precision"),
        ({"reference": np.full((1, PAIRS), np.nan)}, "difficulty", "no reference solver"),
    ],
)
def test_the_first_failed_gate_is_named_and_no_difference_given(
    change: dict, gate: str, reason: str
) -> None:
    """A difference behind a failed gate is not handed out at all."""
    found = verdict(replace(design(), **change), model(0.10))

    assert (found.state, found.failed) == ("inconclusive", gate)
    assert reason in found.reason
    assert (found.delta, found.p) == (None, None)


@pytest.mark.parametrize(
    "change",
    [{"late": [date(2026, 6, 1)]}, {"structure": replace(structure(), same_rows=[True])}],
)
def test_a_fact_that_is_not_given_for_every_pair_opens_no_gate(change: dict) -> None:
    """A short list of facts is a mistake of ours, not a passed gate."""
    with pytest.raises(StatisticsError, match="do not match"):
        verdict(replace(design(), **change), model(0.1))


def test_an_unknown_cutoff_is_inconclusive() -> None:
    """Without a cutoff no item is known to be new."""
    assert verdict(design(), model(0.10, cutoff=None)).failed == "cutoff"


def test_a_loose_measurement_is_inconclusive() -> None:
    """A half-width over 5 % of the maximum answers nothing."""
    found = verdict(design(), model(0.10, spread=12.0))

    assert found.failed == "precision"
    assert "5 % allowed" in found.reason


def test_scores_without_any_spread_are_inconclusive() -> None:
    """A model that is full on both sides shows no precision, not a perfect one."""
    assert verdict(design(), model(0.0, spread=0.0)).failed == "precision"


def test_the_order_of_gates_decides() -> None:
    """When several fail, the first in order is the one that is named."""
    bad = replace(
        design(),
        structure=replace(structure(), same_tools=[False] * PAIRS),
        reference=(0.1 + WAVE)[None],
    )

    assert verdict(bad, model(0.1)).failed == "structure"
    assert verdict(bad, model(0.1, cutoff=None)).failed == "cutoff"


def test_several_models_share_the_error_rate() -> None:
    """Holm over the models that passed: a borderline one among many is no longer positive."""
    # delta .02 with an sd near .05 over 30 pairs: p near .03 alone
    borderline = model(0.02, spread=3.5)
    alone = verdict(design(), borderline)
    among = split_date_verdicts(design(), [borderline, *[model(0.0)] * 9, model(0.1, cutoff=None)])

    assert 0.01 < alone.p < 0.05
    assert (alone.state, among[0].state) == ("positive", "unresolved")
    assert among[-1].failed == "cutoff"


@pytest.mark.parametrize(("pairs", "percent"), [(11, 8.06), (20, 5.62), (30, 4.48)])
def test_eleven_pairs_cannot_pass(pairs: int, percent: float) -> None:
    """With a deviation of 12 % the half-widths are the published ones; 5 % needs about thirty."""
    d = np.random.default_rng(1).normal(0, 1, pairs)
    d = 0.12 * (d - d.mean()) / d.std(ddof=1)
    found = matched_difference(d, np.zeros(pairs))

    assert 100 * found.interval.half == pytest.approx(percent, abs=0.005)


def test_pairs_of_one_template_are_one_observation() -> None:
    """Every pair entered twice under its template gives the same interval, not a narrower one."""
    first, second = [0.90, 0.80, 0.70, 0.95], [0.80, 0.82, 0.60, 0.81]
    once = matched_difference(first, second)
    twice = matched_difference(2 * first, 2 * second, clusters=2 * ["a", "b", "c", "d"])

    assert (twice.pairs, twice.clusters) == (8, 4)
    assert twice.interval.half == pytest.approx(once.interval.half)


def test_not_significant_is_not_equivalent() -> None:
    """A wide interval around 0 is neither a difference nor the proof of none."""
    assert not equivalence(0.0, 2.0, 10, margin=3.0).equivalent
    assert equivalence(0.0, 1.0, 10, margin=3.0).equivalent


@pytest.mark.parametrize("estimate", [1.3, 1.4, 1.5, -1.4])
def test_both_forms_of_equivalence_agree(estimate: float) -> None:
    """The 90 % interval lies inside the margin exactly when p is below 5 %."""
    found = equivalence(estimate, 0.9, 10, margin=3.0)

    assert found.equivalent == (found.p < 0.05)


@pytest.mark.parametrize(("se", "df", "margin"), [(0.0, 10, 3.0), (1.0, 0, 3.0), (1.0, 10, 0.0)])
def test_equivalence_needs_noise_and_a_margin(se: float, df: float, margin: float) -> None:
    """Without a standard error or a margin there is nothing to test."""
    with pytest.raises(StatisticsError):
        equivalence(0.0, se, df, margin=margin)


@pytest.mark.parametrize(
    ("first", "second", "clusters"),
    [
        ([0.9], [0.8], None),
        ([0.9, 0.8], [0.8, 0.7], None),
        ([0.9, 0.8], [0.8], None),
        ([0.9, 0.8], [0.7, 0.8], ["a", "a"]),
        ([0.9, 0.8], [0.7, 0.8], ["a"]),
    ],
)
def test_pairs_without_precision_are_refused(first: list, second: list, clusters: list) -> None:
    """One pair, equal differences, unmatched items, one template."""
    with pytest.raises(StatisticsError):
        matched_difference(first, second, clusters=clusters)


def test_memory_is_what_drift_does_not_explain() -> None:
    """Early items are easier for both; what one model gains beyond that is its memory."""
    drift = 0.05 + WAVE
    flat = np.full(PAIRS, 0.7)
    knows = SplitScores("knows", flat + drift + 0.1, flat, date(2025, 12, 1))
    cannot = SplitScores("cannot", flat + drift - 0.01 * WAVE, flat, date(2024, 6, 1))
    found = memory_contrast(knows, cannot, design())

    assert found.interval.centre == pytest.approx(0.1, abs=0.001)


@pytest.mark.parametrize("cutoff", [None, date(2024, 6, 1), date(2026, 5, 1)])
def test_cutoffs_must_straddle_the_material(cutoff: date | None) -> None:
    """A first model that cannot know the early material, or may know the late, gives no contrast."""
    first = model(0.1, cutoff=cutoff)

    with pytest.raises(StatisticsError, match="cutoff"):
        memory_contrast(first, model(0.0, cutoff=date(2024, 6, 1)), design())
