"""Right backwards, by the principle that makes them look wrong. None may be refuted, and none told as wrong.

The cases of PROVABLE follow by algebra, from the derivatives of known functions and from small laws; those of UNPROVED
do not.
"""

import numpy as np

from tests.gradcheck import courses
from tests.gradcheck.attacks import laws
from tests.gradcheck.attacks.formulas import (
    AT_0,
    SOME,
    UP,
    W,
    X,
    Z,
    cosine,
    cosine_vjp,
    named,
    normed,
    normed_vjp,
    of_each,
    of_x,
    sigmoid,
    softmax,
    softmax_vjp,
)
from tests.gradcheck.test_others import CALLS, n

ZERO = {
    "a bias before BatchNorm": (
        lambda x, b: normed(x + b, axis=0),
        lambda dy, x, b: (dx := normed_vjp(dy, x + b, axis=0), dx.sum(axis=0)),
        W,
        X[0],
    ),
    "the sum of softmax": (lambda x: softmax(x).sum(axis=1), lambda dy, x: softmax_vjp(dy[:, None] + 0 * x, x), X),
    "the cosine of one direction": (cosine, cosine_vjp, X, 3.3 * X),
    "sin² + cos²": (
        lambda x: np.sin(x) ** 2 + np.cos(x) ** 2,
        of_x(lambda x: 2 * np.sin(x) * np.cos(x) - 2 * np.cos(x) * np.sin(x)),
        X,
    ),
}
"""The true gradient is 0, and what is left of rounding is nothing in proportion to what was summed."""


DIVIDED = {
    "a factor of 0": (
        lambda x: np.prod(np.where(SOME, x, 1.0)),
        lambda dy, x: np.where(SOME, dy * np.prod(np.where(SOME, x, 1.0)) / x, 0),
        np.array([2.0, 0.0, 3.0, -1.0]),
    ),
    "log of the positive": (
        lambda x: np.where(x > 0, np.log(x), 0),
        of_x(lambda x: np.where(x > 0, 1 / x, 0)),
        X,
    ),
    **of_each(
        {
            "sinc": (
                lambda x: np.where(x == 0, 1, np.sin(x) / x),
                lambda x: np.where(x == 0, 0, (np.cos(x) - np.sin(x) / x) / x),
            ),
            "the sign as x/|x|": (np.abs, lambda x: np.where(x != 0, x / np.abs(x), 0)),
        },
        AT_0,
    ),
}
"""What floats divide by 0 and do not take is no mistake."""


def evenly(x):
    ties = x == x.max(axis=1, keepdims=True)
    return ties / ties.sum(axis=1, keepdims=True)


TIED = np.array([[1.0, 1.0, 0.5], [0.0, 2.0, 2.0]])
TIES = {
    **of_each(
        {
            "ReLU, from the left": (lambda x: np.maximum(x, 0), lambda x: x > 0),
            "ReLU by a product": (lambda x: x * (x > 0), lambda x: np.where(x >= 0, 1.0, 0.0)),
            "ReLU by |x|": (lambda x: (x + np.abs(x)) / 2, lambda x: (1 + np.sign(x)) / 2),
            "clip, with its bounds": (lambda x: np.clip(x, -1, 1), lambda x: (x >= -1) & (x <= 1)),
            "ELU": (lambda x: np.where(x > 0, x, np.exp(x) - 1), lambda x: np.where(x >= 0, 1, np.exp(x))),
        },
        AT_0,
    ),
    "the maxima, evenly": (lambda x: x.max(axis=1), lambda dy, x: dy[:, None] * evenly(x), TIED),
    "np.maximum": (np.maximum, lambda dy, x, z: (dy * (x >= z), dy * (x < z)), AT_0, np.zeros((2, 3))),
    "the median": (
        lambda x: np.sort(x)[1:3].mean(),
        lambda dy, x: dy * np.array([0, 0.5, 0.5, 0]),
        np.array([0.0, 1, 1, 2]),
    ),
}
"""At a tie each one-sided derivative is right, and what lies between."""


def convolution(x, w):
    """Along rows, written as loops into np.full."""
    y = np.full((len(x) - len(w) + 1, w.shape[2]), 0.0)
    for t in range(len(y)):
        for k in range(len(w)):
            y[t] += x[t + k] @ w[k]
    return y


def convolution_vjp(dy, x, w):
    dx, dw = np.zeros_like(x), np.zeros(w.shape)
    for t in range(len(dy)):
        for k in range(len(w)):
            dx[t + k] += w[k] @ dy[t]
            dw[k] += np.outer(x[t + k], dy[t])
    return dx, dw


