"""What is measured by hand still runs; nothing is timed here."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_a_small_night_can_be_played() -> None:
    """It plays the real orchestrator with players of its own, and breaks where theirs change."""
    small = ["--models", "1", "--runs", "1", "--tasks", "A04", "--rounds", "0"]
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "night.py", *small],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("a model generates for cells in") == 2
