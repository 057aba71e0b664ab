"""The pictures: the same bytes each time, text as text, roles instead of colours, nothing hidden."""

import re
from collections.abc import Callable

import pytest

from harness.report.plots import card as cards
from harness.report.plots.checks import CheckDot, Translation, check_map, translator
from harness.report.plots.forest import ForestRow, forest
from harness.report.plots.heat import HeatCell, heat_map
from harness.report.plots.levels import DeltaRow, split_deltas
from harness.report.plots.pairs import Mark, PairCell, pair_matrix, ruler
from harness.report.plots.ranks import rank_strip
from harness.report.plots.runs import RepairRow, RunsRow, repairs, run_strip
from harness.report.plots.style import NARROW, ROLES, Look, inline, labels
from harness.report.plots.variance import Curve, Part, Stack, design_curve, variance_bars

NAMES = ["one", "a-model-with-a-very-long-name-q8_0", "never-ran"]
ROWS = [
    ForestRow("one", 171.0, (160.0, 182.0), (140.0, 202.0), "1", 1),
    ForestRow(NAMES[1], 120.0, (110.0, 130.0), (90.0, 150.0), "2", 2, doubtful=True),
    ForestRow("never-ran", None, None, None, "–", 2),
]
DRAWN: dict[str, Callable[[Look], str]] = {
    "forest": lambda look: forest(look, ROWS, 200),
    "runs": lambda look: run_strip(
        look, [RunsRow("one", {1: 1.0, 2: -1.0}, "1.41"), RunsRow("two", {1: 0.5}, "–")]
    ),
    "repairs": lambda look: repairs(look, [RepairRow("one", {1: (80.0, 88.0)}, "4.3 → 1.5")]),
    "pairs": lambda look: pair_matrix(
        look,
        NAMES,
        [
            PairCell(1, 0, 51.0, 8.0, "sustained"),
            PairCell(2, 0, 9.0, 8.0, "fragile"),
            PairCell(2, 1, None, None, "unlinked"),
        ],
    ),
    "ruler": lambda look: ruler(look, [Mark("counts from", 6.0, (3.0, 14.0))], [(5.0, "tied")]),
    "heat": lambda look: heat_map(
        look, ["one", "two"], ["A04 Seats"], [[HeatCell(0.5, 0.1), HeatCell(None, None)]]
    ),
    "variance": lambda look: variance_bars(
        look,
        [Part("model", 0.004, "signal"), Part("run", -0.001, "same")],
        [Stack("further runs", (("rest", 9.0),), 3.0)],
    ),
    "design": lambda look: design_curve(
        look, [Curve("these tasks", (1, 2, 3), (9.0, 7.0, 6.0), 4.0, today=True)], 3
    ),
    "checks": lambda look: check_map(
        look,
        [CheckDot("A04.units", 0.4, None, "-", live=True), CheckDot("A04.all", 1, None, "none", live=False)],
        screening=True,
        bound="full in 6 of 6",
    ),
    "scatter": lambda look: check_map(
        look, [CheckDot("A04.units", 0.4, -0.3, "-", live=True)], screening=False, bound=""
    ),
    "noise": lambda look: translator(
        look, [Translation(0, 0), Translation(5, 11)], Translation(2, 1.8), [], [("99 %", 2.6)]
    ),
    "ranks": lambda look: rank_strip(
        look, ["one", "two"], [(1, 2), (1, 2)], [[0.7, 0.3], [0.3, 0.7]], [False, True]
    ),
    "split": lambda look: split_deltas(look, [DeltaRow("one", 0.01, -0.02, 0.04)], 0.03),
}  # fmt: skip


@pytest.fixture(scope="module", params=[6.9, NARROW], ids=["wide", "narrow"])
def drawn(request: pytest.FixtureRequest) -> dict[str, str]:
    """Every picture once, marked as simulated."""
    look = Look(width=request.param, simulated=True)
    return {name: draw(look) for name, draw in DRAWN.items()}


def test_text_is_text_of_a_size_that_can_be_read(drawn: dict[str, str]) -> None:
    """A paper's reader can search and copy it, and nothing is set under 8 points."""
    for name, svg in drawn.items():
        assert "<text" in svg, name
        sizes = [float(size) for size in re.findall(r"font(?:-size)?: [^;\"]*?([\d.]+)px", svg)]
        assert sizes, name
        assert min(sizes) >= 8, name


def test_a_picture_says_that_it_is_simulated(drawn: dict[str, str]) -> None:
    """The mark stays with a picture that is cut out of the report."""
    assert [name for name, svg in drawn.items() if "SIMULATED" not in svg] == []
    assert "SIMULATED" not in DRAWN["forest"](Look())


def test_a_picture_is_the_same_bytes_each_time() -> None:
    """No date, no random id: what differs between two reports is what was measured."""
    for name in ("forest", "variance"):
        assert DRAWN[name](Look()) == DRAWN[name](Look())
        assert "<dc:date>" not in DRAWN[name](Look())


