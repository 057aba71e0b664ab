"""Killed at any instant, a campaign goes on and ends as if nothing had been."""

import json
import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from campaigning import LONG_REPLY, checkout_in, defective_text, golden_text, instrument, plan_text
from killing import Killer

from harness.models.script import Behaviour, Script, prompt_key
from harness.models.scripted import ScriptedServer
from harness.running.single import cap_of
from harness.stages.agent_plays import golden_turns
from harness.stages.instrument import Instrument

pytestmark = pytest.mark.slow

TASKS = ("A07", "A08")  # an agent's and a single one, in the order of the suite; no sandbox
KILLS = 50
SERVER_KILLS = 20
MEASURED_EVERY = 5
AIMED = 30  # at most, at each state that chance missed: the shortest take 2 % of the time
AIMED_WITHIN_S = 0.03
MARKER_LIMIT_S = 60.0
TURNS = 13  # of the agent's golden
STATES = {  # in their order, with the file that each begins with
    "before the first file": "",
    "preflight": "CAMPAIGN.json",
    "in a call": "m/run_1/RUN_INFO.json",
    "between evidence and score": "m/run_1/A07/transcript.jsonl",
    "between cells": "m/run_1/A07/CALIFICACION.json",
    "writing the summary": "m/run_1/A08/CALIFICACION.json",
}
BESIDE = "A11"  # it runs what was written, so its score is made beside the next call
BESIDE_WITHIN_S = 1.0  # a process has to begin, and to run it
KILLS_BESIDE = 3
SHEET = "CALIFICACION.json"
SCORE_FILES = (SHEET, "reply.json", "transcript.jsonl")
INFRASTRUCTURE = {"connect", "connection_lost"}


@pytest.fixture(scope="module")
def core() -> Instrument:
    return instrument()


@pytest.fixture(scope="module")
def script(core: Instrument) -> Script:
    """A model of known replies; every call takes a moment, so that instants fall into calls."""
    agent, single = (core.suite.task(task) for task in TASKS)
    turns = tuple(
        Behaviour(content=reply.text, first_byte_delay_s=0.005)
        for reply in golden_turns(agent, core.config, 1)
    )
    written = Behaviour(content=golden_text(single), first_byte_delay_s=0.03)
    return Script(
        by_opening={prompt_key(agent.prompt(cap_of(agent, core.config)).strip()): turns},
        by_prompt={prompt_key(single.prompt(cap_of(single, core.config))): (written,)},
        default=(Behaviour(content=LONG_REPLY),),
    )


@pytest.fixture(scope="module")
def killer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Killer]:
    """A checkout whose waits between attempts are short, and its commands."""
    quick = ("retry_wait_s = 2", "retry_wait_s = 0.05")
    place = checkout_in(tmp_path_factory.mktemp("checkout"), quick)
    with Killer(place, place / "printed.txt") as running:
        yield running


class Undisturbed:
    """A campaign that nobody disturbed, and what is left of it; it also fills the caches."""

    def __init__(self, killer: Killer, script: Script, place: Path) -> None:
        with ScriptedServer(script) as server:
            write_plan(place / "plan.toml", server)
            for number in range(2):
                status, _ = start(killer, place, f"whole{number}")
                assert status == 0, killer.log.read_text()
        self.scores = scores(place / "whole0")
        assert scores(place / "whole1") == self.scores
        assert len(self.scores) == 6  # two cells, of which one has a transcript; and the run


@pytest.fixture(scope="module")
def undisturbed(
    killer: Killer, script: Script, tmp_path_factory: pytest.TempPathFactory
) -> Undisturbed:
    return Undisturbed(killer, script, tmp_path_factory.mktemp("whole"))


def write_plan(path: Path, server: ScriptedServer) -> None:
    models = {"m": server.base_url}
    path.write_text(plan_text(models, tasks=list(TASKS), runs=1, controls=False))


def start(
    killer: Killer,
    place: Path,
    name: str,
    kill_after_s: float | None = None,
    marker: Path | None = None,
) -> tuple[int, float]:
    arguments = ("campaign", "start", str(place / "plan.toml"), "--folder", str(place / name))
    return killer.run(*arguments, kill_after_s=kill_after_s, marker=marker)


def go_on(killer: Killer, place: Path, name: str) -> int:
    """Go on as a person does: a campaign that never came to be is started again."""
    if not (place / name / "CAMPAIGN.json").is_file():
        return start(killer, place, name)[0]
    return killer.run("campaign", "resume", str(place / name))[0]


def scores(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for name in SCORE_FILES
        for path in sorted(folder.rglob(name))
    }


def evidence(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.glob("m/run_1/*/raw/[0-9]*.json")}


def events(folder: Path) -> list[str]:
    path = folder / "journal.jsonl"
    lines = path.read_text().splitlines() if path.is_file() else []
    return [json.loads(line)["event"] for line in lines]


