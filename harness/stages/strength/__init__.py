"""The deep validation: mutants of everything between an observation and its points."""

from harness.stages.strength.measure import Plays, strength
from harness.stages.strength.published import below_bar, publish

__all__ = ["Plays", "below_bar", "publish", "strength"]
