"""Readings are what the machine tells, by hand arithmetic; what it does not tell is None."""

import sys
from datetime import UTC, datetime
from pathlib import Path

import psutil
import pytest

from harness.backends.hardware import GpuLoad, gpu_loads
from harness.backends.readings import COUNTER_LIMIT_S, Meter
from harness.clock import FakeClock, SystemClock

TURNS_AT = 262_143_328_850  # of a real package


def clock() -> FakeClock:
    return FakeClock(datetime(2026, 11, 30, 22, 0, tzinfo=UTC))


def zone(folder: Path, name: str, microjoules: int, *, called: str = "package-0") -> Path:
    path = folder / name
    path.mkdir(parents=True, exist_ok=True)
    (path / "name").write_text(f"{called}\n")
    (path / "energy_uj").write_text(f"{microjoules}\n")
    (path / "max_energy_range_uj").write_text(f"{TURNS_AT}\n")
    return path


def meter(place: Path, time: FakeClock, *loads: GpuLoad) -> Meter:
    return Meter(time, lambda: loads, place / "powercap", place / "supplies")


def watts(reader: Meter) -> float | None:
    return reader.read().cpu_watts


def test_a_counter_of_energy_gives_watts(tmp_path: Path) -> None:
    """500 J in 5 s are 100 W; before the second reading nothing is known."""
    time = clock()
    reader = meter(tmp_path, time)
    zone(tmp_path / "powercap", "intel-rapl:0", 1_000_000)
    assert watts(reader) is None
    time.sleep(5)
    zone(tmp_path / "powercap", "intel-rapl:0", 501_000_000)
    assert watts(reader) == pytest.approx(100.0)


def test_a_counter_that_turned_over_gives_the_same(tmp_path: Path) -> None:
    """From 200 J before its end to 300 J after it: 500 J in 5 s."""
    time = clock()
    reader = meter(tmp_path, time)
    zone(tmp_path / "powercap", "intel-rapl:0", TURNS_AT - 200_000_000)
    assert watts(reader) is None
    time.sleep(5)
    zone(tmp_path / "powercap", "intel-rapl:0", 300_000_000)
    assert watts(reader) == pytest.approx(100.0)


def test_a_counter_that_may_have_turned_over_twice_tells_nothing(tmp_path: Path) -> None:
    """After a long silence the next interval is measured again."""
    time = clock()
    reader = meter(tmp_path, time)
    zone(tmp_path / "powercap", "intel-rapl:0", 0)
    reader.read()
    time.sleep(COUNTER_LIMIT_S + 1)
    zone(tmp_path / "powercap", "intel-rapl:0", 7_000_000)
    assert watts(reader) is None
    time.sleep(1)
    zone(tmp_path / "powercap", "intel-rapl:0", 17_000_000)
    assert watts(reader) == pytest.approx(10.0)


def test_packages_are_added_and_nothing_is_counted_twice(tmp_path: Path) -> None:
    """Two packages of 20 W and 30 W; their parts, a mirror, and what holds them all stay out."""
    time = clock()
    reader = meter(tmp_path, time)
    folder = tmp_path / "powercap"
    for factor in (0, 1):
        zone(folder, "intel-rapl:0", factor * 20_000_000)
        zone(folder, "intel-rapl:1", factor * 30_000_000, called="package-1")
        zone(folder, "intel-rapl:0:0", factor * 15_000_000, called="core")
        zone(folder, "intel-rapl:2", factor * 90_000_000, called="psys")
        zone(folder, "intel-rapl-mmio:0", factor * 20_000_000)
        found = watts(reader)
        time.sleep(1)
    assert found == pytest.approx(50.0)


def test_a_package_that_does_not_tell_leaves_no_sum_of_the_others(tmp_path: Path) -> None:
    """Half a machine would look like a smaller one."""
    time = clock()
    reader = meter(tmp_path, time)
    folder = tmp_path / "powercap"
    zone(folder, "intel-rapl:0", 0)
    silent = zone(folder, "intel-rapl:1", 0, called="package-1")
    reader.read()
    time.sleep(1)
    zone(folder, "intel-rapl:0", 20_000_000)
    (silent / "energy_uj").unlink()
    (silent / "energy_uj").mkdir()  # unreadable, for root too
    assert watts(reader) is None


