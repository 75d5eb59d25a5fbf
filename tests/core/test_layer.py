"""Layer, and the walk over its parameters."""

import gc
import weakref

import numpy as np

from npbert import Init, Layer, Linear, Parameter
from npbert.core import named_parameters, named_parts


class Bare:
    """A layer of one's own, which inherits from nothing."""

    def __init__(self):
        self.w = Parameter(np.zeros(1))

    def forward(self, *inputs, tape="no tape was given"):
        return inputs, tape


class Nest(Bare, Layer):
    def __init__(self):
        self.first = Parameter(np.ones(2))
        self.parts = [Linear(2, 3, Init(None)), Linear(3, 1, Init(None))]
        self.pair = Bare(), {"a": Bare(), 1: [Parameter(np.zeros(3))]}
        self.again = self.first, self.parts[1]
        self.note, self.number, self.array, self.function = "no part", 3, np.zeros(2), len
        self.parent = self


def test_parameters_are_found_wherever_they_are_by_dotted_names_in_order_and_once():
    class AnyObject:
        def __init__(self):
            self.theta, self.nest, self.no_layer = Parameter(np.zeros(2)), nest, {"what": object()}

    nest, linear = Nest(), ["0.weight", "0.bias", "1.weight", "1.bias"]
    names = ["first", *(f"parts.{name}" for name in linear), "pair.0.w", "pair.1.a.w", "pair.1.1.0"]
    assert [name for name, _ in nest.named_parameters()] == names
    assert [parameter for _, parameter in nest.named_parameters()] == nest.parameters()
    assert dict(nest.named_parameters())["parts.1.bias"] is nest.parts[1].bias
    assert [name for name, _ in named_parameters(AnyObject())] == ["theta", *(f"nest.{name}" for name in names)]


def test_the_parts_are_layers_and_parameters_each_before_its_own():
    nest = Nest()
    named = dict(named_parts(nest))
    assert list(named)[:5] == ["", "first", "parts.0", "parts.0.weight", "parts.0.bias"]
    assert named[""] is nest and named["parts.1"] is nest.parts[1] and named["pair.1.a"] is nest.pair[1]["a"]
    assert [name for name, part in named.items() if isinstance(part, Parameter)] == list(dict(nest.named_parameters()))
    assert [name for name, _ in named_parts([Bare(), Bare])] == ["", "0", "0.w"], "a class is not a layer"


def test_a_layer_is_given_back_as_soon_as_nobody_holds_it():
    """A walk that leaves a circle of references behind would keep a whole model until the next collection."""
    gc.disable()
    try:
        linear = Linear(2, 3, Init(None))
        there = weakref.ref(linear)
        assert repr(linear) and linear.parameters()
        del linear
        assert there() is None
    finally:
        gc.enable()


def test_zero_grad_reaches_every_parameter():
    nest = Nest()
    for parameter in nest.parameters():
        parameter.add_grad(np.ones_like(parameter.value))
    nest.zero_grad()
    assert not any(parameter.grad.any() for parameter in nest.parameters())


def test_a_call_is_forward_without_a_tape():
    assert Nest()(1, 2) == ((1, 2), "no tape was given")
