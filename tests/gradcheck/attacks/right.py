"""Right backwards, by the principle that makes them look wrong. None may be refuted, and none told as wrong.

The cases of PROVABLE follow by algebra, from the derivatives of known functions and from small laws; those of UNPROVED
do not. `truth.py` shows of each case that it is right.
"""

import numpy as np

from tests.gradcheck.attacks import laws, rules
from tests.gradcheck.attacks.formulas import (
    AT_0,
    SOME,
    W,
    X,
    Z,
    cosine,
    cosine_vjp,
    normed,
    normed_vjp,
    of_each,
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
    "the cosine of one direction": (cosine, cosine_vjp, X, 3.3 * X),
    "sin² + cos²": (
        lambda x: np.sin(x) ** 2 + np.cos(x) ** 2,
        of_x(lambda x: 2 * np.sin(x) * np.cos(x) - 2 * np.cos(x) * np.sin(x)),
        X,
    ),
    "dead": (lambda x: np.maximum(x - 9, 0), of_x(lambda x: x > 9), X),
}
"""The true gradient is 0, and what is left of rounding is nothing in proportion to what was summed."""


DIVIDED = {
    "means of nothing": (
        lambda x: np.where(COUNTS > 0, x / COUNTS, 0),
        lambda dy, x: np.where(COUNTS > 0, dy / COUNTS, 0),
        X,
    ),
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
    "x / ∞": (lambda x, z: x + z / np.inf, lambda dy, x, z: (dy, dy / np.inf), X, Z),
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
            "ReLU, between": (lambda x: np.maximum(x, 0), lambda x: np.heaviside(x, 0.5)),
            "ReLU by a product": (lambda x: x * (x > 0), lambda x: np.where(x >= 0, 1.0, 0.0)),
            "ReLU by |x|": (lambda x: (x + np.abs(x)) / 2, lambda x: (1 + np.sign(x)) / 2),
            "leaky ReLU": (lambda x: np.where(x > 0, x, 0.1 * x), lambda x: np.where(x >= 0, 1, 0.1)),
            "|x|": (np.abs, np.sign),
            "clip": (lambda x: np.clip(x, -1, 1), lambda x: (x > -1) & (x < 1)),
            "clip, with its bounds": (lambda x: np.clip(x, -1, 1), lambda x: (x >= -1) & (x <= 1)),
            "ELU": (lambda x: np.where(x > 0, x, np.exp(x) - 1), lambda x: np.where(x >= 0, 1, np.exp(x))),
            "hinge": (lambda x: np.maximum(0, 1 - x).sum(), lambda x: -1.0 * (x <= 1)),
        },
        AT_0,
    ),
    "ReLU by Python": (
        lambda x: np.array([max(v, 0) for v in x]),
        lambda dy, x: np.array([d if v >= 0 else 0 * d for d, v in zip(dy, x, strict=True)]),
        AT_0[0],
    ),
    "an L1 loss": (lambda x: np.abs(x - AT_0).mean(), lambda dy, x: dy * np.sign(x - AT_0) / x.size, AT_0.copy()),
    "the maxima, evenly": (lambda x: x.max(axis=1), lambda dy, x: dy[:, None] * evenly(x), TIED),
    "np.maximum": (np.maximum, lambda dy, x, z: (dy * (x >= z), dy * (x < z)), AT_0, np.zeros((2, 3))),
    "the median": (
        lambda x: np.sort(x)[1:3].mean(),
        lambda dy, x: dy * np.array([0, 0.5, 0.5, 0]),
        np.array([0.0, 1, 1, 2]),
    ),
}
"""At a tie each one-sided derivative is right, and what lies between."""


def named(**groups):
    return {f"{group}: {name}": case for group, cases in groups.items() for name, case in cases.items()}


PROVABLE = named(
    zero=ZERO,
    divided=DIVIDED,
    tie=TIES,
    form=rules.FORMS,
    floats=laws.FLOATS,
    law=laws.LAWS,
    rule=rules.RULES,
)
UNPROVED = named(beyond=laws.BEYOND, raised=rules.RAISED)
