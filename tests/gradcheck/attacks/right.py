"""Right backwards, by the principle that makes them look wrong. None may be refuted, and none told as wrong.

The cases of LAWFUL follow by algebra, from the derivatives of known functions and from small laws: a good prover proves
them. `truth.py` shows of each case that it is right.
"""

import numpy as np

from npbert import NO_TAPE
from tests.gradcheck.attacks import laws, rules, ties
from tests.gradcheck.attacks.formulas import (
    AT_0,
    INF,
    MINUS,
    SOME,
    UP,
    W,
    X,
    Z,
    cosine,
    cosine_vjp,
    length,
    normed,
    normed_vjp,
    of_x,
    softmax,
    softmax_vjp,
)

COUNTS = np.array([2.0, 0.0, 1.0])


def divergence_vjp(dy, x, z):
    p, q = softmax(x), softmax(z)
    log = np.log(p) - np.log(q)
    return dy * p * (log - (p * log).sum(axis=1, keepdims=True)), dy * (q - p)


ZERO = {
    "a bias before BatchNorm": (
        lambda x, b: normed(x + b, axis=0),
        lambda dy, x, b: (dx := normed_vjp(dy, x + b, axis=0), dx.sum(axis=0)),
        W,
        X[0],
    ),
    "a shift before LayerNorm": (
        lambda x, c: normed(x + c),
        lambda dy, x, c: (dx := normed_vjp(dy, x + c), dx.sum(axis=1, keepdims=True)),
        X,
        UP[:2, None],
    ),
    "a scale before LayerNorm": (
        lambda x, g: normed(x * g, 0),
        lambda dy, x, g: (g * (dx := normed_vjp(dy, x * g, 0)), (dx * x).sum(axis=1, keepdims=True)),
        X,
        UP[:2, None],
    ),
    "KL(p‖p)": (
        lambda x, z: (softmax(x) * (np.log(softmax(x)) - np.log(softmax(z)))).sum(),
        divergence_vjp,
        X,
        X.copy(),
    ),
    "the sum of softmax": (lambda x: softmax(x).sum(axis=1), lambda dy, x: softmax_vjp(dy[:, None] + 0 * x, x), X),
    "the bias of the keys": (
        lambda x, b: softmax(x @ (x + b).T),
        lambda dy, x, b: ((ds := softmax_vjp(dy, x @ (x + b).T)) @ (x + b) + ds.T @ x, (ds.T @ x).sum(axis=0)),
        W,
        X[0],
    ),
    "a softmax of one": (softmax, softmax_vjp, X[:, :1]),
    "a loss at its minimum": (lambda x: ((x - X) ** 2).sum(), lambda dy, x: dy * 2 * (x - X), X.copy()),
    "the length of a direction": (
        lambda x: length(x / length(x)),
        lambda dy, x: (dy * (u := x / length(x)) - u * (dy * u * u).sum(1, keepdims=True)) / length(x),
        X,
    ),
    "the cosine of one direction": (
        cosine,
        cosine_vjp,
        X,
        3.3 * X,
    ),
    "the entropy of even odds": (
        lambda x: -(softmax(x) * np.log(softmax(x))).sum(1, keepdims=True),
        lambda dy, x: -dy * (p := softmax(x)) * (np.log(p) - (p * np.log(p)).sum(1, keepdims=True)),
        np.full((2, 3), 0.7),
    ),
    "sin² + cos²": (
        lambda x: np.sin(x) ** 2 + np.cos(x) ** 2,
        of_x(lambda x: 2 * np.sin(x) * np.cos(x) - 2 * np.cos(x) * np.sin(x)),
        X,
    ),
    "the mean of what is centered": (lambda x: (x - x.mean()).mean(), lambda dy, x: (dy - dy) / x.size + 0 * x, X),
    "a variance of one": (lambda x: x.var(axis=1), lambda dy, x: 2 * dy[:, None] * (x - x.mean(1)[:, None]), X[:, :1]),
    "dead": (lambda x: np.maximum(x - 9, 0), lambda dy, x: dy * (x > 9), X),
    "Σ log p of a sum of 1": (
        lambda x: np.log(softmax(x).sum(axis=1, keepdims=True)),
        lambda dy, x: softmax_vjp(dy / softmax(x).sum(axis=1, keepdims=True) + 0 * x, x),
        X,
    ),
}
"""The true gradient is 0, and what is left of rounding is nothing in proportion to what was summed."""


