"""Checkpointed: a layer that keeps only its input, and runs forward again in backward."""

import copy
from typing import Any

from npbert.core import NO_TAPE, Layer, Tape


class Checkpointed(Layer):
    """y = layer(…), with a fraction of the memory.

    A training step takes a third longer: backward is twice the work of forward, and forward runs twice.

    Forward keeps the input, and a copy of the dropout generator before the layer draws from it. Backward runs forward
    again with this copy, so with the same dropout, on a separate tape. (Chen et al. 2016, "Training Deep Nets with
    Sublinear Memory Cost".)
    """

    def __init__(self, layer: Layer) -> None:
        self.layer = layer

    def forward(self, *inputs: Any, tape: Tape = NO_TAPE) -> Any:
        tape.keep(self, inputs=inputs, rng=copy.deepcopy(tape.rng) if tape.keeps else None)
        return self.layer(*inputs, tape=Tape(tape.rng, keeps=False, watcher=tape.watcher))

    def backward(self, dy: Any, tape: Tape) -> Any:
        """Return the dx of the layer itself, from the same numbers."""
        inputs, rng = tape.take(self)
        again = Tape(rng)
        self.layer(*inputs, tape=again)
        return self.layer.backward(dy, again)
