"""Runs one server program as its child, and sees to it that the program never outlives us.

    python -P keeper.py --wait 20 -- llama-server --model FILE …

Programs of others do not watch who started them. This one does it for them: when its standard
input ends, or another process has become its parent, it ends the whole group that it leads,
first with SIGTERM and after the wait with SIGKILL. Otherwise it ends as the program ended, once
what that left in the group was asked to end too: a program may be a wrapper around the server.
Nothing of `harness` is imported here, as in `embedded_server`.
"""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress

CHECK_S = 0.2
NO_SUCH_PROGRAM = 127


def main(arguments: Sequence[str]) -> int:
    """Run the program to its end; return its exit status."""
    wait_s, command = float(arguments[1]), list(arguments[3:])
    parent = os.getppid()
    # The group's SIGTERM reaches the program too: it ends in its own time, and this after it.
    # A function, not SIG_IGN, which the program would inherit.
    signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        return NO_SUCH_PROGRAM
    while child.poll() is None:
        if os.getppid() != parent or _input_ended():
            _end_group(child, wait_s)
    os.killpg(0, signal.SIGTERM)  # nobody else may be there to do it, and this process is deaf
    return child.returncode


def _input_ended() -> bool:
    """Wait a moment for standard input; True when it has ended."""
    ready, _, _ = select.select([sys.stdin.fileno()], [], [], CHECK_S)
    return bool(ready) and not os.read(sys.stdin.fileno(), 4096)


def _end_group(child: "subprocess.Popen[bytes]", wait_s: float) -> None:
    """Ask everything in the group to end, then kill it, this process included."""
    os.killpg(0, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        child.wait(wait_s)
    os.killpg(0, signal.SIGKILL)


def _end_like(status: int) -> None:
    """End this process as the program ended: by the same signal, or with the same status."""
    if status < 0 and -status != signal.SIGKILL:
        signal.signal(-status, signal.SIG_DFL)
    if status < 0:
        os.kill(os.getpid(), -status)
    sys.exit(status)


if __name__ == "__main__":
    _end_like(main(sys.argv[1:]))
