"""Vocabulary: what may be missing at a place, made of what stands there, in the code or in forward."""

from __future__ import annotations

import ast
import contextlib
import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from npbert.gradcheck.explain.code import Code, filled, replaced
from npbert.gradcheck.explain.edits import sizes
from npbert.gradcheck.explain.grammar import MADE_OF, WRAPS
from npbert.gradcheck.explain.places import compiled_expression, fingerprint

CONSTANTS = ("2", "3", "math.pi", "math.sqrt(2)", "math.sqrt(2 * math.pi)", "math.sqrt(math.pi)")
_MOST = {"e": 24, "ab": 13, "abc": 7}  # so many arrays are put into the templates


class Word(NamedTuple):
    """The value of an expression, and the expression as a template and its parts, as most are never needed."""

    value: Any
    template: str
    parts: Mapping[str, ast.expr]

    def made(self) -> ast.expr:
        """The expression."""
        expression: ast.expr = filled(self.template, **self.parts)
        return expression


class Vocabulary:
    """forward: its source, and perhaps that of other methods, whose expressions may be missing"""

    def __init__(self, code: Code, forward: str = "") -> None:
        self.code = code
        self._expressions = [*_read_in(code.tree), *_of_forward(forward)]
        self._known: dict[Any, list[tuple[ast.expr, Any]]] = {}

    def base(self, env: Mapping[str, Any]) -> list[tuple[ast.expr, Any]]:
        """Names, then expressions of the code and of forward; floats, truths and arrays of them, each value once."""
        key = tuple(sorted((name, id(value)) for name, value in env.items()))
        if key not in self._known:
            names: list[ast.expr] = [ast.Name(name, ast.Load()) for name in env]
            expressions = sorted(self._expressions, key=lambda e: len(ast.dump(e)))
            self._known[key] = list(self.valued([*names, *expressions], env))
        return self._known[key]

    def valued(self, expressions: list[ast.expr], env: Mapping[str, Any]) -> Iterator[tuple[ast.expr, Any]]:
        """Those that are floats, truths or arrays of them there, with their values, each value once."""
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

    def steps(self, e: ast.expr) -> list[ast.expr]:
        """e after each step that may have been left out: those of WRAPS, and calls of the code and of forward."""
        calls = [each for each in self._expressions if isinstance(each, ast.Call) and each.args]
        through = [ast.Call(call.func, [e, *call.args[1:]], call.keywords) for call in calls]
        different = {ast.dump(call): call for call in through}.values()
        return [*(filled(text, e=e) for text in WRAPS.split(";")), *itertools.islice(different, _MOST["e"])]

    def scalars(self, env: Mapping[str, Any]) -> list[tuple[ast.expr, float]]:
        """The numbers that are there: sizes, their roots, constants, 1 minus a rate."""
        there = [*sizes(env), *(e for e, value in self.base(env) if not isinstance(value, np.ndarray))]
        made = [filled(text, e=e) for e in there for text in ("np.sqrt(e)", "1 - e")]
        scope = {"np": np, "math": math, **self.code.scope, **env}
        found = [*map(filled, CONSTANTS), *there, *made]
        valued = [(e, float(eval(compiled_expression(e), scope))) for e in found]
        return [(e, value) for e, value in valued if value > 0 and value != 1]

    def words(self, env: Mapping[str, Any]) -> Iterator[Word]:
        """The base, and what is made of it."""
        base = self.base(env)
        yield from (Word(value, "e", {"e": e}) for e, value in base)
        arrays = [(e, value) for e, value in base if isinstance(value, np.ndarray) and value.ndim]
        for names, templates in MADE_OF.items():
            for template in templates.split(";"):
                compute = eval(f"lambda {','.join(names)}: {template.strip()}", {"np": np})
                for parts in itertools.product(arrays[: _MOST[names]], repeat=len(names)):
                    with contextlib.suppress(ValueError, IndexError, TypeError):  # shapes that do not fit
                        value = compute(*(value for _, value in parts))
                        yield Word(value, template, dict(zip(names, (e for e, _ in parts), strict=True)))


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
