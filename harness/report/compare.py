"""Two campaigns, or two models of one or two: what changed, against the noise of both.

The pairs are declared before a score is seen (the same model in both, or the two that are named),
so they are judged as a short list by Holm, not as all pairs of a ranking. Level A only.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Literal

from harness.errors import NotComparableError, Problem, StatisticsError, nearest
from harness.records.campaign import CampaignRecord, Final
from harness.report.analysis.pairing import turned
from harness.report.analysis.table import NAN, Table, sentence_of, tables_of
from harness.signature import changed_parts
from harness.stages.comparable import differing
from harness.stats.beyond import BeyondTasks, beyond_pair
from harness.stats.draws import fixed_draws
from harness.stats.interval import Interval
from harness.stats.multiple import holm
from harness.stats.pairs import Pair, PairAnalysis, paired_analysis
from harness.stats.quantiles import t_quantile
from harness.stats.unpaired import unpaired_analysis

CONFIDENCE = 0.95
SCHEDULES = "faults"  # the part of the signature that schedules are
NOTHING = "Nothing was compared."
SHOWN = 0.01  # points are printed with two decimals

Verdict = Literal["better", "worse", "within noise", "not judged"]


@dataclass(frozen=True)
class Side:
    """One side: where it was named, its end result, and the one model that is meant, if one is."""

    name: str
    final: Final
    model: str | None = None


@dataclass(frozen=True)
class Compared:
    """One declared pair: the new side minus the baseline, in points.

    baseline_mean, other_mean : of all complete runs of a side, as a report prints them
    baseline_runs, other_runs : how many those are
    difference : fitted run by run where runs are paired, so that no schedule counts for one side
        alone; it is that of the means only where both have the same runs
    threshold : smallest observed difference that counts among so many declared pairs
    interval : of this pair alone
    p : Holm's
    tasks : task → mean difference; None where one side has no score
    """

    baseline: str
    other: str
    baseline_mean: float | None
    other_mean: float | None
    baseline_runs: int
    other_runs: int
    difference: float | None
    threshold: float | None
    interval: Interval | None
    beyond: BeyondTasks | None
    p: float | None
    common_runs: int
    verdict: Verdict
    tasks: dict[str, float | None]
    sentence: str

    @property
    def name(self) -> str:
        """The model, or the two of them."""
        return _name((self.baseline, self.other))


@dataclass(frozen=True)
class Comparison:
    """All declared pairs.

    paired : True when run numbers name the same schedules on both sides
    how : a sentence that says so, or why not
    alone : models that only one side has
    simulated : True when the replies were written
    """

    baseline: str
    other: str
    max_points: float
    paired: bool
    how: str
    pairs: tuple[Compared, ...]
    alone: tuple[str, ...]
    simulated: bool

    @property
    def worse(self) -> tuple[Compared, ...]:
        """The regressions."""
        return tuple(pair for pair in self.pairs if pair.verdict == "worse")


@dataclass(frozen=True)
class _Line:
    """A model of one side, with the table it stands in."""

    model: str
    table: Table

    @property
    def totals(self) -> dict[int, float]:
        """Points of complete runs, copies of a run left out."""
        return self.table.observed(self.model)


@dataclass(frozen=True)
class _Judge:
    """The analysis of every model of both sides, and how it was made."""

    lines: tuple[_Line, ...]
    found: PairAnalysis | None
    how: str

    def pair(self, one: int, other: int) -> Pair | None:
        """Return a pair by the positions of its lines."""
        if self.found is None:
            return None
        wanted = {one, other}
        return next(p for p in self.found.pairs if {p.first, p.second} == wanted)


def compare(baseline: Side, other: Side) -> Comparison:
    """Compare a side with the baseline.

    Raises
    ------
    NotComparableError
        If the two were not made by one instrument, naming every part; schedules may differ, then
        nothing is paired.
    StatisticsError
        If there is no pair, or a named model is not there.
    """
    same_schedules = _refuse_apart(baseline, other)
    one, two = _level_a(baseline), _level_a(other)
    together = baseline.final == other.final
    chosen, alone = _declared((baseline, other), (one, two), together=together)
    first = [_Line(model, one) for model in one.with_a_total()]
    second = first if together else [_Line(model, two) for model in two.with_a_total()]
    lines = tuple(first if together else first + second)
    places = [(_place(first, a), _place(second, b)) for a, b in chosen]
    if not together:
        places = [(a, None if b is None else b + len(first)) for a, b in places]
    judge = _judge(lines, places, same_schedules=same_schedules)
    return Comparison(
        baseline=baseline.name,
        other=other.name,
        max_points=one.points,
        paired=judge.found.paired if judge.found else same_schedules,
        how=judge.how,
        pairs=_judged([_compared(*pair, judge) for pair in zip(chosen, places, strict=True)]),
        alone=alone,
        simulated=baseline.final.campaign.simulated,
    )


def _place(lines: Sequence[_Line], model: str) -> int | None:
    """Return where a model stands; None when it has no complete run."""
    return next((k for k, line in enumerate(lines) if line.model == model), None)


def _refuse_apart(baseline: Side, other: Side) -> bool:
    """Return whether both were made under the same schedules; anything else must be the same."""
    one, two = baseline.final, other.final
    only_schedules = changed_parts(one.stamps.parts, two.stamps.parts, "run") == (SCHEDULES,)
    ours, theirs = one.campaign, two.campaign
    if only_schedules:
        theirs = _under(theirs, ours)
    found = differing(ours, theirs)
    parts = changed_parts(one.stamps.parts, two.stamps.parts, "score")
    todo = "finalize both with one harness" if parts and not found else "they never compare"
    if parts:
        found.append(f"scored by other {', '.join(parts)}")
    if found:
        raise NotComparableError(
            f"{baseline.name} and {other.name} were not made by one instrument",
            [Problem(other.name, f"{what} than {baseline.name}", todo) for what in found],
            NOTHING,
        )
    return not only_schedules


def _under(record: CampaignRecord, other: CampaignRecord) -> CampaignRecord:
    """Return a record as if it had run under the other one's schedules."""
    schedules = {SCHEDULES: other.stamps.parts[SCHEDULES]}
    stamps = record.stamps.model_copy(update={"parts": {**record.stamps.parts, **schedules}})
    return record.model_copy(update={"stamps": stamps})


