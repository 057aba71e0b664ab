"""The tools: one literal table, one function per tool.

A function applies the call to the world and returns the honest answer; prices, faults and the
journal come after it. Nothing in an answer depends on the machine, the hour or chance. What a
model is told about a tool stands in `[tools]` of `arnes.toml`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.errors import SuiteError
from harness.protocol.calls import CONTENT, ToolSignature
from harness.records.tools import FINISH
from harness.world.files import is_below, normal_path, shown_path
from harness.world.pages import address_of
from harness.world.suites import Report

if TYPE_CHECKING:
    from harness.world.world import World

LONGEST_CONTENT = 12_000  # characters of a file that is written
LONGEST_LINE = 120  # characters of a line that a search shows


@dataclass(frozen=True)
class Answer:
    """What a tool itself answers.

    target : what was touched, as in `records.world.Step`
    rows : rows of a table that are shown; some prices count them
    query : the statement, where it only reads
    """

    ok: bool
    text: str
    target: str = ""
    rows: int = 0
    query: str = ""
    report: Report | None = None
    green: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tool:
    """One tool. observes : a fault for every observing tool meets it."""

    signature: ToolSignature
    run: Callable[["World", Mapping[str, str]], Answer]
    observes: bool = False


def list_files(world: "World", args: Mapping[str, str]) -> Answer:
    """Names and sizes, of all files or of those below a path."""
    written = args.get("path", "")
    folder = normal_path(written)
    paths = () if folder is None else world.files.below(folder)
    if not paths and folder != "":
        return _not_found(written)
    sizes = [f"{path} ({len(world.files.text(path) or '')} characters)" for path in paths]
    return Answer(ok=True, text="\n".join(sizes) or "no files", target=folder or "")


def read_file(world: "World", args: Mapping[str, str]) -> Answer:
    """Return the whole file."""
    path = normal_path(args["path"])
    text = world.files.text(path) if path else None
    if text is None:
        return _not_found(args["path"])
    return Answer(ok=True, text=text, target=path or "")


def write_file(world: "World", args: Mapping[str, str]) -> Answer:
    """Write the whole file."""
    written, content = args["path"], args[CONTENT]
    path = normal_path(written)
    refused = f"cannot write: {shown_path(written)}"
    if path and world.is_read_only(path):
        refused = f"read-only: {path}"
    elif len(content) > LONGEST_CONTENT:
        refused = f"content too long: {LONGEST_CONTENT} characters allowed"
    elif path and world.files.can_hold(path):
        world.files.put(path, content)
        return Answer(ok=True, text=f"ok: {path} ({len(content)} characters)", target=path)
    return Answer(ok=False, text=refused, target=path or "")


def delete_file(world: "World", args: Mapping[str, str]) -> Answer:
    """Remove the file."""
    path = normal_path(args["path"])
    if not path or world.files.text(path) is None:
        return _not_found(args["path"])
    if world.is_read_only(path):
        return Answer(ok=False, text=f"read-only: {path}", target=path)
    world.files.remove(path)
    return Answer(ok=True, text=f"ok: {path} removed", target=path)


def search(world: "World", args: Mapping[str, str]) -> Answer:
    """Find lines that contain a text, in any case."""
    wanted, written = args["text"], args.get("path", "")
    prefix = normal_path(written)
    if not wanted.strip():
        return Answer(ok=False, text="the text to search for is empty", target=prefix or "")
    if prefix is None:
        return _not_found(written)
    hits = [
        f"{path}:{number}: {line.strip()[:LONGEST_LINE]}"
        for path in world.files.paths()
        if path.startswith(prefix)
        for number, line in enumerate((world.files.text(path) or "").split("\n"), 1)
        if wanted.casefold() in line.casefold()
    ]
    shown = hits[: world.scene.search_hits]
    if len(shown) < len(hits):
        shown.append(f"({len(shown)} lines shown of {len(hits)})")
    return Answer(ok=True, text="\n".join(shown) or "no match", target=prefix)


def sql(world: "World", args: Mapping[str, str]) -> Answer:
    """Run one statement."""
    got = world.tables.ask(args["query"])
    query = "" if got.wrote else args["query"]
    return Answer(got.ok, got.text, ",".join(got.tables), rows=got.rows, query=query)


def http_get(world: "World", args: Mapping[str, str]) -> Answer:
    """Return the body of a page."""
    ok, text = world.pages.get(args["url"])
    return Answer(ok, text, address_of(args["url"]))


def run_tests(world: "World", args: Mapping[str, str]) -> Answer:
    """Run one suite, or all of them."""
    name = args.get("suite", "").strip()
    if name and name not in world.suites:
        names = ", ".join(world.suites) or "none"
        return Answer(ok=False, text=f"no such suite: {shown_path(name)}; suites: {names}")
    suites = {name: world.suites[name]} if name else dict(world.suites)
    report = world.test(tuple(case for cases in suites.values() for case in cases))
    outcomes = iter(report.outcomes)
    green = []
    for suite, cases in suites.items():
        held = [next(outcomes).status == "ok" for _ in cases]
        if held and all(held):
            green.append(suite)
    return Answer(ok=True, text=report.text, target=name, report=report, green=tuple(green))


def finish(_world: "World", _args: Mapping[str, str]) -> Answer:
    """End the work; the loop does it."""
    return Answer(ok=True, text="the work is ended")


def _not_found(written: str) -> Answer:
    return Answer(
        ok=False, text=f"not found: {shown_path(written)}", target=normal_path(written) or ""
    )


def is_read_only(path: str, prefixes: Sequence[str]) -> bool:
    """Say whether a path lies below one of some folders, or is one of some files."""
    return any(is_below(path, prefix.rstrip("/")) for prefix in prefixes)


TOOLS: dict[str, Tool] = {
    tool.signature.name: tool
    for tool in (
        Tool(ToolSignature("list_files", optional=("path",)), list_files),
        Tool(ToolSignature("read_file", ("path",)), read_file, observes=True),
        Tool(ToolSignature("write_file", ("path", CONTENT)), write_file),
        Tool(ToolSignature("delete_file", ("path",)), delete_file),
        Tool(ToolSignature("search", ("text",), ("path",)), search, observes=True),
        Tool(ToolSignature("sql", ("query",)), sql, observes=True),
        Tool(ToolSignature("http_get", ("url",)), http_get, observes=True),
        Tool(ToolSignature("run_tests", optional=("suite",)), run_tests, observes=True),
        Tool(ToolSignature(FINISH, ("summary",)), finish),
    )
}


def offered(names: Sequence[str], finish_arguments: Sequence[str]) -> dict[str, ToolSignature]:
    """Return the signatures of the tools that a task offers, in its order.

    Parameters
    ----------
    finish_arguments : what this task's `finish` needs beside the summary

    Raises
    ------
    SuiteError
        For a tool that does not exist.
    """
    unknown = [name for name in names if name not in TOOLS]
    if unknown:
        raise SuiteError(f"no such tool: {', '.join(unknown)}")
    signatures = {name: TOOLS[name].signature for name in names}
    if FINISH in signatures:
        required = (*TOOLS[FINISH].signature.required, *finish_arguments)
        signatures[FINISH] = ToolSignature(FINISH, required)
    return signatures
