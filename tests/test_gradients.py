"""Every gradient of every block, compared with a difference. Of all tests, read this file first.

A gradient says how fast the loss moves with each number of an array. So move the array a little along a random
direction and back, and see how far the loss moves: nothing else has to be known, or believed. Hypothesis draws the
shapes and the values. When a gradient is wrong, it looks for the smallest shapes, and prints the arrays.
"""

import inspect

import numpy as np
import pytest
from hypothesis import given, note, settings, strategies as st

from npbert import Tape
from npbert.catalogue import CATALOGUE, blocks
from npbert.shapes import Shapes
from tests.tables import one_in

STEPS = (2.0**-11, 2.0**-20)


def difference(loss, array, direction, step):
    """How fast the loss moves as the array moves that way, while all others stay.

    With f the loss and h the step, f′ = (8 (f(x + h) − f(x − h)) − (f(x + 2h) − f(x − 2h))) / 12h: two central
    differences, of which the second takes away what the first is off by, but for h⁴/30 of the fifth derivative.
    """
    start, slope = array.copy(), 0.0
    for steps, weight in ((-2, 1), (-1, -8), (1, 8), (2, -1)):
        array[...] = start + steps * step * direction
        slope += weight * loss() / (12 * step)
    array[...] = start
    return slope


def check(layer, *inputs, rng):
    """Compare every gradient of Σ dy · y with the difference along a random direction, for a random dy.

    They agree within 1e-6 of the array's largest, and within what rounding leaves where all of them are 0, as of a bias
    that softmax does not notice. A sum of numbers of size |y|, or of some size within the layer (a cosine times 20), is
    rounded by 2⁻⁴⁵ Σ |dy| max(|y|, 1) at most, which is divided by the step. Where ReLU or a maximum has its kink
    within the step, they agree at a smaller one; a wrong gradient agrees at none.
    """
    seed = rng.integers(2**32)

    def forward():
        tape = Tape(np.random.default_rng(seed))  # each call drops the same
        return as_tuple(layer.forward(*inputs, tape=tape)), tape

    y, tape = forward()
    dy = tuple(rng.standard_normal(np.shape(part)) for part in y)
    dx = layer.backward(dy if len(dy) > 1 else dy[0], tape)
    size = sum((np.abs(dpart) * np.maximum(np.abs(part), 1)).sum() for dpart, part in zip(dy, y, strict=True))

    named = dict(zip(inspect.signature(layer.forward).parameters, inputs, strict=False))
    given = [name for name, x in named.items() if getattr(x, "dtype", None) == np.float64]
    arrays = {name: named[name] for name in given[: len(as_tuple(dx))]}  # a target has no gradient
    arrays |= {name: parameter.value for name, parameter in layer.named_parameters()}
    gradients = [*as_tuple(dx), *(parameter.grad for parameter in layer.parameters())]
    note("\n".join(f"{name} = {value}" for name, value in {**named, **arrays, "dy": dy}.items()))
    for (name, array), gradient in zip(arrays.items(), gradients, strict=True):
        way, tried = rng.standard_normal(array.shape), []
        found = np.vdot(gradient, way)
        for step in STEPS:
            tried.append(difference(lambda: sum(map(np.vdot, dy, forward()[0])), array, way, step))
            allowed = 1e-6 * max(np.abs(gradient).max(), abs(tried[-1])) + 2.0**-45 * size / step
            if abs(found - tried[-1]) <= allowed:
                break
        else:
            numbers = f"{found} by backward, but {tried} by difference"
            raise AssertionError(f"{type(layer).__name__}: d{name} along {way.tolist()} is {numbers}")


def as_tuple(value):
    """The outputs of a layer, or the gradients of its inputs: several, one, or none."""
    return value if isinstance(value, tuple) else () if value is None else (value,)


class Draws:
    """Numbers drawn by Hypothesis, with the methods of a NumPy generator: an example shrinks to small shapes."""

    def __init__(self, data):
        self.data = data

    def integers(self, low, high, size=()):
        lows = np.broadcast_to(low, size or np.shape(low))
        drawn = [self.data.draw(st.integers(each, high - 1)) for each in lows.ravel().tolist()]
        return np.reshape(drawn, lows.shape)

    def random(self, size):
        return self.integers(0, 10, size) / 10


FEW = max(2, settings.default.max_examples // 3)  # each compares every gradient
LAYERS = [name for name, setting in CATALOGUE.items() if ".layers." in setting.layer_class.__module__]


@pytest.mark.parametrize("name", [*LAYERS, *one_in(3, [name for name in CATALOGUE if name not in LAYERS])])
@settings(max_examples=FEW)
@given(data=st.data())
def test_a_block(name, data):
    setting = blocks(Shapes.drawn(Draws(data)))[name]
    layer, inputs, rng = setting.make(seed=data.draw(st.integers(0, 10**6), label="seed"))
    check(layer, *inputs, rng=rng)
