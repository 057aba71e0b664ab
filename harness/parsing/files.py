"""Files of a reply: a header `### FILE: name`, then one fenced block.

Only asked paths are kept. Lines end in LF whatever the model wrote, and a byte order mark is
dropped. A path has one form: no emphasis, quotes or colon around it, `/` between its parts,
no `./` before it. A path that is absolute, climbs, or could name no file is never made.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from harness.parsing.fences import Fence, opening_fence

UNCLOSED = "unclosed"
DUPLICATE = "duplicate"
PATH = "path"
EXTRA_FILES = "extra-files"
NO_HEADER = "no-header"
ORPHAN_FENCE = "orphan-fence"

HEADER = re.compile(
    r"[ ]{0,3}[*_>]*[ ]?(#{1,6})[ \t]*[*_`]*FILE[*_`]*[ \t]*:(.*)", re.IGNORECASE
)
QUOTED = re.compile(r"[*_]*`([^`]+)`.*")
REMARK = re.compile(r"\s+\([^()]*\)$")
LONGEST_PATH = 240  # characters
HOSTILE = re.compile(r"\A[/~]|\A[A-Za-z]:|(?:\A|/)\.\.(?:/|\Z)|[\x00-\x1f\x7f]|\A\Z|//|/\Z")


@dataclass(frozen=True)
class FilesFound:
    """What a text delivers of the files that were asked.

    files : asked path → content
    flags : integrity marks; they change no points by themselves
    steps : one sentence per decision, for the reader
    """

    files: dict[str, str] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
