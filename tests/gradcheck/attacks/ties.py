"""Right backwards at ties, where each one-sided derivative is right."""

import numpy as np

from tests.gradcheck.attacks.formulas import AT_0, of_x
from tests.gradcheck.attacks.laws import ALPHA, SCALE


def first(x):
    return np.arange(x.shape[1]) == x.argmax(axis=1)[:, None]


def evenly(x):
    ties = x == x.max(axis=1, keepdims=True)
    return ties / ties.sum(axis=1, keepdims=True)


TIED = np.array([[1.0, 1.0, 0.5], [0.0, 2.0, 2.0]])


TIES = {
    "ReLU, from the left": (lambda x: np.maximum(x, 0), of_x(lambda x: x > 0), AT_0),
    "ReLU, from the right": (lambda x: np.maximum(0, x), of_x(lambda x: x >= 0), AT_0),
    "ReLU, between": (lambda x: np.maximum(x, 0), of_x(lambda x: np.heaviside(x, 0.5)), AT_0),
    "ReLU by a product": (lambda x: x * (x > 0), of_x(lambda x: np.where(x >= 0, 1.0, 0.0)), AT_0),
    "ReLU by |x|": (lambda x: (x + np.abs(x)) / 2, of_x(lambda x: (1 + np.sign(x)) / 2), AT_0),
    "ReLU by Python": (
        lambda x: np.array([max(v, 0) for v in x]),
        lambda dy, x: np.array([d if v >= 0 else 0 * d for d, v in zip(dy, x, strict=True)]),
        AT_0[0],
    ),
    "leaky ReLU": (lambda x: np.where(x > 0, x, 0.1 * x), of_x(lambda x: np.where(x >= 0, 1, 0.1)), AT_0),
    "|x|": (np.abs, of_x(np.sign), AT_0),
    "|x|, from the right": (np.abs, of_x(lambda x: np.where(x >= 0, 1, -1)), AT_0),
    "an L1 loss": (lambda x: np.abs(x - AT_0).mean(), lambda dy, x: dy * np.sign(x - AT_0) / x.size, AT_0.copy()),
    "clip": (lambda x: np.clip(x, -1, 1), of_x(lambda x: (x > -1) & (x < 1)), AT_0),
    "clip, with its bounds": (lambda x: np.clip(x, -1, 1), of_x(lambda x: (x >= -1) & (x <= 1)), AT_0),
    "ReLU6": (lambda x: np.minimum(np.maximum(x, 0), 2), of_x(lambda x: (x >= 0) & (x < 2)), AT_0),
    "the first maximum": (lambda x: x.max(axis=1), lambda dy, x: dy[:, None] * first(x), TIED),
    "the maxima, evenly": (lambda x: x.max(axis=1), lambda dy, x: dy[:, None] * evenly(x), TIED),
    "np.maximum": (
        np.maximum,
        lambda dy, x, z: (dy * (x >= z), dy * (x < z)),
        AT_0,
        np.zeros((2, 3)),
    ),
    "np.minimum, evenly": (
        np.minimum,
        lambda dy, x, z: (dy * ((x < z) + 0.5 * (x == z)), dy * ((x > z) + 0.5 * (x == z))),
        AT_0,
        np.ones((2, 3)),
    ),
    "ELU": (
        lambda x: np.where(x > 0, x, np.exp(x) - 1),
        of_x(lambda x: np.where(x >= 0, 1, np.exp(x))),
        AT_0,
    ),
    "SELU": (
        lambda x: SCALE * np.where(x > 0, x, ALPHA * (np.exp(x) - 1)),
        of_x(lambda x: SCALE * np.where(x >= 0, 1, ALPHA * np.exp(x))),
        AT_0,
    ),
    "Huber": (
        lambda x: np.where(np.abs(x) <= 1, x * x / 2, np.abs(x) - 0.5).sum(),
        lambda dy, x: dy * np.where(np.abs(x) < 1, x, np.sign(x)),
        AT_0,
    ),
    "hinge": (lambda x: np.maximum(0, 1 - x).sum(), lambda dy, x: -dy * (x <= 1), AT_0),
    "a quantile loss": (
        lambda x: np.where(x > 0, 0.9 * x, -0.1 * x).sum(),
        lambda dy, x: dy * np.where(x >= 0, 0.9, -0.1),
        AT_0,
    ),
    "the median": (
        lambda x: np.sort(x)[1:3].mean(),
        lambda dy, x: dy * np.array([0, 0.5, 0.5, 0]),
        np.array([0.0, 1, 1, 2]),
    ),
}
"""At a tie each one-sided derivative is right, and what lies between."""
