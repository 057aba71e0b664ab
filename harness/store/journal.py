"""The append-only event log of a campaign."""

import os
from pathlib import Path

from harness.records.base import canonical_json
from harness.records.campaign import JournalEvent


def append(path: Path, event: JournalEvent) -> None:
    """Add one line. A single write, so that a kill leaves a whole line or a torn last one."""
    line = canonical_json(event) + b"\n"
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(descriptor, line)
    finally:
        os.close(descriptor)


def read(path: Path) -> list[JournalEvent]:
    """Return the events; a torn last line, left by a kill, is skipped."""
    if not path.is_file():
        return []
    lines = path.read_bytes().split(b"\n")
    whole, rest = lines[:-1], lines[-1]
    events = [JournalEvent.model_validate_json(line) for line in whole if line]
    if rest:
        try:
            events.append(JournalEvent.model_validate_json(rest))
        except ValueError:
            return events
    return events
