"""Joules of a run: power over time, by the trapezoidal rule, from the samples of a campaign.

What lies between two samples counts for the run and the tasks that were asked at the first of
them: what that misses at the beginning of a run it adds at its end. What is not known is no zero:
intervals without a power at both ends, and those that are too long to be bridged, are counted in
seconds and told.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from harness.records.sample import SAMPLE_EVERY_S, RunEnergy, Sample
from harness.store import samples
from harness.store.campaign import Campaign

LONGEST_S = 3 * SAMPLE_EVERY_S  # two samples further apart than this do not bound what lies between
DECIMALS = 1

Power = tuple[float, tuple[str, ...]]
"""Watts, and the meters that they are of."""


@dataclass
class _Sum:
    joules: float = 0.0
    seconds: float = 0.0
    gap_s: float = 0.0
    measured: tuple[str, ...] = ()


def energy_of(campaign: Campaign, levels: Mapping[str, str]) -> tuple[RunEnergy, ...]:
    """Return what every run took for the tasks of each level; nothing where power was not read.

    Parameters
    ----------
    levels : task → its level
    """
    return run_energies(samples.read(campaign.folder.metrics), levels)


def run_energies(rows: Iterable[Sample], levels: Mapping[str, str]) -> tuple[RunEnergy, ...]:
    """Return the same of samples in the order of time."""
    sums: dict[tuple[str, int, str], _Sum] = {}
    for before, after in pairwise(rows):
        if before.model is None or before.run is None or _begins_a_pass(before, after):
            continue
        of = {levels[task] for task in before.tasks if task in levels}
        for level in of:
            found = sums.setdefault((before.model, before.run, level), _Sum())
            _add(found, before, after, alone=len(of) == 1)
    return tuple(
        RunEnergy(
            model=model,
            run=run,
            level=level,
            joules=round(found.joules, DECIMALS),
            seconds=round(found.seconds, DECIMALS),
            gap_s=round(found.gap_s, DECIMALS),
            measured=found.measured,
        )
        for (model, run, level), found in sorted(sums.items())
        if found.seconds
    )


def _begins_a_pass(before: Sample, after: Sample) -> bool:
    """Tell the first sample after a crash or a stop: before it nobody asked anything."""
    return after.calls < before.calls or (after.model is None and after.calls == 0)


def _add(found: _Sum, before: Sample, after: Sample, *, alone: bool) -> None:
    """Add one interval; alone says that no other level's cells were asked in it."""
    seconds = (after.at - before.at).total_seconds()
    first, second = power_of(before), power_of(after)
    bounded = alone and 0 < seconds <= LONGEST_S
    if first is None or second is None or not bounded or not _same_meters(found, first, second):
        found.gap_s += max(0.0, seconds)  # a clock that was set back leaves no gap that is known
        return
    found.joules += (first[0] + second[0]) / 2 * seconds
    found.seconds += seconds
    found.measured = first[1]


def _same_meters(found: _Sum, first: Power, second: Power) -> bool:
    """A run is summed over one set of meters, the first that both ends of an interval had."""
    return first[1] == second[1] and found.measured in ((), first[1])


def power_of(sample: Sample) -> Power | None:
    """Return watts and the meters they are of: cards and packages; else a battery; else None.

    A battery feeds the cards and the packages too, so it is never added to them.
    """
    parts = {"cpu": sample.cpu_watts, "gpu": sample.gpu_watts}
    told = {name: watts for name, watts in parts.items() if watts is not None}
    if told:
        return sum(told.values()), tuple(told)
    return None if sample.battery_watts is None else (sample.battery_watts, ("battery",))
