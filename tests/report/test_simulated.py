"""The simulated example: the real pipeline over written replies, marked as what it is."""

from itertools import pairwise
from pathlib import Path

import pytest
from campaigning import ROOT, instrument
from simulated_campaign import HOURS, MACHINE, PLAYERS, RUNS, example, reply_of, simulate
from simulated_campaign import TASKS as EXAMPLE
from typer.testing import CliRunner

from harness.cli import app
from harness.records.campaign import Final
from harness.report.analysis import analyse
from harness.running.single import cap_of

TASKS = ("A06", "A08")
MOST_BYTES = 3_000_000  # of a report that lies in the repository


def small(place: Path) -> Final:
    """Two of the players, two runs, two tasks that run no code."""
    return simulate(place, tasks=TASKS, runs=2, players=PLAYERS[::4])[-1]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of one such campaign, for the tests that only read it."""
    folder = tmp_path_factory.mktemp("simulated") / "played"
    small(folder)
    return folder


def sheets(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("CALIFICACION.json")
    }


@pytest.mark.slow
def test_it_is_the_same_campaign_every_time(played: Path, tmp_path: Path) -> None:
    """Fixed seeds: every score sheet of two such campaigns agrees to the byte."""
    small(tmp_path / "again")
    one, two = sheets(played), sheets(tmp_path / "again")

    assert len(one) == (2 + 2) * 2 * (len(TASKS) + 1)  # players and controls × runs × cells, sums
    assert one == two


def test_it_says_that_no_model_is_meant(played: Path) -> None:
    """The plan names it, the analysis carries it, and the command line prints it."""
    final = Final.model_validate_json((played / "FINAL.json").read_bytes())

    assert final.campaign.name.startswith("simulated")
    assert final.campaign.simulated
    assert analyse(final).simulated
    found = final.hatched["A06"]
    assert found.startswith("its grader: ")  # what was written hides nothing that was measured
    assert "SIMULATED" in found
    sides = (f"{played}:sim-amber", f"{played}:sim-elm")
    for command in (("advise", str(played)), ("compare", *sides)):
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 0, done.output
        assert done.stdout.startswith("SIMULATED")


def test_a_deadline_cuts_the_runs_that_do_not_fit(tmp_path: Path) -> None:
    """The guard of real nights decides, and the report repeats its arithmetic."""
    _, summary, final = simulate(
        tmp_path / "short", tasks=TASKS[:1], runs=2, players=PLAYERS[::4], hours=0.35
    )
    level = analyse(final).level("A")

    assert level is not None
    assert summary.tally.skipped == {f"{c.model} run {c.run}": c.why for c in level.cuts}
    assert {cut.run for cut in level.cuts} == {2}
    assert all("in reserve >" in cut.why for cut in level.cuts)


def too_late() -> list[tuple[str, int]]:
    """Runs that the night has no room for, counted from the tokens and speeds that were written."""
    core = instrument()
    tasks = [
        (core.suite.task(name), cap_of(core.suite.task(name), core.config)) for name in EXAMPLE
    ]
    left_s, last_s, late = HOURS * 3600, dict[str, float](), []
    for run in range(1, RUNS + 1):
        for player in PLAYERS:
            if run > 1 and last_s[player.name] * 1.15 + 15 * 60 > left_s:
                late.append((player.name, run))
                continue
            tokens = sum(reply_of(player, run, *task).completion_tokens for task in tasks)
            last_s[player.name] = tokens / player.tokens_per_s
            left_s -= last_s[player.name]
    return late


@pytest.mark.slow
def test_the_whole_example_shows_what_it_is_for(tmp_path: Path) -> None:
    """Ties, tiers, runs that the deadline cut, repairs and a doubt, by the order of abilities."""
    summary = example(tmp_path)
    final = Final.model_validate_json((tmp_path / "campaign" / "FINAL.json").read_bytes())
    level = analyse(final).level("A")

    assert level is not None
    ability = {player.name: player.ability for player in PLAYERS}
    tiers = [{ability[model] for model in tier} for tier in level.tiers]
    assert len(tiers) > 1
    assert all(min(above) > max(below) for above, below in pairwise(tiers))
    assert level.pairs is not None
    assert {row.verdict for row in level.pairs.rows} == {"sustained", "tied"}
    late = too_late()
    assert late
    assert list(summary.tally.skipped) == [f"{model} run {run}" for model, run in late]
    assert [(c.model, c.run, c.cells) for c in level.cuts] == [(*run, len(EXAMPLE)) for run in late]
    assert [cut.why for cut in level.cuts] == list(summary.tally.skipped.values())
    assert level.hygiene is not None
    assert level.hygiene.sigma_test is not None
    assert level.hygiene.sigma_test.refused == ""
    assert [task.task for task in level.tasks if task.hatched] == ["A06"]
    assert "the bar is 95 %" in final.hatched["A06"]
    assert "SIMULATED" in final.hatched["A06"]
    assert final.problems == ()
    files = [path for path in (tmp_path / "report").rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < MOST_BYTES
    texts = [path.read_bytes() for path in files if path.suffix != ".png"]
    assert not [word for word in (tmp_path, ROOT) for text in texts if bytes(word) in text]
    assert {(host.host, host.machine.split(",")[0]) for host in final.hosts} == {
        (MACHINE.hostname_digest, MACHINE.cpu)
    }
