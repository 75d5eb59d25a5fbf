"""A small layer to check, and to break."""

import numpy as np

from npbert import Parameter


class Scale:
    """y = s · x: a layer of one's own, which inherits from nothing. A test breaks it by overriding a method."""

    def __init__(self, features=3, dtype=np.float64):
        self.s = Parameter(np.arange(1, features + 1).astype(dtype))

    def forward(self, x):
        return self.s.value * x, x

    def backward(self, dy, x):
        self.s.grad += (dy * x).sum(axis=0)
        return dy * self.s.value


X = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])
