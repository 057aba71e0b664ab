"""The arrows of the house: who may import whom."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "harness"

STEPS = (
    ("errors", "clock"),
    ("records",),
    ("arnes", "suite"),
    ("protocol", "parsing", "sandbox", "stats"),
    ("grading", "world"),
    ("signature", "models", "backends", "store"),
    ("running",),
    ("stages",),
    ("campaign",),
    ("report",),
    ("instruments",),
    ("cli",),
)
STEP = {name: number for number, names in enumerate(STEPS) for name in names}

FORBIDDEN = {
    "grading": {"models", "backends", "campaign", "store", "stats", "clock", "random"},
    "parsing": {"store", "clock", "pathlib", "os", "random"},
    "protocol": {"store", "clock", "pathlib", "os", "random"},
    "stats": {"records", "store", "pydantic", "random", "pathlib"},
    "running": {"grading", "stats"},
    "campaign": {"grading", "stats", "report"},
    "backends": {"suite", "grading", "models"},
    "models": {"backends"},
    "cli": {"numpy", "scipy", "httpx", "jinja2"},
}

HOMES = {
    "httpx": {"models", "backends"},
    "httpcore": {"models"},
    "jinja2": {"suite", "report"},
    "numpy": {"stats"},
    "scipy": {"stats"},
    "matplotlib": {"report"},
    "typer": {"cli"},
    "rich": {"cli", "campaign"},
    "psutil": {"backends", "sandbox"},
    "time": {"clock"},
}


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def room(path: Path) -> str:
    inside = path.relative_to(PACKAGE)
    return inside.parts[0].removesuffix(".py")


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            if node.module == "harness":
                yield from (f"harness.{alias.name}" for alias in node.names)
            elif node.module is not None:
                yield node.module


def ours(name: str) -> str | None:
    parts = name.split(".")
    inside = parts[0] == "harness" and len(parts) > 1 and not parts[1].startswith("__")
    return parts[1] if inside else None


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_module_imports_only_from_the_left_of_itself(path: Path) -> None:
    """The layers are a total order; modules of one step are independent of each other."""
    here = room(path)
    if here in ("__init__", "__main__"):
        return
    for name in imports(path):
        other = ours(name)
        if other is not None and other != here:
            assert STEP[other] < STEP[here], f"{path.name} imports {name}"


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_named_prohibitions_hold(path: Path) -> None:
    """Each room keeps away from what would make its results depend on something else."""
    names = list(imports(path))
    mentioned = {ours(name) or name.split(".")[0] for name in names}
    assert not mentioned & FORBIDDEN.get(room(path), set())


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_each_third_party_package_has_one_home(path: Path) -> None:
    """A package can be replaced by reading one room."""
    for name in imports(path):
        homes = HOMES.get(name.split(".")[0])
        assert homes is None or room(path) in homes, f"{path.name} imports {name}"


@pytest.mark.parametrize(
    ("file", "allowed"),
    [
        ("grader.py", {"harness.grading"}),
        ("form.py", {"harness.suite.forms"}),
        ("policy.py", {"harness.suite.forms", "harness.suite.agent_sets"}),
        ("world.py", {"harness.suite.forms", "harness.world"}),
        ("oracle.py", {"harness.world"}),  # the kind of what it reads, in agent tasks
    ],
)
def test_a_task_imports_what_its_file_is_made_of_and_nothing_else(
    file: str, allowed: set[str]
) -> None:
    """A newcomer learns one import, and the second method shares nothing with the first."""
    found = sorted((ROOT / "suite").glob(f"*/*/{file}"))
    assert found
    for path in found:
        of_ours = {name for name in imports(path) if name.split(".")[0] == "harness"}
        assert of_ours <= allowed, path
        assert not {"form", "oracle", "policy", "grader"} & set(imports(path)), path


def test_graders_depend_on_the_deliverable_alone() -> None:
    """A grade must not change with chance, time, or what lies on the disk."""
    for path in sorted((ROOT / "suite").glob("*/*/grader.py")):
        assert not {"random", "time", "datetime", "os", "pathlib", "subprocess"} & {
            name.split(".")[0] for name in imports(path)
        }, path


def test_no_module_is_longer_than_its_budget() -> None:
    """A module over 400 lines is a design question."""
    long = {p.name: n for p in modules() if (n := len(p.read_text().splitlines())) > 400}
    assert long == {}


def test_importing_the_package_does_nothing() -> None:
    """Importing is free: the package holds its version and nothing else."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    assert [type(node).__name__ for node in tree.body] == ["Expr", "Assign"]
