"""Which of two models is sustained above the other, for all pairs at once."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness.stats.intake import Array, read, refuse
from harness.stats.interval import Interval, t_interval
from harness.stats.means import LATTICE_FLOOR, PRIOR_DF
from harness.stats.multiple import holm, max_t_quantile
from harness.stats.noise import SAME
from harness.stats.quantiles import studentized_range_quantile
from harness.stats.twoway import TwoWay, fit_two_way

Verdict = Literal[
    "sustained",  # both gates passed
    "fragile",  # separated by the pooled residual, not by this pair's own shrunken variance
    "tied",  # not separated at this resolution, which is no proof of equality
    "unlinked",  # no chain of common schedules joins the two: there is no difference to judge
]


@dataclass(frozen=True)
class Pair:
    """Two models, by position; the difference is first minus second, in points.

    half : half-width of the simultaneous interval (all pairs at once) from the pooled residual
    shrunk_half : the same from the pair's own shrunken variance, the second gate
    shrunk : interval of this pair alone, shrunken variance
    own : interval of this pair alone from its own differences; None with fewer than two common
        runs, when they all agree, and in an unpaired analysis
    p : of no difference, for this pair alone, from its shrunken variance; for a declared list
    """

    first: int
    second: int
    common_runs: int
    difference: float | None
    half: float | None
    shrunk_half: float | None
    shrunk: Interval | None
    own: Interval | None
    p: float | None
    verdict: Verdict

    @property
    def separated(self) -> bool:
        """True when the first gate holds, robust or not."""
        return self.verdict in ("sustained", "fragile")


@dataclass(frozen=True)
class PairAnalysis:
    """All pairs of models.

    means : adjusted for schedules a model did not meet; plain means on complete data
    variance, df : what the first gate is built on
    critical : smallest observed gap that counts in an all-pairs comparison; None when pairs have
        different ones
    """

    paired: bool
    means: tuple[float, ...]
    variance: float
    df: float
    critical: float | None
    pairs: tuple[Pair, ...]

    def above(self, *, robust: bool = False) -> np.ndarray:
        """Return a boolean matrix: entry (i, j) says that model i is separated above model j.

        robust : True to count pairs that pass the second gate too, leaving fragile ones out.
        """
        matrix = np.zeros((len(self.means), len(self.means)), dtype=bool)
        for pair in self.pairs:
            if pair.difference is not None and pair.separated:
                if robust and pair.verdict == "fragile":
                    continue
                up = pair.difference > 0
                matrix[(pair.first, pair.second) if up else (pair.second, pair.first)] = True
        return matrix

    def declared(self, chosen: Sequence[tuple[int, int]]) -> tuple[float, ...]:
        """Return Holm's p values of a short list of pairs declared before the scores were seen.

        Such as each model against the incumbent; a pair may be named in either order.
        """
        known = {frozenset((pair.first, pair.second)): pair for pair in self.pairs}
        found = [p for pair in chosen if (p := known[frozenset(pair)].p) is not None]
        if len(found) < len(chosen):
            raise refuse(
                "a declared pair without a difference",
                "pairs",
                f"{len(chosen) - len(found)} of {len(chosen)} are joined by no common schedules",
                "complete a run both models share",
            )
        return holm(found)


def paired_analysis(
    totals: ArrayLike,
    *,
    rng: np.random.Generator,
    confidence: float = 0.95,
    prior_df: float = PRIOR_DF,
    floor: float = LATTICE_FLOOR,
) -> PairAnalysis:
    """Compare all pairs of models within run number.

    Answers "which order would survive further schedules of this kind?". Only totals of one
    schedule file may stand in one column: runs never pair across two versions of it.

    Parameters
    ----------
    totals : array of shape (n_models, n_runs), points
        NaN where a run has no total.
    rng : numpy Generator
        Drawn from only when totals are missing: the simultaneous quantile is then simulated.
    confidence : float in (0, 1), default 0.95
        Joint confidence of all pairs.

    Raises
    ------
    StatisticsError
        If there is one model, a model without a run, or no common second run.

    Notes
    -----
    First gate: Tukey on the two-way residual, ``|d| > q(confidence, M, df) / sqrt(2) * SE``, with
    the max-T quantile in its place when covariances are uneven. Second gate: the pair's variance
    ``(d0 * 2 MS_e + (n - 1) s_d²) / (d0 + n - 1)`` on ``d0 + n - 1`` degrees of freedom, never more
    than the residual holds.

    Examples
    --------
    >>> w = [[171, 166, 176], [168, 160, 171], [150, 147, 159], [149, 141, 151]]
    >>> analysis = paired_analysis(w, rng=np.random.default_rng(1))
    >>> round(analysis.critical, 4), [pair.verdict for pair in analysis.pairs]
    (4.6872, ['tied', 'sustained', 'sustained', 'sustained', 'sustained', 'fragile'])
    """
    y = read(totals, "totals", ndim=2)
    fit = fit_two_way(y, floor=floor)
    chosen = [(i, j) for i, j in _all_pairs(len(y)) if fit.groups[i] == fit.groups[j]]
    if fit.balanced:
        critical = studentized_range_quantile(confidence, len(y), fit.df_error) / math.sqrt(2)
    else:
        critical = max_t_quantile(fit.covariance, chosen, fit.df_error, p=confidence, rng=rng)
    gates = Gates(len(y), critical, confidence)
    judged = dict(zip(chosen, _paired(y, fit, chosen, gates, prior_df), strict=True))
    pairs = tuple(judged.get(pair) or unlinked(*pair) for pair in _all_pairs(len(y)))
    return PairAnalysis(
        paired=True,
        means=tuple(fit.effects.tolist()),
        variance=fit.error_variance,
        df=fit.df_error,
        critical=pairs[0].half if fit.balanced else None,
        pairs=pairs,
    )


@dataclass(frozen=True)
class Gates:
    """What every pair of an analysis is held against; critical counts standard errors."""

    models: int
    critical: float
    confidence: float

    def judge(
        self,
        pair: tuple[int, int],
        difference: float,
        *,
        se: float,
        robust_se: float,
        robust_df: float,
        common_runs: int = 0,
        own: Interval | None = None,
    ) -> Pair:
        """Put one difference through both gates."""
        half = self.critical * se
        robust = studentized_range_quantile(self.confidence, self.models, robust_df)
        shrunk_half = robust / math.sqrt(2) * robust_se
        verdict: Verdict = "tied"
        if abs(difference) > half:
            verdict = "sustained" if abs(difference) > shrunk_half else "fragile"
        shrunk = t_interval(difference, robust_se, robust_df, confidence=self.confidence)
        p = 2 * float(special.stdtr(robust_df, -abs(difference) / robust_se))
        return Pair(*pair, common_runs, difference, half, shrunk_half, shrunk, own, p, verdict)


def unlinked(first: int, second: int) -> Pair:
    """Return the pair that no chain of common schedules joins."""
    return Pair(first, second, 0, None, None, None, None, None, None, "unlinked")


def _all_pairs(models: int) -> list[tuple[int, int]]:
    return list(combinations(range(models), 2))


def _paired(
    y: Array, fit: TwoWay, chosen: list[tuple[int, int]], gates: Gates, prior_df: float
) -> list[Pair]:
    first, second = np.array(chosen).T
    differences = y[first] - y[second]
    common = (~np.isnan(differences)).sum(axis=1)
    own_df = np.maximum(common - 1, 0)
    mean = np.nansum(differences, axis=1) / np.maximum(common, 1)
    own = np.nansum((differences - mean[:, None]) ** 2, axis=1) / np.maximum(own_df, 1)
    shrunk = (prior_df * 2 * fit.error_variance + own_df * own) / (prior_df + own_df)
    # c'(X'X)⁻c, which is 2 / n on complete data
    spread = np.diag(fit.covariance)
    factor = spread[first] + spread[second] - 2 * fit.covariance[first, second]
    columns = zip(
        chosen,
        (fit.effects[first] - fit.effects[second]).tolist(),
        np.sqrt(fit.error_variance * factor).tolist(),
        np.sqrt(shrunk / 2 * factor).tolist(),
        common.tolist(),
        mean.tolist(),
        own.tolist(),
        strict=True,
    )
    return [
        gates.judge(
            pair,
            difference,
            se=se,
            robust_se=robust_se,
            robust_df=min(prior_df + max(runs - 1, 0), fit.df_error),
            common_runs=runs,
            own=_own(own_mean, own_variance, runs, gates.confidence),
        )
        for pair, difference, se, robust_se, runs, own_mean, own_variance in columns
    ]


def _own(mean: float, variance: float, runs: int, confidence: float) -> Interval | None:
    if runs < 2 or variance <= SAME**2:
        return None
    return t_interval(mean, math.sqrt(variance / runs), runs - 1, confidence=confidence)
