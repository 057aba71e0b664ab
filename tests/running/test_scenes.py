"""A run's scene and schedule come from the task's folder, or the run is refused."""

from pathlib import Path

import pytest
from running.cells import FORM

from harness.errors import SuiteError
from harness.records.world import Fault
from harness.running.scenes import load_scene, read_schedules, schedule_of

TWO = """
[[run]]
faults = [
  { from_call = 3, tool = "run_tests", kind = "timeout" },
  { from_call = 6, tool = "*", kind = "malformed", derive = "cut" },
]
[[run]]
faults = []
"""


def folder(tmp_path: Path, faults: str = TWO, world: str = "") -> Path:
    (tmp_path / "faults.toml").write_text(faults)
    (tmp_path / "world.py").write_text(world)
    return tmp_path


def test_each_run_has_its_own_schedule(tmp_path: Path) -> None:
    """The first table is run 1; an empty one is a schedule too."""
    assert schedule_of(folder(tmp_path), 1) == (
        Fault(from_call=3, tool="run_tests", kind="timeout"),
        Fault(from_call=6, tool="*", kind="malformed", derive="cut"),
    )
    assert schedule_of(tmp_path, 2) == ()


@pytest.mark.parametrize("run", [0, -1, 3])
def test_a_run_without_a_schedule_is_refused(tmp_path: Path, run: int) -> None:
    """It would be easier than the others; the error says how many there are."""
    with pytest.raises(SuiteError) as refused:
        schedule_of(folder(tmp_path), run)

    assert f"no fault schedule for run {run}" in str(refused.value)
    assert "schedules for 2 runs are written" in str(refused.value)


@pytest.mark.parametrize(
    ("fault", "problem"),
    [
        ('tool = "sqll", kind = "timeout"', 'did you mean "sql"?'),
        ('tool = "write_file", kind = "timeout"', "observes nothing"),
        ('tool = "sql", kind = "timeout", derive = "cut"', "derive is cut"),
        ('tool = "sql", kind = "malformed"', "derive is none"),
        ('tool = "sql", kind = "malformed", derive = "stale_db"', "the kind is malformed"),
        ('tool = "sql", kind = "deceptive", derive = "cut"', "the kind is deceptive"),
        ('tool = "sql", kind = "deceptive", derive = "variant"', "lies about read_file, http_get"),
        ('tool = "*", kind = "deceptive", derive = "flip_report"', "lies about run_tests"),
        ('tool = "sql", kind = "late"', "run.0.faults.0.kind"),
        ('tool = "sql", kind = "timeout", payload = "x"', "unknown key"),
    ],
)
def test_a_fault_that_could_never_fire_is_found_when_it_is_read(
    tmp_path: Path, fault: str, problem: str
) -> None:
    """A misspelt schedule would make a run easier without a word."""
    text = f"[[run]]\nfaults = [{{ from_call = 1, {fault} }}]\n"

    with pytest.raises(SuiteError) as refused:
        read_schedules(folder(tmp_path, text))

    assert problem in str(refused.value)


def test_all_problems_of_a_schedule_are_told_at_once(tmp_path: Path) -> None:
    """A person corrects a file once."""
    text = TWO.replace('"run_tests"', '"finish"').replace('"cut"', '"variant"')

    with pytest.raises(SuiteError, match=r"2 problem\(s\)") as refused:
        read_schedules(folder(tmp_path, text))
    assert [problem.where for problem in refused.value.problems] == [
        "faults.toml: run 1, fault 1",
        "faults.toml: run 1, fault 2",
    ]


def test_a_folder_without_schedules_is_refused(tmp_path: Path) -> None:
    """No file is not five empty schedules."""
    with pytest.raises(SuiteError, match=r"faults\.toml cannot be read"):
        schedule_of(tmp_path, 1)


def test_a_scene_is_made_for_form_and_run(tmp_path: Path) -> None:
    """The task's own `world.py` describes it."""
    world = (
        "from harness.world import Scene\n"
        "def scene(form, run):\n"
        "    return Scene(files={'a.md': f'{form.values[\"what\"]} {run}'})\n"
    )

    assert load_scene(folder(tmp_path, world=world), FORM, 4).files == {"a.md": "the ledger 4"}


@pytest.mark.parametrize(
    ("world", "problem"),
    [
        ("import nothing_of_that_name\n", "ModuleNotFoundError"),
        ("x = 1\n", "has no attribute 'scene'"),
        ("def scene(form, run):\n    return {}\n", "gives a dict, not a Scene"),
        ("def scene(form, run):\n    y = 1\n    return 1 / 0\n", "correct line 3"),
        ("def scene(form:\n", "SyntaxError"),
    ],
)
def test_a_world_that_cannot_be_made_says_why(tmp_path: Path, world: str, problem: str) -> None:
    """The author of a task sees the place, not a traceback of ours."""
    with pytest.raises(SuiteError) as refused:
        load_scene(folder(tmp_path, world=world), FORM, 1)

    assert problem in str(refused.value)
