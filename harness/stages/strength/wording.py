"""Which expressions of a module only make the text of a reason.

Points do not depend on them, so mutants of them say nothing about a task's sets. An expression is
wording when it is

- an argument that takes a reason (`observed(…, reason)`, `failed(reason)`, `because=…`),
- an f-string with words of prose in it, or a sum with one,
- the value of a local name that is read in wording only,
- the body of a function of the same module that is called in wording only.

Everything else counts, also where it happens to end in a reason.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

REASON_PLACES = {
    "observed": 3,
    "failed": 0,
    "passed": 0,
    "weighted": 1,
    "gated": 1,
    "Reading": 1,
    "Verdict": 1,
    "Matrix": 3,
}
REASON_KEYWORDS = frozenset({"reason", "because", "gate_reason", "by_reason", "note"})
PROSE = re.compile(r"(?:^|[ ,;])[a-z]{2,}(?=[ ,;:]|$)")
PATTERN_SIGNS = re.compile(r"[\\\[\]^*+?]")  # then it is a regular expression


def wording_in(tree: ast.Module) -> frozenset[ast.AST]:
    """Return every node that lies in an expression of wording."""
    found: set[ast.AST] = set()
    for node in ast.walk(tree):
        for part in _wording_at(node):
            found.update(ast.walk(part))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    at_top = {node.name: node.body for node in tree.body if isinstance(node, ast.FunctionDef)}
    while True:
        before = len(found)
        for function in functions:
            _add(_values_of(function), function, found)
        _add(at_top, tree, found)
        if len(found) == before:
            return frozenset(found)


def _wording_at(node: ast.AST) -> Iterator[ast.AST]:
    if _is_prose(node):
        yield node
    if isinstance(node, ast.Call):
        place = REASON_PLACES.get(_called(node))
        if place is not None and len(node.args) > place:
            yield node.args[place]
        yield from (k.value for k in node.keywords if k.arg in REASON_KEYWORDS)


def _called(node: ast.Call) -> str:
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _is_prose(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _is_prose(node.left) or _is_prose(node.right)
    if not isinstance(node, ast.JoinedStr):
        return False
    parts = [v.value for v in node.values if isinstance(v, ast.Constant)]
    texts = [part for part in parts if isinstance(part, str)]
    return not any(map(PATTERN_SIGNS.search, texts)) and any(
        " " in text and PROSE.search(text) for text in texts
    )


def _add(given: Mapping[str, Sequence[ast.AST]], inside: ast.AST, found: set[ast.AST]) -> None:
    """Add what names stand for that are read in wording only."""
    reads: dict[str, list[ast.Name]] = {}
    for node in ast.walk(inside):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            reads.setdefault(node.id, []).append(node)
    for name, parts in given.items():
        if name in reads and all(read in found for read in reads[name]):
            for part in parts:
                found.update(ast.walk(part))


def _values_of(function: ast.FunctionDef) -> dict[str, list[ast.expr]]:
    """Return local name → what it is given, for names that only plain assignments give."""
    values: dict[str, list[ast.expr]] = {}
    stores: dict[str, int] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            stores[node.id] = stores.get(node.id, 0) + 1
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            for target, value in _pairs(node.targets[0], node.value):
                values.setdefault(target.id, []).append(value)
    return {name: given for name, given in values.items() if stores[name] == len(given)}


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.Name, ast.expr]]:
    if isinstance(target, ast.Name):
        yield target, value
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for one, given in zip(target.elts, value.elts, strict=False):
            if isinstance(one, ast.Name):
                yield one, given
