"""Level C: what a campaign can say of the split by date."""

from collections.abc import Sequence

from harness.report.analysis.table import Table
from harness.stats.split_date import SplitVerdict

UNDATED = "no cutoff of this model and no dates of the items are on record"


def split_of(tables: Sequence[Table]) -> tuple[SplitVerdict, ...]:
    """Return a verdict for each model where level C was asked; none where it was not.

    A campaign records neither a model's cutoff nor when an item's material was public. Without
    them the first gate cannot be passed, and a difference that was not let through is not told.
    """
    return tuple(
        SplitVerdict(model, "inconclusive", "cutoff", UNDATED, None, None)
        for table in tables
        if table.level == "C"
        for model in table.models
    )
