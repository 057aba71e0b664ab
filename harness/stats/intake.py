"""Reading arrays: shapes are checked once, NaN marks what is missing, and no zero stands for it."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.errors import Problem, StatisticsError

Array = NDArray[np.float64]


def refuse(headline: str, where: str, what: str, todo: str) -> StatisticsError:
    """Return the error that says which data are too few, and what would be enough."""
    return StatisticsError(headline, [Problem(where, what, todo)])


def read(values: ArrayLike, name: str, *, ndim: int, complete: bool = False) -> Array:
    """Return values as floats of the asked number of dimensions.

    Parameters
    ----------
    complete : bool
        True where a missing value has no meaning; NaN is then refused.

    Raises
    ------
    StatisticsError
        On another number of dimensions, an empty array, an infinite value, or a missing value
        where none may be.
    """
    array = np.asarray(values, dtype=float)
    if array.ndim != ndim or array.size == 0:
        raise refuse(
            f"{name} cannot be read",
            name,
            f"shape {array.shape}, {ndim} dimension(s) and at least one value were expected",
            "one value per model, task and run as the function says; NaN where one is missing",
        )
    if np.isinf(array).any() or (complete and np.isnan(array).any()):
        raise refuse(
            f"{name} holds values that are no numbers",
            name,
            f"{int(np.isinf(array).sum())} infinite, {int(np.isnan(array).sum())} missing",
            "leave out what was not measured" if complete else "NaN marks a missing value",
        )
    return array
