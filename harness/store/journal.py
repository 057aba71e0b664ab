"""The append-only event log of a campaign."""

import errno
import os
from pathlib import Path

from pydantic import ValidationError

from harness.errors import Problem, StoreError
from harness.records.base import canonical_json
from harness.records.campaign import JournalEvent


def append(path: Path, event: JournalEvent) -> None:
    """Add one line. A single write, so that a kill leaves a whole line or a torn last one.

    A line that was torn, by a kill or a full disk, is ended first: it costs no other event.

    Raises
    ------
    OSError
        If the disk is full.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        size = os.fstat(descriptor).st_size
        torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
        line = (b"\n" if torn else b"") + canonical_json(event) + b"\n"
        if os.write(descriptor, line) < len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
    finally:
        os.close(descriptor)


def read(path: Path) -> list[JournalEvent]:
    """Return the events; torn lines, left by a kill or a full disk, are skipped.

    Raises
    ------
    StoreError
        If a whole line is no event that this version knows.
    """
    if not path.is_file():
        return []
    events = []
    for line in path.read_bytes().split(b"\n"):
        if line:
            try:
                events.append(JournalEvent.model_validate_json(line))
            except ValidationError as error:
                if not _is_torn(error):
                    raise StoreError(
                        "a line of the journal cannot be read",
                        [Problem(str(path), str(error), "use the version that wrote it")],
                    ) from error
    return events


def _is_torn(error: ValidationError) -> bool:
    """Tell a line that is no JSON from one that says what this version does not know."""
    return all(finding["type"] == "json_invalid" for finding in error.errors())
