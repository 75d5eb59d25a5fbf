"""Mistakes that any layer can make: a gradient that is set, an array that is another's, a tape kept on `self`."""

import numpy as np

from npbert.catalogue import CATALOGUE
from npbert.core import NO_TAPE, Tape
from npbert.layers import Linear
from tests.planted import plant

SETS = "is set by backward"
BETWEEN = "when another call comes between"


def remembering(layer_class):
    """The layer with what backward needs on `self`: the second of two calls overwrites that of the first."""

    class Remembering(layer_class):
        def forward(self, *inputs, tape=NO_TAPE):
            self.tape = Tape(tape.rng, keeps=tape.keeps)
            return super().forward(*inputs, tape=self.tape)

        def backward(self, dy, tape):
            return super().backward(dy, self.tape)

    return Remembering


for name, setting in CATALOGUE.items():
    if ".models." not in setting.layer_class.__module__:
        plant(name, says=BETWEEN)(remembering(setting.layer_class))


class HandsOver(Linear):
    """A Linear whose dW is handed over in a way of its own."""

    def backward(self, dy, tape):
        x = tape.take(self)
        self.hand_over(x.T @ dy)
        self.bias.add_grad(dy.sum(axis=0))
        return dy @ self.weight.value.T


def in_buffer(layer, array):
    """The numbers of an array in one that the layer keeps."""
    layer.buffer = getattr(layer, "buffer", array)
    np.copyto(layer.buffer, array)
    return layer.buffer


class Wrong:
    """Each of these methods takes the place of the right one, alone."""

    @plant("Linear", right=HandsOver, method="hand_over", says=SETS)
    def rebinds(self, dw):
        """A new array takes the place of the old gradient."""
        self.weight._grad = dw

    @plant("Linear", right=HandsOver, method="hand_over", says=SETS)
    def overwrites(self, dw):
        """The numbers of the old gradient are overwritten."""
        self.weight.grad[...] = dw

    @plant("Linear", right=HandsOver, method="hand_over", says=BETWEEN)
    def adds_into_a_buffer_it_keeps(self, dw):
        """The sum is kept by the layer as well, where `zero_grad` does not reach it."""
        self.buffer = getattr(self, "buffer", np.zeros_like(dw))
        self.buffer += dw
        self.weight.add_grad(self.buffer)

    @plant("Linear", right=HandsOver, method="hand_over", says="is not the sum of two backwards")
    def hands_over_a_buffer_it_keeps(self, dw):
        """To save an allocation, dW is always computed in the same array: that of the first call is overwritten."""
        self.weight.add_grad(in_buffer(self, dw))

    @plant("Linear", says="dx is the caller's")
    def answers_in_a_buffer_it_keeps(self, dy, tape):
        """The same with dx, which the caller still has when the next backward overwrites it."""
        return in_buffer(self, Linear.backward(self, dy, tape))

    @plant("Linear", method="forward", says="y is the caller's")
    def computes_in_a_buffer_it_keeps(self, x, tape=NO_TAPE):
        """The same with y."""
        return in_buffer(self, Linear.forward(self, x, tape))
