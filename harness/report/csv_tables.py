"""The four tables a statistician wants: ranking, cells, rows and pairs, one number a field."""

import csv
import io
from collections.abc import Iterable, Sequence

from harness.report.analysis import Analysis, LevelAnalysis
from harness.report.analysis.parts import Standing
from harness.stats.interval import Interval

Value = str | float | int | bool | None
DECIMALS = 6


def tables(analysis: Analysis) -> dict[str, str]:
    """Return the name of each file with its text. An empty field is a number there is not."""
    mark = "simulated" if analysis.simulated else "measured"
    return {
        "ranking.csv": _text(RANKING, (r for lv in analysis.levels for r in _ranking(lv)), mark),
        "cells.csv": _text(CELLS, (r for lv in analysis.levels for r in _cells(lv)), mark),
        "rows.csv": _text(ROWS, (r for lv in analysis.levels for r in _rows(lv)), mark),
        "pairs.csv": _text(PAIRS, (r for lv in analysis.levels for r in _pairs(lv)), mark),
    }


RANKING = (
    "level", "model", "place", "rank_low", "rank_high", "tier", "letters", "fragile", "mean",
    "max_points", "low", "high", "beyond_low", "beyond_high", "sigma", "sigma_low", "sigma_high",
    "runs", "planned_runs", "repairs", "truncated", "unscored", "planned_cells", "tokens",
    "seconds_per_run", "hatched",
)  # fmt: skip
CELLS = (
    "level", "source", "model", "task", "run", "points", "points_as_is", "max_points", "ended",
    "cause", "repairs", "flags", "completion_tokens", "generation_s", "evidence",
)  # fmt: skip
ROWS = (
    "level", "source", "model", "task", "run", "row", "points", "points_as_is", "max_points",
    "gate", "reason",
)  # fmt: skip
PAIRS = (
    "level", "first", "second", "difference", "half", "shrunk_half", "own_low", "own_high",
    "beyond_low", "beyond_high", "p", "common_runs", "verdict",
)  # fmt: skip


def _ranking(level: LevelAnalysis) -> Iterable[Sequence[Value]]:
    for s in level.standings:
        yield (
            level.level, s.model, s.place, *_ranks(s), s.tier, s.letters, s.fragile, s.mean,
            level.max_points, *_ends(s.shrunk), *_ends(s.beyond.interval if s.beyond else None),
            *((s.spread.sd, s.spread.sd_low, s.spread.sd_high) if s.spread else (None,) * 3),
            len(s.totals), level.runs, s.repairs, s.truncated, s.unscored, s.planned, s.tokens,
            s.seconds_per_run, " ".join(s.hatched),
        )  # fmt: skip


def _ranks(standing: Standing) -> tuple[Value, Value]:
    return (standing.ranks.low, standing.ranks.high) if standing.ranks else (None, None)


def _ends(interval: Interval | None) -> tuple[Value, Value]:
    return (interval.low, interval.high) if interval else (None, None)


def _cells(level: LevelAnalysis) -> Iterable[Sequence[Value]]:
    for c in level.cells:
        yield (
            level.level, c.source, c.model, c.task, c.run, c.points, c.points_as_is, c.max_points,
            c.ended, c.cause, " ".join(c.repairs), " ".join(c.flags), c.completion_tokens,
            c.generation_s, c.evidence,
        )  # fmt: skip


def _rows(level: LevelAnalysis) -> Iterable[Sequence[Value]]:
    for c in level.cells:
        for r in c.rows:
            yield (
                level.level, c.source, c.model, c.task, c.run, r.row, r.points, r.points_as_is,
                r.max_points, r.gate, r.reason,
            )  # fmt: skip


def _pairs(level: LevelAnalysis) -> Iterable[Sequence[Value]]:
    for p in level.pairs.rows if level.pairs else ():
        yield (
            level.level, p.first, p.second, p.difference, p.half, p.shrunk_half, *_ends(p.own),
            *_ends(p.beyond.interval if p.beyond else None), p.p, p.common_runs, p.verdict,
        )  # fmt: skip


def _text(heading: Sequence[str], rows: Iterable[Sequence[Value]], mark: str) -> str:
    """Return the table; its last column says in every row whether the campaign was simulated."""
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow([*heading, "origin"])
    for row in rows:
        writer.writerow([*(_field(value) for value in row), mark])
    return target.getvalue()


def _field(value: Value) -> str:
    """Return a value as text; text that a spreadsheet would take for a formula is made plain."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{round(value, DECIMALS):.{DECIMALS}f}".rstrip("0").rstrip(".")
    text = str(value)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text
