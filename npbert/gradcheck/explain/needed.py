"""What an expression would have to be: looked up, where the outputs depend on it linearly.

Backward is linear in nearly all that it computes. So the slopes of the wrong outputs by an expression, J, say at once
for each word of the vocabulary what would come out if it were added, multiplied or put in the place of the expression,
and by which number it would have to be scaled. And where no value at all closes the gap, it is not there that the
mistake is.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.explain.code import filled, text_of
from npbert.gradcheck.explain.edits import Edit, edit_of
from npbert.gradcheck.explain.places import Place, broadcasts
from npbert.gradcheck.explain.trial import Outlook
from npbert.gradcheck.explain.vocabulary import CONSTANTS, Vocabulary, Word

_LARGEST = 150  # so many numbers at most are moved one by one
_CLOSE = 1e-7
_MOST = 40  # so many edits of a place are tried
_LONG = 40  # so many letters more count as much as 1 more of cost


@dataclass(frozen=True)
class Slopes:
    """of (outputs, n): how fast each output moves with each number of the expression; gap (outputs,): what it lacks."""

    of: Array
    gap: Array


def slopes_at(place: Place, k: int, now: Outlook) -> list[Slopes] | None:
    """Of each wrong output that moves with the expression, where some value closes the gap; None: it is not linear."""
    value = _moved_by(place)
    start = place.put(k, value if value.ndim else float(value)).arrays
    names = [name for name in sorted(now.wrong) if name in start and start[name][0].shape == start[name][1].shape]
    if not names or not 0 < value.size <= _LARGEST:
        return None

    def outputs(moved: Array) -> dict[str, Array] | None:
        arrays = place.put(k, moved if moved.ndim else float(moved)).arrays
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
        if of.any() and gap.any() and _near(closest, gap):
            found.append(Slopes(of, gap))
    return found


def _moved_by(place: Place) -> Array:
    """The numbers that are moved: those of the place, or a factor of it where it is another thing in each round."""
    return np.ones(()) if place.looped else np.broadcast_to(np.asarray(place.value, dtype=float), place.room)


def _near(a: Array, b: Array) -> bool:
    return bool(np.abs(a - b).max(initial=0) <= 1e-6 * max(np.abs(b).max(initial=0), 1e-9))


def looked_up(place: Place, slopes: list[Slopes], vocabulary: Vocabulary) -> list[Edit]:
    """The edits of the expression that close the gap of an output, the shortest first."""
    e, env, value = place.expr, place.env, _moved_by(place)
    words = [word for word in ([] if place.looped else vocabulary.words(env)) if _fits(word.value, value)]
    valued = [] if place.looped else vocabulary.valued(vocabulary.steps(e), env)
    steps = [Word(step, "e", {"e": node}) for node, step in valued if _fits(step, value)]
    itself, scalars = Word(value, "e", {"e": e}), vocabulary.scalars(env)
    ways: list[tuple[str, str, list[Word], list[Any]]] = [
        ("missing term", "e + w", words, [word.value for word in words]),
        ("missing factor", "w", [itself], [value]),
        ("missing factor", "e * w", words, [value * word.value for word in words]),
        ("missing factor", "e / w", words, [value / word.value for word in words]),
        ("missing step", "w", steps, [step.value for step in steps]),
        ("expression", "w", words, [word.value for word in words]),
    ]
    found: dict[str, tuple[float, str, ast.expr]] = {}
    for each in slopes:
        whole = each.gap + each.of @ value.ravel()
        for kind, template, made_of, products in ways:
            columns = [np.broadcast_to(product, value.shape).ravel() for product in products]
            target = each.gap if kind == "missing term" else whole
            for i, c in _multiples(each.of @ np.array(columns, dtype=float).T, target) if columns else ():
                for text, number, far in _as_text(abs(c), scalars, deep=made_of[i] is itself):
                    word = made_of[i].made()
                    made = text_of(filled(template, e=e, w=word))
                    if kind == "missing factor" and f"/ {text_of(e)}" in made:  # e / e, and e · (b / e), are no factors
                        continue
                    if kind == "missing term":
                        new = filled("e + w" if c > 0 else "e - w", e=e, w=filled(text, w=word, n=number))
                    else:
                        new = filled(text, w=filled(template, e=e, w=word), n=number)
                        new = new if c > 0 else ast.UnaryOp(ast.USub(), new)
                    name = text_of(new)
                    found.setdefault(name, (len(name) + far, kind, new))
    best, old = sorted(found.values(), key=lambda each: each[0])[:_MOST], len(text_of(e))
    return [edit_of(place, kind, new, max(0, length - old) / _LONG) for length, kind, new in best]


def _fits(word: Any, value: Array) -> bool:
    return broadcasts(word, value) and bool(np.isfinite(word).all())


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
    templates = [
        ("missing factor", "e * w"),
        ("missing factor", "e / w"),
        ("missing term", "e + w"),
        ("missing term", "e - w"),
        ("expression", "w"),
    ]
    for template, constant in itertools.product(("e / w", "e * w"), CONSTANTS):
        yield edit_of(place, "missing factor", filled(template, e=place.expr, w=filled(constant)))
    yield from (edit_of(place, "missing step", step) for step in vocabulary.steps(place.expr))
    for node, value in vocabulary.base(place.env):
        is_other = broadcasts(value, place.value) and text_of(node) != text_of(place.expr)
        for kind, template in templates if is_other else ():
            yield edit_of(place, kind, filled(template, e=place.expr, w=node))
