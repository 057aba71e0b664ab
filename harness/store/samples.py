"""`metrics.csv`: rows are added one by one, and no crash and no full disk spoils those before."""

import csv
import errno
import io
import os
from datetime import datetime
from pathlib import Path

from pydantic import ValidationError

from harness.errors import Problem, StoreError
from harness.records.sample import Sample

COLUMNS = tuple(Sample.model_fields)
HEADER = (",".join(COLUMNS) + "\n").encode("ascii")
DECIMALS = 2  # of watts, degrees and percent
TAIL_BYTES = 8192  # many times one row


def append(path: Path, sample: Sample) -> None:
    """Add one row; the heading stands once, however often a campaign is resumed.

    A row that was torn, by a kill or a full disk, is cut off first: half a number looks like one.

    Raises
    ------
    OSError
        If the disk is full, or the folder cannot be written.
    StoreError
        If the file has other columns than this version writes.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        line = _line(sample)
        if _has_heading(descriptor, path):
            _cut_off_a_torn_row(descriptor)
        else:
            line = HEADER + line
        if os.write(descriptor, line) < len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
    finally:
        os.close(descriptor)


def _has_heading(descriptor: int, path: Path) -> bool:
    """Tell a file that was begun from an empty one; a torn heading is cut off.

    Raises
    ------
    StoreError
        If it has other columns.
    """
    found = os.pread(descriptor, len(HEADER), 0)
    if found == HEADER:
        return True
    if not HEADER.startswith(found):
        raise StoreError(
            "samples of two versions do not go into one file",
            [Problem(str(path), "has another heading", "move it away; a new one is begun")],
        )
    os.ftruncate(descriptor, 0)
    return False


def read(path: Path) -> list[Sample]:
    """Return the rows in the order in which they were written.

    A last row without its end, and what is no row, is left out: a crash may leave either.
    """
    return _samples(path.read_bytes()) if path.is_file() else []


def last(path: Path) -> Sample | None:
    """Return the row that was written last; None where there is none. It reads the end alone."""
    if not path.is_file():
        return None
    with path.open("rb") as file:
        heading = file.readline()
        start = max(len(heading), path.stat().st_size - TAIL_BYTES)
        file.seek(start)
        found = _samples(heading + file.read())
    return found[-1] if found else None


def _samples(data: bytes) -> list[Sample]:
    heading, *lines = data.split(b"\n")
    columns = heading.decode("utf-8", errors="replace").split(",")
    if not set(columns) <= set(COLUMNS):
        return []
    found = (_sample(columns, line) for line in lines[:-1])
    return [sample for sample in found if sample is not None]


def _cut_off_a_torn_row(descriptor: int) -> None:
    """Shorten a file to the end of its last whole line; the heading is one and was seen."""
    size = os.fstat(descriptor).st_size
    if os.pread(descriptor, 1, size - 1) != b"\n":
        ends = os.pread(descriptor, size, 0).rindex(b"\n") + 1
        os.ftruncate(descriptor, ends)


def _line(sample: Sample) -> bytes:
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow([_field(getattr(sample, name)) for name in COLUMNS])
    return target.getvalue().encode("utf-8")


def _field(value: object) -> str:
    match value:
        case None:
            return ""
        case datetime():
            return value.isoformat(timespec="milliseconds")
        case float():
            return str(round(value, DECIMALS))
        case _:
            return str(value)


def _sample(columns: list[str], line: bytes) -> Sample | None:
    try:
        (fields,) = csv.reader([line.decode("utf-8")])
        told = {name: text for name, text in zip(columns, fields, strict=True) if text}
        return Sample.model_validate(told)
    except (ValueError, csv.Error, ValidationError):
        return None
