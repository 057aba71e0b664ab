"""Landlock by three system calls: which files may be touched, and that no signal leaves."""

import ctypes
import os
import stat
from contextlib import suppress

CREATE, ADD_RULE, RESTRICT = 444, 445, 446  # the same on every architecture
VERSION_FLAG, RULE_PATH_BENEATH = 1, 1

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
TRUNCATE, IOCTL_DEV = 1 << 14, 1 << 15
ON_A_FILE = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
READING = EXECUTE | READ_FILE | READ_DIR
BIND_TCP_AND_CONNECT_TCP = 3
ABSTRACT_SOCKETS_AND_SIGNALS = 3


def abi() -> int:
    """Return the version of Landlock that the kernel offers; 0 without any."""
    libc = ctypes.CDLL(None, use_errno=True)
    version: int = libc.syscall(CREATE, None, 0, VERSION_FLAG)
    return max(0, version)


def all_rights(version: int) -> int:
    """Return every file system right that this version knows."""
    newest = {0: -1, 1: 12, 2: 13, 3: 14, 4: 14}.get(version, 15)
    return (1 << newest + 1) - 1


class Ruleset(ctypes.Structure):
    """struct landlock_ruleset_attr."""

    _fields_ = (
        ("files", ctypes.c_uint64),
        ("network", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    )


class PathRule(ctypes.Structure):
    """struct landlock_path_beneath_attr."""

    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def ruleset(
    readable: list[str], listable: list[str], writable: list[str], *, loopback: bool
) -> int | None:
    """Return a descriptor of the rules, to be applied in each fork; None without Landlock.

    Parameters
    ----------
    readable : files and folders that may be read and run; one that is missing is left out
    listable : folders whose names may be read, and those below, but no file's content
    writable : folders in which everything is allowed, and devices
    loopback : leave sockets alone; the network is a private one
    """
    version = abi()
    if version == 0:
        return None
    rules = Ruleset(
        all_rights(version),
        BIND_TCP_AND_CONNECT_TCP if version >= 4 and not loopback else 0,
        ABSTRACT_SOCKETS_AND_SIGNALS if version >= 6 else 0,
    )
    size = 8 if version < 4 else 16 if version < 6 else 24
    handle = _call(CREATE, ctypes.byref(rules), size, 0)
    os.set_inheritable(handle, False)
    every = all_rights(version)
    for paths, rights in ((readable, READING), (listable, READ_DIR), (writable, every)):
        for path in paths:
            with suppress(FileNotFoundError):
                _allow(handle, path, rights & every)
    return handle


def restrict(handle: int) -> None:
    """Apply the rules to this process and all it will start. There is no way back."""
    _call(RESTRICT, handle, 0)


def _allow(handle: int, path: str, rights: int) -> None:
    parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not stat.S_ISDIR(os.fstat(parent).st_mode):
            rights &= ON_A_FILE
        rule = PathRule(rights, parent)
        _call(ADD_RULE, handle, RULE_PATH_BENEATH, ctypes.byref(rule), 0)
    finally:
        os.close(parent)


def _call(number: int, *arguments: object) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    result: int = libc.syscall(number, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), f"Landlock call {number} was refused")
    return result
