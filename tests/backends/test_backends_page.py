"""The page about backends says what is true: its plans can be made, its table is complete."""

import re
import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest

from harness.backends import BACKENDS, make_backend
from harness.clock import FakeClock
from harness.records.campaign import CampaignPlan

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "backends.md").read_text(encoding="utf-8")
PLANS = re.findall(r"^```toml\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("text", PLANS)
def test_every_plan_on_the_page_can_be_made(text: str, tmp_path: Path) -> None:
    """Its names and values are those that the backend knows; nothing is started."""
    plan = CampaignPlan.model_validate(tomllib.loads(text))
    for model in plan.models:
        backend = make_backend(
            model, tmp_path / "m.log", FakeClock(datetime(2026, 1, 1, tzinfo=UTC))
        )
        assert not backend.alive()


def test_every_backend_has_a_plan_a_chapter_and_a_line_in_the_table() -> None:
    """A backend that nobody can find is none."""
    planned = {m["backend"] for text in PLANS for m in tomllib.loads(text)["models"]}
    assert planned == set(BACKENDS)
    assert set(re.findall(r"^## (\w+)$", PAGE, flags=re.MULTILINE)) >= set(BACKENDS)
    assert set(re.findall(r"^\| `(\w+)` \| (?:yes|no)", PAGE, flags=re.MULTILINE)) == set(BACKENDS)
