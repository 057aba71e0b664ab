"""A block ends only with its own kind of fence, at least as long as the one that opened it."""

import pytest

from harness.parsing.fences import opening_fence


@pytest.mark.parametrize(
    ("line", "signs", "info"),
    [
        ("```", "```", ""),
        ("```py", "```", "py"),
        ("```Python3", "```", "Python3"),
        ("``` python", "```", "python"),
        ('```python title="a.py"', "```", 'python title="a.py"'),
        ("```{.python .numbered}", "```", "{.python .numbered}"),
        ("`````", "`````", ""),
        ("~~~", "~~~", ""),
        ("~~~~~text", "~~~~~", "text"),
        ("~~~ a `b` c", "~~~", "a `b` c"),
        ("   ```py", "```", "py"),
        ("\t```py", "```", "py"),
        ("```   ", "```", ""),
    ],
)
def test_opening_fences(line: str, signs: str, info: str) -> None:
    """Three or more of one kind open a block, indented or not; the rest is information."""
    fence = opening_fence(line)

    assert fence is not None
    assert (fence.signs, fence.info) == (signs, info)


@pytest.mark.parametrize(
    "line", ["", "``", "~~", "`~`", "```code``` in a sentence", "text ```", "> ```", "'''", '"""']
)
def test_lines_that_open_nothing(line: str) -> None:
    """Inline code, two signs, and quotation marks are no fences."""
    assert opening_fence(line) is None


@pytest.mark.parametrize(
    ("opening", "line", "closes"),
    [
        ("```", "```", True),
        ("```py", "```  ", True),
        ("```py", "````", True),
        ("```py", "   ```", True),
        ("````", "```", False),
        ("```", "~~~", False),
        ("~~~", "```", False),
        ("~~~~", "~~~", False),
        ("```", "```py", False),
        ("```", "``` x", False),
        ("```", "    ```", False),
        ("```", "", False),
        ("```", "``", False),
        ("   ```", "```", True),
        ("    ```", "    ```", True),
        ("    ```", "       ```", True),
        ("    ```", "        ```", False),
    ],
)
def test_closing_fences(opening: str, line: str, closes: bool) -> None:
    """The same kind, at least as long, alone on its line, and not deep inside the content."""
    fence = opening_fence(opening)

    assert fence is not None
    assert fence.closed_by(line) is closes


def test_content_loses_the_indentation_of_its_fence() -> None:
    """A block in a list is dedented as far as its fence, and never beyond a line's own text."""
    fence = opening_fence("  ```py")

    assert fence is not None
    assert [fence.content(line) for line in ("  x", "    y", " z", "w", "")] == [
        "x", "  y", "z", "w", "",
    ]  # fmt: skip
