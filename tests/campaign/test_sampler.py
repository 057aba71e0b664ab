"""The sampler writes rows while a night goes on, and never stops one."""

import threading
import time
from pathlib import Path

from campaigning import wait_until
from exchanging import clock, exchange

from harness.backends.readings import Reading
from harness.campaign.activity import Activity
from harness.campaign.sampler import Sampler
from harness.store import samples

HANGS_S = 60.0


class Steady:
    """A meter that always shows the same."""

    def __init__(self) -> None:
        self.readings = 0

    def read(self) -> Reading:
        self.readings += 1
        return Reading(cpu_percent=50.0, gpu_watts=100.0)


def test_a_row_says_what_the_machine_and_what_the_night_does(tmp_path: Path) -> None:
    machine = clock()
    activity = Activity(machine)
    path = tmp_path / "metrics.csv"
    sampler = Sampler(path, activity, machine, Steady())
    assert sampler.sample()
    machine.sleep(5)
    with activity.playing("m", 2), activity.cell("m", 2, "A01") as one:
        one.exchange(exchange(30, tries=1))
        with activity.cell("m", 2, "A03"):
            assert sampler.sample()
    first, second = samples.read(path)
    assert (first.model, first.run, first.task, first.written_tokens) == (None, None, None, None)
    assert (second.at - first.at).total_seconds() == 5
    assert (second.cpu_percent, second.gpu_watts, second.cpu_watts) == (50.0, 100.0, None)
    assert (second.model, second.run, second.tasks) == ("m", 2, ("A01", "A03"))
    assert (second.calls, second.prompt_tokens, second.written_tokens) == (1, 100, 30)
    assert second.faults == 1


def test_it_samples_from_its_entry_to_its_exit(tmp_path: Path) -> None:
    """By itself, and for the last time at the end; a resume goes on in the same file."""
    path = tmp_path / "metrics.csv"
    meter = Steady()
    with Sampler(path, Activity(clock()), clock(), meter, every_s=0.01):
        wait_until(lambda: len(samples.read(path)) >= 3)
    rows = len(samples.read(path))
    assert rows == meter.readings
    with Sampler(path, Activity(clock()), clock(), meter, every_s=3600):
        pass
    assert len(samples.read(path)) == rows + 2  # one at its entry, one at its exit
    assert path.read_bytes().count(b"cpu_percent") == 1
    assert len(samples.read(path)) == meter.readings


def test_what_cannot_be_written_is_told_once_and_tried_again(tmp_path: Path) -> None:
    """A full disk, a folder in its place: the night goes on, and so do the rows after it."""
    told: list[str] = []
    path = tmp_path / "metrics.csv"
    path.mkdir()
    sampler = Sampler(path, Activity(clock()), clock(), Steady(), tell=told.append)
    assert not sampler.sample()
    assert not sampler.sample()
    assert len(told) == 1
    assert told[0].startswith("metrics.csv cannot be written, the night goes on without it: ")
    path.rmdir()
    assert sampler.sample()
    assert len(samples.read(path)) == 1


def test_a_meter_that_hangs_is_not_waited_for(tmp_path: Path) -> None:
    """A driver that lost its card answers no question, and the night has to come to its end."""
    asked, answers = threading.Event(), threading.Event()

    class Hanging(Steady):
        def read(self) -> Reading:
            asked.set()
            answers.wait(HANGS_S)
            return super().read()

    path = tmp_path / "metrics.csv"
    began = time.monotonic()
    with Sampler(path, Activity(clock()), clock(), Hanging(), end_limit_s=0.01):
        asked.wait()
    assert time.monotonic() - began < HANGS_S
    answers.set()


def test_a_file_of_another_version_is_left_alone(tmp_path: Path) -> None:
    told: list[str] = []
    path = tmp_path / "metrics.csv"
    path.write_text("at,watts\n")
    with Sampler(path, Activity(clock()), clock(), Steady(), tell=told.append, every_s=3600):
        pass
    assert path.read_text() == "at,watts\n"
    assert len(told) == 1
