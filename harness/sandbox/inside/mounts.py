"""For root without bubblewrap: an interpreter below a private home stays reachable, the home not.

A mount namespace of our own, nothing else: it needs no user namespace, and the host sees nothing.
"""
# Pathlib would cost every start its import.
# ruff: noqa: PTH103, PTH110, PTH112, PTH120

import ctypes
import os

CLONE_NEWNS = 0x00020000
MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 32, 4096, 16384, 1 << 18


def keep_only(private: str, readable: list[str]) -> None:
    """Cover a private folder with an empty one, in which only the readable paths are left.

    Raises
    ------
    OSError
        If this user may not mount.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS):
        raise OSError(ctypes.get_errno(), "no mount namespace")
    _mount(None, "/", None, MS_REC | MS_PRIVATE)
    inside = [path for path in readable if path.startswith(private + "/")]
    handles = {path: os.open(path, os.O_PATH) for path in inside if os.path.exists(path)}
    _mount("tmpfs", private, "tmpfs", 0, "size=64k,mode=755")
    for path, handle in handles.items():
        if os.path.isdir(f"/proc/self/fd/{handle}"):
            os.makedirs(path, exist_ok=True)
        else:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o644))
        _mount(f"/proc/self/fd/{handle}", path, None, MS_BIND | MS_REC)
        _mount(None, path, None, MS_BIND | MS_REMOUNT | MS_RDONLY)
        os.close(handle)
    _mount(None, private, None, MS_BIND | MS_REMOUNT | MS_RDONLY)


def _mount(
    source: str | None, target: str, kind: str | None, flags: int, data: str | None = None
) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    texts = [None if text is None else text.encode() for text in (source, target, kind, data)]
    if libc.mount(texts[0], texts[1], texts[2], ctypes.c_ulong(flags), texts[3]):
        raise OSError(ctypes.get_errno(), f"cannot mount on {target}")
