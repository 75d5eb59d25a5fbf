"""Right derivatives of one's own, as people write them in plain NumPy: (f, vjp, inputs) by name, in many styles."""

import numpy as np

rng = np.random.default_rng(7)
X, W, B = rng.standard_normal((5, 4)), rng.standard_normal((4, 3)), rng.standard_normal(3)


def convolution(x, w):
    """Along rows, written as loops into np.zeros."""
    y = np.zeros((len(x) - len(w) + 1, w.shape[2]))
    for t in range(len(y)):
        for k in range(len(w)):
            y[t] += x[t + k] @ w[k]
    return y


def convolution_vjp(dy, x, w):
    dx, dw = np.zeros_like(x), np.zeros(w.shape)
    for t in range(len(dy)):
        for k in range(len(w)):
            dx[t + k] += w[k] @ dy[t]
            dw[k] += np.outer(x[t + k], dy[t])
    return dx, dw


def max_vjp(dy, x):
    dx = np.zeros_like(x)
    dx[x.argmax(axis=0), np.arange(x.shape[1])] += dy
    return dx


def of_x(slope):
    """The vjp of a function of each number, from its slope."""
    return lambda dy, x: dy * slope(x)


PAIRS = {
    "affine with dot and tensordot": (
        lambda x, w, b: np.dot(x, w) + b,
        lambda dy, x, w, b: (np.tensordot(dy, w, axes=([1], [1])), np.dot(x.T, dy), np.add.reduce(dy)),
        (X, W, B),
    ),
    "leaky ReLU": (lambda x: np.where(x > 0, x, 0.01 * x), lambda dy, x: np.where(x > 0, dy, 0.01 * dy), (X,)),
    "softplus": (lambda x: np.log1p(np.exp(x)), lambda dy, x: dy / (1 + np.exp(-x)), (X,)),
    "standard deviation": (
        lambda x: np.std(x, axis=1),
        lambda dy, x: dy[:, None] * (x - x.mean(1, keepdims=True)) / (x.shape[1] * np.std(x, axis=1, keepdims=True)),
        (X,),
    ),
    "convolution in loops": (convolution, convolution_vjp, (X, rng.standard_normal((2, 4, 3)))),
    "maximum": (lambda x: x.max(axis=0), max_vjp, (X,)),
    "norm": (lambda x: np.linalg.norm(x, axis=0), of_x(lambda x: x * (np.square(x).sum(axis=0) ** -0.5)), (X,)),
    "bilinear": (
        lambda x, w, z: np.einsum("ni,ij,nj->n", x, w, z),
        lambda dy, x, w, z: (dy[:, None] * (z @ w.T), (x * dy[:, None]).T @ z, dy[:, None] * (x @ w)),
        (X, W, rng.standard_normal((5, 3))),
    ),
    "L1 norm": (lambda x: np.abs(x).sum(axis=0), of_x(np.sign), (X,)),
    "a power of 0.3": (lambda x: np.abs(x) ** 0.3, of_x(lambda x: 0.3 * np.abs(x) ** -0.7 * np.sign(x)), (X,)),
    "cumulative sum": (lambda x: np.cumsum(x, axis=0), lambda dy, x: np.cumsum(dy[::-1], axis=0)[::-1], (X,)),
    "sine and cosine": (lambda x: np.sin(x) * x, of_x(lambda x: np.sin(x) + x * np.cos(x)), (X,)),
}
"""All of them are proved."""

EXACT_IF_DIGITS, CAST = "with 50 digits every gradient is right", "a number is turned into a float here"
UNPROVED = {
    "a law of exp": (lambda x: np.exp(x) * np.exp(x), of_x(lambda x: 2 * np.exp(2 * x)), EXACT_IF_DIGITS),
    "sin² + cos² = 1": (np.tan, of_x(lambda x: 1 / np.cos(x) ** 2), EXACT_IF_DIGITS),
    "a cast": (lambda x: x.astype(np.float64) ** 2, of_x(lambda x: 2 * x), CAST),
    "no rule": (np.arcsinh, of_x(lambda x: 1 / np.sqrt(1 + x * x)), "no rule is known for np.arcsinh"),
    "a constant": (lambda x: x / 0.123456789123, lambda dy, x: dy * (1 / 0.123456789123), EXACT_IF_DIGITS),
}
"""Right, and beyond what the proof knows: (f, vjp, what it says)."""
