"""`run_tests` of a live cell really executes, and nothing that a model sends through it gets out."""

from dataclasses import replace

import psutil
import pytest
from running.cells import FINISH, SCENE, fed, new_cell

from harness.arnes import SandboxLimits
from harness.protocol.writing import render_call
from harness.sandbox import probe
from harness.world import Case
from harness.world.suites import SuiteRunner

LIMITS = SandboxLimits(
    wall_s=4, cpu_s=1, memory_mib=512, processes=10, file_mib=1, scratch_mib=16, output_kib=64
)
TESTED = replace(
    SCENE, suites={"sums": (Case("adds", "c:f", (1,), 2), Case("more", "c:f", (2,), 3))}
)
RUN = render_call("run_tests", {})


def written(text: str) -> str:
    return render_call("write_file", {"path": "c.py"}, text)


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("def f(x):\n    while True:\n        pass\n", "TIMEOUT"),
        ("import os\ndef f(x):\n    while True:\n        os.fork()\n", "ERROR"),
        pytest.param(
            "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass\n",
            "TIMEOUT",
            marks=pytest.mark.slow,  # the walls themselves are bombed among the fast tests
        ),
        ("import os\nos._exit(0)\n", "ERROR"),
    ],
)
def test_a_loop_and_a_bomb_end_with_their_tests(hostile: str, shown: str) -> None:
    """The cell goes on, nothing is left running, and honest code after it is judged as ever."""
    tier = probe()
    if tier.name == "none":
        pytest.skip("no tier is available here")
    before = _sandboxes()
    with SuiteRunner(tier, LIMITS) as runner:
        cell = fed(new_cell(scene=TESTED, runner=runner), written(hostile), RUN)
        assert f"adds ... {shown}" in cell.answer
        assert "2 tests, 2 failing" in cell.answer
        assert cell.turns[-1].step.green == ()
        fed(cell, written("def f(x):\n    return x + 1\n"), RUN)
        assert "adds ... ok\nmore ... ok\n2 tests, 0 failing\n@@END" in cell.answer
        assert fed(cell, FINISH).record().calls[3].green == ("sums",)
    assert _sandboxes() <= before


def _sandboxes() -> set[psutil.Process]:
    """Return the children that run candidates; the walls of other tests may stand meanwhile."""
    return {one for one in psutil.Process().children(recursive=True) if _is_sandbox(one)}


def _is_sandbox(process: psutil.Process) -> bool:
    """Say whether a child is alive and runs candidates; servers of other tests may live on."""
    try:
        return process.status() != psutil.STATUS_ZOMBIE and "sandbox" in " ".join(process.cmdline())
    except psutil.Error:
        return False
