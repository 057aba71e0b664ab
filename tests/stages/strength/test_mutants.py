"""Mutants by syntax tree: which changes are made, where, and where none is."""

import ast
from textwrap import dedent

import pytest
from campaigning import ROOT

from harness.stages.strength.mutants import Mutant, mutants_of
from harness.stages.strength.operators import variants


def changes(code: str) -> dict[str, list[str]]:
    """Operator → changes of a statement."""
    found: dict[str, list[str]] = {}
    for parent in ast.walk(ast.parse(code)):
        for field, child in ast.iter_fields(parent):
            for one in child if isinstance(child, list) else [child]:
                if isinstance(one, ast.AST):
                    for variant in variants(one, parent, field):
                        change = variant.change or ast.unparse(variant.node)
                        found.setdefault(variant.operator, []).append(change)
    return found


@pytest.mark.parametrize(
    ("code", "operator", "expected"),
    [
        ("x = a <= b", "boundary", ["a < b"]),
        ("x = a <= b", "comparison negated", ["a > b"]),
        ("x = a in b", "comparison negated", ["a not in b"]),
        ("x = low < a <= high", "boundary", ["low <= a <= high", "low < a < high"]),
        ("x = a + b", "arithmetic swapped", ["a - b"]),
        ("x = a % b", "arithmetic swapped", ["a // b"]),
        ("x = f('a') + 'b'", "arithmetic swapped", []),  # texts cannot be subtracted
        ("x += y", "arithmetic swapped", ["x -= y"]),
        ("x = 3", "constant changed", ["4", "2"]),
        ("x = True", "constant changed", ["False"]),
        ("x = 0.5", "constant changed", ["0.45", "0.55"]),
        ("x = 'ab'", "text changed", ["'ab' → 'a'", "'ab' → ''"]),
        ("x = ''", "text changed", ["'' → 'x'"]),
        ("x = a and b", "and/or swapped", ["a or b"]),
        ("x = a and b", "operand dropped", ["b", "a"]),
        ("x = not a", "not dropped", ["a"]),
        ("x = -a", "sign dropped", ["a"]),
        ("x = b if a else c", "condition forced", ["True", "False"]),
        ("x = b if a else c", "condition negated", ["not a"]),
        ("x = [a for a in b if a > c]", "condition forced", ["True", "False"]),
        ("x = a[1:b]", "slice changed", ["a[:b]", "a[1:]"]),
        ("x = [a, b]", "element dropped", ["without `a`", "without `b`"]),
        ("x = {'a': 1, 'b': 2}", "elements swapped", ["1, 2 → 2, 1"]),
        ("x = (0.2, 0.3, 0.3)", "elements swapped", ["0.2, 0.3 → 0.3, 0.2"]),
        ("x = (a, b)", "element dropped", []),  # whoever unpacks it fails at once
        ("x = any(a)", "call exchanged", ["all(a)"]),
        ("x = p.fullmatch(a)", "call exchanged", ["p.match(a)"]),
        ("x = a.strip()", "call dropped", ["a"]),
        ("x = p.sub('', a)", "call dropped", ["a"]),
        ("x = set(a)", "call dropped", ["a"]),
    ],
)
def test_each_operator_makes_its_change(code: str, operator: str, expected: list[str]) -> None:
    """A mutant is one slip of a hand."""
    assert changes(code).get(operator, []) == expected


SOURCE = dedent('''
    """A grader."""

    LIMIT = 5  # a limit
    UNREAD = 7


    def judged(value: int = 3, *, note: str = "") -> bool:
        """Say whether it holds."""
        if value > LIMIT:  # above
            return False
        because = f"{value} is below {LIMIT}"
        return observed("key", value == 2, 0.5, because)


    def idle(value):
        return value + 1
''')


def made(*lines: int) -> list[Mutant]:
    return mutants_of("grader.py", SOURCE, ast.parse(SOURCE), frozenset(lines))


def line_of(text: str) -> int:
    return next(n for n, line in enumerate(SOURCE.splitlines(), 1) if text in line)


def told(mutants: list[Mutant]) -> set[tuple[str, str]]:
    return {(m.told.text, m.told.change) for m in mutants}


def test_only_lines_that_ran_and_what_they_read_are_changed() -> None:
    """A constant counts when a line that ran reads it; nothing else at the top does."""
    found = told(made(line_of("if value > LIMIT")))
    assert ("if value > LIMIT:", "value > LIMIT → value >= LIMIT") in found
    assert ("LIMIT = 5", "5 → 6") in found
    assert not any(text.startswith(("UNREAD", "return value + 1")) for text, _ in found)


def test_a_line_is_told_without_its_comment() -> None:
    """An entry of equivalents holds when a comment is reworded."""
    assert all("#" not in text for text, _ in told(made(line_of("if value > LIMIT"))))


def test_defaults_of_a_function_that_ran_are_changed() -> None:
    """A default runs where the function does."""
    assert "3 → 4" in {change for _, change in told(made(line_of("if value > LIMIT")))}


def test_the_wording_of_a_reason_is_no_mutant() -> None:
    """Points never depend on it, and the value it shows counts elsewhere."""
    found = told(made(line_of("because ="), line_of("return observed")))
    assert not any(text.startswith("because") for text, _ in found)
    assert {change for text, change in found if text.startswith("return observed")} >= {
        "value == 2 → value != 2",
        "0.5 → 0.55",
    }


def test_docstrings_annotations_and_strict_are_left_alone() -> None:
    """They grade nothing."""
    source = 'def f(a: "int") -> "int":\n    """Text."""\n    return zip(a, a, strict=True)\n'
    found = mutants_of("f.py", source, ast.parse(source), frozenset({1, 2, 3}))
    assert {m.told.operator for m in found} == {"return replaced"}


def test_a_mutant_changes_the_tree_at_its_place_alone() -> None:
    """What is judged is what is told."""
    tree = ast.parse(SOURCE)
    mutants = mutants_of("grader.py", SOURCE, tree, frozenset({line_of("if value > LIMIT")}))
    boundary = next(m for m in mutants if m.told.operator == "boundary")
    before = ast.unparse(tree)
    boundary.place.put(boundary.node)
    assert ast.unparse(ast.fix_missing_locations(tree)) == before.replace(
        "value > LIMIT", "value >= LIMIT"
    )
    assert boundary.told.function == "judged"


@pytest.mark.parametrize("file", ["harness/parsing/answers.py", "harness/grading/verdict.py"])
def test_every_mutant_is_a_program(file: str) -> None:
    """A mutant that cannot be compiled would count as noticed without being looked at."""
    source = (ROOT / file).read_text(encoding="utf-8")
    tree = ast.parse(source)
    lines = frozenset(range(1, len(source.splitlines()) + 1))
    mutants = mutants_of(file, source, tree, lines)
    assert len(mutants) > 50
    for mutant in mutants:
        place = mutant.place
        held = getattr(place.parent, place.field)
        before = held if place.index is None else held[place.index]
        place.put(mutant.node)
        compile(ast.fix_missing_locations(tree), file, "exec")
        place.put(before)
