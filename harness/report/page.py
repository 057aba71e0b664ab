"""Everything that stands on the page, gathered before a template is opened."""

from collections.abc import Mapping
from dataclasses import dataclass

from harness.records.campaign import Final
from harness.report.about import TaskText
from harness.report.analysis import Analysis, LevelAnalysis
from harness.report.cost_tables import costs
from harness.report.drilldown import ModelCells, drilldown
from harness.report.figures import Picture, pictures
from harness.report.gates import Gates, gates
from harness.report.level_tables import pairs, ranking, resolution, tasks
from harness.report.plots.style import Look, inline
from harness.report.row_tables import (
    controls,
    cuts,
    endings,
    hosts,
    ledger,
    noise,
    repairs,
    rows,
)
from harness.report.sources import Evidence, Sources, of_model
from harness.report.view import Table
from harness.report.wording import form_text
from harness.stages.costs import point_costs


@dataclass(frozen=True)
class Shown:
    """A picture as it stands on the page, wide and narrow; evidence is its id in EVIDENCE.json."""

    picture: Picture
    markup: tuple[str, ...]
    evidence: str


@dataclass(frozen=True)
class Section:
    """One level: its own table, axis and sentences."""

    level: LevelAnalysis
    ranking: Table
    shown: tuple[Shown, ...]
    beside: dict[str, tuple[Table, ...]]
    tables: tuple[Table, ...]
    models: tuple[ModelCells, ...]


@dataclass(frozen=True)
class Page:
    """The page, and the evidence behind its numbers."""

    final: Final
    analysis: Analysis
    form: str
    redacted: bool
    sections: tuple[Section, ...]
    gates: Gates
    tables: tuple[Table, ...]
    about: Mapping[str, TaskText]
    evidence: Evidence


def compose(
    final: Final, analysis: Analysis, about: Mapping[str, TaskText], *, redacted: bool
) -> Page:
    """Return the page of an analysis, which has been redacted already where it must be.

    Parameters
    ----------
    final, analysis : the result and what is said of it
    about : task → what it says of itself; tasks that are not here stand by their id
    redacted : whether the page says that reasons were left out
    """
    sources = Sources(final, analysis)
    look = Look(simulated=analysis.simulated)
    titles = {task: text.title for task, text in about.items()}
    sections = tuple(_section(level, look, sources, final, titles) for level in analysis.levels)
    others = [controls(analysis, sources), hosts(analysis)]
    return Page(
        final=final,
        analysis=analysis,
        form=form_text(final.campaign),
        redacted=redacted,
        sections=sections,
        gates=gates(analysis.level("C"), analysis.split, look),
        tables=tuple(table for table in others if table),
        about={task: about[task] for task in final.campaign.tasks if task in about},
        evidence=sources.evidence(),
    )


def _section(
    level: LevelAnalysis,
    look: Look,
    sources: Sources,
    final: Final,
    titles: dict[str, str],
) -> Section:
    drawn = pictures(level, look, titles)
    made_from = of_model(level)
    shown = []
    for picture in drawn:
        name = f"{level.level}.picture.{picture.caption.name}"
        sources.number(name, None, "", *made_from)
        words = picture.caption
        description = f"{words.question} {words.reading}"
        markup = tuple(
            inline(svg, f"{words.name}-{size}", words.title, description)
            for size, svg in (("wide", picture.svg), ("narrow", picture.narrow))
            if svg
        )
        shown.append(Shown(picture, markup, name))
    beside: dict[str, list[Table | None]] = {
        "pairs": [pairs(level, sources)],
        "tasks": [tasks(level, sources, titles)],
        "checks": [rows(level, sources)],
        "repairs": [repairs(level, sources), ledger(level, sources)],
        "resolution": [resolution(level, sources)],
        "noise": [noise(level, sources)],
    }
    drawn_names = {picture.caption.name for picture in drawn}
    kept = {name: tuple(t for t in found if t) for name, found in beside.items()}
    loose = [t for name, found in kept.items() if name not in drawn_names for t in found]
    cost = costs(level, point_costs(final), sources)
    last = (endings(level, sources), cost, cuts(level, sources))
    return Section(
        level=level,
        ranking=ranking(level, sources),
        shown=tuple(shown),
        beside={name: found for name, found in kept.items() if name in drawn_names},
        tables=(*loose, *(t for t in last if t)),
        models=drilldown(level, sources, final.files, titles),
    )
