"""Find out which tiers this machine has: each is launched for real and looked at from inside.

A tier whose launch works but whose walls do not hold is not available. There is no fallback that
nobody sees: the first tier that holds is taken, and every result names it.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

from harness.arnes import SandboxLimits
from harness.clock import SystemClock
from harness.errors import InstrumentError
from harness.sandbox import bare, seatbelt
from harness.sandbox.bare import bare_launch
from harness.sandbox.bubblewrap import bubblewrap_launch, find_bubblewrap
from harness.sandbox.inside import landlock, syscalls
from harness.sandbox.interpreter import Interpreter, current_interpreter
from harness.sandbox.launch import Launch
from harness.sandbox.measures import observe_snippet
from harness.sandbox.process import Sandbox, Terms
from harness.sandbox.tier import Tier, TierName

Launcher = Callable[[Interpreter, int, int, tuple[str, ...]], Launch]
LAUNCHERS: dict[str, Launcher] = {
    "bubblewrap": bubblewrap_launch,
    "landlock": bare_launch,
    "seatbelt": seatbelt.seatbelt_launch,
}
ORDER: tuple[TierName, ...] = ("bubblewrap", "landlock", "seatbelt")
PROBE_LIMITS = SandboxLimits(
    wall_s=20,
    cpu_s=10,
    memory_mib=512,
    processes=10,
    file_mib=1,
    scratch_mib=8,
    output_kib=16,
)
APPARMOR = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
APPARMOR_TODO = (
    "Ubuntu keeps bubblewrap from its namespaces; as root, once: write to /etc/apparmor.d/bwrap "
    "the lines `abi <abi/4.0>,` `include <tunables/global>` "
    "`profile bwrap /usr/bin/bwrap flags=(unconfined) { userns, }`, then: "
    "systemctl reload apparmor"
)
INSTALL_TODO = "install it: sudo apt-get install bubblewrap (or dnf, pacman, zypper)"

# Runs behind the walls and says what it could do. Every answer must be False.
CHECKS = """
import os, socket
def could(work):
    try:
        work()
    except OSError:
        return False
    return True
def main(host):
    return {
        "read a file of the host": could(lambda: open(host["secret"]).read()),
        "list a folder of the host": could(lambda: os.listdir(host["folder"])),
        "write outside its scratch": any(
            could(lambda: open(p + "/arnes-probe", "w").close())
            for p in (host["folder"], "/", "/dev", "/tmp", "/usr/lib")
        ),
        "open a socket": could(lambda: socket.socket()),
        "see the environment of a process": could(lambda: open("/proc/self/environ").read()),
        "signal a process of the host": could(lambda: os.kill(host["pid"], 0)),
        "start a process": could(os.fork),
        "be root": os.getuid() == 0,
    }
"""


def launcher(name: TierName) -> Launcher:
    """Return what starts a tier.

    Raises
    ------
    InstrumentError
        For "none": there is nothing to run foreign code in.
    """
    if name not in LAUNCHERS:
        raise InstrumentError("there is no sandbox here", state="Nothing was run.")
    return LAUNCHERS[name]


@cache
def probe() -> Tier:
    """Return the best tier that holds here, or the tier "none", which runs nothing."""
    found = tiers()
    for tier in found:
        if tier.available:
            return tier
    return Tier(
        name="none",
        available=False,
        details="",
        lacks=tuple(lack for tier in found for lack in tier.lacks),
        todo=next((tier.todo for tier in found if tier.todo), ""),
    )


@cache
def tiers() -> tuple[Tier, ...]:
    """Launch every tier and return what was found, the best first."""
    return tuple(examine(name) for name in ORDER)


def examine(name: TierName) -> Tier:
    """Launch one tier and look from inside whether its walls hold."""
    details, missing = _ground(name)
    if missing:
        todo = INSTALL_TODO if name == "bubblewrap" and sys.platform == "linux" else ""
        return Tier(name=name, available=False, details=details, lacks=(missing,), todo=todo)
    try:
        holes = _holes(name)
    except (InstrumentError, OSError) as error:
        said = str(error) if not isinstance(error, InstrumentError) else _said(error)
        return Tier(name=name, available=False, details=details, lacks=(said,), todo=_todo(name))
    if holes:
        lacks = tuple(f"a wall: inside one could {hole}" for hole in holes)
        return Tier(name=name, available=False, details=details, lacks=lacks)
    return Tier(name=name, available=True, details=details, lacks=_lacks(name))


def describe() -> tuple[str, ...]:
    """Return lines for `arnes doctor`: the tier in force, and what each lacks and would need."""
    in_force = probe()
    lines = [f"sandbox: {in_force.stamp}" if in_force.available else "sandbox: none"]
    for tier in tiers():
        state = "works" if tier.available else "not available"
        lines.append(f"  {tier.stamp}: {state}")
        lines += [f"    lacks: {lack}" for lack in tier.lacks]
        lines += [f"    → {tier.todo}"] if tier.todo else []
    return tuple(lines)


def _ground(name: TierName) -> tuple[str, str]:
    """Return a tier's versions, and what is missing before any launch."""
    if name == "seatbelt":
        return "", "" if seatbelt.seatbelt_found() else "macOS and its sandbox-exec"
    if sys.platform != "linux":
        return "", "Linux"
    if syscalls.machine() not in syscalls.AUDIT_ARCH:
        return "", f"system call numbers of {syscalls.machine()}"
    layer = f"Landlock {landlock.abi()}"
    if name == "landlock":
        return layer, "" if landlock.abi() else "Landlock in the kernel (5.13 or newer)"
    program = find_bubblewrap()
    if program is None:
        return "", "the program bwrap"
    return f"{program.version}, {layer}", ""


def _holes(name: TierName) -> list[str]:
    """Launch the tier and return what foreign code could do that it must not."""
    with tempfile.TemporaryDirectory(prefix="arnes-host-") as folder:
        secret = Path(folder) / "secret"
        secret.write_text("not for foreign eyes", encoding="utf-8")
        os.chmod(folder, 0o777)  # noqa: S103, PTH101 (only the walls must keep it closed)
        launch = launcher(name)(current_interpreter(), 0, PROBE_LIMITS.scratch_mib, ())
        host = {"secret": str(secret), "folder": folder, "pid": os.getpid()}
        with Sandbox(launch, {}, (), SystemClock()) as sandbox:
            seen = observe_snippet(sandbox, CHECKS, host, Terms(PROBE_LIMITS))
    if seen.outcome != "value":
        raise InstrumentError(f"the probe inside said nothing: {seen.described}")
    return [what for what, could in seen.value.items() if could is not False]


def _lacks(name: TierName) -> tuple[str, ...]:
    if name == "seatbelt":
        return seatbelt.LACKS
    version = landlock.abi()
    lacks = list(bare.LACKS) if name == "landlock" else []
    if version == 0:
        lacks.append("Landlock: the second wall around files")
    program = find_bubblewrap()
    if name == "bubblewrap" and program is not None and not program.sizes:
        lacks.append("a sized scratch: it is watched instead (bubblewrap 0.8 or newer)")
    return tuple(lacks)


def _todo(name: TierName) -> str:
    if name != "bubblewrap":
        return ""
    if APPARMOR.exists() and APPARMOR.read_text(encoding="ascii").strip() == "1":
        return APPARMOR_TODO
    if shutil.which("bwrap") is None:
        return INSTALL_TODO
    return "user namespaces are closed here: allow them, or run under another container setting"


def _said(error: InstrumentError) -> str:
    return "; ".join([error.headline, *(problem.what for problem in error.problems)])
