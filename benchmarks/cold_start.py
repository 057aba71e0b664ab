"""How long `--help` takes: arnes, lm-eval and inspect-ai, each as its users start it.

    python benchmarks/cold_start.py [--rounds 15]

Starts go in turn, so that a change of the machine's load meets all of them. A start is cold as
far as the process goes: nothing of it is in memory. Its files are, after the first start of
each, which is not counted. The ratio is of CPU seconds, start to end, to those of arnes.
"""

import argparse
import resource
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from measuring.environments import environment
from measuring.tables import print_machine, print_table

from harness import __version__


@dataclass
class Program:
    """A command and what its starts took, in seconds."""

    name: str
    command: Path
    wall_s: list[float] = field(default_factory=list)
    cpu_s: list[float] = field(default_factory=list)

    def start(self) -> None:
        began, before = time.perf_counter(), children_cpu_s()
        subprocess.run([self.command, "--help"], stdout=subprocess.DEVNULL, check=True)
        self.wall_s.append(time.perf_counter() - began)
        self.cpu_s.append(children_cpu_s() - before)


def children_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def programs() -> list[Program]:
    found = [Program(f"arnes {__version__}", Path(sys.executable).with_name("arnes"))]
    for package, command, more in (
        ("lm-eval[api]", "lm_eval", ()),
        ("inspect-ai", "inspect", ("openai",)),
    ):
        place = environment(package, *more)
        if place:
            found.append(Program(place.label, place.python.with_name(command)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    print_machine()
    started = programs()
    for number in range(rounds + 1):
        for program in started:
            program.start()
            if number == 0:
                program.wall_s.clear()
                program.cpu_s.clear()
    ours = median(started[0].cpu_s)
    rows = [
        (
            f"{program.name}: {program.command.name} --help",
            f"{1000 * median(program.cpu_s):.0f}",
            f"{median(program.cpu_s) / ours:.1f}",
            f"{1000 * median(program.wall_s):.0f}",
            f"{1000 * min(program.wall_s):.0f}–{1000 * max(program.wall_s):.0f}",
        )
        for program in started
    ]
    print(f"medians of {rounds} starts in turn; goal: arnes no slower than lm_eval")
    print_table(("", "CPU ms", "ratio", "wall ms", "wall ms range"), rows)


if __name__ == "__main__":
    main()
