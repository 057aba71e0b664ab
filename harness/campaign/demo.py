"""The plan that `arnes demo` runs; a copy of it lies in the campaign's folder."""

import tomllib
from datetime import datetime
from pathlib import Path

from harness.campaign.plan import Resolved, resolve
from harness.records.campaign import CampaignPlan
from harness.stages.instrument import Instrument
from harness.store.layout import CAMPAIGNS

DEMO_PROFILE = "demo"
DEMO_PLAN = """\
# The demo: one small real model and two controls, three tasks, two runs.
schema_version = 1
name = "demo"
profile = "demo"          # suite/profiles/demo.toml: the prompts of level A, smaller caps

[[models]]
id = "smollm2-135m"
backend = "embedded"      # a server of its own process on a free port of 127.0.0.1
"""


def demo_plan(instrument: Instrument) -> Resolved:
    """Return the demo's plan, resolved against the demo profile."""
    plan = CampaignPlan.model_validate(tomllib.loads(DEMO_PLAN))
    return resolve(plan, DEMO_PLAN.encode("utf-8"), instrument)


def demo_folder(root: Path, now: datetime) -> Path:
    """Return a fresh folder's place: demos may follow each other within a day."""
    return root / CAMPAIGNS / f"{now:%Y-%m-%d}_demo-{now:%H%M%S}"
