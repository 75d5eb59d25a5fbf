"""Layers that the library does not have: variants of its own, and a table in two places."""

import numpy as np

from npbert.compute import Array
from npbert.core import NO_TAPE, Init, Layer, Tape
from npbert.layers.checks import check_like


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
