"""From an end result to everything a report says about it."""

import dataclasses
import math

import pytest
from finals import Shares, final_of

from harness.records.campaign import Final
from harness.records.score import CellKey, Unscored
from harness.report.analysis import Analysis, LevelAnalysis, analyse

# Campaign W of the statistics' specification: four models, three runs, points of 200.
W = ((171, 166, 176), (168, 160, 171), (150, 147, 159), (149, 141, 151))
# G2 of the same: four models, three tasks, three runs.
G2 = (
    ((18, 19, 17), (16, 15, 10), (14, 15, 7)),
    ((15, 17, 10), (18, 18, 11), (12, 14, 7)),
    ((14, 14, 16), (12, 8, 10), (7, 12, 10)),
    ((10, 10, 7), (12, 10, 8), (6, 11, 5)),
)


def level_of(analysis: Analysis, name: str = "A") -> LevelAnalysis:
    section = analysis.level(name)
    assert section is not None
    return section


def one_task(totals: tuple[tuple[float, ...], ...]) -> Final:
    """Models with these totals of 200 points, all in one task."""
    shares = {f"m{k}": [[total / 200 for total in of]] for k, of in enumerate(totals)}
    return final_of(shares, {"A01": 200.0})


def three_tasks() -> Final:
    shares = {f"m{k}": [[p / 20 for p in of] for of in tasks] for k, tasks in enumerate(G2)}
    return final_of(shares, {"A01": 20.0, "A02": 20.0, "A03": 20.0})


