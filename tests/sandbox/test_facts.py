"""Facts of foreign text, found without running it and without trusting the parser to survive."""

from collections.abc import Callable

import pytest
from sandbox.attacking import LIMITS

from harness.errors import GraderError
from harness.sandbox import FileFacts, Tier, Worker, facts_of, read_facts

GIVEN = '''
"""A module."""
import math

LIMIT = 3

def pairs(xs, gap):
    """Count."""
    found = 0
    for i, a in enumerate(xs):
        for b in xs[i + 1 :]:
            if b - a == gap:
                found += 1
    return found

def root(x):
    try:
        return math.sqrt(x)
    except ValueError as error:
        return [e for e in (error, LIMIT)]
'''
RENAMED = '''
# another comment
import math as m
BOUND = 3

def pairs(values: list[int], distance: int) -> int:
    n: int = 0
    for j, first in enumerate(values):
        for second in values[j + 1 :]:
            if second - first == distance:
                n += 1
    return n

def root(y):
    """Say so."""
    try:
        return m.sqrt(y)
    except ValueError as wrong:
        return [w for w in (wrong, BOUND)]
'''
OTHER = RENAMED.replace("second - first", "first - second")
TESTS = """
import unittest
from unittest import TestCase as Base
from cold import fee as price

class A(unittest.TestCase):
    def test_a(self):
        self.assertEqual(price(1), 3)
    def helper(self): pass

class C(A):
    async def test_c(self): ...

class D:
    def test_d(self): ...
"""


@pytest.fixture
def facts(best_worker_of: Callable[..., Worker]) -> Callable[[str], FileFacts]:
    worker = best_worker_of({})
    return lambda text: facts_of(worker, "a.py", text)


def names(facts: FileFacts) -> list[tuple[str, int]]:
    return [(fact.name, fact.line) for fact in facts.undefined]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("def f(:\n", 1),
        ("x = 1\n  y = 2\n", 2),
        ("return 1\n", 1),
        ("a\0b\n", None),
        ("(" * 100_000 + ")" * 100_000, 1),
        ("-" * 1_000_000 + "1", None),
        ("[" * 5_000, 1),
        ("x = " + "9" * 100_000, 1),
        ("x = '\ud800'\n", None),
    ],
    ids=["syntax", "indent", "return", "nul", "brackets", "minus", "open", "digits", "surrogate"],
)
def test_what_does_not_compile_is_said(
    facts: Callable[[str], FileFacts], text: str, line: int | None
) -> None:
    """With the line where there is one; a text that starves the parser is a fact too."""
    seen = facts(text)

    assert not seen.compiles
    assert seen.error
    assert seen.error_line == line


def test_nothing_is_run(facts: Callable[[str], FileFacts]) -> None:
    """A file that would end the process has its facts like any other."""
    seen = facts("import os\nos._exit(0)\nraise SystemExit\n")

    assert seen.compiles
    assert [fact.module for fact in seen.imports] == ["os"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f(x: Optional[int]): ...\n", [("Optional", 1)]),
        ("from typing import Optional\ndef f(x: Optional[int]): ...\n", []),
        ("from __future__ import annotations\ndef f(x: Optional[int]): ...\n", []),
        ("def f():\n    return math.pi\n", [("math", 2)]),
        ("def f():\n    import math\n    return math.pi\n", []),
        ("def f():\n    import math\ndef g():\n    return math.pi\n", [("math", 4)]),
        ("def f():\n    global late\n    late = 1\ndef g():\n    return late\n", []),
        ("class A:\n    x = 1\n    def f(self):\n        return x\n", [("x", 4)]),
        ("class A:\n    def f(self):\n        return __class__\n", []),
        ("print(__name__, __file__, len, exit)\n", []),
        ("try:\n    pass\nexcept Exception as e:\n    print(e)\n", []),
        ("print([i for i in range(3)], i)\n", [("i", 1)]),
        ("if (n := 3) > 2:\n    print(n)\n", []),
        ("def f(a, *b, c=d, **e):\n    return a, b, c, e\n", [("d", 1)]),
        ("match 1:\n    case [x, *y]:\n        print(x, y)\n", []),
        ("@dataclass\nclass A:\n    x: int = field(default=0)\n", [("dataclass", 1), ("field", 3)]),
        ("def outer():\n    x = 1\n    def inner():\n        nonlocal x\n        x = 2\n", []),
        ("for k in {}:\n    pass\nwith open(p) as h:\n    h\n", [("p", 3)]),
    ],
)
def test_undefined_names_are_found_by_scope(
    facts: Callable[[str], FileFacts], text: str, expected: list[tuple[str, int]]
) -> None:
    """A name that is read and bound nowhere it could be seen from, with its first line."""
    assert names(facts(text)) == expected


