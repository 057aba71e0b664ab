"""Virtual environments of the programs that arnes is compared with.

They lie below the system's folder for temporary files and are used again as long as they
are there; remove `arnes-benchmarks` in it to get the newest versions.
"""

import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass
from pathlib import Path

PLACE = Path(tempfile.gettempdir()) / "arnes-benchmarks"
READY = "ready"
SHOWN = 300
VERSION = "import importlib.metadata, sys; print(importlib.metadata.version(sys.argv[1]))"


@dataclass(frozen=True)
class Environment:
    """An environment that is ready; `label` names the package and its version."""

    python: Path
    label: str


def environment(package: str, *more: str, extra: str = "") -> Environment | None:
    """Return the environment of a package, made if it is not there; None, and a line why not.

    Parameters
    ----------
    package : its name in the package index, and the name of the folder
    more : further packages that it needs at run time
    extra : arguments to pip for all of them, such as `--no-deps`
    """
    folder = PLACE / package.partition("[")[0]
    python = folder / "bin" / "python"
    if not (folder / READY).is_file():
        print(f"installing {package} into {folder}", file=sys.stderr)
        try:
            venv.create(folder, clear=True, with_pip=True)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"{package}: left out, no virtual environment here: {error}")
            return None
        install = [str(python), "-m", "pip", "install", "--quiet", *extra.split(), package, *more]
        done = subprocess.run(install, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(f"{package}: left out, pip cannot install it here:\n{done.stderr[-SHOWN:]}")
            return None
        (folder / READY).touch()
    name = package.partition("[")[0]
    version = subprocess.run(
        [str(python), "-c", VERSION, name], capture_output=True, text=True, check=True
    )
    return Environment(python, f"{name} {version.stdout.strip()}")
