"""What a point cost: sums and quotients by hand, from results small enough for it."""

import pytest
from finals import final_of

from harness.cli.tables import show_report
from harness.records.campaign import Final
from harness.records.sample import RunEnergy
from harness.report.render import markdown
from harness.stages.costs import PointCost, point_costs

POINTS = {"A04": 18.0, "A08": 16.0, "B01": 10.0}  # each made cell: 100 tokens, 2 seconds


def made() -> Final:
    """Two complete runs of level A with 26 and 25 points; one of level B's two is lost."""
    shares = {"m": [[1.0, 0.5], [0.5, 1.0], [0.5, None]], "zero": [[0.0], [0.0], [0.0]]}
    final = final_of(shares, POINTS, controls=True)
    cells = tuple(
        c.model_copy(update={"metrics": c.metrics.model_copy(update={"calls": 3})})
        for c in final.cells
    )
    return final.model_copy(update={"cells": cells})


def energy(run: int, joules: float, level: str = "A", **fields: object) -> RunEnergy:
    usual = {"seconds": 10.0, "gap_s": 0.0, "measured": ("gpu",), "model": "m"}
    return RunEnergy.model_validate(
        {**usual, "run": run, "level": level, "joules": joules, **fields}
    )


def of(final: Final, model: str = "m", level: str = "A") -> PointCost:
    (found,) = (c for c in point_costs(final) if (c.model, c.level) == (model, level))
    return found


def test_tokens_calls_and_seconds_per_point() -> None:
    """Level A: 26 + 25 = 51 points, 4 cells of 100 tokens, 3 calls and 2 s. B: one run, 5 points."""
    a, b = of(made()), of(made(), level="B")
    assert (a.runs, a.points, a.tokens, a.calls, a.seconds) == (2, 51.0, 400, 12, 8.0)
    assert a.tokens_per_point == pytest.approx(7.843137, abs=1e-6)
    assert a.seconds_per_point == pytest.approx(0.156863, abs=1e-6)
    assert (b.runs, b.points, b.tokens_per_point, b.calls_per_point) == (1, 5.0, 20.0, 0.6)


def test_joules_per_point_are_of_the_runs_that_were_sampled() -> None:
    """Run 1 took 5,200 J for 26 points: 200 J a point, whatever run 2 took."""
    one = made().model_copy(update={"energy": (energy(1, 5200.0),)})
    assert of(one).joules_per_point == 200.0
    both = made().model_copy(update={"energy": (energy(1, 5200.0), energy(2, 5000.0))})
    assert of(both).joules_per_point == 200.0
    assert (of(both).joules, of(both).measured_points) == (10200.0, 51.0)


def test_energy_of_another_level_or_of_a_cut_run_is_not_in_it() -> None:
    """B's second run has no total, and no level's energy counts for another's points."""
    final = made().model_copy(update={"energy": (energy(2, 900.0, "B"), energy(1, 50.0, "B"))})
    assert of(final).joules_per_point is None
    assert of(final, level="B").joules_per_point == 10.0


def test_runs_that_other_meters_saw_are_not_added() -> None:
    """A card in run 1 and a battery in run 2 are two quantities."""
    energies = (energy(1, 5200.0), energy(2, 1.0, measured=("battery",)))
    found = of(made().model_copy(update={"energy": energies}))
    assert (found.joules, found.measured_runs, found.measured) == (5200.0, 1, ("gpu",))


def test_no_point_has_no_price_and_a_count_that_is_missing_is_no_zero() -> None:
    """Tokens over zero points are no number; a sum of some cells would look cheap."""
    assert of(made(), "zero").tokens == 200
    assert of(made(), "zero").tokens_per_point is None
    first, *rest = made().cells
    silent = first.metrics.model_copy(update={"completion_tokens": None})
    final = made().model_copy(
        update={"cells": (first.model_copy(update={"metrics": silent}), *rest)}
    )
    assert of(final).tokens_per_point is None
    assert of(final).calls_per_point is not None


def test_controls_have_no_price() -> None:
    assert {cost.model for cost in point_costs(made())} == {"m", "zero"}


def test_it_is_shown_where_there_are_data_and_gaps_are_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The same numbers in Markdown and on the terminal."""
    final = made().model_copy(update={"energy": (energy(1, 5200.0, gap_s=30.0),)})
    text = markdown(final)
    assert "| A | m | 2 | 8 | 0.24 | 0.2 | 200 | graphics cards |" in text
    assert "| B | m | 1 | 20 | 0.60 | 0.4 | – | – |" in text
    assert "- m: power was sampled in 1 of 2 complete runs" in text
    assert "- m: in 30 s while cells were asked no power is known" in text
    show_report(final)
    printed = capsys.readouterr().out
    assert "What a point cost" in printed
    assert "graphics cards" in printed


def test_nothing_is_shown_where_nothing_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    """No column of dashes for power, and no table of them."""
    assert "Joules" not in markdown(made())
    bare = tuple(c.model_copy(update={"metrics": type(c.metrics)()}) for c in made().cells)
    final = made().model_copy(update={"cells": bare})
    assert "What a point cost" not in markdown(final)
    show_report(final)
    assert "What a point cost" not in capsys.readouterr().out
