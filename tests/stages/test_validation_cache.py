"""A validation is kept for exactly the instrument that it was made with, and never in the way."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from campaigning import ROOT

from harness.arnes import load_arnes
from harness.clock import SystemClock
from harness.records.validation import Validation
from harness.sandbox import probe, python_stamp
from harness.signature import signature_of
from harness.stages.validation_cache import CACHE_FOLDER, Runtime, key_of, validated
from harness.suite.loader import Suite, load_suite

CONFIG = load_arnes(ROOT)


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    """One task of answers, which runs no code."""
    name = "a04_original_reasoning"
    shutil.copytree(ROOT / "suite/core" / name, tmp_path / "suite/core" / name)
    return load_suite(tmp_path)


def steps(suite: Suite) -> tuple[Validation, int]:
    """Validate through the cache: the outcome, and how often something was played."""
    played: list[str] = []
    signature = signature_of(CONFIG, suite)
    outcome = validated(
        suite, CONFIG, signature, SystemClock(), lambda what, _done, _total: played.append(what)
    )
    return outcome, len(played)


def kept(suite: Suite) -> Path:
    (path,) = (suite.root / CACHE_FOLDER).iterdir()
    return path


def test_what_held_is_not_played_again(suite: Suite) -> None:
    """The second start of a campaign costs no validation."""
    first, played = steps(suite)
    assert first.holds
    assert played > 0
    assert steps(suite) == (first, 0)


@pytest.mark.parametrize("data", [b"", b"\xff\xfe", b'{"holds": true}'])
def test_a_damaged_file_is_a_miss_and_is_written_anew(suite: Suite, data: bytes) -> None:
    """A disk that was full once does not stop every later night."""
    first, _ = steps(suite)
    whole = kept(suite).read_bytes()
    kept(suite).write_bytes(data)
    again, played = steps(suite)
    assert (again, played > 0) == (first, True)
    assert kept(suite).read_bytes() == whole


def test_a_kept_failure_is_a_miss(suite: Suite) -> None:
    """Only what held is kept; anything else in there was put there by hand."""
    first, _ = steps(suite)
    failed = first.model_copy(update={"holds": False})
    kept(suite).write_text(failed.model_dump_json())
    assert steps(suite)[0].holds


def test_a_cache_that_cannot_be_written_costs_only_time(suite: Suite) -> None:
    """A file where the folder should be: nothing can be kept, and the outcome is there."""
    (suite.root / CACHE_FOLDER).write_text("in the way")
    assert steps(suite)[0].holds
    assert steps(suite)[1] > 0


def test_a_folder_where_the_file_should_be_costs_only_time(suite: Suite) -> None:
    """Neither reading nor replacing it raises."""
    steps(suite)
    path = kept(suite)
    path.unlink()
    path.mkdir()
    assert steps(suite)[0].holds


def test_walls_and_interpreter_count_where_a_task_runs_code(suite: Suite) -> None:
    """What held behind one sandbox says nothing of another; answers are read without any."""
    here = Runtime(probe().stamp, python_stamp())
    others = (replace(here, tier="other walls"), replace(here, python="CPython 3.99.0"))
    signature = signature_of(CONFIG, suite)
    answers = {key_of(suite, signature, runtime) for runtime in (here, *others)}
    assert len(answers) == 1
    task = suite.tasks[0]
    rows = tuple(r.model_copy(update={"kind": "executes"}) for r in task.definition.rows)
    running = replace(task, definition=task.definition.model_copy(update={"rows": rows}))
    runs = replace(suite, tasks=(running,))
    assert len({key_of(runs, signature, runtime) for runtime in (here, *others)}) == 3


def test_the_runtime_is_the_one_that_grades(suite: Suite) -> None:
    """Without being told, the key is of the walls and the interpreter of this machine."""
    signature = signature_of(CONFIG, suite)
    task = suite.tasks[0]
    rows = tuple(r.model_copy(update={"kind": "executes"}) for r in task.definition.rows)
    running = replace(task, definition=task.definition.model_copy(update={"rows": rows}))
    runs = replace(suite, tasks=(running,))
    here = Runtime(probe().stamp, python_stamp())
    assert key_of(runs, signature) == key_of(runs, signature, here)
