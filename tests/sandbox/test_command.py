"""Programs behind the walls: what they print and how they end, and that nothing is left."""

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sandbox.attacking import BEST_FIRST, LIMITS, PATIENT
from sandbox.test_attacks import processes_with

from harness.sandbox import PYTHON_COMMAND, CommandRun, Tier, run_command


@pytest.fixture(params=BEST_FIRST, ids=lambda tier: tier.name)
def tier(request: pytest.FixtureRequest) -> Tier:
    """The best tier; the others among the slow tests."""
    return request.param


def python(tier: Tier, source: str, **options: object) -> CommandRun:
    files = {"main.py": source, "beside.py": "value = 7\n", "sitecustomize.py": "print('no')\n"}
    limits = options.pop("limits", LIMITS)
    return run_command(files, [*PYTHON_COMMAND, "main.py"], tier, limits, **options)


def test_a_program_runs_among_its_files(tier: Tier) -> None:
    """Output, status, and imports from its own folder; start files do not run (G052)."""
    seen = python(tier, "import beside, sys\nprint(beside.value)\nsys.exit(3)\n")

    assert (seen.stdout, seen.stderr, seen.exit_status, seen.killed_by) == (b"7\n", b"", 3, "")
    assert seen.not_started == ""


def test_a_program_that_is_not_there_is_said(tier: Tier) -> None:
    """A failure to start is not an exit status."""
    seen = run_command({}, ["/nowhere/program"], tier, LIMITS)

    assert "FileNotFoundError" in seen.not_started


@pytest.mark.slow
def test_silence_ends_a_program(tier: Tier) -> None:
    """A program that prints nothing for too long is ended, one that prints is not."""
    talking = "import time\nfor _ in range(6):\n    print('x', flush=True)\n    time.sleep(0.1)\n"

    assert python(tier, "import time\ntime.sleep(60)\n", silence_s=0.3).killed_by == "silence"
    assert python(tier, talking, silence_s=60).killed_by == ""


def test_a_child_that_goes_on_is_ended_with_its_parent(tier: Tier) -> None:
    """The caller does not wait for a child that holds its output open (G048)."""
    token = f"arnes-child-{tier.name}"
    source = f"""
import subprocess, sys
subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)", {token!r}])
print("done")
"""
    started = time.monotonic()

    seen = python(tier, source, limits=PATIENT)

    assert (seen.stdout, seen.exit_status) == (b"done\n", 0)
    assert time.monotonic() - started < PATIENT.wall_s / 2
    assert seen.usage.stray_processes == 1
    assert processes_with(token) == []


def test_a_killed_program_has_no_status_of_success(tier: Tier) -> None:
    """The status is that of the very process, and a killed one is never zero."""
    limits = LIMITS.model_copy(update={"wall_s": 0.4})

    seen = run_command(
        {"m.py": "import time\ntime.sleep(60)\n"}, [*PYTHON_COMMAND, "m.py"], tier, limits
    )

    assert (seen.killed_by, seen.exit_status) == ("wall", -9)


def test_cpu_of_children_is_counted(tier: Tier) -> None:
    """Also of those that nobody waited for: the trusted process reaps them all."""
    source = """
import os, time
read_end, write_end = os.pipe()
if os.fork() == 0:
    end = time.process_time() + 0.3
    while time.process_time() < end: pass
    os._exit(0)
os.close(write_end)
os.read(read_end, 1)  # the end of the pipe: the child is gone, and nobody waited for it
"""
    seen = python(tier, source)

    assert seen.usage.cpu_s > 0.3


def test_output_is_kept_up_to_the_limit(tier: Tier) -> None:
    """Both streams together; the rest is never read."""
    seen = python(tier, "import sys\nwhile True:\n    print('x' * 1000)\n")

    assert seen.killed_by == "output"
    assert len(seen.stdout) + len(seen.stderr) == LIMITS.output_kib * 1024


def test_further_folders_are_shown_only_when_named(tier: Tier, public: Path) -> None:
    """Read-only, under their own names."""
    shown = public / "shown"
    shown.mkdir()
    (shown / "data").write_text("42")
    source = f"""
try:
    print(open({str(shown / "data")!r}).read())
    open({str(shown / "new")!r}, "w")
except OSError as error:
    print(type(error).__name__)
"""
    assert python(tier, source, readable=[str(shown)]).stdout.split()[0] == b"42"
    assert not (shown / "new").exists()
    assert b"42" not in python(tier, source).stdout


@pytest.mark.slow
def test_concurrent_sandboxes_do_not_share_a_process_limit(tier: Tier) -> None:
    """Each has the full count, whatever another one of ours holds at that moment."""
    source = """
import os, signal, time
pids = []
for _ in range(8):
    pid = os.fork()
    if pid == 0:
        time.sleep(30)
        os._exit(0)
    pids.append(pid)
time.sleep(0.7)
for pid in pids:
    os.kill(pid, signal.SIGKILL)
print(len(pids))
"""
    with ThreadPoolExecutor(2) as pool:
        seen = list(pool.map(lambda _: python(tier, source), range(2)))

    assert [run.stdout for run in seen] == [b"8\n", b"8\n"]


def test_the_interpreter_is_the_harness_own(tier: Tier) -> None:
    """Its minor version stands in prompts, so it must be the one that runs."""
    seen = python(tier, "import sys\nprint(sys.version_info[:2])\n")

    assert seen.stdout.decode().strip() == str(tuple(sys.version_info[:2]))
