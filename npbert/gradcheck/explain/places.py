"""Place: an expression in the code, and its value when the code runs."""

import ast
import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from npbert.gradcheck.explain.code import STEP, Code, filled, text_of

_INNER = (ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)
_NO_VALUE = (ast.Slice, ast.JoinedStr, ast.Starred, ast.Lambda, ast.FormattedValue)
_ONCE = (ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr)
WRITTEN = "written"


@dataclass(eq=False)
class CodePlace:
    """An expression that may be wrong; or, with the role WRITTEN, an array that a statement has written into.

    holder, role: its parent node, and its role there. hidden: its variables cannot be seen from outside. in_brackets:
    it is in a subscript. looped: it was computed more than once. seen, value, env: whether it was computed, its first
    value, and the local variables then.
    """

    code: Code
    expr: ast.expr
    holder: ast.AST
    role: str
    statement: ast.stmt
    hidden: bool
    in_brackets: bool = False
    looped: bool = False
    seen: bool = False
    value: Any = None
    env: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_index(self) -> bool:
        """True if it is in the brackets of a subscript, or an axis."""
        in_slice = isinstance(self.holder, ast.Slice) or self.role == "slice"
        return in_slice or (isinstance(self.holder, ast.keyword) and self.holder.arg in ("axis", "axes"))

    @property
    def is_count(self) -> bool:
        """True for an index or a part of one, an axis, and the ends of a range."""
        called = getattr(self.holder, "func", None)
        return self.in_brackets or self.is_index or (self.role == "args" and getattr(called, "id", "") == "range")

    @property
    def is_float(self) -> bool:
        """True if it is a float, or an array of floats."""
        return isinstance(self.value, float | np.floating | np.ndarray) and np.asarray(self.value).dtype.kind == "f"

    @property
    def sorts(self) -> str:
        """Return the grammar's letters for its kind."""
        e, value, ndim = self.expr, self.value, getattr(self.value, "ndim", 0)
        is_array, is_name = isinstance(value, np.ndarray), isinstance(e, ast.Name | ast.Attribute)
        is_constant = isinstance(e, ast.Constant) and type(e.value) in (int, float)
        is_truth = isinstance(value, bool) or getattr(value, "dtype", None) == np.bool_
        is_open = self.is_float and not (self.is_index or self.hidden)
        is_computed = not isinstance(e, ast.Constant | ast.UnaryOp) and not isinstance(self.holder, ast.Compare)
        is_size = isinstance(value, int | np.integer) and not is_truth
        letters = {
            "x": is_open,
            "r": is_open and (self.is_whole or self.is_one_of_several),
            "s": (self.is_float or not self.seen) and is_computed,
            "m": (is_array and ndim == 2) or (not self.seen and is_name),
            "t": is_array and ndim > 2,
            "n": is_size and not isinstance(e, ast.Constant) and not self.is_index,
            "i": is_size and self.in_brackets,
            "c": is_constant,
            "p": self.is_whole and isinstance(e, ast.BinOp | ast.Call),
            "v": is_name or isinstance(e, ast.Subscript),
        }
        return "".join(letter for letter, holds in letters.items() if holds)

    @property
    def is_whole(self) -> bool:
        """True if its statement computes nothing else."""
        return isinstance(self.holder, ast.stmt) and self.role != WRITTEN

    @property
    def is_one_of_several(self) -> bool:
        """True if its statement computes several values, with commas, and it is one of them."""
        is_one = isinstance(self.holder, ast.Tuple | ast.List | ast.Dict)
        return is_one and self.holder is getattr(self.statement, "value", None)

    @property
    def is_returned_name(self) -> bool:
        """True if it is a name, returned alone or with others."""
        is_name = isinstance(self.expr, ast.Name | ast.Attribute) and isinstance(self.statement, ast.Return)
        return is_name and (self.is_whole or self.is_one_of_several)


