"""`explain` and `transcript` name what was meant, where a cell is not there."""

from pathlib import Path

import pytest
from campaigning import instrument
from written import write_campaign

from harness.errors import StoreError
from harness.report.explain import explain_row
from harness.report.transcript import transcript


@pytest.mark.parametrize("row", ["A01", "A01.ledger"])
def test_a_task_that_is_not_asked_is_no_slip_of_a_name(row: str, tmp_path: Path) -> None:
    """A near name would lead to another task; what is asked is listed instead."""
    core = instrument()
    place = write_campaign(core, tmp_path / "c", {"m": {"A04": [""], "A11": [None]}}).folder.path
    with pytest.raises(StoreError) as caught:
        explain_row(place, core.suite, "m", 1, row)
    assert "A01 is not asked in this campaign" in str(caught.value)
    assert "asked are: A04, A11" in str(caught.value)
    with pytest.raises(StoreError, match="A01 is not asked"):
        transcript(place, core.suite, core.config, player="m", run=1, task_id="A01")
    with pytest.raises(StoreError, match="A1") as slip:
        explain_row(place, core.suite, "m", 1, "A1")
    assert 'did you mean "A11"?' in str(slip.value)
