"""Exercise 2: Linear."""

from npbert.layers import Linear
from npbert.learn.exercise import CHAPTERS, Exercise
from npbert.learn.layer import layer_part, normal, sample

TEXT = """
Most of what BERT computes is this layer: each row of x is multiplied by a matrix, and a bias is added. Number by
number, y[n, o] = Σᵢ x[n, i] W[i, o] + b[o].

backward gets dy: dy[n, o] is the slope of the loss for y[n, o]. Find this slope for every number of W, b and x.
A number that moves several y moves the loss through all of them. So its gradient is a sum over these y: the speed of
each y, times its dy.
"""
ASKED = """
Add dW to the gradient of self.weight and db to that of self.bias; return dx.

dy (N, O)   dW (I, O), as W   db (O,), as b   dx (N, I), as x

Add a gradient with self.weight.add_grad(dW). Three lines are enough, one for each gradient.
"""
HINTS = """
Take one number, W[i, o]. Which y does it move, and how fast? It moves column o, one y in every row n, each x[n, i]
times as fast. So dW[i, o] is a sum over n.

Σₙ x[n, i] dy[n, o] is a matrix product. The summed index n has to be the second of the left matrix and the first of the
right one. Here it is the first of both, so transpose x: it is the product of xᵀ and dy. The shapes confirm it: from (N,
I) and (N, O) you need (I, O).

dW is xᵀ dy. b[o] is added to every row, so its gradient is the sum of column o of dy. And x[n, i] moves the whole row
y[n], with the speeds W[i, :], so dx is dy Wᵀ.
"""
PLAIN = """
def backward(self, dy, tape):
    x = tape.take(self)
    dw = x.T @ dy
    db = dy.sum(axis=0)
    dx = dy @ self.weight.value.T
    self.weight.add_grad(dw)
    self.bias.add_grad(db)
    return dx
"""
REASONS = {
    "dW": "W[i, o] moves y[n, o] in every row n, x[n, i] times as fast, and the gradients of the rows add up.",
    "db": "b is added to every row, so the gradients of the rows add up.",
    "dx": "x[n, i] moves its whole row of y, with the speeds W[i, :], and the gradients of these y add up.",
}
PART = layer_part(
    sample(Linear, normal(7, 5), 5, 3),
    sample(Linear, normal(4, 6), 6, 11),
    names={"weight": "dW", "bias": "db"},
    asked=ASKED,
    plain=PLAIN,
    reasons=REASONS,
)
EXERCISE = Exercise("Linear", CHAPTERS[2], TEXT, HINTS, (PART,))
