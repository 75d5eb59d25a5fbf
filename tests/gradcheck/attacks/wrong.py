"""Wrong backwards, by the principle that lets them through. None may be called proved, and none right.

A case is what `check_gradients` is given, or a function that makes it anew where it has a memory; `truth.py` shows of
each that it is wrong.
"""

import collections
import functools
import math
from types import SimpleNamespace

import numpy as np

from npbert import NO_TAPE, Parameter
from tests.gradcheck.attacks import steps, ways
from tests.gradcheck.attacks.formulas import (
    INF,
    MINUS,
    SOME,
    UP,
    X,
    normed,
    normed_vjp,
    of_x,
    softmax,
    softmax_vjp,
)

MASKED = {
    "log": (lambda x: np.log(x, where=x > 1, out=np.zeros_like(x)), of_x(lambda x: 1 / x), UP),
    "log, 0 either way": (lambda x: np.log(x, where=SOME, out=np.zeros_like(x)), of_x(lambda x: 1 / x), UP),
    "exp, 1 either way": (lambda x: np.exp(x, where=SOME, out=np.ones_like(x)), of_x(np.exp), UP - 1),
    "sqrt, 1 either way": (lambda x: np.sqrt(x, np.ones(4), where=SOME), of_x(lambda x: 0.5 / np.sqrt(x)), UP),
    "tanh": (lambda x: np.tanh(x, where=x > 1, out=x.copy()), of_x(lambda x: 1 - np.tanh(x) ** 2), UP),
    "square": (lambda x: np.square(x, where=SOME, out=np.ones(4)), of_x(lambda x: 2 * x), UP),
    "multiply": (lambda x: np.multiply(x, x, where=SOME, out=np.ones(4)), of_x(lambda x: 2 * x), UP),
    "sum": (lambda x: np.add.reduce(x, 1, where=x > 0), lambda dy, x: dy[:, None] + 0 * x, X),
    "prod": (lambda x: np.prod(x, where=SOME), lambda dy, x: dy * np.prod(x) / x, UP),
    "max": (
        lambda x: np.max(x, where=x < 3, initial=-9.0),
        lambda dy, x: dy * (x == x.max()),
        UP,
    ),
    "whole numbers": (lambda x: np.add(x, 0, dtype=int, casting="unsafe") * x, of_x(lambda x: 2 * x), UP),
    "into whole numbers": (
        lambda x: np.multiply(x, 1, out=np.zeros(4, int), casting="unsafe") * x,
        of_x(lambda x: 2 * x),
        UP,
    ),
    "a sum of whole numbers": (lambda x: x.sum(dtype=int) * x, lambda dy, x: dy * x.sum() + (dy * x).sum(), UP),
    "exp.at": (lambda x: (y := x * 1, np.exp.at(y, [0, 2]), y)[2], of_x(np.exp), UP),
}
"""`where=`, `out=`, `dtype=` and `at` say which numbers a function is taken of."""


NANS = {
    "sqrt": (np.sqrt, of_x(lambda x: 0.5 / np.sqrt(x)), MINUS),
    "log": (np.log, of_x(lambda x: 1 / x), MINUS),
    "log1p": (np.log1p, of_x(lambda x: 1 / (1 + x)), MINUS),
    "power": (lambda x: x**1.5, of_x(lambda x: 1.5 * x**0.5), MINUS),
    "arcsin": (np.arcsin, of_x(lambda x: 1 / np.sqrt(1 - x * x)), MINUS),
    "in backward": (lambda x: x * np.abs(x), of_x(lambda x: 2 * np.sqrt(x) * np.sqrt(x)), MINUS),
    "norm": (lambda x: np.sqrt(x.sum()), lambda dy, x: dy * 0.5 / np.sqrt(x.sum()) + 0 * x, MINUS),
    "made 0": (lambda x: np.nan_to_num(np.log(x)), of_x(lambda x: 1 / x), MINUS),
    "left out of a sum": (lambda x: np.nansum(np.log(x)), of_x(lambda x: 1 / x), MINUS),
    "left out of a maximum": (lambda x: np.fmax(np.log(x), -9 * x * x), of_x(lambda x: 1 / x), MINUS),
    "kept by a maximum": (lambda x: np.maximum(np.log(x), 2 * x), of_x(lambda x: 2 + 0 * x), MINUS),
    "unequal": (lambda x: np.where((v := np.log(x)) == v, v, 2 * x), of_x(lambda x: 1 / x), MINUS),
}
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
    "arctan": masked(np.arctan, lambda x: 1 / (1 + x * x), 0),
    "sigmoid": masked(lambda x: 1 / (1 + np.exp(-x)), lambda x: np.exp(-x) / (1 + np.exp(-x)) ** 2, 0.5),
    "exp(−x²)": masked(lambda x: np.exp(-x * x), lambda x: -2 * x * np.exp(-x * x), 1),
    "expm1": masked(np.expm1, np.exp, 0),
    "maximum": masked(lambda x: np.maximum(x, -1), lambda x: (x > -1) * 1.0, 0),
    "clip": masked(lambda x: np.clip(x, -1, 1), lambda x: (np.abs(x) < 1) * 1.0, 0),
    "1/(1 + x²)": masked(lambda x: 1 / (1 + x * x), lambda x: -2 * x / (1 + x * x) ** 2, 1),
    "√": masked(lambda x: np.minimum(np.sqrt(x + 3), 4), lambda x: 0.5 / np.sqrt(x + 3), 0, INF),
    "+∞, as if nothing were masked": (
        lambda x: 1 / (1 + np.exp(x + np.array([0, INF, INF]))),
        of_x(lambda x: -np.exp(x) / (1 + np.exp(x)) ** 2),
        X[0],
    ),
    "0 · ∞": (lambda x: x + 0 * x * INF, lambda dy, x: dy, X),
    "∞ − ∞": (lambda x: x + ((x + INF) - INF), lambda dy, x: 2 * dy, X),
    "z / ∞": (lambda x: x + x / INF, lambda dy, x: 2 * dy, X),
    "a row of −∞": (
        lambda x: np.exp((s := x - INF) - s.max(axis=1, keepdims=True)),
        lambda dy, x: 0 * dy,
        X,
    ),
    "log 0": (lambda x: np.log(x), of_x(lambda x: 1 / np.where(x == 0, 1, x)), np.array([0.0, 1.0])),
}
"""±∞ is no number: tanh(−∞) is −1, and not what comes of 0."""


