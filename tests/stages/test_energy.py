"""Joules, by hand: power times time, and what is not known is told and not summed."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import pytest

from harness.records.sample import Sample
from harness.stages.energy import LONGEST_S, power_of, run_energies

TEN = datetime(2026, 11, 30, 22, 0, tzinfo=UTC)
LEVELS = {"A01": "A", "A02": "A", "B01": "B"}


def at(seconds: float, watts: float | None = 100.0, **fields: object) -> Sample:
    usual = {"model": "m", "run": 1, "task": "A01", "gpu_watts": watts}
    return Sample.model_validate({"at": TEN + timedelta(seconds=seconds), **usual, **fields})


def one(rows: Iterable[Sample]) -> tuple[float, float, float]:
    (found,) = run_energies(rows, LEVELS)
    return found.joules, found.seconds, found.gap_s


def test_a_hundred_watts_for_a_minute_are_six_thousand_joules() -> None:
    """100 W × 60 s; and ten minutes are ten times that."""
    assert one(at(t) for t in range(0, 61, 5)) == (6000.0, 60.0, 0.0)
    assert one(at(t) for t in range(0, 601, 5)) == (60000.0, 600.0, 0.0)


def test_a_ramp_is_the_area_under_it() -> None:
    """From 0 W to 120 W in a minute: a triangle of 60 s × 120 W / 2 = 3,600 J, as uneven as it is sampled."""
    assert one(at(t, 2.0 * t) for t in (0, 5, 7, 17, 30, 44, 50, 60)) == (3600.0, 60.0, 0.0)


def test_a_gap_is_told_and_not_bridged() -> None:
    """10 s at 100 W, 90 s of which nothing is known, 10 s at 100 W: 2,000 J over 20 s."""
    assert one(at(t) for t in (0, 5, 10, 100, 105, 110)) == (2000.0, 20.0, 90.0)


def test_the_longest_interval_that_is_bridged_is_three_samples() -> None:
    """15 s are summed; a hair more is a gap."""
    assert LONGEST_S == 15.0
    assert one([at(0), at(15)]) == (1500.0, 15.0, 0.0)
    assert one([at(0), at(15), at(30.1)]) == (1500.0, 15.0, 15.1)


def test_power_that_was_not_read_is_no_zero() -> None:
    """Two intervals of 5 s have an end without power: 100 W over the other 10 s."""
    rows = [at(0), at(5), at(10, None), at(15), at(20)]
    assert one(rows) == (1000.0, 10.0, 10.0)


def test_where_power_is_never_read_there_is_no_energy() -> None:
    """Not zero joules: nothing at all."""
    assert run_energies([at(t, None) for t in range(0, 61, 5)], LEVELS) == ()
    assert run_energies([], LEVELS) == ()
    assert run_energies([at(0)], LEVELS) == ()


def test_an_interval_belongs_to_what_was_asked_at_its_beginning() -> None:
    """A pause between two cells, bringing up a server, and other runs are nobody's."""
    rows = [
        at(0, task=None),  # the server comes up
        at(5),
        at(10),
        at(15, task=None),  # between two cells
        at(20, task="A02"),
        at(25, model=None, run=None, task=None, calls=9),
        at(30, run=2),
        at(35, run=2),
        at(40, model="n", run=2, task=None),
    ]
    found = {(e.model, e.run): (e.joules, e.seconds) for e in run_energies(rows, LEVELS)}
    assert found == {("m", 1): (1500.0, 15.0), ("m", 2): (1000.0, 10.0)}


def test_the_time_between_a_crash_and_a_resume_is_nobodys() -> None:
    """Not even a gap: nothing was asked in those eight hours."""
    crash = [at(0, calls=2), at(5, calls=3)]
    resumed = [
        at(28_800, model=None, run=None, task=None),
        at(28_805, calls=0),
        at(28_810, calls=1),
    ]
    assert one(crash + resumed) == (1000.0, 10.0, 0.0)
    early = [at(0), at(5)]  # in its first call
    assert one(early + resumed) == (1000.0, 10.0, 0.0)


def test_levels_are_never_added_to_each_other() -> None:
    """10 s of level A at 100 W, 5 s of level B at 40 W; where both are asked at once, neither."""
    rows = [at(0), at(5), at(10, 40.0, task="B01"), at(15, 40.0, task="A01 B01"), at(20, 40.0)]
    found = {e.level: (e.joules, e.seconds, e.gap_s) for e in run_energies(rows, LEVELS)}
    assert found == {"A": (500.0 + 350.0, 10.0, 5.0), "B": (200.0, 5.0, 5.0)}


def test_a_clock_that_was_set_back_takes_nothing_away() -> None:
    """An interval of minus an hour is none."""
    assert one([at(0), at(5), at(-3600), at(-3595)]) == (1000.0, 10.0, 0.0)


def test_cards_and_packages_are_added_and_a_battery_never_is() -> None:
    """The battery feeds both, so it stands in for them and not beside them."""
    assert power_of(at(0, 100.0, cpu_watts=50.0, battery_watts=170.0)) == (150.0, ("cpu", "gpu"))
    assert power_of(at(0, None, battery_watts=30.0)) == (30.0, ("battery",))
    assert power_of(at(0, None)) is None


def test_a_meter_that_comes_or_goes_does_not_change_what_is_summed() -> None:
    """5 s of card and package, then the card alone: another quantity, so no more of it."""
    rows = [at(0, cpu_watts=50.0), at(5, cpu_watts=50.0), at(10), at(15)]
    (found,) = run_energies(rows, LEVELS)
    assert (found.joules, found.seconds, found.gap_s) == (750.0, 5.0, 10.0)
    assert found.measured == ("cpu", "gpu")


@pytest.mark.parametrize("task", ["X99", ""])
def test_a_task_that_the_campaign_does_not_have_costs_nobody_anything(task: str) -> None:
    assert run_energies([at(0, task=task or None), at(5)], LEVELS) == ()
