"""Several campaigns finalized as one: hosts of a group, with the host as a factor."""

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from campaigning import ROOT, defective_text, golden_text
from typer.testing import CliRunner
from written import exchange_of, host, write_campaign

from harness.cli import app
from harness.errors import NotComparableError, StoreError
from harness.records.base import readable_json
from harness.records.campaign import EMPTY_CONTROL, Final
from harness.records.sample import Sample
from harness.records.score import ScoreSheet
from harness.report.analysis import analyse
from harness.report.tables import model_rows
from harness.stages.costs import point_costs
from harness.stages.evidence import refuse_stale_in
from harness.stages.group import finalize_group
from harness.stages.instrument import Instrument, load_instrument
from harness.store import campaign as store
from harness.store import samples
from harness.store.campaign import Campaign

TASKS = ("A04", "A05")


@pytest.fixture(scope="module")
def core() -> Instrument:
    whole = load_instrument(ROOT)
    return Instrument(whole.root, whole.config, whole.suite.only(TASKS), whole.signature)


@pytest.fixture
def group(core: Instrument, tmp_path: Path) -> list[Campaign]:
    """Two hosts: one ran `good` and `both`, the other one `poor` and `both`."""
    good = {task: [golden_text(core.suite.task(task))] * 2 for task in TASKS}
    poor = {task: [defective_text(core.suite.task(task), "lazy")] * 2 for task in TASKS}
    first = write_campaign(
        core, tmp_path / "a" / "night", {"good": good, "both": good}, on=host("one")
    )
    second = write_campaign(
        core, tmp_path / "b" / "night", {"poor": poor, "both": poor}, on=host("two"),
        created_at="2026-01-02T00:00:00+00:00",
    )  # fmt: skip
    return [first, second]


def together(core: Instrument, campaigns: list[Campaign], into: Path) -> Final:
    _, final = finalize_group(campaigns, core.suite, core.config, core.stamps, into=into)
    return final


def points_of(final: Final) -> dict[tuple[str, str, int], float]:
    outcomes = [c.outcome for c in final.cells]
    return {
        (o.cell.model, o.cell.task, o.cell.run): o.points
        for o in outcomes
        if isinstance(o, ScoreSheet)
    }


def test_hosts_of_a_group_become_one_result(
    core: Instrument, group: list[Campaign], tmp_path: Path
) -> None:
    """Every model of every host is in it once; one that two hosts ran has an entry for each."""
    final = together(core, group, tmp_path / "result")
    points = points_of(final)

    assert [m.id for m in final.campaign.plan.models] == ["good", "both.at-1", "poor", "both.at-2"]
    assert {key[0] for key in points} == {"good", "both.at-1", "poor", "both.at-2"}
    assert points["both.at-1", "A05", 1] == points["good", "A05", 1] == 18.0
    assert points["both.at-2", "A05", 1] == points["poor", "A05", 1] < 18.0
    assert {(h.model, h.host[:3]) for h in final.hosts} == {
        ("good", "one"), ("both.at-1", "one"), ("poor", "two"), ("both.at-2", "two"),
    }  # fmt: skip
    assert any("processor one / processor two" in line for line in final.warnings)


def test_names_stay_unique_and_short_enough_to_be_read_again(
    core: Instrument, tmp_path: Path
) -> None:
    """An id may be as long as a plan takes, and a name may look like one that would be made."""
    good = {task: [golden_text(core.suite.task(task))] for task in TASKS}
    long = "m" * 64
    campaigns = [
        write_campaign(core, tmp_path / place, {name: good, long: good}, created_at=f"2026-01-0{k}")
        for k, (place, name) in enumerate(
            [("a/night", "both"), ("b/night", "both"), ("c/night.1", "both.at-1")], start=1
        )
    ]
    final = together(core, campaigns, tmp_path / "result")
    again = Final.model_validate_json(readable_json(final))
    ids = [model.id for model in again.campaign.plan.models]
    assert ids[::2] == ["both.at-1-2", "both.at-2", "both.at-1"]
    assert ids[1::2] == [f"{'m' * 59}.at-{k}" for k in (1, 2, 3)]
    assert [source.name for source in again.sources] == ["night.1-2", "night.2", "night.1"]
    assert len(points_of(again)) == len(ids) * len(TASKS)


