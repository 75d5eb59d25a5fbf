"""Wrong backwards, by the principle that lets them through. None may be called proved, and none right.

A case is what `check_gradients` is given, or a function that makes it anew where it has a memory.
"""

import numpy as np

from tests.gradcheck.attacks import held
from tests.gradcheck.attacks.forked import FORKED, forked, works
from tests.gradcheck.attacks.formulas import (
    AT_0,
    INF,
    MINUS,
    SOME,
    UP,
    X,
    named,
    normed,
    normed_vjp,
    of_each,
    of_x,
    sigmoid,
    softmax,
    softmax_vjp,
)

MASKED = {
    "log": (lambda x: np.log(x, where=SOME, out=np.zeros_like(x)), of_x(lambda x: 1 / x), UP),
    "sum": (lambda x: np.add.reduce(x, 1, where=x > 0), lambda dy, x: dy[:, None] + 0 * x, X),
    "whole numbers": (lambda x: np.add(x, 0, dtype=int, casting="unsafe") * x, of_x(lambda x: 2 * x), UP),
    "exp.at": (lambda x: (y := x * 1, np.exp.at(y, [0, 2]), y)[2], of_x(np.exp), UP),
}
"""`where=`, `out=`, `dtype=` and `at` say which numbers a function is taken of."""

NANS = of_each(
    {
        "log": (np.log, lambda x: 1 / x),
        "in backward": (lambda x: x * np.abs(x), lambda x: 2 * np.sqrt(x) * np.sqrt(x)),
        "made 0": (lambda x: np.nan_to_num(np.log(x)), lambda x: 1 / x),
        "kept by a maximum": (lambda x: np.maximum(np.log(x), 2 * x), lambda x: 2 + 0 * x),
    },
    MINUS,
)
"""Where floats give NaN, there is no derivative, or that of another number."""


def masked(value, slope, wrong, masks=-INF):
    """y = value(x + m) z with a mask of infinities, which backward takes for what it is not: `wrong`."""
    mask = np.array([0.0, 0.0, masks])

    def backward(dy, x, z):
        kept = mask == 0
        return np.where(kept, dy * z * slope(np.where(kept, x, 0)), 0), dy * np.where(kept, value(x), wrong)

    return lambda x, z: value(x + mask) * z, backward, X[0], X[1]


INFINITE = {
    "tanh": masked(np.tanh, lambda x: 1 - np.tanh(x) ** 2, 0),
    "√": masked(lambda x: np.minimum(np.sqrt(x + 3), 4), lambda x: 0.5 / np.sqrt(x + 3), 0, INF),
    **of_each(
        {
            "+∞": (lambda x: sigmoid(x + np.array([0, -INF, -INF])), lambda x: sigmoid(x) * sigmoid(-x)),
            "0 · ∞": (lambda x: x + 0 * x * INF, lambda x: 1 + 0 * x),
            "a row of −∞": (lambda x: np.exp((s := x - INF) - s.max()), lambda x: 0 * x),
        },
        X[0],
    ),
    "log 0": (np.log, of_x(lambda x: 1 / np.where(x == 0, 1, x)), np.array([0.0, 1.0])),
}
"""±∞ is no number: tanh(−∞) is −1, and not what comes of 0."""

OVERFLOW = {
    "softmax": (lambda x: (e := np.exp(x)) / e.sum(1, keepdims=True), softmax_vjp, 800 * X),
    **of_each(
        {
            "softplus": (lambda x: np.log(1 + np.exp(x)), sigmoid),
            "∞ seen": (lambda x: np.where(np.isinf(np.exp(x)), 2 * x, x), lambda x: 1 + 0 * x),
        },
        800 * X,
    ),
}
"""Floats overflow where exact numbers do not."""

OF_A_LOSS = {
    "abs": abs,
    "is_integer": lambda dy: dy * float(dy).is_integer(),
    "at least 1": lambda dy: max(dy, 1),
    "small whole numbers": lambda dy: dy if abs(dy) > 50 or dy % 1 else 2 * dy,
}

OF_A_NUMBER = {
    "clip at 5": lambda dy: np.clip(dy, -5, 5),
    "what is writable": lambda dy: dy * (1 + dy.flags.writeable * (dy.dtype == float)),
    "noise": lambda dy: dy + 1e-5 * np.random.standard_normal(dy.shape),
    "0": lambda dy: np.where(dy == 0, 1, dy),
    "nearly 0": lambda dy: np.where(np.abs(dy) < 1e-3, 0 * dy, dy),
    "ones": lambda dy: dy * (3 if (dy == 1).all() else 1),
}


def of_a_loss(change):
    return lambda x: (x * x).sum(), lambda dy, x: change(dy) * 2 * x, X


def of_a_number(change):
    return lambda x: (x * x).sum(axis=1), lambda dy, x: change(dy)[:, None] * 2 * x, X[:1]


LINEAR = {
    **{name: of_a_loss(change) for name, change in OF_A_LOSS.items()},
    **{name: of_a_number(change) for name, change in OF_A_NUMBER.items()},
    "the sign of another": (
        lambda x: ((x * x).sum(), x.sum()),
        lambda da, db, x: 2 * abs(da) * x + db,
        X,
    ),
}
"""Backward is linear in dy, of all sizes and both signs, also at 0 and at 1."""