def directions_vjp(dy, x):
    n = length(x)
    u = x / np.where(n > 0, n, 1)
    return np.where(n > 1e-9, (dy - u * (dy * u).sum(1, keepdims=True)) / n, dy / 1e-9)


DIVIDED = {
    "means of nothing": (
        lambda x: np.where(COUNTS > 0, x / COUNTS, 0),
        lambda dy, x: np.where(COUNTS > 0, dy / COUNTS, 0),
        X,
    ),
    "√ of the positive": (
        lambda x: np.where(x > 0, np.sqrt(x), 0),
        of_x(lambda x: np.where(x > 0, 0.5 / np.sqrt(x), 0)),
        MINUS,
    ),
    "log of the positive": (lambda x: np.where(x > 0, np.log(x), 0), of_x(lambda x: np.where(x > 0, 1 / x, 0)), X),
    "by what ReLU made 0": (
        lambda x: np.maximum(x, 0) ** 2,
        lambda dy, x: np.where(x > 0, dy * 2 * (r := np.maximum(x, 0)) ** 2 / r, 0),
        X,
    ),
    "0/0 made 0": (
        lambda x: np.maximum(x, 0) ** 2,
        lambda dy, x: np.nan_to_num(dy * 2 * (r := np.maximum(x, 0)) ** 2 / r),
        X,
    ),
    "np.divide where": (
        lambda x: x * (COUNTS > 0),
        lambda dy, x: np.divide(dy * COUNTS, COUNTS, out=np.zeros_like(dy), where=COUNTS > 0),
        X,
    ),
    "lengths of 0": (
        lambda x: x / np.maximum(length(x), 1e-9),
        directions_vjp,
        X * np.array([[1.0], [0.0]]),
    ),
    "sinc": (
        lambda x: np.where(x == 0, 1, np.sin(x) / x),
        of_x(lambda x: np.where(x == 0, 0, (np.cos(x) - np.sin(x) / x) / x)),
        AT_0,
    ),
    "a hole with a slope": (
        lambda x: np.where(x == 0, 1, (np.exp(x) - 1) / x),
        of_x(lambda x: np.where(x == 0, 0.5, (x * np.exp(x) - np.exp(x) + 1) / (x * x))),
        AT_0,
    ),
    "the sign as x/|x|": (np.abs, of_x(lambda x: np.where(x != 0, x / np.abs(x), 0)), AT_0),
    "ReLU's slope as y/x": (
        lambda x: np.maximum(x, 0),
        of_x(lambda x: np.where(x != 0, np.maximum(x, 0) / x, 1)),
        AT_0,
    ),
    "a mean of what is there": (
        lambda x: (x * SOME[:3]).sum(1) / max(SOME[:3].sum(), 1),
        lambda dy, x: dy[:, None] * SOME[:3] / SOME[:3].sum(),
        X,
    ),
    "a factor of 0": (
        lambda x: np.prod(np.where(SOME, x, 1.0)),
        lambda dy, x: np.where(SOME, dy * np.prod(np.where(SOME, x, 1.0)) / x, 0),
        np.array([2.0, 0.0, 3.0, -1.0]),
    ),
    "√ at 0, of what is masked": (
        lambda x: np.sqrt(np.where(SOME, x, 0.0)),
        lambda dy, x: np.where(SOME, dy * 0.5 / np.sqrt(np.where(SOME, x, 0.0)), 0),
        UP,
    ),
    "x / ∞": (lambda x, z: x + z / INF, lambda dy, x, z: (dy, dy / INF), X, Z),
}
"""What floats divide by 0 and do not take is no mistake."""


