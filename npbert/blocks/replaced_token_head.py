"""ReplacedTokenHead: the score that a token has been replaced."""

from npbert.blocks.feed_forward import make_activation
from npbert.compute import Array
from npbert.core import NO_TAPE, Init, Layer, Tape
from npbert.layers import Linear


class ReplacedTokenHead(Layer):
    """logits = act(x W + b) w + c: above 0 for a token that is probably replaced.

    x (N, D)   W (D, D)   w (D, 1)   logits (N, 1)

    (Clark et al. 2020, "ELECTRA", section 2: D(x, t) = σ(wᵀ h); W and the activation are in its code.)

    Raises: ValueError if x is not (N, D); TypeError if its dtype is not that of W.
    """

    def __init__(self, hidden_size: int, init: Init, *, activation: str = "gelu") -> None:
        self.dense = Linear(hidden_size, hidden_size, init)
        self.activation = make_activation(activation)
        self.dense_prediction = Linear(hidden_size, 1, init)

    def forward(self, x: Array, tape: Tape = NO_TAPE) -> Array:
        return self.dense_prediction(self.activation(self.dense(x, tape), tape), tape)

    def backward(self, dlogits: Array, tape: Tape) -> Array:
        """Run the parts in reverse order."""
        return self.dense.backward(self.activation.backward(self.dense_prediction.backward(dlogits, tape), tape), tape)