def sampled(campaign: Campaign, model: str, watts: float) -> None:
    """A minute of a model's first run, at a power that does not change."""
    begun = datetime(2026, 11, 30, 22, 0, tzinfo=UTC)
    for second in range(0, 61, 5):
        at = begun + timedelta(seconds=second)
        sample = Sample(at=at, gpu_watts=watts, model=model, run=1, task="A04", calls=1)
        samples.append(campaign.folder.metrics, sample)


def test_energy_comes_into_the_result_under_the_names_that_models_have_there(
    core: Instrument, group: list[Campaign], tmp_path: Path
) -> None:
    """100 W for a minute on one host are 6,000 J, 250 W on the other one 15,000 J; never their sum."""
    for campaign, watts in zip(group, (100.0, 250.0), strict=True):
        sampled(campaign, "both", watts)
    final = together(core, group, tmp_path / "result")
    found = [(e.model, e.run, e.level, e.joules, e.seconds) for e in final.energy]
    assert found == [("both.at-1", 1, "A", 6000.0, 60.0), ("both.at-2", 1, "A", 15000.0, 60.0)]
    cost = next(c for c in point_costs(final) if c.model == "both.at-1")
    assert (cost.measured_runs, cost.measured_points) == (1, 36.0)  # all of both tasks, once
    assert cost.joules_per_point == pytest.approx(6000 / 36)
    alone = store.read_final(group[0].folder.path)
    assert [(e.model, e.source) for e in alone.energy] == [("both", "")]


def test_the_order_in_which_campaigns_are_named_does_not_matter(
    core: Instrument, group: list[Campaign], tmp_path: Path
) -> None:
    """Two finalizations are byte-identical, also turned round and from another absolute path."""
    together(core, group, tmp_path / "result")
    moved = tmp_path / "elsewhere"
    for name in ("a", "b"):
        shutil.copytree(tmp_path / name, moved / name)
    again = [store.load(moved / name / "night") for name in ("b", "a")]
    together(core, again, moved / "result")
    together(core, again, moved / "result")  # and a second time into the same folder

    for name in ("FINAL.json", "SOURCES.json"):
        assert (moved / "result" / name).read_bytes() == (tmp_path / "result" / name).read_bytes()


def test_evidence_of_a_group_is_found_from_its_result(
    core: Instrument, group: list[Campaign], tmp_path: Path
) -> None:
    """Every path of a cell leads to its file, through the renaming; a changed file is noticed."""
    result = tmp_path / "result"
    final = together(core, group, result)
    level = analyse(final).level("A")
    assert level is not None
    places = json.loads((result / "SOURCES.json").read_text())["paths"]
    assert set(places) == {"night.1", "night.2"}
    for cell in level.cells:
        assert cell.evidence is not None
        for path in (cell.evidence, cell.sheet):
            source, _, inside = path.partition("/")
            assert (result / places[source] / inside).is_file()

    refuse_stale_in(result, final)
    store.write_exchange(group[1].cell("both", 1, "A04"), exchange_of(core, "A04", 1, "both", "no"))
    with pytest.raises(StoreError, match="finalize again") as refused:
        refuse_stale_in(result, final)
    assert [p.where for p in refused.value.problems] == ["night.2/both/run_1/A04/raw/0002.json"]


