"""Vocabulary: what may be missing at a place: what stands there, in the code or in forward, and numbers and steps."""

import ast
import contextlib
import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from npbert.gradcheck.explain.code import Code, filled, replaced, text_of
from npbert.gradcheck.explain.edits import Edit, edit_of, sizes
from npbert.gradcheck.explain.grammar import WRAPS
from npbert.gradcheck.explain.places import CodePlace, broadcasts, compiled_expression, fingerprint, same

_CONSTANTS = ("2", "3", "math.pi", "math.sqrt(2)", "math.sqrt(2 * math.pi)", "math.sqrt(math.pi)")
_TERMS = ("e + w", "e - w")
_WITH_WORDS = {"missing factor": ("e / w", "e * w", "e * (1 - w)"), "missing term": _TERMS, "expression": ("w",)}
NEW = ("missing factor", "missing term", "missing step", "expression")
"""The kinds that write something new."""
_UNUSED = -0.7  # so much less costs it to use what is given or computed, and never read
_PRODUCTS = ("a * b", "a @ b", "a @ b.T")
_OF_SIZES = ("n", "np.sqrt(n)")
_MOST_CALLS, _MOST_FACTORS, _MOST_NUMBERS = 24, 13, 4000


class NamesInScope:
    """forward: its source, and perhaps that of other methods, whose expressions may be missing"""

    def __init__(self, code: Code, forward: str = "") -> None:
        self.code = code
        self._expressions = sorted([*_read_in(code.tree), *_of_forward(forward)], key=lambda e: len(ast.dump(e)))
        self._compiled = [(e, compiled_expression(e)) for e in self._expressions]
        calls = [each for each in self._expressions if isinstance(each, ast.Call) and each.args]
        different = {ast.dump(ast.Call(each.func, each.args[1:], each.keywords)): each for each in calls}
        self._calls = list(different.values())[:_MOST_CALLS]

        names = [node for node in ast.walk(code.entry) if isinstance(node, ast.Name)]
        bound = {node.id for node in names if not isinstance(node.ctx, ast.Load)} | {
            a.arg for a in code.entry.args.args
        }
        self.unused = bound - {node.id for node in names if isinstance(node.ctx, ast.Load)}

    def unused_in(self, place: CodePlace) -> Iterator[Edit]:
        """What is computed or given, and never read, as a factor or term: perhaps it was forgotten in this place."""
        for name in sorted(self.unused) if place.is_float and not (place.is_index or place.hidden) else ():
            if broadcasts(place.env.get(name), place.value):
                edits = self._with([ast.Name(name, ast.Load())], place, *_WITH_WORDS)
                more = _UNUSED + 1.0 * isinstance(place.statement, ast.Return)
                yield from (replace(edit, more=more) for edit in edits)

    def guesses(self, place: CodePlace, kind: str) -> Iterator[Edit]:
        """Factors, terms, steps or other expressions that fit in the place."""
        if kind == "missing step":
            yield from (edit_of(place, kind, step) for step in self._steps(place.expr))
            return
        if kind == "missing factor":
            yield edit_of(place, kind, filled("e ** 2", e=place.expr))
            numbers = [*map(filled, _CONSTANTS), *(filled(t, n=n) for n in sizes(place.env) for t in _OF_SIZES)]
            for number, text in itertools.product(numbers, ("e / w", "e * w")):
                yield edit_of(place, kind, filled(text, e=place.expr, w=number))
        words = [node for node, value in self._base(place.env) if broadcasts(value, place.value)]
        yield from self._with([node for node in words if not same(node, place.expr)], place, kind)
        if kind == "missing term" and (place.is_whole or place.is_one_of_several or _is_sum(place.expr)):
            yield from self._with(self._products(place), place, kind)

    def _with(self, words: Iterable[ast.expr], place: CodePlace, *kinds: str) -> Iterator[Edit]:
        """The place with each of the words."""
        for word, kind in itertools.product(words, kinds):
            for text in _WITH_WORDS[kind]:
                if "(1 - w)" not in text or not text_of(word).startswith("1 - "):  # that is the factor itself
                    yield edit_of(place, kind, filled(text, e=place.expr, w=word))

    def _products(self, place: CodePlace) -> Iterator[ast.expr]:
        """Products of two arrays that have the shape of the place."""
        arrays = [(e, value) for e, value in self._base(place.env) if isinstance(value, np.ndarray) and value.ndim]
        for (a, one), (b, other) in itertools.product(arrays[:_MOST_FACTORS], repeat=2):
            for text in _PRODUCTS:
                with contextlib.suppress(ValueError):  # shapes that do not fit
                    if np.shape(eval(text, {"a": one, "b": other})) == np.shape(place.value):
                        yield filled(text, a=a, b=b)

    def _base(self, env: Mapping[str, Any]) -> list[tuple[ast.expr, Any]]:
        """Names, then expressions of the code and of forward, that are floats, truths or arrays of them; with their
        values, each value once."""
        scope, found = {**self.code.scope, **env}, dict[Any, tuple[ast.expr, Any]]()
        names = [(ast.Name(name, ast.Load()), name) for name in env]
        for e, code in [*names, *self._compiled]:
            try:
                value = eval(code, scope)
            except Exception:  # of the author's code: a name that is not there yet, shapes that do not fit
                continue
            is_number = isinstance(value, np.ndarray | float | np.floating) and np.size(value) <= _MOST_NUMBERS
            if is_number and np.asarray(value).dtype.kind in "fb":
                found.setdefault(fingerprint(value), (e, value))
        return list(found.values())

    def _steps(self, e: ast.expr) -> list[ast.expr]:
        """e after each step that may have been left out: those of WRAPS, and calls of the code and of forward."""
        through = [ast.Call(call.func, [e, *call.args[1:]], call.keywords) for call in self._calls]
        return [*(filled(text, e=e) for text in WRAPS.split(";")), *through]


def _is_sum(e: ast.expr) -> bool:
    return isinstance(e, ast.BinOp) and isinstance(e.op, ast.Add | ast.Sub)


def _read_in(tree: ast.AST) -> list[ast.expr]:
    """The expressions that are read, but for those that change something."""
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


def _of_forward(source: str) -> list[ast.expr]:
    """The expressions of forward, with what it assigns put in."""
    if not source:
        return []
    found: list[ast.expr] = []
    for function in Code.parsed(source, {}).tree.body:
        made: dict[str, ast.expr] = {}
        for statement in ast.walk(function):
            value = getattr(statement, "value", None)
            if isinstance(statement, ast.Assign | ast.Return) and isinstance(value, ast.expr):
                names = [n for n in ast.walk(value) if isinstance(n, ast.Name) and n.id in made]
                whole = replaced(value, {id(n): made[n.id] for n in names})
                found += [*_read_in(value), *_read_in(whole)]
                if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                    made[statement.targets[0].id] = whole
    return found
