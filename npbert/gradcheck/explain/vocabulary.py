"""Vocabulary: the possible expressions for a place, by their capital letter in the grammar."""

import ast
import contextlib
import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from npbert.gradcheck.explain.code import Code, filled, parsed
from npbert.gradcheck.explain.grammar import same
from npbert.gradcheck.explain.places import CodePlace, broadcasts, compiled_expression

_AXES = ("0", "1", "-1", "-2", "(0, 1)")
_NUMBERS = ("2", "3", "math.pi", "math.sqrt(2)", "math.sqrt(2 * math.pi)", "math.sqrt(math.pi)")
_PARTS = (ast.Name, ast.BinOp, ast.Call)
_PRODUCTS = ("a * b", "a @ b", "a @ b.T")
_MOST_CALLS, _MOST_FACTORS, _MOST_NUMBERS = 24, 13, 4000


class Vocabulary:
    """forward: its source, and maybe that of other methods, whose expressions may be missing"""

    def __init__(self, code: Code, forward: str = "") -> None:
        self.code = code
        trees = [code.tree, *([Code.parsed(forward, {}).tree] if forward else [])]
        expressions = sorted((e for tree in trees for e in _read_in(tree)), key=lambda e: len(ast.dump(e)))
        calls = [each for each in expressions if isinstance(each, ast.Call) and each.args]
        different = {ast.dump(ast.Call(each.func, each.args[1:], each.keywords)): each for each in calls}
        self._calls = list(different.values())[:_MOST_CALLS]
        self._compiled = [(e, compiled_expression(e)) for e in expressions]
        read = [n for n in ast.walk(code.entry) if isinstance(getattr(n, "ctx", None), ast.Load)]
        self._attributes = [n for n in read if isinstance(n, ast.Attribute)]
        names = [n for n in ast.walk(code.entry) if isinstance(n, ast.Name)]
        bound = {n.id for n in names if not isinstance(n.ctx, ast.Load)} | {a.arg for a in code.entry.args.args}
        self._unused = sorted(bound - {n.id for n in read if isinstance(n, ast.Name)})
        self._drawn = {
            "": lambda place: (None,),
            "A": lambda place: map(parsed, _AXES),
            "B": self._parts_left_out,
            "C": self._near,
            "G": self._products,
            "K": lambda place: map(parsed, _NUMBERS),
            "N": _sizes,
            "P": lambda place: (each for each in ast.walk(place.expr) if isinstance(each, _PARTS)),
            "S": self._steps,
            "U": self._forgotten,
            "V": self._names,
            "W": self._words,
        }

    def drawn(self, letter: str, place: CodePlace) -> Iterator[ast.expr | None]:
        """Return all expressions for this letter in the place; for "", None."""
        return (each for each in self._drawn[letter](place) if not each or not same(each, place.expr))

    def _near(self, place: CodePlace) -> Iterator[ast.expr]:
        """C: numbers near a constant, and common replacements."""
        c = place.expr.value  # type: ignore[attr-defined]
        for new in dict.fromkeys([c + 1, c - 1, 2 * c, c / 2, 1 - c, 0, 1, 2, 3, 0.5, *([1 / c] if c else [])]):
            if new != c and not (place.is_index and new != int(new)):
                yield parsed(str(int(new) if new == int(new) else new))

    def _names(self, place: CodePlace) -> Iterator[ast.expr]:
        """V: other names and attributes, possibly of the same kind."""
        e = place.expr
        for name, value in place.env.items():
            if not place.seen or _sort_of(value) == _sort_of(place.value):
                yield parsed(name)
        if isinstance(e, ast.Attribute) and e.attr not in ("T", "real", "imag", "shape", "size"):
            others = {n.attr for n in self._attributes} | {"value", "grad"}
            yield from (ast.copy_location(ast.Attribute(e.value, other, ast.Load()), e) for other in sorted(others))

    def _parts_left_out(self, place: CodePlace) -> Iterator[ast.expr]:
        """B: the place after the backward of a part that the code does not call."""
        called = set(map(ast.unparse, self._attributes))
        for name, part in getattr(place.env.get("self"), "__dict__", {}).items():
            if hasattr(part, "backward") and f"self.{name}.backward" not in called:
                yield filled(f"self.{name}.backward(e)", e=place.expr)

    def _forgotten(self, place: CodePlace) -> Iterator[ast.expr]:
        """U: values that are computed or given, but never read."""
        return (parsed(name) for name in self._unused if broadcasts(place.env.get(name), place.value))

    def _words(self, place: CodePlace) -> Iterator[ast.expr]:
        """W: expressions that broadcast with the place."""
        return (node for node, value in self._valued(place.env) if broadcasts(value, place.value))

    def _products(self, place: CodePlace) -> Iterator[ast.expr]:
        """G: products of two arrays that have the shape of the place."""
        arrays = [(e, value) for e, value in self._valued(place.env) if isinstance(value, np.ndarray) and value.ndim]
        for (a, one), (b, other) in itertools.product(arrays[:_MOST_FACTORS], repeat=2):
            for text in _PRODUCTS:
                with contextlib.suppress(ValueError):  # shapes that do not fit
                    if np.shape(eval(text, {"a": one, "b": other})) == np.shape(place.value):
                        yield filled(text, a=a, b=b)

    def _steps(self, place: CodePlace) -> Iterator[ast.expr]:
        """S: the place after a call from the code or from forward."""
        for call in self._calls:
            yield ast.copy_location(ast.Call(call.func, [place.expr, *call.args[1:]], call.keywords), call)

    def _valued(self, env: Mapping[str, Any]) -> list[tuple[ast.expr, Any]]:
        """Return names, then expressions of the code and of forward, that are floats, booleans or arrays of them; with
        their values, each value once."""
        scope, found = {**self.code.scope, **env}, dict[Any, tuple[ast.expr, Any]]()
        for e, code in [*((parsed(name), name) for name in env), *self._compiled]:
            try:
                value = eval(code, scope)
            except Exception:  # of the author's code: an undefined name, shapes that do not fit
                continue
            array = np.asarray(value if isinstance(value, np.ndarray | float) else 0)
            if array.dtype.kind in "fb" and array.size <= _MOST_NUMBERS:
                found.setdefault((array.shape, array.tobytes()), (e, value))
        return list(found.values())


