"""Two plain sentences about a level: what may be said of it, and what may not."""

from dataclasses import replace

from harness.report.analysis.pairing import PairRow, PairTable
from harness.report.analysis.parts import Claims, Standing

NAMED = 4  # pairs that are named before they are counted


def claims_of(
    level: str,
    standings: tuple[Standing, ...],
    pairs: PairTable | None,
    *,
    points: float,
    simulated: bool,
    complete: bool,
    absent: dict[str, str],
    doubted: tuple[str, ...] = (),
) -> Claims:
    """Return the two sentences of a level; of simulated replies they say so first.

    Parameters
    ----------
    doubted : tasks, or rows of tasks, whose points are under doubt and are counted all the same
    """
    found = _claims(level, standings, pairs, points=points, complete=complete, absent=absent)
    if doubted and any(s.mean is not None for s in standings):
        rests = f"{found.may} It rests also on points under doubt: {', '.join(doubted)}."
        found = replace(found, may=rests)
    if not simulated:
        return found
    return Claims(
        may=f"SIMULATED, the replies were written and no model is meant. {found.may}",
        may_not=f"Nothing here is a fact about any model. {found.may_not}",
    )


def _claims(
    level: str,
    standings: tuple[Standing, ...],
    pairs: PairTable | None,
    *,
    points: float,
    complete: bool,
    absent: dict[str, str],
) -> Claims:
    scored = [s for s in standings if s.mean is not None]
    if not scored:
        return Claims(
            may="Nothing was measured: no run is complete.",
            may_not="No model may be said to be better or worse than another.",
        )
    if level != "A":
        may = f"Level {level} describes these models on its own scale of {points:g} points."
        return Claims(may, f"Level {level} orders nothing, and is never added to another level.")
    if pairs is None:
        why = absent.get("ranking", "")
        return Claims(_means(scored, points), f"No order and no rank may be claimed. {why}".strip())
    return Claims(_sustained(scored, pairs), _limits(scored, pairs, complete=complete))


def _means(scored: list[Standing], points: float) -> str:
    found = "; ".join(
        f"{s.model} {s.mean:.1f}"
        + (f" (95 % {max(s.shrunk.low, 0):.1f} to {min(s.shrunk.high, points):.1f})"
           if s.shrunk else " (one run, no interval)")
        for s in scored
    )  # fmt: skip
    return f"Mean points of {points:g} on these tasks, over further runs of this kind: {found}."


def _sustained(scored: list[Standing], pairs: PairTable) -> str:
    held = [row for row in pairs.rows if row.verdict == "sustained"]
    if not held:
        return (
            "No model is sustained above another: the smallest observed gap that counts with all "
            f"pairs in view is {pairs.middle.critical_all_pairs:.1f} points."
        )
    tiers: dict[int, list[str]] = {}
    for standing in sorted(scored, key=lambda s: s.place or 0):
        if standing.tier is not None:
            tiers.setdefault(standing.tier, []).append(standing.model)
    tier_of = {model: tier for tier, models in tiers.items() for model in models}
    inside = [row for row in held if tier_of.get(row.first) == tier_of.get(row.second)]
    said = [_named(inside)] if inside else []
    if len(tiers) > 1:
        groups = " above ".join(_group(tiers[tier]) for tier in sorted(tiers))
        said.insert(0, groups)
    return (
        "On these tasks, over further runs of this kind and with all pairs in view at 95 %: "
        f"{'; '.join(said)}."
    )


def _group(models: list[str]) -> str:
    if len(models) == 1:
        return models[0]
    return f"each of {', '.join(models[:-1])} and {models[-1]}"


def _named(rows: list[PairRow]) -> str:
    named = ", ".join(f"{row.first} above {row.second}" for row in rows[:NAMED])
    return named if len(rows) <= NAMED else f"{named} and {len(rows) - NAMED} further pairs"


def _limits(scored: list[Standing], pairs: PairTable, *, complete: bool) -> str:
    tied = [row for row in pairs.rows if row.verdict in ("tied", "fragile")]
    parts = []
    if tied:
        which = (
            f"{tied[0].first} and {tied[0].second}"
            if len(tied) == 1
            else f"the models of any of the {len(tied)} pairs without a sustained difference"
        )
        parts.append(
            f"that {which} are equal, or ordered (a true gap below "
            f"{pairs.middle.detectable:.1f} points is usually missed)"
        )
    parts.append(_beyond(scored, pairs))
    if not complete:
        parts.append("that these are totals of level A, for tasks of it were left out")
    return f"It may not be claimed {'; or '.join(parts)}."


def _beyond(scored: list[Standing], pairs: PairTable) -> str:
    held = [row for row in pairs.rows if _holds_beyond(row)]
    if held and len(scored) > 1:
        return f"that any order holds beyond these tasks, except for {_named(held)}"
    return "that any order holds beyond these tasks, as of coding or of models in general"


def _holds_beyond(row: PairRow) -> bool:
    """True when the task-cluster interval of the difference lies above zero."""
    interval = row.beyond.cautious if row.beyond else None
    return row.verdict == "sustained" and interval is not None and interval.low > 0