class Product:
    """x · target, which has a gradient here."""

    def forward(self, x, target, tape=NO_TAPE):
        tape.keep(self, x, target)
        return x * target

    def backward(self, dy, tape):
        x, target = tape.take(self)
        return dy * target, dy * x


class Square:
    @staticmethod
    def forward(ctx, x, k):
        ctx.save_for_backward(x, k)
        return k * x * x

    @staticmethod
    def backward(ctx, d):
        x, k = ctx.saved_tensors
        return 2 * k * d * x, None


def times(x, w):
    return x * w


def masked_vjp(dy, x, m):
    dx = np.zeros_like(x)
    dx[m] = dy
    return dx, None


FORMS = {
    "an input called target": (lambda x, target: x * target, lambda dy, x, target: (dy * target, dy * x), X, Z),
    "a layer's input called target": lambda: (Product(), X, Z),
    "None for the last": (times, lambda dy, x, w: (dy * w, None), X, Z),
    "None for the first": (times, lambda dy, x, w: [None, dy * x], X, Z),
    "None from a ctx": (Square, X, 3.0),
    "a list": (times, lambda dy, x, w: [dy * w, dy * x], X, Z),
    "a dict": (times, lambda dy, x, w: {"x": dy * w, "w": dy * x}, X, Z),
    "a dict of dx and dw": (times, lambda dy, x, w: {"dw": dy * x, "dx": dy * w}, X, Z),
    "a tuple of one": (np.tanh, lambda dy, x: (dy * (1 - np.tanh(x) ** 2),), X),
    "a list of one": (np.tanh, lambda dy, x: [dy * (1 - np.tanh(x) ** 2)], X),
    "a cache": (lambda x, w: (x * w, (x, w)), lambda dy, cache: [dy * cache[1], dy * cache[0]], X, Z),
    "a loss and a list": (lambda x, w: ((x * w).sum(), [w, x]), X, Z),
    "a loss and a dict": (lambda x, w: ((x * w).sum(), {"w": x, "x": w}), X, Z),
    "several y": (lambda x: (x * x, 3 * x, x.sum()), lambda dy, x: 2 * dy[0] * x + 3 * dy[1] + dy[2], X),
    "several dy": (lambda x: (x * x, 3 * x), lambda da, db, x: 2 * da * x + 3 * db, X),
    "a list of y": (lambda x: [x * x, x.sum()], lambda dy, x: 2 * dy[0] * x + dy[1], X),
    "an array without axes": (lambda x, k: x * k, lambda dy, x, k: (dy * k, (dy * x).sum()), X, np.array(1.5)),
    "a view": (lambda x: x.sum(), lambda dy, x: np.broadcast_to(dy, x.shape), X),
    "itself": (lambda x: x, lambda dy, x: dy, X),
    "an axis that was dropped": (lambda x: x.T[::-1], lambda dy, x: dy[::-1].T, X),
    "a default": (lambda x, k=3: x**k, lambda dy, x, k=3: k * dy * x ** (k - 1), X),
    "an option": (
        lambda x, how: x.mean() if how == "mean" else x.sum(),
        lambda dy, x, how: dy / x.size + 0 * x,
        X,
        "mean",
    ),
    "truth values": (lambda x, m: x[m], masked_vjp, X, X > 0),
    "whole numbers": (
        lambda w, ids: w[ids],
        lambda dy, w, ids: ((dw := np.zeros(w.shape)), np.add.at(dw, ids, dy))[0],
        W,
        np.array([2, 0, 2, 2]),
    ),
}
"""A gradient comes back in many forms, and None says that there is none."""


GROUPS = {
    "0": ZERO,
    "divided": DIVIDED,
    "tie": ties.TIES,
    "form": FORMS,
    "floats": laws.FLOATS,
    "law": laws.LAWS,
    "rule": rules.RULES,
    "kept": rules.KEPT,
    "beyond": laws.BEYOND,
    "raised": rules.RAISED,
}


RIGHT = {f"{name}: {each}": case for name, group in GROUPS.items() for each, case in group.items()}


LAWFUL = [name for name in RIGHT if not name.startswith(("beyond", "raised"))]
