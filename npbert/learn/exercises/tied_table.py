"""Exercise 11: one table at two places."""

import numpy as np

from npbert.compute import Array
from npbert.core import NO_TAPE, Init, Layer, Tape
from npbert.layers.checks import check_like
from npbert.learn.exercise import CHAPTERS, Exercise
from npbert.learn.layer import layer_part, permuted, sample

TEXT = """
BERT has one table of word vectors, and uses it twice: at the beginning it looks up the vector of each word, and at the
end it compares what came out with the vectors of all words, to guess the word that was hidden.

A number of the table therefore moves the loss by two roads. The chain rule does not mind: work out what each use brings
back, as if the other were not there, and add both to the same gradient.
"""
ASKED = """
Add dE to the gradient of self.table and dc to that of self.bias. Return nothing: ids have no gradient.

dlogits (N, V)   dE (V, D)   dc (V,)   h (N, D): the rows of the table that were read

self.table.value is E, and self.table.grad its gradient. add_grad adds a whole array of E's shape to it;
np.add.at(self.table.grad, ids, rows) adds rows to those that ids names, each as often as it is named.
"""
HINTS = """
The end is a Linear whose weight is Eᵀ (times a). What does it bring back to its weight, to its bias, and to its input
h?

As the decoder: dE = a dlogitsᵀ h, of the shape (V, D), and dc = Σₙ dlogitsₙ. For the embedding you need dh = a dlogits
E, (N, D).

Then dh goes back to the rows that were read: np.add.at(dE, ids, dh), as in exercise 6. Both parts are added:
self.table.add_grad(a * dlogits.T @ h), and np.add.at(self.table.grad, ids, dh).
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
    "dE": "The table moves the loss by two roads. At the end every row of it is compared with every h, times a; and at "
    "the beginning each id reads one row, some of them more than once. What comes back along both is added, to what is "
    "there already.",
    "dc": "c is added to the scores of every row, after they were multiplied by a: what comes back from the rows adds "
    "up, to what is there already.",
}


class TiedTable(Layer):
    """logits = a h Eᵀ + c  with  h = E[ids].

    ids (N,)   table E (V, D)   bias c (V,)   scale a: a fixed number   logits (N, V)

    E is read at the beginning, where it turns ids into vectors, and multiplied at the end, where it turns vectors into
    scores. In BERT all encoder layers come between the two; here it is a number.
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
