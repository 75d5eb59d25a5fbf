"""Vocabulary: what may be missing at a place, made of what stands there, in the code or in forward."""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from npbert.gradcheck.explain.code import Code, filled, replaced, text_of
from npbert.gradcheck.explain.edits import sizes
from npbert.gradcheck.explain.places import fingerprint, is_step, names_in
from npbert.gradcheck.explain.trial import compiled_expression

MADE_OF_ONE = ("e ** 2", "1 - e", "1 - e ** 2", "e * (1 - e)", "1 / e", "e ** -2", "np.sqrt(e)", "np.exp(e)", "np.sign(e)",
               "e > 0", "e.sum(axis=-1, keepdims=True)", "e.mean(axis=-1, keepdims=True)", "e.sum(axis=0)", "e.T",
               "e[:, None]", "e.sum(axis=-1)", "np.log(e)")  # fmt: skip
MADE_OF_TWO = ("a * b", "a / b", "a @ b", "a.swapaxes(-1, -2) @ b", "a @ b.swapaxes(-1, -2)", "a * b ** 2", "a - b",
               "(a * b).sum(axis=-1, keepdims=True)", "(a * b).mean(axis=-1, keepdims=True)", "a + b",
               "a * b.mean(axis=-1, keepdims=True)", "a * b.sum(axis=-1, keepdims=True)", "(a * b).sum(axis=0)", "a[:, None] * b",
               "a * (a * b).mean(axis=-1, keepdims=True)", "a * (a * b).sum(axis=-1, keepdims=True)", "np.outer(a, b)")  # fmt: skip
MADE_OF_THREE = ("a * b * c", "a * b / c", "a * (b * c).sum(axis=-1, keepdims=True)",
                 "a * (b * c).mean(axis=-1, keepdims=True)", "a @ (b * c)", "(a * b) @ c")  # fmt: skip
_CONSTANTS = ("2", "3", "math.pi", "math.sqrt(2)", "math.sqrt(2 * math.pi)", "math.sqrt(math.pi)")
_MANY, _SOME, _FEW = 24, 13, 7


class Word(NamedTuple):
    """An expression with its value; the expression is made only when it is asked for."""

    value: Any
    made: Callable[[], ast.expr]


class Vocabulary:
    """forward: its source, whose expressions may be the missing ones."""

    def __init__(self, code: Code, forward: str = "") -> None:
        self.code = code
        self._expressions = [*_read_in(code.tree), *_of_forward(forward)]
        self._known: dict[Any, list[tuple[ast.expr, Any]]] = {}

    def base(self, env: Mapping[str, Any]) -> list[tuple[ast.expr, Any]]:
        """Names first, then expressions of the code and of forward; floats, truths and arrays of them, each value once."""
        key = tuple(sorted((name, id(value)) for name, value in env.items()))
        if key not in self._known:
            names: list[ast.expr] = [ast.Name(name, ast.Load()) for name in env]
            expressions = sorted(self._expressions, key=lambda e: len(ast.dump(e)))
            self._known[key] = list(self._valued([*names, *expressions], env))
        return self._known[key]

    def _valued(self, expressions: list[ast.expr], env: Mapping[str, Any]) -> Iterator[tuple[ast.expr, Any]]:
        scope, known = {**self.code.scope, **env}, set()
        for e in expressions:
            try:
                value = eval(compiled_expression(e), scope)
            except Exception:  # of the author's code: a name that is not there yet, shapes that do not fit
                continue
            if isinstance(value, np.ndarray | float | np.floating) and np.asarray(value).dtype.kind in "fb":
                key = fingerprint(value)
                if key not in known and np.size(value) <= 4000:
                    known.add(key)
                    yield e, value

    def scalars(self, env: Mapping[str, Any]) -> list[tuple[ast.expr, float]]:
        """The numbers that are there: sizes, their roots, constants, 1 minus a rate."""
        texts = [filled(text) for text in _CONSTANTS]
        found = [*texts, *sizes(env)]
        found += [e for e, value in self.base(env) if not isinstance(value, np.ndarray)]
        found += [filled(text, e=e) for e in found[len(texts) :] for text in ("np.sqrt(e)", "1 - e")]
        valued = []
        for e in found:
            value = eval(compiled_expression(e), {"np": np, "math": math, **self.code.scope, **env})
            if value > 0 and value != 1:
                valued.append((e, float(value)))
        return valued

    def words(self, env: Mapping[str, Any], arrays: list[tuple[ast.expr, Any]] | None = None) -> Iterator[Word]:
        """The base, and what is made of it."""
        base = self.base(env) if arrays is None else arrays
        yield from (Word(value, lambda e=e: e) for e, value in base)  # type: ignore[misc]
        floats = [(e, v) for e, v in base if isinstance(v, np.ndarray) and v.ndim]
        for templates, names, count in ((MADE_OF_ONE, "e", _MANY), (MADE_OF_TWO, "ab", _SOME), (MADE_OF_THREE, "abc", _FEW)):
            for template in templates:
                compute = _function(template, names)
                for parts in itertools.product(floats[:count], repeat=len(names)):
                    try:
                        value = compute(*(value for _, value in parts))
                    except (ValueError, IndexError, TypeError):  # shapes that do not fit
                        continue
                    yield Word(value, _made(template, names, [e for e, _ in parts]))


def _made(template: str, names: str, parts: list[ast.expr]) -> Callable[[], ast.expr]:
    return lambda: filled(template, **dict(zip(names, parts, strict=True)))


def _function(template: str, names: str) -> Callable[..., Any]:
    found: Callable[..., Any] = eval(f"lambda {', '.join(names)}: {template}", {"np": np})
    return found


_PURE = {"sum", "mean", "max", "min", "astype", "reshape", "ravel", "swapaxes", "transpose", "dot", "len", "range", "repeat",
         "float", "abs", "sqrt", "_transposed"}  # fmt: skip


def _read_in(tree: ast.AST) -> list[ast.expr]:
    """The expressions that are read, but for those whose value may be another one each time."""
    hidden = {id(n) for each in ast.walk(tree) if isinstance(each, ast.Call) for n in ast.walk(each.func)}
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.BinOp | ast.Call | ast.Attribute | ast.Subscript | ast.Compare)
        and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
        and id(node) not in hidden
        and is_pure(node)
    ]


def is_pure(node: ast.AST) -> bool:
    """Whether computing it changes nothing, as far as its names tell."""
    for each in ast.walk(node):
        if isinstance(each, ast.Call):
            is_numpy = isinstance(each.func, ast.Attribute) and bool(names_in(each.func) & {"np", "math"})
            name = each.func.attr if isinstance(each.func, ast.Attribute) else getattr(each.func, "id", "")
            is_known = is_step(each) or name in _PURE or (is_numpy and name != "at" and "random" not in text_of(each.func))
            if not is_known or any(k.arg == "out" for k in each.keywords):
                return False
        elif isinstance(each, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom):
            return False
    return True


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
