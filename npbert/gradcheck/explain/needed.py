"""What an expression would have to be: looked up, where the outputs depend on it linearly.

Backward is linear in nearly all that it computes. So the slopes of the wrong outputs by an expression, J, say at once
for each word of the vocabulary what would come out if it were added, multiplied or put in the place of the expression,
and by which number it would have to be scaled. And where no value at all closes the gap, it is not there that the
mistake is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.explain.code import filled, text_of
from npbert.gradcheck.explain.edits import Edit, edit_of
from npbert.gradcheck.explain.places import broadcasts
from npbert.gradcheck.explain.trial import Hook, Outlook, compiled_expression
from npbert.gradcheck.explain.vocabulary import Vocabulary, Word

_LARGEST = 150  # so many numbers at most are moved one by one
_CLOSE = 1e-7
_MOST = 40  # so many edits of a place are tried
_LONG = 40  # so many letters more count as much as 1 more of cost


@dataclass(frozen=True)
class Slopes:
    """of (outputs, n): how fast each output moves with each number of the expression; gap (outputs,): what it lacks."""

    of: Array
    gap: Array


def slopes_at(hook: Hook, k: int, now: Outlook) -> list[Slopes] | None:
    """Of each wrong output that moves with the expression, where some value closes the gap; None: it is not linear."""
    value = np.broadcast_to(np.asarray(hook.place.value, dtype=float), hook.place.room)
    start = hook.put(k, hook.place.value).arrays
    names = [name for name in now.wrong if name in start and start[name][0].shape == start[name][1].shape]
    if not names or not 0 < value.size <= _LARGEST or hook.place.looped:
        return None

    def outputs(moved: Array) -> dict[str, Array] | None:
        arrays = hook.put(k, moved if moved.ndim else float(moved)).arrays
        if any(name not in arrays or arrays[name][0].shape != start[name][0].shape for name in names):
            return None
        return {name: (arrays[name][0] - start[name][0]).ravel() for name in names}

    columns = []
    for i in range(value.size):
        moved = value.copy()
        moved.flat[i] += 1.0
        columns.append(outputs(moved))
    step = np.random.default_rng(0).standard_normal(value.shape)
    together = outputs(value + step)
    if together is None:
        return None
    found = []
    for name in names:
        of = np.array([column[name] for column in columns if column is not None]).T
        if of.shape[-1] != value.size or not np.isfinite(of).all() or not _near(of @ step.ravel(), together[name]):
            return None
        gap = (start[name][1] - start[name][0]).ravel()
        closest = of @ np.linalg.lstsq(of, gap, rcond=1e-10)[0]
        if of.any() and _near(closest, gap):
            found.append(Slopes(of, gap))
    return found


def _near(a: Array, b: Array) -> bool:
    return bool(np.abs(a - b).max(initial=0) <= 1e-6 * max(np.abs(b).max(initial=0), 1e-9))


def looked_up(hook: Hook, slopes: list[Slopes], vocabulary: Vocabulary) -> list[Edit]:
    """The edits of the expression that close the gap of an output, the shortest first."""
    e, env = hook.place.expr, hook.place.env
    value = np.broadcast_to(np.asarray(hook.place.value, dtype=float), hook.place.room)
    words = [w for w in vocabulary.words(env) if broadcasts(w.value, value) and np.isfinite(w.value).all()]
    one = Word(1.0, lambda: ast.Constant(1))
    scalars = vocabulary.scalars(env)
    ways: list[tuple[str, str, list[Word], list[Any]]] = [
        ("term", "e + w", words, [w.value for w in words]),
        ("factor", "e * w", [one, *words], [value, *(value * w.value for w in words)]),
        ("factor", "e / w", words, [value / w.value for w in words]),
        ("wrap", "w", *_wrapped(hook, vocabulary)),
        ("expression", "w", words, [w.value for w in words]),
    ]
    found: dict[str, tuple[float, str, ast.expr]] = {}
    for each in slopes:
        whole = each.gap + each.of @ value.ravel()
        for kind, template, made_of, values in ways:
            if not values:
                continue
            columns = np.array([np.broadcast_to(v, value.shape).ravel() for v in values], dtype=float).T
            for i, c in _multiples(each.of @ columns, each.gap if kind == "term" else whole):
                word = made_of[i].made()
                for scale, far in _as_text(c, scalars, deep=made_of[i] is one):
                    new = _joined(kind, template, e, word, scale)
                    text = text_of(new)
                    found.setdefault(text, (len(text) + far, kind, new))
    best, old = sorted(found.values(), key=lambda each: each[0])[:_MOST], len(text_of(e))
    return [replace(edit_of(hook.place, kind, new), more=max(0, length - old) / _LONG) for length, kind, new in best]


def _wrapped(hook: Hook, vocabulary: Vocabulary) -> tuple[list[Word], list[Any]]:
    """Steps that may have been left out, applied to the expression itself."""
    words = []
    for step in vocabulary.steps(hook.place.expr):
        try:
            new = hook.value_of(compiled_expression(step), hook.place.env)
        except Exception:  # of the author's code: it does not go through there
            continue
        if broadcasts(new, np.empty(hook.place.room)) and np.asarray(new).dtype.kind in "fb" and np.isfinite(new).all():
            words.append(Word(new, lambda step=step: step))  # type: ignore[misc]
    return words, [word.value for word in words]


def _multiples(columns: Array, target: Array) -> Iterator[tuple[int, float]]:
    """(i, c) where c times column i is the target."""
    squares = (columns**2).sum(axis=0)
    c = np.divide(target @ columns, squares, out=np.zeros_like(squares), where=squares > 0)
    off = np.abs(columns * c - target[:, None]).max(axis=0)
    for i in np.flatnonzero((off <= _CLOSE * np.abs(target).max()) & (c != 0)):
        yield int(i), float(c[i])


def _as_text(
    c: float, scalars: list[tuple[ast.expr, float]], *, deep: bool
) -> Iterator[tuple[tuple[float, str, ast.expr | None], int]]:
    """A number as (sign, operator, expression), and how far-fetched that is."""
    sign, size = (1.0 if c > 0 else -1.0), abs(c)
    if abs(size - 1) < 1e-9:
        yield (sign, "", None), 0
        return
    values = np.array([number for _, number in scalars])
    tables = [("a", values[:, None])]
    if deep:
        tables += [("a * b", np.outer(values, values)), ("a / b", np.divide.outer(values, values))]
    for template, table in tables:
        for operator, quotient in (("*", size), ("/", 1 / size)):
            for at in np.argwhere(np.abs(table - quotient) < 1e-9 * quotient):
                parts = dict(zip("ab", (scalars[i][0] for i in at), strict=False))
                yield (sign, operator, filled(template, **parts)), 4 * len(template)


def _joined(
    kind: str, template: str, e: ast.expr, word: ast.expr, scale: tuple[float, str, ast.expr | None]
) -> ast.expr:
    sign, operator, number = scale
    is_one = isinstance(word, ast.Constant)
    if kind == "term":
        scaled = word if number is None else filled(f"w {operator} n", w=word, n=number)
        return filled("e + w" if sign > 0 else "e - w", e=e, w=scaled)
    new = e if is_one and kind == "factor" else filled(template, e=e, w=word)
    new = new if number is None else filled(f"w {operator} n", w=new, n=number)
    return new if sign > 0 else ast.UnaryOp(ast.USub(), new)
