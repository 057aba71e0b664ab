"""The weights of the model that comes next, read from the disk while another one answers.

What was read lies in the memory that the operating system has to spare, so the server that comes
next finds it there: a run begins sooner by the time the disk takes.
"""

import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from harness.backends.hardware import memory_available_bytes

CHUNK = 4 * 2**20  # bytes; one is read in milliseconds, and the interpreter is free meanwhile
ROOM = 2  # times the files: the weights that are served now may lie there too


def read_ahead(files: Sequence[Path]) -> threading.Thread | None:
    """Begin to read files, if there is memory for them and as much again; return who reads.

    A file that cannot be read is left to the start of its server, which says what is wrong.
    """
    with suppress(OSError):
        size = sum(file.stat().st_size for file in files)
        if 0 < size * ROOM <= memory_available_bytes():
            # A daemon: whoever ends the campaign does not wait for a disk.
            thread = threading.Thread(target=_read, args=(files,), daemon=True)
            thread.start()
            return thread
    return None


def _read(files: Sequence[Path]) -> None:
    chunk = bytearray(CHUNK)
    with suppress(OSError):
        for file in files:
            with file.open("rb", buffering=0) as weights:
                while weights.readinto(chunk):
                    pass
