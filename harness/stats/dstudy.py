"""What more runs or more tasks would buy (D-study), from variance components."""

import math
from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import ArrayLike

from harness.errors import StatisticsError
from harness.stats.components import Components, g_study
from harness.stats.intake import read, refuse

FEW_MODELS = 12  # below this the model component has so few df that G and phi get a warning


@dataclass(frozen=True)
class DStudy:
    """A planned campaign of so many tasks and runs.

    relative, absolute, fixed_suite : error variances of a model's mean share. Relative: for
        comparing models over further tasks (U3); absolute: for its level; fixed_suite: for
        comparing models on this suite over further runs (U2)
    g, phi : relative and absolute coefficient; None when nothing varies at all
    ceiling_g, ceiling_se : the same with endless runs. Beyond it only new tasks help
    """

    tasks: float
    runs: float
    points: float
    relative: float
    absolute: float
    fixed_suite: float
    g: float | None
    phi: float | None
    ceiling_g: float | None
    ceiling_se: float
    warning: str

    @property
    def relative_se(self) -> float:
        """Standard error over further tasks and runs, points."""
        return self.points * math.sqrt(self.relative)

    @property
    def fixed_suite_se(self) -> float:
        """Standard error over further runs of this suite, points."""
        return self.points * math.sqrt(self.fixed_suite)


@dataclass(frozen=True)
class Bands:
    """Percentile bands of G and phi over resampled models; models are few, so they are wide."""

    g: tuple[float, float]
    phi: tuple[float, float]
    draws: int


def d_study(
    components: Components,
    *,
    tasks: float,
    runs: float,
    models: int,
    points: float = 200.0,
) -> DStudy:
    """Return errors and coefficients of a campaign of so many tasks and runs.

    Parameters
    ----------
    components : Components
        Truncated or REML; raw estimates with a negative component are refused, because they can
        give a G above 1.
    tasks : float
        May be an effective number, see `components.effective_tasks`.
    runs : float
        May be infinite.
    models : int
        How many models the components were estimated from; few earn a warning.
    points : float
        The maximum of the level, for standard errors in points.

    Examples
    --------
    >>> found = Components(0.004, 0.012, 0.0003, 0.010, 0.0002, 0.001, 0.006)
    >>> plan = d_study(found, tasks=11, runs=3, models=6)
    >>> round(plan.relative_se, 3), round(plan.fixed_suite_se, 3), round(plan.g, 3)
    (6.805, 3.153, 0.776)
    """
    _refuse_unusable(components, tasks, runs)
    c = components
    fixed = c.model_run / runs + c.error / (tasks * runs)
    relative = c.model_task / tasks + fixed
    absolute = relative + c.task / tasks + c.run / runs + c.task_run / (tasks * runs)
    endless = c.model_task / tasks
    return DStudy(
        tasks=tasks,
        runs=runs,
        points=points,
        relative=relative,
        absolute=absolute,
        fixed_suite=fixed,
        g=_share(c.model, relative),
        phi=_share(c.model, absolute),
        ceiling_g=_share(c.model, endless),
        ceiling_se=points * math.sqrt(endless),
        warning=(
            f"{models} models leave the model component {models - 1} degrees of freedom: "
            "G and phi are known only within wide limits"
            if models < FEW_MODELS
            else ""
        ),
    )


def d_study_bands(
    shares: ArrayLike,
    *,
    tasks: float,
    runs: float,
    rng: np.random.Generator,
    draws: int = 400,
    confidence: float = 0.95,
) -> Bands:
    """Return percentile bands of G and phi, models drawn again with replacement.

    Parameters
    ----------
    shares : array of shape (n_models, n_tasks, n_runs)
        Complete, so that a draw costs moments only.
    """
    cells = read(shares, "shares", ndim=3, complete=True)
    models = len(cells)
    coefficients = []
    for _ in range(draws):
        drawn = g_study(cells[rng.integers(models, size=models)]).used
        plan = d_study(drawn, tasks=tasks, runs=runs, models=models)
        if plan.g is not None and plan.phi is not None:
            coefficients.append((plan.g, plan.phi))
    if not coefficients:
        raise refuse("no bands", "shares", "nothing varies", "models that differ somewhere")
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    (g_low, phi_low), (g_high, phi_high) = np.quantile(coefficients, tails, axis=0).tolist()
    return Bands(g=(g_low, g_high), phi=(phi_low, phi_high), draws=draws)


def _share(model: float, error: float) -> float | None:
    return model / (model + error) if model + error > 0 else None


def _refuse_unusable(components: Components, tasks: float, runs: float) -> None:
    if tasks <= 0 or runs <= 0:
        raise refuse("no such campaign", "plan", f"{tasks} tasks, {runs} runs", "at least one each")
    if min(astuple(components)) < 0:
        c = components
        error = c.model_task / tasks + c.model_run / runs + c.error / (tasks * runs)
        names = ", ".join(name for name, value in vars(c).items() if value < 0)
        raise _untruncated(names, c.model / (c.model + error) if c.model + error else math.nan)


def _untruncated(names: str, g: float) -> StatisticsError:
    return refuse(
        "a D-study from negative components",
        "components",
        f"{names} below 0; G would be {g:.7f}",
        "use the truncated or REML components; the raw ones are for printing",
    )
