"""Vocabulary: the possible expressions for a place, by their capital letter in the grammar."""

import ast
import contextlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from npbert.gradcheck.explain.code import Code, text_of
from npbert.gradcheck.explain.places import CodePlace

_AXES = ("0", "1", "-1", "-2", "(0, 1)")
_PARTS = (ast.Name, ast.BinOp, ast.Call)
_SIZES = ("{}", "len({})", "{}.shape[1]", "{}.shape[-1]", "{}.size", "{}.sum()")
_PRODUCTS = ("({}) * ({})", "({}) @ ({})", "({}) @ ({}).T")
_MOST_CALLS = 24  # the shortest, as each is tried in every place
_MOST_FACTORS = 13  # 3 · 13² products are tried in a place
_MOST_SCALARS = 3
_MOST_NUMBERS = 4000  # of an array: larger ones take longer to compare than to leave out


class Vocabulary:
    """forward: its source, and maybe that of other methods, whose expressions may be missing"""

    def __init__(self, code: Code, forward: str) -> None:
        self.code = code
        others = [_by_attributes(each) for each in Code.parsed(forward, {}).functions] if forward else []
        read = [node for function in (*code.functions, *others) for node in _read_in(function)]
        read.sort(key=lambda node: len(ast.dump(node)))
        self._expressions = list(dict.fromkeys(map(text_of, read)))
        self._steps = list(dict.fromkeys(filter(None, map(_step, read))))[:_MOST_CALLS]
        nodes = list(ast.walk(code.functions[0]))
        self._attributes = sorted({each.attr for each in nodes if isinstance(each, ast.Attribute)} | {"value", "grad"})
        self._rows = {f"[{text_of(each.slice)}]" for each in nodes if isinstance(each, ast.Subscript)}
        self._names = {each.id for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}
        self._drawn: dict[str, Callable[[CodePlace], Iterable[str]]] = {
            "": lambda place: [""],
            "A": lambda place: _AXES,
            "C": _near,
            "G": self._products,
            "I": _indices,
            "N": self._sizes,
            "P": lambda place: (text_of(each) for each in ast.walk(place.expr) if isinstance(each, _PARTS)),
            "S": lambda place: (step.replace("…", text_of(place.expr)) for step in self._steps),
            "V": self._others,
            "Z": _shapes,
            "W": lambda place: (e for e, value in self._valued(place.env) if _broadcasts(value, place.value)),
        }

    def drawn(self, letter: str, place: CodePlace) -> Iterator[str]:
        """Return all expressions for this letter in the place; for "", an empty one."""
        return (each for each in self._drawn[letter](place) if each != text_of(place.expr))

    def _others(self, place: CodePlace) -> Iterator[str]:
        """V: other names and attributes, possibly of the same kind."""
        e = place.expr
        for name, value in place.env.items():
            if not place.seen or type(value) is type(place.value):
                yield name
        if isinstance(e, ast.Attribute) and e.attr not in ("T", "real", "imag", "shape", "size"):
            yield from (f"{text_of(e.value)}.{other}" for other in self._attributes)

    def _products(self, place: CodePlace) -> Iterator[str]:
        """G: products of two arrays, or of a number and an array, that have the shape of the place."""
        factors = [(e, np.asarray(value)) for e, value in self._valued(place.env)]
        arrays = [factor for factor in factors if factor[1].ndim][:_MOST_FACTORS]
        numbers = [factor for factor in factors if not factor[1].ndim][:_MOST_SCALARS]
        for (a, one), (b, other) in itertools.product([*numbers, *arrays], arrays):
            for text in _PRODUCTS:
                with contextlib.suppress(ValueError):  # shapes that do not fit
                    if np.shape(eval(text.format("a", "b"), {"a": one, "b": other})) == np.shape(place.value):
                        yield text.format(a, b)

    def _sizes(self, place: CodePlace) -> Iterator[str]:
        """N: the whole numbers and sizes of variables, their items and counts of what is true, except 0; each of one
        form and value once."""
        items = (f"{array}[{count}]" for array, count in itertools.permutations(place.env, 2))
        counted = map("({}).sum()".format, self._expressions)
        texts = {form: map(form.format, place.env) for form in _SIZES} | {"": (*items, *counted)}
        found: dict[tuple[str, int], str] = {}
        for form in texts:
            for text, size in self._evaluated(texts[form], place.env):
                if isinstance(size, int | np.integer) and not isinstance(size, bool) and size:
                    found.setdefault((form, int(size)), text)
        return iter(found.values())

    def _evaluated(self, texts: Iterable[str], env: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """Yield the expressions that have a value, with it."""
        for text in texts:
            try:
                value = self.code.value(text, env)
            except Exception:  # of the author's code: an undefined name, shapes that do not fit
                continue
            yield text, value

    def _valued(self, env: Mapping[str, Any]) -> list[tuple[str, Any]]:
        """Return names, first those that are never read, then expressions of the code and of forward, that are floats,
        booleans or arrays of them; with their values, each value once."""
        found: dict[Any, tuple[str, Any]] = {}
        names = sorted(env, key=self._names.__contains__)
        unread = [f"{name}{rows}" for name in names if name not in self._names for rows in self._rows]
        for e, value in self._evaluated((*names, *unread, *self._expressions), env):
            array = np.asarray(value if isinstance(value, np.ndarray | float) else 0)
            if array.dtype.kind in "fb" and array.size <= _MOST_NUMBERS:
                found.setdefault((array.shape, array.tobytes()), (e, value))
        return list(found.values())


def _near(place: CodePlace) -> Iterator[str]:
    """C: numbers near a constant, and common replacements."""
    c = place.expr.value
    for new in dict.fromkeys([c + 1, c - 1, 2 * c, c / 2, 1 - c, 0, 1, 2, 3, 0.5, *([1 / c] if c else [])]):
        if new == int(new) or not place.count:
            yield f"{new:.17g}"


def _indices(place: CodePlace) -> Iterator[str]:
    """I: rows of whole numbers, and the places where a condition holds."""
    for name, value in place.env.items():
        kind = value.dtype.kind if isinstance(value, np.ndarray) and value.ndim == 1 else ""
        if kind == "i":
            yield name
        elif kind == "b":
            yield f"np.flatnonzero({name})"


def _shapes(place: CodePlace) -> Iterator[str]:
    """Z: the other shapes of known arrays, for as many numbers."""
    size, shape = np.size(place.value), np.shape(place.value)
    for name, value in place.env.items():
        if isinstance(value, np.ndarray) and value.size == size and value.shape != shape:
            yield f"{name}.shape"


def _broadcasts(value: Any, to: Any) -> bool:
    """True if a number or array broadcasts to `to` without changing its shape."""
    with contextlib.suppress(ValueError):
        return np.broadcast_shapes(np.shape(value), np.shape(to)) == np.shape(to)
    return False


def _step(call: ast.expr) -> str:
    """Return a call with … as its first argument; "" for any other expression."""
    if not isinstance(call, ast.Call) or not call.args:
        return ""
    return f"{text_of(call.func)}({', '.join(['…', *map(text_of, [*call.args[1:], *call.keywords])])})"


def _read_in(tree: ast.AST) -> list[ast.expr]:
    """Return the expressions that are read, except those that change something."""
    changing = {_called(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)} | {"take", "backward", ""}
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.BinOp | ast.Call | ast.Attribute | ast.Subscript | ast.Compare)
        and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
        and not any(isinstance(each, ast.Call) and _called(each) in changing for each in ast.walk(node))
        and "random" not in text_of(node)
    ]


def _called(node: ast.AST) -> str:
    func = getattr(node, "func", None)
    return str(getattr(func, "attr", getattr(func, "id", "")))


def _by_attributes(function: ast.FunctionDef) -> ast.FunctionDef:
    """Return forward with the attributes in which it keeps variables in their places, as backward has only these."""
    kept = dict[str, ast.expr]()
    for each in ast.walk(function):
        if isinstance(each, ast.Assign):
            for target in each.targets:
                pairs = zip(getattr(target, "elts", [target]), getattr(each.value, "elts", [each.value]), strict=False)
                kept |= {
                    value.id: to for to, value in pairs if isinstance(to, ast.Attribute) and isinstance(value, ast.Name)
                }

    class InAttributes(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return kept.get(node.id, node) if isinstance(node.ctx, ast.Load) else node

    return InAttributes().visit(function)
