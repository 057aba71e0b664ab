"""Keep a validation that held, under the digest of everything it depends on.

The cache lies in `.arnes-cache/`. Its key covers the signature, the whole code and the whole
suite, so a cached result can only be the result of validating exactly this instrument again.
"""

from harness.arnes import ArnesConfig
from harness.clock import Clock
from harness.records.base import digest, readable_json
from harness.records.validation import Validation
from harness.signature import PACKAGE, Signature
from harness.stages.progress import Progress, silent
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
    path = suite.root / CACHE_FOLDER / f"validation-{_key(suite, signature)[:32]}.json"
    if path.is_file():
        return Validation.model_validate_json(path.read_bytes())
    result = validate(suite, config, clock, progress)
    if result.holds:
        write_whole(path, readable_json(result))
    return result


def _key(suite: Suite, signature: Signature) -> str:
    folders = (PACKAGE, suite.root / SUITE_FOLDER)
    files = {
        path.relative_to(folder).as_posix(): digest(path.read_bytes())
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    return digest([signature.value, suite.form, suite.ids, files])
