"""Edit: one small change of the code. All of them: of an expression in its place, and of a whole statement."""

import ast
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from npbert.gradcheck.explain.code import Code, Replacement, filled, text_of
from npbert.gradcheck.explain.grammar import MIXED_UP, REDUCTIONS, rewritten
from npbert.gradcheck.explain.places import CodePlace, is_idle, same
from npbert.gradcheck.explain.reasons import CHEAP, KINDS

_AROUND = ("missing factor", "missing term", "sign of the whole")  # something is written around what stands there
_AXES = ("None", "0", "1", "-1", "-2", "(0, 1)")
_HANDED_ON = 1.0  # so much more costs an edit of a name that is only handed on
New = tuple[str, ast.expr]


@dataclass(frozen=True, eq=False)
class Edit:
    """changes: new nodes, or statements, by the id of the old.   line: in the author's file.   more: what it costs more

    old, new: the piece of the code that it is about, and what comes in its place.
    """

    kind: str
    line: int
    changes: Mapping[int, Replacement]
    old: ast.AST
    new: Replacement | None
    more: float = 0.0

    @property
    def cost(self) -> float:
        return KINDS[self.kind].cost + self.more

    @property
    def rank(self) -> tuple[float, int, int]:
        """The smallest is the nearest to what stands there."""
        old, new = _size(self.old), _size(self.new) if isinstance(self.new, ast.AST) else 0
        length = new - 2 * old if self.kind in _AROUND else abs(new - old) + new // 3
        return self.cost, length, self.line


def _size(node: ast.AST) -> int:
    return sum(1 for _ in ast.walk(node))


_OF_AMOUNTS = ("sign", "sign of the whole", "missing term", "extra term", "missing factor", "extra factor", "constant")
"""Kinds that speak of numbers that are computed with, and say nothing of a range, an axis or an index."""


def edit_of(place: CodePlace, kind: str, new: ast.expr) -> Edit:
    """The edit that puts another expression in a place. Where a name is only handed on, it is not missing anything."""
    if place.is_count and (kind in _OF_AMOUNTS or (place.in_brackets and kind in ("size", "wrong name"))):
        kind = "index" if place.in_brackets else "range" if place.role == "args" else "axis"
    is_late = isinstance(place.statement, ast.Return) or KINDS[kind].cost > CHEAP
    more = _HANDED_ON if is_late and place.is_handed_on else 0.0
    if not hasattr(new, "lineno"):  # what is edited next may be a piece of it
        ast.fix_missing_locations(ast.copy_location(new, place.expr))
    return Edit(kind, place.expr.lineno, {id(place.expr): new}, place.expr, new, more)


def edits_of(place: CodePlace, code: ast.AST) -> Iterator[Edit]:
    """The small edits of an expression. code: the function, for the names that it uses."""
    e = place.expr
    news = [*rewritten(e), *_of_value(place)]
    if isinstance(e, ast.Constant):
        news += _of_constant(place, e.value)
    elif isinstance(e, ast.Name | ast.Attribute | ast.Subscript):
        news += _of_name(place, code)
    elif isinstance(e, ast.Call):
        news += _of_call(e)
    return (edit_of(place, kind, new) for kind, new in news)


def _of_value(place: CodePlace) -> Iterator[New]:
    """Those that ask what kind of thing it is."""
    e, value, is_compared = place.expr, place.value, isinstance(place.holder, ast.Compare)
    if (place.is_float or not place.seen) and not is_compared and not isinstance(e, ast.Constant | ast.UnaryOp):
        yield "sign of the whole", ast.UnaryOp(ast.USub(), e)
    if isinstance(value, np.ndarray) and value.ndim > 2:
        yield "transpose", filled("e.swapaxes(-1, -2)", e=e)
    elif getattr(value, "ndim", 0) == 2 or (not place.seen and isinstance(e, ast.Name | ast.Attribute)):
        yield "transpose", filled("e.T", e=e)
    if isinstance(value, bool) or getattr(value, "dtype", None) == np.bool_:
        yield ("comparison", filled("~e" if isinstance(value, np.ndarray) else "not e", e=e))
    if place.is_whole and isinstance(e, ast.BinOp | ast.Call):
        parts = itertools.islice(ast.walk(e), 1, None)
        yield from (("too much", each) for each in parts if isinstance(each, ast.Name | ast.BinOp | ast.Call))
    if place.is_number and not place.is_float and not isinstance(e, ast.Constant) and not place.is_index:
        yield from (("size", size) for size in sizes(place.env) if not same(size, e))


def sizes(env: Mapping[str, Any]) -> Iterator[ast.expr]:
    """The sizes of the arrays that are there, and the whole numbers."""
    for name, value in env.items():
        texts = []
        if isinstance(value, np.ndarray) and value.ndim:
            texts = ["len(n)", *(f"n.shape[{axis}]" for axis in range(1, value.ndim)), "n.size"]
            texts += ["n.sum()"] if value.dtype == bool else []
        elif isinstance(value, int) and not isinstance(value, bool):
            texts = ["n"]
        elif isinstance(value, list | tuple):
            texts = ["len(n)"]
        yield from (filled(text, n=ast.Name(name, ast.Load())) for text in texts)


