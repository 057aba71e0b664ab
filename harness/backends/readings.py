"""What the machine is doing now: load, memory, power, temperature, each only where it is told.

Power comes from up to three meters, which are never added into one number here: the cards (NVML),
the processor packages (RAPL, which most systems let only root read), and the battery of a machine
that runs on it, which feeds all of it.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import psutil

from harness.backends.hardware import GpuLoad, gpu_loads
from harness.clock import Clock

POWERCAP = Path("/sys/class/powercap")
SUPPLIES = Path("/sys/class/power_supply")
MICRO = 1e-6
Number = TypeVar("Number", int, float)
# A counter of 2^38 microjoules turns over after about nine minutes at 500 W: two readings that
# are further apart may have missed a whole turn.
COUNTER_LIMIT_S = 120.0


@dataclass(frozen=True)
class Reading:
    """The machine at one moment; None is what is not told here. Units as in `Sample`."""

    cpu_percent: float | None = None
    memory_bytes: int | None = None
    gpu_percent: float | None = None
    gpu_memory_bytes: int | None = None
    gpu_watts: float | None = None
    cpu_watts: float | None = None
    battery_watts: float | None = None
    gpu_celsius: float | None = None
    cpu_celsius: float | None = None


@dataclass(frozen=True)
class _Counter:
    """The energy counter of a package as it stood once: microjoules, and where it turns over."""

    microjoules: int
    turns_at: int
    read_at_s: float


@dataclass
class Meter:
    """Reads the machine. What is a mean since the reading before is None at the first.

    One thread reads it. A test hands in another clock, other folders and other cards.
    """

    clock: Clock
    loads: Callable[[], tuple[GpuLoad, ...]] = gpu_loads
    powercap: Path = POWERCAP
    supplies: Path = SUPPLIES
    _busy: tuple[float, float] | None = None
    _counters: dict[Path, _Counter] = field(default_factory=dict)

    def read(self) -> Reading:
        """Return what can be read now. It raises nothing: a meter that fails is one that is not."""
        loads = self.loads()
        return Reading(
            cpu_percent=self._cpu_percent(),
            memory_bytes=_memory_bytes(),
            gpu_percent=max(_known(load.percent for load in loads), default=None),
            gpu_memory_bytes=_sum_of_all([load.used_bytes for load in loads]),
            gpu_watts=_sum_of_all([load.watts for load in loads]),
            cpu_watts=self._cpu_watts(),
            battery_watts=_battery_watts(self.supplies),
            gpu_celsius=max(_known(load.celsius for load in loads), default=None),
            cpu_celsius=_cpu_celsius(),
        )

    def _cpu_percent(self) -> float | None:
        """Return the share of all cores that was in use since the last reading."""
        try:
            times = psutil.cpu_times()
        except (OSError, psutil.Error):
            return None
        # The time of guests stands in the time of users already.
        told: dict[str, float] = times._asdict()
        total = sum(told.values()) - told.get("guest", 0.0) - told.get("guest_nice", 0.0)
        idle = told["idle"] + told.get("iowait", 0.0)
        before, self._busy = self._busy, (total - idle, total)
        if before is None or total <= before[1]:
            return None
        share = (total - idle - before[0]) / (total - before[1])
        return 100 * min(1.0, max(0.0, share))

    def _cpu_watts(self) -> float | None:
        """Return what all packages took since the last reading; None unless each of them tells."""
        return _sum_of_all([self._package_watts(zone) for zone in _packages(self.powercap)])

    def _package_watts(self, zone: Path) -> float | None:
        microjoules, turns_at = _number(zone / "energy_uj"), _number(zone / "max_energy_range_uj")
        before = self._counters.pop(zone, None)
        if microjoules is None or turns_at is None:
            return None
        now = _Counter(microjoules, turns_at, self.clock.monotonic())
        self._counters[zone] = now
        if before is None:
            return None
        took_s = now.read_at_s - before.read_at_s
        if not 0 < took_s <= COUNTER_LIMIT_S:
            return None
        more = now.microjoules - before.microjoules
        return (more if more >= 0 else more + now.turns_at) * MICRO / took_s


def _packages(powercap: Path) -> list[Path]:
    """Return the zones of whole packages: their parts, and mirrors of them, count nothing twice."""
    with suppress(OSError):
        zones = sorted(powercap.glob("intel-rapl:*"))
        return [zone for zone in zones if zone.name.count(":") == 1 and _is_package(zone)]
    return []


def _is_package(zone: Path) -> bool:
    """Tell a package from `psys`, which holds the packages and more."""
    return (_text(zone / "name") or "").startswith("package")


def _battery_watts(supplies: Path) -> float | None:
    """Return what the batteries give; None while none of them is being emptied."""
    found = []
    with suppress(OSError):
        for battery in sorted(supplies.glob("BAT*")):
            if _text(battery / "status") != "Discharging":
                continue
            microwatts = _number(battery / "power_now")
            if microwatts is None:
                volts, amperes = (_number(battery / f"{n}_now") for n in ("voltage", "current"))
                if volts is None or amperes is None:
                    return None
                microwatts = round(volts * amperes * MICRO)
            found.append(abs(microwatts) * MICRO)  # some drivers count what is taken as negative
    return sum(found) if found else None


def _memory_bytes() -> int | None:
    try:
        memory = psutil.virtual_memory()
    except (OSError, psutil.Error):
        return None
    return int(memory.total - memory.available)


def _cpu_celsius() -> float | None:
    """Return the temperature of the hottest sensor of the processor; Linux tells it."""
    if not hasattr(psutil, "sensors_temperatures"):
        return None
    try:
        told = psutil.sensors_temperatures()
    except (OSError, psutil.Error):
        return None
    names = ("coretemp", "k10temp", "zenpower", "cpu_thermal")
    sensors = [sensor.current for name in names for sensor in told.get(name, ())]
    return max((float(c) for c in sensors if c), default=None)


def _number(path: Path) -> int | None:
    text = _text(path)
    try:
        return None if text is None else int(text)
    except ValueError:
        return None


def _text(path: Path) -> str | None:
    """Return what a file of the kernel says; None where it is missing or not for us."""
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _sum_of_all(values: list[Number | None]) -> Number | None:
    """Return the sum where every part is known: a sum of some looks like a smaller machine."""
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return None
    return sum(known[1:], start=known[0])
