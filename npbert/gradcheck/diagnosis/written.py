"""The terms of formulas that are known, each in all the forms in which people write it."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.diagnosis.finding import Term

Forms = dict[str, Array]

_POWERS = {
    "/{}": -1,
    "": 0,
    "/{}²": -2,
    " · {}": 1,
    "/√{}": -0.5,
    " · √{}": 0.5,
    "/{}³": -3,
    " · {}²": 2,
    "/{}⁴": -4,
    "/{}^(3/2)": -1.5,
    "/{}^(5/2)": -2.5,
}


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
    dots = _reduced({"dx̂ · x̂": dx_hat * x_hat, "x̂ · x̂": x_hat * x_hat}, is_mean=is_mean)
    through |= {f"dx̂ · {text}": dx_hat * array for text, array in dots.items()}
    through["γ · x̂ · mean(dy · x̂)"] = gamma * x_hat * (dy * x_hat).mean(axis=-1, keepdims=True)
    of_mean = factors | {key: products[key] for key in products if key in ("dy · x̂", "dx̂ · x̂")}
    forms = [factors, through] if len(roads) == 2 else [factors, _reduced(of_mean, is_mean=is_mean), through]
    legend = "dx̂ is γ · dy" if np.ndim(gamma) else "dx̂ is dy"
    return tuple(
        Term(road, _scaled(of, size, name), 1 if place == 0 else -1, legend if place == 0 else "")
        for place, (road, of) in enumerate(zip(roads, forms, strict=True))
    )


def terms_of_softmax(dp: Array, p: Array, roads: tuple[str, ...]) -> tuple[Term, ...]:
    """Of dx = p · dp − p · Σ dp p."""
    products = {"p · dp": dp * p, "dp": dp, "p": p, "p · (1 − p) · dp": dp * p * (1 - p), "p² · dp": dp * p * p}
    sums = _reduced(products, is_mean=False)
    sums["sum(p · dp, of everything)/N"] = np.broadcast_to((dp * p).sum() / len(p), p.shape)
    sums["sum(dp + p)"] = np.broadcast_to((dp + p).sum(axis=-1, keepdims=True), p.shape)
    again = np.exp(p) / np.exp(p).sum(axis=-1, keepdims=True)
    of_dp = np.exp(dp) / np.exp(dp).sum(axis=-1, keepdims=True)
    fronts = {"p · {}": p, "{}": np.ones_like(p), "p² · {}": p * p, "p · (1 − p) · {}": p * (1 - p), "dp · {}": dp}
    fronts |= {"(1 − p) · {}": 1 - p, "log p · {}": np.log(p), "softmax(p) · {}": again, "√p · {}": np.sqrt(p)}
    products |= {"(1 − p) · dp": dp * (1 - p), "dp/p": dp / p, "log p · dp": dp * np.log(p), "√p · dp": dp * np.sqrt(p)}
    products |= {"softmax(p) · dp": again * dp, "p · softmax(dp)": p * of_dp, "p²": p * p, "dp²": dp * dp}
    for where, column in (("first", 0), ("last", -1)):
        alone = np.zeros_like(p)
        alone[..., column] = (dp * p)[..., column]
        products[f"[the {where} column of p · dp alone]"] = alone
        sums[f"[the {where} column of p · dp]"] = np.broadcast_to(alone.sum(axis=-1, keepdims=True), p.shape)
    others = (dp * p).sum(axis=-1, keepdims=True) - dp * p
    sums["[sum(p · dp), without k = j]"] = others
    for text, array in (("p", p), ("dp", dp)):
        sums[f"sum({text}²)"] = np.broadcast_to((array * array).sum(axis=-1, keepdims=True), p.shape)
    largest = dp.max(axis=-1, keepdims=True)
    products["p · |dp|"], sums["largest dp of the row"] = p * np.abs(dp), np.broadcast_to(largest, p.shape)
    pairs = itertools.product(fronts.items(), sums.items())
    through = {front.format(text): array * of for (front, array), (text, of) in pairs}
    through |= {text: array for text, array in products.items() if text not in through}
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
        "(1 − p)": 1 - p,
        "1/p": 1 / p,
        "√p": np.sqrt(p),
        "e^(score − largest) / [the sum of all rows]": e / (e * is_target).sum(),
        "e^(score − largest) / [the sum of its column]": e / (e * is_target).sum(axis=0),
        "e^(score − largest) · total": e * total,
        "e^(score − largest) / log total": e / np.log(total),
        "e^(score + largest) / total": np.exp(scores + largest) / total,
        "e^(score − largest) / total²": p / total,
        "e^(score − largest) / √total": e / np.sqrt(total),
        "e^(score − largest) / largest": e / largest,
        "e^(score − largest) / C": e / e.shape[1],
        "p / largest": p / largest,
        "1/C": np.full_like(p, 1 / p.shape[1]),
        "softmax(p)": np.exp(p) / np.exp(p).sum(axis=-1, keepdims=True),
        "score / [the sum of its row]": scores / scores.sum(axis=-1, keepdims=True),
        "(score − log total)": scores - np.log(total),
        "[1 at the largest of each row]": (scores == largest) * 1.0,
    }
    answers = {
        "onehot": onehot,
        "[the first column]": np.broadcast_to(np.arange(p.shape[1]) == 0, p.shape) * 1.0,
        "[the columns of all labels]": np.tile(onehot.any(axis=0), (len(p), 1)) * 1.0,
        "onehot · p": onehot * p,
        "1": np.ones_like(p),
        "p": p,
        "onehot / p": onehot / p,
        "[the label, as a number]": np.broadcast_to(np.maximum(labels, 0)[:, None] * 1.0, p.shape),
        "[how often each label is there]": np.tile(onehot.sum(axis=0), (len(p), 1)),
        "[the column before the label]": np.roll(onehot, -1, axis=1),
        "[the column after the label]": np.roll(onehot, 1, axis=1),
        "[the last column]": np.broadcast_to(np.arange(p.shape[1]) == p.shape[1] - 1, p.shape) * 1.0,
        "[1 at the largest of each row]": (scores == largest) * 1.0,
        "onehot · score": onehot * scores,
        "onehot · log p": onehot * np.log(p),
        "onehot · (1 − p)": onehot * (1 - p),
        "(1 − onehot)": 1 - onehot,
        "onehot · C": onehot * p.shape[1],
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
