"""What changed against a baseline, and what is noise."""

from pathlib import Path

import numpy as np
import pytest
from finals import final_of, stamps

from harness.cli.compare import _show
from harness.errors import NotComparableError, StatisticsError
from harness.records.campaign import Final
from harness.report.compare import Side, compare, holm_levels
from harness.stats.multiple import holm

NOISE = ((0.0, 0.02, -0.01), (0.01, -0.02, 0.0), (-0.01, 0.0, 0.02), (0.02, -0.01, 0.0))
POINTS = {"A01": 100.0, "A02": 100.0}


def campaign(levels: dict[str, float], turn: int = 0, **more: object) -> Final:
    """A campaign of models at these levels, with small run-to-run noise."""
    shares = {
        model: [
            [level + e for e in NOISE[(k + turn) % 4]],
            [level - e / 2 for e in NOISE[(k + turn + 1) % 4]],
        ]
        for k, (model, level) in enumerate(levels.items())
    }
    return final_of(shares, POINTS, **more)  # type: ignore[arg-type]


BEFORE = campaign({"steady": 0.6, "fallen": 0.8, "risen": 0.3, "gone": 0.5})
AFTER = campaign({"steady": 0.601, "fallen": 0.6, "risen": 0.55, "new": 0.5}, turn=1)


def test_a_regression_is_told_from_noise() -> None:
    """Models of both campaigns are judged in pairs, the rest is named."""
    found = compare(Side("before", BEFORE), Side("after", AFTER))

    assert {p.other: p.verdict for p in found.pairs} == {
        "steady": "within noise",
        "fallen": "worse",
        "risen": "better",
    }
    assert [p.other for p in found.worse] == ["fallen"]
    assert found.alone == ("gone", "new")
    assert found.paired
    fallen = found.worse[0]
    assert fallen.difference == pytest.approx(200 * (0.6 - 0.8), abs=2.0)  # noise of a mean
    assert fallen.interval is not None
    assert fallen.interval.low < fallen.difference < fallen.interval.high < 0
    assert fallen.tasks["A01"] == pytest.approx(100 * (0.6 - 0.8), abs=1.0)  # half of the points


def test_the_title_names_folders_from_where_one_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The result keeps the names as they were given."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    found = compare(Side(f"{tmp_path}/before", BEFORE), Side(f"{tmp_path}/after", AFTER))
    _show(found)
    assert "after against before, of 200 points" in capsys.readouterr().out
    assert found.baseline == f"{tmp_path}/before"


def test_the_threshold_is_the_verdict() -> None:
    """A difference counts exactly when it lies beyond the printed threshold."""
    found = compare(Side("before", BEFORE), Side("after", AFTER))

    for pair in found.pairs:
        assert pair.threshold is not None
        assert pair.difference is not None
        assert pair.p is not None
        counts = abs(pair.difference) > pair.threshold
        assert counts == (pair.verdict != "within noise") == (pair.p < 0.05)


@pytest.mark.parametrize("seed", range(20))
def test_the_levels_are_holms(seed: int) -> None:
    """A p value below its level is one that Holm's adjustment leaves below 5 %."""
    rng = np.random.default_rng(seed)
    ps = (rng.random(6) ** 3).tolist()

    assert [p < level for p, level in zip(ps, holm_levels(ps, 0.05), strict=True)] == [
        p < 0.05 for p in holm(ps)
    ]


def test_two_models_of_one_campaign() -> None:
    """The second is told against the first, whichever stands first in the plan."""
    for one, other, sign in (("fallen", "risen", -1), ("risen", "fallen", 1)):
        (pair,) = compare(Side("a", BEFORE, one), Side("a", BEFORE, other)).pairs
        assert pair.difference == pytest.approx(sign * 100.0, abs=3.0)  # 0.5 of 200 points
        assert pair.verdict == ("better" if sign > 0 else "worse")
        assert pair.name == f"{other} against {one}"


