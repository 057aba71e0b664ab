"""How bytes reach the disk: whole or not at all."""

import contextlib
import os
from pathlib import Path

from harness.errors import Problem, StoreError

TEMPORARY = ".arnes-tmp-"


def write_whole(path: Path, data: bytes, *, durable: bool = False) -> None:
    """Replace a file by temp file and rename; nothing happens if it holds these bytes already.

    Parameters
    ----------
    path, data : where and what
    durable : also wait until the bytes are on the disk; for evidence that cannot be made again
    """
    if path.is_file() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    # One process writes a campaign, so its number makes the name unique. Unlike `mkstemp`, open
    # gives the mode that any new file of this user has.
    temporary = path.with_name(f"{TEMPORARY}{os.getpid()}-{path.name}")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException as error:
        if isinstance(error, OSError) and error.filename == str(temporary):
            error.filename = str(path)  # what was asked for, not what we make of it
        with contextlib.suppress(OSError):  # of a place where nothing could be written either
            temporary.unlink(missing_ok=True)
        raise
    if durable:
        _sync_folder(path.parent)


def try_to_write(folder: Path) -> None:
    """Make a file in a folder that may not be there yet, and take away all that was made for it.

    Raises
    ------
    OSError
        If the system refuses it. Permissions alone would not tell of a disk that is read-only.
    """
    made = [place for place in (folder, *folder.parents) if not place.exists()]
    trial = folder / f"{TEMPORARY}{os.getpid()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        trial.touch()
    except OSError as error:
        error.filename = str(folder)  # what was asked for, not what we make of it
        raise
    finally:
        with contextlib.suppress(OSError):
            trial.unlink(missing_ok=True)
        for place in made:
            with contextlib.suppress(OSError):  # it was not made, or another has filled it
                place.rmdir()


def write_once(path: Path, data: bytes) -> None:
    """Write evidence: durable, and never over what is there.

    Raises
    ------
    StoreError
        If the file exists.
    """
    if path.exists():
        raise StoreError(
            "evidence is written once",
            [Problem(str(path), "exists already", "use a new campaign folder")],
        )
    write_whole(path, data, durable=True)


def replace_folder(folder: Path, files: dict[str, bytes]) -> None:
    """Make a folder hold exactly these files: what an earlier pass left is removed."""
    if folder.is_dir():
        wanted = {folder / name for name in files}
        for path in sorted(folder.rglob("*"), reverse=True):
            if path.is_symlink() or (path.is_file() and path not in wanted):
                path.unlink()
            elif path.is_dir() and not any(path.iterdir()):
                path.rmdir()
    for name, data in files.items():
        write_whole(folder / name, data)


def remove_leftovers(folder: Path) -> None:
    """Remove temp files that a killed process left behind."""
    for path in folder.rglob(f"{TEMPORARY}*"):
        if path.is_file():
            path.unlink()


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
