"""The grammar of small edits: what may stand in the place of an expression.

Most edits are lines of REWRITES, "what stands there" and "what may stand there instead", in which a to d are any
expressions and f is any function. What needs to know values, or the variables around it, is written out below.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from npbert.gradcheck.explain.code import Replacement, filled, text_of
from npbert.gradcheck.explain.edits_of_calls import edits_of_call
from npbert.gradcheck.explain.places import Place, broadcasts, names_in, same
from npbert.gradcheck.explain.reasons import KINDS

New = tuple[str, ast.expr]

REWRITES = {
    "drop factor": ["a * b: a, b", "a / b: a", "a // b: a", "a @ b: a, b", "a ** b: a"],
    "drop term": ["a + b: a, b", "a - b: a, -b"],
    "sign": ["a + b: a - b, b - a", "a - b: a + b, b - a", "-a: a", "a ** b: a ** -b", "-a / b: a / b", "-a * b: a * b"],
    "operator": [
        "a * b: a / b, b / a, a @ b, a + b",
        "a / b: a * b",
        "a // b: a / b",
        "a @ b: a * b",
        "a + b: a * b",
        "a - b: a * b",
    ],
    "order": ["a @ b: b @ a, b @ a.T, b.T @ a", "a / b: b / a", "(a, b): (b, a)", "(a, b, c): (b, a, c), (a, c, b), (c, b, a)"],
    "transpose": ["a.T: a", "a @ b: b.T @ a.T"],
    "function": ["a @ b: np.outer(a, b)", "a ** 2: np.sqrt(a)", "a.real: a.imag", "a.imag: a.real"],
    "regroup": [
        "a * (b + c): a * b + c, b + a * c",
        "a * (b - c): a * b - c, b - a * c",
        "(b + c) * a: a * b + c, b + a * c",
        "(b - c) * a: a * b - c, b - a * c",
        "(b + c) / a: b + c / a, b / a + c",
        "(b - c) / a: b - c / a, b / a - c",
        "a * b + c: a * (b + c), b * (a + c)",
        "a * b - c: a * (b - c), b * (a - c)",
        "a + b * c: (a + b) * c, b * (a + c)",
        "a - b * c: (a - b) * c, b * (a - c)",
        "a + b / c: (a + b) / c",
        "a - b / c: (a - b) / c",
        "a + b * c / d: (a + b * c) / d, (a + b) * c / d",
        "a - b * c / d: (a - b * c) / d, (a - b) * c / d",
        "a / b + c: (a + c) / b, a / (b + c)",
        "a / b - c: (a - c) / b, a / (b - c)",
        "a / b * c: a / (b * c)",
        "a / (b * c): a / b * c",
        "a / (b + c): a / b + c",
        "(a + b) ** c: a + b ** c",
        "(a * b) ** c: a * b ** c",
        "a + b ** c: (a + b) ** c",
        "a * b ** c: (a * b) ** c",
        "-a ** b: (-a) ** b",
        "f(a) + b: f(a + b)",
        "f(a) - b: f(a - b)",
        "f(a + b): f(a) + b",
        "f(a - b): f(a) - b",
        "f(a * b): f(a) * b, a * f(b)",
        "f(a / b): f(a) / b",
        "f(a) * b: f(a * b)",
        "f(a) / b: f(a / b)",
        "a - b - c * d: (a - b - c) * d",
    ],
    "comparison": [
        *(f"a {op} b: " + ", ".join(f"a {o} b" for o in ("<", "<=", ">", ">=", "==", "!=") if o != op)
          for op in ("<", "<=", ">", ">=", "==", "!=")),
        "a & b: a | b, a, b",
        "a | b: a & b, a, b",
        "a and b: a or b, a, b",
        "a or b: a and b, a, b",
        "~a: a",
        "not a: a",
        "a is None: a is not None",
        "a is not None: a is None",
        "a if b else c: c if b else a, a, c",
        "np.where(a, b, c): np.where(a, c, b)",
        "a == b: a >= b",
    ],
    "index": ["a[b]: a", "a[b, c]: a[c, b], a[b], a[c]", "a[b, :]: a[:, b]", "a[:, b]: a[b, :], a[b], a[np.arange(len(a)), b]",
              "a[b:]: a", "a[:b]: a, a[b:]", "a[b + c]: a[b - c], a[b]", "a[b - c]: a[b + c], a[b]"],
}
"""By kind, "pattern: replacements". """

WRAPS = ("np.sqrt(e)", "e ** 2", "np.exp(e)", "1 - e", "1 / e", "1 - e ** 2", "e * (1 - e)", "np.tanh(e)", "np.log(e)",
         "e.sum(axis=-1, keepdims=True)", "e.mean(axis=-1, keepdims=True)", "e - e.mean(axis=-1, keepdims=True)",
         "e.sum(axis=0)", "e.ravel()", "np.abs(e)", "np.sign(e)", "np.maximum(e, 0)", "e > 0", "e ** -1.5", "e ** -2")
"""Steps that may have been left out."""  # fmt: skip


def _rules() -> dict[str, list[tuple[str, ast.expr, str]]]:
    rules: dict[str, list[tuple[str, ast.expr, str]]] = {}
    for kind, lines in REWRITES.items():
        for line in lines:
            pattern, _, news = line.rpartition(": ") if "[" not in line else line.partition(": ")
            tree = ast.parse(pattern, mode="eval").body
            for new in ast.parse(f"[{news}]", mode="eval").body.elts:  # type: ignore[attr-defined]
                rules.setdefault(_head(tree), []).append((kind, tree, ast.unparse(new)))
    return rules


def _head(node: ast.AST) -> str:
    return type(node).__name__ + type(getattr(node, "op", None)).__name__


_RULES = _rules()


@dataclass(frozen=True, eq=False)
class Edit:
    """A change of the code. changes: new nodes, or statements, by the id of the old.   line: in the author's file.

    old, new: the piece of the code that it is about, and what comes in its place; None for nothing.
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


