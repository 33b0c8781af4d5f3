"""Mutants of a file: one small change each, found in its syntax tree and made in its text.

Left out, because no test of behaviour can or should tell them apart:

- docstrings, annotations and names of types, imports, ``__all__`` and blocks ``if TYPE_CHECKING``
- what errors and warnings say: where it matters, tests match it; that an error is raised at all is a mutant
- the arguments of decorators
- ``strict=`` of zip, which only asserts; ``np.errstate``, ``order=`` and ``copy=``, which change no value
- module constants that only cut work into pieces (`PIECES`)
- ``assert``, and lines with ``pragma: no cover``
"""

import ast
import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# Sizes of chunks, blocks and caches: any positive number gives the same answers.
PIECES = {"CHUNK_ROWS", "READ_ROWS", "BLOCK_ROWS", "FEW_CLASSES"}
NO_VALUE = {"strict", "order", "copy", "stacklevel"}  # keywords that change no value
COMPARISONS = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
OPERATIONS = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "/",
    ast.Div: "*",
    ast.FloorDiv: "*",
    ast.Mod: "*",
    ast.Pow: "*",
    ast.BitOr: "&",
    ast.BitAnd: "|",
    ast.LShift: ">>",
    ast.RShift: "<<",
}


@dataclass(frozen=True, order=True)
class Mutant:
    """One change of a file.

    Parameters
    ----------
    path : str
        The file, below ``src``.
    line, column : int
        Where the change begins; lines count from 1, columns in bytes.
    end_line, end_column : int
        Where it ends.
    new : str
        What stands there instead.
    old : str
        What stood there.
    """

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    new: str
    old: str

    def __str__(self) -> str:
        old, new = (" ".join(text.split()) for text in (self.old, self.new))
        return f"{self.path}:{self.line}: {old[:70]}  →  {new[:70]}"

    def applied(self, source: str) -> str:
        """The file with the change."""
        lines = [line.encode() for line in source.splitlines(keepends=True)]
        before = b"".join(lines[: self.line - 1]) + lines[self.line - 1][: self.column]
        after = lines[self.end_line - 1][self.end_column :] + b"".join(lines[self.end_line :])
        return (before + self.new.encode() + after).decode()


def mutants_of(path: Path, source_root: Path) -> list[Mutant]:
    """All mutants of a file, in its order. Some may not compile."""
    source = path.read_text(encoding="utf-8")
    lines = source.splitlines()
    name = path.relative_to(source_root).as_posix()
    found = {}
    for node, new in _Walk().of(ast.parse(source)):
        old = ast.get_source_segment(source, node) or ""
        if not _is_there(node, old):
            continue
        mutant = Mutant(name, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset, new(old), old)
        if "pragma: no cover" not in lines[mutant.line - 1]:
            found[mutant] = None
    return sorted(found)


def compiles(mutant: Mutant, source_root: Path) -> bool:
    """Whether the changed file is Python."""
    source = mutant.applied((source_root / mutant.path).read_text(encoding="utf-8"))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            compile(source, "mutant", "exec")
    except SyntaxError:
        return False
    return True


def _is_there(node: ast.AST, text: str) -> bool:
    """Whether this is the text of the node: in f-strings, Python before 3.12 may point elsewhere."""
    if isinstance(node, ast.stmt):
        return True
    try:
        return ast.unparse(ast.parse(f"({text})", mode="eval")) == ast.unparse(node)
    except SyntaxError:
        return False