def state_of(folder: Path) -> str:
    """In which state a kill hit, by the files that it left.

    Whether the next cell's first call had been sent already no file tells: "between cells" is both.
    """
    if not (folder / "CAMPAIGN.json").is_file():
        return "before the first file"
    if "campaign_finished" in events(folder):
        return "after the end"
    run = folder / "m" / "run_1"
    if not (run / "RUN_INFO.json").is_file():
        return "preflight"
    for task in TASKS:
        cell = run / task
        if (cell / "CALIFICACION.json").is_file():
            continue
        begun = bool(list(cell.glob("raw/[0-9]*.json")))
        if begun and (task != "A07" or (cell / "transcript.jsonl").is_file()):
            return "between evidence and score"
        return "in a call" if begun or task == TASKS[0] else "between cells"
    return "writing the summary"


def instants(draw: random.Random, count: int) -> list[float]:
    """Draw shares of a time uniformly, one from each of so many equal parts of it, in any order."""
    shares = [(part + draw.random()) / count for part in range(count)]
    draw.shuffle(shares)
    return shares


class Kills:
    """Campaigns that are killed once each, and gone on with.

    whole_s : how long one takes now that nobody disturbs: machines get busy
    hits : state → how many kills hit it
    """

    def __init__(self, killer: Killer, undisturbed: Undisturbed, place: Path) -> None:
        self._killer = killer
        self._whole = undisturbed
        self._place = place
        self._count = 0
        self.whole_s = 0.0
        self.hits: Counter[str] = Counter()

    def measure(self) -> None:
        """See how long one takes now."""
        self._count += 1
        status, self.whole_s = start(self._killer, self._place, f"whole{self._count}")
        assert status == 0, self._killer.log.read_text()[-3000:]

    def kill_at(self, instant: float, begins_with: str = "") -> bool:
        """Kill one at an instant, and go on with it; False if it ended before.

        begins_with : the instant is counted from when this file of the campaign is there
        """
        self._count += 1
        name = f"killed{self._count}"
        folder = self._place / name
        marker = folder / begins_with if begins_with else None
        status, seconds = start(self._killer, self._place, name, instant, marker)
        if status >= 0:
            assert status == 0, self._killer.log.read_text()[-3000:]
            self.whole_s = seconds
            return False
        state = state_of(folder)
        since = f" after {begins_with}" if begins_with else ""
        print(f"{instant:7.3f} s{since}: {state}")  # noqa: T201 (which state each instant hit)
        self.hits[state] += 1
        self._goes_on(name, state)
        return True

    def _goes_on(self, name: str, state: str) -> None:
        folder = self._place / name
        before = evidence(folder)
        assert go_on(self._killer, self._place, name) == 0, (state, self._killer.log.read_text())
        assert scores(folder) == self._whole.scores, state
        after = evidence(folder)
        assert {path: after[path] for path in before} == before, state
        assert len(after) == TURNS + 1, state
        assert not list(folder.rglob(".arnes-tmp-*")), state
        assert {"plan.toml", "CAMPAIGN.json", "VALIDATION.json", "journal.jsonl"} <= {
            path.name for path in folder.iterdir()
        }, state


