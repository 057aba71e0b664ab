"""The examples in the docstrings of this room hold."""

import doctest
import importlib
from pathlib import Path

import pytest

import harness.stats

MODULES = sorted(p.stem for p in Path(harness.stats.__file__).parent.glob("[a-z]*.py"))


@pytest.mark.parametrize("name", MODULES)
def test_examples_hold(name: str) -> None:
    """What a docstring shows is what the function returns."""
    assert doctest.testmod(importlib.import_module(f"harness.stats.{name}")).failed == 0
