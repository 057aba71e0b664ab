"""A task's own file is run by its present text."""

import os
from pathlib import Path

from harness.suite.source import load_source


def test_an_edit_of_equal_size_within_the_same_second_is_run(tmp_path: Path) -> None:
    """Bytecode caches go by size and second; the text decides here (the kind of G075)."""
    path = tmp_path / "grader.py"
    path.write_text("POINTS = 1\n")
    first = load_source(path, "a")
    times = path.stat()
    path.write_text("POINTS = 2\n")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert (first.POINTS, load_source(path, "a").POINTS) == (1, 2)
    assert not (tmp_path / "__pycache__").exists()
