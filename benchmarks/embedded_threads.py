"""How many threads the embedded model gets, and how they wait: measured, not guessed.

    python benchmarks/embedded_threads.py [--rounds 2] [--busy 0 2]

Every configuration has its own server; requests go round and round, so that a change of the
machine's load meets all of them. Tokens per second are the server's own timings, medians of
the rounds; tokens per CPU second are prompt and reply together. `--busy` adds that many
processes that compute all the time. The last line says whether all configurations wrote the
same text.

What it decides: `EmbeddedOptions` in harness/backends/embedded.py.
"""

import argparse
import hashlib
import os
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from harness.backends import embedded_server, weights
from harness.backends.embedded import ALIAS, PASSIVE_WAITING, WINDOW_TOKENS
from harness.backends.probe import Probe
from harness.backends.process import ServerProcess
from harness.clock import SystemClock

PROMPT = "The harbour master counts the boats and writes the number down. " * 30
REPLY_TOKENS = 32
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass
class Configuration:
    """Threads of generation, threads of reading the prompt, and how they wait."""

    threads: int
    prompt_threads: int
    passive: bool
    prompt_rates: list[float] = field(default_factory=list)
    reply_rates: list[float] = field(default_factory=list)
    cpu_rates: list[float] = field(default_factory=list)
    texts: set[str] = field(default_factory=set)

    @property
    def name(self) -> str:
        waiting = "passive" if self.passive else "spinning"
        return f"{self.threads} + {self.prompt_threads} threads, {waiting}"


def start(configuration: Configuration, folder: Path) -> ServerProcess:
    environment = {k: v for k, v in os.environ.items() if k not in PASSIVE_WAITING}
    if configuration.passive:
        environment |= PASSIVE_WAITING
    command = [sys.executable, "-P", embedded_server.__file__, "--alias", ALIAS]
    command += ["--weights", str(weights.weights_path()), "--window", str(WINDOW_TOKENS)]
    command += ["--threads", str(configuration.threads)]
    command += ["--prompt-threads", str(configuration.prompt_threads)]
    return ServerProcess(command, environment, folder / "server.log", SystemClock())


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_S


def ask_once(configuration: Configuration, process: ServerProcess, probe: Probe) -> None:
    before = cpu_seconds(process.pid)
    answer = probe.post_api(
        "/chat/completions",
        {
            "messages": [{"role": "user", "content": PROMPT}],
            "max_tokens": REPLY_TOKENS,
            "temperature": 0,
            "seed": 42,
            "ignore_eos": True,
        },
    )
    timings = answer.fields["timings"]
    spent = cpu_seconds(process.pid) - before
    configuration.prompt_rates.append(timings["prompt_per_second"])
    configuration.reply_rates.append(timings["predicted_per_second"])
    configuration.cpu_rates.append((timings["prompt_n"] + timings["predicted_n"]) / spent)
    text = answer.fields["choices"][0]["message"]["content"]
    configuration.texts.add(hashlib.sha256(text.encode()).hexdigest()[:8])


def measure(rounds: int, busy: int) -> list[Configuration]:
    configurations = [
        Configuration(1, 1, passive=True),
        Configuration(1, 2, passive=True),
        Configuration(2, 2, passive=True),
        Configuration(2, 2, passive=False),
    ]
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        servers = []
        for configuration in configurations:
            process = start(configuration, folder)
            stack.callback(process.stop)
            probe = stack.enter_context(Probe(process.announced(60) + "/v1"))
            servers.append((configuration, process, probe))
        for _ in range(busy):
            load = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            stack.callback(load.wait)
            stack.callback(load.kill)
        for _ in range(rounds):
            for configuration, process, probe in servers:
                ask_once(configuration, process, probe)
    return configurations


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--busy", type=int, nargs="+", default=[0, 2])
    asked = parser.parse_args()
    if not Path("/proc/self/stat").exists() or weights.missing_wheels():
        print("skipped: needs Linux and the embedded model (make install)")
        return
    for busy in asked.busy:
        load = os.getloadavg()[0]
        print(f"{busy} busy process(es), load before {load:.1f}, {os.cpu_count()} cores")
        print(f"{'':32}{'prompt tok/s':>14}{'reply tok/s':>14}{'tok/CPU-s':>12}")
        found = measure(asked.rounds, busy)
        same = len(set().union(*(c.texts for c in found))) == 1
        for c in found:
            rates = (c.prompt_rates, c.reply_rates, c.cpu_rates)
            prompt, reply, cpu = (statistics.median(rate) for rate in rates)
            print(f"  {c.name:30}{prompt:14.0f}{reply:14.1f}{cpu:12.0f}")
        print(f"  all configurations wrote {'the same text' if same else 'different texts'}\n")


if __name__ == "__main__":
    main()
