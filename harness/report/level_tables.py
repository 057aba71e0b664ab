"""An analysis → the tables of one level: ranking, pairs, resolution, tasks."""

from dataclasses import replace

from harness.report.analysis import LevelAnalysis
from harness.report.analysis.pairing import PairRow
from harness.report.analysis.parts import Standing
from harness.report.sources import Sources, of_model, of_task
from harness.report.view import Column, Entry, Line, Table, word
from harness.report.wording import interval_text, number, rank_text
from harness.stats.resolution import Resolution

RANKING = (
    Column("Rank set", about="the ranks this model may have, jointly with all others, 95 %"),
    Column("Model", numeric=False),
    Column("Tier", about="a new tier begins where all above are sustained above all below"),
    Column("Mean", about="points, over complete runs"),
    Column("95 %, further runs", about="interval of the mean over further runs of these tasks"),
    Column("95 %, further tasks", about="interval over further tasks of this kind"),
    Column("σ [95 %]", about="deviation between runs, with its own interval"),
    Column("Repairs", about="made on a copy, from a closed list, each charged once"),
    Column("Truncated", about="replies cut by the generation cap"),
    Column("Unscored", about="cells without a score: failures of the instrument, never zeros"),
    Column("Runs", about="complete ones, of those planned"),
)
UNRANKED = tuple(c for c in RANKING if c.title not in ("Rank set", "Tier"))


def model_anchor(level: str, model: str) -> str:
    """Return the anchor of a model's drill-down in a level."""
    return f"model-{level}-{model}"


def cell_anchor(model: str, task: str) -> str:
    """Return the anchor of a model's cells of one task."""
    return f"cells-{model}-{task}"


def ranking(level: LevelAnalysis, sources: Sources) -> Table:
    """Return the first table a reader sees; a level that orders nothing has no ranks in it."""
    lines, tier = [], None
    for standing in level.standings:
        cut = level.ranked and tier is not None and standing.tier != tier
        tier = standing.tier
        entries = _standing(level, standing, sources)
        lines.append(Line(entries, cut=cut, doubt=" ".join(standing.hatched)))
    order = "by falling mean; only rank sets and tiers are claims" if level.ranked else "by name"
    doubted = [task.task for task in level.tasks if task.hatched]
    doubted += [f"{r.task}.{r.row}" for r in level.rows if r.hatched and r.task not in doubted]
    rests = f"every line rests also on points under doubt: {', '.join(doubted)}"
    sigmas = dict.fromkeys(s.sigma_sentence for s in level.standings if s.sigma_sentence)
    return Table(
        name=f"ranking-{level.level}",
        caption=f"Level {level.level}: means of {level.max_points:g} points, {order}",
        columns=RANKING if level.ranked else UNRANKED,
        lines=tuple(lines),
        notes=(*sigmas, *([rests] if doubted else [])),
    )


def _standing(level: LevelAnalysis, s: Standing, sources: Sources) -> tuple[Entry, ...]:
    files = of_model(level, s.model)
    every = of_model(level)

    def own(name: str, value: float | None, text: str) -> Entry:
        return sources.number(f"{level.level}.ranking.{s.model}.{name}", value, text, *files)

    def joint(name: str, value: float | None, text: str) -> Entry:
        return sources.number(f"{level.level}.ranking.{s.model}.{name}", value, text, *every)

    beyond = s.beyond.interval if s.beyond else None
    top = level.max_points
    low = None if s.ranks is None else float(s.ranks.low)
    rank = joint("ranks", low, rank_text(s.ranks) + (" fragile" if s.fragile else ""))
    tier = None if s.tier is None else float(s.tier)
    entries = (
        word(s.model, model_anchor(level.level, s.model)),
        joint("tier", tier, "–" if s.tier is None else f"{s.tier}"),
        own("mean", s.mean, number(s.mean)),
        joint("interval", s.shrunk.half if s.shrunk else None, interval_text(s.shrunk, top)),
        own("beyond", beyond.half if beyond else None, interval_text(beyond, top)),
        own("sigma", s.spread.sd if s.spread else None, s.sigma_text),
        own("repairs", float(s.repairs), f"{s.repairs}"),
        own("truncated", float(s.truncated), f"{s.truncated}"),
        own("unscored", float(s.unscored), f"{s.unscored} of {s.planned}"),
        own("runs", float(len(s.totals)), f"{len(s.totals)} of {level.runs}"),
    )
    return (rank, *entries) if level.ranked else (entries[0], *entries[2:])


