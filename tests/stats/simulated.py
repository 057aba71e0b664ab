"""Simulated campaigns: Bernoulli checks of a fixed suite, where only the runs are random.

A check passes with a logit of ability + difficulty + model × task + model × check + a shock of the
schedule (agentic tasks, common to all models) + a shock of the cell (which ties the checks of a
task together). Means are computed by quadrature, not by simulation: coverage is then held against
the truth itself. The models are invented.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy.special import expit

MAX_POINTS = np.array([24.0, 18, 20, 18, 18, 16, 18, 16, 16, 18, 18])
CHECKS = np.array([6, 4, 4, 6, 8, 7, 5, 19, 4, 5, 5])
AGENTIC = np.isin(np.arange(11), [0, 1, 2, 6])
TASK_OF_CHECK = np.repeat(np.arange(11), CHECKS)
WEIGHTS = np.repeat(MAX_POINTS / CHECKS, CHECKS)
SPREAD = np.eye(11)[TASK_OF_CHECK] * WEIGHTS[:, None]  # checks → points of their task

CODE_TASKS = (5, 9, 10)
CASCADE_KEEPS = 0.17

ABILITIES = 2.5 + 1.4 * np.array([2.6, 2.2, 2.0, 1.6, 1.2, 0.8])


@dataclass(frozen=True)
class Scenario:
    """How a suite and its models are drawn, and how noisy their runs are.

    twins : which drawn model each player is a copy of
    cascade : per player, the chance that a run loses most of one code task
    """

    abilities: np.ndarray = field(default_factory=lambda: ABILITIES)
    difficulty: float = 5.0
    model_task: float = 1.0
    model_check: float = 2.5
    schedule: float = 0.4
    cell: float = 0.5
    twins: tuple[int, ...] | None = None
    cascade: tuple[float, ...] | None = None


SCENARIOS = {
    "base6": Scenario(),
    "quiet6": Scenario(
        2.5 * ABILITIES + 22, difficulty=30, model_check=12, model_task=3, cell=0.3, schedule=0.3
    ),
    "sched6": Scenario(schedule=2.5),
    "base4": Scenario(ABILITIES[[0, 1, 3, 5]]),
    "ceiling6": Scenario(ABILITIES + 4.5),
    "cascade6": Scenario(ABILITIES + 1, cascade=(0, 0.15, 0.30, 0, 0.20, 0.10)),
    "hetero6": Scenario(
        ABILITIES + np.array([2.5, 0, 2.5, 0, 0, 2.5]), cascade=(0, 0.3, 0, 0.3, 0, 0)
    ),
    "clones6": Scenario(twins=(0, 0, 2, 2, 4, 4)),
    "null6": Scenario(twins=(2,) * 6),
}


class Suite:
    """One drawn suite with its models."""

    def __init__(self, scenario: Scenario, rng: np.random.Generator) -> None:
        models = len(scenario.abilities)
        logits = (
            scenario.abilities[:, None]
            + rng.normal(0, scenario.difficulty, 73)
            + rng.normal(0, scenario.model_task, (models, 11))[:, TASK_OF_CHECK]
            + rng.normal(0, scenario.model_check, (models, 73))
        )
        self.logits = logits if scenario.twins is None else logits[list(scenario.twins)]
        self.models = len(self.logits)
        self.scenario = scenario
        self.cascade = np.array(scenario.cascade or (0.0,) * self.models)

    def task_means(self) -> np.ndarray:
        """Return the expected points, shape (n_models, n_tasks)."""
        z, weight = np.polynomial.hermite_e.hermegauss(80)
        shock = np.hypot(self.scenario.cell, self.scenario.schedule * AGENTIC)[TASK_OF_CHECK]
        passes = expit(self.logits[..., None] + shock[:, None] * z) @ (weight / weight.sum())
        points = passes @ SPREAD
        lost = self.cascade[:, None] / len(CODE_TASKS) * (1 - CASCADE_KEEPS)
        points[:, CODE_TASKS] *= 1 - lost
        return points

    def campaigns(self, count: int, runs: int, rng: np.random.Generator) -> np.ndarray:
        """Return points, shape (count, n_models, n_tasks, n_runs)."""
        size = (count, self.models, runs)
        shocks = rng.normal(0, self.scenario.schedule, (count, 1, runs, 11)) * AGENTIC
        shocks = shocks + rng.normal(0, self.scenario.cell, (*size, 11))
        chance = expit(self.logits[None, :, None, :] + shocks[..., TASK_OF_CHECK])
        points = (rng.random(chance.shape) < chance) @ SPREAD
        hit = rng.random(size) < self.cascade[:, None]
        which = rng.choice(CODE_TASKS, size=size)
        for task in CODE_TASKS:
            points[..., task][hit & (which == task)] *= CASCADE_KEEPS
        return points.swapaxes(2, 3)
