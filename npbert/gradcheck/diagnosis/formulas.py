"""Whole formulas that people write in place of the right one, and arrays that are handed back as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.diagnosis.factors import is_plain
from npbert.gradcheck.diagnosis.finding import Case, Finding


def wrong_formula(case: Case) -> Iterator[Finding]:
    """One of the mistakes that are known, or an array that is known, as it is."""
    for name, array in case.known.items():
        if is_plain(name) and array.shape == case.wrong.shape and case.explains(array, fitted=1):
            yield Finding("formula", case.name, f"{case.d} is {name} itself")
            return
    for text, array in case.mistakes.items():
        if array.shape == case.wrong.shape and case.explains(array, fitted=1):
            yield Finding("formula", case.name, f"{case.d} is what comes out when {text}")
            return


def of_normalizing(
    dy: Array, gamma: Array | float, x_hat: Array, size: Array, mean: Callable[..., Array], *, is_centred: bool
) -> dict[str, Array]:
    """Mistakes in dx = (dx̂ − mean(dx̂) − x̂ mean(dx̂ · x̂)) / σ; without its second term if x̂ is not centred."""

    def dx(g: Array, h: Array, axis: int = -1) -> Array:
        shift = mean(g, axis=axis, keepdims=True) if is_centred else 0.0
        return (g - shift - x_hat * mean(g * h, axis=axis, keepdims=True)) / size

    moved = dy - mean(dy, axis=-1, keepdims=True)
    own = gamma * dy - mean(gamma * dy, axis=-1, keepdims=True)
    return {
        "forward is applied to dy: γ (dy − mean(dy)) / σ": gamma * moved / size,
        "dx̂ is normalised itself, (dx̂ − mean(dx̂)) / its own σ": own / np.sqrt(mean(own * own, axis=-1, keepdims=True)),
        "γ stands outside of the means, and not inside": gamma * dx(dy, x_hat),
        "γ is left out": dx(dy, x_hat),
        "the means are taken over the rows, and not over the columns": dx(gamma * dy, x_hat, axis=0),
        "x̂ is left out of the mean of dx̂ · x̂": dx(gamma * dy, np.ones_like(x_hat)),
    }


def of_softmax(dp: Array, p: Array) -> dict[str, Array]:
    """Mistakes in dx = p · (dp − Σ dp p)."""
    total, plain = (dp * p).sum(axis=-1, keepdims=True), dp.sum(axis=-1, keepdims=True)
    return {
        "p (1 − p) is taken for the whole derivative, but each x moves every p of its row": dp * p * (1 - p),
        "Σ dp · p is taken over the rows, and not over the columns": p * (dp - (dp * p).sum(axis=0)),
        "Σ dp · p is taken over everything, and not row by row": p * (dp - total.sum()),
        "p is left out of Σ dp · p": p * (dp - plain),
        "p stands outside of the sum in place of inside, p² · Σ dp for p · Σ dp · p": p * dp - p * p * plain,
        "p is left out before Σ dp · p": p * dp - total,
        "softmax is applied to dp, where its derivative should be": _softmax(dp),
        "softmax is taken of p once more, in place of p": _of(_softmax(p), dp),
        "dp is subtracted from p, as in cross-entropy with softmax": p - dp,
        "p is subtracted from dp, as in cross-entropy with softmax": dp - p,
    }


def _of(p: Array, dp: Array) -> Array:
    return p * (dp - (dp * p).sum(axis=-1, keepdims=True))


def _softmax(x: Array) -> Array:
    p = np.exp(x - x.max(axis=-1, keepdims=True))
    return p / p.sum(axis=-1, keepdims=True)


def of_cross_entropy(scores: Array, p: Array, one_hot: Array, share: float) -> dict[str, Array]:
    """Mistakes in dlogits = (p − onehot) / targets."""
    with np.errstate(all="ignore"):
        only_log = np.where(one_hot > 0, -share / p, 0.0)
        loss = np.where(one_hot > 0, -np.log(p), 0.0)
    of_row, right = loss.sum(axis=-1, keepdims=True), (p - one_hot) * share
    is_target = one_hot.any(axis=-1, keepdims=True)
    largest = (scores == scores.max(axis=-1, keepdims=True)) * is_target * share
    return {
        "p − onehot is squared": (p - one_hot) * right,
        "the absolute value of p − onehot is taken": np.abs(right),
        "each row is multiplied with its own loss, −log p[label]": of_row * right,
        "the loss −log p[label] itself stands at the label": loss * share,
        "log p[label] itself stands at the label": -loss * share,
        "the loss is subtracted, too, at the label": right - loss * share,
        "the largest score of each row is given a gradient of its own, which should cancel out": right - largest,
        "the largest score of each row is given a gradient of its own, added, which should cancel out": right + largest,
        "1 is subtracted at the largest score of each row, and not at its label": p * share - largest,
        "the mean over the rows is subtracted": right - right.sum(axis=0) / is_target.sum() * is_target,
        "it is multiplied with p once more": p * right,
        "it is divided by p": np.divide(right, p, out=np.zeros_like(p), where=p > 0),
        "it is multiplied with 1 − p": (1 - p) * right,
        "softmax is derived a second time: p · (g − Σ g p), with g = p − onehot": p
        * (right - (right * p).sum(axis=-1, keepdims=True)),
        "the loss is derived by p, −1/p, and softmax is forgotten": only_log,
        "only the logit of the label is derived, but every logit moves its probability": (p - 1) * one_hot * share,
        "p (1 − p) is taken for the derivative of softmax": -share * one_hot * (1 - p) * p,
    }