PAIRS = (
    Column("Higher", numeric=False),
    Column("Lower", numeric=False),
    Column("Difference"),
    Column("±, all pairs", about="half-width that holds for all pairs at once, 95 %"),
    Column("± of its own", about="the same from this pair's own noise: the second gate"),
    Column("95 %, further tasks"),
    Column("Common runs"),
    Column("Verdict", numeric=False),
    Column("What may be said", numeric=False),
)


def pairs(level: LevelAnalysis, sources: Sources) -> Table | None:
    """Return every two models with the verdict; None where nothing is compared."""
    if level.pairs is None:
        return None
    every = of_model(level)
    return Table(
        name=f"pairs-{level.level}",
        caption="Every two models: the difference between them, compared run by run, points",
        columns=PAIRS,
        lines=tuple(_pair(row, level.level, sources, every) for row in level.pairs.rows),
    )


def _pair(row: PairRow, level: str, sources: Sources, every: list[str]) -> Line:
    def of(name: str, value: float | None, text: str) -> Entry:
        name = f"{level}.pair.{row.first}.{row.second}.{name}"
        return sources.number(name, value, text, *every)

    beyond = row.beyond.interval if row.beyond else None
    low, high = (beyond.low, beyond.high) if beyond else (None, None)
    further = "–" if low is None else f"{number(low, 1)} to {number(high, 1)}"
    return Line(
        (
            word(row.first),
            word(row.second),
            of("difference", row.difference, number(row.difference)),
            of("half", row.half, number(row.half)),
            of("shrunk_half", row.shrunk_half, number(row.shrunk_half)),
            of("beyond", low, further),
            of("common_runs", float(row.common_runs), f"{row.common_runs}"),
            word("not separated" if row.verdict == "tied" else row.verdict),
            word(row.sentence),
        )
    )


def resolution(level: LevelAnalysis, sources: Sources) -> Table | None:
    """Return how small a gap could have been seen, at σ and at both ends of its interval."""
    table = level.pairs
    if table is None:
        return None
    every = of_model(level)

    def line(name: str, at: Resolution) -> Line:
        values = (at.sigma, at.critical, at.critical_all_pairs, at.detectable)
        titles = ("sigma", "critical", "critical_all_pairs", "detectable")
        numbers = (
            sources.number(f"{level.level}.resolution.{name}.{title}", v, number(v), *every)
            for title, v in zip(titles, values, strict=True)
        )
        return Line((word(name), *numbers))

    columns = (
        Column("Computed at", numeric=False),
        Column("σ of a run"),
        Column("One pair counts from"),
        Column("All pairs count from"),
        Column(
            "Usually caught", about="smallest true gap of one pair that is caught 80 % of times"
        ),
    )
    ends = (("low end of σ", table.low), ("σ", table.middle), ("high end of σ", table.high))
    return Table(
        f"resolution-{level.level}",
        "How small a gap could have been seen, points",
        columns,
        tuple(line(name, at) for name, at in ends),
    )


def tasks(level: LevelAnalysis, sources: Sources, titles: dict[str, str]) -> Table:
    """Return mean points and deviation of every model in every task."""
    models = [s.model for s in level.standings]
    lines = []
    for task in level.tasks:
        entries = [word(f"{task.task} {titles.get(task.task, '')}".rstrip()), _of(task.max_points)]
        for model in models:
            mean, sd = task.means.get(model), task.sds.get(model)
            text = number(mean, 1) + ("" if sd is None else f" ± {sd:.1f}")
            entry = sources.number(
                f"{level.level}.task.{task.task}.{model}",
                mean,
                text,
                *of_task(level, task.task, model),
            )
            entries.append(replace(entry, link=cell_anchor(model, task.task)))
        seen = sources.number(
            f"{level.level}.task.{task.task}.scored",
            float(task.scored),
            f"{task.scored} of {task.cells}",
            *of_task(level, task.task),
        )
        lines.append(Line((*entries, seen), doubt=task.hatched))
    columns = (
        Column("Task", numeric=False),
        Column("Of"),
        *(Column(model) for model in models),
        Column("Scored"),
    )
    caption = "Mean points by task, ± the deviation between runs; a number leads to its cells"
    return Table(f"tasks-{level.level}", caption, columns, tuple(lines))


def _of(points: float) -> Entry:
    return Entry(f"{points:g}", points)
