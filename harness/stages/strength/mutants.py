"""Mutants of our own code by syntax tree: one small change each, such as a slip would make.

Nothing is run here. A mutant knows where in the tree it stands, so that whoever judges it can put
it there, compile the tree, and go on in a process that is thrown away.

Not changed: annotations, decorators, imports and docstrings, which run no grade; `strict=`, which
only guards against ourselves; the wording of reasons.
"""

import ast
import io
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from harness.records.validation import Mutation
from harness.stages.strength.operators import Variant, variants
from harness.stages.strength.wording import wording_in

SKIPPED_FIELDS = frozenset(
    {"annotation", "returns", "decorator_list", "type_comment", "type_params", "format_spec", "ctx"}
)
Definition = ast.FunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Place:
    """Where a node hangs: a field of its parent, and the index in it where it is a list."""

    parent: ast.AST
    field: str
    index: int | None

    def put(self, node: ast.AST) -> None:
        """Hang another node here."""
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.index] = node


@dataclass(frozen=True)
class Mutant:
    """One change: as it is told to people, and in the tree."""

    told: Mutation
    place: Place
    node: ast.AST


def mutants_of(file: str, source: str, tree: ast.Module, lines: frozenset[int]) -> list[Mutant]:
    """Return every mutant of the lines that ran, and of the constants that they read.

    Parameters
    ----------
    file : how the file is named
    source, tree : its text, and the tree that the mutants are to be put into
    lines : numbers of the lines that ran
    """
    counted = lines | _constant_lines(tree, lines)
    return list(_Finder(file, source, counted, wording_in(tree)).found(tree))


def _constant_lines(tree: ast.Module, lines: frozenset[int]) -> frozenset[int]:
    """Return the lines of module constants, class fields and defaults that the lines depend on."""
    defined = {name: node for node in tree.body for name in _names_bound(node)}
    ran = [node for node in ast.walk(tree) if getattr(node, "lineno", 0) in lines]
    wanted = _names_read(ran)
    reached: dict[str, ast.stmt] = {}
    while new := [name for name in wanted if name in defined and name not in reached]:
        for name in new:
            reached[name] = defined[name]
            if not isinstance(defined[name], ast.FunctionDef):
                wanted |= _names_read(ast.walk(defined[name]))
    found: set[int] = set()
    for node in reached.values():
        if isinstance(node, ast.Assign | ast.AnnAssign) and not _is_type(node):
            found |= _lines_of(node)
        elif isinstance(node, ast.ClassDef):
            found |= {n for part in node.body if _is_field(part) for n in _lines_of(part)}
    for part in ast.walk(tree):
        if isinstance(part, ast.FunctionDef) and any(_lines_of(s) & lines for s in part.body):
            defaults = [*part.args.defaults, *(d for d in part.args.kw_defaults if d)]
            found |= {line for default in defaults for line in _lines_of(default)}
    return frozenset(found)


def _is_field(node: ast.stmt) -> bool:
    return isinstance(node, ast.AnnAssign) and node.value is not None


def _is_type(node: ast.Assign | ast.AnnAssign) -> bool:
    """Say whether an assignment makes a type variable, which no grade reads."""
    match node.value:
        case ast.Call(func=ast.Name(id="TypeVar")):
            return True
    return False


def _names_bound(node: ast.stmt) -> list[str]:
    if isinstance(node, Definition):
        return [node.name]
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign):
        targets = [node.target]
    return [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]


def _names_read(nodes: Iterable[ast.AST]) -> set[str]:
    return {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def _lines_of(node: ast.stmt | ast.expr) -> set[int]:
    return set(range(node.lineno, (node.end_lineno or node.lineno) + 1))


class _Finder:
    """Walks over a tree and asks the operators at every node whose line counts."""

    def __init__(
        self, file: str, source: str, lines: frozenset[int], wording: frozenset[ast.AST]
    ) -> None:
        self._file = file
        self._text = _without_comments(source)
        self._lines = lines
        self._wording = wording

    def found(self, node: ast.AST, function: str = "") -> Iterator[Mutant]:
        """Yield the mutants below a node."""
        for place, child in _children(node):
            yield from self._at(place, child, function)
            inside = function
            if isinstance(child, Definition):
                inside = f"{function}.{child.name}" if function else child.name
            yield from self.found(child, inside)

    def _at(self, place: Place, node: ast.AST, function: str) -> Iterator[Mutant]:
        line = getattr(node, "lineno", 0)
        if line not in self._lines or node in self._wording:
            return
        seen = {_shown(node, Variant("", node))}  # a change to the same is none
        for variant in variants(node, place.parent, place.field):
            change = _shown(node, variant)
            if change in seen:
                continue
            seen.add(change)
            told = Mutation(
                file=self._file,
                function=function,
                line=line,
                text=self._text[line - 1].strip(),
                operator=variant.operator,
                change=change,
            )
            yield Mutant(told, place, variant.node)


def _without_comments(source: str) -> list[str]:
    """Return the lines without the comments behind them: rewording one changes no mutant."""
    lines = source.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column].rstrip()
    return lines


def _children(node: ast.AST) -> Iterator[tuple[Place, ast.AST]]:
    for field, value in ast.iter_fields(node):
        if field in SKIPPED_FIELDS:
            continue
        if isinstance(value, ast.AST):
            yield Place(node, field, None), value
        elif isinstance(value, list):
            for index, item in enumerate(value):
                if isinstance(item, ast.AST) and not _is_silent(item):
                    yield Place(node, field, index), item


def _is_silent(node: ast.AST) -> bool:
    """Say whether a node runs no grade: a docstring, an import, a guard's `strict`."""
    match node:
        case ast.Expr(value=ast.Constant()) | ast.Import() | ast.ImportFrom():
            return True
        case ast.keyword(arg="strict"):
            return True
    return False


def _shown(node: ast.AST, variant: Variant) -> str:
    change = variant.change or f"{ast.unparse(node)} → {ast.unparse(variant.node)}"
    return " ".join(change.split())
