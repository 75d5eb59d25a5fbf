"""Linear: an affine map of every row."""

from __future__ import annotations

from npbert.compute import Array, matmul, sum_rows
from npbert.core.checks import check_like, check_rows
from npbert.core.layer import Layer
from npbert.core.parameter import Init
from npbert.core.tape import NO_TAPE, Tape


class Linear(Layer):
    """y = x W + b.

    x (N, I)   weight W (I, O)   bias b (O,)   y (N, O)

    Rows times W, (in, out), as in the papers; PyTorch, and so Hugging Face, stores the transpose. W starts as
    normal(0, std), b as 0.

    Raises: ValueError when x is not (N, I), TypeError when its dtype is not that of W.
    """

    def __init__(self, in_features: int, out_features: int, init: Init) -> None:
        self.weight = init.normal(in_features, out_features)
        self.bias = init.zeros(out_features)

    def forward(self, x: Array, tape: Tape = NO_TAPE) -> Array:
        check_rows(self, x, len(self.weight.value), self.weight.value.dtype)
        tape.keep(self, x)
        return matmul(x, self.weight.value, plus=self.bias.value)

    def backward(self, dy: Array, tape: Tape) -> Array:
        """dW = xᵀ dy,  db = Σₙ dyₙ,  dx = dy Wᵀ.

        Row by row, y[n, o] = Σᵢ x[n, i] W[i, o] + b[o]. So W[i, o] acts on y[n, o] with strength x[n, i], in every row
        n: dW[i, o] = Σₙ x[n, i] dy[n, o], and that sum is a matrix product. b acts on every row with strength 1. And
        x[n, i] acts on every output o of its row with strength W[i, o].
        """
        x = tape.take(self)
        check_like(self, dy, (len(x), len(self.bias.value)), x.dtype)
        self.weight.add_grad(matmul(x.T, dy))
        self.bias.add_grad(sum_rows(dy))
        return matmul(dy, self.weight.value.T)