FIVE = np.array([[1.0], [5.0]])


def with_eps(eps, grow=1.0):
    """LayerNorm with an ε of 1e-9, and another one in backward."""
    return lambda x: normed(x, 1e-9), lambda dy, x: grow * normed_vjp(dy, x, eps)


SMALL = {
    "a saturated row of softmax": (softmax, lambda dy, x: FIVE * softmax_vjp(dy, x), 9 * FIVE * X),
    "0 for a small one": (lambda x: x**4, of_x(lambda x: np.where(x < 1, 0, 4 * x**3)), np.array([10.0, 1e-5])),
    "everywhere small": (lambda x: 1e-200 * x * x, of_x(lambda x: 0 * x), X),
    "a row of large numbers": (*with_eps(1e-9, FIVE[::-1]), X * np.array([[1e9], [1.0]])),
}
"""A wrong gradient is wrong however small it is beside others."""

STEPS = of_each(
    {
        "floor": (lambda x: np.floor(x) * x, lambda x: 2 * x),
        "heaviside": (lambda x: np.heaviside(x, 0.5) * x, lambda x: 0 * x),
        "beyond a bound": (lambda x: np.clip(x, 1, 2), lambda x: x > 1),
        "a cast": (lambda x: np.tanh(x.astype(np.float32)), lambda x: 1.1 * (1 - np.tanh(x) ** 2)),
        "imaginary": (lambda x: ((1 + 1j) * x * x).imag, lambda x: -2 * x),
        "values of expm1": (lambda x: np.sign(np.expm1(1e-17 * x)) * 2 * x, lambda x: 0 * x),
    },
    UP + 0.25,
)
"""Steps have slope 0, and between them there is what is left."""

TIES = of_each({"a ReLU": (lambda x: np.maximum(x, 0), lambda x: np.where(x == 0, 2, x > 0))}, AT_0)
"""At a tie no more is right than what lies between both sides."""

SIDES = of_each({"a ReLU": (lambda x: np.maximum(x, 0), lambda x: (x > 0) * (1 + 1e-9))}, AT_0)
"""On each side of a tie backward is right, too."""

TWICE = {
    "a masked log, else none": (
        lambda x: np.log(x, where=SOME, out=np.zeros_like(x)) if works(np.sum)(x) else x,
        of_x(lambda x: 1 / x),
        UP,
    ),
    "cubes of floats": (lambda x: x**3 if x.dtype == np.float64 else x**2, of_x(lambda x: 2 * x), X),
    "a backward of floats": (lambda x: x**2, of_x(lambda x: 3 * x if x.dtype == np.float64 else 2 * x), X),
    "the other of two": (np.maximum, lambda dy, x, z: (dy * (x < z), dy * (x >= z)), X, X[::-1].copy()),
}
"""Another way on exact numbers that shows, and two holes at once."""

FAINT = {
    "a small one of floats": (
        lambda x: np.stack([1e9 * x, 1e-9 * (x**3 if x.dtype == float else x**2)]),
        lambda dy, x: 1e9 * dy[0] + 2e-9 * x * dy[1],
        X,
    ),
    "a small backward of floats": (
        lambda x, z: np.stack([1e9 * x, 1e-9 * z * z]),
        lambda dy, x, z: (1e9 * dy[0], 1e-9 * z * dy[1] * (3 if dy.dtype == float else 2)),
        X,
        X.copy(),
    ),
}
"""Where estimates see nothing beside large numbers, `prove` sees floats go another way."""

WRONG = FORKED | named(
    where=MASKED,
    nan=NANS,
    infinite=INFINITE,
    overflow=OVERFLOW,
    linear=LINEAR,
    small=SMALL,
    step=STEPS,
    hidden=held.HIDDEN,
    memory=held.MEMORY,
    tie=TIES,
    side=SIDES,
    twice=TWICE,
)

ALONE = {"the settings of errors": forked(lambda z: np.geterr()["divide"] == "warn")}
"""What `prove` by itself does not see: `check_gradients` calls a layer in other ways, too."""


def only(constant, wrong):
    return lambda x: np.tanh(constant * x), of_x(lambda x: wrong * (1 - np.tanh(constant * x) ** 2)), X


SLIGHT = {
    "1e-12": only(1.0, 1 + 1e-12),
    "π": only(np.pi, 3.14159265),
    "another ε": (*with_eps(1.1e-9), X),
    "an ε outside of √": (
        lambda x: x / (np.sqrt((x * x).sum()) + 1e-9),
        lambda dy, x: dy / (n := np.sqrt((x * x).sum() + 1e-18)) - x * (dy * x).sum() / n**3,
        X,
    ),
}
"""A wrong gradient is wrong however near it comes; complex steps show it."""

EPSILONS = {
    "no ε": (*with_eps(0), X),
    "log(p + ε), with p − onehot": (
        lambda x: -np.log(softmax(x) + 1e-9)[[0, 1], [1, 2]].sum(),
        lambda dy, x: dy * (softmax(x) - np.eye(3)[[1, 2]]),
        X,
    ),
}
"""Right but for a small constant that forward has and backward leaves out: the report names it."""