STYLES = {
    **{name: make(courses) for name, make in CALLS.items() if name != "minitorch"},  # which is of a number
    "LayerNorm": (normed, normed_vjp, n(3, 4)),
    "standard deviation": (
        lambda x: np.std(x, axis=1),
        lambda dy, x: dy[:, None] * (x - x.mean(1, keepdims=True)) / (x.shape[1] * np.std(x, axis=1, keepdims=True)),
        n(5, 4),
    ),
    "convolution in loops": (convolution, convolution_vjp, n(5, 4), n(2, 4, 3)),
    "a power of 0.3": (lambda x: np.abs(x) ** 0.3, of_x(lambda x: 0.3 * np.abs(x) ** -0.7 * np.sign(x)), n(5, 4)),
    "cumulative sum": (lambda x: np.cumsum(x, axis=0), lambda dy, x: np.cumsum(dy[::-1], axis=0)[::-1], n(5, 4)),
}
"""Layers as courses and libraries have them: proved at any scale of the first array."""


def solve_vjp(dy, a, b):
    db = np.linalg.solve(a.T, dy)
    return -np.outer(db, np.linalg.solve(a, b)) if b.ndim == 1 else -db @ np.linalg.solve(a, b).T, db


STACK = np.stack([W, W[::-1] + 1])
RULES = {
    "solve": (np.linalg.solve, solve_vjp, W, Z.T),
    "solve a vector": (np.linalg.solve, solve_vjp, W, Z[0]),
    "det": (np.linalg.det, lambda dy, a: dy * np.linalg.det(a) * np.linalg.inv(a).T, W),
    "slogdet": (
        lambda a: np.linalg.slogdet(a)[1],
        lambda dy, a: dy[:, None, None] * np.linalg.inv(a).swapaxes(1, 2),
        STACK,
    ),
    "logaddexp": (np.logaddexp, lambda dy, x, z: (dy * sigmoid(x - z), dy * sigmoid(z - x)), X, Z),
    "sum where": (lambda x: x.sum(axis=1, where=x > 0), lambda dy, x: dy[:, None] * (x > 0), X),
    "log where": (
        lambda x: np.log(x, where=x > 1, out=np.zeros_like(x)),
        of_x(lambda x: np.where(x > 1, 1 / x, 0)),
        UP[[0, 2, 3]],
    ),
    "cumprod": (np.cumprod, lambda dy, x: np.cumsum((dy * np.cumprod(x))[::-1])[::-1] / x, UP),
    "a quantile": (lambda x: np.quantile(x, 0.25), lambda dy, x: dy * np.array([0.25, 0.75, 0, 0]), UP),
    "arctan2": (np.arctan2, lambda dy, x, z: (dy * z / (x * x + z * z), -dy * x / (x * x + z * z)), X, Z),
    "sort": (np.sort, lambda dy, x: dy[np.argsort(np.argsort(x))], UP[[2, 0, 3, 1]]),
}
"""Functions that people differentiate."""


def times(x, w):
    return x * w


FORMS = {
    "None for the last": (times, lambda dy, x, w: (dy * w, None), X, Z),
    "a dict of dx and dw": (times, lambda dy, x, w: {"dw": dy * x, "dx": dy * w}, X, Z),
    "a cache": (lambda x, w: (x * w, (x, w)), lambda dy, cache: [dy * cache[1], dy * cache[0]], X, Z),
    "a loss and a list": (lambda x, w: ((x * w).sum(), [w, x]), X, Z),
    "several dy": (lambda x: (x * x, 3 * x), lambda da, db, x: 2 * da * x + 3 * db, X),
    "a list of y": (lambda x: [x * x, x.sum()], lambda dy, x: 2 * dy[0] * x + dy[1], X),
    "an array without axes": (lambda x, k: x * k, lambda dy, x, k: (dy * k, (dy * x).sum()), X, np.array(1.5)),
    "itself": (lambda x: x, lambda dy, x: dy, X),
    "truth values": (lambda x, m: x[m], lambda dy, x, m: (np.place(dx := 0 * x, m, dy), (dx, None))[1], X, X > 0),
}
"""A gradient comes back in many forms, and None says that there is none."""


def square(x):
    return x * x


def careful(error, function):
    """The function, with an error for numbers of another kind."""

    def called(first, *more):
        if not isinstance(first.flat[0], float | complex):
            raise error
        return function(first, *more)

    return called


RAISED = {
    "StopIteration in forward": (careful(StopIteration("a kind"), square), of_x(lambda x: 2 * x), X),
    "Warning in backward": (square, careful(Warning("a kind"), of_x(lambda x: 2 * x)), X),
}
"""Whatever code raises on exact numbers, it is not proved, and no more than that."""


PROVABLE = named(
    zero=ZERO,
    divided=DIVIDED,
    tie=TIES,
    form=FORMS,
    floats=laws.FLOATS,
    law=laws.LAWS,
    rule=RULES,
)
UNPROVED = named(beyond=laws.BEYOND, raised=RAISED)
