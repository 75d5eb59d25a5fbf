"""Embedding: a table whose rows are looked up by id."""

from npbert.compute import Array
from npbert.core import NO_TAPE, Init, Layer, Tape, check_ids
from npbert.layers.checks import check_like


class Embedding(Layer):
    """y = W[ids].

    ids (N,) integers from 0 to V − 1   weight W (V, D)   y (N, D)

    Equal to a product of one-hot rows with W, without the product. W starts as normal(0, std). Chapter 7 of docs/
    derives it; in exercise 6 you do.

    Raises: TypeError for ids that are not integers, IndexError for an id outside 0 to V − 1.
    """

    def __init__(self, num_embeddings: int, features: int, init: Init) -> None:
        self.weight = init.normal(num_embeddings, features)

    def forward(self, ids: Array, tape: Tape = NO_TAPE) -> Array:
        check_ids(ids, len(self.weight.value), name="ids", limit_name="the number of embeddings")
        tape.keep(self, ids=ids)
        return self.weight.value[ids]

    def backward(self, dy: Array, tape: Tape) -> None:
        """dW[v] = Σ dyₙ over all n with idsₙ = v: a row of W that is read n times adds up n gradients.

        The ids have no gradient.
        """
        ids = tape.take(self)
        check_like(self, dy, (len(ids), self.weight.value.shape[1]), self.weight.value.dtype)
        self.weight.add_grad(dy, rows=ids)
