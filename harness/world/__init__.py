"""Step 4: the simulated environment of agent tasks.

What a task's `world.py` needs stands in `__all__`; it imports nothing else of ours but
`harness.suite.forms`. Simulated means simulated: the only part that runs anything is
`suites.py`, which runs tests in the sandbox.
"""

from harness.records.world import Step, Table, WorldEvent, WorldState
from harness.world.scene import Case, Price, Scene, Tariff, Trigger
from harness.world.world import World

__all__ = [
    "Case",
    "Price",
    "Scene",
    "Step",
    "Table",
    "Tariff",
    "Trigger",
    "World",
    "WorldEvent",
    "WorldState",
]
