"""Between two models the card must be clean, ours are ended for it, and nobody else is touched."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

from harness.backends.gpu import AFTER_KILL_S, MIB, WAIT_S, Machine, judge, wait_until_clean
from harness.backends.hardware import (
    OWNER,
    Gpu,
    Gpus,
    is_marked,
    kill_marked,
    kill_ours,
    our_mark,
)
from harness.clock import FakeClock
from harness.errors import InstrumentError

SIZE = 24576 * MIB
NO_NVML = Gpus((), "no NVML: the package nvidia-ml-py is not installed")


def clock() -> FakeClock:
    return FakeClock(datetime(2026, 1, 1, tzinfo=UTC))


def card(used_mib: int, *processes: int) -> Gpu:
    return Gpu("Some Card", SIZE, used_mib * MIB, processes)


def cards(*seen: Gpu) -> Gpus:
    return Gpus(seen)


BASELINE = cards(card(500))


@dataclass
class StubCards:
    """A stub of NVML: what each look sees, the last one for ever; and who was killed.

    killable : our processes that end when they are killed
    """

    looks: list[Gpus]
    ours: tuple[int, ...] = ()
    killable: tuple[int, ...] = ()
    killed: list[int] = field(default_factory=list)

    def read(self) -> Gpus:
        now = self.looks.pop(0) if len(self.looks) > 1 else self.looks[0]
        if set(self.killed) & set(self.killable):
            return BASELINE
        return now

    def kill(self, pid: int) -> bool:
        self.killed.append(pid)
        return True

    def machine(self) -> Machine:
        return Machine(
            read=self.read,
            is_ours=lambda pid: pid in self.ours,
            kill_ours=self.kill,
            name_of=lambda pid: f"name-{pid}",
        )


# The decision


@pytest.mark.parametrize(
    ("now", "clean"),
    [
        (cards(card(500)), True),
        (cards(card(100)), True),  # somebody else's program has ended
        (cards(card(628)), True),  # 128 MiB more are within the slack
        (cards(card(629)), False),
        (cards(card(500, 77)), True),  # a process that is not ours was there before
        (cards(card(500, 42)), False),
        (cards(card(500), card(0)), False),
        (Gpus((), "NVML does not answer"), False),
    ],
)
def test_clean_is_no_process_of_ours_and_memory_at_its_baseline(now: Gpus, clean: bool) -> None:
    """Each alone is not enough: a context holds memory, and a process may hold little."""
    verdict = judge(BASELINE, now, ours={42})
    assert verdict.clean is clean
    assert bool(verdict.why) is not clean


def test_every_card_counts() -> None:
    """A model may be split over two of them."""
    before = cards(card(500), card(10))
    verdict = judge(before, cards(card(500), card(9000, 42)), ours={42})
    assert verdict.ours == (42,)
    assert "card 1: our process 42" in verdict.why
    assert "9000 MiB are used, 10 MiB were" in verdict.why
    assert "card 0" not in verdict.why


def test_without_a_gpu_nothing_is_claimed() -> None:
    """Not clean, not dirty: it was not looked at, and that is said."""
    assert judge(NO_NVML, NO_NVML, ours=()).clean is None
    said = wait_until_clean(NO_NVML, clock())
    assert said == "GPU not looked at: no NVML: the package nvidia-ml-py is not installed"


# The wait


def test_a_driver_that_gives_memory_back_late_is_waited_for() -> None:
    """Nobody is killed for it."""
    stub = StubCards([cards(card(9000, 42)), cards(card(9000)), BASELINE], ours=(42,))
    told: list[str] = []
    said = wait_until_clean(BASELINE, clock(), machine=stub.machine(), tell=told.append)
    assert said == "GPU clean"
    assert len(told) == 2
    assert stub.killed == []


def test_ours_are_killed_when_the_wait_is_over() -> None:
    """Then the card is looked at again, and what was done is told."""
    stub = StubCards([cards(card(9000, 42, 77))], ours=(42,), killable=(42,))
    time = clock()
    said = wait_until_clean(BASELINE, time, machine=stub.machine())
    assert said == "GPU clean after killing [42]"
    assert stub.killed == [42]
    assert WAIT_S <= time.monotonic() < WAIT_S + AFTER_KILL_S


def test_a_card_that_others_fill_stops_the_campaign_and_they_go_on() -> None:
    """We did not start it, so it is named and left alone."""
    stub = StubCards([cards(card(9000, 77))], ours=(42,))
    with pytest.raises(InstrumentError, match="the GPU is not clean") as caught:
        wait_until_clean(BASELINE, clock(), machine=stub.machine())
    assert "77 name-77" in str(caught.value)
    assert stub.killed == []


def test_ours_that_cannot_be_killed_stop_the_campaign() -> None:
    """A process stuck in the driver ignores even SIGKILL; the waits have an end."""
    stub = StubCards([cards(card(9000, 42))], ours=(42,))
    time = clock()
    with pytest.raises(InstrumentError):
        wait_until_clean(BASELINE, time, machine=stub.machine())
    assert stub.killed == [42]
    assert time.monotonic() < WAIT_S + AFTER_KILL_S + 3


# Whose a process is


SLEEP = "import time; print('here', flush=True); time.sleep(60)"


@pytest.fixture
def sleeper() -> Iterator[Callable[..., int]]:
    """Start a process with these variables, and return its number."""
    started: list[subprocess.Popen[bytes]] = []

    def start(**environment: str) -> int:
        process = subprocess.Popen(
            [sys.executable, "-c", SLEEP],
            env=environment,
            start_new_session=True,
            stdout=subprocess.PIPE,
        )
        started.append(process)
        assert process.stdout is not None
        process.stdout.readline()
        return process.pid

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_ours_carry_our_mark_and_others_do_not(sleeper: Callable[..., int]) -> None:
    """The mark is inherited by whatever is started; it names one process of one moment."""
    ours, theirs, nobodys = (
        sleeper(**{OWNER: f"{our_mark()}1."}),
        sleeper(**{OWNER: "1."}),
        sleeper(),
    )
    assert is_marked(ours, our_mark())
    assert not is_marked(theirs, our_mark())
    assert not is_marked(nobodys, our_mark())
    assert not is_marked(2**22 + 1, our_mark())  # above the largest process id there is


def test_only_ours_are_killed(sleeper: Callable[..., int]) -> None:
    """Never touches a process that it did not start."""
    ours, theirs = sleeper(**{OWNER: f"{our_mark()}7."}), sleeper(**{OWNER: "1."})
    assert not kill_ours(theirs)
    assert kill_ours(ours)
    assert is_marked(theirs, "1.")


def test_a_server_is_swept_by_its_own_mark_alone(sleeper: Callable[..., int]) -> None:
    """Two servers of ours may run at once; number 1 is not number 12."""
    first, other = sleeper(**{OWNER: f"{our_mark()}1."}), sleeper(**{OWNER: f"{our_mark()}12."})
    assert kill_marked(f"{our_mark()}1.") == (first,)
    assert is_marked(other, our_mark())
