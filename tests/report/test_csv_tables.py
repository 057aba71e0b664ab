"""The tables for statisticians: one number a field, an empty field where there is none."""

import csv
import io

import pytest
from finals import final_of
from reported import POINTS, SECRET, made

from harness.records.campaign import Final
from harness.report.analysis import analyse
from harness.report.csv_tables import tables
from harness.report.redact import redacted


def rows_of(final: Final, name: str, *, leave_out: bool = False) -> list[dict[str, str]]:
    analysis = analyse(final)
    text = tables(redacted(analysis) if leave_out else analysis)[name]
    return list(csv.DictReader(io.StringIO(text)))


def test_a_cell_without_a_score_is_an_empty_field() -> None:
    """Whoever sums the column does not sum a zero that was never scored."""
    cells = rows_of(made(), "cells.csv")
    (missing,) = [c for c in cells if not c["points"]]
    assert (missing["model"], missing["task"], missing["run"]) == ("flint", "A04", "3")
    assert missing["ended"].startswith("unscored")
    assert len(cells) == 4 * 3 * 3


def test_rows_add_up_to_their_cells() -> None:
    """Two tables of one result agree: rows.csv sums to cells.csv."""
    sums: dict[tuple[str, str, str], float] = {}
    for row in rows_of(made(), "rows.csv"):
        where = (row["model"], row["task"], row["run"])
        sums[where] = sums.get(where, 0.0) + float(row["points"])
    for cell in rows_of(made(), "cells.csv"):
        if cell["points"]:
            where = (cell["model"], cell["task"], cell["run"])
            # three rows, each rounded to 1e-6
            assert sums[where] == pytest.approx(float(cell["points"]), abs=3e-6)


def test_reasons_leave_with_redaction() -> None:
    """The one column that quotes is empty for a private form."""
    assert {r["reason"] for r in rows_of(made(), "rows.csv")} == {SECRET}
    assert {r["reason"] for r in rows_of(made(), "rows.csv", leave_out=True)} == {""}


def test_what_a_spreadsheet_would_compute_is_text() -> None:
    """A reason that begins like a formula stays what the grader wrote."""
    final = final_of({"m": [[0.5], [0.5], [0.5]]}, POINTS)
    sheet = final.cells[0].outcome
    rows = tuple(r.model_copy(update={"reason": "=1+1"}) for r in sheet.rows)
    cell = final.cells[0].model_copy(update={"outcome": sheet.model_copy(update={"rows": rows})})
    found = rows_of(final.model_copy(update={"cells": (cell, *final.cells[1:])}), "rows.csv")
    assert found[0]["reason"] == "'=1+1"


def test_one_run_has_a_mean_and_no_interval() -> None:
    """A deviation that nobody can estimate is no number."""
    (line,) = rows_of(final_of({"m": [[0.5], [0.5], [0.5]]}, POINTS), "ranking.csv")
    assert float(line["mean"]) == pytest.approx(26.0, abs=1e-6)  # half of 52 points
    assert (line["low"], line["sigma"]) == ("", "")
