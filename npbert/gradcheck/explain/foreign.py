"""The right code's expressions, written in the names of the author's code, as edits of it.

A name of the right code stands for a value. If the author's code has the value, under any name, that name replaces it;
otherwise the expression that the right code assigns to it does.
"""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.explain.code import expression, text_of
from npbert.gradcheck.explain.edits import Edit
from npbert.gradcheck.explain.places import CodePlace, is_float
from npbert.gradcheck.explain.reasons import KINDS
from npbert.gradcheck.explain.survey import Survey
from npbert.gradcheck.explain.trace import Event
from npbert.gradcheck.explain.trial import is_equal


class _Step(NamedTuple):
    """A value of the right code: its name, if assigned to one, its expression, and the variables there."""

    name: str
    expr: ast.expr
    value: Any
    env: Mapping[str, Any]


def transplants(place: CodePlace, survey: Survey) -> Iterator[Edit]:
    """Yield the expressions of the right run as edits of a place; of a sum that it has one term of, the other term.
    None with the right numbers of an output where the code only begins to compute it."""
    code, results = survey.code, survey.now[survey.first].arrays.values()
    scope, (start, end) = {**code.scope, **place.env}, code.span(place.expr)
    begins = [right for given, right in results if not is_equal(np.asarray(place.value), given)]
    old, cost = code.text[start:end].decode(), KINDS["expression"].cost
    for text, value in _right_expressions(place, survey.right.events if survey.right else (), scope):
        if any(is_equal(value, right) for right in begins):
            continue
        kind = "expression"
        for term, rest in _terms_of(text):
            if is_equal(np.asarray(eval(term, scope)), np.asarray(place.value)):
                kind, text = "missing term", f"{old} + {rest}"
        yield Edit(kind, cost, place.expr.lineno, start, old, f"({text})", True)


def _terms_of(text: str) -> list[tuple[str, str]]:
    """Return each of the two terms of a sum, with the other; [] for any other expression."""
    match ast.parse(text, mode="eval").body:
        case ast.BinOp(left, ast.Add(), right):
            return list(itertools.permutations((text_of(left), text_of(right)), 2))
    return []


def _right_expressions(
    place: CodePlace, right: Sequence[Event], scope: Mapping[str, Any]
) -> Iterator[tuple[str, Array]]:
    """Yield the expressions of a right run with their floats, the last first. scope: of the author's code"""
    steps = _steps(right)
    for number in reversed(range(len(steps))):
        step = steps[number]
        if is_float(step.value) and not isinstance(step.expr, ast.Name | ast.Constant):
            try:
                text = text_of(_InNames(steps[:number], step.env, place.env).visit(copy.deepcopy(step.expr)))
                value = eval(expression(text), {**scope})
            except Exception:  # a name without a value here, or code of the author's that fails
                continue
            if _is_same(value, step.value):
                yield text, np.asarray(value)


def _steps(right: Sequence[Event]) -> list[_Step]:
    """Return what the right code assigns to names, and its results."""
    places = list(dict.fromkeys(place for place, _, _ in right))
    read = {place.expr: place for place in places}
    steps = []
    for place in places:
        is_alone = place.name and getattr(place.statement, "targets", ()) == [place.expr]
        expr = place.statement.value if is_alone and isinstance(place.statement, ast.Assign) else place.expr
        if expr in read and (is_alone or place.is_result):
            steps.append(_Step(place.name, expr, place.value, read[expr].env))
    return steps


class _InNames(ast.NodeTransformer):
    """steps: before the expression. env: the right code's variables there. known: the author's variables"""

    def __init__(self, steps: Sequence[_Step], env: Mapping[str, Any], known: Mapping[str, Any]) -> None:
        self.steps, self.env, self.known = steps, env, known

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Replace a name of the right code. Raises: LookupError."""
        if node.id not in self.env or not isinstance(node.ctx, ast.Load):
            return node  # global, or of a comprehension
        value = self.env[node.id]
        others = self.known if isinstance(value, np.ndarray) and value.size > 1 else ()  # not by chance
        for name in (node.id, *others):
            if name in self.known and _is_same(self.known[name], value):
                return ast.Name(name, ast.Load())
        for number in reversed(range(len(self.steps))):
            step = self.steps[number]
            if step.name == node.id:
                inner = _InNames(self.steps[:number], step.env, self.known)
                found: ast.expr = inner.visit(copy.deepcopy(step.expr))
                return found
        raise LookupError(node.id)


def _is_same(one: Any, other: Any) -> bool:
    """True if two arrays or numbers are equal, or two other values of one type."""
    if not all(isinstance(each, np.ndarray | np.generic | int | float) for each in (one, other)):
        return type(one) is type(other)
    a, b = np.asarray(one), np.asarray(other)
    return a.dtype.kind == b.dtype.kind and is_equal(a, b)
