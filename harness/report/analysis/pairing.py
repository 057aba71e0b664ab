"""Pairs of models: what is sustained, and how small a gap could have been seen."""

import math
from dataclasses import dataclass

from harness.report.analysis.table import Outcomes, Table
from harness.stats.beyond import BeyondTasks, beyond_pair
from harness.stats.interval import Interval
from harness.stats.pairs import Pair, PairAnalysis, Verdict
from harness.stats.resolution import Resolution, resolution_band
from harness.stats.twoway import TwoWay


@dataclass(frozen=True)
class PairRow:
    """Two models; `first` has the higher mean, so `difference` is never negative.

    half : half-width of the simultaneous 95 % interval (all pairs at once): `difference ± half`
    shrunk_half : the same from the pair's own shrunken variance; `fragile` fails this one alone
    shrunk, own : intervals of this pair alone
    beyond : the difference as a claim about further tasks of this kind
    common_runs : runs both completed
    sentence : what may be said of this pair
    """

    first: str
    second: str
    difference: float | None
    half: float | None
    shrunk_half: float | None
    shrunk: Interval | None
    own: Interval | None
    beyond: BeyondTasks | None
    p: float | None
    common_runs: int
    verdict: Verdict
    sentence: str


@dataclass(frozen=True)
class PairTable:
    """All pairs of a level.

    paired : False where runs share no schedules
    sigma, df : residual deviation of a run in points that the pairs are judged by
    low, middle, high : CD, all-pairs CD and MDD at the lower end of sigma's interval, at sigma, and
        at its upper end
    runs : complete runs of the model that has fewest; the resolution is that of so many
    """

    paired: bool
    sigma: float
    df: float
    runs: int
    rows: tuple[PairRow, ...]
    low: Resolution
    middle: Resolution
    high: Resolution

    def between(self, one: str, other: str) -> PairRow:
        """Return the row of two models in either order; KeyError when there is none."""
        for row in self.rows:
            if {row.first, row.second} == {one, other}:
                return row
        raise KeyError(f"{one}, {other}")


@dataclass(frozen=True)
class Pairing:
    """The two-way fit `total = model + schedule + residual`.

    adjusted : model → mean, adjusted for schedules it did not meet
    residual_sd, schedule_variance : points; the latter raw, negative when indistinct from none
    within_sd : deviation of a run with the schedule left in
    gain : how many times the variance of a difference would be larger without pairing
    sentence : says so when pairing bought nothing
    """

    adjusted: dict[str, float]
    residual_sd: float
    df_residual: int
    within_sd: float
    df_within: int
    schedule_variance: float
    gain: float
    helps: bool
    sentence: str


def pair_table(
    table: Table, models: tuple[str, ...], found: PairAnalysis, outcomes: Outcomes
) -> PairTable:
    """Return all pairs of models that have a complete run."""
    sigma, runs = math.sqrt(found.variance), min(len(table.totals(m)) for m in models)
    low, middle, high = resolution_band(sigma, runs=runs, models=len(models), df=found.df)
    points = dict(zip(models, table.scores(models).points.tolist(), strict=True))

    def beyond(pair: Pair) -> BeyondTasks | None:
        one, other = points[models[pair.first]], points[models[pair.second]]
        return outcomes.attempt("beyond", lambda: beyond_pair(one, other, table.max_points))

    rows = [_row(pair, models, beyond(pair), middle) for pair in found.pairs]
    return PairTable(found.paired, sigma, found.df, runs, tuple(rows), low, middle, high)


def _row(
    pair: Pair, models: tuple[str, ...], beyond: BeyondTasks | None, seen: Resolution
) -> PairRow:
    first, second = models[pair.first], models[pair.second]
    turn = pair.difference is not None and pair.difference < 0
    if turn:
        first, second = second, first
    return PairRow(
        first=first,
        second=second,
        difference=None if pair.difference is None else abs(pair.difference),
        half=pair.half,
        shrunk_half=pair.shrunk_half,
        shrunk=turned(pair.shrunk) if turn and pair.shrunk else pair.shrunk,
        own=turned(pair.own) if turn and pair.own else pair.own,
        beyond=_turned_claim(beyond) if turn else beyond,
        p=pair.p,
        common_runs=pair.common_runs,
        verdict=pair.verdict,
        sentence=_pair_sentence(pair, first, second, seen),
    )


def _pair_sentence(pair: Pair, first: str, second: str, seen: Resolution) -> str:
    if pair.difference is None or pair.half is None:
        return f"{first} and {second} share no runs: there is no difference to judge."
    gap = f"{abs(pair.difference):.2f} ± {pair.half:.2f} points"
    if pair.verdict == "sustained":
        return f"{first} is sustained above {second}: {gap}, all pairs at once."
    if pair.verdict == "fragile":
        return (
            f"{first} lies above {second} by {gap}, but the pair's own runs do not carry it: "
            "fragile."
        )
    return (
        f"{first} and {second} are tied at this resolution ({gap}): even of a pair alone, a true "
        f"gap below {seen.detectable:.1f} points would usually be missed."
    )


def turned(interval: Interval) -> Interval:
    """Return the interval of the difference the other way round."""
    low, high = -interval.high, -interval.low
    return Interval(-interval.centre, interval.se, interval.df, interval.confidence, low, high)


def _turned_claim(claim: BeyondTasks | None) -> BeyondTasks | None:
    if claim is None:
        return None
    interval, cautious = claim.interval, claim.cautious
    return BeyondTasks(
        tasks=claim.tasks,
        estimate=-claim.estimate,
        interval=turned(interval) if interval else None,
        cautious=turned(cautious) if cautious else None,
    )


def pairing_of(fit: TwoWay, models: tuple[str, ...]) -> Pairing:
    """Return the two-way fit in the names of the models."""
    gain = f"Pairing by run divides the variance of a difference by {fit.pairing_gain:.1f}."
    nothing = (
        f"Pairing bought nothing (gain {fit.pairing_gain:.2f}); the analysis stays paired, because "
        "the design is."
    )
    return Pairing(
        adjusted=dict(zip(models, fit.effects.tolist(), strict=True)),
        residual_sd=math.sqrt(fit.error_variance),
        df_residual=fit.df_error,
        within_sd=math.sqrt(fit.ms_within),
        df_within=fit.df_within,
        schedule_variance=fit.schedule,
        gain=fit.pairing_gain,
        helps=fit.pairing_helps,
        sentence=gain if fit.pairing_helps else nothing,
    )
