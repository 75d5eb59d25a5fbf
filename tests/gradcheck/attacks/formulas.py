"""Numbers and formulas that the attacks share."""

import numpy as np

rng = np.random.default_rng(11)
X = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])
UP = np.array([0.5, 1.0, 2.0, 3.0])
W, Z = rng.standard_normal((3, 3)) + 2 * np.eye(3), rng.standard_normal((2, 3))
AT_0 = np.array([[0.0, -1.0, 2.0], [1.0, 0.0, -0.75]])
TWO, MINUS = np.full(3, 2.0), np.array([-2.0, 1.0])
SOME = np.array([True, False, True, True])  # where UP is not 1
INF = np.inf


def of_x(slope):
    """The vjp of a function of each number, from its slope."""
    return lambda dy, x: dy * slope(x)


def named(**groups):
    """The cases of all groups, by the name of the group and their own."""
    return {f"{group}: {name}": case for group, cases in groups.items() for name, case in cases.items()}


def of_each(table, x):
    """The cases of functions of each number: (f, slope) by name."""
    return {name: (f, of_x(slope), x) for name, (f, slope) in table.items()}


def softmax(x):
    p = np.exp(x - x.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


def softmax_vjp(dy, x):
    p = softmax(x)
    return p * (dy - (dy * p).sum(axis=1, keepdims=True))


def log_softmax(x):
    s = x - x.max(axis=1, keepdims=True)
    return s - np.log(np.exp(s).sum(axis=1, keepdims=True))


def attention(x, mask):
    return softmax(x @ x.T + mask)


def attention_vjp(dy, x, mask):
    ds = softmax_vjp(dy, x @ x.T + mask)
    return (ds + ds.T) @ x, None


def normed(x, eps=1e-5, axis=1):
    return (x - x.mean(axis, keepdims=True)) / np.sqrt(x.var(axis, keepdims=True) + eps)


def normed_vjp(dy, x, eps=1e-5, axis=1):
    y = normed(x, eps, axis)
    dx = dy - dy.mean(axis, keepdims=True) - y * (dy * y).mean(axis, keepdims=True)
    return dx / np.sqrt(x.var(axis, keepdims=True) + eps)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def length(x):
    return np.sqrt((x * x).sum(axis=1, keepdims=True))


def cosine(x, z):
    return (x * z).sum(1, keepdims=True) / (length(x) * length(z))


def cosine_vjp(dy, x, z):
    u, v, c = x / length(x), z / length(z), cosine(x, z)
    return dy * (v - c * u) / length(x), dy * (u - c * v) / length(z)
