"""Vocabulary: the possible expressions for a place, by their capital letter in the grammar."""

import ast
import contextlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from npbert.gradcheck.explain.code import Code, expression, text_of
from npbert.gradcheck.explain.places import CodePlace

_AXES = ("0", "1", "-1", "-2", "(0, 1)")
_NUMBERS = ("2", "3", "math.pi", "math.sqrt(2)", "math.sqrt(2 * math.pi)", "math.sqrt(math.pi)")
_PARTS = (ast.Name, ast.BinOp, ast.Call)
_PRODUCTS = ("({}) * ({})", "({}) @ ({})", "({}) @ ({}).T")
_MOST_CALLS = 24  # the shortest, as each is tried in every place
_MOST_FACTORS = 13  # 3 · 13² products are tried in a place
_MOST_NUMBERS = 4000  # of an array: larger ones take longer to compare than to leave out


class Vocabulary:
    """forward: its source, and maybe that of other methods, whose expressions may be missing"""

    def __init__(self, code: Code, forward: str = "") -> None:
        self.code = code
        functions = [*code.functions, *(Code.parsed(forward, {}).functions if forward else [])]
        read = [node for function in functions for node in _read_in(function)]
        read.sort(key=lambda node: len(ast.dump(node)))
        self._expressions = list(dict.fromkeys(map(text_of, read)))
        self._steps = list(dict.fromkeys(filter(None, map(_step, read))))[:_MOST_CALLS]
        nodes = list(ast.walk(code.functions[0]))
        self._attributes = sorted({each.attr for each in nodes if isinstance(each, ast.Attribute)} | {"value", "grad"})
        self._names = {each.id for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}
        self._drawn: dict[str, Callable[[CodePlace], Iterable[str]]] = {
            "": lambda place: [""],
            "A": lambda place: _AXES,
            "B": self._parts_left_out,
            "C": _near,
            "G": self._products,
            "K": lambda place: _NUMBERS,
            "N": _sizes,
            "P": lambda place: (text_of(each) for each in ast.walk(place.expr) if isinstance(each, _PARTS)),
            "S": lambda place: (step.replace("…", text_of(place.expr)) for step in self._steps),
            "V": self._others,
            "W": lambda place: (e for e, value in self._valued(place.env) if broadcasts(value, place.value)),
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

    def _parts_left_out(self, place: CodePlace) -> Iterator[str]:
        """B: the place after the backward of a part that the code does not call."""
        for name, part in getattr(place.env.get("self"), "__dict__", {}).items():
            if hasattr(part, "backward") and f"self.{name}.backward".encode() not in self.code.text:
                yield f"self.{name}.backward({text_of(place.expr)})"

    def _products(self, place: CodePlace) -> Iterator[str]:
        """G: products of two arrays that have the shape of the place."""
        arrays = [(e, value) for e, value in self._valued(place.env) if np.ndim(value)]
        for (a, one), (b, other) in itertools.product(arrays[:_MOST_FACTORS], repeat=2):
            for text in _PRODUCTS:
                with contextlib.suppress(ValueError):  # shapes that do not fit
                    if np.shape(eval(text.format("a", "b"), {"a": one, "b": other})) == np.shape(place.value):
                        yield text.format(a, b)

    def _valued(self, env: Mapping[str, Any]) -> list[tuple[str, Any]]:
        """Return names, first those that are never read, then expressions of the code and of forward, that are floats,
        booleans or arrays of them; with their values, each value once."""
        scope, found = {**self.code.scope, **env}, dict[Any, tuple[str, Any]]()
        for e in (*sorted(env, key=self._names.__contains__), *self._expressions):
            try:
                value = eval(expression(e), scope)
            except Exception:  # of the author's code: an undefined name, shapes that do not fit
                continue
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


def _sizes(place: CodePlace) -> Iterator[str]:
    """N: the sizes of the known arrays, and the whole numbers; each of the same form and value once."""
    found: dict[tuple[str, Any], str] = {}
    for name, value in place.env.items():
        forms: dict[str, Any] = {}
        if isinstance(value, np.ndarray) and value.ndim:
            axes = (axis if axis + 1 < value.ndim else -1 for axis in range(1, value.ndim))
            forms = {"len({})": len(value), **{f"{{}}.shape[{axis}]": value.shape[axis] for axis in axes}}
            forms |= {"{}.size": value.size, **({"{}.sum()": int(value.sum())} if value.dtype == bool else {})}
        elif isinstance(value, int) and not isinstance(value, bool):
            forms = {"{}": value}
        elif isinstance(value, list | tuple):
            forms = {"len({})": len(value)}
        for form, size in forms.items():
            if np.ndim(place.value) or size != place.value:
                found.setdefault((form, size), form.format(name))
    return iter(found.values())


def broadcasts(value: Any, to: Any) -> bool:
    """True if a number or array broadcasts to `to` without changing its shape; never for a list."""
    if not isinstance(value, np.ndarray | np.generic | int | float):
        return False
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
