"""What an expression would have to be: looked up, where the outputs depend on it linearly.

Backward is linear in nearly all that it computes. So the slopes of the wrong outputs by an expression, J, say at once
for each word of the vocabulary what would come out if it were added, multiplied or put in the place of the expression,
and by which number it would have to be scaled. And where no value at all closes the gap, it is not there that the
mistake is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.explain.code import filled, text_of
from npbert.gradcheck.explain.edits import Edit, edit_of
from npbert.gradcheck.explain.places import Place, broadcasts
from npbert.gradcheck.explain.trial import Hook, Outlook
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

    step = np.random.default_rng(0).standard_normal(value.shape)
    together, *columns = (outputs(value + each) for each in (step, *np.eye(value.size).reshape(-1, *value.shape)))
    found = []
    for name in names:
        of = np.array([column[name] for column in columns if column is not None]).T
        if together is None or of.shape[-1] != value.size or not np.isfinite(of).all():
            return None
        if not _near(of @ step.ravel(), together[name]):
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
    values, steps, scalars = ([w.value for w in words], _steps_after(hook, vocabulary), vocabulary.scalars(env))
    itself = Word(value, lambda: e)
    ways: list[tuple[str, str, list[Word], list[Any]]] = [
        ("term", "e + w", words, values),
        ("factor", "w", [itself], [value]),
        ("factor", "e * w", words, [value * v for v in values]),
        ("factor", "e / w", words, [value / v for v in values]),
        ("wrap", "w", steps, [step.value for step in steps]),
        ("expression", "w", words, values),
    ]
    found: dict[str, tuple[float, str, ast.expr]] = {}
    for each in slopes:
        whole = each.gap + each.of @ value.ravel()
        for kind, template, made_of, products in ways:
            columns = [np.broadcast_to(product, value.shape).ravel() for product in products]
            target = each.gap if kind == "term" else whole
            for i, c in _multiples(each.of @ np.array(columns, dtype=float).T, target) if columns else ():
                for text, number, far in _as_text(abs(c), scalars, deep=made_of[i] is itself):
                    word = made_of[i].made()
                    if kind == "term":
                        new = filled("e + w" if c > 0 else "e - w", e=e, w=filled(text, w=word, n=number))
                    else:
                        new = filled(text, w=filled(template, e=e, w=word), n=number)
                        new = new if c > 0 else ast.UnaryOp(ast.USub(), new)
                    name = text_of(new)
                    found.setdefault(name, (len(name) + far, kind, new))
    best, old = (sorted(found.values(), key=lambda each: each[0])[:_MOST], len(text_of(e)))
    return [edit_of(hook.place, kind, new, max(0, length - old) / _LONG) for length, kind, new in best]


def _steps_after(hook: Hook, vocabulary: Vocabulary) -> list[Word]:
    """Steps that may have been left out, applied to the expression itself."""
    words = []
    for step in vocabulary.steps(hook.place.expr):
        try:
            new = hook.giving(step)(hook.place.env)
        except Exception:  # of the author's code: it does not go through there
            continue
        if broadcasts(new, np.empty(hook.place.room)) and np.asarray(new).dtype.kind in "fb" and np.isfinite(new).all():
            words.append(Word(new, lambda step=step: step))  # type: ignore[misc]
    return words


def _multiples(columns: Array, target: Array) -> Iterator[tuple[int, float]]:
    """(i, c) where c times column i is the target."""
    squares = (columns**2).sum(axis=0)
    c = np.divide(target @ columns, squares, out=np.zeros_like(squares), where=squares > 0)
    off = np.abs(columns * c - target[:, None]).max(axis=0)
    for i in np.flatnonzero((off <= _CLOSE * np.abs(target).max()) & (c != 0)):
        yield int(i), float(c[i])


def _as_text(c: float, scalars: list[tuple[ast.expr, float]], *, deep: bool) -> Iterator[tuple[str, ast.expr, int]]:
    """(template, number, how far-fetched that is) where the template says c times w, with the number as n."""
    if abs(c - 1) < 1e-9:
        yield "w", ast.Constant(1), 0
        return
    values = np.array([number for _, number in scalars])
    tables = {"a": values[:, None]}
    if deep:
        tables |= {"a * b": np.outer(values, values), "a / b": np.divide.outer(values, values)}
    for template, table in tables.items():
        for text, quotient in (("w * n", c), ("w / n", 1 / c)):
            for at in np.argwhere(np.abs(table - quotient) < 1e-9 * quotient):
                parts = dict(zip("ab", (scalars[i][0] for i in at), strict=False))
                yield text, filled(template, **parts), 4 * len(template)


def guesses(place: Place, vocabulary: Vocabulary) -> Iterator[Edit]:
    """Factors, steps and terms that fit, where what is needed cannot be looked up."""
    templates = [("factor", "e * w"), ("factor", "e / w"), ("term", "e + w"), ("term", "e - w"), ("expression", "w")]
    yield from (edit_of(place, "wrap", step) for step in vocabulary.steps(place.expr))
    for node, value in vocabulary.base(place.env):
        for kind, template in templates if broadcasts(value, place.value) else ():
            yield edit_of(place, kind, filled(template, e=place.expr, w=node))
