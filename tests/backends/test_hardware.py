"""What is recorded of a machine and of the code is true, and names nobody."""

import hashlib
import os
import platform
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.backends.hardware import (
    NEEDED_INSTRUCTIONS,
    Gpu,
    Gpus,
    code_state,
    cpu_name,
    disk_free_bytes,
    gpus,
    host_info,
    missing_instructions,
    owns_port,
    package_versions,
)

FLAGS = "fpu sse2 avx avx2 fma f16c bmi1 bmi2"


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    done = subprocess.run(
        ["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True
    )
    return done.stdout.decode().strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with a committed module, as a checkout of ours would be."""
    folder = tmp_path / "checkout"
    (folder / "harness").mkdir(parents=True)
    (folder / "harness" / "code.py").write_text("X = 1\n")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "one")
    return folder


def cpuinfo(folder: Path, flags: str = FLAGS) -> Path:
    path = folder / "cpuinfo"
    path.write_text(f"processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\nflags\t\t: {flags}\n")
    return path


def test_the_host_is_recorded_without_its_name(tmp_path: Path) -> None:
    """Records are published; a host's name often is a person's."""
    info = host_info(tmp_path)

    assert info.hostname_digest == hashlib.sha256(platform.node().encode()).hexdigest()
    assert platform.node() not in info.model_dump().values()
    assert info.memory_bytes > 0
    assert info.cores > 0
    assert {"httpx", "numpy", "pydantic"} <= set(info.packages)


def test_a_package_that_is_missing_is_left_out() -> None:
    """Absent is not an empty version."""
    assert package_versions(("no-such-package-at-all",)) == {}


# The code


def test_a_clean_checkout_has_its_revision(checkout: Path) -> None:
    """A number must be able to say which code made it."""
    assert code_state(checkout) == (git(checkout, "rev-parse", "HEAD"), False)


@pytest.mark.parametrize("name", ["harness/code.py", "harness/new.py", "arnes.toml"])
def test_changed_and_new_code_is_dirty(checkout: Path, name: str) -> None:
    """Then the revision is not what was run; a new file counts as much as a changed one."""
    (checkout / name).write_text("X = 2\n")
    assert code_state(checkout)[1] is True


def test_results_do_not_make_the_code_dirty(checkout: Path) -> None:
    """Reports and plans lie in the checkout too; they are not code."""
    (checkout / "reports").mkdir()
    (checkout / "reports" / "report.md").write_text("…")
    assert code_state(checkout)[1] is False


def test_a_folder_inside_a_foreign_checkout_has_no_revision(checkout: Path) -> None:
    """An unpacked copy inside somebody's repository is not at that repository's revision."""
    inside = checkout / "vendor" / "arnes"
    inside.mkdir(parents=True)
    assert code_state(inside) == (None, None)


def test_no_checkout_has_no_revision(tmp_path: Path) -> None:
    """An installed package has none, and that is no error."""
    assert code_state(tmp_path) == (None, None)


def test_git_is_asked_about_the_folder_and_not_about_a_hook(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Inside a hook git's own variables point at another repository."""
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    revision = git(checkout, "rev-parse", "HEAD")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    assert code_state(checkout) == (revision, False)


# The processor


def test_missing_instructions_are_named(tmp_path: Path) -> None:
    """A binary built for them dies without a word."""
    path = cpuinfo(tmp_path, "fpu sse2 avx f16c bmi1")
    assert missing_instructions(path, "x86_64") == ("avx2", "fma", "bmi2")


def test_a_processor_that_has_them_lacks_none(tmp_path: Path) -> None:
    """A name that only begins alike does not count: avx is not avx2, bmi1 is not bmi2."""
    assert missing_instructions(cpuinfo(tmp_path), "x86_64") == ()
    only_alike = cpuinfo(tmp_path, " ".join(f"{name}x" for name in NEEDED_INSTRUCTIONS))
    assert missing_instructions(only_alike, "x86_64") == NEEDED_INSTRUCTIONS


def test_where_it_is_not_known_nothing_is_claimed(tmp_path: Path) -> None:
    """Wheels for other processors are built for all of their kind; some systems have no list."""
    assert missing_instructions(cpuinfo(tmp_path), "aarch64") is None
    assert missing_instructions(tmp_path / "absent", "x86_64") is None


def test_the_processor_is_named(tmp_path: Path) -> None:
    """The name as the system has it."""
    assert cpu_name(cpuinfo(tmp_path)) == "Some CPU @ 2 GHz"


# What is free, and who listens


def test_free_space_is_told_before_a_folder_exists(tmp_path: Path) -> None:
    """The room for a campaign is looked at before its folder is made."""
    assert disk_free_bytes(tmp_path / "not" / "yet") > 0


def test_a_port_has_an_owner() -> None:
    """A listening socket counts, in the process that has it and in whoever started that one."""
    with socket.socket() as listening, socket.socket() as connected:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        port = listening.getsockname()[1]
        connected.connect(("127.0.0.1", port))
        assert owns_port(os.getpid(), port)
        assert not owns_port(os.getpid(), connected.getsockname()[1])
        assert owns_port(os.getppid(), port)
        with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
            assert not owns_port(child.pid, port)
            child.kill()
    assert not owns_port(2**22 + 1, port)  # above the largest process id there is


NVML = """
class NVMLError(Exception): pass
class Memory: total, used = 24 * 2**30, 3 * 2**30
def nvmlInit():
    if {driver!r}: raise NVMLError({driver!r})
def nvmlDeviceGetCount(): return 1
def nvmlDeviceGetHandleByIndex(index): return index
def nvmlDeviceGetName(handle): return b"Some Card"
def nvmlDeviceGetMemoryInfo(handle): return Memory
class Process:
    def __init__(self, pid): self.pid = pid
def nvmlDeviceGetComputeRunningProcesses(handle):
    if {silent!r}: raise NVMLError("Not Supported")
    return [Process(77), Process(42)]
def nvmlDeviceGetGraphicsRunningProcesses(handle): return [Process(42)]
def nvmlShutdown(): pass
"""


@pytest.fixture
def nvml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Install a stub of the optional package; its argument is what is wrong with the driver."""

    def install(driver: str, *, silent: bool = False) -> None:
        (tmp_path / "pynvml.py").write_text(NVML.format(driver=driver, silent=silent))
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, "pynvml", raising=False)

    yield install
    sys.modules.pop("pynvml", None)  # what was imported meanwhile is nobody else's


def test_cards_are_told(nvml: Callable[..., None]) -> None:
    """Name, memory in bytes, and each process once, whether it computes or draws."""
    nvml("")
    assert gpus() == Gpus((Gpu("Some Card", 24 * 2**30, 3 * 2**30, (42, 77)),))


def test_a_driver_that_names_no_processes_is_no_failure(nvml: Callable[..., None]) -> None:
    """In a container some do not; memory is still told, and nobody is not the same as unknown."""
    nvml("", silent=True)
    assert gpus().cards[0].processes is None


def test_a_driver_that_is_missing_is_no_failure(nvml: Callable[..., None]) -> None:
    """The package may be installed where there is no card."""
    nvml("Driver Not Loaded")
    assert gpus() == Gpus((), "NVML found no driver: Driver Not Loaded")
