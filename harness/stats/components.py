"""Variance components of share = model × task × run: where differences come from (G-study)."""

import math
from dataclasses import astuple, dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.intake import Array, read, refuse
from harness.stats.kernels import Kernels, kernels
from harness.stats.reml import reml

Method = Literal["moments", "reml"]

# REML inverts a matrix with one row per cell; above this the moment equations, which cost a pass
# over the cells, are used alone, and the result says so.
MOST_REML_CELLS = 1_000


@dataclass(frozen=True)
class Components:
    """Variances of shares of a task's points, in the order m, t, r, mt, mr, tr, e."""

    model: float
    task: float
    run: float
    model_task: float
    model_run: float
    task_run: float
    error: float

    def truncated(self) -> "Components":
        """Return the same with 0 in place of every negative estimate."""
        return Components(*(max(value, 0.0) for value in astuple(self)))

    @property
    def indistinct(self) -> tuple[str, ...]:
        """Names whose estimate is not positive: not distinguishable from 0, which is not 0."""
        return tuple(name for name, value in vars(self).items() if value <= 0)


@dataclass(frozen=True)
class GStudy:
    """Variance components of one level.

    raw : moment estimates, possibly negative: expected with few models and runs, and printed
    used : moment estimates truncated at 0, or REML as soon as a cell is missing
    merged : components that this design cannot tell apart, held by another one and 0 here
    """

    raw: Components
    used: Components
    method: Method
    models: int
    tasks: int
    runs: int
    missing: int
    merged: tuple[str, ...]


def g_study(shares: ArrayLike, *, nested: bool = False) -> GStudy:
    """Estimate the components of model, task, run and their interactions.

    Answers "is the noise in the runs or in the choice of tasks?". The components belong to this
    set of models as much as to the suite.

    Parameters
    ----------
    shares : array of shape (n_models, n_tasks, n_runs), shares of each task's points
        NaN where a cell is missing for a reason that does not depend on the score: an instrument
        cut is missing, a model's own timeout is a score.
    nested : bool
        True when runs share no schedule between models: run merges into model × run, and
        task × run into the residual.

    Raises
    ------
    StatisticsError
        With one model, one task or one run, or when the missing cells leave a component
        undetermined.

    Notes
    -----
    Moments: the equations ``tr(P K_a P K_b) v = y'P K_a P y`` with ``P = I - J/N``; on complete
    data they are the mean-square formulas. REML: see `reml.reml`.
    """
    cells = read(shares, "shares", ndim=3)
    models, tasks, runs = cells.shape
    seen = np.argwhere(~np.isnan(cells))
    if min(models, tasks, runs) < 2 or any(len(set(axis)) < 2 for axis in seen.T.tolist()):
        raise refuse(
            "components need two of everything",
            "shares",
            f"{models} model(s), {tasks} task(s), {runs} run(s)",
            "two models and two runs of two tasks at least",
        )
    y = cells[tuple(seen.T)]
    basis = kernels(seen, cells.shape, nested=nested)
    raw = moment_equations(y, basis)
    missing = cells.size - y.size
    use_reml = bool(missing) and y.size <= MOST_REML_CELLS
    used = reml(y, basis, start=raw) if use_reml else np.maximum(raw, 0.0)
    return GStudy(
        raw=_named(raw, basis),
        used=_named(used, basis),
        method="reml" if use_reml else "moments",
        models=models,
        tasks=tasks,
        runs=runs,
        missing=missing,
        merged=("run", "task_run") if nested else (),
    )


def reml_components(shares: ArrayLike, *, nested: bool = False) -> Components:
    """Return the REML components, also where no cell is missing (as a check of the moments)."""
    cells = read(shares, "shares", ndim=3)
    seen = np.argwhere(~np.isnan(cells))
    y = cells[tuple(seen.T)]
    basis = kernels(seen, cells.shape, nested=nested)
    return _named(reml(y, basis, start=moment_equations(y, basis)), basis)


def moment_equations(y: Array, basis: Kernels) -> Array:
    """Solve the moment equations for the components of the basis; values may be negative."""
    rows = len(y)
    sizes = [np.bincount(label) for label in basis.labels]
    reach = [size[label] for size, label in zip(sizes, basis.labels, strict=True)]
    total = [float(r.sum()) for r in reach]
    count = len(basis.labels)
    left = np.empty((count, count))
    for a in range(count):
        for b in range(count):
            joint = np.bincount(basis.joint(a, b))
            left[a, b] = (
                float((joint.astype(float) ** 2).sum())
                - 2 / rows * float(reach[a] @ reach[b])
                + total[a] * total[b] / rows**2
            )
    centred = y - y.mean()
    sums = [np.bincount(label, weights=centred) for label in basis.labels]
    right = np.array([float(s @ s) for s in sums])
    if np.linalg.matrix_rank(left / np.sqrt(np.outer(left.diagonal(), left.diagonal()))) < count:
        raise refuse(
            "the missing cells leave a component undetermined",
            "shares",
            f"{rows} cells for {count} components",
            "complete a second run of several tasks, or treat runs as nested in models",
        )
    solved: Array = np.linalg.solve(left, right)
    return solved


def _named(values: Array, basis: Kernels) -> Components:
    found = dict(zip(basis.names, values.tolist(), strict=True))
    return Components(*(found.get(name, 0.0) for name in Components.__dataclass_fields__))


def effective_tasks(max_points: ArrayLike) -> float:
    """Return how many equal tasks weigh as these do: ``(sum P)² / sum P²``.

    Examples
    --------
    >>> round(effective_tasks([24, 18, 20, 18, 18, 16, 18, 16, 16, 18, 18]), 7)
    10.845987
    """
    most = read(max_points, "max_points", ndim=1, complete=True)
    return math.fsum(most.tolist()) ** 2 / math.fsum((most**2).tolist())
