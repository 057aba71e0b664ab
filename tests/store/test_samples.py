"""`metrics.csv`: what is written is read, and no crash, resume or full disk spoils it."""

import csv
import errno
import os
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from harness.errors import StoreError
from harness.records.sample import Sample
from harness.store import samples

TEN = datetime(2026, 11, 30, 22, 0, tzinfo=UTC)


def row(seconds: float, **fields: object) -> Sample:
    return Sample.model_validate({"at": TEN + timedelta(seconds=seconds), **fields})


FULL = row(
    0.25,
    cpu_percent=12.5,
    memory_bytes=3 * 2**30,
    gpu_percent=99.0,
    gpu_memory_bytes=20 * 2**30,
    gpu_watts=1234567.25,
    cpu_watts=40.5,
    battery_watts=0.0,
    gpu_celsius=71.0,
    cpu_celsius=55.0,
    model="qwen3-8b.q4",
    run=2,
    task="A01 A03",
    calls=17,
    prompt_tokens=120_000,
    written_tokens=0,
    faults=1,
)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """Every field, and a zero that was measured stays one."""
    path = tmp_path / "metrics.csv"
    samples.append(path, FULL)
    samples.append(path, row(5))
    assert samples.read(path) == [FULL, row(5)]
    assert samples.last(path) == row(5)
    assert FULL.tasks == ("A01", "A03")


def test_what_is_not_readable_is_an_empty_field_and_never_a_zero(tmp_path: Path) -> None:
    """Read by another program: the csv module alone."""
    path = tmp_path / "metrics.csv"
    samples.append(path, row(0, cpu_percent=0.0))
    with path.open(newline="") as file:
        (found,) = csv.DictReader(file)
    assert found["at"] == "2026-11-30T22:00:00.000+00:00"
    assert found["cpu_percent"] == "0.0"
    for name in ("gpu_watts", "cpu_watts", "memory_bytes", "model", "written_tokens"):
        assert found[name] == "", name


def test_the_heading_stands_once(tmp_path: Path) -> None:
    """Each append opens the file anew, as a resume does."""
    path = tmp_path / "metrics.csv"
    for n in range(3):
        samples.append(path, row(5 * n))
    assert path.read_bytes().count(b"cpu_percent") == 1
    assert len(samples.read(path)) == 3


@pytest.mark.parametrize("kept", [1, 10, -2, -1])
def test_a_torn_row_is_no_row_and_costs_no_other(tmp_path: Path, kept: int) -> None:
    """Half a number is no number: not to a reader now, and not after the next append."""
    path = tmp_path / "metrics.csv"
    samples.append(path, row(0, faults=12))
    whole = path.read_bytes()
    samples.append(path, row(5, faults=345))
    second = path.read_bytes()[len(whole) :]
    path.write_bytes(whole + second[:kept])  # -1 lacks its end alone; -2 would read 34 faults
    assert samples.read(path) == [row(0, faults=12)]
    assert samples.last(path) == row(0, faults=12)
    samples.append(path, row(10))
    assert samples.read(path) == [row(0, faults=12), row(10)]


@pytest.mark.parametrize("kept", [0, 1, 40, len(samples.HEADER) - 1])
def test_a_torn_heading_is_begun_anew(tmp_path: Path, kept: int) -> None:
    """A kill, or a full disk, may fall into the very first write."""
    path = tmp_path / "metrics.csv"
    path.write_bytes(samples.HEADER[:kept])
    assert samples.read(path) == []
    assert samples.last(path) is None
    samples.append(path, row(0))
    assert samples.read(path) == [row(0)]


def test_what_a_power_loss_leaves_is_left_out(tmp_path: Path) -> None:
    """Zero bytes, bytes that are no text, and a row of another length in the middle."""
    path = tmp_path / "metrics.csv"
    samples.append(path, row(0))
    with path.open("ab") as file:
        file.write(b"\0" * 40 + b"\n" + b"\xff\xfe,1\n" + b"2026-11-30T22:00:03+00:00,1,2\n\n")
    samples.append(path, row(5))
    assert samples.read(path) == [row(0), row(5)]


def test_no_file_has_no_rows(tmp_path: Path) -> None:
    """A campaign from before there were samples is no error."""
    assert samples.read(tmp_path / "metrics.csv") == []
    assert samples.last(tmp_path / "metrics.csv") is None


def test_the_last_row_is_found_without_reading_a_night(tmp_path: Path) -> None:
    """The end of a long file, whatever the end begins in the middle of."""
    path = tmp_path / "metrics.csv"
    for n in range(300):
        samples.append(path, row(5 * n, calls=n))
    assert path.stat().st_size > samples.TAIL_BYTES
    assert samples.last(path) == samples.read(path)[-1] == row(5 * 299, calls=299)


def test_columns_of_another_version_are_not_mixed_in(tmp_path: Path) -> None:
    """Watts under the heading of degrees would be believed."""
    path = tmp_path / "metrics.csv"
    path.write_text("at,watts\n2026-11-30T22:00:00+00:00,3\n")
    with pytest.raises(StoreError, match="two versions"):
        samples.append(path, row(0))
    assert samples.read(path) == []
    assert path.read_text().endswith(",3\n")


def fill(path: Path) -> int:
    """Append until the disk is full, and return how many rows there must be."""
    for n in range(1, 200):  # the page that the file ends in has room for some
        try:
            samples.append(path, row(5 * n))
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            return n
    raise AssertionError("the disk was not full")


def test_a_full_disk_is_told_and_leaves_whole_rows(tmp_path: Path) -> None:
    """On a disk of its own: what was written before is there, and room makes it go on."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "arnes-test", str(disk)]
    try:
        done = subprocess.run(mount, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount here")
    if done.returncode:
        pytest.skip(f"no small disk can be mounted here: {done.stderr.strip()}")
    try:
        path, ballast = disk / "metrics.csv", disk / "ballast"
        samples.append(path, row(0))
        free = os.statvfs(disk)
        ballast.write_bytes(b"\0" * (free.f_bavail * free.f_frsize))
        written = fill(path)
        assert samples.read(path) == [row(5 * n) for n in range(written)]
        ballast.unlink()
        samples.append(path, row(9999))
        assert samples.last(path) == row(9999)
        assert len(samples.read(path)) == written + 1
    finally:
        subprocess.run(["umount", str(disk)], check=True)
