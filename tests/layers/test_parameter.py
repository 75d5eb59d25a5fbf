"""Parameter, Layer, and the walk over parameters."""

import numpy as np

from npbert import Layer, Linear, Parameter
from npbert.layers import named_parameters


class Nest(Layer):
    def __init__(self):
        self.first = Parameter(np.zeros(2))
        self.parts = [Linear(2, 3, rng=None), Linear(3, 1, rng=None)]
        self.again = self.first
        self.number = 3


def test_names_are_dotted_in_order_and_once():
    names = [name for name, _ in Nest().named_parameters()]
    assert names == ["first", "parts.0.weight", "parts.0.bias", "parts.1.weight", "parts.1.bias"]


def test_any_object_can_be_walked():
    class Own:
        def __init__(self):
            self.theta = Parameter(np.zeros(2))
            self.nest = Nest()
            self.parent = self

    assert [name for name, _ in named_parameters(Own())][:2] == ["theta", "nest.first"]


def test_no_part_is_overlooked():
    class Bare:
        """A layer of one's own, which inherits from nothing."""

        def __init__(self):
            self.w = Parameter(np.zeros(1))

        def forward(self, x):
            return self.w.value * x, x

    class Holder:
        def __init__(self):
            self.part = Bare()
            self.pair = Bare(), Bare()
            self.by_name = {"a": Bare(), "b": [Parameter(np.zeros(1))]}
            self.note = "no part"

    names = [name for name, _ in named_parameters(Holder())]
    assert names == ["part.w", "pair.0.w", "pair.1.w", "by_name.a.w", "by_name.b.0"]


def test_zero_grad_keeps_the_arrays():
    nest = Nest()
    gradients = [parameter.grad for parameter in nest.parameters()]
    for gradient in gradients:
        gradient[...] = 1
    nest.zero_grad()
    assert all(parameter.grad is gradient for parameter, gradient in zip(nest.parameters(), gradients, strict=True))
    assert not any(gradient.any() for gradient in gradients)


def test_gradient_has_shape_and_dtype_of_the_value():
    parameter = Parameter(np.ones((2, 3), np.float32))
    assert (parameter.grad.shape, parameter.grad.dtype) == ((2, 3), np.float32)
    assert repr(parameter) == "Parameter(shape=(2, 3), dtype=float32)"
