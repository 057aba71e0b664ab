"""Which methods of a foreign test file compute what they compare. Sent as a snippet.

An expected value that is worked out by the file itself is no expected value: a copy of the tested
module in the tests would find every change of it. So a method may compute with literals only, and
what stands outside the methods serves all of them. See `grading.mutation`.
"""

import ast
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

COMPUTING = frozenset({"sum", "divmod", "pow"})
REACHING = frozenset(
    [
        *("exec", "eval", "compile", "getattr", "globals", "vars", "__import__", "open"),
        *("random", "inspect", "sys", "os", "types", "gc"),
    ]
)
DUNDERS_ALLOWED = frozenset({"__name__"})
MODULES_ALLOWED = frozenset({"unittest", "typing", "__future__"})
Function = ast.FunctionDef | ast.AsyncFunctionDef
Literal = (ast.Constant, ast.UnaryOp, ast.BinOp, ast.List, ast.Tuple, ast.Set, ast.Dict)


def main(payload: dict[str, Any]) -> dict[str, Any]:
    """Return what ``payload["text"]``, tests of ``payload["module"]``, does beside calling it.

    functions : what a star import of the module would bind

    uses_module : a test method names something imported from the module, or something of the
        file that does
    shared : why no method counts, or nothing
    methods : ``Class.method`` → why this one does not count, or nothing
    """
    warnings.simplefilter("ignore")
    try:
        tree = ast.parse(payload["text"].encode("utf-8"))
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return {"compiles": False}
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    allowed = MODULES_ALLOWED | {payload["module"]}
    own = {
        f"{name}.{method.name}": broken_rule(method.body, allowed)
        for name, node in classes.items()
        for method in tests_of(node)
    }
    broken = {key.rpartition(".")[2]: why for key, why in own.items() if why}
    return {
        "compiles": True,
        "uses_module": uses_module(tree, payload["module"], payload["functions"]),
        "shared": broken_rule(outside_tests(tree), allowed) or called_rule(tree, broken),
        "methods": own | inherited(classes, own),
    }


def tests_of(node: ast.ClassDef) -> list[Function]:
    """Return the test methods that stand in a class."""
    return [
        item
        for item in node.body
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef) and item.name.startswith("test")
    ]


def inherited(classes: dict[str, ast.ClassDef], own: dict[str, str]) -> dict[str, str]:
    """Return the test methods that a class has from another one of the file."""
    found: dict[str, str] = {}
    for _ in classes:  # a base may stand further down
        for name, node in classes.items():
            for base in node.bases:
                for key, why in list((own | found).items()):
                    owner, method = key.split(".")
                    if owner == named(base) and f"{name}.{method}" not in own:
                        found.setdefault(f"{name}.{method}", why)
    return found


def imported_modules(node: ast.AST) -> list[str]:
    """Return the modules that one import statement names."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [node.module or "."]
    return []


def outside_tests(tree: ast.Module) -> list[ast.AST]:
    """Return everything but the bodies of the test methods, which alone run on their own."""
    found: list[ast.AST] = []
    for node in tree.body:
        if not isinstance(node, ast.ClassDef):
            found.append(node)
            continue
        found += [*node.bases, *node.keywords, *node.decorator_list]
        tests = tests_of(node)
        for item in node.body:
            if item in tests:
                assert isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)
                found += [*item.decorator_list, item.args]
            else:
                found.append(item)
    return found


def called_rule(tree: ast.Module, broken: dict[str, str]) -> str:
    """Return why no method counts if one that does not count is used by other code."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Name | ast.Constant):
            name = node.value if isinstance(node, ast.Constant) else named(node)
            if isinstance(name, str) and name in broken:
                return f"uses {name} (line {node.lineno}), which {broken[name]}"
    return ""


def broken_rule(nodes: Sequence[ast.AST], allowed: frozenset[str]) -> str:
    """Return the first rule that a piece of code breaks, with its line; or nothing."""
    for top in nodes:
        for node in ast.walk(top):
            why = why_broken(node, allowed)
            if why:
                return f"{why} (line {getattr(node, 'lineno', '?')})"
    return ""


def why_broken(node: ast.AST, allowed: frozenset[str]) -> str:
    """Return what is wrong with one node alone."""
    for module in imported_modules(node):
        if module.split(".")[0] not in allowed:
            return f"imports {module}"
    if isinstance(node, ast.AugAssign):
        return "computes with names"
    if isinstance(node, ast.BinOp) and not is_literal(node) and not is_text(node):
        return "computes with names"
    if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not) and not is_literal(node):
        return "computes with names"
    name = named(node)
    if name in REACHING or (name.startswith("__") and name not in DUNDERS_ALLOWED):
        return f"uses {name}"
    return f"computes with {name}" if name in COMPUTING else ""


def named(node: ast.AST) -> str:
    """Return the name or attribute that a node is, or nothing."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def is_literal(node: ast.AST) -> bool:
    """Say whether an expression is made of literals and operators alone."""
    return all(
        isinstance(part, (*Literal, ast.operator, ast.unaryop, ast.expr_context))
        for part in ast.walk(node)
    )


def is_text(node: ast.BinOp) -> bool:
    """Say whether an operator joins or formats text: then no number comes out."""
    if isinstance(node.op, ast.Mod):
        return is_string(node.left)
    return isinstance(node.op, ast.Add) and (is_string(node.left) or is_string(node.right))


def is_string(node: ast.expr) -> bool:
    """Say whether an expression is text, by its looks."""
    if isinstance(node, ast.BinOp):
        return is_text(node)
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    return isinstance(node, ast.JoinedStr)


def uses_module(tree: ast.Module, module: str, functions: list[str]) -> bool:
    """Say whether a test method names the module, directly or by something else of the file."""
    known = set(names_of_module(tree, module))
    known |= set(functions) if "*" in known else set()
    pieces = list(named_pieces(tree))
    for _ in pieces:
        known |= {name for name, node in pieces if known & mentioned(node)}
    return any(
        known & mentioned(method)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and is_test_case(node, tree)
        for method in tests_of(node)
    )


def names_of_module(tree: ast.Module, module: str) -> Iterator[str]:
    """Yield the names that the file's imports of the module bind."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == module:
                    yield alias.asname or module
        elif isinstance(node, ast.ImportFrom) and node.module == module:
            for alias in node.names:
                yield alias.asname or alias.name


def named_pieces(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """Yield (name, node) of what the module level and the classes define, tests left out."""
    for node in tree.body:
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        for item in inner:
            if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef):
                yield item.name, item
            elif isinstance(item, ast.Assign | ast.AnnAssign):
                targets = item.targets if isinstance(item, ast.Assign) else [item.target]
                names = [named(part) for target in targets for part in ast.walk(target)]
                yield from ((name, item) for name in names if name)


def mentioned(node: ast.AST) -> set[str]:
    """Return every name and attribute that stands in a node."""
    return {named(part) for part in ast.walk(node)} - {""}


def is_test_case(node: ast.ClassDef, tree: ast.Module) -> bool:
    """Say whether a class derives from a TestCase, by its bases' names."""
    classes = {c.name: c for c in ast.walk(tree) if isinstance(c, ast.ClassDef)}
    seen: set[str] = set()
    waiting = [node]
    while waiting:
        for base in waiting.pop().bases:
            name = named(base)
            if name.endswith("TestCase"):
                return True
            if name in classes and name not in seen:
                seen.add(name)
                waiting.append(classes[name])
    return False
