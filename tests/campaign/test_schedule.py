"""The order of models: runs first, and balanced in places and in neighbours."""

import doctest
from collections import Counter
from itertools import pairwise

import pytest

from harness.campaign import schedule
from harness.campaign.schedule import balanced_rows, order_of

MODELS = ("a", "b", "c", "d", "e")


def test_fixed_is_the_plans_own_order_in_every_run() -> None:
    """A plan that says nothing gets what it wrote."""
    assert {order_of(MODELS, run, "fixed") for run in range(1, 6)} == {MODELS}


def test_random_is_drawn_from_the_seed_and_is_another_in_every_run() -> None:
    """The same seed gives the same night; each run has an order of its own."""
    first = [order_of(MODELS, run, "random", 7) for run in range(1, 6)]
    assert first == [order_of(MODELS, run, "random", 7) for run in range(1, 6)]
    assert len(set(first)) > 1
    assert first != [order_of(MODELS, run, "random", 8) for run in range(1, 6)]
    assert all(sorted(order) == sorted(MODELS) for order in first)


@pytest.mark.parametrize("size", range(2, 9))
def test_balanced_puts_every_model_in_every_place_and_behind_every_other(size: int) -> None:
    """Over a whole cycle nobody is always last on a hot card, or always behind the same one."""
    rows = balanced_rows(size)
    places = Counter((place, item) for row in rows for place, item in enumerate(row))
    followers = Counter(pair for row in rows for pair in pairwise(row))
    assert len(places) == size * size
    assert len(set(places.values())) == 1
    assert len(followers) == size * (size - 1)
    assert len(set(followers.values())) == 1


@pytest.mark.parametrize("size", [0, 1])
def test_nothing_and_one_have_one_order(size: int) -> None:
    """A campaign with one model needs no design."""
    assert order_of(MODELS[:size], 3, "balanced") == MODELS[:size]


def test_the_examples_of_the_module_hold() -> None:
    """What a newcomer reads is what the function does."""
    found = doctest.testmod(schedule)
    assert (found.failed, found.attempted) == (0, 1)
