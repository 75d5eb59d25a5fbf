"""Encoder: a stack of encoder layers."""

from collections.abc import Iterable

import numpy as np

from npbert.blocks.checkpointed import Checkpointed
from npbert.blocks.encoder_layer import EncoderLayer
from npbert.compute import Array
from npbert.core.layer import Layer
from npbert.core.sequences import Sequences
from npbert.core.tape import NO_TAPE, Tape
from npbert.layers import Gather, LayerNorm


class Encoder(Layer):
    """x₀ = x,  xₗ = EncoderLayerₗ(xₗ₋₁, xₗ₋₁),  y = the last of them.

    x (N, D)   y (N, D), or (M, D) where only some rows are read
    sequences: which rows belong together; None means that all are one sequence.
    read (M,): the rows that are wanted, in ascending order; None means all. Every layer needs all rows of the one
    before it as keys and values, but in the last layer only the rows that are read need to be queries: an exact saving.

    norm: a LayerNorm of what the last layer gives, for layers with pre-norm. ALBERT has one layer several times in
    `layers`: it is computed as often, and its gradients add up.
    gradient_checkpointing: when set to True, each layer keeps only its input for backward (`Checkpointed`).

    Raises: ValueError for no layers at all, for an x that is not (N, D), or for `read` in another order; TypeError for
    another dtype; IndexError for a row outside 0 to N − 1.
    """

    def __init__(self, layers: Iterable[EncoderLayer], norm: LayerNorm | None = None) -> None:
        self.layers = list(layers)
        if not self.layers:
            raise ValueError("an encoder needs at least one layer")
        self.norm = norm
        self.gather = Gather()
        self.gradient_checkpointing = False

    def forward(
        self, x: Array, sequences: Sequences | None = None, read: Array | None = None, tape: Tape = NO_TAPE
    ) -> Array:
        sequences = Sequences(np.array([len(x)])) if sequences is None else sequences
        computed: list[Layer] = list(self.layers)
        if self.gradient_checkpointing:
            computed = [Checkpointed(layer) for layer in computed]
        *layers, last = computed
        for layer in layers:
            x = layer(x, x, sequences, tape=tape)
        all_are_read = read is None
        if read is None:
            y: Array = last(x, x, sequences, tape=tape)
        else:
            y = last(self.gather(x, read, tape), x, sequences.only(read), tape=tape)
        if self.norm:
            y = self.norm(y, tape)
        # `Checkpointed` wraps the layers anew in each forward.
        tape.keep(self, computed=computed, all_are_read=all_are_read)
        return y

    def backward(self, dy: Array, tape: Tape) -> Array:
        """The layers in reverse. What went into a layer was both its x and its z, so the gradients of both are added.

        In the last layer x may be some rows alone: their gradients go back to their places first.
        """
        (*layers, last), all_are_read = tape.take(self)
        if self.norm:
            dy = self.norm.backward(dy, tape)
        dx, dz = last.backward(dy, tape)
        dx = (dx if all_are_read else self.gather.backward(dx, tape)) + dz
        for layer in reversed(layers):
            dx, dz = layer.backward(dx, tape)
            dx = dx + dz
        return dx
