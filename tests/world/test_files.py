"""Paths have one normal form, and lead nowhere but to the files of the world."""

import random

import pytest
from world.acting import HARBOUR, act

from harness.world import Scene, World
from harness.world.files import normal_path


@pytest.mark.parametrize(
    ("written", "path"),
    [
        ("dues/steps.py", "dues/steps.py"),
        ("  dues/steps.py ", "dues/steps.py"),
        ("./dues/steps.py", "dues/steps.py"),
        ("/dues//steps.py", "dues/steps.py"),
        ("dues\\steps.py", "dues/steps.py"),
        ("C:\\dues\\steps.py", "dues/steps.py"),
        ("C:dues/steps.py", "dues/steps.py"),
        ("workspace/dues/steps.py", "dues/steps.py"),
        ("/workspace/dues/steps.py", "dues/steps.py"),
        ("./workspace/./dues/steps.py", "dues/steps.py"),
        ("dues/../dues/./steps.py/", "dues/steps.py"),
        ("tickets/../dues/steps.py", "dues/steps.py"),
        ("workspaces/a", "workspaces/a"),
        ("Dues/Steps.py", "Dues/Steps.py"),
        ("..a/b..", "..a/b.."),
        ("", ""),
        ("/", ""),
        (".", ""),
        ("workspace", ""),
        ("dues/..", ""),
    ],
)
def test_a_path_is_normalised_once(written: str, path: str) -> None:
    """Every way to write a path means the same file, and the case of letters counts."""
    assert normal_path(written) == path


@pytest.mark.parametrize(
    "written",
    ["..", "../a", "a/../../b", "/workspace/../etc/passwd", "a\0b", "a\nb", "x" * 201, "é" * 128],
)
def test_what_never_is_a_file_has_no_normal_form(written: str) -> None:
    """Above the root, with signs that no path has, or too long: there is no such path."""
    assert normal_path(written) is None


def test_a_normal_form_is_its_own() -> None:
    """Normalising twice is normalising once, whatever was written."""
    draw = random.Random(3)
    parts = ["a", "B.py", "..", ".", "", "workspace", "C:", "\\", " ", "é", "x" * 90]
    for _ in range(3000):
        path = normal_path("/".join(draw.choices(parts, k=draw.randint(0, 6))))
        assert path is None or normal_path(path) == path


@pytest.mark.parametrize(
    "written",
    [
        "../golden/a.py",
        "/proc/self/environ",
        "../faults.toml",
        "faults.toml",
        "/job/../../etc/passwd",
        "file:///etc/passwd",
        "~/.ssh/id_rsa",
        "golden/1.md",
        "tests/test_dues.py",
        "dues",
        "",
        "a\0",
    ],
)
def test_the_world_holds_nothing_of_the_instrument(written: str) -> None:
    """Schedules, goldens, tests and the machine's own files are not there to be read."""
    step = act(World(HARBOUR), "read_file", path=written)

    assert step.ok is False
    assert step.shown.startswith("not found: ")
    assert "\n" not in step.shown


def test_files_are_listed_with_their_sizes() -> None:
    """A listing is sorted, whole or below a folder, and names what is not there."""
    world = World(HARBOUR)

    listing = "dues/bands.py (19 characters)\ndues/steps.py (22 characters)"
    assert act(world, "list_files").shown == f"{listing}\ntickets/1.md (23 characters)"
    assert act(world, "list_files", path="./dues/").shown == listing
    assert act(world, "list_files", path="tickets/1.md").shown == "tickets/1.md (23 characters)"
    assert act(world, "list_files", path="due").shown == "not found: due"
    assert act(world, "list_files", path="../..").shown == "not found: ../.."
    assert act(World(Scene()), "list_files").shown == "no files"


