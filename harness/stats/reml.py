"""Restricted maximum likelihood for variance components, for any pattern of missing cells."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import nnls

from harness.stats.intake import Array, refuse
from harness.stats.kernels import Kernels

ROUNDS = 500
TOLERANCE = 1e-9  # relative change of the components' sum
SMALLEST = 1e-9  # of the data's variance: the residual stays above it, or nothing can be inverted


def reml(y: Array, basis: Kernels, *, start: Array) -> Array:
    """Return the components, none negative, that maximise the restricted likelihood.

    Parameters
    ----------
    y : array of shape (n_cells,)
    basis : Kernels
        Its last component is the residual.
    start : array of shape (n_components,)
        Where to begin, such as the moment estimates; negative values are lifted.

    Raises
    ------
    StatisticsError
        If the components do not settle.

    Notes
    -----
    Each round solves the moment equations ``tr(P K_a P K_b) v = y'P K_a P y`` for v >= 0 with the
    P of the present components, and halves the step while the likelihood falls. A point it leaves
    alone satisfies the likelihood equations, with v = 0 where the likelihood would rather have a
    negative component.
    """
    scale = float(y.var())
    if scale == 0:  # all cells agree: nothing varies, and there is nothing to share out
        return np.zeros(len(basis.names))
    spread = [basis.incidence(a) for a in range(len(basis.names) - 1)]
    fit = _Fit((y - y.mean()) / np.sqrt(scale), spread)
    v = np.maximum(start / scale, 1e-3)
    state = fit.at(v)
    before, share = np.zeros_like(v), 1.0
    for _ in range(ROUNDS):
        way = _towards(v, state)
        # A round that turns back has gone too far before: without this it may swing for ever.
        share = max(share / 2, 1 / 8) if way @ before < 0 else min(2 * share, 1.0)
        moved = _step(fit, v, way, share, state)
        if moved is None or float(np.abs(moved[0] - v).sum()) <= TOLERANCE * float(v.sum()):
            return v * scale
        v, state, before = *moved, way
    raise refuse(
        "variance components do not settle",
        "shares",
        f"still moving after {ROUNDS} rounds",
        "read the moment estimates",
    )


def _towards(v: Array, state: "_State") -> Array:
    """Return the way from v to the solution of the moment equations."""
    target = _solve_nonnegative(state.left, state.right)
    target[-1] = max(target[-1], SMALLEST)
    return target - v


def _step(
    fit: "_Fit", v: Array, way: Array, share: float, state: "_State"
) -> tuple[Array, "_State"] | None:
    """Return the next components, or None when no part of the way keeps the likelihood."""
    while share > 1e-8:
        candidate = v + share * way
        reached = fit.at(candidate)
        if reached.likelihood >= state.likelihood - 1e-13 * abs(state.likelihood):
            return candidate, reached
        share /= 2
    return None


def _solve_nonnegative(left: Array, right: Array) -> Array:
    """Minimise ``v'Av/2 - v'b`` over v >= 0."""
    scale = 1 / np.sqrt(left.diagonal())
    root = np.linalg.cholesky(left * np.outer(scale, scale) + 1e-14 * np.eye(len(left)))
    solution, _ = nnls(root.T, np.linalg.solve(root, right * scale))
    return np.asarray(solution * scale, dtype=float)


@dataclass(frozen=True, eq=False)
class _State:
    """Likelihood and moment equations at one point."""

    likelihood: float
    left: Array
    right: Array


class _Fit:
    def __init__(self, y: Array, spread: list[Array]) -> None:
        self._y = y
        self._spread = spread
        self._all = np.hstack(spread)
        self._ends = np.cumsum([0, *(z.shape[1] for z in spread)])

    def at(self, v: Array) -> _State:
        """Evaluate at the components v, the residual last."""
        rows = len(self._y)
        weights = np.repeat(v[:-1], np.diff(self._ends))
        cover = (self._all * weights) @ self._all.T + v[-1] * np.eye(rows)
        factor = cho_factor(cover, lower=True)
        inverse = cho_solve(factor, np.eye(rows))
        row_sums = inverse.sum(axis=1)
        total = float(row_sums.sum())
        p = inverse - np.outer(row_sums, row_sums) / total
        py = p @ self._y
        log_det = 2 * float(np.log(np.diag(factor[0])).sum())
        likelihood = -0.5 * (log_det + np.log(total) + float(self._y @ py))
        return _State(likelihood, *self._equations(p, py))

    def _equations(self, p: Array, py: Array) -> tuple[Array, Array]:
        pz = p @ self._all
        parts = [slice(a, b) for a, b in zip(self._ends[:-1], self._ends[1:], strict=True)]
        count = len(parts) + 1
        left = np.empty((count, count))
        right = np.empty(count)
        squares = (self._all.T @ pz) ** 2
        for a, part in enumerate(parts):
            for b, other in enumerate(parts):
                left[a, b] = squares[part, other].sum()
            left[a, -1] = left[-1, a] = (pz[:, part] ** 2).sum()
            right[a] = ((self._spread[a].T @ py) ** 2).sum()
        left[-1, -1] = (p**2).sum()
        right[-1] = (py**2).sum()
        return left, right