def of_dy(change, x=X):
    """Σ x², with a backward in which dy is another one."""
    return lambda x: (x * x).sum(), lambda dy, x: change(dy) * 2 * x, x


def of_dys(change):
    """The same, with y of one number in an array."""
    return lambda x: (x * x).sum(axis=1), lambda dy, x: change(dy)[:, None] * 2 * x, X[:1]


LINEAR = {
    **{
        f"of a loss, {name}": of_dy(change)
        for name, change in {
            "abs": abs,
            "int": int,
            "floor": lambda dy: dy // 1,
            "round": round,
            "max": lambda dy: max(dy, 0),
            "if": lambda dy: dy if dy > 0 else 0,
            "remainder": lambda dy: dy - dy % 1,
            "copysign": lambda dy: math.copysign(dy, 1),
            "root": lambda dy: math.sqrt(dy * dy),
            "is_integer": lambda dy: dy * float(dy).is_integer(),
            "at least 1": lambda dy: max(dy, 1),
            "clip": lambda dy: np.clip(dy, -3, 2e6),
            "negative": lambda dy: min(dy, 0),
        }.items()
    },
    **{
        f"of one number, {name}": of_dys(change)
        for name, change in {
            "abs": np.abs,
            "maximum": lambda dy: np.maximum(dy, 0),
            "minimum": lambda dy: np.minimum(dy, 0),
            "where": lambda dy: np.where(dy > 0, dy, 0 * dy),
            "clip at 5": lambda dy: np.clip(dy, -5, 5),
            "at 0": lambda dy: np.where(dy == 0, 1, dy),
            "0/0": lambda dy: dy * dy / dy,
            "sign": lambda dy: dy * np.sign(dy),
        }.items()
    },
    "gradient clipping": (lambda x: x * x, lambda dy, x: np.clip(2 * x * dy, -20, 20), X),
}
"""Backward is linear in dy: for both signs, for dy that are not whole, for large ones and for 0."""


def with_eps(eps, grow=1.0):
    """LayerNorm with an ε of 1e-9, and another one in backward."""
    return lambda x: normed(x, 1e-9), lambda dy, x: grow * normed_vjp(dy, x, eps)


SATURATED = np.array([[0.5, 1.0, 0.0], [60.0, 0.0, -9.0]])


FIVE = np.array([[1.0], [5.0]])


