"""What next: how many runs, or tasks, would separate a pair, in runs and in hours.

Hours are those of this campaign: what its runs took on its machines, servers included.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from harness.campaign.plan import RUN_CEILING
from harness.errors import Problem, StatisticsError, nearest
from harness.records.campaign import Final
from harness.report.analysis import LevelAnalysis, analyse
from harness.report.analysis.pairing import PairRow
from harness.stats.advise import Advice, advise_runs, advise_tasks

POWER = 0.80
SECONDS_PER_HOUR = 3600.0


@dataclass(frozen=True)
class PairAdvice:
    """What would separate one pair.

    difference : the observed one; planning with it is optimistic for whoever leads a table
    runs : advice on this suite, tasks : advice beyond it; the latter None where components are not
        known, and why_no_tasks then says why
    more_runs : further runs of every model, within the written schedules; None when runs are not
        the way
    hours_of_runs, hours_of_tasks : None when the campaign's speed, or the number, is not known
    sentences : what a person reads
    """

    first: str
    second: str
    difference: float
    sigma: float
    runs: Advice
    tasks: Advice | None
    why_no_tasks: str
    ceiling: int
    more_runs: int | None
    more_tasks: int | None
    hours_of_runs: float | None
    hours_of_tasks: float | None
    sentences: tuple[str, ...]


def advise(
    final: Final, pair: tuple[str, str] | None, seconds: Mapping[str, float]
) -> tuple[PairAdvice, ...]:
    """Return advice for a pair, or for all neighbours in level A's order that are not sustained.

    Parameters
    ----------
    final : the campaign so far
    pair : two models by id
    seconds : model → what one run of it took; may be empty

    Raises
    ------
    StatisticsError
        If level A has no pairs, or a model is not in it.
    """
    level = analyse(final).level("A")
    if level is None or level.pairs is None:
        why = level.absent.get("ranking", "") if level else "No task of level A was asked."
        raise StatisticsError("there is no pair to advise on", [Problem(final.campaign.name, why)])
    known = [s.model for s in level.standings if s.mean is not None]
    if pair is None:
        neighbours = [level.pairs.between(*two) for two in pairwise(known)]
        rows = tuple(row for row in neighbours if row.verdict != "sustained")
    else:
        _refuse_unknown(pair, known)
        row = level.pairs.between(*pair)
        if row.difference is None:
            raise StatisticsError("no such pair", [Problem(final.campaign.name, row.sentence)])
        rows = (row,)
    return tuple(_advice(level, row, known, seconds) for row in rows if row.difference is not None)


def _refuse_unknown(pair: tuple[str, str], known: list[str]) -> None:
    problems = [
        Problem(model, "no such model with a complete run", nearest(model, known))
        for model in pair
        if model not in known
    ]
    if pair[0] == pair[1]:
        problems.append(Problem(pair[0], "named twice", "name two models"))
    if problems:
        raise StatisticsError("no such pair", problems)


def _advice(
    level: LevelAnalysis, row: PairRow, models: list[str], seconds: Mapping[str, float]
) -> PairAdvice:
    assert level.pairs is not None
    assert row.difference is not None
    sigma, done = level.pairs.sigma, level.pairs.runs
    runs = advise_runs(
        row.difference, sigma, models=len(models), runs=done, ceiling=RUN_CEILING, power=POWER
    )
    tasks = _of_tasks(level, row.difference, done)
    more_runs = runs.needed - done if runs.way == "runs" and runs.needed else None
    more_tasks = (
        tasks.needed - len(level.tasks)
        if tasks and tasks.needed and tasks.needed > len(level.tasks)
        else None
    )
    per_run = sum(seconds[m] for m in models) if all(m in seconds for m in models) else None
    found = PairAdvice(
        first=row.first,
        second=row.second,
        difference=row.difference,
        sigma=sigma,
        runs=runs,
        tasks=tasks,
        why_no_tasks=level.absent.get("variance", "") if tasks is None else "",
        ceiling=RUN_CEILING,
        more_runs=more_runs,
        more_tasks=more_tasks,
        hours_of_runs=_hours(per_run, more_runs),
        hours_of_tasks=_hours(per_run, more_tasks and more_tasks * done / len(level.tasks)),
        sentences=(),
    )
    return _with_sentences(found, row, len(models))


def _of_tasks(level: LevelAnalysis, difference: float, runs: int) -> Advice | None:
    if level.variance is None or len(level.tasks) < 2:
        return None
    study = level.variance.study
    return advise_tasks(
        difference, study.used, tasks=len(level.tasks), runs=runs, models=study.models,
        power=POWER, points=level.max_points,
    )  # fmt: skip


def _hours(seconds_per_run: float | None, runs: float | None) -> float | None:
    if seconds_per_run is None or runs is None:
        return None
    return seconds_per_run * runs / SECONDS_PER_HOUR


def _with_sentences(found: PairAdvice, row: PairRow, models: int) -> PairAdvice:
    first = (
        f"Run by run, {found.first} lies {found.difference:.2f} points above {found.second}, "
        f"which is {row.verdict}. Planned for a true gap of that size and a residual σ of "
        f"{found.sigma:.2f} points."
    )
    here = f"On these tasks: {found.runs.sentence}."
    if found.more_runs:
        here += f" That is {found.more_runs} more run(s) of each of {models} models"
        here += f"{_time(found.hours_of_runs)}."
    elif found.runs.way == "schedules":
        here += f" Runs beyond {found.ceiling} are refused."
    if found.tasks is None:
        beyond = f"Beyond these tasks nothing is advised. {found.why_no_tasks}".strip()
    else:
        beyond = f"Beyond these tasks: {found.tasks.sentence}"
        if found.more_tasks and found.hours_of_tasks is not None:
            beyond += f"{_time(found.hours_of_tasks)}"
        beyond += "."
    return replace(found, sentences=(first, here, beyond))


def _time(hours: float | None) -> str:
    """Return a span in the unit it is read in, as a clause; nothing where it is not known."""
    if hours is None:
        return ""
    if hours >= 1:
        return f", about {hours:.1f} h at this campaign's speed"
    minutes = hours * 60
    shown = f"{minutes:.0f} min" if minutes >= 1 else "less than a minute"
    return f", about {shown} at this campaign's speed" if minutes >= 1 else f", {shown}"
