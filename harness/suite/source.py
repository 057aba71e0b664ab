"""Import one of a task's own files from its text, never from a bytecode cache.

A cached bytecode file is taken for fresh when size and second of the source agree; an edit within
that second would be signed by its new text and run by its old one.
"""

from pathlib import Path
from types import ModuleType


def load_source(path: Path, name: str) -> ModuleType:
    """Return a module made from a file's present text.

    Raises
    ------
    Exception
        Whatever the file raises; its author sees it through the caller's own error.
    """
    module = ModuleType(name)
    module.__file__ = str(path)
    code = compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
    exec(code, module.__dict__)  # noqa: S102 (a file of this repository, as an import would)
    return module