def _sizes(place: CodePlace) -> Iterator[ast.expr]:
    """N: the sizes of the known arrays, and the whole numbers; each of the same form and value once."""
    found: dict[tuple[str, Any], ast.expr] = {}
    for name, value in place.env.items():
        forms: dict[str, Any] = {}
        if isinstance(value, np.ndarray) and value.ndim:
            forms = {"len(n)": len(value), **{f"n.shape[{axis}]": value.shape[axis] for axis in range(1, value.ndim)}}
            forms |= {"n.size": value.size, **({"n.sum()": int(value.sum())} if value.dtype == bool else {})}
        elif isinstance(value, int) and not isinstance(value, bool):
            forms = {"n": value}
        elif isinstance(value, list | tuple):
            forms = {"len(n)": len(value)}
        for form, size in forms.items():
            if np.ndim(place.value) or size != place.value:
                found.setdefault((form, size), filled(form, n=parsed(name)))
    return iter(found.values())


def _sort_of(value: Any) -> Any:
    """Return a value that is equal for values that may replace each other: arrays with axes, numbers, others."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind if value.ndim else None
    return float if isinstance(value, int | float | np.number) else type(value)


def _read_in(tree: ast.AST) -> list[ast.expr]:
    """Return the expressions that are read, except those that change something."""
    hidden = {id(n) for each in ast.walk(tree) if isinstance(each, ast.Call) for n in ast.walk(each.func)}
    changing = {_called(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)} | {"take", "backward", ""}
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.BinOp | ast.Call | ast.Attribute | ast.Subscript | ast.Compare)
        and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
        and id(node) not in hidden
        and not any(isinstance(each, ast.Call) and _called(each) in changing for each in ast.walk(node))
        and "random" not in ast.dump(node)
    ]


def _called(node: ast.AST) -> str:
    func = getattr(node, "func", None)
    return str(getattr(func, "attr", getattr(func, "id", "")))