def _of_name(place: CodePlace, code: ast.AST) -> Iterator[New]:
    e = place.expr
    for name, value in place.env.items():
        if not (isinstance(e, ast.Name) and e.id == name) and (not place.seen or _could_be(value, place.value)):
            yield "wrong name", ast.Name(name, ast.Load())
    held = [n for n in ast.walk(code) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load)]
    if isinstance(e, ast.Name):
        yield from (
            ("wrong name", node) for text, node in {text_of(n): n for n in held}.items() if text.startswith("self.")
        )
    if isinstance(e, ast.Subscript) and isinstance(e.slice, ast.Slice) and e.slice.upper and not e.slice.lower:
        numbers = [ast.Name(name, ast.Load()) for name, value in place.env.items() if type(value) is int]
        yield from (("index", filled("a[k:k + b]", a=e.value, b=e.slice.upper, k=number)) for number in numbers)
    if isinstance(e, ast.Attribute) and e.attr not in ("T", "real", "imag", "shape", "size"):
        others = {n.attr for n in held} | {"value", "grad"}
        yield from (("wrong name", ast.Attribute(e.value, other, ast.Load())) for other in sorted(others - {e.attr}))


def _could_be(other: Any, value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return isinstance(other, np.ndarray) and other.dtype.kind == value.dtype.kind and other.ndim > 0
    is_number = isinstance(value, int | float | np.number)
    return isinstance(other, int | float | np.number) if is_number else type(other) is type(value)


def _of_constant(place: CodePlace, c: Any) -> Iterator[New]:
    if not isinstance(c, int | float) or isinstance(c, bool):
        return
    kind = "constant" if not place.is_index else "axis" if isinstance(place.holder, ast.keyword) else "index"
    if not isinstance(place.holder, ast.Compare):
        yield kind if place.is_index else "sign", ast.UnaryOp(ast.USub(), place.expr)
    for new in dict.fromkeys([c + 1, c - 1, 2 * c, c / 2, 1 - c, 0, 1, 2, 3, 0.5, *([1 / c] if c else [])]):
        if new != c and not (place.is_index and new != int(new)):
            yield kind, filled(str(int(new) if new == int(new) else new))
    if not place.is_index:
        yield from (("size", size) for size in sizes(place.env) if isinstance(c, int) and c > 1)


def _of_call(e: ast.Call) -> Iterator[New]:
    """Without the call, another function, along other axes."""
    attribute = e.func if isinstance(e.func, ast.Attribute) else None
    name = attribute.attr if attribute else getattr(e.func, "id", "")
    is_method = attribute is not None and not text_of(attribute.value).startswith(("np", "math"))
    args = [*([attribute.value] if attribute and is_method else []), *e.args]
    kind = "transpose" if name in ("transpose", "swapaxes") else "extra step"
    yield from ((kind, each) for each in args if not isinstance(each, ast.Starred))
    for kind, other in MIXED_UP.get(name, ()):
        func = ast.Attribute(attribute.value, other, ast.Load()) if attribute else ast.Name(other, ast.Load())
        yield kind, ast.Call(func, e.args, e.keywords)
    if name in REDUCTIONS or any(k.arg == "axis" for k in e.keywords):
        yield from _of_axes(e, 0 if is_method else 1)


def _of_axes(e: ast.Call, at: int) -> Iterator[New]:
    """The same along every other axis, with and without keepdims. at: the number of the argument that is the axis"""
    given = {k.arg: text_of(k.value) for k in e.keywords}
    old = given.get("axis", text_of(e.args[at]) if len(e.args) > at else "None")
    for axis, keep in itertools.product(dict.fromkeys((*_AXES, old)), ("False", "True")):
        if (axis, keep) != (old, given.get("keepdims", "False")):
            texts = {"axis": axis if axis != "None" else "", "keepdims": keep if keep == "True" else ""}
            keywords = [k for k in e.keywords if k.arg not in texts]
            keywords += [ast.keyword(name, filled(text)) for name, text in texts.items() if text]
            kinds = {"axis": axis != old, "keepdims": keep != given.get("keepdims", "False")}
            kind = "argument" if all(kinds.values()) else next(name for name, is_other in kinds.items() if is_other)
            yield kind, ast.Call(e.func, e.args[:at], keywords)


def statement_edits(code: Code) -> Iterator[Edit]:
    """Every small edit of a whole statement."""
    for statement in _inside(code.entry):
        for kind, news in _in_place_of(statement):
            placed = [each if hasattr(each, "lineno") else ast.copy_location(each, statement) for each in news]
            yield Edit(kind, statement.lineno, {id(statement): placed}, statement, placed)


def _inside(holder: ast.stmt) -> Iterator[ast.stmt]:
    """The statements of a function, and those in its loops and branches; not those of functions in it."""
    for statement in (*getattr(holder, "body", ()), *getattr(holder, "orelse", ())):
        if not is_idle(statement) and not isinstance(statement, ast.FunctionDef):
            yield statement
            yield from _inside(statement)


def _in_place_of(s: ast.stmt) -> Iterator[tuple[str, list[ast.stmt]]]:
    """(kind, what stands in the place of the statement)"""
    is_unpacked = isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Tuple | ast.List)
    for kind, new in rewritten(s):
        if not is_unpacked or kind == "order":
            yield kind, [new if isinstance(new, ast.stmt) else ast.Expr(new)]
    if isinstance(s, ast.If):
        yield from (("extra line", news) for news in (s.body, s.orelse))
    elif isinstance(s, ast.Assign | ast.AugAssign | ast.Expr):
        yield "extra line", []
