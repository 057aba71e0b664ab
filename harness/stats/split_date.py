"""Level C: does a model do better on material from before its cutoff? Silence beats a guess.

Four gates stand before the answer. The first that fails is named, and then no difference is
handed out at all. The comparison with level A passes the same gates and is a leak alarm only.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from harness.errors import StatisticsError
from harness.stats.equivalence import MatchedDifference, equivalence, matched_difference
from harness.stats.intake import Array, read, refuse
from harness.stats.interval import Interval
from harness.stats.multiple import holm

GUARD = timedelta(days=90)  # training data trickle in after the declared cutoff
MARGIN = 0.03  # of the maximum: what counts as equally difficult, and as no difference
PRECISION = 0.05  # of the maximum: widest half-width that still answers anything
TOKEN_MARGIN = 0.10  # of the prompt's tokens

State = Literal["inconclusive", "positive", "none", "unresolved"]
Gate = Literal["cutoff", "structure", "difficulty", "precision"]


@dataclass(frozen=True)
class Structure:
    """What matched items must share, found out without any model.

    same_template, same_rows, same_weights, same_tools : shape (n_pairs,)
    tokens : shape (n_pairs, 2), prompt tokens of both sides
    golden_is_maximum : shape (n_pairs, 2)
    ladder : shape (n_defectives, 2), shares that graded defectives score on both sides
    """

    same_template: Sequence[bool]
    same_rows: Sequence[bool]
    same_weights: Sequence[bool]
    same_tools: Sequence[bool]
    tokens: ArrayLike
    golden_is_maximum: Sequence[Sequence[bool]]
    ladder: ArrayLike


@dataclass(frozen=True)
class Design:
    """The matched items of level C, the same for all models.

    templates : shape (n_pairs,), template ids
    late : shape (n_pairs,), when the later item's material was first public
    early : the same for the earlier item; None where it was never public
    reference : shape (n_solvers, n_pairs), earlier minus later share of solvers that can remember
        neither; NaN where a solver has no pair
    """

    templates: Sequence[str]
    late: Sequence[date]
    early: Sequence[date] | None
    structure: Structure
    reference: ArrayLike


@dataclass(frozen=True)
class SplitScores:
    """One model's shares on both sides, shape (n_pairs,), and its declared cutoff, if any."""

    model: str
    early: ArrayLike
    late: ArrayLike
    cutoff: date | None


@dataclass(frozen=True)
class SplitVerdict:
    """What may be said of one model.

    failed, reason : the first gate that failed, when inconclusive
    delta : earlier minus later, as a share of the maximum; None when inconclusive
    p : two-sided, Holm over the models that passed the gates; None when inconclusive
    """

    model: str
    state: State
    failed: Gate | None
    reason: str
    delta: Interval | None
    p: float | None


def split_date_verdicts(design: Design, models: Sequence[SplitScores]) -> tuple[SplitVerdict, ...]:
    """Judge every model: four gates, then positive, none or unresolved.

    "None" is no proof of absence: the signal can vanish when questions are transformed.
    """
    _refuse_unmatched(design, models)
    common = _structure_gate(design.structure) or _difficulty_gate(design)
    opened: dict[int, MatchedDifference] = {}
    verdicts = []
    for k, scores in enumerate(models):
        stopped = _provenance_gate(design, scores.cutoff) or common
        if stopped is None:
            stopped, found = _precision_gate(design, scores)
            if found is not None:
                opened[k] = found
        gate, reason = stopped or (None, "")
        verdicts.append(SplitVerdict(scores.model, "inconclusive", gate, reason, None, None))
    if opened:
        adjusted = holm([found.p for found in opened.values()])
        for (k, found), p in zip(opened.items(), adjusted, strict=True):
            verdicts[k] = replace(
                verdicts[k], state=_state(found.interval, p), delta=found.interval, p=p
            )
    return tuple(verdicts)


def memory_contrast(first: SplitScores, second: SplitScores, design: Design) -> MatchedDifference:
    """Return (early - late) of the first model minus the same of the second.

    Drift of difficulty is common to both and cancels. Meaningful only when the earlier material
    lies before the first model's cutoff and behind the second's, and the later behind both.

    Raises
    ------
    StatisticsError
        If the cutoffs do not straddle the earlier material, or one is unknown.
    """
    if first.cutoff is None or second.cutoff is None or not design.early:
        raise refuse(
            "a contrast without cutoffs",
            "cutoff",
            f"{first.model}: {first.cutoff}, {second.model}: {second.cutoff}",
            "declare both cutoffs and date the earlier material",
        )
    before = max(design.early) <= first.cutoff
    behind = min(design.early) > second.cutoff + GUARD
    both = min(design.late) > max(first.cutoff, second.cutoff) + GUARD
    if not (before and behind and both):
        raise refuse(
            "cutoffs that do not straddle the material",
            "cutoff",
            f"{first.model} {first.cutoff}, {second.model} {second.cutoff}, earlier material "
            f"{min(design.early)} to {max(design.early)}, later from {min(design.late)}",
            "choose two models whose cutoffs lie on both sides of the earlier material",
        )
    gains = [
        read(m.early, "early", ndim=1, complete=True) - read(m.late, "late", ndim=1, complete=True)
        for m in (first, second)
    ]
    return matched_difference(gains[0], gains[1], clusters=design.templates)


