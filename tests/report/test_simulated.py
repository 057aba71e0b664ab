"""The simulated example: the real pipeline over written replies, marked as what it is."""

from pathlib import Path

import pytest
from simulated_campaign import PLAYERS, simulate
from typer.testing import CliRunner

from harness.cli import app
from harness.records.campaign import Final
from harness.report.analysis import analyse

TASKS = ("A04", "A08")


def small(place: Path) -> Final:
    """Two of the players, two runs, two tasks that run no code."""
    _, final = simulate(place, tasks=TASKS, runs=2, players=PLAYERS[::4])
    return final


@pytest.fixture(scope="module")
def twice(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    place = tmp_path_factory.mktemp("simulated")
    for name in ("one", "two"):
        small(place / name)
    return place / "one", place / "two"


def sheets(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("CALIFICACION.json")
    }


def test_it_is_the_same_campaign_every_time(twice: tuple[Path, Path]) -> None:
    """Fixed seeds: every score sheet of two such campaigns agrees to the byte."""
    one, two = (sheets(folder) for folder in twice)

    assert len(one) == (2 + 2) * 2 * (len(TASKS) + 1)  # players and controls × runs × cells, sums
    assert one == two


def test_it_says_that_no_model_is_meant(twice: tuple[Path, Path]) -> None:
    """The plan names it, the analysis carries it, and the command line prints it."""
    final = Final.model_validate_json((twice[0] / "FINAL.json").read_bytes())

    assert final.campaign.name.startswith("simulated")
    assert final.campaign.simulated
    assert analyse(final).simulated
    sides = (f"{twice[0]}:sim-amber", f"{twice[0]}:sim-elm")
    for command in (("advise", str(twice[0])), ("compare", *sides)):
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 0, done.output
        assert done.stdout.startswith("SIMULATED")


@pytest.mark.slow
def test_the_whole_example_shows_what_it_is_for(tmp_path: Path) -> None:
    """Two tied pairs, four tiers, a cut, repairs and a doubt, in the order of the abilities."""
    _, final = simulate(tmp_path / "six")
    level = analyse(final).level("A")

    assert level is not None
    amber, birch, cedar, dune, elm, flint = (player.name for player in PLAYERS)
    assert [set(tier) for tier in level.tiers] == [{amber, birch}, {cedar}, {dune, elm}, {flint}]
    assert {s.model for s in level.standings if s.unscored} == {elm, flint}
    assert {s.unscored for s in level.standings if s.unscored} == {6}
    assert level.hygiene is not None
    assert level.hygiene.sigma_test is not None
    assert level.hygiene.sigma_test.refused == ""
    assert [row.row for row in level.rows if row.hatched] == ["attribution"]
    assert final.problems == ()
