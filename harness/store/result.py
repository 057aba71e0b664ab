"""A result that was made from several campaign folders: `FINAL.json` and where they lie."""

import os
from dataclasses import dataclass
from pathlib import Path

from harness.errors import Problem, StoreError
from harness.records.base import Record, readable_json
from harness.records.campaign import Final
from harness.store.files import write_whole
from harness.store.layout import FINAL, SOURCES


class SourcePaths(Record):
    """`SOURCES.json`: name in the result → path of the campaign, from the result's folder."""

    schema_version: int = 1
    paths: dict[str, str]


@dataclass(frozen=True)
class ResultFolder:
    """The folder of a result."""

    path: Path

    @property
    def final(self) -> Path:
        """The end result."""
        return self.path / FINAL

    @property
    def sources(self) -> Path:
        """Where its campaigns lie."""
        return self.path / SOURCES


def refuse_taken(path: Path) -> None:
    """Hold that a result can be written here: a new folder, or one that holds such a result.

    Raises
    ------
    StoreError
        If something else lies there.
    """
    ours = {FINAL, SOURCES}
    if not path.exists() or (path.is_dir() and not any(path.iterdir())):
        return
    if path.is_dir() and {p.name for p in path.iterdir()} == ours:
        return
    raise StoreError(
        "a result of several campaigns needs a folder of its own",
        [Problem(str(path), "is there, and holds something else", "name a new folder")],
        "Nothing was changed.",
    )


def write_result(path: Path, final: Final, campaigns: dict[str, Path]) -> ResultFolder:
    """Write a result, and the way from it to its campaigns."""
    folder = ResultFolder(path)
    here = path.resolve()
    paths = {name: os.path.relpath(of.resolve(), here) for name, of in campaigns.items()}
    write_whole(folder.sources, readable_json(SourcePaths(paths=paths)))
    write_whole(folder.final, readable_json(final), durable=True)
    return folder


def source_paths(path: Path) -> dict[str, Path]:
    """Return where the campaigns of a result lie; empty for a campaign's own folder.

    Raises
    ------
    StoreError
        If the list cannot be read.
    """
    folder = ResultFolder(path)
    if not folder.sources.is_file():
        return {}
    try:
        found = SourcePaths.model_validate_json(folder.sources.read_bytes())
    except ValueError as error:
        raise StoreError(
            "a record cannot be read",
            [Problem(str(folder.sources), str(error), "finalize the campaigns again")],
        ) from error
    return {name: path / to for name, to in found.paths.items()}
