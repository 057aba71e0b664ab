"""An analysis → the card to share."""

from harness.records.campaign import Final
from harness.report.analysis import Analysis, LevelAnalysis
from harness.report.figures import forest_rows
from harness.report.plots.card import Words
from harness.report.plots.card import card as draw


def card(final: Final, analysis: Analysis) -> tuple[str, bytes] | None:
    """Return the card as SVG and PNG; None where no level orders models.

    Nothing on it can be read without the signature and without what may not be claimed.
    """
    level = next((found for found in analysis.levels if found.ranked), None)
    if level is None:
        return None
    stamps, campaign = final.stamps, final.campaign
    scope = "level A" if level.complete else f"subset of level A ({', '.join(campaign.tasks)})"
    subtitle = (
        f"{scope}, {level.runs} run{'s' if level.runs != 1 else ''} each; mean of "
        f"{level.max_points:g} points, 95 % interval over further runs of these tasks"
    )
    notes = [*_sentences(level)]
    if analysis.problems:
        notes.insert(0, "THIS RESULT DOES NOT HOLD: a control did not land where it must.")
    doubted = any(s.hatched for s in level.standings)
    footer = (
        f"arnes {stamps.arnes_version}  signature {stamps.signature[:16]}  "
        f"{campaign.created_at[:10]}"
    )
    footer += "  development version: compare with nothing" if analysis.development else ""
    footer += "  * under doubt, see the report" if doubted else ""
    words = Words(campaign.name, subtitle, tuple(notes), footer)
    return draw(words, forest_rows(level), level.max_points, simulated=analysis.simulated)


def _sentences(level: LevelAnalysis) -> list[str]:
    """Return what fits on a card: the claims in short, repairs and cells without a score."""
    rows = level.pairs.rows if level.pairs else ()
    held = sum(row.verdict == "sustained" for row in rows)
    repairs = sum(s.repairs for s in level.standings)
    unscored = sum(s.unscored for s in level.standings)
    claimed = (
        "Claimed, jointly at 95 %: every model's rank lies in its rank set; "
        f"{held} of {len(rows)} pairs are told apart."
    )
    not_claimed = (
        "Not claimed: that models of overlapping rank sets are equal, or any order on other tasks "
        "or under another signature."
    )
    counts = (
        f"{repairs} repair{'s' if repairs != 1 else ''}, "
        f"{unscored} cell{'s' if unscored != 1 else ''} without a score."
    )
    return [claimed, not_claimed, counts]
