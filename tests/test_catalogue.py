"""Every known kind of fault has its tests, and the list of them is true."""

import ast
import tomllib
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CATALOGUE = tomllib.loads((ROOT / "tests/catalogue.toml").read_text(encoding="utf-8"))
UNUSED = CATALOGUE.pop("unused")
LAST = 120
LONGEST = 120  # characters of a sentence


@cache
def functions_of(path: Path) -> frozenset[str]:
    """Every function of a file, by its text alone: nothing is imported."""
    tree = ast.parse(path.read_bytes())
    return frozenset(n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef))


def problems_of(entry: dict[str, object], root: Path = ROOT) -> list[str]:
    """What is wrong with one entry."""
    behaviour, tests, reason = (entry.get(key) for key in ("behaviour", "tests", "open"))
    problems = [f"unknown key {key}" for key in entry.keys() - {"behaviour", "tests", "open"}]
    if not isinstance(behaviour, str) or not behaviour.endswith(".") or len(behaviour) > LONGEST:
        problems.append("behaviour is one short sentence")
    if (tests is None) == (reason is None):
        problems.append("either tests or open")
    if reason is not None and not (isinstance(reason, str) and reason.strip()):
        problems.append("open names its reason")
    if tests is not None and not (isinstance(tests, list) and tests):
        problems.append("tests is a list of at least one")
        tests = []
    names = [str(test) for test in tests or []]
    problems += [f"{name} stands twice" for name in {n for n in names if names.count(n) > 1}]
    for name in names:
        path, _, function = name.partition("::")
        place = root / path
        if not path.startswith("tests/") or not place.is_file():
            problems.append(f"{path} is no file of tests")
        elif not function.startswith("test_") or function not in functions_of(place):
            problems.append(f"{path} has no test {function!r}")
    return problems


def test_every_number_is_listed_or_unused() -> None:
    """No kind is lost from the list: each number has its entry, or is known to have none."""
    numbers = [f"G{number:03}" for number in range(1, LAST + 1)]

    assert [name for name in numbers if name not in UNUSED] == list(CATALOGUE)
    assert set(UNUSED) <= set(numbers)
    assert len(CATALOGUE) == LAST - len(UNUSED) == 109


def test_every_named_test_exists() -> None:
    """A test that is renamed or removed takes its entry with it; what is open has a reason."""
    problems = {name: problems_of(entry) for name, entry in CATALOGUE.items()}

    assert {name: found for name, found in problems.items() if found} == {}


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        (
            {"behaviour": "It holds.", "tests": ["tests/test_catalogue.py::test_gone"]},
            "has no test",
        ),
        ({"behaviour": "It holds.", "tests": ["tests/test_catalogue.py::ROOT"]}, "has no test"),
        ({"behaviour": "It holds.", "tests": ["tests/test_catalogue.py"]}, "has no test"),
        ({"behaviour": "It holds.", "tests": ["tests/gone.py::test_a"]}, "is no file"),
        ({"behaviour": "It holds.", "tests": ["../tests/gone.py::test_a"]}, "is no file"),
        ({"behaviour": "It holds.", "tests": []}, "at least one"),
        ({"behaviour": "It holds.", "open": " "}, "its reason"),
        ({"behaviour": "It holds."}, "either"),
        ({"behaviour": "", "open": "no room yet"}, "short sentence"),
        ({"behaviour": "It holds.", "open": "no room yet", "test": []}, "unknown key"),
    ],
)
def test_a_wrong_entry_is_noticed(entry: dict[str, object], problem: str) -> None:
    """The check can fail."""
    assert problem in "; ".join(problems_of(entry))
    assert problems_of({"behaviour": "It holds.", "open": "no room yet"}) == []
