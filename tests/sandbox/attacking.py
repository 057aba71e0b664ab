"""What the tests of the sandbox share: its tiers here, small limits, and attacks without walls."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from harness.arnes import SandboxLimits
from harness.sandbox import CommandRun, tiers

ATTACKS = Path(__file__).parent / "attacks.py"
AVAILABLE = [tier for tier in tiers() if tier.available]
# Where the walls have little part in what is tested, the tiers after the best one are slow tests.
BEST_FIRST = [
    *AVAILABLE[:1],
    *(pytest.param(tier, marks=pytest.mark.slow) for tier in AVAILABLE[1:]),
]
LIMITS = SandboxLimits(
    wall_s=10,
    cpu_s=8,
    memory_mib=256,
    processes=12,
    file_mib=2,
    scratch_mib=8,
    output_kib=64,
)
# For what something else than the wall clock has to end, on a machine that is as busy as it likes.
PATIENT = LIMITS.model_copy(update={"wall_s": 300.0})


def said(run: CommandRun) -> object:
    """What an attack program returned. Printed text: good enough for a test, never for a verdict."""
    return json.loads(run.stdout.splitlines()[-1])


def outside(name: str, host: Mapping[str, object], **environment: str) -> object:
    """Run one attack without any wall, and return what it achieved."""
    run = subprocess.run(
        [sys.executable, str(ATTACKS), json.dumps([name, host])],
        capture_output=True,
        timeout=300,
        check=True,
        env=os.environ | environment,
    )
    return json.loads(run.stdout.splitlines()[-1])