def test_a_star_import_hides_what_is_undefined(facts: Callable[[str], FileFacts]) -> None:
    """Then nothing is claimed."""
    seen = facts("from math import *\nprint(pi, nothing)\n")

    assert seen.star_import
    assert seen.undefined == ()


def test_imports_are_listed_in_order(facts: Callable[[str], FileFacts]) -> None:
    """With what is taken from where, relative ones by their level."""
    seen = facts("import os.path as p\nfrom ..a import b, c as d\n\ndef f():\n    import json\n")

    assert [(f.module, f.names, f.line, f.level) for f in seen.imports] == [
        ("os.path", (), 1, 0),
        ("a", ("b", "c"), 2, 2),
        ("json", (), 5, 0),
    ]


def test_renaming_and_comments_change_no_digest(facts: Callable[[str], FileFacts]) -> None:
    """The given file with other names, annotations and docstrings is the given file."""
    given, renamed, other = map(facts, (GIVEN, RENAMED, OTHER))

    assert given.tree_digest == renamed.tree_digest
    assert given.tree_digest != other.tree_digest
    assert given.function_digests["pairs"] == renamed.function_digests["pairs"]
    assert given.function_digests["pairs"] != other.function_digests["pairs"]
    assert given.defines == ("pairs", "root")


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("def f(a):\n    return a\n", "def f(b):\n    return b\n", True),
        ("def f(a, b):\n    return a - b\n", "def f(b, a):\n    return b - a\n", True),
        ("def f(a, b):\n    return a - b\n", "def f(a, b):\n    return b - a\n", False),
        ("def f(a):\n    return g(a)\n", "def f(a):\n    return h(a)\n", False),
        ("def f(a):\n    return a.x\n", "def f(a):\n    return a.y\n", False),
        ("def f():\n    return [i for i in X]\n", "def f():\n    return [j for j in X]\n", True),
        ("def f():\n    return lambda a: a\n", "def f():\n    return lambda b: b\n", True),
        ("def f():\n    return 1\n", "def f():\n    return True\n", False),
        ("def f():\n    return 1\n", "def f():\n    return 1.0\n", False),
        ("def f():\n    'doc'\n    return 1\n", "def f():\n    return 1\n", True),
        (
            "def f():\n    x = 1\n    global y\n    y = x\n",
            "def f():\n    z = 1\n    global y\n    y = z\n",
            True,
        ),
    ],
)
def test_a_digest_follows_the_meaning_of_names(
    facts: Callable[[str], FileFacts], one: str, other: str, equal: bool
) -> None:
    """Bound names are positions; free names, attributes and constants are themselves."""
    digests = [facts(text).function_digests["f"] for text in (one, other)]

    assert (digests[0] == digests[1]) is equal


def test_test_methods_are_found_by_their_class(facts: Callable[[str], FileFacts]) -> None:
    """Classes derived from a TestCase count, also through another; names in a method are listed."""
    seen = facts(TESTS)

    assert [method.id for method in seen.test_methods] == ["A.test_a", "C.test_c"]
    assert "price" in seen.test_methods[0].names


def test_each_file_has_a_fork_of_its_own(tier: Tier) -> None:
    """A text that breaks the reader costs its own facts alone."""
    deep = "x = " + "+".join("1" * 100_000) + "\n"

    seen = read_facts({"a.py": deep, "b.py": "x = 1\n"}, tier, LIMITS)

    assert seen["b.py"].compiles
    assert not seen["a.py"].compiles
    assert seen["a.py"].error


def test_a_byte_order_mark_is_read_as_a_file_is(facts: Callable[[str], FileFacts]) -> None:
    """The text is compiled as the bytes that an import would read."""
    assert facts("\ufeffx = 1\n").compiles


def test_any_trusted_text_can_be_run_over_foreign_data(
    best_worker_of: Callable[..., Worker],
) -> None:
    """The general way: our function, foreign payload, a value of builtin types back."""
    source = "def main(payload):\n    return [len(text) for text in payload['texts']]\n"

    seen = best_worker_of({}).snippet(source, {"texts": ["a", "ñ" * 3]})

    assert seen.value == [1, 3]


def test_a_reader_of_ours_that_fails_is_our_fault(best_worker_of: Callable[..., Worker]) -> None:
    """It must not be taken for a property of the file."""
    broken = best_worker_of({}).snippet("def main(payload):\n    return 1 / 0\n", {})

    assert broken.raised("ZeroDivisionError")
    with pytest.raises(GraderError):
        facts_of(best_worker_of({}), None, "x = 1\n")  # type: ignore[arg-type]
