"""In which order the models of a run are measured.

Runs come first: run 1 of every model before run 2 of any, so that a night that ends early leaves
fair parts. Within a run the order may matter (a warm card, a busy hour), and `balanced` spreads
that over the models: over a whole cycle every model stands in every place equally often, and
follows every other equally often (Williams' design; E. J. Williams, 1949).
"""

import random
from collections.abc import Sequence
from typing import Literal, TypeVar

Order = Literal["fixed", "balanced", "random"]
Item = TypeVar("Item")


def order_of(items: Sequence[Item], run: int, order: Order, seed: int = 0) -> tuple[Item, ...]:
    """Return the order of a run, from 1.

    Parameters
    ----------
    items : in the order of the plan
    order : `fixed` is the plan's own; `random` draws each run's from the seed

    Examples
    --------
    >>> [order_of("abcd", run, "balanced") for run in (1, 2)]
    [('a', 'b', 'd', 'c'), ('b', 'c', 'a', 'd')]
    """
    if order == "balanced":
        rows = balanced_rows(len(items))
        return tuple(items[place] for place in rows[(run - 1) % len(rows)])
    drawn = list(items)
    if order == "random":
        random.Random(f"order/{seed}/{run}").shuffle(drawn)  # noqa: S311 (no cryptography)
    return tuple(drawn)


def balanced_rows(size: int) -> tuple[tuple[int, ...], ...]:
    """Return a Williams design over `size` items: `size` rows, or twice as many if it is odd.

    Every item stands in every place equally often, and every ordered pair of neighbours occurs
    equally often.
    """
    if size < 2:
        return (tuple(range(size)),)
    first = [0]
    low, high = 1, size - 1
    while low <= high:
        first.append(low)
        if low < high:
            first.append(high)
        low, high = low + 1, high - 1
    rows = [tuple((place + shift) % size for place in first) for shift in range(size)]
    if size % 2:
        rows += [tuple(reversed(row)) for row in rows]
    return tuple(rows)
