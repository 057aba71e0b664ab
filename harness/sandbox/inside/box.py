"""The folder of one measure: new each time, under the same name, and gone afterwards."""
# Pathlib would cost every start its import.
# ruff: noqa: PTH101, PTH102, PTH103, PTH104, PTH106, PTH108, PTH118, PTH123

import os
import stat
from collections.abc import Mapping

FOLDERS = ("work", "home", "tmp")
MOST_FILES = 5_000


def make(scratch: str) -> str:
    """Create the empty box and return its path."""
    box = os.path.join(scratch, "box")
    os.mkdir(box, 0o700)
    for name in FOLDERS:
        os.mkdir(os.path.join(box, name), 0o700)
    return box


def enter(box: str) -> None:
    """Make the box this process's folder, home and place for temporary files."""
    os.chdir(os.path.join(box, "work"))
    os.environ["HOME"] = os.path.join(box, "home")
    os.environ["TMPDIR"] = os.path.join(box, "tmp")


def fill(box: str, files: Mapping[str, str]) -> None:
    """Write the files, by relative path below the work folder.

    Raises
    ------
    ValueError
        For a path that leads out of it. The caller's parser lets none through.
    """
    for path, text in files.items():
        if not leads_inside(path):
            raise ValueError(f"not a path inside the box: {path!r}")
        parts = path.split("/")
        folder = os.path.join(box, "work", *parts[:-1])
        os.makedirs(folder, exist_ok=True)
        # Half a surrogate pair is written too: what cannot be read back then is the text's fault.
        data = text.encode("utf-8", "surrogatepass")
        with open(os.path.join(folder, parts[-1]), "wb") as file:
            file.write(data)


def leads_inside(path: str) -> bool:
    """Say whether a relative path stays below the folder it starts from."""
    return "\0" not in path and not set(path.split("/")) & {"", ".", ".."}


def remove(scratch: str) -> None:
    """Delete the box, whatever was done to it.

    Every folder is moved to one place before it is emptied: so neither depth nor the length of a
    path can stop it, and no symbolic link is followed.
    """
    box, grave = os.path.join(scratch, "box"), os.path.join(scratch, "gone")
    if not os.path.lexists(box):
        return
    os.makedirs(grave, exist_ok=True)
    os.rename(box, os.path.join(grave, "0"))
    waiting, count = ["0"], 1
    while waiting:
        folder = os.path.join(grave, waiting.pop())
        os.chmod(folder, 0o700)
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    os.chmod(entry.path, 0o700)
                    os.rename(entry.path, os.path.join(grave, str(count)))
                    waiting.append(str(count))
                    count += 1
                else:
                    os.unlink(entry.path)
        os.rmdir(folder)
    os.rmdir(grave)


def over_budget(scratch: str, budget_bytes: int, *, own_file_system: bool) -> bool:
    """Say whether the box holds too much: bytes, or files beyond count.

    A file system of its own is asked; on a shared one the files are counted, up to the budget.
    """
    if own_file_system:
        status = os.statvfs(scratch)
        used = (status.f_blocks - status.f_bfree) * status.f_frsize
        # A sized file system stops at its size by itself: full is not over.
        return used > budget_bytes or status.f_files - status.f_ffree > MOST_FILES
    used = count = 0
    waiting = [os.path.join(scratch, "box")]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    count += 1
                    status_of = entry.stat(follow_symlinks=False)
                    used += status_of.st_blocks * 512
                    if stat.S_ISDIR(status_of.st_mode):
                        waiting.append(entry.path)
                    if used > budget_bytes or count > MOST_FILES:
                        return True
        except OSError:  # it was removed, or closed to us, while we looked
            continue
    return False
