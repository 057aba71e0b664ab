"""Which cells share a level of which factor: the similarity matrices of a variance component."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[np.int64]

# component → axes (0 model, 1 task, 2 run) on which two cells must agree
CROSSED = {
    "model": (0,),
    "task": (1,),
    "run": (2,),
    "model_task": (0, 1),
    "model_run": (0, 2),
    "task_run": (1, 2),
    "error": (0, 1, 2),
}
NESTED = ("model", "task", "model_task", "model_run", "error")


@dataclass(frozen=True, eq=False)
class Kernels:
    """One label array per component; two cells with equal labels share that effect.

    axes : per component, the axes that make its label
    cells : shape (n_cells, 3), positions of model, task and run
    """

    names: tuple[str, ...]
    axes: tuple[tuple[int, ...], ...]
    labels: tuple[Labels, ...]
    cells: Labels
    shape: tuple[int, ...]

    def joint(self, a: int, b: int) -> Labels:
        """Return labels of cells that share both effects."""
        return _label(self.cells, self.shape, tuple(sorted({*self.axes[a], *self.axes[b]})))

    def incidence(self, a: int) -> NDArray[np.float64]:
        """Return the matrix of shape (n_cells, n_levels) that spreads an effect over its cells."""
        return np.eye(int(self.labels[a].max()) + 1)[self.labels[a]]


def kernels(cells: Labels, shape: tuple[int, ...], *, nested: bool) -> Kernels:
    """Return the components of a model × task × run design, runs common or nested in models."""
    names = tuple(name for name in CROSSED if not nested or name in NESTED)
    axes = tuple(CROSSED[name] for name in names)
    return Kernels(names, axes, tuple(_label(cells, shape, a) for a in axes), cells, shape)


def _label(cells: Labels, shape: tuple[int, ...], axes: tuple[int, ...]) -> Labels:
    index = np.ravel_multi_index(
        tuple(cells[:, axis] for axis in axes), tuple(shape[axis] for axis in axes)
    )
    return np.unique(index, return_inverse=True)[1].reshape(-1)
