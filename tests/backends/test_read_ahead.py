"""The next model's weights are in memory before its server asks for them, or nothing happens."""

import os
from pathlib import Path

import pytest

from harness.backends import make_backend, read_ahead
from harness.clock import SystemClock
from harness.records.campaign import PlannedModel

SIZE = 32 * 2**20  # more than the kernel reads on its own after one page
NEEDS_LOOK = pytest.mark.skipif(
    not hasattr(os, "RWF_NOWAIT"), reason="only Linux says what of a file is in memory"
)


def in_memory(file: Path, at: float) -> bool:
    """Read a page without waiting for a disk. Whoever looks fetches it: each place is asked once.

    at : fraction of the file
    """
    descriptor = os.open(file, os.O_RDONLY)
    try:
        place = int(SIZE * at) - 4096
        return os.preadv(descriptor, [bytearray(4096)], place, os.RWF_NOWAIT) > 0
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)


def on_disk_only(file: Path) -> Path:
    """Write a file, and take it out of memory."""
    file.write_bytes(os.urandom(SIZE))
    descriptor = os.open(file, os.O_RDONLY)
    os.fsync(descriptor)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(descriptor)
    try:
        if in_memory(file, 0.25):
            pytest.skip("this file system keeps everything in memory")
    except OSError as error:
        pytest.skip(f"this file system does not say what is in memory: {error}")
    return file


@NEEDS_LOOK
def test_what_was_read_ahead_is_in_memory(tmp_path: Path) -> None:
    """To its last page, and every part of it."""
    parts = [on_disk_only(tmp_path / name) for name in ("one", "two")]
    thread = read_ahead.read_ahead(parts)
    assert thread is not None
    thread.join()
    assert [in_memory(part, at) for part in parts for at in (0.5, 0.75, 1)] == [True] * 6


def test_nothing_is_read_where_memory_is_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is served now may lie in that memory too, and must not be pushed out of it."""
    file = tmp_path / "weights"
    file.write_bytes(bytes(1000))
    monkeypatch.setattr(read_ahead, "memory_available_bytes", lambda: 1999)
    assert read_ahead.read_ahead([file]) is None
    monkeypatch.setattr(read_ahead, "memory_available_bytes", lambda: 2000)
    assert read_ahead.read_ahead([file]) is not None


@pytest.mark.parametrize("names", [(), ("absent",)])
def test_what_cannot_be_read_is_left_to_the_start(tmp_path: Path, names: tuple[str, ...]) -> None:
    """The server's own start says what is wrong with a file; here it is nobody's moment."""
    assert read_ahead.read_ahead([tmp_path / name for name in names]) is None


def test_the_parts_of_a_split_file_are_all_read(tmp_path: Path) -> None:
    """A plan names the first of them."""
    options = {"weights": str(tmp_path / "m-00001-of-00003.gguf")}
    planned = PlannedModel(id="m", backend="llama_server", options=options)
    backend = make_backend(planned, tmp_path / "server.log", SystemClock())
    names = [f"m-0000{n}-of-00003.gguf" for n in (1, 2, 3)]
    assert backend.weights() == tuple(tmp_path / name for name in names)


def test_a_folder_is_known_and_a_name_on_the_hub_is_not(tmp_path: Path) -> None:
    """Where vLLM keeps what it fetched is its own affair."""
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "a.safetensors").write_bytes(b"abc")

    def weights_of(model: str) -> tuple[Path, ...]:
        planned = PlannedModel(id="m", backend="vllm", options={"model": model})
        return make_backend(planned, tmp_path / "server.log", SystemClock()).weights()

    assert weights_of(str(folder)) == (folder / "a.safetensors",)
    assert weights_of("somebody/model") == ()


def test_of_a_server_that_runs_already_nothing_is_known(tmp_path: Path) -> None:
    """Its weights may lie on another machine."""
    planned = PlannedModel(id="m", backend="external", base_url="http://127.0.0.1:9/v1")
    assert make_backend(planned, tmp_path / "server.log", SystemClock()).weights() == ()
