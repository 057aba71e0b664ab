"""What every benchmark prints: where it was measured, and a plain table."""

import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

CPUINFO = Path("/proc/cpuinfo")


def print_machine() -> None:
    """Print the machine, the day, and how busy the machine is with other work."""
    described = CPUINFO.read_text() if CPUINFO.is_file() else ""
    named = [line.partition(":")[2] for line in described.splitlines() if "model name" in line]
    cpu = named[0].strip() if named else platform.machine()
    busy = ", ".join(f"{load:.1f}" for load in os.getloadavg())
    today = datetime.now(tz=UTC).date()
    python = f"{platform.python_implementation()} {platform.python_version()}"
    print(f"{today}, {cpu}, {os.cpu_count()} cores, {platform.system()} {platform.release()},")
    print(f"{python}, load averages at the start {busy}\n")


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print columns: the first to the left, all others to the right."""
    widths = [max(len(row[n]) for row in (head, *rows)) for n in range(len(head))]
    for row in (head, *rows):
        first = row[0].ljust(widths[0])
        rest = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        print("  ".join([first, *rest]).rstrip())
    print(flush=True)
