"""Keep a validation that held, under the digest of everything it depends on.

The cache lies in `.arnes-cache/`. Its key covers the signature, the whole code, the whole suite
and, where a task runs code, the walls and the interpreter it runs in. So a cached result can only
be the result of validating exactly this instrument again.
"""

from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from harness.arnes import ArnesConfig
from harness.clock import Clock
from harness.records.base import digest, readable_json
from harness.records.validation import Validation
from harness.sandbox import probe, python_stamp
from harness.signature import PACKAGE, Signature
from harness.stages.progress import Progress, silent
from harness.stages.strength.published import FILE as STRENGTH_FILE
from harness.stages.validate import validate
from harness.store.files import write_whole
from harness.suite.loader import SUITE_FOLDER, Suite

CACHE_FOLDER = ".arnes-cache"


def validated(
    suite: Suite,
    config: ArnesConfig,
    signature: Signature,
    clock: Clock,
    progress: Progress = silent,
) -> Validation:
    """Return the validation of this very instrument, from the cache where it held before."""
    path = suite.root / CACHE_FOLDER / f"validation-{key_of(suite, signature)[:32]}.json"
    kept = _kept(path)
    if kept is not None:
        return kept
    result = validate(suite, config, clock, progress)
    if result.holds:
        with suppress(OSError):  # a full disk or a read-only checkout costs time, no result
            write_whole(path, readable_json(result))
    return result


@dataclass(frozen=True)
class Runtime:
    """What deliverables run in: the stamp of the walls, and the interpreter behind them."""

    tier: str
    python: str

    @classmethod
    def here(cls) -> "Runtime":
        """Return what this machine has."""
        return cls(probe().stamp, python_stamp())


def key_of(suite: Suite, signature: Signature, runtime: Runtime | None = None) -> str:
    """Return the digest of everything that a validation depends on.

    Parameters
    ----------
    suite, signature : the instrument
    runtime : what deliverables run in; None is this machine's, asked for only if a task runs code
    """
    folders = (PACKAGE, suite.root / SUITE_FOLDER)
    files = {
        path.relative_to(folder).as_posix(): digest(path.read_bytes())
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts and path.name != STRENGTH_FILE
    }
    runs_in = None
    if any(task.definition.executes for task in suite.tasks):
        runs_in = asdict(runtime or Runtime.here())
    return digest([signature.value, suite.form, suite.ids, files, runs_in])


def _kept(path: Path) -> Validation | None:
    """Return what is kept there; a file that cannot be read or is damaged is as good as none."""
    try:
        kept = Validation.model_validate_json(path.read_bytes())
    except (OSError, ValueError):
        return None
    return kept if kept.holds else None