def places_in(code: Code) -> list[CodePlace]:
    """Return all expressions whose value is read, outer before inner ones, and the arrays that are written into."""
    top = CodePlace(code, ast.Constant(0), code.tree, "body", ast.Pass(), hidden=False)
    functions = enumerate(code.tree.body)
    return [place for n, function in functions for place in _places(function, replace(top, hidden=n > 0))]


def _places(node: ast.AST, at: CodePlace, *, is_entry: bool = True) -> Iterator[CodePlace]:
    """at: the known properties of a place there"""
    if isinstance(node, ast.stmt):
        at = replace(at, statement=node)
        written = _written_by(node)
        if written is not None:
            yield replace(at, expr=written, holder=node, role=WRITTEN)
    if isinstance(node, ast.expr) and at.role not in ("func", WRITTEN) and _is_read(node):
        yield replace(at, expr=node, hidden=at.hidden or _is_once(node))
    inner_kinds = _INNER if at.code.leaves_functions else (*_INNER, ast.FunctionDef)
    hidden = at.hidden or (isinstance(node, inner_kinds) and not is_entry)
    for name, value in ast.iter_fields(node):
        for number, each in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(each, ast.AST) and not isinstance(each, ast.arguments) and not is_idle(each):
                role = WRITTEN if _is_written(node, name, number) else name
                inner = at.in_brackets or name == "slice"
                below = replace(at, holder=node, role=role, hidden=hidden, in_brackets=inner)
                yield from _places(each, below, is_entry=False)


def _is_written(holder: ast.AST, role: str, number: int) -> bool:
    """True if it is an array that is written into: a of `a[i] = …` and np.add.at(a, …), or the value of out=."""
    if isinstance(getattr(holder, "ctx", None), ast.Store):
        return role == "value"
    if isinstance(holder, ast.Call) and role == "args" and number == 0:
        return isinstance(holder.func, ast.Attribute) and holder.func.attr == "at"
    return isinstance(holder, ast.keyword) and holder.arg == "out"


def _written_by(statement: Any) -> ast.expr | None:
    """Return the array that a statement changes, to be read after it: x of `x += a`, `x[i] = a`, `np.add.at(x, …)`."""
    target: Any = None
    if isinstance(statement, ast.AugAssign):
        target = statement.target
    elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript):
        target = statement.targets[0]
    elif isinstance(statement, ast.Expr) and _is_written(statement.value, "args", 0):
        target = statement.value.args[0]  # type: ignore[attr-defined]
    return target and filled(text_of(target.value if isinstance(target, ast.Subscript) else target))


def _is_read(node: ast.expr) -> bool:
    """True if it has a value and is not written to."""
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    return isinstance(getattr(node, "ctx", ast.Load()), ast.Load) and not any(isinstance(p, _NO_VALUE) for p in parts)


def _is_once(node: ast.expr) -> bool:
    """True if it cannot be computed alone."""
    return any(isinstance(each, _ONCE) or getattr(each, "id", "") == "super" for each in ast.walk(node))


def is_idle(node: ast.AST) -> bool:
    """True if it is a docstring, or the call that counts the rounds of a loop."""
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) or getattr(getattr(value, "func", None), "id", "") == STEP


def compiled_expression(node: Any) -> Any:
    """Return the code of an expression, or code that fails."""
    with contextlib.suppress(SyntaxError, ValueError, TypeError):
        return compile(ast.Expression(node), "<candidate>", "eval")
    return compile("[][0]", "<candidate>", "eval")


def copied(value: Any) -> Any:
    """Return a copy of an array, or of arrays in a tuple or list, as NumPy arrays; any other value unchanged."""
    if hasattr(value, "__array__") and not isinstance(value, np.generic):
        return np.array(value)
    return type(value)(map(copied, value)) if type(value) in (tuple, list) else value


def broadcasts(value: Any, to: Any) -> bool:
    """True if a number or array broadcasts to `to` without changing its shape; never for a list."""
    if not isinstance(value, np.ndarray | np.generic | int | float):
        return False
    a, b = np.shape(value), np.shape(to)
    return len(a) <= len(b) and all(x in (1, y) for x, y in zip(a[::-1], b[::-1], strict=False))
