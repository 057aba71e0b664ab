"""Facts of one foreign Python text, without running it. Sent as a snippet; see `sandbox.facts`."""

import ast
import builtins
import hashlib
import symtable
import warnings
from collections.abc import Callable, Iterator
from typing import Any

TEXT_CHARS = 200
Scope = dict[str, str]
Function = ast.FunctionDef | ast.AsyncFunctionDef
NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler)
INNER = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
MODULE_NAMES = """__annotations__ __builtins__ __cached__ __class__ __doc__ __file__ __loader__
    __module__ __name__ __package__ __path__ __qualname__ __spec__ copyright credits exit help
    license quit"""
KNOWN = frozenset(dir(builtins)) | frozenset(MODULE_NAMES.split())


def main(payload: dict[str, str]) -> dict[str, Any]:
    """Return the facts of ``payload["text"]``; it is compiled as the bytes of a file are."""
    warnings.simplefilter("ignore")
    data = payload["text"].encode("utf-8")
    try:
        compile(data, payload["path"], "exec", dont_inherit=True)
        tree = ast.parse(data)
    except SyntaxError as error:
        return {"compiles": False, "error": error.msg[:TEXT_CHARS], "error_line": error.lineno}
    except (ValueError, RecursionError, MemoryError, OverflowError) as error:
        text = f"{type(error).__name__}: {error}"[:TEXT_CHARS]
        return {"compiles": False, "error": text, "error_line": None}
    star, imports = imports_of(tree)
    return {
        "compiles": True,
        "imports": imports,
        "star_import": star,
        "undefined": [] if star else undefined(data, payload["path"], tree),
        "defines": defines(tree),
        "test_methods": test_methods(tree),
        **digests(tree),
    }


def imports_of(tree: ast.Module) -> tuple[bool, list[dict[str, Any]]]:
    """Return whether anything is imported by a star, and every import of the file."""
    star, found = False, []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [
                {"module": alias.name, "names": [], "line": node.lineno, "level": 0}
                for alias in node.names
            ]
        elif isinstance(node, ast.ImportFrom):
            names = [alias.name for alias in node.names]
            star = star or "*" in names
            found.append(
                {
                    "module": node.module or "",
                    "names": names,
                    "line": node.lineno,
                    "level": node.level,
                }
            )
    return star, sorted(found, key=lambda fact: fact["line"])


