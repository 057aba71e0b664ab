"""From an end result to everything a report says about it; pure, and the same every time.

`analyse(final)` returns an `Analysis` (see `parts`). Only the statistics of `harness.stats` are
called; no number is computed twice in two ways.
"""

from harness.report.analysis.build import analyse
from harness.report.analysis.parts import Analysis, LevelAnalysis

__all__ = ["Analysis", "LevelAnalysis", "analyse"]
