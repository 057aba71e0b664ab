"""Pairs of models whose runs share no schedules."""

import math
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.intake import read, refuse
from harness.stats.means import (
    LATTICE_FLOOR,
    PRIOR_DF,
    pooled_sigma,
    shrink_variances,
    within_models,
)
from harness.stats.pairs import Gates, PairAnalysis
from harness.stats.quantiles import studentized_range_quantile


def unpaired_analysis(
    totals: ArrayLike,
    *,
    confidence: float = 0.95,
    prior_df: float = PRIOR_DF,
    floor: float = LATTICE_FLOOR,
) -> PairAnalysis:
    """Compare all pairs of models whose runs share no schedules.

    For campaigns of two versions of a schedule file. Where schedules are shared the analysis is
    paired, whatever pairing turned out to buy: choosing after seeing is selection.

    Parameters
    ----------
    totals : array of shape (n_models, n_runs), points
        NaN where a run has no total.

    Raises
    ------
    StatisticsError
        If there is one model, a model without a run, or no model with two runs.

    Notes
    -----
    First gate: Tukey–Kramer on the variance within models. Second gate: each model's shrunken
    variance, on ``d0 + n - 1`` degrees of freedom with n the smaller number of runs, never more
    than all models together hold.
    """
    y = read(totals, "totals", ndim=2)
    n, means, ss, df = within_models(y)
    if len(y) < 2 or not n.all():
        raise refuse(
            "no pair to compare", "totals", f"runs per model: {n.tolist()}", "two models with runs"
        )
    sigma = pooled_sigma(y, floor=floor)
    own = np.where(df > 0, ss / np.maximum(df, 1), 0.0)
    shrunk = np.array(shrink_variances(own, df, prior_df=prior_df, floor=floor))
    critical = studentized_range_quantile(confidence, len(y), sigma.df) / math.sqrt(2)
    gates = Gates(len(y), critical, confidence)
    pairs = tuple(
        gates.judge(
            (i, j),
            float(means[i] - means[j]),
            se=sigma.sd * math.sqrt(1 / n[i] + 1 / n[j]),
            robust_se=math.sqrt(shrunk[i] / n[i] + shrunk[j] / n[j]),
            robust_df=min(prior_df + float(min(n[i], n[j])) - 1, sigma.df),
        )
        for i, j in combinations(range(len(y)), 2)
    )
    return PairAnalysis(
        paired=False,
        means=tuple(means.tolist()),
        variance=sigma.sd**2,
        df=sigma.df,
        critical=pairs[0].half if len(set(n.tolist())) == 1 else None,
        pairs=pairs,
    )