SMALL = {
    "a saturated row of softmax": (softmax, lambda dy, x: FIVE * softmax_vjp(dy, x), SATURATED),
    "the sign of a small one": (np.exp, of_x(lambda x: np.where(x < -9, -np.exp(x), np.exp(x))), np.array([0, -60.0])),
    "0 for a small one": (lambda x: x**4, of_x(lambda x: np.where(x < 1, 0, 4 * x**3)), np.array([10.0, 1e-5])),
    "another input": (
        lambda x, z: np.stack([1e8 * x, 1e-8 * z * z]),
        lambda dy, x, z: (1e8 * dy[0], -2e-8 * z * dy[1]),
        X[0],
        UP[1:],
    ),
    "everywhere small": (lambda x: 1e-200 * x * x, of_x(lambda x: 0 * x), X),
    "a tail": (lambda x: np.exp(-x * x), of_x(lambda x: np.where(x > 5, -x, -2 * x) * np.exp(-x * x)), UP * 3),
    "a saturated tanh": (np.tanh, of_x(lambda x: (1 - np.tanh(x) ** 2) * np.where(x > 9, 2, 1)), np.array([0.5, 10])),
    "a weighted loss": (lambda x: (x * x) @ [1, 1, 1e-13], of_x(lambda x: 2 * x * np.array([1, 1, 0])), X[0]),
    "a row of large numbers": (*with_eps(1e-9, FIVE[::-1]), X * np.array([[1e9], [1.0]])),
    "a large row beside": (*with_eps(1e-9, FIVE), X * np.array([[1.0], [1e12]])),
}
"""A wrong gradient is wrong however small it is beside others."""


def only(constant, wrong):
    return lambda x: np.tanh(constant * x), of_x(lambda x: wrong * (1 - np.tanh(constant * x) ** 2)), X


SLIGHT = {
    "1e-9": only(1.0, 1 + 1e-9),
    "1e-12": only(1.0, 1 + 1e-12),
    "π": only(np.pi, 3.14159265),
    "a third": only(1 / 3, 0.333333333),
    "float32": only(0.1, float(np.float32(0.1))),
    "GELU's 0.044715": (
        lambda x: x * np.tanh(x + 0.044715 * x**3),
        of_x(lambda x: (t := np.tanh(x + 0.044715 * x**3)) + x * (1 - t * t) * (1 + 3 * 0.04471500001 * x * x)),
        X,
    ),
    "no ε": (*with_eps(0), X),
    "another ε": (*with_eps(1.1e-9), X),
    "an ε outside of √": (
        lambda x: x / (np.sqrt((x * x).sum()) + 1e-9),
        lambda dy, x: dy / (n := np.sqrt((x * x).sum() + 1e-18)) - x * (dy * x).sum() / n**3,
        X,
    ),
}
"""A wrong gradient is wrong however near it comes; complex steps show it."""


class Hidden:
    """y = x w, without a gradient for w, which is held where nobody looks."""

    def __init__(self, held, get):
        self.held, self.get = held, get

    def forward(self, x, tape=NO_TAPE):
        tape.keep(self, x.shape)
        return x * self.get(self.held).value

    def backward(self, dy, tape):
        if dy.shape != tape.take(self):
            raise ValueError("a dy of another shape")
        return dy * self.get(self.held).value


class Slots(Hidden):
    __slots__ = ("w",)

    def __init__(self):
        self.w = Parameter(UP[:3] + 0.25)
        super().__init__(None, lambda held: self.w)


def weight():
    return Parameter(UP[:3] + 0.25)


HIDDEN = {
    "a slot": lambda: (Slots(), X),
    "a plain holder": lambda: (Hidden(SimpleNamespace(w=weight()), lambda held: held.w), X),
    "a holder in a list": lambda: (Hidden([SimpleNamespace(w=weight())], lambda held: held[0].w), X),
    "a set": lambda: (Hidden({weight()}, lambda held: next(iter(held))), X),
    "a deque": lambda: (Hidden(collections.deque([weight()]), lambda held: held[0]), X),
    "a UserDict": lambda: (Hidden(collections.UserDict(w=weight()), lambda held: held["w"]), X),
    "an array of objects": lambda: (Hidden(np.array([weight(), None]), lambda held: held[0]), X),
    "a partial": lambda: (Hidden(functools.partial(max, weight()), lambda held: held.args[0]), X),
    "a closure": lambda: (lambda w: (Hidden(None, lambda held: w), X))(weight()),
    "the class": lambda: (SharedWeight(0, lambda held: SharedWeight.w), X),
}
"""A Parameter is part of the layer wherever it is held."""


class SharedWeight(Hidden):
    w = weight()


WRONG = {
    f"{name}: {each}": case
    for name, group in {
        "where": MASKED,
        "NaN": NANS,
        "∞": INFINITE,
        "linear": LINEAR,
        "small": SMALL,
        "slight": SLIGHT,
        "hidden": HIDDEN,
        "step": steps.STEPS,
        "narrow": steps.NARROW,
        "truth": ways.TRUTHS,
        "kind": ways.KINDS,
        "cast": ways.CASTS,
        "shown": ways.SHOWN,
        "seen": ways.SEEN,
        "error": ways.ERRORS,
        "drawn": ways.DRAWN,
        "memory": ways.MEMORY,
        "layout": ways.LAYOUT,
    }.items()
    for each, case in group.items()
}
