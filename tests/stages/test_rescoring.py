"""What is made from stored replies: parse, score and totals, the same on every machine."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from campaigning import ROOT, golden_text

from harness.records.base import readable_json
from harness.records.campaign import CampaignPlan, CampaignRecord, PlannedModel
from harness.records.response import Exchange, Timings
from harness.records.score import ScoreSheet
from harness.running.single import cap_of, request_for
from harness.stages.instrument import Instrument, load_instrument
from harness.stages.reparse import reparse
from harness.stages.score import score
from harness.store import campaign as store
from harness.store.campaign import Campaign

TASKS = ("A04", "A08")  # neither runs code, so these tests need no sandbox


@pytest.fixture(scope="module")
def core() -> Instrument:
    return load_instrument(ROOT)


def reply(
    core: Instrument, task: str, text: str, finish: str = "stop", tokens: int = 10
) -> Exchange:
    choice = {"index": 0, "message": {"content": text}, "finish_reason": finish}
    usage = {"prompt_tokens": 10, "completion_tokens": tokens, "total_tokens": 10 + tokens}
    body = {"object": "chat.completion", "model": "m", "choices": [choice], "usage": usage}
    return Exchange(
        request=request_for(core.suite.task(task), core.config, run=1, model="m"),
        started_at="2026-01-01T00:00:00+00:00",
        ended="reply",
        status=200,
        content_type="application/json",
        body=json.dumps(body, ensure_ascii=False),
        timings=Timings(total_s=1.0),
    )


def campaign_of(core: Instrument, place: Path, exchanges: dict[str, Exchange]) -> Campaign:
    """Lay a campaign of one model and one run on the disk, with these exchanges."""
    record = CampaignRecord(
        name="stored",
        created_at="2026-01-01T00:00:00+00:00",
        plan=CampaignPlan(name="stored", models=(PlannedModel(id="m", backend="external"),)),
        runs=1,
        tasks=tuple(exchanges),
        subset=True,
        controls=(),
        form="open",
        forms={task: core.suite.forms[task] for task in exchanges},
        open_form=True,
        stamps=core.stamps,
    )
    campaign = store.create(place, record, b"")
    for task, exchange in exchanges.items():
        store.write_exchange(campaign.cell("m", 1, task), exchange)
    return campaign


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        p.relative_to(folder).as_posix(): p.read_bytes()
        for p in sorted(folder.rglob("*"))
        if p.is_file() and p.name not in (".lock", "journal.jsonl")
    }


LAST = "Boats lay out at sea."
ODD = "Boats lay out at sea: ≠ ñ 漢 \N{GRINNING FACE}."


def test_locale_and_hash_seed_change_no_byte(core: Instrument, tmp_path: Path) -> None:
    """Parse, score and FINAL.json are the same under any of them, and all of it is UTF-8."""
    written = golden_text(core.suite.task("A08"))
    assert LAST in written
    texts = {
        "A04": golden_text(core.suite.task("A04")) + "\nnote ≠ ñ 漢\n",
        "A08": written.replace(LAST, ODD),
    }
    exchanges = {task: reply(core, task, text) for task, text in texts.items()}
    made = []
    for name, more in {
        "plain": {"LC_ALL": "C.UTF-8", "PYTHONUTF8": "1", "PYTHONHASHSEED": "1"},
        "other": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONHASHSEED": "2"},
    }.items():
        campaign = campaign_of(core, tmp_path / name, exchanges)
        done = subprocess.run(
            [sys.executable, "-m", "harness", "finalize", str(campaign.folder.path)],
            cwd=ROOT,
            env={**os.environ, **more},
            capture_output=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        made.append(files_of(campaign.folder.path))

    assert made[0] == made[1]
    assert {"FINAL.json", "m/run_1/A08/CALIFICACION.json"} <= set(made[0])
    assert ODD in made[0]["m/run_1/A08/parsed/reply.json"].decode("utf-8")
    sheet = json.loads(made[0]["m/run_1/A08/CALIFICACION.json"])
    assert 0 < sheet["points"] < 16  # one section has signs that it must not have


@pytest.mark.parametrize(
    ("text", "finish", "spent"),
    [
        ("", "length", 1.0),
        ("<think>The first clue says", "length", 1.0),
        ("", "stop", 1.0),  # some servers call the cap a stop
        ("", "length", 0.95),  # servers count a little differently
    ],
)
def test_a_reply_that_used_its_budget_up_is_a_zero_with_its_cause(
    core: Instrument, tmp_path: Path, text: str, finish: str, spent: float
) -> None:
    """Out of budget is the model's end: scored, 0 points, `truncated`; never left unscored."""
    cap = cap_of(core.suite.task("A04"), core.config)
    exchange = reply(core, "A04", text, finish, int(cap * spent))
    campaign = campaign_of(core, tmp_path / "c", {"A04": exchange})

    outcome = score(campaign, core.suite, core.config, core.stamps)

    assert (outcome.scored, outcome.unscored) == (1, {})
    sheet = store.read_outcome(campaign.cell("m", 1, "A04"))
    assert isinstance(sheet, ScoreSheet)
    assert (sheet.points, sheet.cause) == (0.0, "truncated")


def test_a_block_that_is_gone_from_the_reply_is_gone_from_the_parse(
    core: Instrument, tmp_path: Path
) -> None:
    """Nothing of an older parse is left over, and parsing once more changes no byte."""
    exchange = reply(core, "A08", golden_text(core.suite.task("A08")))
    campaign = campaign_of(core, tmp_path / "c", {"A08": exchange})
    cell = campaign.cell("m", 1, "A08")
    reparse(campaign, core.suite, core.config)
    asked = core.suite.task("A08").definition.deliverables
    assert [p.name for p in cell.parsed_files.iterdir()] == list(asked)

    without = reply(core, "A08", "The report is ready.")
    cell.raw(1).write_bytes(readable_json(without))
    first = reparse(campaign, core.suite, core.config)
    made = files_of(cell.path)

    assert first.changed == ("m run 1 A08",)
    assert not any(name.startswith("parsed/files/") for name in made)
    assert json.loads(made["parsed/reply.json"])["files"] == {}
    assert reparse(campaign, core.suite, core.config).changed == ()
    assert files_of(cell.path) == made
