"""What a report leaves out of a private form: every text that may quote a prompt or an answer.

It is left out of the analysis itself, so that no page, table or file behind it can show it.
"""

from dataclasses import replace

from harness.records.campaign import Final
from harness.report.analysis import Analysis, LevelAnalysis
from harness.report.analysis.cells import Cell


def is_redacted(final: Final, redact: bool | None) -> bool:
    """Return whether quoting texts are left out: as asked, else for every private form."""
    return not final.campaign.open_form if redact is None else redact


def redacted(analysis: Analysis) -> Analysis:
    """Return the same analysis without reasons, gate reasons and details of cells."""
    return replace(analysis, levels=tuple(_level(level) for level in analysis.levels))


def _level(level: LevelAnalysis) -> LevelAnalysis:
    return replace(level, cells=tuple(_cell(cell) for cell in level.cells))


def _cell(cell: Cell) -> Cell:
    rows = tuple(replace(row, reason="", gate_reason="") for row in cell.rows)
    return replace(cell, detail="", rows=rows)
