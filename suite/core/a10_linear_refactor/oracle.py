"""Second method for A10: run the slow functions that stand in the prompt.

It reads nothing but the rendered prompt: the module is taken from its code block, and every
function in it is asked for all lists of a small domain. The bounds are read from their sentences.
"""

import ast
import hashlib
import re

ALLOWED = {"abs": abs, "len": len, "range": range, "ValueError": ValueError}  # all it may use
ELEMENTS = range(-1, 4)
PARAMETERS = range(-1, 4)
LONGEST = 5


def answers(prompt: str) -> dict[str, str]:
    """Return a digest of the results of each function, and the three numbers of the bounds."""
    module = re.search(r"```python\n(.*?)```", prompt, re.DOTALL)[1]
    space = {"__builtins__": ALLOWED}
    exec(module, space)  # noqa: S102 (the prompt's own text, with four builtins)
    functions = [node for node in ast.parse(module).body if isinstance(node, ast.FunctionDef)]
    found = {f.name: _digest(space[f.name], len(f.args.args) > 1) for f in functions}
    numbers = {
        "reads per element": r"At most (\d+)n element reads",
        "longest list": r"n up to ([\d,]+):",
        "cpu ratio": r"At most (\d+) times the CPU time",
    }
    for key, pattern in numbers.items():
        found[key] = re.search(pattern, prompt)[1].replace(",", "")
    return found


def _digest(function, has_parameter: bool) -> str:  # noqa: ANN001 (any function of the prompt)
    lines = []
    for elements in _lists():
        if has_parameter:
            lines += [_result(function, elements, parameter) for parameter in PARAMETERS]
        else:
            lines.append(_result(function, elements))
    text = "".join(line + "\n" for line in lines)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _lists() -> list[list[int]]:
    """Return every list of up to five elements; of one length, the last element changes first."""
    every = shorter = [[]]
    for _ in range(LONGEST):
        shorter = [[*start, element] for start in shorter for element in ELEMENTS]
        every = every + shorter
    return every


def _result(function, elements: list[int], *rest: int) -> str:  # noqa: ANN001
    try:
        return f"{function(list(elements), *rest)!r}"
    except ValueError:
        return "raises ValueError"