class _Walk:
    """Goes through a tree and leaves out what the rules above name."""

    def of(self, node: ast.AST) -> Iterator:
        """The changes of a node and of all below it."""
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Raise | ast.Assert):
            if isinstance(node, ast.Raise):
                yield node, lambda _: "pass"
            return
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            return
        if isinstance(node, ast.Assign | ast.AnnAssign) and self._is_left_out(node):
            return
        yield from self._here(node)
        if isinstance(node, ast.JoinedStr):  # its texts are parts of one
            for part in node.values:
                if isinstance(part, ast.FormattedValue):
                    yield from self.of(part.value)
            return
        for child in self._children(node):
            yield from self.of(child)

    def _is_left_out(self, node: ast.Assign | ast.AnnAssign) -> bool:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = {target.id for target in targets if isinstance(target, ast.Name)}
        return bool(names & (PIECES | {"__all__"}))

    def _children(self, node: ast.AST) -> Iterator[ast.AST]:
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "type_comment"):
                continue
            values = value if isinstance(value, list) else [value]
            for child in values:
                if not isinstance(child, ast.AST) or _is_docstring(child):
                    continue
                if isinstance(child, ast.Subscript) and ast.unparse(child.value) in ("Literal", "Callable"):
                    continue
                if isinstance(child, ast.keyword) and child.arg in NO_VALUE:
                    continue
                if isinstance(child, ast.Call) and _says_nothing(child):
                    continue
                yield child

    def _here(self, node: ast.AST) -> Iterator:
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARISONS:
            left, right = node.left, node.comparators[0]
            yield node, _joined(left, COMPARISONS[type(node.ops[0])], right)
        elif isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS and not _is_text(node) and not _is_type(node):
            yield node, _joined(node.left, OPERATIONS[type(node.op)], node.right)
        elif isinstance(node, ast.BoolOp):
            other = "or" if isinstance(node.op, ast.And) else "and"
            parts = [f"({ast.unparse(value)})" for value in node.values]
            yield node, lambda _: f" {other} ".join(parts)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
            inner = ast.unparse(node.operand)
            yield node, lambda _: f"({inner})"
        elif isinstance(node, ast.JoinedStr):
            yield node, lambda old: f'("XX" + {old})'
        elif isinstance(node, ast.If | ast.IfExp) and not _is_changed_itself(node.test):
            test = ast.unparse(node.test)
            yield node.test, lambda _: f"(not ({test}))"
        elif isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
            yield node, lambda _: "return None"
        elif isinstance(node, ast.AugAssign | ast.Delete) or (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
        ):
            yield node, lambda _: "pass"
        elif isinstance(node, ast.Break):
            yield node, lambda _: "continue"
        elif isinstance(node, ast.Continue):
            yield node, lambda _: "break"
        elif isinstance(node, ast.Constant):
            yield from _constant(node)


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _says_nothing(call: ast.Call) -> bool:
    """Whether a call makes an error or a warning, or changes no value."""
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name in ("warn", "errstate", "TypeVar", "cast") or name.endswith(("Error", "Warning"))


def _is_changed_itself(test: ast.AST) -> bool:
    """Whether the opposite of a condition is a mutant of the condition already."""
    is_opposed = isinstance(test, ast.Compare) and len(test.ops) == 1
    return (is_opposed and isinstance(test.ops[0], ast.Eq | ast.NotEq | ast.Is | ast.IsNot | ast.In | ast.NotIn)) or (
        isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    )


def _joined(left: ast.AST, operator: str, right: ast.AST):
    first, second = ast.unparse(left), ast.unparse(right)
    return lambda _: f"(({first}) {operator} ({second}))"


def _is_text(node: ast.BinOp) -> bool:
    """Whether texts or annotations are joined: another operator is an error at once, and no test of anything."""
    sides = (node.left, node.right)
    return any(
        isinstance(side, ast.JoinedStr) or (isinstance(side, ast.Constant) and isinstance(side.value, str | None))
        for side in sides
    )


def _is_type(node: ast.BinOp) -> bool:
    """Whether this is ``int | str``."""
    names = {"int", "str", "float", "bool", "list", "dict", "tuple", "Term", "None"}
    return isinstance(node.op, ast.BitOr) and any(
        isinstance(side, ast.Name) and (side.id in names or side.id[0].isupper()) for side in (node.left, node.right)
    )


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _constant(node: ast.Constant) -> Iterator:
    value = node.value
    if isinstance(value, bool):
        yield node, lambda _: str(not value)
    elif isinstance(value, int):
        yield node, lambda _: str(value + 1)
    elif isinstance(value, float) and math.isfinite(value):
        yield node, lambda _: repr(value * 2.0 if value else 1.0)
    elif isinstance(value, str):
        yield node, lambda _: repr(f"XX{value}")