def edit_of(place: Place, kind: str, new: ast.expr) -> Edit:
    """The edit that puts another expression in a place."""
    return Edit(kind, place.expr.lineno, {id(place.expr): new}, place.expr, new)


def edits_of(place: Place, code: ast.AST) -> Iterator[New]:
    """The small edits of an expression: (kind, new expression). code: the function, for names that it uses."""
    yield from _rewritten(place.expr)
    yield from _of_values(place)
    match place.expr:
        case ast.Call():
            yield from edits_of_call(place.expr, place)
        case ast.Constant():
            yield from _of_constant(place, code)
        case ast.Name() | ast.Attribute() | ast.Subscript():
            yield from _of_name(place, code)
        case ast.List() | ast.ListComp():
            yield from (("name", name) for name in _names(place) if isinstance(place.env[name.id], list | np.ndarray))


def _rewritten(e: ast.expr) -> Iterator[New]:
    for kind, pattern, new in _RULES.get(_head(e), ()):
        found: dict[str, ast.AST] = {}
        if _fits(pattern, e, found):
            yield kind, filled(new, **found)


def _fits(pattern: Any, node: Any, found: dict[str, ast.AST]) -> bool:
    if isinstance(pattern, ast.Name) and len(pattern.id) == 1:
        if isinstance(node, ast.Slice | ast.Starred):
            return False
        return same(found.setdefault(pattern.id, node), node)
    if isinstance(pattern, ast.expr_context):
        return True
    if not isinstance(pattern, ast.AST):
        if isinstance(pattern, list):
            return len(pattern) == len(node) and all(map(lambda p, n: _fits(p, n, found), pattern, node))
        return bool(pattern == node)
    if type(pattern) is not type(node):
        return False
    return all(_fits(getattr(pattern, name, None), getattr(node, name, None), found) for name in pattern._fields)


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
    is_size = isinstance(value, int | np.integer) and not isinstance(value, bool) and not isinstance(e, ast.Constant)
    if is_size and not place.is_index:
        yield from (("size", size) for size in sizes(place.env) if not same(size, e))


