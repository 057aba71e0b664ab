"""Rows that moved when a stored reply was scored again, against the points it was given first.

Before a rescoring replaces a sheet whose rows it moves, the sheet is kept beside it, once. So
the list of moved rows is the same however often a campaign is scored or finalized, and a row
that moves back is no longer on it.
"""

from harness.errors import StoreError
from harness.records.campaign import ChangedRow
from harness.records.score import ScoreSheet, Unscored
from harness.signature import changed_parts
from harness.store import campaign as store
from harness.store.layout import CellFolder


def standing_outcome(cell: CellFolder) -> ScoreSheet | Unscored | None:
    """Return the sheet that is about to be replaced; a damaged one counts as none."""
    try:
        return store.read_outcome(cell)
    except StoreError:
        return None


def keep_first(cell: CellFolder, after: ScoreSheet | Unscored) -> None:
    """Keep the standing sheet if this outcome, which is about to replace it, moves one of its rows.

    A cell that had no reply yet has nothing to keep: what a later reply earns is no move.
    """
    before = standing_outcome(cell)
    if before is not None and _had_a_reply(before) and changed_rows(before, after):
        store.write_first_outcome(cell, before)


def moved_rows(cell: CellFolder, after: ScoreSheet | Unscored) -> list[ChangedRow]:
    """Return the rows of a cell whose points are not those that its reply was given first."""
    return changed_rows(store.read_first_outcome(cell), after)


def changed_rows(
    before: ScoreSheet | Unscored | None, after: ScoreSheet | Unscored
) -> list[ChangedRow]:
    """Return the rows whose points differ between two sheets of a cell, and by which parts."""
    if before is None:
        return []
    was = {row.id: row.points for row in before.rows} if isinstance(before, ScoreSheet) else {}
    is_now = {row.id: row.points for row in after.rows} if isinstance(after, ScoreSheet) else {}
    parts = changed_parts(before.stamps.parts, after.stamps.parts, "score")
    return [
        ChangedRow(
            cell=after.cell, row=row, before=was.get(row), after=is_now.get(row), parts=parts
        )
        for row in dict.fromkeys([*was, *is_now])
        if was.get(row) != is_now.get(row)
    ]


def _had_a_reply(outcome: ScoreSheet | Unscored) -> bool:
    return isinstance(outcome, ScoreSheet) or outcome.cause == "no_sandbox"