Stopped = tuple[Gate, str] | None


def _refuse_unmatched(design: Design, models: Sequence[SplitScores]) -> None:
    """Raise when something that is given per pair is not: a short list would pass every gate."""
    facts = design.structure
    given = {
        "late": len(design.late),
        "early": len(design.templates if design.early is None else design.early),
        "reference": np.atleast_2d(np.asarray(design.reference)).shape[-1],
        "same_template": len(facts.same_template),
        "same_rows": len(facts.same_rows),
        "same_weights": len(facts.same_weights),
        "same_tools": len(facts.same_tools),
        "tokens": len(np.asarray(facts.tokens)),
        "golden_is_maximum": len(facts.golden_is_maximum),
        **{f"{m.model}: early": np.asarray(m.early).size for m in models},
        **{f"{m.model}: late": np.asarray(m.late).size for m in models},
    }
    wrong = {name: count for name, count in given.items() if count != len(design.templates)}
    if wrong:
        raise refuse(
            "items that do not match",
            ", ".join(wrong),
            f"{list(wrong.values())} values for {len(design.templates)} pairs",
            "one value per pair of items",
        )


def _provenance_gate(design: Design, cutoff: date | None) -> Stopped:
    if cutoff is None:
        return "cutoff", "the cutoff is unknown"
    fresh_from = cutoff + GUARD
    stale = sum(day <= fresh_from for day in design.late)
    if stale:
        return "cutoff", f"{stale} later item(s) not after {fresh_from} (cutoff + 90 days)"
    unseen = sum(day > cutoff for day in design.early or ())
    if unseen:
        return "cutoff", f"{unseen} earlier item(s) after the cutoff {cutoff}"
    return None


def _structure_gate(structure: Structure) -> Stopped:
    for name in ("same_template", "same_rows", "same_weights", "same_tools"):
        held = np.asarray(getattr(structure, name), dtype=bool)
        if not held.all():
            return "structure", f"{name}: {int((~held).sum())} pair(s) differ"
    tokens = read(structure.tokens, "tokens", ndim=2, complete=True)
    apart = np.abs(tokens[:, 0] - tokens[:, 1]) > TOKEN_MARGIN * tokens.max(axis=1)
    if apart.any():
        return "structure", f"prompt tokens of {int(apart.sum())} pair(s) differ by over 10 %"
    if not np.asarray(structure.golden_is_maximum, dtype=bool).all():
        return "structure", "a golden set is below its maximum"
    if not np.asarray(structure.ladder).size:
        return "structure", "no graded defective was scored on both sides"
    ladder = read(structure.ladder, "ladder", ndim=2, complete=True)
    uneven = np.abs(ladder[:, 0] - ladder[:, 1]) > MARGIN
    if uneven.any():
        return "structure", f"{int(uneven.sum())} defective(s) score apart on the two sides"
    return None


def _difficulty_gate(design: Design) -> Stopped:
    reference = read(design.reference, "reference", ndim=2)
    seen = ~np.isnan(reference)
    if not seen.any(axis=0).all():
        return "difficulty", "a pair no reference solver has answered"
    mean: Array = np.where(seen, reference, 0.0).sum(axis=0) / seen.sum(axis=0)
    try:
        found = matched_difference(mean, np.zeros_like(mean), clusters=design.templates).interval
    except StatisticsError as error:
        return "difficulty", f"reference solvers: {error.headline}"
    tested = equivalence(found.centre, found.se, found.df, margin=MARGIN)
    if not tested.equivalent:
        low, high = (100 * end for end in (tested.interval.low, tested.interval.high))
        return "difficulty", f"reference solvers differ by {low:+.1f} to {high:+.1f} %, not ±3 %"
    return None


def _precision_gate(
    design: Design, scores: SplitScores
) -> tuple[Stopped, MatchedDifference | None]:
    try:
        found = matched_difference(scores.early, scores.late, clusters=design.templates)
    except StatisticsError as error:
        return ("precision", error.headline), None
    if found.interval.half > PRECISION:
        wide = f"half-width {100 * found.interval.half:.1f} % of the maximum, 5 % allowed"
        return ("precision", wide), None
    return None, found


def _state(delta: Interval, p: float) -> State:
    if delta.centre > 0 and p <= 0.05:
        return "positive"
    if equivalence(delta.centre, delta.se, delta.df, margin=MARGIN).equivalent:
        return "none"
    return "unresolved"