def _level_a(side: Side) -> Table:
    table = next((t for t in tables_of(side.final) if t.level == "A"), None)
    if table is None:
        raise StatisticsError(
            f"{side.name} has no level A",
            [Problem(side.name, "no task of level A", "only level A is compared")],
            NOTHING,
        )
    return table


def _declared(
    sides: tuple[Side, Side], tables: tuple[Table, Table], *, together: bool
) -> tuple[list[tuple[str, str]], tuple[str, ...]]:
    """Return the pairs (model of the baseline, model of the other), and who has no partner.

    A model that is named on one side only is looked for on the other one too.
    """
    named = sides[0].model or sides[1].model, sides[1].model or sides[0].model
    first, second = (set(table.models) for table in tables)
    alone: tuple[str, ...] = ()
    if named[0] is not None and named[1] is not None:
        chosen = [(named[0], named[1])]
        problems = [
            Problem(side.name, f"no model {model!r}", nearest(model, table.models))
            for side, table, model in zip(sides, tables, chosen[0], strict=True)
            if model not in table.models
        ]
    else:
        chosen = [(model, model) for model in tables[0].models if model in second]
        alone = tuple(sorted(first ^ second))
        todo = "name a model on each side: DIR:MODEL"
        problems = [] if chosen else [Problem(sides[1].name, "no model is in both", todo)]
    if together and chosen and all(a == b for a, b in chosen):
        problems = [Problem(sides[1].name, "the same model of the same campaign", "name two")]
    if problems:
        raise StatisticsError("there is no pair to compare", problems, NOTHING)
    return chosen, alone


def _judge(
    lines: tuple[_Line, ...],
    places: Sequence[tuple[int | None, int | None]],
    *,
    same_schedules: bool,
) -> _Judge:
    """Analyse all lines together: every one of them says how large the noise is."""
    runs = sorted({run for line in lines for run in line.totals})
    totals = [[line.totals.get(run, NAN) for run in runs] for line in lines]
    judged = [(a, b) for a, b in places if a is not None and b is not None]
    if not judged:
        return _Judge(lines, None, "No pair has a complete run on both sides.")
    shared = all(set(lines[a].totals) & set(lines[b].totals) for a, b in judged)
    why = "schedules differ" if not same_schedules else "the two share no complete run"
    try:
        if same_schedules and shared:
            found = paired_analysis(totals, rng=fixed_draws(4))
            return _Judge(lines, found, "Paired by run number: both sides met the same schedules.")
        return _Judge(lines, unpaired_analysis(totals), f"Not paired: {why}.")
    except StatisticsError as error:
        return _Judge(lines, None, f"Not judged: {sentence_of(error)}")


