"""A form, its sets and its worlds depend on the seed alone, whichever process draws them."""

import json
import subprocess
import sys
from functools import cache

import pytest
from campaigning import ROOT, instrument

from harness.suite.loader import Task

DRAW = """
import json
import sys
from dataclasses import fields
from pathlib import Path
from harness.running.scenes import load_scene, read_schedules
from harness.stages.forms import make_form, make_players, make_sets

def draw(folder):
    form = make_form(folder, "pure")
    yield form.model_dump_json()
    if not (folder / "faults.toml").is_file():
        yield make_sets(folder, form)
        return
    players = make_players(folder, form)
    yield [(d.name, d.rows) for d in players.defective], [(e.name, e.ceiling) for e in players.exploits]
    for run in range(1, len(read_schedules(folder)) + 1):
        scene = load_scene(folder, form, run)
        yield [getattr(scene, field.name) for field in fields(scene) if field.name != "triggers"]

print(json.dumps([repr(list(draw(Path(name)))) for name in sys.argv[1:]]))
"""


TASKS = instrument().suite.tasks


@cache
def drawn(hash_seed: str) -> dict[str, str]:
    """What one process draws of every task, by its id."""
    done = subprocess.run(
        [sys.executable, "-c", DRAW, *(str(task.folder) for task in TASKS)],
        env={"PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(zip((task.id for task in TASKS), json.loads(done.stdout), strict=True))


@pytest.mark.parametrize("task", TASKS, ids=lambda t: t.id)
def test_two_processes_with_other_hash_seeds_draw_the_same(task: Task) -> None:
    """Sets and dictionaries are iterated in another order there; no text and no point may move."""
    once = drawn("1")[task.id]
    assert task.id in once
    assert once == drawn("2")[task.id]
