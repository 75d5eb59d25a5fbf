"""Pooler: one vector for a whole sequence, computed from its [CLS]."""

from npbert.blocks.feed_forward import make_activation
from npbert.compute import Array
from npbert.core import NO_TAPE, Init, Layer, Tape
from npbert.layers import LayerNorm, Linear


class Pooler(Layer):
    """y = tanh(x W + b).

    x (B, D): the hidden state of each sequence's first token, [CLS]   W (D, D)   y (B, D)

    activation: in place of tanh.   norm: a LayerNorm after it. Both are for descendants of BERT.

    (Devlin et al. 2018, section 3; the layer is in its code.)

    Raises: ValueError when x is not (B, D), TypeError when its dtype is not that of W.
    """

    def __init__(
        self, hidden_size: int, init: Init, *, activation: str = "tanh", norm: LayerNorm | None = None
    ) -> None:
        self.dense = Linear(hidden_size, hidden_size, init)
        self.activation = make_activation(activation)
        self.norm = norm

    def forward(self, x: Array, tape: Tape = NO_TAPE) -> Array:
        y = self.activation(self.dense(x, tape), tape)
        return self.norm(y, tape) if self.norm else y

    def backward(self, dy: Array, tape: Tape) -> Array:
        """Through the LayerNorm, if there is one, then through tanh, then through the product."""
        if self.norm:
            dy = self.norm.backward(dy, tape)
        return self.dense.backward(self.activation.backward(dy, tape), tape)
