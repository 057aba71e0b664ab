"""The interpreter that runs foreign code: the one below our own environment, without its packages.

Only its program and its library folders are shown. The folders of installed packages are not:
what a deliverable can import must not depend on what somebody installed on this machine.
"""

import os
import stat
import sys
from dataclasses import dataclass
from pathlib import Path

# -I would also ignore PYTHONHASHSEED; these are its parts, and the environment is all ours.
FLAGS = ("-s", "-S", "-P", "-B")
SYSTEM_LIBRARIES = ("/usr/lib", "/usr/lib64", "/usr/lib32")
SYSTEM_LINKS = ("/lib", "/lib64", "/lib32")
LOADER_CACHE = "/etc/ld.so.cache"
PACKAGE_FOLDERS = ("site-packages", "dist-packages")


@dataclass(frozen=True)
class Interpreter:
    """A Python installation on the host.

    executable : the real program, no link
    prefix : folder above `bin` and `lib`
    """

    executable: Path
    prefix: Path

    @property
    def libraries(self) -> tuple[Path, ...]:
        """Its library folders that exist."""
        folders = (self.prefix / name for name in ("lib", "lib64"))
        return tuple(folder for folder in folders if folder.is_dir() and not folder.is_symlink())

    @property
    def standard_library(self) -> tuple[Path, ...]:
        """The folders of this minor version's standard library."""
        name = f"python{sys.version_info.major}.{sys.version_info.minor}"
        return tuple(f / name for f in self.libraries if (f / name).is_dir())

    def package_folders(self) -> tuple[Path, ...]:
        """Where packages are installed, here and in the system's own library."""
        roots = {*self.libraries, *(Path(path) for path in SYSTEM_LIBRARIES)}
        found = (
            path
            for root in sorted(roots)
            for name in PACKAGE_FOLDERS
            for path in root.glob(f"python3*/{name}")
        )
        return tuple(path for path in found if path.is_dir() and not path.is_symlink())

    @property
    def private_above(self) -> Path | None:
        """The topmost folder above it that other users may not enter, if there is one."""
        for folder in reversed(self.executable.parents):
            if not stat.S_IMODE(folder.stat().st_mode) & stat.S_IXOTH:
                return folder
        return None


def current_interpreter() -> Interpreter:
    """Return the interpreter that our own environment was made from."""
    base = getattr(sys, "_base_executable", "") or sys.executable
    return Interpreter(Path(os.path.realpath(base)), Path(sys.base_prefix).resolve())
