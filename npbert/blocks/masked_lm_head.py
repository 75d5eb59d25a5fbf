"""MaskedLMHead: from a hidden state back to a word of the vocabulary."""

from dataclasses import replace

from npbert.blocks.feed_forward import make_activation
from npbert.compute import Array, matmul, sum_rows
from npbert.core import NO_TAPE, Init, Layer, Parameter, Tape
from npbert.layers import LayerNorm, Linear
from npbert.layers.checks import check_like


class MaskedLMHead(Layer):
    """logits = h Eᵀ + c  with  h = LayerNorm(act(x W + b)).

    x (n, D)   W (D, D)   table E (V, D)   bias c (V,)   logits (n, V)

    E is the word embeddings' own Parameter ("tied weights"): the score of a word is the dot product with its input
    vector. (Devlin et al. 2018, section 3.1, task 1; transform and tying are in its code.)
    hidden_size: the width of x, if the table is narrower. Chapter 7 of docs/ derives it.

    Raises: ValueError for an unknown activation, or when x is not (n, D); TypeError when its dtype is not that of the
    weights.
    """

    def __init__(
        self,
        table: Parameter,
        init: Init,
        *,
        activation: str = "gelu",
        layer_norm_eps: float = 1e-12,
        hidden_size: int | None = None,
    ) -> None:
        vocab_size, features = table.value.shape
        self.dense = Linear(hidden_size or features, features, init)
        self.activation = make_activation(activation)
        self.layer_norm = LayerNorm(features, init, eps=layer_norm_eps)
        self.table = table
        self.bias = replace(init, bias=True).zeros(vocab_size)

    def forward(self, x: Array, tape: Tape = NO_TAPE) -> Array:
        h = self.dense(x, tape)
        h = self.activation(h, tape)
        h = self.layer_norm(h, tape)
        tape.keep(self, h=h)
        return matmul(h, self.table.value.T, plus=self.bias.value)

    def backward(self, dlogits: Array, tape: Tape) -> Array:
        """dE = dlogitsᵀ h,  dc = Σₙ dlogitsₙ,  dh = dlogits E,  then back through the transform.

        E gets a second gradient from the embedding at the input: `Parameter.add_grad` adds both.
        """
        h = tape.take(self)
        check_like(self, dlogits, (len(h), len(self.bias.value)), h.dtype)
        self.table.add_grad(matmul(dlogits.T, h))
        self.bias.add_grad(sum_rows(dlogits))
        dh = matmul(dlogits, self.table.value)
        dh = self.layer_norm.backward(dh, tape)
        dh = self.activation.backward(dh, tape)
        return self.dense.backward(dh, tape)
