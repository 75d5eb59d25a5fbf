"""The terms of formulas that are known, each in all the forms in which people write it."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.diagnosis.finding import Term

Forms = dict[str, Array]

_POWERS = {"/{}": -1, "": 0, "/{}²": -2, " · {}": 1, "/√{}": -0.5, " · √{}": 0.5, "/{}³": -3, " · {}²": 2, "/{}⁴": -4}


def terms_of_normalizing(
    dy: Array,
    gamma: Array | float,
    x_hat: Array,
    size: Array,
    others: list[Array],
    roads: tuple[str, ...],
    *,
    is_mean: bool,
    name: str,
) -> tuple[Term, ...]:
    """Of dx = (dx̂ − mean(dx̂) − x̂ · mean(dx̂ · x̂)) / σ; of a norm, without its second term.

    size: σ, or the norm, called `name`. others: vectors of the layer that are not γ. roads: what the terms are called.
    is_mean: whether it is a mean, or a sum.
    """
    dx_hat = gamma * dy
    factors = {"dx̂": dx_hat}
    if np.ndim(gamma):
        factors |= {"dy": dy, "γ · dx̂": gamma * dx_hat, "dy/γ": dy / gamma}
    if others:
        factors["(another parameter) · dy"] = others[0] * dy
    products = {f"{key} · x̂": array * x_hat for key, array in factors.items()} | factors
    products["dx̂ · x̂²"] = dx_hat * x_hat * x_hat
    through = {f"x̂ · {text}": x_hat * array for text, array in _reduced(products, is_mean=is_mean).items()}
    through |= _reduced(products, is_mean=is_mean)
    dots = _reduced({"dx̂ · x̂": dx_hat * x_hat}, is_mean=is_mean)
    through |= {f"dx̂ · {text}": dx_hat * array for text, array in dots.items()}
    through["γ · x̂ · mean(dy · x̂)"] = gamma * x_hat * (dy * x_hat).mean(axis=-1, keepdims=True)
    forms = [factors, through] if len(roads) == 2 else [factors, _reduced(factors, is_mean=is_mean), through]
    legend = "dx̂ is γ · dy" if np.ndim(gamma) else "dx̂ is dy"
    return tuple(
        Term(road, _scaled(of, size, name), 1 if place == 0 else -1, legend if place == 0 else "")
        for place, (road, of) in enumerate(zip(roads, forms, strict=True))
    )


def terms_of_softmax(dp: Array, p: Array, roads: tuple[str, ...]) -> tuple[Term, ...]:
    """Of dx = p · dp − p · Σ dp p."""
    products = {"p · dp": dp * p, "dp": dp, "p": p, "p · (1 − p) · dp": dp * p * (1 - p), "p² · dp": dp * p * p}
    sums = _reduced(products, is_mean=False)
    fronts = {"p · {}": p, "{}": np.ones_like(p), "p² · {}": p * p, "p · (1 − p) · {}": p * (1 - p), "dp · {}": dp}
    pairs = itertools.product(fronts.items(), sums.items())
    through = {front.format(text): array * of for (front, array), (text, of) in pairs}
    return Term(roads[0], products, 1), Term(roads[1], through, -1)


def terms_of_cross_entropy(
    scores: Array, labels: Array, shares: dict[str, float], roads: tuple[str, ...]
) -> tuple[Term, ...]:
    """Of dlogits = (p − onehot) · share, where the rows without a label have 0. shares: the right one first."""
    is_target = (labels >= 0)[:, None]
    onehot = (labels[:, None] == np.arange(scores.shape[1])) * 1.0
    largest = scores.max(axis=-1, keepdims=True)
    e, raw = np.exp(scores - largest), np.exp(scores)
    total = e.sum(axis=-1, keepdims=True)
    p = e / total
    of_rows = np.where(is_target, raw, 0.0)
    probabilities = {
        "p": p,
        "e^score / total": raw / total,
        "e^(score − largest)": e,
        "(e^score − largest) / total": (raw - largest) / total,
        "e^score": raw,
        "log p": np.log(p),
        "score": scores,
        "(score − largest)": scores - largest,
        "softmax(scores, axis=0)": of_rows / of_rows.sum(axis=0),
        "softmax of all scores": of_rows / of_rows.sum(),
        "p²": p * p,
        "p · (1 − p)": p * (1 - p),
        "onehot · p": onehot * p,
        "1": np.ones_like(p),
    }
    answers = {
        "onehot": onehot,
        "[the first column]": np.broadcast_to(np.arange(p.shape[1]) == 0, p.shape) * 1.0,
        "[the columns of all labels]": np.tile(onehot.any(axis=0), (len(p), 1)) * 1.0,
        "onehot · p": onehot * p,
        "1": np.ones_like(p),
        "p": p,
        "onehot / p": onehot / p,
    }
    return tuple(
        Term(
            road,
            {f"{text}{by}": array * is_target * of for by, of in shares.items() for text, array in forms.items()},
            sign,
        )
        for road, forms, sign in zip(roads, (probabilities, answers), (1, -1), strict=True)
    )


def _reduced(forms: Forms, *, is_mean: bool) -> Forms:
    """The mean, or the sum, of each row; and what is taken for it."""
    ways: dict[str, Callable[[Array], Array]] = {
        "mean({})": lambda array: array.mean(axis=-1, keepdims=True),
        "sum({})": lambda array: array.sum(axis=-1, keepdims=True),
        "mean({}, axis=0)": lambda array: array.mean(axis=0),
        "sum({}, axis=0)": lambda array: array.sum(axis=0),
        "mean({}, of everything)": lambda array: array.mean(),
        "sum({}, of everything)": lambda array: array.sum(),
        "sum({})/N": lambda array: array.sum(axis=-1, keepdims=True) / len(array),
        "sum({})/(D − 1)": lambda array: array.sum(axis=-1, keepdims=True) / max(array.shape[-1] - 1, 1),
        "max({})": lambda array: array.max(axis=-1, keepdims=True),
    }
    order = sorted(ways, key=lambda way: way != ("mean({})" if is_mean else "sum({})"))
    return {
        way.format(text): np.broadcast_to(ways[way](array), array.shape)
        for text, array in forms.items()
        for way in order
    }


def _scaled(forms: Forms, size: Array, name: str) -> Forms:
    """Each of the forms, divided by σ, or not, or once too often."""
    short = f"({name})" if " " in name else name
    return {
        f"{text}{by.format(short)}": array * size**power
        for by, power in _POWERS.items()
        for text, array in forms.items()
    }