def test_a_change_that_is_not_that_of_the_means_says_why() -> None:
    """A run that one side alone has moves its mean and not the change, and nobody need wonder."""
    shares = {"whole": [[0.5, 0.6, 0.9], [0.5, 0.6, 0.9]], "cut": [[0.4, 0.5, None]] * 2}
    final = final_of(shares, POINTS)
    (pair,) = compare(Side("a", final, "whole"), Side("a", final, "cut")).pairs

    assert (pair.baseline_runs, pair.other_runs, pair.common_runs) == (3, 2, 2)
    assert pair.difference == pytest.approx(-20.0)  # in both common runs
    assert "all complete runs, 3 before and 2 now, and differ by -43.33" in pair.sentence
    even = compare(Side("a", BEFORE, "fallen"), Side("a", BEFORE, "risen")).pairs[0]
    assert even.sentence.endswith("points on.")


def test_a_model_named_once_is_looked_for_on_both_sides() -> None:
    """`before after:steady` is about that model alone."""
    found = compare(Side("before", BEFORE), Side("after", AFTER, "steady"))

    assert [(p.baseline, p.other) for p in found.pairs] == [("steady", "steady")]


def test_other_schedules_are_not_paired() -> None:
    """Schedules never pair across two versions of their file, and the result says so."""
    after = campaign({"steady": 0.601, "fallen": 0.6}, turn=1, under=stamps(faults="0" * 64))
    found = compare(Side("before", BEFORE), Side("after", after))

    assert not found.paired
    assert found.how == "Not paired: schedules differ."
    assert {p.other: p.verdict for p in found.pairs}["fallen"] == "worse"


def test_runs_that_do_not_overlap_are_not_paired() -> None:
    """Run 3 of one and runs 1 and 2 of the other met nothing together."""
    one = final_of({"m": [[0.5, 0.52, None]], "x": [[0.3, 0.31, None]]}, {"A01": 100.0})
    two = final_of({"m": [[None, None, 0.9]], "x": [[None, None, 0.3]]}, {"A01": 100.0})
    found = compare(Side("one", one), Side("two", two))

    assert not found.paired
    assert found.how == "Not paired: the two share no complete run."
    assert found.pairs[0].common_runs == 0


def test_too_few_runs_are_no_verdict() -> None:
    """From one run each nothing is judged, and the plain difference still stands there."""
    one, two = (final_of({"m": [[share]]}, {"A01": 100.0}) for share in (0.5, 0.9))
    (pair,) = compare(Side("one", one), Side("two", two)).pairs

    assert (pair.verdict, pair.threshold, pair.p) == ("not judged", None, None)
    assert pair.difference == pytest.approx(40.0)


@pytest.mark.parametrize(
    ("other", "named"),
    [
        (campaign({"steady": 0.6}, under=stamps(prompts="0" * 64)), "prompts"),
        (campaign({"steady": 0.6}, under=stamps(prompts="0" * 64, faults="0" * 64)), "faults"),
        (campaign({"steady": 0.6}, under=stamps(graders="0" * 64)), "graders"),
        (campaign({"steady": 0.6}, simulated=True), "written replies"),
        (final_of({"steady": [[0.6, 0.5]]}, {"A01": 100.0}), "A02 in one of them only"),
    ],
)
def test_what_was_not_made_by_one_instrument_is_refused(other: Final, named: str) -> None:
    """A difference of two instruments is not a difference of two models; the parts are named."""
    with pytest.raises(NotComparableError) as refused:
        compare(Side("before", BEFORE), Side("other", other))
    assert named in str(refused.value)


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        (Side("a", BEFORE), Side("a", BEFORE), "the same model"),
        (Side("a", BEFORE, "steady"), Side("a", BEFORE, "steady"), "the same model"),
        (Side("a", BEFORE, "stedy"), Side("b", AFTER, "steady"), 'did you mean "steady"?'),
        (Side("a", BEFORE), Side("b", campaign({"other": 0.5})), "no model is in both"),
    ],
)
def test_a_comparison_without_a_pair_is_refused(one: Side, other: Side, said: str) -> None:
    """The message says which name would have been right."""
    with pytest.raises(StatisticsError) as refused:
        compare(one, other)
    assert said in str(refused.value)
