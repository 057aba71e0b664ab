"""Which processes are below one, from the kernel's own listing. Used on both sides."""
# Pathlib would cost every start its import.
# ruff: noqa: PTH123, PTH208

import os
from contextlib import suppress


def descendants(root: int) -> list[int]:
    """Return the processes below one, as far as they are there at this moment."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                parent = int(file.read().rpartition(b")")[2].split()[1])
                children.setdefault(parent, []).append(int(name))
    found: list[int] = []
    waiting = [root]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found
