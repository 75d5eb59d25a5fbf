"""Exercise 2, Linear: the wrong answers that people give."""

from __future__ import annotations

from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import Tape
from npbert.layers import Linear
from npbert.learn.exercise import Mistakes

WRONG = Mistakes(Linear, "backward")


def _backward(layer: Linear, dy: Array, tape: Tape, **changes: Any) -> Array:
    """The right backward, but for the gradients that are given in another way."""
    x = tape.take(layer)
    weight = layer.weight.value
    gradients = {"dw": x.T @ dy, "db": dy.sum(axis=0), "dx": dy @ weight.T}
    gradients.update({name: change(x, dy, weight) for name, change in changes.items()})
    for parameter, name in ((layer.weight, "dw"), (layer.bias, "db")):
        if gradients[name] is not None:
            parameter.add_grad(gradients[name])
    return gradients["dx"]


@WRONG(
    "dW is divided by the number of rows, but it is a plain sum over them.",
    "A mean over the batch belongs to the loss, and the loss has taken it: the 1/N is inside dy already. Each layer "
    "only adds up what its weights did to every row.",
)
def weight_averaged(self: Linear, dy: Array, tape: Tape) -> Array:
    return _backward(self, dy, tape, dw=lambda x, dy, w: x.T @ dy / len(x))


@WRONG(
    "db is the mean of dy over the rows, but it is their sum.",
    "b is added to every row, so it moves the loss once for each of them, and what comes back adds up. (The mean over "
    "the batch is taken in the loss, and it is inside dy already.)",
)
def bias_averaged(self: Linear, dy: Array, tape: Tape) -> Array:
    return _backward(self, dy, tape, db=lambda x, dy, w: dy.mean(axis=0))


@WRONG(
    "dW and db are both divided by the number of rows, but they are plain sums over them.",
    "A mean over the batch belongs to the loss, and the loss has taken it: the 1/N is inside dy already. Each layer "
    "only adds up what its weights did to every row.",
)
def both_averaged(self: Linear, dy: Array, tape: Tape) -> Array:
    return _backward(self, dy, tape, dw=lambda x, dy, w: x.T @ dy / len(x), db=lambda x, dy, w: dy.mean(axis=0))


@WRONG(
    "dW, db and dx are all divided by the number of rows, but dW and db are plain sums, and dx no mean, either.",
    "A mean over the batch belongs to the loss, and the loss has taken it: the 1/N is inside dy already. So dy is used "
    "as it comes.",
)
def all_averaged(self: Linear, dy: Array, tape: Tape) -> Array:
    return _backward(self, dy / len(dy), tape)


@WRONG(
    "The gradients are set, but they should be added to what is there.",
    "Before the optimiser takes a step, several backwards may have something to say about one weight: a batch that "
    "comes in parts, a weight that stands in two places. So backward adds, with add_grad, and never clears a "
    "gradient; zero_grad is called once, by whoever trains.",
)
def assigns(self: Linear, dy: Array, tape: Tape) -> Array:
    self.zero_grad()
    return _backward(self, dy, tape)


@WRONG(
    "The gradient of W is set, but it should be added to what is there.",
    "Before the optimiser takes a step, several backwards may have something to say about one weight: a batch that "
    "comes in parts, a weight that stands in two places. So backward adds: self.weight.add_grad(dW).",
)
def weight_set(self: Linear, dy: Array, tape: Tape) -> Array:
    self.weight.zero_grad()
    return _backward(self, dy, tape)


@WRONG(
    "The gradient of b is set, but it should be added to what is there.",
    "Before the optimiser takes a step, several backwards may have something to say about one bias: a batch that comes "
    "in parts, a bias that stands in two places. So backward adds: self.bias.add_grad(db).",
)
def bias_set(self: Linear, dy: Array, tape: Tape) -> Array:
    self.bias.zero_grad()
    return _backward(self, dy, tape)


@WRONG(
    "db still has a row for each row of dy: it was not summed over the rows.",
    "Forward adds the one row b to every row of x W: b is stretched to N rows. What is stretched forwards is summed "
    "backwards, so db is dy summed over its first axis, with the shape of b.",
)
def bias_not_summed(self: Linear, dy: Array, tape: Tape) -> Array:
    return _backward(self, dy, tape, db=lambda x, dy, w: dy)


@WRONG(
    "db is one number for all columns: dy was summed over both of its axes.",
    "Each column o has a bias of its own, which moves that column alone. So db[o] sums over the rows of column o: "
    "axis=0, and not over everything.",
)
def bias_summed_too_far(self: Linear, dy: Array, tape: Tape) -> Array:
    return _backward(self, dy, tape, db=lambda x, dy, w: 0 * w[0] + dy.sum())


