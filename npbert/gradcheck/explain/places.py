"""Place: an expression in the code, and its value when the code runs."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from npbert.gradcheck.explain.code import Code, text_of
from npbert.gradcheck.paths import listed

# what has variables of its own; what reduces an axis; what has no value to look at
_INNER = (ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)
_REDUCING = ("sum", "mean", "max", "min", "prod", "std", "var", "argmax", "argmin", "cumsum", "any", "all")
_NO_VALUE = (ast.Slice, ast.JoinedStr, ast.Starred, ast.Lambda, ast.FormattedValue, ast.GeneratorExp)


@dataclass(eq=False)
class CodePlace:
    """An expression that may be wrong; or, with `is_target`, an array or name that its statement has changed.

    count: "index", "axis" or "range" if it is a part of one. hidden: its variables cannot be seen from outside.
    is_whole: it is a value of its statement, alone or with others. is_function: it is called.
    seen, value, env: whether it was computed, its first value in the last call, and the local variables then.
    """

    expr: Any
    statement: ast.stmt
    hidden: bool = False
    count: str = ""
    is_whole: bool = True
    is_function: bool = False
    is_target: bool = False
    seen: bool = False
    value: Any = None
    env: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_float(self) -> bool:
        """True if its value is a float, or an array of floats."""
        return is_float(self.value)

    @property
    def has_floats(self) -> bool:
        """True if its value is a float, or an array of floats, or has some."""
        return any(map(is_float, listed(self.value, "").values()))

    @property
    def is_name(self) -> bool:
        """True if it is a name, or an attribute of one."""
        return isinstance(self.expr, ast.Name | ast.Attribute)

    @property
    def name(self) -> str:
        """The name that its statement assigns to it, "return" if it is given, or "" for an array that it writes into,
        and other places."""
        e = self.expr
        if self.is_given:
            return "return"
        return e.id if isinstance(e, ast.Name) and isinstance(e.ctx, ast.Store) else ""

    @property
    def is_result(self) -> bool:
        """True if its value is a result of its statement."""
        is_passed_on = self.is_name or isinstance(self.expr, ast.Constant | ast.Tuple)
        return self.is_target or (self.is_given and not is_passed_on)

    @property
    def is_given(self) -> bool:
        """True if its value is returned, or given to a function."""
        return isinstance(self.statement, ast.Return | ast.Expr) and self.is_whole and not self.is_target

    @property
    def sorts(self) -> str:
        """Return the grammar's letters for its kind."""
        e, value = self.expr, self.value
        ndim = value.ndim if isinstance(value, np.ndarray) else 0
        is_open = self.is_float and not (self.count or self.hidden)
        is_size = isinstance(value, int | np.integer) and not isinstance(value, bool)
        is_condition = isinstance(self.statement, ast.If | ast.While)  # where another sign may only end a branch
        letters = {
            "x": is_open,
            "r": is_open and self.is_whole,
            "o": isinstance(value, np.ndarray | list) and self.is_whole,
            "s": (self.is_float or not self.seen) and not (is_condition or isinstance(e, ast.Constant | ast.UnaryOp)),
            "m": ndim == 2 or (not self.seen and self.is_name),
            "t": ndim > 2,
            "n": is_size and self.count != "axis",
            "k": (is_size or self.is_float) and ndim == 0 and not self.count,
            "i": is_size and self.count == "index",
            "c": isinstance(e, ast.Constant) and type(e.value) in (int, float) and self.count != "axis",
            "j": is_size and self.count == "axis",
            "p": self.is_whole and isinstance(e, ast.BinOp | ast.Call),
            "v": self.is_name or isinstance(e, ast.Subscript),
        }
        return "".join(letter for letter, holds in letters.items() if holds and not self.is_function)


def is_float(value: Any) -> bool:
    """True for a real or complex float, or an array of such floats."""
    return isinstance(value, complex | float | np.inexact | np.ndarray) and np.asarray(value).dtype.kind in "fc"


def places_in(code: Code) -> list[CodePlace]:
    """Return all expressions whose value is read, outer before inner ones, and what statements change."""
    inner = _INNER if code.leaves_functions else (*_INNER, ast.FunctionDef)
    places: list[CodePlace] = []
    for number, function in enumerate(code.functions):
        for statement in function.body:
            places += _places(statement, CodePlace(None, statement, hidden=number > 0), inner)
    return places


def _places(node: ast.AST, at: CodePlace, inner: tuple[type, ...]) -> Iterator[CodePlace]:
    """at: the known properties of a place there. inner: what has variables of its own"""
    if isinstance(node, ast.stmt):
        at = replace(at, statement=node)
        for target in _changed_by(node):
            yield replace(at, expr=target, is_target=True)
    elif isinstance(node, ast.Attribute if at.is_function else ast.expr) and _is_read(node):
        yield replace(at, expr=node, hidden=at.hidden or "super()" in text_of(node))  # which needs the method's frame
    passes_on = isinstance(node, ast.stmt | ast.Tuple | ast.List | ast.Dict)
    passes_on |= isinstance(node, ast.Call) and isinstance(at.statement, ast.Expr)
    at = replace(at, hidden=at.hidden or isinstance(node, inner), is_whole=at.is_whole and passes_on)
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.arguments | ast.JoinedStr) and not _is_written(child, node):
            count = _count_in(child, node) or at.count
            yield from _places(child, replace(at, count=count, is_function=child is getattr(node, "func", 0)), inner)


def _count_in(child: ast.AST, node: ast.AST) -> str:
    """Return the kind of whole number that this part of a node has, if any."""
    match node:
        case ast.Subscript(slice=part) if part is child:
            return "index"
        case ast.keyword(arg="axis" | "axes"):
            return "axis"
        case ast.Call(func=ast.Attribute(attr=name)) if name in _REDUCING:
            if isinstance(getattr(child, "operand", child), ast.Constant):
                return "axis"
        case ast.Call(func=ast.Name(id="range")):
            return "range"
    return ""


def _is_written(child: ast.AST, node: ast.AST) -> bool:
    """True if it is an array that is written into: a of `a[i] = …` and np.add.at(a, …)."""
    match node:
        case ast.Subscript(array, _, ast.Store()) | ast.Call(ast.Attribute(attr="at"), [array, *_]):
            return child is array
    return False


def _changed_by(statement: ast.stmt) -> list[ast.expr]:
    """Return what a statement changes, to be read after it: x of `x = a`, `x += a`, `x[i] = a`, `np.add.at(x, …)`."""
    targets: list[Any] = []
    match statement:
        case ast.Assign(targets=[ast.Tuple(elts=targets)]) | ast.Assign(targets=targets):
            pass
        case ast.AugAssign(target=target) | ast.Expr(ast.Call(ast.Attribute(attr="at"), [target, *_])):
            targets = [target]
    return [each.value if isinstance(each, ast.Subscript) else each for each in targets]


def _is_read(node: ast.expr) -> bool:
    """True if it has a value, other than a text, and is not written to."""
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    if isinstance(getattr(node, "value", None), str) or any(isinstance(part, _NO_VALUE) for part in parts):
        return False
    return isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
