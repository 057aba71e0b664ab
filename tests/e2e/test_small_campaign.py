"""The whole pipeline over loopback: plan → campaign → reparse → score → finalize → report."""

import json
import shutil
from pathlib import Path

import pytest
from campaigning import (
    HELD_S,
    ROOT,
    ScriptedModel,
    arnes,
    begun,
    defective_text,
    golden_text,
    instrument,
    plan_text,
    wait_until,
)

from harness.models.scripted import ScriptedServer
from harness.stages.instrument import Instrument

TASKS = ["A04", "A05", "A08"]
SNAPSHOT = ROOT / "tests" / "snapshots" / "small_campaign.md"


@pytest.fixture(scope="module")
def core() -> Instrument:
    return instrument()


@pytest.fixture(scope="module")
def finished(core: Instrument, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign of two scripted models, run once for the tests that only read it."""
    place = tmp_path_factory.mktemp("small")
    suite = core.suite
    strong = ScriptedModel("strong", {t: golden_text(suite.task(t)) for t in TASKS})
    weak = ScriptedModel(
        "weak",
        {
            "A04": defective_text(suite.task("A04"), "lazy"),
            "A05": defective_text(suite.task("A05"), "lazy"),
            "A08": defective_text(suite.task("A08"), "one_section"),
        },
    )
    with ScriptedServer(strong.script(core)) as a, ScriptedServer(weak.script(core)) as b:
        plan = place / "plan.toml"
        plan.write_text(plan_text({"strong": a.base_url, "weak": b.base_url}, tasks=TASKS))
        done = arnes("campaign", "start", str(plan), "--folder", str(place / "campaign"))
        assert done.returncode == 0, done.stderr
    return place / "campaign"


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        p.relative_to(folder).as_posix(): p.read_bytes()
        for p in sorted(folder.rglob("*"))
        if p.is_file() and p.name not in (".lock", "journal.jsonl")
    }


def test_the_table_is_the_one_that_was_written_by_hand(finished: Path, tmp_path: Path) -> None:
    """Known players get their known points, and the report says who is a control."""
    assert arnes("finalize", str(finished)).returncode == 0
    target = tmp_path / "report"
    assert arnes("report", str(finished), "--output", str(target)).returncode == 0
    text = (target / "report.md").read_text(encoding="utf-8")
    for line in SNAPSHOT.read_text(encoding="utf-8").splitlines():
        assert line in text
    assert "smollm" not in text


def test_reparse_and_score_are_idempotent_to_the_byte(finished: Path, tmp_path: Path) -> None:
    """Raw is evidence, and everything after it can be made again, the same."""
    copy = tmp_path / "copy"
    shutil.copytree(finished, copy)
    before = files_of(copy)
    stale = copy / "weak" / "run_1" / "A08" / "parsed" / "files" / "left_behind.txt"
    stale.write_text("an older parse")
    assert arnes("reparse", str(copy)).returncode == 0
    assert arnes("score", str(copy)).returncode == 0
    assert files_of(copy) == before
    assert not stale.exists()


def test_finalize_twice_is_byte_identical(finished: Path, tmp_path: Path) -> None:
    """FINAL.json holds nothing of the moment it was made in."""
    copies = [tmp_path / "one", tmp_path / "two"]
    results = []
    for copy in copies:
        shutil.copytree(finished, copy)
        assert arnes("finalize", str(copy), PYTHONHASHSEED=str(len(results) + 1)).returncode == 0
        results.append((copy / "FINAL.json").read_bytes())
    assert results[0] == results[1]


def test_resume_of_a_finished_campaign_asks_nothing(finished: Path) -> None:
    """The servers are gone; a finished campaign does not need them."""
    done = arnes("campaign", "resume", str(finished), "--json")
    assert done.returncode == 0, done.stderr
    outcome = json.loads(done.stdout)
    assert (outcome["asked"], outcome["finished_before"]) == (0, outcome["cells"])


def test_a_report_needs_a_finalized_campaign(finished: Path, tmp_path: Path) -> None:
    """A number of an older grader never gets into a table."""
    copy = tmp_path / "copy"
    shutil.copytree(finished, copy)
    (copy / "FINAL.json").unlink(missing_ok=True)
    done = arnes("report", str(copy))
    assert done.returncode == 2
    assert "not finalized" in done.stderr
    assert f"arnes finalize {copy}" in done.stderr


def test_a_campaign_that_is_named_twice_is_told_so(finished: Path, tmp_path: Path) -> None:
    """It is not taken for one that somebody else runs."""
    done = arnes("finalize", str(finished), str(finished), "--into", str(tmp_path / "group"))
    assert done.returncode == 2
    assert "named twice" in done.stderr
    assert "another process" not in done.stderr
    assert not (tmp_path / "group").exists()


def test_a_file_in_the_way_of_a_report_says_what_to_do(finished: Path, tmp_path: Path) -> None:
    """One message: the path that was named, and a way out."""
    arnes("finalize", str(finished))
    (tmp_path / "taken").touch()
    done = arnes("report", str(finished), "--output", str(tmp_path / "taken"))
    assert done.returncode == 2
    assert str(tmp_path / "taken") in done.stderr
    assert "→ a file is in the way" in done.stderr


def test_explain_leads_from_a_number_to_the_bytes(finished: Path) -> None:
    """One row shows its prompt, reply, parse, observations and reason."""
    done = arnes("explain", str(finished), "weak", "1", "A04.units")
    assert done.returncode == 0
    assert "raw/0001.json" in done.stdout
    assert "units: 0.6 of 3" in done.stdout
    assert "no line" in done.stdout
    wrong = arnes("explain", str(finished), "weak", "1", "A04.unit")
    assert wrong.returncode == 2
    assert 'did you mean "A04.units"?' in wrong.stderr


def test_a_kill_loses_nothing_and_doubles_nothing(core: Instrument, tmp_path: Path) -> None:
    """kill -9 in the middle costs at most the call in flight; resume asks only what is missing."""
    replies = {t: golden_text(core.suite.task(t)) for t in TASKS}
    script = ScriptedModel("slow", replies).script(core)
    third = ScriptedModel("slow", {"A08": replies["A08"]}, {"first_byte_delay_s": HELD_S})
    by_prompt = script.by_prompt | third.script(core).by_prompt
    with ScriptedServer(script.model_copy(update={"by_prompt": by_prompt})) as server:
        plan = tmp_path / "plan.toml"
        plan.write_text(plan_text({"slow": server.base_url}, tasks=TASKS))
        folder = tmp_path / "campaign"
        raws = "slow/run_*/*/raw/0001.json"
        with begun("campaign", "start", str(plan), "--folder", str(folder)) as running:
            wait_until(lambda: len(list(folder.glob(raws))) == 2, running)
        before = {p: p.read_bytes() for p in folder.glob("*/run_*/*/raw/*.json")}
        assert len(list(folder.glob(raws))) == 2
        server.play(script)
        done = arnes("campaign", "resume", str(folder), "--json")
        assert done.returncode == 0, done.stderr
        outcome = json.loads(done.stdout)
    assert outcome["finished_before"] == len(before)
    assert outcome["done"] == outcome["cells"] == 18
    assert outcome["asked"] == 18 - len(before)
    assert all(path.read_bytes() == data for path, data in before.items())
    assert len(list(folder.glob("*/run_*/*/raw/*.json"))) == 18


def test_a_changed_prompt_refuses_resume_and_names_the_part(finished: Path, tmp_path: Path) -> None:
    """Results of different run-side signatures never mix."""
    copy = tmp_path / "copy"
    shutil.copytree(finished, copy)
    record = json.loads((copy / "CAMPAIGN.json").read_text())
    record["stamps"]["parts"]["prompts"] = "0" * 64
    (copy / "CAMPAIGN.json").write_text(json.dumps(record))
    done = arnes("campaign", "resume", str(copy))
    assert done.returncode == 2
    assert "signature part 'prompts'" in done.stderr
    assert "lose 24 finished cell(s)" in done.stderr


def test_a_changed_grader_is_rescored_and_every_moved_row_is_listed(
    finished: Path, tmp_path: Path
) -> None:
    """After a score-side change the campaign goes on, and finalize says what moved and by what."""
    copy = tmp_path / "copy"
    shutil.copytree(finished, copy)
    sheet_path = copy / "weak" / "run_1" / "A04" / "CALIFICACION.json"
    sheet = json.loads(sheet_path.read_text())
    sheet["rows"][0]["points"] += 1.0
    sheet["points"] += 1.0
    sheet["points_as_is"] += 1.0
    sheet["stamps"]["parts"]["graders"] = "0" * 64
    sheet_path.write_text(json.dumps(sheet))
    done = arnes("finalize", str(copy), "--json")
    assert done.returncode == 0, done.stderr
    changed = json.loads(done.stdout)["changed"]
    assert [(c["row"], c["before"], c["after"], c["parts"]) for c in changed] == [
        ("seating", 1.6, 0.6, ["graders"])
    ]