def _compared(
    names: tuple[str, str], place: tuple[int | None, int | None], judge: _Judge
) -> Compared:
    """Return a pair before it is judged."""
    one, two = (None if k is None else judge.lines[k] for k in place)
    means = [fmean(line.totals.values()) if line else None for line in (one, two)]
    difference = means[1] - means[0] if means[0] is not None and means[1] is not None else None
    pair = None if place[0] is None or place[1] is None else judge.pair(place[0], place[1])
    interval = None
    if pair is not None and pair.shrunk is not None:
        interval = pair.shrunk if pair.first == place[1] else turned(pair.shrunk)
        difference = interval.centre
    return Compared(
        baseline=names[0],
        other=names[1],
        baseline_mean=means[0],
        other_mean=means[1],
        baseline_runs=len(one.totals) if one else 0,
        other_runs=len(two.totals) if two else 0,
        difference=difference,
        threshold=None,
        interval=interval,
        beyond=_beyond(one, two) if one and two else None,
        p=pair.p if pair else None,
        common_runs=len(set(one.totals) & set(two.totals)) if one and two else 0,
        verdict="not judged",
        tasks=_by_task(one, two) if one and two else {},
        sentence=f"{_name(names)}: there are too few complete runs to judge by.",
    )


def holm_levels(p_values: Sequence[float], alpha: float) -> list[float]:
    """Return the level each p value is held against, so that `p < level` is Holm's verdict.

    The first step that fails sets the level of every later one.
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    levels, failed, level = [alpha] * len(p_values), False, alpha
    for step, k in enumerate(order):
        if not failed:
            level = alpha / (len(p_values) - step)
        levels[k] = level
        failed = failed or p_values[k] >= level
    return levels


def _judged(pairs: Sequence[Compared]) -> tuple[Compared, ...]:
    """Judge all declared pairs together."""
    ps = [pair.p for pair in pairs if pair.p is not None]
    levels = iter(zip(holm_levels(ps, 1 - CONFIDENCE), holm(ps) if ps else (), strict=True))
    return tuple(pair if pair.p is None else _verdict(pair, *next(levels)) for pair in pairs)


def _verdict(pair: Compared, level: float, adjusted: float) -> Compared:
    interval, difference = pair.interval, pair.difference
    assert interval is not None
    assert difference is not None
    assert pair.p is not None
    threshold = t_quantile(1 - level / 2, interval.df) * interval.se
    verdict: Verdict = "within noise"
    if pair.p < level:
        verdict = "better" if difference > 0 else "worse"
    names = pair.name
    counts = f"a difference counts from {threshold:.2f} points on"
    return replace(
        pair,
        threshold=threshold,
        p=adjusted,
        verdict=verdict,
        sentence=f"{names}: {difference:+.2f} points, {verdict}; {counts}.{_other_runs(pair)}",
    )


def _other_runs(pair: Compared) -> str:
    """Say why the change is not that of the two means, where they show another; else nothing."""
    assert pair.difference is not None
    assert pair.baseline_mean is not None
    assert pair.other_mean is not None
    if abs(pair.other_mean - pair.baseline_mean - pair.difference) < SHOWN / 2:
        return ""
    return (
        f" The change is fitted run by run; the means are of all complete runs,"
        f" {pair.baseline_runs} before and {pair.other_runs} now, and differ by"
        f" {pair.other_mean - pair.baseline_mean:+.2f}."
    )


def _name(names: tuple[str, str]) -> str:
    return names[0] if names[0] == names[1] else f"{names[1]} against {names[0]}"


def _beyond(one: _Line, two: _Line) -> BeyondTasks | None:
    """Return the difference as a claim about further tasks; None where cells do not suffice."""
    try:
        old, new = (line.table.scores((line.model,)).points[0].tolist() for line in (one, two))
        width = min(len(old[0]), len(new[0]))
        return beyond_pair(
            [task[:width] for task in new], [task[:width] for task in old], one.table.max_points
        )
    except StatisticsError:
        return None


def _by_task(one: _Line, two: _Line) -> dict[str, float | None]:
    means = [_task_means(line) for line in (one, two)]
    return {
        task: None if old is None or (new := means[1].get(task)) is None else new - old
        for task, old in means[0].items()
    }


def _task_means(line: _Line) -> dict[str, float | None]:
    table = line.table
    sheets = {t: [table.sheet(line.model, t, r) for r in table.runs] for t in table.tasks}
    points = {task: [s.points for s in of if s] for task, of in sheets.items()}
    return {task: fmean(of) if of else None for task, of in points.items()}
