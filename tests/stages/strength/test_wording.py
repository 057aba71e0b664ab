"""What is only the wording of a reason, and what only looks like it."""

import ast
from textwrap import dedent

import pytest

from harness.stages.strength.wording import wording_in


def wording(code: str) -> set[str]:
    """The largest expressions of wording, as text."""
    tree = ast.parse(dedent(code))
    found = wording_in(tree)
    inside = {child for node in found for child in ast.iter_child_nodes(node)}
    return {ast.unparse(node) for node in found - inside}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("observed('k', a > b, 0.5, why(a))", {"why(a)"}),
        ("failed(text)", {"text"}),
        ("weighted(found, because=text)", {"text"}),
        ("verdict.gated(share, told)", {"told"}),
        ("x = f'wrote {a}, right is {b}'", {"f'wrote {a}, right is {b}'"}),
        ("x = f'wrote {a}, no' + (f' ({b})' if b else '')", None),
        ("x = f'CONFLICT {k}'", set()),  # a key
        ("x = f'P{number}.{level}'", set()),
        ("x = f'{of}_limit'", set()),
        ("x = rf'{number}\\s*(?:or)\\s*{number}'", set()),  # a pattern
        ("x = 'plain text with blanks'", set()),  # texts alone are told apart when they are tried
    ],
)
def test_reasons_are_known_by_their_place_and_by_their_words(
    code: str, expected: set[str] | None
) -> None:
    """Keys and patterns decide points, sentences do not."""
    if expected is None:
        expected = {ast.unparse(ast.parse(code).body[0].value)}
    assert wording(code) == expected


def test_a_name_that_is_read_in_wording_only_is_wording() -> None:
    """So the look-up of a known error's name counts no more than its text."""
    assert "work.trap(key)" in wording(
        """
        def judged(work, key):
            name = work.trap(key)
            told = f" ({name})" if name else ""
            return observed(key, 0, 1, f"wrote {key}, no{told}")
        """
    )


def test_a_name_that_is_also_read_elsewhere_counts() -> None:
    """A value that decides is no wording because it is shown as well."""
    assert not any(
        "measure" in text
        for text in wording(
            """
            def judged(work, key):
                total = measure(work)
                return observed(key, total > 3, 1, f"a total of {total}")
            """
        )
    )


def test_a_function_that_is_called_in_wording_only_is_wording() -> None:
    """Its body makes sentences; one that is called elsewhere as well does not."""
    code = """
        def told(run):
            return "late" if run.late else "early"

        def also(run):
            return "late" if run.late else "early"

        def judged(run):
            return observed("k", also(run) == "late", 1, f"it was {told(run)} or {also(run)}")
        """
    tree = ast.parse(dedent(code))
    found = wording_in(tree)
    told, also, _ = tree.body
    assert isinstance(told, ast.FunctionDef)
    assert isinstance(also, ast.FunctionDef)
    assert told.body[0] in found
    assert also.body[0] not in found
