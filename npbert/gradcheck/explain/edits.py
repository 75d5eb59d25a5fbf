"""Edit: one small change of the code. edits_of: all of them at a place, by the grammar and by what is there."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from npbert.gradcheck.explain.code import Replacement, filled, text_of
from npbert.gradcheck.explain.edits_of_calls import edits_of_call
from npbert.gradcheck.explain.grammar import rewritten
from npbert.gradcheck.explain.places import Place, broadcasts, same
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
        old, new = len(text_of(self.old)), len(text_of(self.new)) if isinstance(self.new, ast.AST) else 0
        length = new - 2 * old if self.kind in ("factor", "term", "minus") else abs(new - old) + new // 3
        return self.cost, length, self.line


def edit_of(place: Place, kind: str, new: ast.expr, more: float = 0.0) -> Edit:
    """The edit that puts another expression in a place."""
    return Edit(kind, place.expr.lineno, {id(place.expr): new}, place.expr, new, more)


def edits_of(place: Place, code: ast.AST) -> Iterator[Edit]:
    """The small edits of an expression. code: the function, for the names that it uses."""
    of_kind: dict[type[ast.expr], Any] = {ast.Constant: _of_constant, ast.Name: _of_name, ast.Attribute: _of_name,
                                          ast.Subscript: _of_name, ast.Call: edits_of_call}  # fmt: skip
    special = of_kind.get(type(place.expr))
    news = [*rewritten(place.expr), *_of_values(place), *(special(place, code) if special else ())]
    is_only_handed_on = isinstance(place.statement, ast.Return) and isinstance(place.expr, ast.Name)
    return (edit_of(place, kind, new, 0.7 if is_only_handed_on else 0.0) for kind, new in news)


def _of_values(place: Place) -> Iterator[New]:
    """Those that ask what kind of thing it is."""
    e, value = place.expr, place.value
    if (place.is_float or not place.seen) and not isinstance(e, ast.Constant | ast.UnaryOp):
        yield "minus", ast.UnaryOp(ast.USub(), e)
    if isinstance(value, np.ndarray) and value.ndim >= 2:
        yield "transpose", filled("e.T" if value.ndim == 2 else "e.swapaxes(-1, -2)", e=e)
    elif not place.seen and isinstance(e, ast.Name | ast.Attribute):
        yield "transpose", filled("e.T", e=e)
    if isinstance(value, np.ndarray) and value.dtype == bool:
        yield "comparison", ast.UnaryOp(ast.Invert(), e)
        for name in _names(place):
            other = place.env[name.id]
            if isinstance(other, np.ndarray) and other.dtype == bool and broadcasts(other, value):
                yield from (("mask", filled(text, e=e, n=name)) for text in ("e & n", "e & ~n"))
    elif isinstance(value, bool | np.bool_):
        yield "comparison", ast.UnaryOp(ast.Not(), e)
    if place.is_whole and isinstance(e, ast.BinOp | ast.Call):
        parts = itertools.islice(ast.walk(e), 1, None)
        yield from (("part", each) for each in parts if isinstance(each, ast.Name | ast.BinOp | ast.Call))
    if isinstance(value, np.ndarray) and value.ndim and isinstance(e, ast.Name | ast.Subscript) and not place.is_index:
        yield from (("index", filled(text, e=e)) for text in ("e[..., None]", "e[:, None]"))
    if place.is_number and not place.is_float and not isinstance(e, ast.Constant) and not place.is_index:
        yield from (("size", size) for size in sizes(place.env) if not same(size, e))


def sizes(env: Mapping[str, Any]) -> Iterator[ast.expr]:
    """The sizes of the arrays that are there, and the whole numbers."""
    for name, value in env.items():
        node = ast.Name(name, ast.Load())
        if isinstance(value, np.ndarray) and value.ndim:
            texts = ["len(n)", *(f"n.shape[{axis}]" for axis in range(1, value.ndim)), "n.size"]
            texts += ["n.sum()"] if value.dtype == bool else []
            yield from (filled(text, n=node) for text in texts)
        elif isinstance(value, int) and not isinstance(value, bool):
            yield node
        elif isinstance(value, list | tuple):
            yield filled("len(n)", n=node)


def _names(place: Place) -> list[ast.Name]:
    return [ast.Name(name, ast.Load()) for name in place.env]


def _of_name(place: Place, code: ast.AST) -> Iterator[New]:
    e = place.expr
    for name in _names(place):
        is_same = isinstance(e, ast.Name) and e.id == name.id
        if not is_same and (not place.seen or _could_be(place.env[name.id], place.value)):
            yield "name", name
    held = {text_of(n): n for n in ast.walk(code) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load)}
    yield from (("name", node) for text, node in held.items() if isinstance(e, ast.Name) and text.startswith("self."))
    if isinstance(e, ast.Attribute) and e.attr not in ("T", "real", "imag", "shape", "size"):
        others = {n.attr for n in ast.walk(code) if isinstance(n, ast.Attribute)} | {"value", "grad"}
        yield from (("name", ast.Attribute(e.value, other, ast.Load())) for other in sorted(others - {e.attr}))


def _could_be(other: Any, value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return isinstance(other, np.ndarray) and other.dtype.kind == value.dtype.kind and other.ndim > 0
    is_number = isinstance(value, int | float | np.number)
    return isinstance(other, int | float | np.number) if is_number else type(other) is type(value)


def _of_constant(place: Place, code: ast.AST) -> Iterator[New]:
    c = getattr(place.expr, "value", None)
    if isinstance(c, str) and isinstance(place.holder, ast.Subscript):
        keys = {n.value for n in ast.walk(code) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
        yield from (("index", ast.Constant(key)) for key in sorted(keys - {c}) if key.isidentifier())
    if not isinstance(c, int | float) or isinstance(c, bool):
        return
    kind = "constant" if not place.is_index else "axis" if isinstance(place.holder, ast.keyword) else "index"
    yield kind if place.is_index else "sign", ast.UnaryOp(ast.USub(), place.expr)
    for new in dict.fromkeys([c + 1, c - 1, 2 * c, c / 2, 1 - c, 0, 1, 2, 3, 0.5, *([1 / c] if c else [])]):
        new = int(new) if new == int(new) else new
        if new != c and not (place.is_index and isinstance(new, float)):
            yield kind, ast.Constant(new) if new >= 0 else ast.UnaryOp(ast.USub(), ast.Constant(-new))
    if not place.is_index:
        yield from (("name", name) for name in _names(place) if isinstance(place.env[name.id], int | float))
        yield from (("size", size) for size in sizes(place.env) if isinstance(c, int) and c > 1)


def everywhere(edits: list[Edit]) -> Iterator[Edit]:
    """Edits that read the same at several places, made at all of these at once."""
    alike: dict[tuple[str, str, str], list[Edit]] = {}
    for edit in edits:
        if isinstance(edit.new, ast.AST):
            alike.setdefault((edit.kind, ast.dump(edit.old), ast.dump(edit.new)), []).append(edit)
    for first, *others in alike.values():
        changes = {key: new for edit in (first, *others) for key, new in edit.changes.items()}
        if len(changes) > 1:
            yield Edit(first.kind, first.line, changes, first.old, first.new, 0.3)