def test_colours_on_the_page_are_roles_and_ids_are_its_own(drawn: dict[str, str]) -> None:
    """A picture follows the page into the dark, and two pictures never share an id."""
    for name, svg in drawn.items():
        markup = inline(svg, name, "A <title>", "What is seen.")
        left = {c for c in re.findall(r"#[0-9a-f]{6}", markup) if c in ROLES}
        assert left == set(), name
        assert all(i.startswith(f"{name}-") for i in re.findall(r' id="([^"]+)"', markup))
        assert "<style" not in markup
        assert "A &lt;title&gt;" in markup
        for used in re.findall(r'(?:url\(#|href="#)([^")]+)', markup):
            assert f'id="{used}"' in markup, (name, used)


def test_a_doubtful_rank_is_hatched_and_an_absent_one_has_no_bar() -> None:
    """Hatching and words carry what colour alone must not."""
    assert "<pattern" in DRAWN["forest"](Look())
    sound = forest(Look(), ROWS[:1], 200)
    assert "<pattern" not in sound
    assert "no complete run" in DRAWN["forest"](Look())


def test_an_axis_that_does_not_begin_at_zero_says_so() -> None:
    """A reader who measures bars with a ruler is warned."""
    assert "does not begin at 0" in DRAWN["forest"](Look())
    whole = ForestRow("one", 90.0, (0.0, 190.0), None, "1", 1)
    assert "does not begin" not in forest(Look(), [whole], 200)


def test_bars_end_where_the_scale_ends() -> None:
    """An interval up to 202 of 200 points is drawn to 200, computed to 202 elsewhere."""
    beyond = ForestRow("one", 190.0, (178.0, 202.0), None, "1", 1)
    within = ForestRow("one", 190.0, (178.0, 200.0), None, "1", 1)
    assert forest(Look(), [beyond], 200) == forest(Look(), [within], 200)


def test_long_names_keep_both_ends() -> None:
    """Models differ in size at one end and in quantisation at the other."""
    cut, whole = labels(["qwen3-32b-instruct-2507-q4_k_m", "phi-4"], 15)
    assert len(cut) == 15
    assert cut.startswith("qwen3-3")
    assert cut.endswith("q4_k_m")
    assert whole == "phi-4"


@pytest.mark.parametrize(
    "names",
    [
        ["llama-3.1-8b-q4", "llama-3.3-8b-q4", "phi-4"],
        ["qwen3-8b-instruct-think-q4_k_m", "qwen3-8b-instruct-quiet-q4_k_m"],
        ["a" * 30 + "x" + "b" * 30, "a" * 30 + "y" + "b" * 30],
        ["x" + "a" * 30 + "x", "y" + "a" * 30 + "x", "x" + "a" * 30 + "y"],
        ["one", "one"],
    ],
)
@pytest.mark.parametrize("letters", [6, 9, 13, 24])
def test_no_two_models_have_one_name_on_a_picture(names: list[str], letters: int) -> None:
    """Two budgets or versions of one model differ in the middle, where names are cut."""
    shown = labels(names, letters)
    assert len(set(shown)) == len(set(names))
    assert all(len(label) <= letters or label in names for label in shown)


def test_the_card_has_everything_that_must_be_said() -> None:
    """Title, ranks, claims and signature; a PNG of 1200 by 630 pixels that is the same each time."""
    words = cards.Words(
        "campaign", "level A", ("Claimed: ranks.", "Not claimed: more."), "signature abc"
    )
    svg, png = cards.card(words, ROWS, 200, simulated=True)
    for text in ("campaign", "Claimed: ranks.", "Not claimed: more.", "signature abc", "SIMULATED"):
        assert text in svg
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    assert (int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")) == (1200, 630)
    assert cards.card(words, ROWS, 200, simulated=True) == (svg, png)


def test_components_of_a_cut_campaign_are_never_a_bare_zero() -> None:
    """REML gives none below zero: what stands at zero is told as not told from it."""
    parts = [Part("model", 0.004, "signal"), Part("model × run", 0.0, "error")]
    stacks = [Stack("further runs", (("rest", 9.0),), 3.0)]
    found = variance_bars(Look(), parts, stacks, cut=True)

    assert "REML" in found
    assert "not told from 0" in found
    assert "0.0000" not in found
    assert "SE 3.0 points" in found


def test_a_doubted_task_is_hatched_in_the_map() -> None:
    """The strip before its cells is there for it, and for no other."""
    cells = [[HeatCell(0.5, 0.1)], [HeatCell(0.6, 0.1)]]
    drawn = [
        heat_map(Look(), ["one"], ["A04", "A05"], cells, doubtful)
        for doubtful in ((), (False, False), (False, True))
    ]

    assert drawn[0] == drawn[1]
    assert [svg.count("<pattern") for svg in drawn] == [0, 0, 1]
