"""The trusted process inside: it forks once per measure, reaps, sweeps, and reports.

It never runs, imports or reads foreign code: the fork does. It has no clock either; the process
outside sends `kill`. When the control socket closes, everything here ends.
"""

import fcntl
import json
import os
import select
import signal
import site
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from harness.sandbox.inside import box, job, landlock, mounts, processes, seccomp, wall
from harness.sandbox.inside.codec import ARMED, Channel

DISK_POLL_MS = 100
SWEEP_POLL_MS = 1
SWEEPS = 2000
FIRST_OF_NAMESPACE = 2  # bwrap's own init is 1
STANDARD = 3
RULES = 4  # the descriptor of the rules in a fork, until they are applied


class Zygote:
    """One sandbox's parent of all measures.

    Parameters
    ----------
    control : socket to the process outside
    setup : what the launcher decided: user, paths, tier properties, candidate files
    """

    def __init__(self, control: socket.socket, setup: dict[str, Any]) -> None:
        self.control = control
        self.setup = setup
        self.scratch: str = setup["scratch"]
        self.rulesets: dict[bool, int | None] = {}
        self.main = 0
        self.running: int | None = None
        self.cause = ""
        self.cpu_s = 0.0
        self.status: int | None = None
        self.peak_kib = 0
        self.stray = 0
        self.scratch_bytes = 0
        self.alone = False

    def prepare(self) -> None:
        """Reach the interpreter, become nobody, and make the rules that each fork will apply."""
        if self.setup["hide_above"] is not None:
            mounts.keep_only(self.setup["hide_above"], self.setup["readable"])
        if self.setup["uid"] is not None:
            wall.drop_user(self.setup["uid"])
        wall.harden_zygote()
        if wall.IS_LINUX:
            writable = [self.scratch, *self.setup["devices"]]
            for loopback in (False, True):
                self.rulesets[loopback] = landlock.ruleset(
                    self.setup["readable"],
                    self.setup["listable"],
                    writable,
                    loopback=loopback,
                )
        for name in self.setup["preload"]:
            __import__(name)

    def serve(self) -> None:
        """Answer until the control socket closes."""
        wake_read, wake_write = os.pipe()
        for end in (wake_read, wake_write):
            os.set_blocking(end, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        poll = select.poll()
        poll.register(self.control, select.POLLIN)
        poll.register(wake_read, select.POLLIN)
        self.say({"ready": os.getpid(), "landlock": landlock.abi() if wall.IS_LINUX else 0})
        try:
            self.listen(poll, wake_read)
        finally:  # whatever ended it, nothing may stay
            self.sweep()
            box.remove(self.scratch)
            if not self.setup["own_file_system"]:
                os.chdir("/")
                os.rmdir(self.scratch)  # noqa: PTH106 (as in box); the outside may be gone

    def listen(self, poll: select.poll, wake: int) -> None:
        """Take messages, and look after the measure, until the control socket closes."""
        while True:
            ready = dict(poll.poll(DISK_POLL_MS if self.main else None))
            if wake in ready:
                with suppress(BlockingIOError):
                    os.read(wake, 4096)
            if self.control.fileno() in ready and not self.hear():
                return
            if self.main:
                self.look()

    def hear(self) -> bool:
        """Take one message; False when the outside is gone."""
        try:
            text, descriptors, _, _ = socket.recv_fds(self.control, 65536, STANDARD)
        except OSError:  # reset: it was killed with a message of ours unread
            return False
        if not text:
            return False
        for line in text.splitlines():
            message = json.loads(line)
            if "start" in message:
                self.start(message, descriptors)
            elif message.get("kill") == self.running:
                self.sweep()
        return True

    def say(self, message: dict[str, Any]) -> None:
        """Report one thing to the outside."""
        with suppress(OSError):
            self.control.sendall(json.dumps(message).encode() + b"\n")

    def start(self, message: dict[str, Any], descriptors: list[int]) -> None:
        """Fork one measure; the descriptors are its channel, standard output and error."""
        self.running = message["start"]
        self.cause, self.cpu_s, self.peak_kib, self.stray, self.status = "", 0.0, 0, 0, None
        self.scratch_bytes = message["scratch_mib"] * wall.MIB
        self.alone = wall.IS_LINUX and not message["spawn"]
        folder = box.make(self.scratch)
        zygote = os.getpid()
        self.main = os.fork()
        if self.main == 0:
            try:
                self.child(message, descriptors, folder, zygote)
            except BaseException:  # noqa: BLE001 (whatever it is, this fork must not become a zygote)
                with suppress(BaseException):
                    __import__("traceback").print_exc()  # costs every start where it is not needed
                os._exit(1)
            os._exit(0)
        for descriptor in descriptors:
            os.close(descriptor)
        self.say({"started": self.running, "pid": self.main})

    def child(
        self, message: dict[str, Any], descriptors: list[int], folder: str, zygote: int
    ) -> None:
        """Turn this fork into a measure: close, confine, then run the job."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        wall.die_with(zygote)
        ruleset = self.rulesets.get(message["loopback"])
        channel_fd = keep(descriptors, ruleset)
        box.enter(folder)
        box.fill(folder, self.setup["files"])
        wall.set_limits(wall.limits_from(message))
        rules = seccomp.Rules(
            spawn=message["spawn"],
            loopback=message["loopback"],
            host_files=self.setup["host_files"],
            landlock_abi=landlock.abi() if wall.IS_LINUX else 0,
        )
        wall.confine(rules if wall.IS_LINUX else None, None if ruleset is None else RULES)
        channel = Channel(socket.socket(fileno=channel_fd), job.FROM_OUTSIDE)
        channel.send(ARMED)  # without this word a silent end is our fault, not the candidate's
        files = self.setup["files"]
        job.run(channel, frozenset(path.split("/")[0].removesuffix(".py") for path in files))

    def look(self) -> None:
        """Reap what ended; when the measure itself did, end the rest and report."""
        self.reap()
        if self.status is None:
            own = self.setup["own_file_system"]
            if box.over_budget(self.scratch, self.scratch_bytes, own_file_system=own):
                self.cause = "disk"
                self.sweep()
            if self.status is None:
                return
        self.sweep()
        self.main = 0
        clean = True
        try:
            box.remove(self.scratch)
        except OSError:
            clean = False
        self.say(
            {
                "ended": self.running,
                "status": self.status,
                "cpu_s": self.cpu_s,
                "peak_kib": self.peak_kib,
                "stray": self.stray,
                "cause": self.cause,
                "clean": clean,
            }
        )
        self.running = None

    def reap(self) -> bool:
        """Collect every process that ended; True while there are others."""
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            self.cpu_s += usage.ru_utime + usage.ru_stime
            if pid == self.main:
                self.status = os.waitstatus_to_exitcode(status)
                self.peak_kib = usage.ru_maxrss // (1 if wall.IS_LINUX else 1024)
            else:
                self.stray += 1

    def sweep(self) -> None:
        """Kill everything below this process, until nothing is left."""
        for _ in range(SWEEPS):
            if not self.reap():
                return
            if self.alone:  # the filter let it start no other
                os.kill(self.main, signal.SIGKILL)
            else:
                kill_all(self.setup["own_processes"], self.main)
            select.poll().poll(SWEEP_POLL_MS)


def keep(descriptors: list[int], ruleset: int | None) -> int:
    """Leave only what the measure needs open: channel, streams, and the rules at `RULES`."""
    channel, output, errors = descriptors
    high = [raised(fd) for fd in (channel, output, errors)]
    rules = None if ruleset is None else raised(ruleset)
    nothing = raised(os.open(os.devnull, os.O_RDONLY))
    for source, target in ((nothing, 0), (high[1], 1), (high[2], 2), (high[0], STANDARD)):
        os.dup2(source, target, inheritable=target < STANDARD)
    if rules is not None:
        os.dup2(rules, RULES, inheritable=False)
    os.closerange(STANDARD + 1 if rules is None else RULES + 1, 256)
    return STANDARD


def raised(descriptor: int) -> int:
    """Return a copy above the numbers that `keep` gives out."""
    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 2 * STANDARD)


def kill_all(own_processes: bool, leader: int) -> None:
    """Kill every other process here.

    Only inside a process namespace of our own may all be meant; elsewhere the tree is walked.
    Where there is no listing of processes, the measure's own group is what can be found.
    """
    if own_processes:
        if os.getpid() != FIRST_OF_NAMESPACE:  # never on the host, whatever went wrong
            os._exit(1)
        with suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
        return
    if not wall.IS_LINUX:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, signal.SIGKILL)
        return
    for pid in processes.descendants(os.getpid()):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def main(setup: dict[str, Any], receive: Callable[[], bytes]) -> None:
    """Start from the boot line: the control socket is standard input.

    The second message, with the candidate's files, is only read when the user was dropped.
    """
    site.setquit()  # `exit` and `quit` exist in every interpreter; no folder is added
    zygote = Zygote(socket.socket(fileno=os.dup(0)), setup)
    zygote.prepare()
    setup["files"] = json.loads(receive())
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    zygote.serve()