def battery(folder: Path, name: str, **files: object) -> None:
    path = folder / "supplies" / name
    path.mkdir(parents=True)
    for file, value in files.items():
        (path / file).write_text(f"{value}\n")


def test_a_battery_that_is_emptied_tells_what_the_machine_takes(tmp_path: Path) -> None:
    """12.5 W told as power; 11.1 V × 2 A = 22.2 W told as its two factors; minus is a direction."""
    reader = meter(tmp_path, clock())
    assert reader.read().battery_watts is None
    battery(tmp_path, "BAT0", status="Discharging", power_now=-12_500_000)
    assert reader.read().battery_watts == pytest.approx(12.5)
    battery(tmp_path, "BAT1", status="Discharging", voltage_now=11_100_000, current_now=2_000_000)
    assert reader.read().battery_watts == pytest.approx(34.7)


def test_a_battery_that_is_charged_tells_nothing(tmp_path: Path) -> None:
    """What flows into it is no power of the machine."""
    battery(tmp_path, "BAT0", status="Charging", power_now=40_000_000)
    assert meter(tmp_path, clock()).read().battery_watts is None


def test_cards_are_one_machine(tmp_path: Path) -> None:
    """The busiest, the hottest, memory and watts together."""
    first = GpuLoad(percent=98.0, used_bytes=20, watts=250.5, celsius=70.0)
    second = GpuLoad(percent=3.0, used_bytes=4, watts=30.0, celsius=75.0)
    found = meter(tmp_path, clock(), first, second).read()
    assert (found.gpu_percent, found.gpu_memory_bytes) == (98.0, 24)
    assert (found.gpu_watts, found.gpu_celsius) == (280.5, 75.0)
    mute = GpuLoad(percent=None, used_bytes=4, watts=None, celsius=None)
    found = meter(tmp_path, clock(), first, mute).read()
    assert (found.gpu_percent, found.gpu_watts, found.gpu_celsius) == (98.0, None, 70.0)
    found = meter(tmp_path, clock()).read()
    assert (found.gpu_percent, found.gpu_memory_bytes, found.gpu_watts) == (None, None, None)


def test_this_machine_tells_load_and_memory() -> None:
    """Against psutil's own sum of memory; the load is none at first, and a share after that."""
    clock_of_ours = SystemClock()
    reader = Meter(clock_of_ours, loads=tuple)
    first = reader.read()
    assert first.cpu_percent is None
    memory = psutil.virtual_memory()
    assert first.memory_bytes is not None
    assert 0 < first.memory_bytes <= memory.total
    found = None
    while found is None:  # the system counts in hundredths of a second
        clock_of_ours.sleep(0.05)
        found = reader.read().cpu_percent
    assert 0 <= found <= 100


NVML = """
NVML_TEMPERATURE_GPU = 0
class NVMLError(Exception): pass
class Memory: used = 3 * 2**30
class Rates: gpu = 87
def nvmlInit(): pass
def nvmlShutdown(): pass
def nvmlDeviceGetCount(): return 2
def nvmlDeviceGetHandleByIndex(index): return index
def nvmlDeviceGetMemoryInfo(handle): return Memory
def nvmlDeviceGetUtilizationRates(handle): return Rates
def nvmlDeviceGetPowerUsage(handle):
    if handle: raise NVMLError("Not Supported")
    return 251500
def nvmlDeviceGetTemperature(handle, sensor): return 64
"""


def test_a_card_tells_what_it_can(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Milliwatts become watts; a card without a power meter has none, and keeps the rest."""
    (tmp_path / "pynvml.py").write_text(NVML)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "pynvml", raising=False)
    try:
        first, second = gpu_loads()
    finally:
        sys.modules.pop("pynvml")  # what was imported meanwhile is nobody else's
    assert first == GpuLoad(percent=87.0, used_bytes=3 * 2**30, watts=251.5, celsius=64.0)
    assert second.watts is None
    assert second.percent == 87.0