def test_writing_creates_and_replaces_whole_files() -> None:
    """The journal tells apart what was made, what was changed, and what stayed as it was."""
    world = World(HARBOUR)

    made = act(world, "write_file", path="/workspace/out/a.txt", content="one\n")
    same = act(world, "write_file", path="out/a.txt", content="one\n")
    changed = act(world, "write_file", path="out/a.txt", content="")
    gone = act(world, "delete_file", path="out/./a.txt")

    assert (made.made, made.target, made.ok) == (("out/a.txt",), "out/a.txt", True)
    assert (same.made, same.changed) == ((), ())
    assert changed.changed == ("out/a.txt",)
    assert gone.deleted == ("out/a.txt",)
    assert world.files.text("out/a.txt") is None
    assert act(world, "delete_file", path="out/a.txt").shown == "not found: out/a.txt"


@pytest.mark.parametrize("tool", ["write_file", "delete_file"])
@pytest.mark.parametrize("path", ["tickets/1.md", "./tickets/../tickets/1.md", "tickets\\1.md"])
def test_read_only_paths_stay_as_they_are(tool: str, path: str) -> None:
    """No spelling of a path gets round its protection."""
    world = World(HARBOUR)
    args = {"content": "x"} if tool == "write_file" else {}

    step = act(world, tool, path=path, **args)

    assert (step.ok, step.shown) == (False, "read-only: tickets/1.md")
    assert world.state() == World(HARBOUR).state()


def test_a_protected_place_cannot_be_taken() -> None:
    """Neither the folder itself, nor a new file in it, nor a protected file that is still to come."""
    world = World(HARBOUR)

    for path in ("tickets", "tickets/2.md", "NOTICE.md"):
        assert act(world, "write_file", path=path, content="x").shown == f"read-only: {path}"
    assert act(world, "write_file", path="ticketsbox/2.md", content="x").ok is True


@pytest.mark.parametrize("path", ["", "..", "dues", "dues/steps.py/x", "a\0b", "x" * 201])
def test_what_cannot_be_a_file_is_not_written(path: str) -> None:
    """The root, a folder, and a path through a file hold no text; the sandbox could not make them."""
    world = World(HARBOUR)

    step = act(world, "write_file", path=path, content="x")

    assert step.ok is False
    assert step.shown.startswith("cannot write:")
    assert world.state() == World(HARBOUR).state()


def test_what_the_world_writes_makes_room_for_itself() -> None:
    """A trigger's file may need a folder where a model has put a file, and the other way round."""
    world = World(HARBOUR)
    act(world, "write_file", path="intake", content="mine")
    act(world, "write_file", path="notice/a.md", content="mine")

    world.files.put("intake/a.txt", "new")
    world.files.put("notice", "new")

    assert world.files.paths() == tuple(sorted((*HARBOUR.files, "intake/a.txt", "notice")))


def test_long_contents_are_refused_whole() -> None:
    """A file is never cut: at the limit it is written, above it nothing is."""
    world = World(HARBOUR)

    assert act(world, "write_file", path="a", content="x" * 12_000).ok is True
    step = act(world, "write_file", path="b", content="x" * 12_001)

    assert step.shown == "content too long: 12000 characters allowed"
    assert world.files.text("b") is None


def test_search_shows_lines_with_their_places() -> None:
    """Plain text in any case, nothing of a pattern, lines cut, hits bounded and counted."""
    scene = Scene(
        files={"logs/a_1.txt": "Keeper\nkeep.er\n" + "x" * 150 + "KEEP", "notes.md": "keep\n" * 9},
        search_hits=3,
    )
    world = World(scene)

    hits = act(world, "search", text="keep", path="logs/a")
    assert (
        hits.shown
        == f"logs/a_1.txt:1: Keeper\nlogs/a_1.txt:2: keep.er\nlogs/a_1.txt:3: {'x' * 120}"
    )
    assert act(world, "search", text=".er", path="logs").shown == "logs/a_1.txt:2: keep.er"
    many = act(world, "search", text="KEEP", path="notes.md").shown.split("\n")
    assert many == [
        "notes.md:1: keep",
        "notes.md:2: keep",
        "notes.md:3: keep",
        "(3 lines shown of 9)",
    ]
    assert act(world, "search", text="nowhere").shown == "no match"
    assert act(world, "search", text=" ").ok is False
    assert act(world, "search", text="keep", path="../..").ok is False
