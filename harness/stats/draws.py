"""The random numbers of a report: the same for the same result, on every machine."""

import numpy as np

SEED = 20_260_731  # fixed before any score was seen; no result depends on which number it is


def fixed_draws(purpose: int = 0) -> np.random.Generator:
    """Return a fresh generator that always draws the same numbers.

    Parameters
    ----------
    purpose : which of several independent streams

    Examples
    --------
    >>> fixed_draws(1).random() == fixed_draws(1).random(), fixed_draws().random() < 1
    (True, True)
    """
    return np.random.default_rng([SEED, purpose])
