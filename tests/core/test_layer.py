"""Layer, and the walk over its parameters."""

import numpy as np

from npbert import Init, Layer, Linear, Parameter, Tape
from npbert.core import named_parameters


class Bare:
    """A layer of one's own, which inherits from nothing."""

    def __init__(self):
        self.w = Parameter(np.zeros(1))

    def forward(self, x):
        return self.w.value * x


class Nest(Layer):
    def __init__(self):
        self.first = Parameter(np.ones(2))
        self.parts = [Linear(2, 3, Init(None)), Linear(3, 1, Init(None))]
        self.pair = Bare(), {"a": Bare(), 1: [Parameter(np.zeros(3))]}
        self.again = self.first, self.parts[1]
        self.note, self.number, self.array, self.function = "no part", 3, np.zeros(2), len
        self.parent = self


NAMES = ["first", "parts.0.weight", "parts.0.bias", "parts.1.weight", "parts.1.bias", "pair.0.w", "pair.1.a.w"]
NAMES += ["pair.1.1.0"]


def test_names_are_dotted_in_order_and_once():
    nest = Nest()
    assert [name for name, _ in nest.named_parameters()] == NAMES
    assert [parameter.value.shape for parameter in nest.parameters()] == [
        (2,),
        (2, 3),
        (3,),
        (3, 1),
        (1,),
        (1,),
        (1,),
        (3,),
    ]
    assert dict(nest.named_parameters())["parts.1.bias"] is nest.parts[1].bias


def test_any_object_can_be_walked():
    class Own:
        def __init__(self):
            self.theta = Parameter(np.zeros(2))
            self.nest = Nest()
            self.not_a_layer = {"what": object()}

    assert [name for name, _ in named_parameters(Own())] == ["theta", *(f"nest.{name}" for name in NAMES)]


def test_a_parameter_of_two_layers_is_listed_under_the_first():
    one, other = Linear(2, 2, Init(None)), Linear(2, 2, Init(None))
    other.weight = one.weight
    pair = Nest()
    pair.parts = [one, other]
    names = [name for name, _ in pair.named_parameters() if "parts" in name]
    assert names == ["parts.0.weight", "parts.0.bias", "parts.1.bias"]


def test_zero_grad_reaches_every_parameter():
    nest = Nest()
    for parameter in nest.parameters():
        parameter.add_grad(np.ones_like(parameter.value))
    nest.zero_grad()
    assert not any(parameter.grad.any() for parameter in nest.parameters())


def test_a_call_is_forward_without_a_tape():
    """Nothing is kept, and nothing is dropped out."""

    class Noting(Layer):
        def forward(self, *inputs, tape="no tape was given"):
            return inputs, tape

    tape = Tape(np.random.default_rng(0))
    assert Noting()(1, tape) == ((1, tape), "no tape was given")
