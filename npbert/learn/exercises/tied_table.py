"""Exercise 11: one table in two places."""

import numpy as np

from npbert.compute import Array
from npbert.core import NO_TAPE, Init, Layer, Tape
from npbert.layers.checks import check_like
from npbert.learn.exercise import CHAPTERS, Exercise
from npbert.learn.layer import layer_part, permuted, sample

TEXT = """
BERT has one table of word vectors, and uses it twice. At the input, it looks up the vector of each word. At the output,
it compares the result with the vectors of all words, to predict the masked word.

So a number of the table moves the loss along two paths. Find the gradient of each use as if the other did not exist,
and add both to the same gradient.
"""
ASKED = """
Add dE to the gradient of self.table and dc to that of self.bias. Return nothing: ids have no gradient.

dlogits (N, V)   dE (V, D)   dc (V,)   h (N, D): the rows read from the table

self.table.value is E, and self.table.grad its gradient. add_grad adds a whole array of E's shape to it;
np.add.at(self.table.grad, ids, rows) adds rows to the rows given by ids, with repetitions.
"""
HINTS = """
The output is a Linear with the weight Eᵀ (times a). What are the gradients of its weight, its bias, and its input h?

As the decoder: dE = a dlogitsᵀ h, of the shape (V, D), and dc = Σₙ dlogitsₙ. For the embedding you need dh = a dlogits
E, (N, D).

Then add dh to the rows that were read: np.add.at(dE, ids, dh), as in exercise 6. Add both parts: self.table.add_grad(a
* dlogits.T @ h), and np.add.at(self.table.grad, ids, dh).
"""
PLAIN = """
def backward(self, dlogits, tape):
    ids, h = tape.take(self)
    table = self.table.value
    decoder = self.scale * dlogits.T @ h
    dh = self.scale * dlogits @ table
    embedding = np.zeros_like(table)
    np.add.at(embedding, ids, dh)
    dE = decoder + embedding
    dc = dlogits.sum(axis=0)
    self.table.add_grad(dE)
    self.bias.add_grad(dc)
"""
REASONS = {
    "dE": "The table moves the loss along two paths. At the output every row is compared with every h, times "
    "a. At the input each id reads one row, some of them more than once. The gradients of both paths add to the "
    "existing gradient.",
    "dc": "c is added to the scores of every row, after the factor a. The gradients of the rows add to the existing "
    "gradient.",
}


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
    asked=ASKED,
    plain=PLAIN,
    reasons=REASONS,
)
EXERCISE = Exercise("the tied table", CHAPTERS[7], TEXT, HINTS, (PART,))
