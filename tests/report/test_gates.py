"""Level C: a difference that failed a gate is neither printed nor drawn."""

from finals import final_of

from harness.report.analysis import analyse
from harness.report.gates import gates
from harness.report.plots.style import Look
from harness.stats.interval import t_interval
from harness.stats.split_date import SplitVerdict

STOPPED = SplitVerdict(
    "m", "inconclusive", "difficulty", "not shown to be equally hard", None, None
)
PASSED = SplitVerdict("n", "none", None, "", t_interval(0.01, 0.01, 29), 0.4)


def test_the_first_gate_that_fails_ends_the_question() -> None:
    """What stands behind it was not reached, and there is no picture."""
    found = gates(None, (STOPPED,), Look())
    assert found.lines[0].gates == ("passed", "passed", "FAILED", "not reached")
    assert found.svg is None
    assert found.markup == ""


def test_only_what_passed_every_gate_is_drawn() -> None:
    """The picture holds the model that passed, and not the one that did not."""
    found = gates(None, (STOPPED, PASSED), Look())
    assert found.lines[1].gates == ("passed",) * 4
    assert found.svg is not None
    assert ">n</text>" in found.svg
    assert ">m</text>" not in found.svg


def test_a_campaign_without_level_c_says_so() -> None:
    """Silence about contamination is never taken for its absence."""
    assert "was not asked" in gates(None, (), Look()).sentence


def test_level_c_without_dates_stops_at_the_first_gate() -> None:
    """A campaign that tells neither cutoffs nor dates is inconclusive, model by model."""
    shares = {"m": [[0.9, 0.8], [0.5, 0.6]], "n": [[0.1, 0.2], [0.4, 0.3]]}
    analysis = analyse(final_of(shares, {"A01": 10.0, "C01": 10.0}))
    found = gates(analysis.level("C"), analysis.split, Look())

    assert [line.model for line in found.lines] == ["m", "n"]
    assert {line.gates for line in found.lines} == {("FAILED", *["not reached"] * 3)}
    assert {line.state for line in found.lines} == {"inconclusive"}
    assert "No model passed" in found.sentence
    assert found.svg is None
