"""Score, reparse and finalize over campaigns that lie on the disk; no server is needed."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from campaigning import ROOT, defective_text, golden_text
from typer.testing import CliRunner

from harness.cli import app
from harness.errors import HarnessError, NotComparableError, StoreError
from harness.records.campaign import (
    EMPTY_CONTROL,
    GOLDEN_CONTROL,
    CampaignPlan,
    CampaignRecord,
    PlannedModel,
)
from harness.records.response import Exchange, Timings
from harness.records.run import Endpoint, HostInfo, RunInfo, ServerInfo
from harness.records.score import ScoreSheet
from harness.report.explain import explain_row
from harness.running.single import request_for
from harness.stages.evidence import refuse_stale
from harness.stages.finalize import finalize
from harness.stages.forms import make_form
from harness.stages.grade import Graded
from harness.stages.instrument import Instrument, load_instrument
from harness.stages.reparse import reparse
from harness.stages.score import score, sheet_of
from harness.store import campaign as store
from harness.store.campaign import Campaign
from harness.suite.loader import Suite, with_form

TASKS = ("A04", "A08")  # neither runs code, so these tests need no sandbox


@pytest.fixture(scope="module")
def core() -> Instrument:
    return load_instrument(ROOT)


def reply(core: Instrument, task: str, text: str, model: str = "m") -> Exchange:
    """Return an exchange as a server would have sent it, or one that never came for no text."""
    request = request_for(core.suite.task(task), core.config, run=1, model=model)
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text},
        "finish_reason": "stop",
    }
    return Exchange(
        request=request,
        started_at="2026-01-01T00:00:00+00:00",
        ended="reply",
        status=200,
        content_type="application/json",
        body=json.dumps({"object": "chat.completion", "model": model, "choices": [choice]}),
        timings=Timings(total_s=1.0),
    )


def lost(core: Instrument, task: str) -> Exchange:
    return reply(core, task, "").model_copy(
        update={"ended": "infrastructure", "cause": "connect", "body": "", "status": None}
    )


def make(core: Instrument, place: Path, controls: tuple[str, ...] = ()) -> Campaign:
    """Make a campaign of one model that sent lazy A04 and a golden A08, and of its controls."""
    record = CampaignRecord(
        name="small",
        created_at="2026-01-01T00:00:00+00:00",
        plan=CampaignPlan(name="small", models=(PlannedModel(id="m", backend="external"),)),
        runs=1,
        tasks=TASKS,
        subset=True,
        controls=controls,
        form="open",
        forms={task: core.suite.forms[task] for task in TASKS},
        open_form=True,
        stamps=core.stamps,
    )
    campaign = store.create(place, record, b"")
    texts = {"A04": defective_text(core.suite.task("A04"), "lazy")}
    for player in campaign.players:
        for task in TASKS:
            golden = golden_text(core.suite.task(task))
            text = {"m": texts.get(task, golden), GOLDEN_CONTROL: golden, EMPTY_CONTROL: ""}[player]
            store.write_exchange(campaign.cell(player, 1, task), reply(core, task, text, player))
    return campaign


@pytest.fixture
def campaign(core: Instrument, tmp_path: Path) -> Campaign:
    return make(core, tmp_path / "campaign")


@pytest.fixture
def scored(core: Instrument, campaign: Campaign) -> Campaign:
    score(campaign, core.suite, core.config, core.stamps)
    return campaign


def final_bytes(campaign: Campaign, core: Instrument) -> bytes:
    finalize(campaign, core.suite, core.config, core.stamps)
    return campaign.folder.final.read_bytes()


def older_grader(campaign: Campaign) -> None:
    """Make the sheet of A04 one that an older grader wrote, which gave a row 1 point more."""
    path = campaign.cell("m", 1, "A04").sheet
    sheet = json.loads(path.read_text())
    sheet["rows"][0]["points"] += 1.0
    sheet["points"] += 1.0
    sheet["stamps"]["parts"]["graders"] = "0" * 64
    path.write_text(json.dumps(sheet))


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.fixture(scope="module")
def other_form(core: Instrument) -> Suite:
    """The suite with A04 in a form that nobody was asked."""
    tasks = tuple(
        with_form(task, make_form(task.folder, "a secret of this test"))
        if task.id == "A04"
        else task
        for task in core.suite.tasks
    )
    return replace(core.suite, tasks=tasks, form="0123456789ab")


Verb = Callable[[Campaign, Suite, Instrument], object]
VERBS: dict[str, Verb] = {
    "reparse": lambda campaign, suite, core: reparse(campaign, suite, core.config),
    "score": lambda campaign, suite, core: score(campaign, suite, core.config, core.stamps),
    "finalize": lambda campaign, suite, core: finalize(campaign, suite, core.config, core.stamps),
    "explain": lambda campaign, suite, _: explain_row(campaign.folder.path, suite, "m", 1, "A04"),
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_campaign_is_never_treated_in_a_form_that_was_not_asked(
    verb: str, core: Instrument, scored: Campaign, other_form: Suite
) -> None:
    """The golden of one form is worth nothing in another; that is refused, and nothing changes."""
    before = files_of(scored.folder.path)
    with pytest.raises(NotComparableError, match="other forms") as refused:
        VERBS[verb](scored, other_form, core)
    assert [problem.where for problem in refused.value.problems] == ["form of A04"]
    assert files_of(scored.folder.path) == before


@pytest.mark.parametrize("verb", ["reparse", "score", "finalize"])
def test_runs_under_another_run_side_are_refused_by_every_verb(
    verb: str, core: Instrument, scored: Campaign
) -> None:
    """One campaign is one instrument; nothing is replaced before that is known."""
    parts = {**core.stamps.parts, "prompts": "0" * 64}
    store.write_run_info(
        scored.folder.run("m", 1),
        RunInfo(
            model="m",
            run=1,
            backend="external",
            endpoint=Endpoint(base_url="http://127.0.0.1:1/v1", model="m"),
            server=ServerInfo(engine="test"),
            tasks=TASKS,
            seed=1,
            stamps=core.stamps.model_copy(update={"parts": parts}),
            host=HostInfo(
                python="3.11",
                implementation="CPython",
                platform="Linux",
                machine="x86_64",
                hostname_digest="0" * 64,
                cpu="",
                cores=2,
                memory_bytes=1,
                packages={},
                code_revision=None,
                code_dirty=None,
            ),
            started_at="2026-01-01T00:00:00+00:00",
            status="finished",
        ),
    )
    before = files_of(scored.folder.path)
    with pytest.raises(NotComparableError, match="never mix") as refused:
        VERBS[verb](scored, core.suite, core)
    assert "prompts" in str(refused.value)
    assert files_of(scored.folder.path) == before


@pytest.mark.parametrize("between", ["nothing", "score", "finalize", "reparse and score"])
def test_moved_rows_stay_on_the_list_whatever_was_done_between(
    between: str, core: Instrument, scored: Campaign
) -> None:
    """The base is what the reply was given first: FINAL.json is the same to the byte."""
    older_grader(scored)
    if "reparse" in between:
        reparse(scored, core.suite, core.config)
    if "score" in between:
        (row,) = score(scored, core.suite, core.config, core.stamps).moved
        assert row.parts == ("graders",)
    if between == "finalize":
        finalize(scored, core.suite, core.config, core.stamps)
    first = final_bytes(scored, core)
    (moved,) = json.loads(first)["changed"]
    assert moved["cell"]["task"] == "A04"
    assert moved["before"] == pytest.approx(moved["after"] + 1.0, abs=1e-9)  # float noise
    assert moved["parts"] == ["graders"]
    assert final_bytes(scored, core) == first


def test_a_row_that_moves_back_is_no_longer_on_the_list(core: Instrument, scored: Campaign) -> None:
    """A second change that takes the first back leaves nothing that moved."""
    cell = scored.cell("m", 1, "A04")
    first = cell.sheet.read_bytes()
    older_grader(scored)
    cell.first_sheet.write_bytes(first)
    assert json.loads(final_bytes(scored, core))["changed"] == []


def test_what_a_late_reply_earns_is_no_move(core: Instrument, campaign: Campaign) -> None:
    """A cell that failed, was asked again and is scored now was never scored otherwise."""
    cell = campaign.cell("m", 1, "A04")
    text = cell.raw(1).read_bytes()
    cell.raw(1).unlink()
    store.write_exchange(cell, lost(core, "A04"))
    assert score(campaign, core.suite, core.config, core.stamps).unscored == {"connect": 1}
    cell.raw(2).write_bytes(text)
    final = finalize(campaign, core.suite, core.config, core.stamps)
    assert all(isinstance(c.outcome, ScoreSheet) for c in final.cells)
    assert final.changed == ()


def test_a_result_from_before_a_cell_was_filled_is_refused(
    core: Instrument, campaign: Campaign
) -> None:
    """After resume the old FINAL.json is no result; every new, gone or other file is named."""
    path = campaign.folder.path
    final = finalize(campaign, core.suite, core.config, core.stamps)
    refuse_stale(campaign, final)
    store.write_exchange(campaign.cell("m", 1, "A04"), reply(core, "A04", "another"))
    campaign.cell("m", 1, "A08").raw(1).unlink()
    campaign.folder.record.write_bytes(campaign.folder.record.read_bytes() + b"\n")
    with pytest.raises(StoreError, match="finalize again") as refused:
        refuse_stale(campaign, final)
    assert {problem.where: problem.what for problem in refused.value.problems} == {
        "CAMPAIGN.json": "is not what it was at finalize",
        "m/run_1/A04/raw/0002.json": "came after finalize",
        "m/run_1/A08/raw/0001.json": "is gone",
    }
    assert refused.value.exit_status == 2
    shown = CliRunner().invoke(app, ["report", str(path), "--output", str(path / "report")])
    assert isinstance(shown.exception, HarnessError)
    assert not (path / "report").exists()


@pytest.mark.parametrize("damage", ["", "{", "[]", "{}"])
@pytest.mark.parametrize(
    "name", ["CALIFICACION.json", "parsed/reply.json", "CALIFICACION.json of the run"]
)
@pytest.mark.parametrize("verb", ["score", "finalize"])
def test_a_damaged_derived_file_is_made_again(
    verb: str, name: str, damage: str, core: Instrument, scored: Campaign
) -> None:
    """What can be made again never stops the one that makes it again."""
    folder = scored.folder.run("m", 1)
    path = folder.summary if "of the run" in name else folder.cell("A04").path / name
    whole = path.read_bytes()
    path.write_text(damage)
    VERBS[verb](scored, core.suite, core)
    assert path.read_bytes() == whole


@pytest.mark.parametrize("damage", ["", "{", "[]"])
def test_damaged_observations_are_observed_again(
    damage: str, core: Instrument, scored: Campaign
) -> None:
    """What was remembered of a run only saves time; no score hangs on it."""
    cell = scored.cell("m", 1, "A04")
    sheet = cell.sheet.read_bytes()
    cell.observations.write_text(damage)
    finalize(scored, core.suite, core.config, core.stamps)
    assert cell.sheet.read_bytes() == sheet


def test_a_damaged_parse_does_not_stop_reparse(core: Instrument, scored: Campaign) -> None:
    """Reparse reads the old parse only to say what changed."""
    path = scored.cell("m", 1, "A04").parsed_reply
    whole = path.read_bytes()
    path.write_text("{")
    reparse(scored, core.suite, core.config)
    assert path.read_bytes() == whole


def test_damaged_evidence_stops_finalize(core: Instrument, scored: Campaign) -> None:
    """A raw reply cannot be made again: nobody goes on without it."""
    scored.cell("m", 1, "A04").raw(1).write_text("{")
    with pytest.raises(StoreError, match="cannot be read"):
        finalize(scored, core.suite, core.config, core.stamps)


def run_finalize(campaign: Campaign, *more: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["finalize", str(campaign.folder.path), *more])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout


def test_controls_in_their_places_are_no_problem(core: Instrument, tmp_path: Path) -> None:
    """The golden player at the maximum and the empty one at 0: exit status 0."""
    campaign = make(core, tmp_path / "campaign", (GOLDEN_CONTROL, EMPTY_CONTROL))
    code, output = run_finalize(campaign)
    assert code == 0
    assert "6 of 6 cells have a score." in output
    assert store.read_final(campaign.folder.path).problems == ()
    maximum = {task: core.suite.task(task).definition.max_points for task in TASKS}
    assert store.read_final(campaign.folder.path).max_points == maximum


def test_a_control_out_of_its_place_means_exit_1(core: Instrument, tmp_path: Path) -> None:
    """A result whose controls fail does not hold: FINAL.json says why, in every wrong cell."""
    campaign = make(core, tmp_path / "campaign", (GOLDEN_CONTROL, EMPTY_CONTROL))
    lazy = defective_text(core.suite.task("A04"), "lazy")
    for control, text in (
        (GOLDEN_CONTROL, lazy),
        (EMPTY_CONTROL, golden_text(core.suite.task("A04"))),
    ):
        store.write_exchange(campaign.cell(control, 1, "A04"), reply(core, "A04", text, control))
    code, output = run_finalize(campaign)
    assert code == 1
    problems = store.read_final(campaign.folder.path).problems
    assert problems == (
        "control-golden run 1 A04: 3.6 points, must be 18",
        "control-empty run 1 A04: 18 points, must be 0",
    )
    assert output.startswith(f"does not hold: {problems[0]}\ndoes not hold: {problems[1]}\n")
    code, output = run_finalize(campaign, "--json")
    assert code == 1
    assert json.loads(output)["problems"] == list(problems)


def test_missing_cells_are_counted_by_cause_and_are_no_failure(campaign: Campaign) -> None:
    """Exit 0: a missing cell is marked as missing, with its cause as people write it."""
    campaign.cell("m", 1, "A04").raw(1).unlink()
    code, output = run_finalize(campaign)
    assert code == 0
    assert "1 of 2 cells have a score; missing: 1 not run." in output
    code, output = run_finalize(campaign, "--json")
    assert json.loads(output)["missing"] == {"not_run": 1}


def test_a_report_is_redacted_only_where_it_is_asked_for_or_the_form_is_private(
    core: Instrument, campaign: Campaign, tmp_path: Path
) -> None:
    """--redact leaves every reason out of the report of an open form too."""
    finalize(campaign, core.suite, core.config, core.stamps)
    shown = {}
    for flag in ("--redact", "--no-redact"):
        target = tmp_path / f"report{flag}"
        arguments = ["report", str(campaign.folder.path), "--output", str(target), flag]
        assert CliRunner().invoke(app, arguments).exit_code == 0
        shown[flag] = (target / "report.md").read_text(encoding="utf-8")
    assert "Commonest reason" not in shown["--redact"]
    assert "Commonest reason" in shown["--no-redact"]


def test_a_sheet_has_the_flags_of_the_reply_and_of_its_rows(
    core: Instrument, scored: Campaign
) -> None:
    """They are united, once each and sorted; no point moves, and `explain` shows them."""
    cell = scored.cell("m", 1, "A08")
    sheet, parsed = store.read_outcome(cell), store.read_parsed(cell)
    assert isinstance(sheet, ScoreSheet)
    assert parsed is not None
    first, second, *rest = sheet.rows
    rows = (
        first.model_copy(update={"flags": ("told-apart", "chance")}),
        second.model_copy(update={"flags": ("chance",)}),
        *rest,
    )
    marked = parsed.model_copy(update={"flags": ("duplicate",)})

    united = sheet_of(sheet.cell, core.suite.task("A08"), marked, Graded(rows), sheet.stamps)
    store.write_outcome(cell, united)

    assert united.flags == ("chance", "duplicate", "told-apart")
    assert (united.points, united.points_as_is) == (sheet.points, sheet.points_as_is)
    text, _ = explain_row(scored.folder.path, core.suite, "m", 1, "A08")
    assert "flags: chance, duplicate, told-apart; they change no points" in text
