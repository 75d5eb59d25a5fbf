"""Linear: an affine map of every row."""

from npbert.compute import Array, matmul, sum_rows
from npbert.core import NO_TAPE, Init, Layer, Tape
from npbert.layers.checks import check_like, check_rows


class Linear(Layer):
    """y = x W + b.

    x (N, I)   weight W (I, O)   bias b (O,)   y (N, O)

    W is (in, out), as in the papers; PyTorch and Hugging Face store the transpose. W starts as normal(0, std), b as 0.
    Chapters 2 and 3 of docs/ derive it; in exercise 2 you do.

    Raises: ValueError when x is not (N, I), TypeError when its dtype is not that of W.
    """

    def __init__(self, in_features: int, out_features: int, init: Init) -> None:
        self.weight = init.normal(in_features, out_features)
        self.bias = init.zeros(out_features)

    def forward(self, x: Array, tape: Tape = NO_TAPE) -> Array:
        in_features, _ = self.weight.value.shape
        check_rows(self, x, in_features, self.weight.value.dtype)
        tape.keep(self, x=x)
        return matmul(x, self.weight.value, plus=self.bias.value)  # x W + b

    def backward(self, dy: Array, tape: Tape) -> Array:
        """dW = xᵀ dy,  db = Σₙ dyₙ,  dx = dy Wᵀ.

        Later layers turn y into the loss, one number. dy[n, o] is ∂loss/∂y[n, o], the change of the loss with y[n, o].
        Number by number, y[n, o] = Σᵢ x[n, i] W[i, o] + b[o]. A number that moves several y moves the loss through all
        of them. By the chain rule, its gradient is a sum with a term for each: the speed of that y, times its dy.

        - W[i, o] moves y[n, o] in every row n, x[n, i] times as fast as itself:    dW[i, o] = Σₙ x[n, i] dy[n, o]
        - b[o] moves y[n, o] in every row n, just as fast:                          db[o] = Σₙ dy[n, o]
        - x[n, i] moves every y[n, o] of its row, W[i, o] times as fast as itself:  dx[n, i] = Σₒ dy[n, o] W[i, o]

        Two of these sums are matrix products: a transposition brings the summed index to the middle.
        """
        x = tape.take(self)
        _, out_features = self.weight.value.shape
        check_like(self, dy, (len(x), out_features), x.dtype)
        self.weight.add_grad(matmul(x.T, dy))
        self.bias.add_grad(sum_rows(dy))  # (O,)
        return matmul(dy, self.weight.value.T)
