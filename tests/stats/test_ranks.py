"""Orders claim no more than the pairs they rest on."""

import itertools

import numpy as np
import pytest

from harness.errors import StatisticsError
from harness.stats.levels import level_scores
from harness.stats.ranks import (
    Ranking,
    compact_letters,
    rank,
    rank_probabilities,
    rank_sets,
    tier_cuts,
)

W = np.array([[171.0, 166, 176], [168, 160, 171], [150, 147, 159], [149, 141, 151]])
IDS = ["ash", "birch", "cedar", "dogwood"]


def ranked(totals: np.ndarray, ids: list[str], level: str = "A") -> Ranking:
    scores = level_scores(totals[:, None, :], [200.0], [level])
    return rank(scores.totals(), ids, rng=np.random.default_rng(2))


def random_order(rng: np.random.Generator, models: int) -> np.ndarray:
    means = np.sort(rng.normal(0, 1, models))[::-1]
    gaps = means[:, None] - means
    return gaps > rng.uniform(0.3, 1.2, (models, models))


def test_the_worked_campaign() -> None:
    """Two tied at the top, then two single ranks that lean on a fragile pair."""
    ranking = ranked(W, IDS)

    assert [str(s) for s in ranking.sets] == ["1-2", "1-2", "3", "4"]
    assert [s.single for s in ranking.sets] == [None, None, 3, 4]
    assert ranking.tiers == ((0, 1), (2,), (3,))
    assert ranking.letters == ("a", "a", "b", "c")
    assert ranking.fragile == (False, False, True, True)


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_the_order_of_input_does_not_matter(order: tuple[int, ...]) -> None:
    """Models in another order have the same tiers, sets and letters under their names."""
    before, after = ranked(W, IDS), ranked(W[list(order)], [IDS[m] for m in order])

    assert [[IDS[order[m]] for m in tier] for tier in after.tiers] == [
        [IDS[m] for m in tier] for tier in before.tiers
    ]
    for place, model in enumerate(order):
        assert after.sets[place] == before.sets[model]
        assert after.letters[place] == before.letters[model]


def test_equal_means_are_ordered_by_name() -> None:
    """Ties of the mean do not depend on who was entered first."""
    totals = np.array([[150.0, 151, 152], [150, 151, 152], [152, 151, 150]])

    assert ranked(totals, ["c", "a", "b"]).order == (1, 2, 0)


def test_equal_models_are_one_tier() -> None:
    """Nothing separates them: one tier, one letter, every rank possible."""
    ranking = ranked(np.full((3, 3), 140.0), ["a", "b", "c"])

    assert ranking.tiers == ((0, 1, 2),)
    assert ranking.letters == ("a", "a", "a")
    assert {str(s) for s in ranking.sets} == {"1-3"}


@pytest.mark.parametrize("level", ["B", "C", "M"])
def test_only_level_a_orders(level: str) -> None:
    """Totals of another level are refused by type."""
    with pytest.raises(StatisticsError, match="only level A"):
        ranked(W, IDS, level)


def test_a_bare_array_has_no_rank() -> None:
    """An array does not say which level it is of."""
    with pytest.raises(StatisticsError, match="only level A"):
        rank(W, IDS, rng=np.random.default_rng(2))


def test_one_model_has_no_rank() -> None:
    """A rank of one is no rank."""
    with pytest.raises(StatisticsError, match="one model"):
        ranked(W[:1], IDS[:1])


def test_names_are_needed_once_each() -> None:
    """A name that stands twice breaks no tie."""
    with pytest.raises(StatisticsError):
        ranked(W, ["ash", "ash", "cedar", "dogwood"])


@pytest.mark.parametrize("seed", range(20))
def test_letters_are_shared_exactly_by_unseparated_models(seed: int) -> None:
    """Two models share a letter when, and only when, they are not separated."""
    above = random_order(np.random.default_rng(seed), 7)
    letters = compact_letters(above, range(7))

    for i, j in itertools.combinations(range(7), 2):
        assert bool(set(letters[i]) & set(letters[j])) == (not (above[i, j] or above[j, i]))


@pytest.mark.parametrize("seed", range(20))
def test_letters_are_the_largest_groups(seed: int) -> None:
    """Every letter is a maximal group, found here by trying all subsets."""
    above = random_order(np.random.default_rng(seed), 6)
    apart = above | above.T
    groups = [
        set(g)
        for size in range(1, 7)
        for g in itertools.combinations(range(6), size)
        if not any(apart[i, j] for i, j in itertools.combinations(g, 2))
    ]
    largest = {frozenset(g) for g in groups if not any(g < other for other in groups)}
    letters = compact_letters(above, range(6))
    names = set("".join(letters))

    assert {frozenset(m for m in range(6) if n in letters[m]) for n in names} == largest


def test_a_cut_needs_everyone_above_everyone_below() -> None:
    """One pair that is not separated across a boundary removes it, not only a neighbour's."""
    above = np.zeros((4, 4), dtype=bool)
    above[0, 2] = above[0, 3] = above[1, 2] = True  # 1 and 3 are not separated

    assert tier_cuts(above, range(4)) == ((0, 1, 2, 3),)
    above[1, 3] = True
    assert tier_cuts(above, range(4)) == ((0, 1), (2, 3))


def test_sets_count_who_is_above_and_below() -> None:
    """A full order gives single ranks, no order gives all of them."""
    full = np.triu(np.ones((3, 3), dtype=bool), 1)

    assert [s.single for s in rank_sets(full)] == [1, 2, 3]
    assert {str(s) for s in rank_sets(np.zeros((3, 3), dtype=bool))} == {"1-3"}


def test_letters_go_on_after_z() -> None:
    """Twenty-eight fully separated models have twenty-eight different letters."""
    letters = compact_letters(np.triu(np.ones((28, 28), dtype=bool), 1), range(28))

    assert letters[0] == "a"
    assert len(set(letters)) == 28


def test_runs_without_common_schedules_are_ranked_unpaired() -> None:
    """The same means separate less when the schedules cannot be taken out."""
    scores = level_scores(W[:, None, :], [200.0], ["A"])
    ranking = rank(scores.totals(), IDS, rng=np.random.default_rng(2), paired=False)

    assert [str(s) for s in ranking.sets] == ["1-2", "1-3", "2-4", "3-4"]
    assert ranking.tiers == ((0, 1, 2, 3),)
    assert ranking.letters == ("a", "ab", "bc", "c")


def test_rank_probabilities_of_two_are_a_normal_probability() -> None:
    """Two means one joint standard error apart come out in order in Φ(1) = 84.1 % of draws."""
    (first, second) = rank_probabilities([2.5, 0.0], [1.5, 2.0], rng=np.random.default_rng(1))

    # 10,000 draws: standard error 0.4 %
    assert first[0] == pytest.approx(0.841, abs=0.015)
    assert second[1] == first[0]
    assert sum(first) == pytest.approx(1.0)
