"""A form, its sets and its worlds depend on the seed alone, whichever process draws them."""

import subprocess
import sys

import pytest
from campaigning import ROOT, instrument

from harness.suite.loader import Task

DRAW = """
import sys
from dataclasses import fields
from pathlib import Path
from harness.running.scenes import load_scene, read_schedules
from harness.stages.forms import make_form, make_players, make_sets
folder = Path(sys.argv[1])
form = make_form(folder, "pure")
print(form.model_dump_json())
if (folder / "faults.toml").is_file():
    players = make_players(folder, form)
    print([(d.name, d.rows) for d in players.defective], [(e.name, e.ceiling) for e in players.exploits])
    for run in range(1, len(read_schedules(folder)) + 1):
        scene = load_scene(folder, form, run)
        print([getattr(scene, field.name) for field in fields(scene) if field.name != "triggers"])
else:
    print(make_sets(folder, form))
"""


def drawn(task: Task, hash_seed: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", DRAW, str(task.folder)],
        env={"PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


@pytest.mark.parametrize("task", instrument().suite.tasks, ids=lambda t: t.id)
def test_two_processes_with_other_hash_seeds_draw_the_same(task: Task) -> None:
    """Sets and dictionaries are iterated in another order there; no text and no point may move."""
    once = drawn(task, "1")
    assert task.id in once
    assert once == drawn(task, "2")
