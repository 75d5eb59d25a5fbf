"""FeedForward: the same small two-layer network for every row."""

from npbert.compute import Array
from npbert.core import NO_TAPE, Init, Layer, Tape
from npbert.layers import GELU, Elementwise, Linear, ReLU, SiLU, Tanh, TanhGELU

ACTIVATIONS = {
    "gelu": GELU,
    "gelu_new": TanhGELU,
    "gelu_pytorch_tanh": TanhGELU,
    "relu": ReLU,
    "silu": SiLU,
    "tanh": Tanh,
}
"""The activations by their names in Hugging Face's `hidden_act`."""


class FeedForward(Layer):
    """y = act(x W₁ + b₁) W₂ + b₂.

    x (N, D)   W₁ (D, F)   W₂ (F, D)   y (N, D)

    activation: a name in ACTIVATIONS, such as `gelu` (exact, BERT's in Hugging Face), `gelu_new` (its tanh form) or
    `relu` (the Transformer's). output_size: the width of y, by default D. (Vaswani et al. 2017, section 3.3; Devlin et
    al. 2018, appendix A.2.)

    Raises: ValueError for an unknown activation, or when x is not (N, D); TypeError when its dtype is not that of W₁.
    """

    def __init__(
        self,
        hidden_size: int,
        intermediate_size: int,
        init: Init,
        *,
        activation: str = "gelu",
        output_size: int | None = None,
    ) -> None:
        self.intermediate = Linear(hidden_size, intermediate_size, init)
        self.activation = make_activation(activation)
        self.output = Linear(intermediate_size, output_size or hidden_size, init)

    def forward(self, x: Array, tape: Tape = NO_TAPE) -> Array:
        h = self.intermediate(x, tape)  # (N, F)
        h = self.activation(h, tape)
        return self.output(h, tape)

    def backward(self, dy: Array, tape: Tape) -> Array:
        """The chain rule: run the parts in reverse order, each on the gradient that the previous one returned."""
        dh = self.output.backward(dy, tape)
        dh = self.activation.backward(dh, tape)
        return self.intermediate.backward(dh, tape)


def make_activation(name: str) -> Elementwise:
    """Return a new activation by its name. Raises: ValueError for a name that is not in ACTIVATIONS."""
    if name not in ACTIVATIONS:
        raise ValueError(f"activation is {name!r}, wanted one of {', '.join(ACTIVATIONS)}")
    return ACTIVATIONS[name]()
