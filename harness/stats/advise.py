"""What next: how many runs, or tasks, would separate a pair, and when only new tasks would help."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from harness.stats.components import Components
from harness.stats.dstudy import d_study
from harness.stats.intake import refuse
from harness.stats.power import sustained_power
from harness.stats.quantiles import t_test_power

MOST_RUNS = 1_000
MOST_TASKS = 10_000

Way = Literal[
    "enough",  # the present campaign already has the power
    "runs",  # further runs, inside the written schedules
    "schedules",  # further runs, but more than there are written schedules for
    "tasks",  # only new tasks would help
    "none",  # no difference to find
]


@dataclass(frozen=True)
class Advice:
    """What would separate one pair.

    needed : runs per model on this suite, or tasks beyond it; None when no number is enough
    power_now : chance of the verdict with the present campaign
    power_needed : the same with what is needed; None when there is none
    """

    way: Way
    needed: int | None
    power_now: float
    power_needed: float | None
    sentence: str


def advise_runs(
    difference: float,
    sigma: float,
    *,
    models: int,
    runs: int,
    ceiling: int,
    power: float = 0.80,
) -> Advice:
    """Return how many runs make "sustained" likely for one pair among all, on this suite (U2).

    Parameters
    ----------
    difference : float, points
        The true difference one plans for. An observed one is a guess, and at the top of a table
        an optimistic one.
    sigma : float, points
        Residual deviation of a run.
    models : int
        Models in the campaign: all their pairs are judged at once.
    runs : int
        Complete runs so far.
    ceiling : int
        Written schedules; more runs are refused until more are written.

    Raises
    ------
    StatisticsError
        Without a positive sigma, with one model or no run.

    Examples
    --------
    >>> advise_runs(6.0, 2.0, models=6, runs=3, ceiling=5).sentence
    '5 runs (2 more) separate this pair with a chance of 82 %'
    """

    def reached(at: int) -> float:
        return sustained_power(difference, sigma, models=models, runs=at)

    now = reached(runs)
    if difference == 0:
        return Advice("none", None, now, None, "no difference to find: runs do not make one")
    if now >= power:
        text = f"{runs} runs separate such a pair with a chance of {_percent(now)}"
        return Advice("enough", runs, now, now, text)
    needed = _fewest(lambda n: reached(n) >= power, runs + 1, MOST_RUNS)
    if needed is None:
        text = f"not even {MOST_RUNS} runs separate this pair: only new tasks would help"
        return Advice("tasks", None, now, None, text)
    then = reached(needed)
    text = f"{needed} runs ({needed - runs} more) separate this pair"
    text += f" with a chance of {_percent(then)}"
    if needed <= ceiling:
        return Advice("runs", needed, now, then, text)
    text += f"; only {ceiling} schedules are written: write more, or add tasks"
    return Advice("schedules", needed, now, then, text)


def advise_tasks(
    difference: float,
    components: Components,
    *,
    tasks: int,
    runs: int,
    models: int,
    power: float = 0.80,
    points: float = 200.0,
) -> Advice:
    """Return how many tasks would separate a pair beyond these tasks (U3), at this many runs.

    Parameters
    ----------
    difference : float, points
        Of `points`, the maximum of the level.
    components : Components
        Truncated or REML, estimated from so many models.
    tasks, runs : int
        The present campaign.

    Raises
    ------
    StatisticsError
        With one task, or a negative component.

    Notes
    -----
    Power of the task-cluster t test of one declared pair (`beyond.beyond_pair`), tasks of equal
    weight. More runs are the cheaper advice where endless runs of these tasks would do.

    Examples
    --------
    Where the noise is the choice of tasks, endless runs do not help:

    >>> found = Components(0.004, 0.012, 0.0003, 0.010, 0.0002, 0.001, 0.006)
    >>> advise_tasks(10.0, found, tasks=11, runs=3, models=6).sentence
    'only new tasks would help: about 133 of this kind at 3 runs'
    """
    if tasks < 2:
        raise refuse("no cluster of tasks", "tasks", f"{tasks}", "two tasks at least")

    def reached(at_tasks: int, at_runs: float) -> float:
        plan = d_study(components, tasks=at_tasks, runs=at_runs, models=models, points=points)
        if plan.relative == 0:  # nothing varies: any difference shows
            return 1.0
        return t_test_power(abs(difference) / (math.sqrt(2) * plan.relative_se), at_tasks - 1)

    if difference == 0:
        return Advice("none", None, 0.05, None, "no difference to find: tasks do not make one")
    now = reached(tasks, runs)
    if now >= power:
        text = f"these {tasks} tasks separate such a pair with a chance of {_percent(now)}"
        return Advice("enough", tasks, now, now, text)
    needed = _fewest(lambda t: reached(t, runs) >= power, tasks + 1, MOST_TASKS)
    then = None if needed is None else reached(needed, runs)
    about = f"more than {MOST_TASKS}" if needed is None else f"about {needed}"
    if reached(tasks, math.inf) >= power:
        text = f"more runs of these {tasks} tasks would do, or {about} tasks at {runs} runs"
        return Advice("runs", needed, now, then, text)
    text = f"only new tasks would help: {about} of this kind at {runs} runs"
    return Advice("tasks", needed, now, then, text)


def _fewest(enough: Callable[[int], bool], start: int, most: int) -> int | None:
    """Return the smallest number from start on that is enough; more is never less."""
    low, step = start - 1, 1
    high = start
    while not enough(high):
        if high >= most:
            return None
        low, step = high, step * 2
        high = min(high + step, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
