"""Wrong backwards of layers that hide a Parameter, and of code with a memory."""

import itertools
from types import SimpleNamespace

import numpy as np

from npbert import NO_TAPE, Parameter
from tests.gradcheck.attacks.forked import forked
from tests.gradcheck.attacks.formulas import UP, X, of_x


class Hidden:
    """y = x w, without a gradient for w, which is held in an unusual place."""

    def __init__(self, held, get):
        self.held, self.get = held, get

    def forward(self, x, tape=NO_TAPE):
        tape.keep(self, shape=x.shape)
        return x * self.get(self.held).value

    def backward(self, dy, tape):
        if dy.shape != tape.take(self):
            raise ValueError("a dy of another shape")
        return dy * self.get(self.held).value


class Slots(Hidden):
    __slots__ = ("w",)

    def __init__(self, w):
        self.w = w
        super().__init__(None, lambda held: self.w)


def hidden(hold, get):
    return lambda: (Hidden(hold(Parameter(UP[:3] + 0.25)), get), X)


HIDDEN = {
    "a slot": lambda: (Slots(Parameter(UP[:3] + 0.25)), X),
    "a plain holder": hidden(lambda w: SimpleNamespace(w=w), lambda held: held.w),
    "a set": hidden(lambda w: {w}, lambda held: next(iter(held))),
    "an array of objects": hidden(lambda w: np.array([w, None]), lambda held: held[0]),
    "a closure": hidden(lambda w: lambda: w, lambda held: held()),
}
"""A Parameter is part of the layer wherever it is held."""


def recalled():
    """x², with a backward that takes x from the first forward with this shape."""
    kept = {}
    return lambda x: (kept.setdefault(x.shape, x), x * x)[1], lambda dy, x: dy * 2 * kept[x.shape], X


def right_once():
    """x², with a backward that is right in its first call."""
    count = itertools.count()
    return lambda x: x * x, lambda dy, x: dy * 2 * x * (3 if next(count) else 1), X


def late():
    """2z in the first four calls, and z² from then on."""
    count = itertools.count()
    return forked(lambda z: next(count) >= 4)


def stepping():
    """A parameter that is stepped before its gradient is used."""
    w = np.array([1.0, 2.0, 3.0])

    def backward(dy, x):
        w[...] = w - 0.01 * (dy * x).sum(axis=0)
        return dy * w

    return lambda x: x * w, backward, X


MEMORY = {
    "by shape": recalled,
    "right once": right_once,
    "forward after 4": late,
    "a step before its gradient": stepping,
    "a fresh mask of dropout": (
        lambda x: x * (np.random.rand(*x.shape) < 0.8),
        of_x(lambda x: np.random.rand(*x.shape) < 0.8),
        X,
    ),
    "in the order of memory": (
        lambda x: x.ravel("K") * np.arange(6),
        lambda dy, x: (dy * np.arange(6)).reshape(2, 3),
        np.asfortranarray(X),
    ),
}
"""What backward returns does not hang on earlier calls, on new draws, or on the order of memory."""