def numbers_in(value: object) -> list[float]:
    """Every float anywhere in an analysis."""
    if isinstance(value, float):
        return [value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [n for f in dataclasses.fields(value) for n in numbers_in(getattr(value, f.name))]
    if isinstance(value, dict):
        return [n for v in value.values() for n in numbers_in(v)]
    if isinstance(value, (tuple, list)):
        return [n for v in value for n in numbers_in(v)]
    return []


def test_the_pairs_of_campaign_w_are_the_specified_ones() -> None:
    """The same means give two more separations once runs are paired (W, rows 18 to 20)."""
    level = level_of(analyse(one_task(W)))

    assert level.pairing is not None
    assert level.pairs is not None
    assert level.pairing.residual_sd**2 == pytest.approx(2.75, abs=1e-5)
    assert level.pairing.within_sd**2 == pytest.approx(31.0833333, abs=1e-5)
    assert level.pairing.schedule_variance == pytest.approx(28.3333333, abs=1e-5)
    assert level.pairing.gain == pytest.approx(11.3030303, abs=1e-5)
    assert [row.half for row in level.pairs.rows] == pytest.approx([4.6871794] * 6, abs=1e-5)
    assert [str(s.ranks) for s in level.standings] == ["1-2", "1-2", "3", "4"]
    assert level.pairs.between("m1", "m0").verdict == "tied"
    assert level.pairs.between("m2", "m3").verdict == "fragile"


def test_a_difference_is_told_from_the_higher_model_down() -> None:
    """No reader has to turn a sign: every difference and its intervals look up to the first."""
    level = level_of(analyse(one_task(W[::-1])))

    assert level.pairs is not None
    for row in level.pairs.rows:
        assert row.difference is not None
        assert row.difference >= 0
        assert row.shrunk is not None
        assert row.shrunk.centre == pytest.approx(row.difference)
        assert row.shrunk.low < row.difference < row.shrunk.high


def test_the_components_of_g2_are_the_specified_ones() -> None:
    """The G-study of the analysis is that of shares (row 23), which are 1/20 of these points."""
    level = level_of(analyse(three_tasks()))

    assert level.variance is not None
    raw = dataclasses.astuple(level.variance.study.raw)
    known = (4.6018519, 2.5879630, 2.6064815, 2.5648148, 2.7129630, 1.5601852, 1.5925926)
    # Points are stored to 1e-6 of a row; shares square them.
    assert [400 * v for v in raw] == pytest.approx(known, abs=1e-5)
    assert level.variance.study.method == "moments"
    assert level.variance.tasks == pytest.approx(3.0)
    assert level.variance.today.relative == pytest.approx(
        (raw[3] / 3 + raw[4] / 3 + raw[6] / 9), abs=1e-9
    )


def test_hygiene_is_an_exact_rescoring_of_the_runs_there_are() -> None:
    """The counterfactual of rows 1 to 6: means, sigmas and their reduction, to the last point."""
    final = final_of(
        {"m": [[88.5 / 200, 88.5 / 200, 85.88 / 200]]},
        {"A01": 200.0},
        as_is={("m", "A01", 3): 81.08 / 200},
    )
    hygiene = level_of(analyse(final)).hygiene

    assert hygiene is not None
    (model,) = hygiene.models
    assert model.found.as_is.sd == pytest.approx(4.2839390, abs=1e-6)
    assert model.found.repaired.sd == pytest.approx(1.5126577, abs=1e-6)
    assert model.found.ratio is not None
    assert model.found.ratio.reduction == pytest.approx(0.6469003, abs=1e-6)
    assert (hygiene.touched_runs, hygiene.kinds) == (1, {"add_stdlib_import": 1})
    assert math.fsum(line.delta for line in hygiene.ledger) == pytest.approx(4.8, abs=1e-6)


def test_a_missing_cell_takes_the_total_but_not_the_tasks() -> None:
    """A run with a missing cell has no total; its other cells feed REML and the task tables."""
    shares = {f"m{k}": [[p / 20 for p in of] for of in tasks] for k, tasks in enumerate(G2)}
    cut: Shares = {**shares, "m3": [*shares["m3"][:2], [*shares["m3"][2][:2], None]]}
    level = level_of(analyse(final_of(cut, {"A01": 20.0, "A02": 20.0, "A03": 20.0})))

    assert set(level.standing("m3").totals) == {1, 2}
    assert level.standing("m3").unscored == 1
    assert level.standing("m3").hatched == ("cells without a score: 1 not run",)
    assert level.tasks[1].points["m3"] == {1: 12.0, 2: 10.0, 3: 8.0}
    assert level.variance is not None
    assert level.variance.study.method == "reml"
    assert level.variance.bands is None
    assert level.absent["bands"].startswith("1 cell(s) missing")
    assert next(e for e in level.endings if "unscored" in e.ended).ended == "unscored: not_run"


FEW: dict[str, tuple[Shares, dict[str, str]]] = {
    "one model": (
        {"m": [[0.5, 0.6, 0.55], [0.4, 0.45, 0.5]]},
        {"ranking": "no pair", "variance": "two of everything"},
    ),
    "one run": (
        {"a": [[0.5], [0.6]], "b": [[0.2], [0.3]]},
        {"ranking": "No residual", "noise": "from one run", "variance": "two of everything"},
    ),
    "one model, one run": ({"m": [[0.5], [0.6]]}, {"ranking": "no pair"}),
    "two runs": ({"a": [[0.5, 0.6], [0.6, 0.65]], "b": [[0.2, 0.3], [0.3, 0.2]]}, {}),
    "all runs equal": ({"a": [[0.5] * 3, [0.6] * 3], "b": [[0.2] * 3, [0.3] * 3]}, {}),
    "identical models": ({"a": [[0.5] * 3, [0.5] * 3], "b": [[0.5] * 3, [0.5] * 3]}, {}),
    "no complete run": (
        {"a": [[0.5, None], [None, 0.6]], "b": [[None, 0.2], [0.3, None]]},
        {"ranking": "No run is complete", "noise": "No run is complete"},
    ),
    "no cell at all": (
        {"a": [[None, None], [None, None]], "b": [[None, None], [None, None]]},
        {"ranking": "No run is complete", "variance": "No cell has a score"},
    ),
    "one model without a run": (
        {"a": [[0.5, 0.6], [0.6, 0.7]], "b": [[None, None], [0.2, 0.3]]},
        {"ranking": "no pair"},
    ),
}


@pytest.mark.parametrize("case", FEW)
def test_what_cannot_be_computed_is_said_in_a_sentence(case: str) -> None:
    """Too few models, runs or cells raise nothing, print no NaN, and state what is not there."""
    shares, said = FEW[case]
    analysis = analyse(final_of(shares, {"A01": 10.0, "A02": 8.0}))
    level = level_of(analysis)

    assert not [n for n in numbers_in(analysis) if not math.isfinite(n)]
    for name, words in said.items():
        assert words in level.absent[name]
        assert level.absent[name].endswith(".")
    for name in ("pairing", "variance", "run_covariance", "noise", "hygiene"):
        assert (getattr(level, name) is None) == (name in level.absent), name
    assert (level.pairs is None) == ("ranking" in level.absent)
    assert level.claims.may.endswith(".")
    assert level.claims.may_not.endswith(".")


def test_equal_runs_are_no_sigma_of_zero() -> None:
    """Zero observed spread is no estimate of zero, and the shrunken value stands beside it."""
    shares, _ = FEW["all runs equal"]
    level = level_of(analyse(final_of(shares, {"A01": 10.0, "A02": 8.0})))

    assert {s.sigma_text for s in level.standings} == {"0 observed; not estimable"}
    assert all(s.shrunk_sd is not None and s.shrunk_sd > 0 for s in level.standings)
    assert level.noise is not None
    assert level.noise.all_equal


def test_identical_models_never_separate() -> None:
    """At an observed sigma of zero two equal models share one tier."""
    shares, _ = FEW["identical models"]
    level = level_of(analyse(final_of(shares, {"A01": 10.0, "A02": 8.0})))

    assert level.tiers == (("a", "b"),)
    assert "No model is sustained" in level.claims.may


def test_copied_runs_are_counted_once_and_have_no_sigma() -> None:
    """A server that ignores the seed gives one run several times, not several runs."""
    shares = {"a": [[0.5, 0.5, 0.7], [0.6, 0.6, 0.5]], "b": [[0.2, 0.3, 0.4], [0.3, 0.1, 0.2]]}
    same = {("a", task, run): f"{task} of both" for task in ("A01", "A02") for run in (1, 2)}
    level = level_of(analyse(final_of(shares, {"A01": 10.0, "A02": 8.0}, evidence=same)))
    copied = level.standing("a")

    assert copied.copied_runs == ((1, 2),)
    assert copied.sigma_text == "copies of one run: refused"
    assert copied.raw is None
    assert copied.spread is not None
    assert copied.spread.sd is None
    assert "counted once" in copied.hatched[0]
    # 9.8 and 11.0 points were observed, not 9.8 twice.
    assert copied.mean == pytest.approx((9.8 + 11.0) / 2)
    assert level.pairs is not None
    assert level.pairs.rows[0].common_runs == 2


def test_a_copy_of_half_a_run_takes_no_run_away() -> None:
    """What a cut run shares with a whole one refuses sigma; every total that there is stays."""
    shares = {"a": [[0.5, 0.5], [None, 0.6]], "b": [[0.2, 0.3], [0.3, 0.1]]}
    same = {("a", "A01", run): "the same reply" for run in (1, 2)}
    level = level_of(analyse(final_of(shares, {"A01": 10.0, "A02": 8.0}, evidence=same)))

    assert level.standing("a").totals == {2: pytest.approx(9.8)}
    assert level.standing("a").mean == pytest.approx(9.8)
    assert level.standing("a").sigma_text == "copies of one run: refused"


def test_levels_are_told_apart_and_only_a_orders() -> None:
    """Each level has its own section and scale; a level beside A has no place and no pair."""
    shares = {"a": [[0.5, 0.6], [0.9, 0.8]], "b": [[0.2, 0.3], [1.0, 0.7]]}
    analysis = analyse(final_of(shares, {"A01": 10.0, "B01": 40.0}))
    first, second = level_of(analysis, "A"), level_of(analysis, "B")

    assert [level.level for level in analysis.levels] == ["A", "B"]
    assert (first.max_points, second.max_points) == (10.0, 40.0)
    assert (first.ranked, second.ranked) == (True, False)
    assert second.pairs is None
    assert second.absent["ranking"] == "Only level A orders models."
    assert {s.place for s in second.standings} == {None}
    assert "never added" in second.claims.may_not


def test_repeats_of_a_row_are_unbiased_counts() -> None:
    """Three of five full passes: pass^2 is 0.3 and pass@2 is 0.9 (row 26)."""
    shares = {"m": [[1.0, 1.0, 0.5, 1.0, 0.0]]}
    level = level_of(analyse(final_of(shares, {"A01": 10.0})))
    repeats = level.rows[0].repeats[0]

    assert (repeats.passes, repeats.runs) == (3, 5)
    assert repeats.all_of[2] == pytest.approx(0.3)
    assert repeats.any_of[2] == pytest.approx(0.9)
    assert max(repeats.all_of) == 5


def test_the_order_of_models_changes_nothing() -> None:
    """Tiers, letters and rank sets belong to the models, not to where they stand in the plan."""
    forth, back = (level_of(analyse(one_task(of))) for of in (W, W[::-1]))
    named = {s.model: (str(s.ranks), s.tier, s.letters, s.place) for s in forth.standings}
    turned = {s.model: (str(s.ranks), s.tier, s.letters, s.place) for s in back.standings}

    assert named == {f"m{3 - int(model[1])}": line for model, line in turned.items()}


def test_an_analysis_is_the_same_every_time() -> None:
    """Whatever is simulated is drawn from fixed seeds, so two reports agree to the byte."""
    final = three_tasks()

    assert analyse(final) == analyse(Final.model_validate_json(final.model_dump_json()))


def test_written_replies_are_never_taken_for_a_model() -> None:
    """Whoever quotes a claim of a simulated campaign quotes that it was one."""
    shares = {"a": [[0.9, 0.95]], "b": [[0.1, 0.15]]}
    analysis = analyse(final_of(shares, {"A01": 10.0}, simulated=True))

    assert analysis.simulated
    assert level_of(analysis).claims.may.startswith("SIMULATED")
    assert "fact about any model" in level_of(analysis).claims.may_not


def test_controls_are_held_against_what_they_must_reach() -> None:
    """A control is no model: it is never ranked, and a cell off its place is counted."""
    final = final_of({"m": [[0.5, 0.6], [0.1, 0.2]]}, {"A01": 10.0, "A02": 8.0}, controls=True)
    analysis = analyse(final)

    assert {c.player: c.points for c in analysis.controls} == {
        "control-golden": 18.0,
        "control-empty": 0.0,
    }
    assert all(control.holds for control in analysis.controls)
    assert [s.model for s in level_of(analysis).standings] == ["m"]


def test_a_doubt_reaches_the_row_it_names() -> None:
    """A doubted task hatches all its rows, a doubted row only itself; no point moves."""
    final = final_of({"m": [[0.5, 0.6], [0.1, 0.2]]}, {"A01": 10.0, "A02": 8.0})
    doubted = final.model_copy(update={"hatched": {"A01": "whole", "A02.row_2": "one row"}})
    level = level_of(analyse(doubted))

    assert [r.hatched for r in level.rows] == ["whole", "whole", "", "one row"]
    assert [t.hatched for t in level.tasks] == ["whole", ""]
    assert level.standings == level_of(analyse(final)).standings
    assert "rests also on points under doubt: A01, A02.row_2" in level.claims.may


def test_a_cut_run_says_what_it_costs_in_width() -> None:
    """With all runs at the same noise: three instead of two, and a degree of freedom more."""
    shares: Shares = {"a": [[0.5, 0.6, None]], "b": [[0.2, 0.3, 0.1]], "c": [[0.7, 0.9, 0.8]]}
    final = final_of(shares, {"A01": 10.0})
    late = Unscored(
        cell=CellKey(model="a", run=3, task="A01", form_id="open"),
        cause="deadline",
        detail="35 min > 13 min left",
        stamps=final.stamps,
    )
    cells = tuple(
        cell.model_copy(update={"outcome": late}) if cell.outcome.cell == late.cell else cell
        for cell in final.cells
    )
    level = level_of(analyse(final.model_copy(update={"cells": cells})))

    (cut,) = level.cuts
    assert (cut.model, cut.run, cut.cells, cut.why) == ("a", 3, 1, "35 min > 13 min left")
    assert cut.half is not None
    assert cut.half_whole is not None
    # t(0.975) by the tables: 2.570582 for 5 degrees of freedom (4 + 2 − 1), 2.446912 for 6.
    shrinks = 2.446912 / 2.570582 * math.sqrt(2 / 3)
    assert cut.half_whole / cut.half == pytest.approx(shrinks, abs=1e-6)
    assert level_of(analyse(final)).cuts == ()  # never begun, and for no deadline
