"""An analysis → the twelve pictures, each with the question it answers as its caption."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from harness.report.analysis import LevelAnalysis
from harness.report.analysis.parts import HygieneModel, Standing
from harness.report.analysis.tasks import TaskFacts
from harness.report.captions import CAPTIONS, Caption, level_caption
from harness.report.figures_rows import check_map, components, design, noise_translator
from harness.report.plots.forest import ForestRow, forest
from harness.report.plots.heat import HeatCell, heat_map
from harness.report.plots.pairs import Mark, PairCell, pair_matrix, ruler
from harness.report.plots.ranks import rank_strip
from harness.report.plots.runs import RepairRow, RunsRow, repairs, run_strip
from harness.report.plots.style import NARROW, Look
from harness.report.wording import rank_text, sigma_text

Drawer = Callable[[LevelAnalysis, Look], str | None]
Titles = Mapping[str, str]


@dataclass(frozen=True)
class Picture:
    """One picture of the report.

    svg, narrow : for a page, and for a phone; None where it cannot be drawn: absent says why
    """

    caption: Caption
    svg: str | None
    narrow: str | None
    absent: str = ""


def pictures(level: LevelAnalysis, look: Look, titles: Titles) -> tuple[Picture, ...]:
    """Return the pictures of a level, in the order of the page; one where it orders nothing.

    Parameters
    ----------
    level, look : what is drawn, and how
    titles : task → title, as far as they are known
    """
    if level.level != "A":
        return (_picture(level, look, level_caption(level.level), draw_forest),)
    named = replace(level, tasks=tuple(_named(task, titles) for task in level.tasks))
    return tuple(_picture(named, look, caption, DRAWERS[caption.name]) for caption in CAPTIONS)


def _named(task: TaskFacts, titles: Titles) -> TaskFacts:
    """Return a task whose name on a picture holds its title."""
    return replace(task, task=f"{task.task} {titles.get(task.task, '')}".rstrip())


def _picture(level: LevelAnalysis, look: Look, caption: Caption, draw: Drawer) -> Picture:
    svg, narrow = draw(level, look), draw(level, replace(look, width=NARROW))
    known = (level.absent[key] for key in (caption.needs, "ranking") if key in level.absent)
    return Picture(caption, svg, narrow, "" if svg else next(known, caption.nothing))


def forest_rows(level: LevelAnalysis) -> list[ForestRow]:
    """Return the lines of the forest, models as they stand in the ranking."""
    return [
        ForestRow(
            name=s.model,
            mean=s.mean,
            runs_bar=(s.shrunk.low, s.shrunk.high) if s.shrunk else None,
            tasks_bar=(
                (s.beyond.interval.low, s.beyond.interval.high)
                if s.beyond and s.beyond.interval
                else None
            ),
            ranks=rank_text(s.ranks),
            tier=s.tier or 0,
            doubtful=bool(s.hatched),
            repairs=s.repairs,
        )
        for s in level.standings
    ]


def draw_forest(level: LevelAnalysis, look: Look) -> str | None:
    """Means with both intervals and rank sets."""
    rows = forest_rows(level)
    return forest(look, rows, level.max_points) if rows else None


def _runs(level: LevelAnalysis, look: Look) -> str | None:
    seen = [s for s in level.standings if len(s.totals) > 1 and s.mean is not None]
    rows = [
        RunsRow(
            s.model,
            {run: total - (s.mean or 0.0) for run, total in s.totals.items()},
            s.sigma_text,
        )
        for s in seen
    ]
    return run_strip(look, rows) if rows else None


def _pairs(level: LevelAnalysis, look: Look) -> str | None:
    if level.pairs is None or not level.pairs.rows:
        return None
    names = [s.model for s in level.standings if s.place is not None]
    cells = []
    for row, below in enumerate(names):
        for column, above in enumerate(names[:row]):
            pair = level.pairs.between(above, below)
            gap = pair.difference
            signed = None if gap is None else gap if pair.first == above else -gap
            cells.append(PairCell(row, column, signed, pair.half, pair.verdict))
    return pair_matrix(look, names, cells)


def _ruler(level: LevelAnalysis, look: Look) -> str | None:
    table = level.pairs
    if table is None:
        return None
    low, at, high = table.low, table.middle, table.high
    marks = [
        Mark("one declared pair counts from", at.critical, (low.critical, high.critical)),
        Mark(
            "all pairs at once count from",
            at.critical_all_pairs,
            (low.critical_all_pairs, high.critical_all_pairs),
        ),
        Mark(
            f"usually caught ({100 * at.power:.0f} % power)",
            at.detectable,
            (low.detectable, high.detectable),
        ),
    ]
    gaps = [(abs(r.difference), r.verdict) for r in table.rows if r.difference is not None]
    return ruler(look, marks, gaps)


def _heat(level: LevelAnalysis, look: Look) -> str | None:
    models = [s.model for s in level.standings]
    cells = []
    for task in level.tasks:
        line = []
        for model in models:
            mean, sd = task.means.get(model), task.sds.get(model)
            line.append(
                HeatCell(
                    None if mean is None else mean / task.max_points,
                    None if sd is None else sd / task.max_points,
                )
            )
        cells.append(line)
    doubtful = [bool(task.hatched) for task in level.tasks]
    names = [task.task for task in level.tasks]
    return heat_map(look, models, names, cells, doubtful) if cells else None


def _ranks(level: LevelAnalysis, look: Look) -> str | None:
    placed = [s for s in level.standings if s.ranks is not None]
    if not level.ranked or not placed:
        return None
    chances = [s.rank_chances for s in placed]
    return rank_strip(
        look,
        [s.model for s in placed],
        [(s.ranks.low, s.ranks.high) for s in placed if s.ranks],
        chances if all(len(c) == len(placed) for c in chances) else [],
        [bool(s.hatched) for s in placed],
    )


def _repairs(level: LevelAnalysis, look: Look) -> str | None:
    if level.hygiene is None or not level.hygiene.kinds:
        return None
    found = {m.model: m for m in level.hygiene.models}
    rows = [_repair_row(s, found[s.model]) for s in level.standings if s.model in found]
    return repairs(look, rows) if rows else None


def _repair_row(standing: Standing, model: HygieneModel) -> RepairRow:
    both = {
        run: (standing.totals_as_is[run], total)
        for run, total in standing.totals.items()
        if run in standing.totals_as_is
    }
    before, after = (
        sigma_text(s).split(" [")[0] for s in (model.found.as_is, model.found.repaired)
    )
    sigmas = f"{before} → {after}" if ";" not in before + after else "see the table"
    return RepairRow(standing.model, both, sigmas, leans=model.moved)


DRAWERS: dict[str, Drawer] = {
    "forest": draw_forest,
    "runs": _runs,
    "pairs": _pairs,
    "tasks": _heat,
    "variance": components,
    "design": design,
    "checks": check_map,
    "ranks": _ranks,
    "repairs": _repairs,
    "resolution": _ruler,
    "noise": noise_translator,
}
