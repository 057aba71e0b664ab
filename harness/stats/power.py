"""How often a pair of that difference would be called sustained."""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

from harness.stats.intake import refuse
from harness.stats.means import PRIOR_DF
from harness.stats.quantiles import studentized_range_quantile

NODES = 64  # per variance; twice as many move the power by less than 0.0002


def sustained_power(
    difference: float,
    sigma: float,
    *,
    models: int,
    runs: int,
    confidence: float = 0.95,
    prior_df: float = PRIOR_DF,
) -> float:
    """Return the chance that one pair passes both gates of `pairs.paired_analysis`.

    Parameters
    ----------
    difference : float, points
        True difference of the two means.
    sigma : float, points
        True residual deviation of a run.
    models, runs : int
        A complete campaign. With one run nothing is ever sustained.

    Notes
    -----
    The residual sum of squares is split into the pair's own contrast, on ``n - 1`` degrees of
    freedom, and the rest; the normal power is averaged over both.

    Examples
    --------
    >>> round(sustained_power(6.0, 2.0, models=6, runs=5), 2)
    0.82
    """
    if sigma <= 0 or models < 2 or runs < 1:
        raise refuse(
            "no power to compute",
            "sigma",
            f"sigma {sigma}, {models} model(s), {runs} run(s)",
            "a positive sigma and two models",
        )
    if runs == 1:
        return 0.0
    df = (models - 1) * (runs - 1)
    own = _chi2_nodes(runs - 1)[:, None]
    rest = _chi2_nodes(df - (runs - 1)) if models > 2 else np.zeros(NODES)  # a pair alone
    residual = (own + rest) / df
    robust = (prior_df * residual + own) / (prior_df + runs - 1)
    first = studentized_range_quantile(confidence, models, df)
    second = studentized_range_quantile(confidence, models, min(prior_df + runs - 1, df))
    limit = np.maximum(first * np.sqrt(residual), second * np.sqrt(robust)) / math.sqrt(2)
    seen = special.ndtr(abs(difference) / (sigma * math.sqrt(2 / runs)) - limit)
    return float(_weights() @ seen @ _weights())


@lru_cache(maxsize=512)
def _chi2_nodes(df: int) -> NDArray[np.float64]:
    """Return chi-squared quantiles at the nodes of a quadrature over probability."""
    x, _ = np.polynomial.legendre.leggauss(NODES)
    nodes: NDArray[np.float64] = 2 * special.gammaincinv(df / 2, (x + 1) / 2)
    return nodes


@lru_cache(maxsize=1)
def _weights() -> NDArray[np.float64]:
    _, weight = np.polynomial.legendre.leggauss(NODES)
    weights: NDArray[np.float64] = weight / 2
    return weights
