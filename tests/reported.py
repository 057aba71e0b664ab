"""A campaign small enough to be drawn in seconds, with everything in it that a report must tell."""

import random
from pathlib import Path

from finals import final_of

from harness.records.base import digest
from harness.records.campaign import Final, FinalCell
from harness.records.score import ScoreSheet
from harness.report.about import TaskText
from harness.report.write import write_report

SECRET = "seat 3 is <script>alert('Bea')</script> & Ana"
POINTS = {"A04": 18.0, "A08": 16.0, "A10": 18.0}
ABILITY = {"birch-32b": 0.95, "cedar.14b": 0.9, "elm_7b": 0.6, "flint": 0.3}
ABOUT = {"A04": TaskText("Seating", "Whether <rules> hold.", "Style.")}


def made(*, simulated: bool = True, form: str = "open", runs: int = 3) -> Final:
    """Four models, three tasks: one cell without a score, one repaired, reasons that quote."""
    drawn = random.Random(7)
    shares: dict[str, list[list[float | None]]] = {
        model: [
            [round(min(1.0, max(0.0, drawn.gauss(mean, 0.08))), 2) for _ in range(runs)]
            for _ in POINTS
        ]
        for model, mean in ABILITY.items()
    }
    if runs > 1:
        shares["flint"][0][runs - 1] = None
    before = {("elm_7b", "A10", 1): shares["elm_7b"][2][0] / 2} if runs else {}
    final = final_of(shares, POINTS, rows=3, as_is=before, simulated=simulated, controls=True)
    cells = tuple(_quoting(cell) for cell in final.cells)
    record = final.campaign.model_copy(update={"form": form, "open_form": form == "open"})
    files = {"CAMPAIGN.json": digest("campaign")}
    for cell in cells:
        key = cell.outcome.cell
        run = f"{key.model}/run_{key.run}"
        files[f"{run}/RUN_INFO.json"] = digest(run)
        if isinstance(cell.outcome, ScoreSheet):
            files[f"{run}/{key.task}/raw/0001.json"] = digest([run, key.task])
    hatched = {"A10.row_2": "two changes of its grader go unnoticed"}
    return final.model_copy(
        update={"cells": cells, "campaign": record, "files": files, "hatched": hatched}
    )


def _quoting(cell: FinalCell) -> FinalCell:
    sheet = cell.outcome
    if not isinstance(sheet, ScoreSheet):
        return cell
    rows = tuple(row.model_copy(update={"reason": SECRET}) for row in sheet.rows)
    return cell.model_copy(update={"outcome": sheet.model_copy(update={"rows": rows})})


def report_of(final: Final, folder: Path, *, redact: bool | None = None) -> Path:
    """Write the report of an end result, and return its folder."""
    write_report(final, folder, redact=redact, about=ABOUT)
    return folder
