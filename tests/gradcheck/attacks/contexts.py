"""Right layers as classes: forward(ctx, …) and backward(ctx, …), and two with a tape and Parameters."""

import numpy as np

from npbert import NO_TAPE, Parameter
from tests.gradcheck.attacks.formulas import sigmoid
from tests.gradcheck.attacks.laws import log_softmax


class Silu:
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x, s := sigmoid(x))
        return x * s

    @staticmethod
    def backward(ctx, d_output):
        x, s = ctx.saved_tensors
        return d_output * (s + x * s * (1 - s))


class Softplus:
    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))

    @staticmethod
    def backward(ctx, grad):
        e = np.exp(-np.abs(ctx.x))
        return grad * np.where(ctx.x > 0, 1 / (1 + e), e / (1 + e))


class Mish:
    @staticmethod
    def forward(ctx, x):
        t = np.tanh(np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))))
        ctx.save_for_backward(x, t)
        return x * t

    @staticmethod
    def backward(ctx, grad):
        x, t = ctx.saved_tensors
        return grad * (t + x * (1 - t * t) * sigmoid(x))


class MatMul:
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a @ b

    @staticmethod
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        return grad @ b.swapaxes(-1, -2), a.swapaxes(-1, -2) @ grad


class LogSoftmax:
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(y := log_softmax(x))
        return y

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return grad - np.exp(y) * grad.sum(axis=1, keepdims=True)


class Prelu:
    """A layer of one's own, with a Parameter."""

    def __init__(self, slope):
        self.slope = Parameter(slope)

    def forward(self, x, tape=NO_TAPE):
        tape.keep(self, x)
        return np.where(x > 0, x, self.slope.value * x)

    def backward(self, dy, tape):
        x = tape.take(self)
        self.slope.add_grad((dy * np.where(x > 0, 0, x)).sum(axis=0))
        return dy * np.where(x > 0, 1, self.slope.value)


class Mlp:
    """Two layers in a list, with a closure for the way back."""

    def __init__(self, *weights):
        self.layers = [Parameter(w) for w in weights]

    def forward(self, x, tape=NO_TAPE):
        undo = []
        for w in self.layers:
            y = np.tanh(x @ w.value)
            undo.append(self._undoing(x, y, w))
            x = y
        tape.keep(self, undo)
        return x

    @staticmethod
    def _undoing(x, y, w):
        def back(dy):
            dz = dy * (1 - y * y)
            w.add_grad(x.T @ dz)
            return dz @ w.value.T

        return back

    def backward(self, dy, tape):
        for back in reversed(tape.take(self)):
            dy = back(dy)
        return dy
