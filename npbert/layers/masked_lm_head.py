"""MaskedLMHead: from a hidden vector back to a word of the vocabulary."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from npbert.layers.activations import make_activation
from npbert.layers.layer_norm import LayerNorm
from npbert.layers.linear import Linear
from npbert.layers.parameter import Array, Cache, Layer, Parameter, rows
from npbert.layers.product import add_product, product, sum_of_rows


class MaskedLMHead(Layer):
    """h = LayerNorm(act(x W + b)),  logits = h Eᵀ + c.

    x (..., D)   W (D, D)   E (V, D)   c (V,)   logits (..., V)

    E is `table`, the token embedding's own Parameter ("tied weights"): the score of a word is the dot product with the
    vector that the word has as input. (Devlin et al. 2018, section 3.1, task 1; transform and tying are in its code.)

    Raises: ValueError for an unknown activation, or when the last axis of x is not D.
    """

    def __init__(
        self,
        table: Parameter,
        *,
        activation: str = "gelu",
        layer_norm_eps: float = 1e-12,
        rng: np.random.Generator | None,
        initializer_range: float = 0.02,
        dtype: DTypeLike = np.float32,
    ) -> None:
        vocab_size, hidden_size = table.value.shape
        self.dense = Linear(hidden_size, hidden_size, rng=rng, initializer_range=initializer_range, dtype=dtype)
        self.activation = make_activation(activation)
        self.layer_norm = LayerNorm(hidden_size, eps=layer_norm_eps, dtype=dtype)
        self.table = table
        self.bias = Parameter(np.zeros(vocab_size, dtype))

    def forward(self, x: Array) -> tuple[Array, Cache]:
        h, dense_cache = self.dense.forward(x)
        h, activation_cache = self.activation.forward(h)
        h, norm_cache = self.layer_norm.forward(h)
        logits = product(rows(h), self.table.value.T, plus=self.bias.value)
        return logits.reshape(*h.shape[:-1], logits.shape[-1]), (dense_cache, activation_cache, norm_cache, h)

    def backward(self, dlogits: Array, cache: Cache) -> Array:
        """dE += dlogitsᵀ h,  dc = Σₙ dlogitsₙ,  dh = dlogits E, then back through the transform.

        E gets a second gradient from the embedding, where it is read by id. Both are added to the same `grad`.
        """
        dense_cache, activation_cache, norm_cache, h = cache
        add_product(self.table, rows(dlogits).T, rows(h))
        self.bias.grad += sum_of_rows(dlogits)
        dh = product(rows(dlogits), self.table.value).reshape(h.shape)
        dh = self.layer_norm.backward(dh, norm_cache)
        dh = self.activation.backward(dh, activation_cache)
        return self.dense.backward(dh, dense_cache)
