"""Many comparisons at once: Holm for a short declared list, max-T for uneven covariances."""

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.intake import Array, read, refuse

DRAWS = 100_000  # Monte-Carlo error of the coverage: 0.07 points at 95 %
CHUNK = 5_000


def holm(p_values: ArrayLike) -> tuple[float, ...]:
    """Return Holm's adjusted p values, in the order given.

    For a list that was declared before the scores were seen, such as "each against the incumbent";
    all pairs are judged by the studentized range instead.

    Examples
    --------
    >>> [round(p, 6) for p in holm([0.001, 0.012, 0.020, 0.041, 0.30, 0.04])]
    [0.006, 0.06, 0.08, 0.12, 0.3, 0.12]
    """
    p = read(p_values, "p_values", ndim=1, complete=True)
    if (p < 0).any() or (p > 1).any():
        raise refuse("no p values", "p_values", f"{p.tolist()}", "probabilities in [0, 1]")
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1.0)
    return tuple(adjusted.tolist())


def max_t_quantile(
    covariance: Array,
    pairs: list[tuple[int, int]],
    df: float,
    *,
    p: float = 0.95,
    rng: np.random.Generator,
    draws: int = DRAWS,
) -> float:
    """Return the p quantile of the largest absolute t among the given pairs of models.

    Parameters
    ----------
    covariance : array of shape (n_models, n_models)
        Covariance of the model effects up to a factor.
    pairs : model positions (i, j)
    df : float
        Degrees of freedom of the residual variance that all pairs share.

    Notes
    -----
    In the units of a t quantile: with equal covariances it is the studentized range quantile
    divided by the square root of 2.
    """
    values, vectors = np.linalg.eigh(covariance)
    # The symmetric root is unique, which the eigenvectors are not: the same draws then give the
    # same quantile on every machine.
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    first, second = np.array(pairs).T
    contrast = root[first] - root[second]
    contrast /= np.linalg.norm(contrast, axis=1, keepdims=True)
    largest = []
    for start in range(0, draws, CHUNK):
        size = min(CHUNK, draws - start)
        z = np.abs(rng.standard_normal((size, len(root))) @ contrast.T).max(axis=1)
        largest.append(z / np.sqrt(rng.chisquare(df, size) / df))
    return float(np.quantile(np.concatenate(largest), p))
