"""Encoder: a stack of encoder layers."""

from collections.abc import Iterable

from npbert.blocks.checkpointed import Checkpointed
from npbert.blocks.encoder_layer import EncoderLayer
from npbert.compute import Array
from npbert.core import NO_TAPE, Layer, Sequences, Tape
from npbert.layers import Gather, LayerNorm


class Encoder(Layer):
    """x₀ = x,  xₗ = EncoderLayerₗ(xₗ₋₁, xₗ₋₁),  y = the last of them.

    x (N, D)   y (N, D), or (M, D) where only some rows are read
    sequences: which rows belong together; None: all rows are one sequence.
    read (M,): the rows to return, in ascending order; None: all. In the last layer only these need to be queries, an
    exact saving. Every other layer needs all rows, as keys and values of the next.

    norm: a LayerNorm after the last layer, for layers with pre-norm.
    gradient_checkpointing: True: each layer keeps only its input for backward (`Checkpointed`).

    ALBERT has one layer several times in `layers`. Its gradients add up.

    Raises: ValueError for an empty `layers`, for an x that is not (N, D), or for `read` in another order; TypeError for
    another dtype; IndexError for a row outside 0 to N − 1.
    """

    def __init__(self, layers: Iterable[EncoderLayer], norm: LayerNorm | None = None) -> None:
        self.layers = list(layers)
        if not self.layers:
            raise ValueError("layers is empty, wanted at least one layer")
        self.norm = norm
        self.gather = Gather()
        self.gradient_checkpointing = False

    def forward(
        self, x: Array, sequences: Sequences | None = None, read: Array | None = None, tape: Tape = NO_TAPE
    ) -> Array:
        sequences = Sequences([len(x)]) if sequences is None else sequences
        computed = [Checkpointed(layer) if self.gradient_checkpointing else layer for layer in self.layers]
        *layers, last = computed
        for layer in layers:
            x = layer(x, x, sequences, tape=tape)
        queries = x if read is None else self.gather(x, read, tape)
        y = last(queries, x, sequences if read is None else sequences.only(read), tape=tape)
        if self.norm:
            y = self.norm(y, tape)
        # `Checkpointed` wraps the layers again in each forward.
        tape.keep(self, computed=computed, all_are_read=read is None)
        return y

    def backward(self, dy: Array, tape: Tape) -> Array:
        """Run the layers in reverse. A layer's input is both its x and its z, so the two gradients are added.

        In the last layer x may be only some of the rows: their gradients first return to their places.
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