def undefined(data: bytes, path: str, tree: ast.Module) -> list[dict[str, Any]]:
    """Return names that are read and bound nowhere, each with the line of its first use."""
    tables = list(below(symtable.symtable(data, path, "exec")))  # type: ignore[arg-type] # bytes
    bound = {
        symbol.get_name()
        for number, table in enumerate(tables)
        for symbol in table.get_symbols()
        if (symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace())
        and (number == 0 or symbol.is_declared_global())
    }
    read = {
        symbol.get_name()
        for table in tables
        for symbol in table.get_symbols()
        if symbol.is_referenced() and symbol.is_global()
    }
    lines: dict[str, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            lines[node.id] = min(node.lineno, lines.get(node.id, node.lineno))
    missing = read - bound - KNOWN
    return [{"name": name, "line": lines.get(name, 1)} for name in sorted(missing)]


def below(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    """Yield a table and all inside it."""
    yield table
    for child in table.get_children():
        yield from below(child)


def defines(tree: ast.Module) -> list[str]:
    """Return the functions and classes at the top of a file."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return [node.name for node in tree.body if isinstance(node, kinds)]


def test_methods(tree: ast.Module) -> list[dict[str, Any]]:
    """Return ``Class.method`` of every test method, and the names it reads."""
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    tests: set[str] = set()
    for _ in classes:  # a class may be derived from one that stands further down
        for node in classes:
            bases = {last_name(base) for base in node.bases}
            if bases & tests or any(base.endswith("TestCase") for base in bases):
                tests.add(node.name)
    return [
        {
            "id": f"{node.name}.{method.name}",
            "line": method.lineno,
            "names": sorted({n.id for n in ast.walk(method) if isinstance(n, ast.Name)}),
        }
        for node in classes
        if node.name in tests
        for method in node.body
        if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef)
        and method.name.startswith("test")
    ]


def last_name(node: ast.expr) -> str:
    """Return the last part of a dotted name, or nothing."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def digests(tree: ast.Module) -> dict[str, Any]:
    """Return the digest of the whole file and of each function at its top.

    Docstrings, annotations and positions do not count, nor do the names that a scope binds: two
    texts that differ in these alone have one digest. A function's digest leaves out its own name.
    """
    names = scope_of(tree, 0)
    whole = [shape(node, (names,)) for node in without_docstring(tree.body)]
    functions = {
        node.name: sha(function_shape(node, ()))
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    return {"tree_digest": sha(whole), "function_digests": functions}


def sha(value: Any) -> str:
    """Return the sha256 of a nested list."""
    return hashlib.sha256(repr(value).encode("utf-8", "surrogatepass")).hexdigest()


def scope_of(node: ast.AST, depth: int) -> Scope:
    """Return name → position for the names that one scope binds, in the order of appearance."""
    outer: set[str] = set()
    order: dict[str, None] = {}
    for child in inside_scope(node):
        if isinstance(child, ast.Global | ast.Nonlocal):
            outer |= set(child.names)
        elif isinstance(child, ast.arg):
            order[child.arg] = None
        elif isinstance(child, ast.Name) and not isinstance(child.ctx, ast.Load):
            order[child.id] = None
        elif isinstance(child, ast.alias):
            order[child.asname or child.name.split(".")[0]] = None
        elif isinstance(child, NAMED) and child.name:
            order[child.name] = None
    return {
        name: f"<{depth}.{number}>"
        for number, name in enumerate(name for name in order if name not in outer)
    }


def inside_scope(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of one scope in order; of an inner one only its name."""
    inner = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, *INNER)
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, inner):
            yield from inside_scope(child)


def without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return a body without its docstring."""
    first = body[0] if body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        return body[1:] if isinstance(first.value.value, str) else body
    return body


def function_shape(node: Function, scopes: tuple[Scope, ...]) -> Any:
    """Return a function's shape without its name and annotations."""
    inner = (*scopes, scope_of(node, len(scopes)))
    return [
        type(node).__name__,
        [shape(decorator, scopes) for decorator in node.decorator_list],
        shape(node.args, inner),
        [shape(statement, inner) for statement in without_docstring(node.body)],
    ]


def shape(node: Any, scopes: tuple[Scope, ...]) -> Any:
    """Return a node as a nested list in which bound names are positions."""
    if isinstance(node, list):
        return [shape(item, scopes) for item in node]
    if not isinstance(node, ast.AST):
        return repr(node)
    special = SPECIAL.get(type(node))
    return special(node, scopes) if special is not None else fields(node, scopes)


def fields(node: ast.AST, scopes: tuple[Scope, ...]) -> Any:
    """Return the shape of a node without rules of its own: its kind and its fields."""
    skipped = ("ctx", "type_comment", "annotation", "returns")
    names = [name for name in node._fields if name not in skipped]
    return [type(node).__name__, *(shape(getattr(node, name), scopes) for name in names)]


def class_shape(node: ast.ClassDef, scopes: tuple[Scope, ...]) -> Any:
    """Return a class's shape; its body has no scope that inner functions could read."""
    heads = [shape(part, scopes) for part in (node.bases, node.keywords, node.decorator_list)]
    body = [shape(statement, scopes) for statement in without_docstring(node.body)]
    return ["class", renamed(node.name, scopes), *heads, body]


def handler_shape(node: ast.ExceptHandler, scopes: tuple[Scope, ...]) -> Any:
    """Return an except clause's shape; its name is bound like any other."""
    name = renamed(node.name, scopes) if node.name else None
    return ["except", shape(node.type, scopes), name, shape(node.body, scopes)]


SPECIAL: dict[type[ast.AST], Callable[[Any, tuple[Scope, ...]], Any]] = {
    ast.FunctionDef: lambda n, s: [renamed(n.name, s), function_shape(n, s)],
    ast.AsyncFunctionDef: lambda n, s: [renamed(n.name, s), function_shape(n, s)],
    ast.ClassDef: class_shape,
    ast.ExceptHandler: handler_shape,
    ast.Name: lambda n, s: ["name", renamed(n.id, s)],
    ast.arg: lambda n, s: ["arg", renamed(n.arg, s)],
    ast.alias: lambda n, s: ["alias", n.name, renamed(n.asname or n.name.split(".")[0], s)],
    ast.Assign: lambda n, s: ["=", shape(n.targets, s), shape(n.value, s)],
    ast.AnnAssign: lambda n, s: ["=", [shape(n.target, s)], shape(n.value, s)],
    ast.Global: lambda n, s: ["global", [renamed(name, s) for name in n.names]],
    ast.Nonlocal: lambda n, s: ["nonlocal", [renamed(name, s) for name in n.names]],
    **{kind: lambda n, s: fields(n, (*s, scope_of(n, len(s)))) for kind in INNER},
}


def renamed(name: str, scopes: tuple[Scope, ...]) -> str:
    """Return a name's position in the innermost scope that binds it, or the name itself."""
    for scope in reversed(scopes):
        if name in scope:
            return scope[name]
    return name
