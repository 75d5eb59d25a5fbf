"""GatedFeedForward: a feed-forward network in which one half decides how much of the other passes."""

from npbert.blocks.feed_forward import make_activation
from npbert.compute import Array
from npbert.core import NO_TAPE, Init, Layer, Tape
from npbert.layers import Linear


class GatedFeedForward(Layer):
    """y = (g · u) W₂ + b₂  with  g = act(x Wg + bg),  u = x W₁ + b₁.

    x (N, D)   Wg, W₁ (D, F)   W₂ (F, D)   y (N, D)

    g opens or closes each of the F features of u, separately for each row. With `gelu` it is ModernBERT's GeGLU, with
    `silu` NomicBERT's SwiGLU. (Shazeer 2020, "GLU Variants Improve Transformer", section 2; without biases there.)
    Chapter 11 of docs/ derives it.

    Raises: ValueError for an unknown activation, or when x is not (N, D); TypeError when its dtype is not that of W₁.
    """

    def __init__(self, hidden_size: int, intermediate_size: int, init: Init, *, activation: str = "gelu") -> None:
        self.gate = Linear(hidden_size, intermediate_size, init)
        self.activation = make_activation(activation)
        self.intermediate = Linear(hidden_size, intermediate_size, init)
        self.output = Linear(intermediate_size, hidden_size, init)

    def forward(self, x: Array, tape: Tape = NO_TAPE) -> Array:
        g = self.activation(self.gate(x, tape), tape)  # (N, F)
        u = self.intermediate(x, tape)
        tape.keep(self, g=g, u=u)
        return self.output(g * u, tape)

    def backward(self, dy: Array, tape: Tape) -> Array:
        """dg = dh · u, du = dh · g with dh the gradient of g · u; then both paths lead to x.

        The product rule: each factor gets dh times the other. So a closed gate (g near 0) stops the gradient of u, and
        a u near 0 stops the gradient of the gate. x is the input of both, so dx is the sum of both gradients.
        """
        dh = self.output.backward(dy, tape)
        g, u = tape.take(self)
        dx = self.intermediate.backward(dh * g, tape)
        return dx + self.gate.backward(self.activation.backward(dh * u, tape), tape)
