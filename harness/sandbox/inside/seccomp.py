"""The system call filter: a BPF program, built as bytes and loaded with one call.

It refuses what is listed and lets the rest pass: the walls are made by namespaces and Landlock,
the filter closes the doors that those do not know.
"""

import ctypes
import errno
import struct
from dataclasses import dataclass

from harness.sandbox.inside import syscalls

LOAD, JEQ, JGE, JSET, RET, AND = 0x20, 0x15, 0x35, 0x45, 0x06, 0x54
ALLOW, ERRNO, KILL = 0x7FFF0000, 0x00050000, 0x80000000
NR, ARCH, ARGS = 0, 4, 16  # offsets in struct seccomp_data; an argument is 8 bytes, low half first
X32_BIT = 0x40000000
PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2

CLONE_THREAD = 0x00010000
CLONE_NAMESPACES = 0x7E020000
AF_UNIX = 1
O_TRUNC, O_ACCMODE = 0o1000, 0o3
# fcntl F_SETOWN, F_SETSIG, F_SETOWN_EX; ioctl FIOSETOWN, SIOCSPGRP: signals sent by the kernel
FCNTL_OWNER, IOCTL_OWNER = (8, 10, 15), (0x8901, 0x8902)
# F_SETLEASE, F_NOTIFY; FS_IOC_SETFLAGS, FSSETXATTR, ENABLE_VERITY, SET_ENCRYPTION_POLICY: what the
# owner of a file may do to it through a descriptor that was opened for reading
FCNTL_HOST_FILES = (1024, 1026)
IOCTL_HOST_FILES = (0x40086602, 0x401C5820, 0x40806685, 0x800C6613)

Instruction = tuple[int, int, int, int]


@dataclass(frozen=True)
class Rules:
    """What one filter lets through.

    spawn : new processes and programs
    loopback : sockets of the internet families (only where the network is a private one)
    host_files : the file system is the host's own, so that its metadata must be kept safe
    landlock_abi : what Landlock does not yet cover here is refused by this filter
    """

    spawn: bool
    loopback: bool
    host_files: bool
    landlock_abi: int


def program(rules: Rules, own_pid: int) -> bytes:
    """Return the filter for the process of that number."""
    code: list[Instruction] = [
        (LOAD, 0, 0, ARCH),
        (JEQ, 1, 0, syscalls.AUDIT_ARCH[syscalls.machine()]),
        (RET, 0, 0, KILL),
        (LOAD, 0, 0, NR),
        (JGE, 0, 1, X32_BIT),
        (RET, 0, 0, KILL),
        (JGE, 0, 1, syscalls.NEWEST_KNOWN + 1),
        (RET, 0, 0, ERRNO | errno.ENOSYS),
        *_refused("clone3", errno.ENOSYS),  # its flags lie in memory; libc falls back to clone
        *_refused("openat2", errno.ENOSYS),  # the same
    ]
    for name in syscalls.ALWAYS_REFUSED:
        code += _refused(name, errno.EPERM)
    if rules.host_files:
        for name in syscalls.REFUSED_ON_HOST_FILES:
            code += _refused(name, errno.EPERM)
        for name in syscalls.PRETENDED_ON_HOST_FILES:
            code += _refused(name, 0)
    code += _processes(rules) + _sockets(rules) + _signals(rules, own_pid) + _opening(rules)
    code.append((RET, 0, 0, ALLOW))
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)


def install(program_bytes: bytes) -> None:
    """Load the filter into this process; its children inherit it.

    Raises
    ------
    OSError
        If the kernel refuses it.
    """

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))

    loaded = Program(len(program_bytes) // 8, program_bytes)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(loaded), 0, 0):
        raise OSError(ctypes.get_errno(), "the system call filter was refused")


def _processes(rules: Rules) -> list[Instruction]:
    if rules.spawn:
        return _when("clone", [*_flags(0, CLONE_NAMESPACES, refuse_if_set=True)])
    code = _when("clone", [*_flags(0, CLONE_THREAD, refuse_if_set=False)])
    for name in ("fork", "vfork", "execve", "execveat"):
        code += _refused(name, errno.EPERM)
    return code


def _sockets(rules: Rules) -> list[Instruction]:
    if rules.loopback:
        return []
    pair = [(LOAD, 0, 0, ARGS), (JEQ, 1, 0, AF_UNIX), (RET, 0, 0, ERRNO | errno.EPERM)]
    return [*_refused("socket", errno.EPERM), *_when("socketpair", pair)]


def _signals(rules: Rules, own_pid: int) -> list[Instruction]:
    """Keep signals and limits at home, also where Landlock has no scope for them (ABI < 6)."""
    code = _when("prlimit64", _only_argument(0, (0, own_pid)))
    on_files = rules.host_files
    fcntl = FCNTL_OWNER + (FCNTL_HOST_FILES if on_files else ())
    ioctl = IOCTL_OWNER + (IOCTL_HOST_FILES if on_files else ())
    for name, commands in (("fcntl", fcntl), ("ioctl", ioctl)):
        refuse: list[Instruction] = [(LOAD, 0, 0, ARGS + 8)]
        for command in commands:
            refuse += [(JEQ, 0, 1, command), (RET, 0, 0, ERRNO | errno.EPERM)]
        code += _when(name, refuse)
    if rules.landlock_abi < 6:
        for name in ("kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"):
            code += _when(name, _only_argument(0, (own_pid,)))
        code += _refused("tkill", errno.EPERM)
    return code


def _opening(rules: Rules) -> list[Instruction]:
    """Where Landlock does not know truncation (ABI < 3), no file is cut but by its own writer."""
    if rules.landlock_abi >= 3 or not rules.host_files:
        return []
    code = _refused("truncate", errno.EPERM)
    for name, argument in (("open", 1), ("openat", 2)):
        cut: list[Instruction] = [
            (LOAD, 0, 0, ARGS + 8 * argument),
            (AND, 0, 0, O_TRUNC | O_ACCMODE),
            (JEQ, 0, 1, O_TRUNC),
            (RET, 0, 0, ERRNO | errno.EPERM),
        ]
        code += _when(name, cut)
    return code


def _refused(name: str, error: int) -> list[Instruction]:
    number = syscalls.number(name)
    if number is None:
        return []
    return [(JEQ, 0, 1, number), (RET, 0, 0, ERRNO | error)]


def _when(name: str, body: list[Instruction]) -> list[Instruction]:
    """Run the body for one call, and allow what the body did not refuse."""
    number = syscalls.number(name)
    if number is None:
        return []
    return [(JEQ, 0, len(body) + 1, number), *body, (RET, 0, 0, ALLOW)]


def _only_argument(index: int, allowed: tuple[int, ...]) -> list[Instruction]:
    code: list[Instruction] = [(LOAD, 0, 0, ARGS + 8 * index)]
    for value in allowed:
        code += [(JEQ, 0, 1, value), (RET, 0, 0, ALLOW)]
    return [*code, (RET, 0, 0, ERRNO | errno.EPERM)]


def _flags(index: int, flags: int, *, refuse_if_set: bool) -> list[Instruction]:
    skip_if_set, skip_if_clear = (0, 1) if refuse_if_set else (1, 0)
    return [
        (LOAD, 0, 0, ARGS + 8 * index),
        (JSET, skip_if_set, skip_if_clear, flags),
        (RET, 0, 0, ERRNO | errno.EPERM),
    ]
