"""Rank sets and tiers: what an order may claim when some pairs are not separated."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.errors import Problem, StatisticsError
from harness.stats.intake import read
from harness.stats.levels import LevelATotals
from harness.stats.pairs import PairAnalysis, paired_analysis
from harness.stats.unpaired import unpaired_analysis

Above = NDArray[np.bool_]


@dataclass(frozen=True)
class RankSet:
    """The ranks a model can have, 1 the best; jointly with all others at the stated confidence."""

    low: int
    high: int

    @property
    def single(self) -> int | None:
        """The rank, when there is only one to give."""
        return self.low if self.low == self.high else None

    def __str__(self) -> str:
        return str(self.low) if self.low == self.high else f"{self.low}-{self.high}"


@dataclass(frozen=True)
class Ranking:
    """An order with what it may claim; everything is by position of the model as given.

    order : positions by falling mean, ties by id
    sets : rank set per model
    tiers : groups from the top, a boundary only where everyone above is separated from everyone
        below
    letters : per model, the letters of all groups of mutually unseparated models it belongs to
    fragile : True where a model's rank set would be wider without its fragile pairs
    """

    analysis: PairAnalysis
    order: tuple[int, ...]
    sets: tuple[RankSet, ...]
    tiers: tuple[tuple[int, ...], ...]
    letters: tuple[str, ...]
    fragile: tuple[bool, ...]


def rank(
    totals: LevelATotals,
    ids: Sequence[str],
    *,
    rng: np.random.Generator,
    paired: bool = True,
    confidence: float = 0.95,
) -> Ranking:
    """Order the models of level A, the only level that orders.

    Parameters
    ----------
    totals : LevelATotals of shape (n_models, n_runs)
    ids : n_models names
        They break ties of the mean, so that the output does not depend on the order of input.
    rng : numpy Generator
        See `pairs.paired_analysis`.
    paired : bool
        False only where runs share no schedules.

    Raises
    ------
    StatisticsError
        If the totals are of another level, or cannot be compared (one model, one run).
    """
    if not isinstance(totals, LevelATotals):
        raise StatisticsError(
            "only level A orders",
            [Problem("totals", f"{getattr(totals, 'level', 'no level')}", "rank level A alone")],
        )
    if len(set(ids)) != len(totals.values):
        raise StatisticsError(
            "models need one name each",
            [Problem("ids", f"{list(ids)} for {len(totals.values)} models", "one id per model")],
        )
    if paired:
        return _ranking(paired_analysis(totals.values, rng=rng, confidence=confidence), ids)
    return _ranking(unpaired_analysis(totals.values, confidence=confidence), ids)


def _ranking(analysis: PairAnalysis, ids: Sequence[str]) -> Ranking:
    keys = [(-round(mean, 9), name) for mean, name in zip(analysis.means, ids, strict=True)]
    order = tuple(sorted(range(len(keys)), key=keys.__getitem__))
    above = analysis.above()
    sets = rank_sets(above)
    return Ranking(
        analysis=analysis,
        order=order,
        sets=sets,
        tiers=tier_cuts(above, order),
        letters=compact_letters(above, order),
        fragile=tuple(
            a != b for a, b in zip(sets, rank_sets(analysis.above(robust=True)), strict=True)
        ),
    )


def rank_sets(above: Above) -> tuple[RankSet, ...]:
    """Invert all pairwise tests: rank i lies in [1 + #separated above i, M - #separated below i].

    Parameters
    ----------
    above : boolean matrix of shape (n_models, n_models)
        Entry (i, j) says that model i is separated above model j.

    Examples
    --------
    >>> [str(s) for s in rank_sets(np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], dtype=bool))]
    ['1-2', '1-2', '3']
    """
    models = len(above)
    return tuple(
        RankSet(1 + int(over), models - int(under))
        for over, under in zip(above.sum(axis=0), above.sum(axis=1), strict=True)
    )


def tier_cuts(above: Above, order: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Cut the order where every model before the cut is separated above every model behind it.

    Examples
    --------
    >>> tier_cuts(np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], dtype=bool), (0, 1, 2))
    ((0, 1), (2,))
    """
    tiers: list[tuple[int, ...]] = []
    start = 0
    for end in range(1, len(order) + 1):
        if end == len(order) or above[np.ix_(order[:end], order[end:])].all():
            tiers.append(tuple(order[start:end]))
            start = end
    return tuple(tiers)


def compact_letters(above: Above, order: Sequence[int]) -> tuple[str, ...]:
    """Give a letter to each largest group of models no two of which are separated.

    Groups may overlap, because "not separated" does not carry over from pair to pair. Letters
    follow the order, so the best model's groups come first.

    Examples
    --------
    The middle model is separated from neither end, the ends are separated from each other:

    >>> compact_letters(np.array([[0, 0, 1], [0, 0, 0], [0, 0, 0]], dtype=bool), (0, 1, 2))
    ('a', 'ab', 'b')
    """
    together = ~(above | above.T)
    place = {model: k for k, model in enumerate(order)}
    groups = sorted(tuple(sorted(place[m] for m in g)) for g in _cliques(together, list(order)))
    return tuple(
        "".join(_letter(k) for k, group in enumerate(groups) if place[model] in group)
        for model in range(len(above))
    )


def rank_probabilities(
    means: ArrayLike, errors: ArrayLike, *, rng: np.random.Generator, draws: int = 10_000
) -> tuple[tuple[float, ...], ...]:
    """Return how often each model comes out at each rank when its mean is drawn again.

    A picture, not a test: tied models look ordered in it, and only `rank_sets` may be quoted.

    Parameters
    ----------
    means, errors : arrays of shape (n_models,), points
        Mean totals and their standard errors.

    Returns
    -------
    tuple
        Entry [m][k] is the share of draws in which model m has rank k + 1.

    Examples
    --------
    >>> rank_probabilities([150.0, 90.0], [1.0, 1.0], rng=np.random.default_rng(1))
    ((1.0, 0.0), (0.0, 1.0))
    """
    centre = read(means, "means", ndim=1, complete=True)
    spread = read(errors, "errors", ndim=1, complete=True)
    drawn = rng.normal(centre, spread, size=(draws, centre.size))
    ranks = (-drawn).argsort(axis=1).argsort(axis=1)
    counts = [np.bincount(column, minlength=centre.size) / draws for column in ranks.T]
    return tuple(tuple(row.tolist()) for row in counts)


def _cliques(together: Above, candidates: list[int]) -> list[list[int]]:
    """Return all maximal sets of mutually joined models (Bron and Kerbosch, with a pivot)."""
    found: list[list[int]] = []

    def grow(chosen: list[int], open_: list[int], closed: list[int]) -> None:
        if not open_ and not closed:
            found.append(chosen)
            return
        pivot = max(open_ + closed, key=lambda m: sum(together[m, o] for o in open_ if o != m))
        for model in [m for m in open_ if m == pivot or not together[pivot, m]]:
            joined = [m for m in open_ if m != model and together[model, m]]
            grow([*chosen, model], joined, [m for m in closed if together[model, m]])
            open_ = [m for m in open_ if m != model]
            closed = [*closed, model]

    grow([], candidates, [])
    return found


def _letter(index: int) -> str:
    """Return a, b, …, z, then aa would clash with a twice: a number tells the alphabets apart."""
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    turn, place = divmod(index, len(alphabet))
    return alphabet[place] + (str(turn) if turn else "")