def test_the_orchestrator_is_killed_at_fifty_instants(
    killer: Killer, script: Script, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    """Evidence stays as it was, nothing is asked twice, and every score file ends the same."""
    draw = random.Random(50)
    kills = Kills(killer, undisturbed, tmp_path)
    with ScriptedServer(script) as server:
        write_plan(tmp_path / "plan.toml", server)
        for number, share in enumerate(instants(draw, KILLS)):
            if number % MEASURED_EVERY == 0:
                kills.measure()
            while not kills.kill_at(share * kills.whole_s):  # it took less time than the one before
                share = draw.random()  # noqa: PLW2901 (an instant after the end is none)
        for state, begins_with in STATES.items():
            for _ in range(AIMED):
                if kills.hits[state]:
                    break
                kills.kill_at(draw.uniform(0, AIMED_WITHIN_S), begins_with)
    print(dict(kills.hits))  # noqa: T201
    assert all(kills.hits[state] for state in STATES)


def test_it_is_killed_while_a_cell_is_scored_beside(
    killer: Killer, core: Instrument, tmp_path: Path
) -> None:
    """What runs a deliverable in a process of its own dies with the orchestrator; resume scores."""
    task = core.suite.task(BESIDE)
    prompt = prompt_key(task.prompt(cap_of(task, core.config)))
    reply = Behaviour(content=defective_text(task, "no_tests"))
    script = Script(by_prompt={prompt: (reply,)}, default=(Behaviour(content=LONG_REPLY),))
    draw = random.Random(BESIDE)
    evidence_path, sheet_path = f"m/run_1/{BESIDE}/raw/0001.json", f"m/run_1/{BESIDE}/{SHEET}"
    with ScriptedServer(script) as server:
        text = plan_text({"m": server.base_url}, tasks=[BESIDE], runs=1, controls=False)
        (tmp_path / "plan.toml").write_text(text)
        assert start(killer, tmp_path, "whole")[0] == 0, killer.log.read_text()
        whole = scores(tmp_path / "whole")
        hits = 0
        for number in range(AIMED):
            folder = tmp_path / f"killed{number}"
            after_s = draw.uniform(0, BESIDE_WITHIN_S)
            start(killer, tmp_path, folder.name, after_s, folder / evidence_path)
            hits += not (folder / sheet_path).is_file()
            assert go_on(killer, tmp_path, folder.name) in (0, 1), killer.log.read_text()
            assert scores(folder) == whole
            if hits == KILLS_BESIDE:
                break
    assert hits == KILLS_BESIDE


class ServerKills:
    """Campaigns whose server is killed once each, and gone on with.

    whole_s : how long one takes now that nobody disturbs
    costs : what it cost → how often
    """

    def __init__(
        self, killer: Killer, script: Script, undisturbed: Undisturbed, place: Path
    ) -> None:
        self._killer = killer
        self._script = script
        self._whole = undisturbed
        self._place = place
        self._count = 0
        self.whole_s = 0.0
        self.costs: Counter[str] = Counter()

    def measure(self) -> None:
        """See how long one takes now."""
        self._count += 1
        with ScriptedServer(self._script) as server:
            write_plan(self._place / "plan.toml", server)
            status, self.whole_s = start(self._killer, self._place, f"whole{self._count}")
        assert status == 0, self._killer.log.read_text()[-3000:]

    def kill_at(self, instant: float, begins_with: str = "") -> bool:
        """Kill the server at an instant; False if the campaign ended before.

        begins_with : the instant is counted from when this file of the campaign is there
        """
        self._count += 1
        name = f"served{self._count}"
        folder = self._place / name
        with ScriptedServer(self._script) as server:
            write_plan(self._place / "plan.toml", server)
            marker = folder / begins_with if begins_with else None
            timer = threading.Thread(target=kill_later, args=(server.pid, instant, marker))
            timer.start()
            status, seconds = start(self._killer, self._place, name)
            timer.join()
        made = (folder / "CAMPAIGN.json").is_file()
        assert status in ((0, 1) if made else (2,)), self._killer.log.read_text()[-3000:]
        if status == 0 and not begins_with and seconds < instant:
            self.whole_s = seconds
            return False
        cost = became_of(folder)
        self.costs[cost] += 1
        since = f" after {begins_with}" if begins_with else ""
        print(f"{instant:7.3f} s{since}: {cost}")  # noqa: T201
        with ScriptedServer(self._script) as server:
            write_plan(self._place / "plan.toml", server)
            serve_again_at(folder, server)
            assert go_on(self._killer, self._place, name) == 0, self._killer.log.read_text()[-3000:]
        assert scores(folder) == self._whole.scores, cost
        return True


def test_the_server_is_killed_at_twenty_instants(
    killer: Killer, script: Script, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    """The cell has no score and a cause, the model is set aside, and resume makes it whole."""
    draw = random.Random(20)
    kills = ServerKills(killer, script, undisturbed, tmp_path)
    for number, share in enumerate(instants(draw, SERVER_KILLS)):
        if number % MEASURED_EVERY == 0:
            kills.measure()
        while not kills.kill_at(share * kills.whole_s):
            share = draw.random()  # noqa: PLW2901 (an instant after the end is none)
    for _ in range(AIMED):
        if kills.costs["a cell without a score"]:
            break
        kills.kill_at(draw.uniform(0, AIMED_WITHIN_S), STATES["in a call"])
    print(dict(kills.costs))  # noqa: T201
    assert kills.costs["refused before the folder was made"]
    assert kills.costs["a cell without a score"]


def kill_later(pid: int, after_s: float, marker: Path | None) -> None:
    """Kill a server of ours; nobody has waited for it yet, so its number is still its own."""
    until = time.monotonic() + MARKER_LIMIT_S
    while marker is not None and not marker.exists() and time.monotonic() < until:
        time.sleep(0.001)
    time.sleep(after_s)
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def became_of(folder: Path) -> str:
    """What a dead server cost; never a score, and never the whole campaign."""
    if not (folder / "CAMPAIGN.json").is_file():
        return "refused before the folder was made"
    assert events(folder)[-1] == "campaign_finished"
    sheets = [json.loads(p.read_text()) for p in folder.glob("m/run_1/*/CALIFICACION.json")]
    assert len(sheets) == len(TASKS)
    unscored = [sheet for sheet in sheets if sheet["kind"] == "unscored"]
    if not unscored:
        return "nothing: it had answered everything"
    assert "model_set_aside" in events(folder)
    assert all("points" not in sheet for sheet in unscored)
    causes = {sheet["cause"] for sheet in unscored}
    assert causes <= INFRASTRUCTURE | {"not_run"}
    return "a cell without a score" if causes & INFRASTRUCTURE else "set aside in preflight"


def serve_again_at(folder: Path, server: ScriptedServer) -> None:
    """The server is up again; here it has another port, which no plan of a person's would have."""
    path = folder / "CAMPAIGN.json"
    if path.is_file():
        record = json.loads(path.read_text())
        record["plan"]["models"][0]["base_url"] = server.base_url
        path.write_text(json.dumps(record))