def sizes(env: Mapping[str, Any]) -> Iterator[ast.expr]:
    """The sizes of the arrays that are there, and the whole numbers."""
    for name, value in env.items():
        node = ast.Name(name, ast.Load())
        if isinstance(value, np.ndarray) and value.ndim:
            texts = [f"n.shape[{axis}]" for axis in range(1, value.ndim)]
            yield from (filled(text, n=node) for text in ["len(n)", *texts, *(["n.size"] if texts else [])])
            if value.dtype == bool:
                yield filled("n.sum()", n=node)
        elif isinstance(value, int) and not isinstance(value, bool):
            yield node
        elif isinstance(value, list | tuple):
            yield filled("len(n)", n=node)


def _names(place: Place) -> list[ast.Name]:
    return [ast.Name(name, ast.Load()) for name in place.env if not name.startswith("__")]


def _of_name(place: Place, code: ast.AST) -> Iterator[New]:
    e, value = place.expr, place.value
    for name in _names(place):
        other = place.env[name.id]
        if not (isinstance(e, ast.Name) and e.id == name.id) and (not place.seen or _could_be(other, value)):
            yield "name", name
    if isinstance(e, ast.Attribute) and e.attr not in ("T", "real", "imag", "shape", "size"):
        others = {n.attr for n in ast.walk(code) if isinstance(n, ast.Attribute)} | {"value", "grad"}
        for name_ in sorted(others - {e.attr}):
            yield "name", ast.Attribute(e.value, name_, ast.Load())


def _could_be(other: Any, value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return isinstance(other, np.ndarray) and (other.dtype.kind == value.dtype.kind) and other.ndim > 0
    is_number = isinstance(value, int | float | np.number)
    return isinstance(other, int | float | np.number) if is_number else type(other) is type(value)


def _of_constant(place: Place, code: ast.AST) -> Iterator[New]:
    c = getattr(place.expr, "value", None)
    if isinstance(c, int | float) and not isinstance(c, bool):
        kind = "index" if isinstance(place.holder, ast.Subscript | ast.Slice) else "constant"
        kind = "axis" if isinstance(place.holder, ast.keyword) and place.holder.arg == "axis" else kind
        kind = "sign" if isinstance(place.holder, ast.BinOp) and place.role != "left" and kind == "constant" else kind
        yield kind, ast.UnaryOp(ast.USub(), place.expr)
        kind = "constant" if kind == "sign" else kind
        news = [c + 1, c - 1, 2 * c, c / 2, 1 - c, 0, 1, 2, 3, 0.5, *([1 / c] if c else [])]
        keep = int if isinstance(c, int) and kind in ("index", "axis") else type(1.0)
        for new in dict.fromkeys(int(n) if n == int(n) else n for n in news if keep is float or n == int(n)):
            if new != c:
                yield kind, ast.Constant(new) if new >= 0 else ast.UnaryOp(ast.USub(), ast.Constant(-new))
        yield from (("name", n) for n in _names(place) if isinstance(place.env[n.id], int | float) and not place.is_index)
        if not place.is_index and isinstance(c, int) and c > 1:
            yield from (("size", size) for size in sizes(place.env))
    elif isinstance(c, str) and isinstance(place.holder, ast.Subscript):
        keys = {n.value for n in ast.walk(code) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
        yield from (("index", ast.Constant(key)) for key in sorted(keys - {c}) if key.isidentifier())


def everywhere(edits: list[tuple[Place, str, ast.expr]]) -> Iterator[tuple[Place, str, list[tuple[Place, ast.expr]]]]:
    """Edits that read the same at several places, made at all of these at once."""
    alike: dict[tuple[str, str, str], list[tuple[Place, ast.expr]]] = {}
    for place, kind, new in edits:
        if len(names_in(place.expr)) <= 3:
            alike.setdefault((kind, ast.dump(place.expr), ast.dump(new)), []).append((place, new))
    for (kind, _, _), group in alike.items():
        if len({id(place.expr) for place, _ in group}) > 1:
            yield group[0][0], kind, group
