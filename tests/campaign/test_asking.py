"""Cells of a run, one after another or several at once: the same evidence, and a clean end."""

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from campaigning import LONG_REPLY, golden_text, instrument, wait_until

from harness.campaign.activity import Activity
from harness.campaign.asking import Asker
from harness.clock import SystemClock
from harness.errors import StoreError
from harness.models.http import HttpChat
from harness.models.script import Behaviour, Script, prompt_key
from harness.models.scripted import ScriptedServer
from harness.parsing.wire import decode
from harness.records.run import Endpoint
from harness.running.single import cap_of
from harness.stages.instrument import Instrument
from harness.store import campaign as store
from harness.store.layout import CellFolder
from harness.suite.loader import Task

NAMES = ("A04", "A05", "A06", "A08")
OVERLAP_S = 2.0  # a reply takes so long that three requests that are sent together meet
NEVER_S = 3600.0


@pytest.fixture(scope="module")
def core() -> Instrument:
    return instrument()


@pytest.fixture(scope="module")
def tasks(core: Instrument) -> tuple[Task, ...]:
    return tuple(core.suite.task(name) for name in NAMES)


@dataclass
class Run:
    """An asker over a scripted server, and the folders of its cells."""

    server: ScriptedServer
    asker: Asker
    place: Path

    def replies(self) -> dict[str, str]:
        """What lies on the disk: task → the reply's body."""
        cells = {name: CellFolder(self.place / name) for name in NAMES}
        found = {name: store.last_exchange(cell) for name, cell in cells.items()}
        return {name: one.body for name, one in found.items() if one is not None}


@contextmanager
def run(
    core: Instrument, place: Path, parallel: int, script: Script, clock: SystemClock
) -> Iterator[Run]:
    config = core.config.model_copy(update={"parallel_cells": parallel})
    with ScriptedServer(script) as server:
        endpoint = Endpoint(base_url=server.base_url, model="m")

        def open_chat() -> HttpChat:
            return HttpChat(endpoint, config.transport, NEVER_S, clock)

        asker = Asker(
            config=config,
            run=1,
            model="m",
            cell_of=lambda task: CellFolder(place / task.id),
            open_chat=open_chat,
            clock=clock,
            tell=lambda _text: None,
            doing=lambda task: Activity(clock).cell("m", 1, task.id),
        )
        yield Run(server, asker, place)


def goldens(core: Instrument, tasks: tuple[Task, ...], delay_s: float) -> Script:
    by_prompt = {
        prompt_key(task.prompt(cap_of(task, core.config))): (
            Behaviour(content=golden_text(task), first_byte_delay_s=delay_s, chunk_words=0),
        )
        for task in tasks
    }
    return Script(by_prompt=by_prompt, default=(Behaviour(content=LONG_REPLY),))


def always(_task: Task) -> bool:
    return True


def test_several_at_once_leave_what_one_after_another_leaves(
    core: Instrument, tasks: tuple[Task, ...], tmp_path: Path
) -> None:
    """Each cell is asked once, with the same bytes back; at most as many at once as is written."""
    found, most = [], []
    for parallel, delay_s in ((1, 0.0), (3, OVERLAP_S)):
        script = goldens(core, tasks, delay_s)
        with run(core, tmp_path / str(parallel), parallel, script, SystemClock()) as one:
            with closing(one.asker.ask(tasks, always)) as cells:
                assert sorted(cell.task.id for cell in cells) == list(NAMES)
            found.append(one.replies())
            seen = [entry for entry in one.server.requests() if entry.body]
            assert len(seen) == len(NAMES)
            most.append(max(entry.at_once for entry in seen))
    assert sorted(found[0]) == list(NAMES)
    assert [decode(body.encode()).content for body in found[0].values()] == [
        decode(body.encode()).content for body in found[1].values()
    ]
    assert most == [1, 3]


@pytest.mark.parametrize("parallel", [1, 2])
def test_a_no_lets_those_in_flight_end_and_begins_none(
    core: Instrument, tasks: tuple[Task, ...], tmp_path: Path, parallel: int
) -> None:
    """A stop, or the deadline, comes between cells."""
    allowed = iter([True] * parallel)
    script = goldens(core, tasks, 0.1)
    with run(core, tmp_path, parallel, script, SystemClock()) as one:
        with closing(one.asker.ask(tasks, lambda _task: next(allowed, False))) as cells:
            assert sorted(cell.task.id for cell in cells) == list(NAMES[:parallel])
        assert sorted(one.replies()) == list(NAMES[:parallel])


def test_closed_early_it_ends_what_is_in_flight(
    core: Instrument, tasks: tuple[Task, ...], tmp_path: Path
) -> None:
    """A Ctrl-C, or a dead server: nothing half is evidence, and nobody waits an hour for it."""
    script = goldens(core, tasks[:1], 0.1).model_copy(
        update={"default": (Behaviour(content="never", first_byte_delay_s=NEVER_S),)}
    )
    with run(core, tmp_path, 3, script, SystemClock()) as one:
        cells = one.asker.ask(tasks, always)
        assert next(cells).task.id == NAMES[0]
        wait_until(lambda: len(one.server.requests()) >= 3)
        threads = threading.active_count()
        cells.close()
        assert sorted(one.replies()) == list(NAMES[:1])
        assert threading.active_count() < threads


def test_what_fails_in_a_thread_fails_here(
    core: Instrument, tasks: tuple[Task, ...], tmp_path: Path
) -> None:
    """A disk that refuses evidence ends the pass, whichever thread meets it."""
    (tmp_path / "A05").write_text("a file stands where the cell's folder has to be")
    script = goldens(core, tasks, 0.0)
    refused: tuple[type[Exception], ...] = (StoreError, OSError)
    with run(core, tmp_path, 2, script, SystemClock()) as one, pytest.raises(refused):
        for _ in one.asker.ask(tasks, always):
            pass
