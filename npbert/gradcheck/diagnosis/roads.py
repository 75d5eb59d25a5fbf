"""The roads of layers that are known by their formulas: by what sums a gradient comes back.

A layer need not say which it is. Every formula here is tried, and one whose roads do not add up to the right gradient
is dropped: so a layer of one's own is explained as well as npbert's.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.diagnosis.formulas import of_cross_entropy, of_normalizing, of_softmax

Roads = dict[str, Array]

_MEANS: tuple[Callable[..., Array], ...] = (np.mean, np.sum)
_EPS = (0.0, 1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2)


class Formula(NamedTuple):
    """The roads whose sum is a gradient; wrong gradients that people write, by the words that tell of them; and the
    arrays that the formula is made of."""

    roads: Roads
    mistakes: dict[str, Array]
    known: dict[str, Array]


NO_FORMULA = Formula({}, {}, {})


class Surroundings(NamedTuple):
    """What the formulas are made of: an input, dy, y, the vectors and small numbers of the layer, ids and labels."""

    x: Array
    dy: Array
    y: Array
    vectors: list[Array]
    eps: list[float]
    ids: list[Array]
    is_elementwise: bool


def formula_of(right: Array, around: Surroundings) -> Formula:
    """The formula whose roads add up to the right gradient, or an empty one."""
    scale = np.abs(right).max(initial=0)
    with np.errstate(all="ignore"):
        for formulas in _FORMULAS:
            for formula in formulas(right, around):
                total = sum(formula.roads.values())
                if np.shape(total) == right.shape and np.abs(total - right).max(initial=0) <= 1e-9 * scale:
                    return formula
    return NO_FORMULA


def _layer_norm(right: Array, around: Surroundings) -> Iterator[Formula]:
    x = around.x
    if not _is_like_x(right, around) or x.ndim < 2:
        return
    for gamma, eps in _scaled(around):
        dx_hat = gamma * around.dy
        centred = x - x.mean(axis=-1, keepdims=True)
        sigma = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + eps)
        x_hat = centred / sigma
        roads = {
            "directly": dx_hat / sigma,
            "through μ": np.broadcast_to(-dx_hat.mean(axis=-1, keepdims=True) / sigma, x.shape),
            "through σ": -x_hat * (dx_hat * x_hat).mean(axis=-1, keepdims=True) / sigma,
        }
        yield Formula(
            roads, of_normalizing(around.dy, gamma, x_hat, sigma, np.mean, is_centred=True), _named("σ", sigma, x_hat)
        )


def _norm(right: Array, around: Surroundings) -> Iterator[Formula]:
    """x divided by its root mean square, or by its length, in each row."""
    x = around.x
    if not _is_like_x(right, around) or x.ndim < 2:
        return
    for mean in _MEANS:
        for gamma, eps in _scaled(around):
            dx_hat = gamma * around.dy
            size: Array = np.sqrt(mean(x * x, axis=-1, keepdims=True) + eps)
            x_hat = x / size
            roads = {
                "directly": dx_hat / size,
                "through the norm": -x_hat * mean(dx_hat * x_hat, axis=-1, keepdims=True) / size,
            }
            yield Formula(
                roads,
                of_normalizing(around.dy, gamma, x_hat, size, mean, is_centred=False),
                _named("the norm", size, x_hat),
            )


def _softmax(right: Array, around: Surroundings) -> Iterator[Formula]:
    if not _is_like_x(right, around) or around.x.ndim < 1:
        return
    dy, p = around.dy, _probabilities(around.x)
    roads = {
        "through its own exponential": dy * p,
        "through the sum of all": -p * (dy * p).sum(axis=-1, keepdims=True),
    }
    yield Formula(roads, of_softmax(dy, p) if dy.ndim > 1 else {}, {"p": p})
    yield Formula(
        {"directly": dy, "through the logarithm of the sum": -p * dy.sum(axis=-1, keepdims=True)}, {}, {"p": p}
    )


def _cross_entropy(right: Array, around: Surroundings) -> Iterator[Formula]:
    x, dy = around.x, around.dy
    for labels in around.ids:
        if right.shape != x.shape or x.ndim != 2 or labels.shape != x.shape[:1] or np.size(dy) != 1:
            continue
        is_target = (labels >= 0) & (labels < x.shape[1])
        one_hot = (labels[:, None] == np.arange(x.shape[1])) * 1.0
        p = _probabilities(x) * is_target[:, None]
        for count in dict.fromkeys([int(is_target.sum()), 1]):
            share = float(np.sum(dy)) / count if count else 0.0
            roads = {"the probabilities": p * share, "the right answers": -one_hot * share}
            yield Formula(roads, of_cross_entropy(p, one_hot, share), {"p": p})


def _embedding(right: Array, around: Surroundings) -> Iterator[Formula]:
    """Rows that are read by their numbers: what the last that read a row brings back, and what those before it do."""
    dy = around.dy
    for ids in around.ids:
        is_one_row_each = dy.shape == (*ids.shape, *right.shape[1:]) and right.ndim > 1
        if not is_one_row_each or ids.size == 0 or ids.min() < 0 or ids.max() >= len(right):
            continue
        flat, rows = ids.ravel(), dy.reshape(ids.size, *right.shape[1:])
        first, last, total, in_order = (np.zeros_like(right) for _ in range(4))
        last[flat], first[flat[::-1]] = rows, rows[::-1]  # of a number that is there twice, NumPy keeps the last
        np.add.at(total, flat, rows)
        np.add.at(in_order, np.sort(flat), rows)
        times = 1.0 * np.bincount(flat, minlength=len(right)).reshape(-1, *[1] * (right.ndim - 1))
        roads = {
            "the rows that are read once": np.where(times == 1, total, 0),
            "of the others, the first time": np.where(times > 1, first, 0),
            "the last time": np.where(times > 1, last, 0),
            "the times between": np.where(times > 2, total - first - last, 0),
        }
        mistakes = {
            "only the last time counts that a row is read": last,
            "only the first time counts that a row is read": first,
            "the numbers of the rows are sorted first": in_order,
            "the times that a row is read are averaged, and not added": total / np.maximum(times, 1),
        }
        yield Formula(roads, mistakes, {"how often each row is read": times})


def _product_rule(right: Array, around: Surroundings) -> Iterator[Formula]:
    """y = x · g(x), element by element: x as the factor, and x inside g."""
    x, dy, y = around.x, around.dy, around.y
    if _is_like_x(right, around) and x.all() and around.is_elementwise:
        factor = dy * y / x
        yield Formula({"x as the factor (dy · y / x)": factor, "x inside the other factor": right - factor}, {}, {})


def _is_like_x(right: Array, around: Surroundings) -> bool:
    return right.shape == around.x.shape == around.dy.shape == around.y.shape


def _scaled(around: Surroundings) -> Iterator[tuple[Array | float, float]]:
    """Every vector that may be γ, or 1, with every number that may be eps."""
    gammas = [1.0, *(vector for vector in around.vectors if vector.shape in ((), around.x.shape[-1:]))]
    yield from itertools.product(gammas, dict.fromkeys([*around.eps, *_EPS]))


def _named(name: str, size: Array, x_hat: Array) -> dict[str, Array]:
    return {name: size, "x̂": x_hat, f"x̂ / {name}": x_hat / size}


def _probabilities(x: Array) -> Array:
    p = np.exp(x - x.max(axis=-1, keepdims=True))
    return p / p.sum(axis=-1, keepdims=True)


_FORMULAS: tuple[Callable[[Array, Surroundings], Iterator[Formula]], ...] = (
    _layer_norm,
    _norm,
    _softmax,
    _cross_entropy,
    _embedding,
    _product_rule,
)
