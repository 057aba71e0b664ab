"""What this machine can do, and what to do about what it cannot. Nothing is printed here."""

import platform
import sys
from pathlib import Path

from harness.backends import hardware, weights
from harness.backends.engines import UNKNOWN, describe
from harness.backends.external import what_is_wrong
from harness.backends.finding import Finding
from harness.backends.probe import Answer, Probe, api_urls, model_names, problem_with_url
from harness.errors import EndpointError
from harness.records.run import ServerInfo

OLDEST_PYTHON = (3, 11)
GIB = 2**30
# The embedded server takes 0.36 GiB, a sandbox 0.5 GiB, the harness with its plots the rest.
NEEDED_MEMORY_BYTES = int(1.5 * GIB)
# Raw replies of a night are some hundred MiB; the wheels are installed already.
NEEDED_DISK_BYTES = GIB
NAMES_SHOWN = 5


def examine(root: Path, url: str | None = None) -> tuple[Finding, ...]:
    """Look at the machine, the embedded model, and a server if one is named.

    Parameters
    ----------
    root : the folder under which campaigns are written
    url : a running server, with or without `/v1`
    """
    findings = (_python(), _processor(), _memory(), _disk(root), _gpu(), _embedded())
    return findings if url is None else (*findings, _server(url))


def _python() -> Finding:
    oldest = ".".join(map(str, OLDEST_PYTHON))
    return _judged(
        "Python",
        sys.version_info[:2] >= OLDEST_PYTHON,
        f"{platform.python_version()} ({platform.python_implementation()})",
        f"use Python {oldest} or newer: make install PYTHON=python{oldest}",
    )


def _processor() -> Finding:
    name = f"{hardware.cpu_name()}, {hardware.usable_cores()} core(s)"
    missing = hardware.missing_instructions()
    if missing is None:
        return Finding(name="processor", ok=None, found=f"{name}, {platform.machine()}")
    return _judged(
        "processor",
        not missing,
        f"{name}, lacks {', '.join(missing)}" if missing else name,
        'the embedded model cannot run here; use a server of your own (backend = "external")',
    )


def _memory() -> Finding:
    free = hardware.memory_available_bytes()
    needed = f"{NEEDED_MEMORY_BYTES / GIB:g} GiB"
    return _judged(
        "memory",
        free >= NEEDED_MEMORY_BYTES,
        f"{free / GIB:.1f} GiB available, {needed} needed",
        "close other programs",
    )


def _disk(root: Path) -> Finding:
    free = hardware.disk_free_bytes(root)
    needed = f"{NEEDED_DISK_BYTES / GIB:g} GiB"
    return _judged(
        "disk",
        free >= NEEDED_DISK_BYTES,
        f"{free / GIB:.1f} GiB free for campaigns, {needed} needed",
        f"make room on the file system of {root}",
    )


def _gpu() -> Finding:
    gpus = hardware.gpus()
    if gpus.why_unknown:
        return Finding(name="GPU", ok=None, found=gpus.why_unknown)
    if not gpus.cards:
        return Finding(name="GPU", ok=None, found="NVML sees no card")
    cards = (
        f"{card.name}, {card.used_bytes / GIB:.1f} of {card.memory_bytes / GIB:.1f} GiB used"
        for card in gpus.cards
    )
    return Finding(name="GPU", ok=True, found="; ".join(cards))


def _embedded() -> Finding:
    problems = weights.missing_wheels()
    path = weights.weights_path()
    if path is not None:
        wrong = weights.problem_with_weights(path)
        problems += [] if wrong is None else [wrong]
    if problems:
        found = "; ".join(f"{problem.where}: {problem.what}" for problem in problems)
        return Finding(name="embedded model", ok=False, found=found, todo=problems[0].todo)
    digest = weights.WEIGHTS_SHA256[:12]
    found = f"{weights.WEIGHTS_FILE}, sha256 {digest}…, {weights.SERVER_PACKAGE} "
    return Finding(name="embedded model", ok=True, found=found + weights.SERVER_VERSION)


def _server(url: str) -> Finding:
    """Say what a server is, without waiting for one that is still loading."""
    problem = problem_with_url(url)
    if problem:
        return _no_server(url, problem, "give an address such as http://127.0.0.1:8080/v1")
    answers: list[Answer] = []
    for address in api_urls(url):
        try:
            probe = Probe(address)
        except EndpointError as error:
            return _no_server(url, error.problems[0].what, error.problems[0].todo)
        with probe:
            answers.append(probe.get_api("/models"))
            names = model_names(answers[-1])
            if names:
                told = _told(describe(probe, names[0]), names)
                return Finding(name="server", ok=True, found=told)
            if names is not None:
                return _no_server(url, "it lists no model", "load one")
    return _no_server(url, *what_is_wrong(answers))


def _no_server(url: str, found: str, todo: str) -> Finding:
    where = "" if repr(url) in found else f"{url}: "  # an address that is none is quoted already
    return Finding(name="server", ok=False, found=f"{where}{found}", todo=todo)


def _told(server: ServerInfo, names: tuple[str, ...]) -> str:
    engine = "an engine that does not name itself" if server.engine == UNKNOWN else server.engine
    window = "window not told" if server.window_tokens is None else f"{server.window_tokens} tokens"
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    shown = ", ".join(names[:NAMES_SHOWN]) + more
    return f"{engine} {server.build}".strip() + f", {window}, models: {shown}"


def _judged(name: str, ok: bool, found: str, todo: str) -> Finding:
    return Finding(name=name, ok=ok, found=found, todo="" if ok else todo)