def test_controls_of_two_hosts_are_not_added_up(
    core: Instrument, group: list[Campaign], tmp_path: Path
) -> None:
    """Each host's control is held against its place; a table shows one of them."""
    for campaign in group:
        record = campaign.record.model_copy(update={"controls": (EMPTY_CONTROL,)})
        campaign.folder.record.write_bytes(readable_json(record))
    controlled = [store.load(campaign.folder.path) for campaign in group]
    for campaign in controlled:
        for run in (1, 2):
            for task in TASKS:
                cell = campaign.cell(EMPTY_CONTROL, run, task)
                exchange = exchange_of(core, task, run, EMPTY_CONTROL, "")
                store.write_exchange(cell, exchange)
    final = together(core, controlled, tmp_path / "result")

    found = {(c.source, c.run): c for c in analyse(final).controls}
    assert set(found) == {(f"night.{k}", run) for k in (1, 2) for run in (1, 2)}
    assert all(control.holds for control in found.values())
    row = next(row for row in model_rows(final) if row.control)
    assert row.totals == {1: 0.0, 2: 0.0}
    assert row.causes == {"empty": 4}


def other_part(campaign: Campaign, **changed: str) -> Campaign:
    """The same campaign as another instrument would have made it."""
    stamps = campaign.record.stamps
    parts = {**stamps.parts, **changed}
    record = campaign.record.model_copy(
        update={"stamps": stamps.model_copy(update={"parts": parts})}
    )
    campaign.folder.record.write_bytes(readable_json(record))
    return store.load(campaign.folder.path)


def test_what_was_not_made_by_one_instrument_is_refused(
    core: Instrument, group: list[Campaign], tmp_path: Path
) -> None:
    """The parts that differ are named, and nothing is written."""
    apart = [group[0], other_part(group[1], prompts="0" * 64, loop="0" * 64)]
    with pytest.raises(NotComparableError, match="one instrument") as refused:
        together(core, apart, tmp_path / "result")
    assert "other prompts, loop than" in str(refused.value)
    assert not (tmp_path / "result").exists()
    assert not group[0].folder.final.exists()


def test_other_tasks_are_refused(core: Instrument, group: list[Campaign], tmp_path: Path) -> None:
    """Totals over other tasks are other totals."""
    short = write_campaign(core, tmp_path / "c", {"m": {"A04": ["x"]}})
    with pytest.raises(NotComparableError, match="one instrument") as refused:
        together(core, [group[0], short], tmp_path / "result")
    assert "A05 in one of them only" in str(refused.value)


def test_a_campaign_is_not_counted_twice(
    core: Instrument, group: list[Campaign], tmp_path: Path
) -> None:
    """A copy is no second measurement."""
    shutil.copytree(group[0].folder.path, tmp_path / "copy")
    twice = [group[0], store.load(tmp_path / "copy")]
    with pytest.raises(StoreError, match="named twice"):
        together(core, twice, tmp_path / "result")


def test_a_result_is_never_written_over_something_else(
    core: Instrument, group: list[Campaign]
) -> None:
    """A campaign's own folder, or any other, is no place for it."""
    with pytest.raises(StoreError, match="folder of its own"):
        together(core, group, group[0].folder.path)


def test_the_command_takes_several_folders(group: list[Campaign], tmp_path: Path) -> None:
    """`arnes finalize A B --into C`; --into and several folders go together."""
    folders = [str(campaign.folder.path) for campaign in group]
    into = ["--into", str(tmp_path / "result")]
    done = CliRunner().invoke(app, ["finalize", *folders, *into, "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["sources"] == ["night.1", "night.2"]
    for wrong in ([*folders], [folders[0], *into]):
        assert CliRunner().invoke(app, ["finalize", *wrong]).exit_code == 2


def test_a_doubt_is_kept_and_a_misspelt_one_is_refused(
    core: Instrument, group: list[Campaign], tmp_path: Path
) -> None:
    """`hatched.toml` names tasks and rows of the campaign, and is evidence of the result."""
    path = group[0].folder.hatched
    path.write_text('[hatched]\n"A04.units" = "two answers could be right"\n')
    final = together(core, group, tmp_path / "result")
    assert final.hatched == {"A04.units": "two answers could be right"}
    assert "night.1/hatched.toml" in final.files

    path.write_text('[hatched]\n"A04.unit" = "two answers could be right"\n')
    with pytest.raises(StoreError, match=r"1 problem\(s\)") as refused:
        together(core, group, tmp_path / "result")
    assert 'did you mean "A04.units"?' in str(refused.value)
