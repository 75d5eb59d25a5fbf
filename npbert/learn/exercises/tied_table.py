"""Exercise 11: one table in two places."""

import numpy as np

from npbert.compute import Array
from npbert.core import NO_TAPE, Init, Layer, Tape
from npbert.layers.checks import check_like
from npbert.learn.layer import layer_part, permuted, sample


class TiedTable(Layer):
    """logits = a h Eᵀ + c  with  h = E[ids].

    ids (N,)   table E (V, D)   bias c (V,)   scale a: a fixed number   logits (N, V)

    At the input, E turns ids into vectors. At the output, a product with it turns vectors into scores. In BERT all
    encoder layers are in between; here it is only a number.
    """

    def __init__(self, num_embeddings: int, features: int, init: Init) -> None:
        self.table = init.normal(num_embeddings, features)
        self.bias = init.zeros(num_embeddings)
        self.scale = 0.7

    def forward(self, ids: Array, tape: Tape = NO_TAPE) -> Array:
        h = self.table.value[ids]  # (N, D)
        tape.keep(self, ids=ids, h=h)
        return self.scale * h @ self.table.value.T + self.bias.value

    def backward(self, dlogits: Array, tape: Tape) -> None:
        """dE has two parts: a dlogitsᵀ h, as the decoder, and the rows of dh = a dlogits E, as the embedding."""
        ids, h = tape.take(self)
        check_like(self, dlogits, (len(ids), len(self.bias.value)), h.dtype, name="dlogits")
        self.table.add_grad(self.scale * dlogits.T @ h)
        self.bias.add_grad(dlogits.sum(axis=0))
        np.add.at(self.table.grad, ids, self.scale * dlogits @ self.table.value)


PART = layer_part(
    sample(TiedTable, permuted(4, 1, 4, 6, 4), 7, 3),
    sample(TiedTable, permuted(10, 3, 3, 0, 8, 3, 10, 5, 1), 11, 4),
    names={"table": "dE", "bias": "dc"},
)
