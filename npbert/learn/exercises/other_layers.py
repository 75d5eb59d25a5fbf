"""Layers that the library does not have: variants of its own, a table in two places, and attention with padding."""

import math

import numpy as np

from npbert.catalogue import Setting
from npbert.compute import Array
from npbert.core import NO_TAPE, Init, Layer, Tape
from npbert.layers.checks import check_like
from npbert.layers.softmax import softmax, softmax_backward


class LinearOfColumns(Layer):
    """y = x Wᵀ: as PyTorch stores the weight, a row of W for each number of y.   x (N, I)   W (O, I)   y (N, O)"""

    def __init__(self, in_features: int, out_features: int, init: Init) -> None:
        self.weight = init.normal(out_features, in_features)

    def forward(self, x: Array, tape: Tape = NO_TAPE) -> Array:
        tape.keep(self, x=x)
        return x @ self.weight.value.T

    def backward(self, dy: Array, tape: Tape) -> Array:
        """dW = dyᵀ x,  dx = dy W: the products of Linear with the transposed weight."""
        x = tape.take(self)
        check_like(self, dy, (len(x), len(self.weight.value)), x.dtype)
        self.weight.add_grad(dy.T @ x)
        return dy @ self.weight.value


class SoftmaxOfColumns(Layer):
    """pᵢ = e^(xᵢ) / Σₖ e^(xₖ) down each column: over the first axis.   x, p (N, D)"""

    def forward(self, x: Array, tape: Tape = NO_TAPE) -> Array:
        p = np.exp(x - x.max(axis=0))
        p = p / p.sum(axis=0)
        tape.keep(self, p=p)
        return p

    def backward(self, dp: Array, tape: Tape) -> Array:
        """dx = p · (dp − Σ dp p), the sum down the column that x moves."""
        p = tape.take(self)
        check_like(self, dp, p.shape, p.dtype, name="dp")
        return p * (dp - (dp * p).sum(axis=0))


class RMSNorm(Layer):
    """y = γ x̂ with x̂ = x / r, r = √(mean(x²) + eps): without the mean.   x, y (N, D)   gamma γ (D,)"""

    def __init__(self, features: int, init: Init, *, eps: float) -> None:
        self.gamma, self.eps = init.ones(features), eps

    def forward(self, x: Array, tape: Tape = NO_TAPE) -> Array:
        r = np.sqrt((x * x).mean(axis=-1, keepdims=True) + self.eps)
        x_hat = x / r
        tape.keep(self, x_hat=x_hat, r=r)
        return self.gamma.value * x_hat

    def backward(self, dy: Array, tape: Tape) -> Array:
        """dx = (dx̂ − x̂ · mean(dx̂ · x̂)) / r with dx̂ = γ dy: two paths, directly and through r."""
        x_hat, r = tape.take(self)
        check_like(self, dy, x_hat.shape, x_hat.dtype)
        self.gamma.add_grad((dy * x_hat).sum(axis=0))
        dx_hat = self.gamma.value * dy
        return (dx_hat - x_hat * (dx_hat * x_hat).mean(axis=-1, keepdims=True)) / r


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


class PaddedAttention(Layer):
    """C = P V with P = softmax(Q Kᵀ/√d), for each head of each sequence; padding gets no weight.

    q, k, v (B, T, D)   mask (B, T): 1 for a token, 0 for padding   c (B, T, D)

    The D features are cut into H heads of d = D / H each. A score of a key that is padding is set to −∞ before softmax,
    so its probability is 0. (npbert computes no padding; other libraries do it in this way.)
    """

    def __init__(self, num_heads: int) -> None:
        self.num_heads = num_heads

    def forward(self, q: Array, k: Array, v: Array, mask: Array, tape: Tape = NO_TAPE) -> Array:
        q, k, v = (self.split(x) for x in (q, k, v))  # (B, H, T, d)
        scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])  # (B, H, T, T): a row is a query, a column a key
        p = softmax(np.where(mask[:, None, None, :] == 1, scores, -np.inf))
        tape.keep(self, q=q, k=k, v=v, p=p)
        return self.merge(p @ v)

    def backward(self, dc: Array, tape: Tape) -> tuple[Array, Array, Array]:
        """As attend_backward, head by head: split dc, merge the gradients."""
        q, k, v, p = tape.take(self)
        check_like(self, dc, (len(q), q.shape[2], q.shape[1] * q.shape[3]), q.dtype, name="dc")
        dc = self.split(dc)
        dv = p.swapaxes(-1, -2) @ dc
        ds = softmax_backward(dc @ v.swapaxes(-1, -2), p) / math.sqrt(q.shape[-1])
        return self.merge(ds @ k), self.merge(ds.swapaxes(-1, -2) @ q), self.merge(dv)

    def split(self, x: Array) -> Array:
        """(B, T, D) -> (B, T, H, d) -> (B, H, T, d)"""
        return x.reshape(*x.shape[:2], self.num_heads, -1).swapaxes(1, 2)

    def merge(self, x: Array) -> Array:
        """(B, H, T, d) -> (B, T, H, d) -> (B, T, D)"""
        return x.swapaxes(1, 2).reshape(x.shape[0], x.shape[2], -1)


def with_heads(heads: int, d: int, lengths: tuple[int, ...]) -> Setting:
    """Return the setting of sequences of these lengths, padded to the longest, with heads of d features."""
    shapes = [(len(lengths), max(lengths), heads * d)] * 3
    mask = (np.arange(max(lengths)) < np.array(lengths)[:, None]) * 1
    return Setting(PaddedAttention, lambda cls, init: cls(heads), [*shapes, mask])