@WRONG(
    "dW is transposed: it has the shape of dyᵀ x, and should be xᵀ dy.",
    "A gradient always has the shape of its parameter, here (I, O). dyᵀ x holds the same numbers, but as (O, I), as in "
    "PyTorch, which stores W the other way round.",
)
def weight_transposed(self: Linear, dy: Array, tape: Tape) -> Array:
    return _backward(self, dy, tape, dw=lambda x, dy, w: dy.T @ x)


@WRONG(
    "dW has the right shape, but its numbers are in the wrong order: (dyᵀ x) was reshaped to fit.",
    "A reshape keeps the numbers in the order of memory, and so puts them in other places. To swap two axes, "
    "transpose: dW = (dyᵀ x)ᵀ = xᵀ dy.",
)
def weight_reshaped(self: Linear, dy: Array, tape: Tape) -> Array:
    return _backward(self, dy, tape, dw=lambda x, dy, w: (dy.T @ x).reshape(w.shape))


@WRONG(
    "dx is made with Wᵀ reshaped: W.reshape(O, I) is not W transposed.",
    "A reshape keeps the numbers in the order of memory, and so puts them in other places. W.T swaps the two axes.",
)
def input_with_reshaped_weight(self: Linear, dy: Array, tape: Tape) -> Array:
    return _backward(self, dy, tape, dx=lambda x, dy, w: dy @ w.reshape(w.shape[::-1]))


@WRONG(
    "The gradient of b is 0, as if nothing was added to it.",
    "b is learned, too: forward adds it to every row. Its gradient is the sum of dy over the rows, and backward hands "
    "it over with self.bias.add_grad(db).",
)
def bias_forgotten(self: Linear, dy: Array, tape: Tape) -> Array:
    return _backward(self, dy, tape, db=lambda x, dy, w: None)


@WRONG(
    "The gradient of W is 0, as if nothing was added to it.",
    "Backward has two jobs: it returns dx, and it adds what it finds out about the layer's own parameters, here with "
    "self.weight.add_grad(dW). Without that the layer never learns.",
)
def weight_forgotten(self: Linear, dy: Array, tape: Tape) -> Array:
    return _backward(self, dy, tape, dw=lambda x, dy, w: None)


@WRONG(
    "dx is made with dW, and should be made with W: right is dy Wᵀ.",
    "x[n, i] moves y[n, o] W[i, o] times as fast, so the weight itself is what brings dy back: self.weight.value.",
)
def input_with_gradient(self: Linear, dy: Array, tape: Tape) -> Array:
    return _backward(self, dy, tape, dx=lambda x, dy, w: dy @ (x.T @ dy).T)


@WRONG(
    "dW has the share of the last row alone: those of the rows before it are lost.",
    "Every row is multiplied by W, so every row has a say: dW is the sum of all of them, dW += np.outer(x[n], dy[n]), "
    "or all at once xᵀ dy.",
)
def last_row_alone(self: Linear, dy: Array, tape: Tape) -> Array:
    return _backward(self, dy, tape, dw=lambda x, dy, w: np.outer(x[-1], dy[-1]))


@WRONG(
    "dW is the outer product of two sums, and should be the sum of the outer products.",
    "Each row n has its own share, x[n, i] dy[n, o]. Sum over n once these are multiplied: Σₙ x[n, i] dy[n, o], not "
    "(Σₙ x[n, i]) (Σₙ dy[n, o]), where each row is multiplied with every other.",
)
def outer_product_of_sums(self: Linear, dy: Array, tape: Tape) -> Array:
    return _backward(self, dy, tape, dw=lambda x, dy, w: np.outer(x.sum(axis=0), dy.sum(axis=0)))


@WRONG(
    "dx is the product of two sums, and should be the sum of the products.",
    "Each column o has its own share, dy[n, o] W[i, o]. Sum over o once these are multiplied: Σₒ dy[n, o] W[i, o], not "
    "(Σₒ dy[n, o]) (Σₒ W[i, o]). That sum is the matrix product dy Wᵀ.",
)
def input_with_sums(self: Linear, dy: Array, tape: Tape) -> Array:
    return _backward(self, dy, tape, dx=lambda x, dy, w: np.outer(dy.sum(axis=1), w.sum(axis=1)))


@WRONG(
    "dx is made with the inverse of W, and should be made with its transpose: right is dy Wᵀ.",
    "Backward does not undo forward. It asks how fast y[n, o] moves with x[n, i], which is W[i, o]: so dy is "
    "multiplied by W itself, turned round, self.weight.value.T.",
)
def input_with_inverse(self: Linear, dy: Array, tape: Tape) -> Array:
    return _backward(self, dy, tape, dx=lambda x, dy, w: dy @ np.linalg.pinv(w))


@WRONG(
    "The bias is subtracted from dy in dx: yours is (dy − b) Wᵀ, right is dy Wᵀ.",
    "Backward does not undo forward. How fast y moves with x does not depend on b, so b has no part in dx.",
)
def input_without_bias(self: Linear, dy: Array, tape: Tape) -> Array:
    return _backward(self, dy, tape, dx=lambda x, dy, w: (dy - self.bias.value) @ w.T)
