"""Edit: one small change of the code. edits_of: all of them at a place, by the grammar and by what is there."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from npbert.gradcheck.explain.code import Replacement, filled, text_of
from npbert.gradcheck.explain.grammar import MIXED_UP, REDUCTIONS, rewritten
from npbert.gradcheck.explain.places import Place, same
from npbert.gradcheck.explain.reasons import KINDS

New = tuple[str, ast.expr]


@dataclass(frozen=True, eq=False)
class Edit:
    """changes: new nodes, or statements, by the id of the old.   line: in the author's file.   more: what it costs more

    old, new: the piece of the code that it is about, and what comes in its place.   says: that, where it is no code
    """

    kind: str
    line: int
    changes: Mapping[int, Replacement]
    old: ast.AST
    new: Replacement | None
    more: float = 0.0
    says: str = ""

    @property
    def cost(self) -> float:
        return KINDS[self.kind].cost + self.more

    @property
    def rank(self) -> tuple[float, int, int]:
        """The smallest is the nearest to what stands there."""
        old, new = (len(text_of(self.old)), len(text_of(self.new)) if isinstance(self.new, ast.AST) else 0)
        length = new - 2 * old if self.kind in ("factor", "term", "minus") else abs(new - old) + new // 3
        return self.cost, length, self.line


def edit_of(place: Place, kind: str, new: ast.expr, more: float = 0.0) -> Edit:
    """The edit that puts another expression in a place."""
    return Edit(kind, place.expr.lineno, {id(place.expr): new}, place.expr, new, more)


def edits_of(place: Place, code: ast.AST) -> Iterator[Edit]:
    """The small edits of an expression. code: the function, for the names that it uses."""
    e = place.expr
    news = [*rewritten(e), *_of_value(place)]
    if isinstance(e, ast.Constant):
        news += _of_constant(place, e.value, code)
    elif isinstance(e, ast.Name | ast.Attribute | ast.Subscript):
        news += _of_name(place, code)
    elif isinstance(e, ast.Call):
        news += _of_call(e)
    is_only_handed_on = isinstance(place.statement, ast.Return) and isinstance(e, ast.Name)
    return (edit_of(place, kind, new, 0.7 if is_only_handed_on else 0.0) for kind, new in news)


def _of_value(place: Place) -> Iterator[New]:
    """Those that ask what kind of thing it is."""
    e, value = place.expr, place.value
    if (place.is_float or not place.seen) and not isinstance(e, ast.Constant | ast.UnaryOp):
        yield "minus", ast.UnaryOp(ast.USub(), e)
    if isinstance(value, np.ndarray) and value.ndim > 2:
        yield "transpose", filled("e.swapaxes(-1, -2)", e=e)
    elif getattr(value, "ndim", 0) == 2 or (not place.seen and isinstance(e, ast.Name | ast.Attribute)):
        yield "transpose", filled("e.T", e=e)
    if isinstance(value, bool) or getattr(value, "dtype", None) == np.bool_:
        yield ("comparison", filled("~e" if isinstance(value, np.ndarray) else "not e", e=e))
    if place.is_whole and isinstance(e, ast.BinOp | ast.Call):
        parts = itertools.islice(ast.walk(e), 1, None)
        yield from (("part", each) for each in parts if isinstance(each, ast.Name | ast.BinOp | ast.Call))
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


def _of_name(place: Place, code: ast.AST) -> Iterator[New]:
    e = place.expr
    for name, value in place.env.items():
        if not (isinstance(e, ast.Name) and e.id == name) and (not place.seen or _could_be(value, place.value)):
            yield "name", ast.Name(name, ast.Load())
    held = [n for n in ast.walk(code) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load)]
    if isinstance(e, ast.Name):
        yield from (("name", node) for text, node in {text_of(n): n for n in held}.items() if text.startswith("self."))
    if isinstance(e, ast.Attribute) and e.attr not in ("T", "real", "imag", "shape", "size"):
        others = {n.attr for n in held} | {"value", "grad"}
        yield from (("name", ast.Attribute(e.value, other, ast.Load())) for other in sorted(others - {e.attr}))


def _could_be(other: Any, value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return isinstance(other, np.ndarray) and other.dtype.kind == value.dtype.kind and other.ndim > 0
    is_number = isinstance(value, int | float | np.number)
    return isinstance(other, int | float | np.number) if is_number else type(other) is type(value)


def _of_constant(place: Place, c: Any, code: ast.AST) -> Iterator[New]:
    if isinstance(c, str) and isinstance(place.holder, ast.Subscript):
        keys = {n.value for n in ast.walk(code) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
        yield from (("index", ast.Constant(key)) for key in sorted(keys - {c}) if key.isidentifier())
    if not isinstance(c, int | float) or isinstance(c, bool):
        return
    kind = "constant" if not place.is_index else "axis" if isinstance(place.holder, ast.keyword) else "index"
    yield kind if place.is_index else "sign", ast.UnaryOp(ast.USub(), place.expr)
    for new in dict.fromkeys([c + 1, c - 1, 2 * c, c / 2, 1 - c, 0, 1, 2, 3, 0.5, *([1 / c] if c else [])]):
        if new != c and not (place.is_index and new != int(new)):
            yield kind, filled(str(int(new) if new == int(new) else new))
    if not place.is_index:
        yield from (("size", size) for size in sizes(place.env) if isinstance(c, int) and c > 1)


def _of_call(e: ast.Call) -> Iterator[New]:
    """Without the call, another function, along other axes, with other letters of einsum."""
    attribute = e.func if isinstance(e.func, ast.Attribute) else None
    name = attribute.attr if attribute else getattr(e.func, "id", "")
    is_method = attribute is not None and not text_of(attribute.value).startswith(("np", "math"))
    args = [each for each in e.args if not isinstance(each, ast.Starred)]
    kind = "transpose" if "transpose" in name or name == "swapaxes" else "unwrap"
    yield from ((kind, each) for each in [*([attribute.value] if attribute and is_method else []), *args])
    for kind, other in MIXED_UP.get(name, ()):
        func = ast.Attribute(attribute.value, other, ast.Load()) if attribute else ast.Name(other, ast.Load())
        yield kind, ast.Call(func, e.args, e.keywords)
    if name in REDUCTIONS or any(k.arg == "axis" for k in e.keywords):
        yield from _of_axes(e, 0 if is_method else 1)
    if name == "einsum" and isinstance(e.args[0], ast.Constant):
        for letters in _einsums(str(e.args[0].value)):
            yield ("einsum", ast.Call(e.func, [ast.Constant(letters), *e.args[1:]], e.keywords))


def _of_axes(e: ast.Call, at: int) -> Iterator[New]:
    """The same along every other axis, with and without keepdims. at: the number of the argument that is the axis"""
    given = {k.arg: text_of(k.value) for k in e.keywords}
    old = given.get("axis", text_of(e.args[at]) if len(e.args) > at else "None")
    for axis, keep in itertools.product(("None", "0", "1", "-1", "-2", "(0, 1)"), ("False", "True")):
        if (axis, keep) != (old, given.get("keepdims", "False")):
            texts = {"axis": axis if axis != "None" else "", "keepdims": keep if keep == "True" else ""}
            keywords = [k for k in e.keywords if k.arg not in texts]
            keywords += [ast.keyword(name, filled(text)) for name, text in texts.items() if text]
            yield ("keepdims" if axis == old else "axis", ast.Call(e.func, e.args[:at], keywords))


def _einsums(text: str) -> Iterator[str]:
    """The same with one letter changed, or with two letters of one operand exchanged."""
    places = [i for i, c in enumerate(text) if c.isalpha()]
    yield from (text[:i] + c + text[i + 1 :] for i in places for c in sorted(set(text)) if c.isalpha() and c != text[i])
    for i, j in itertools.combinations(places, 2):
        if text[i:j].isalpha():
            yield text[:i] + text[j] + text[i + 1 : j] + text[i] + text[j + 1 :]
