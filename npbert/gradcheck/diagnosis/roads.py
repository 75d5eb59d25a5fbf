"""The roads of layers that are known by their formulas: by what sums a gradient comes back.

A layer need not say which it is. Every formula here is tried, and one whose roads do not add up to the right gradient
is dropped: so a layer of one's own is explained as well as npbert's.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.diagnosis.formula import NO_FORMULA, Formula, Surroundings
from npbert.gradcheck.diagnosis.formulas import of_cross_entropy, of_normalizing, of_softmax
from npbert.gradcheck.diagnosis.roads_of_rows import of_reading, of_rows
from npbert.gradcheck.diagnosis.written import terms_of_cross_entropy, terms_of_normalizing, terms_of_softmax
from npbert.gradcheck.diagnosis.written_slopes import big_phi, small_phi, terms_of_gelu

_MEANS: tuple[Callable[..., Array], ...] = (np.mean, np.sum)
_EPS = (0.0, 1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2)


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
            roads,
            of_normalizing(around.dy, gamma, x_hat, sigma, np.mean, is_centred=True),
            _named("σ", sigma, x_hat) | _divisors(sigma, dx_hat, eps),
            partial(
                terms_of_normalizing,
                around.dy,
                gamma,
                x_hat,
                sigma,
                _others(around, gamma),
                tuple(roads),
                is_mean=True,
                name="σ",
            ),
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
                partial(
                    terms_of_normalizing,
                    around.dy,
                    gamma,
                    x_hat,
                    size,
                    _others(around, gamma),
                    tuple(roads),
                    is_mean=mean is np.mean,
                    name="the norm",
                ),
            )


def _softmax(right: Array, around: Surroundings) -> Iterator[Formula]:
    if not _is_like_x(right, around) or around.x.ndim < 1:
        return
    dy, p = around.dy, _probabilities(around.x)
    roads = {
        "through the numerator": dy * p,
        "through the denominator": -p * (dy * p).sum(axis=-1, keepdims=True),
    }
    by_whose = {
        "through its own p (k = j)": dy * p * (1 - p),
        "through the other p of its row (k ≠ j)": -p * ((dy * p).sum(axis=-1, keepdims=True) - dy * p),
    }
    if dy.ndim > 1:
        yield Formula(
            roads,
            of_softmax(dy, p),
            {"p": p},
            partial(terms_of_softmax, dy, p, ("the first term", "the second term")),
            (by_whose,),
        )
    yield Formula(roads, {}, {"p": p}, cuts=(by_whose,))
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
            dloss = float(np.sum(dy))
            share = dloss / count if count else 0.0
            roads = {"the probabilities": p * share, "the right answers": -one_hot * share}
            by = " · dloss/n" if count > 1 else " · dloss"
            shares = {by: share, " · dloss": dloss, "/n": 1 / max(count, 1), "": 1.0, " · dloss/N": dloss / len(x)}
            shares |= {" · dloss/C": dloss / x.shape[1], " · dloss/(n C)": share / x.shape[1]}
            terms = partial(terms_of_cross_entropy, x, labels, shares, tuple(roads))
            yield Formula(roads, of_cross_entropy(x, p, one_hot, share), {"p": p}, terms)


def _gelu(right: Array, around: Surroundings) -> Iterator[Formula]:
    x, dy = around.x, around.dy
    if _is_like_x(right, around) and around.is_elementwise:
        roads = {"Φ(x)": dy * big_phi(x), "x φ(x)": dy * x * small_phi(x)}
        yield Formula(roads, {}, {}, partial(terms_of_gelu, x, dy, ("Φ(x)", "x φ(x)")))


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


def _others(around: Surroundings, gamma: Array | float) -> list[Array]:
    return [vector for vector in around.vectors if vector is not gamma and vector.shape == np.shape(gamma)]


def _named(name: str, size: Array, x_hat: Array) -> dict[str, Array]:
    return {name: size, "x̂": x_hat, f"x̂ / {name}": x_hat / size}


def _divisors(sigma: Array, dx_hat: Array, eps: float) -> dict[str, Array]:
    """What is taken for σ."""
    found = {"the standard deviation of dx̂": dx_hat.std(axis=-1, keepdims=True)}
    found["σ[0]"] = np.broadcast_to(sigma[:1], sigma.shape)
    if eps > 0:
        found |= {"√(σ + eps)": np.sqrt(sigma + eps), "σ + eps": sigma + eps}
        found |= {"√(σ² + eps)": np.sqrt(sigma * sigma + eps), "σ² + eps": sigma * sigma + eps}
    return found


def _probabilities(x: Array) -> Array:
    p = np.exp(x - x.max(axis=-1, keepdims=True))
    return p / p.sum(axis=-1, keepdims=True)


_FORMULAS: tuple[Callable[[Array, Surroundings], Iterator[Formula]], ...] = (
    _layer_norm,
    _norm,
    _softmax,
    _cross_entropy,
    of_reading,
    of_rows,
    _gelu,
    _product_rule,
)
