"""FeedForward: the same small two-layer network at every position."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from npbert.layers.activations import make_activation
from npbert.layers.linear import Linear
from npbert.layers.parameter import Array, Cache, Layer


class FeedForward(Layer):
    """y = act(x W₁ + b₁) W₂ + b₂.

    x (..., D)   W₁ (D, F)   W₂ (F, D)   y (..., D)

    activation: `gelu` (exact, BERT's in Hugging Face), `gelu_new` (its tanh form) or `relu` (the Transformer's).
    (Vaswani et al. 2017, section 3.3; Devlin et al. 2018, appendix A.2.)

    Raises: ValueError for another activation, or when the last axis of x is not D.
    """

    def __init__(
        self,
        hidden_size: int,
        intermediate_size: int,
        *,
        activation: str = "gelu",
        rng: np.random.Generator | None,
        initializer_range: float = 0.02,
        dtype: DTypeLike = np.float32,
    ) -> None:
        init: dict[str, Any] = {"rng": rng, "initializer_range": initializer_range, "dtype": dtype}
        self.intermediate = Linear(hidden_size, intermediate_size, **init)
        self.activation = make_activation(activation)
        self.output = Linear(intermediate_size, hidden_size, **init)

    def __call__(self, x: Array) -> Array:
        """As forward, but what a part keeps for backward is dropped before the next part runs."""
        return self.output(self.activation(self.intermediate(x)))

    def forward(self, x: Array) -> tuple[Array, Cache]:
        h, intermediate_cache = self.intermediate.forward(x)  # (..., F)
        h, activation_cache = self.activation.forward(h)
        y, output_cache = self.output.forward(h)
        return y, (intermediate_cache, activation_cache, output_cache)

    def backward(self, dy: Array, cache: Cache) -> Array:
        """The chain rule: each part's backward in the reverse order, each given what the last one returned."""
        intermediate_cache, activation_cache, output_cache = cache
        dh = self.output.backward(dy, output_cache)
        dh = self.activation.backward(dh, activation_cache)
        return self.intermediate.backward(dh, intermediate_cache)
