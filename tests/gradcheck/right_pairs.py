"""Right derivatives of one's own, as people write them in plain NumPy: (f, vjp, inputs) by name, in many styles."""

import math

import numpy as np

rng = np.random.default_rng(7)
X, W, B = rng.standard_normal((5, 4)), rng.standard_normal((4, 3)), rng.standard_normal(3)
LABELS = np.array([0, 2, 1, 2, 0])


def softmax(x):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return e / np.sum(e, axis=1, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def batch_norm(x, g, b):
    return g * (x - np.mean(x, axis=0)) / np.sqrt(np.var(x, axis=0) + 1e-5) + b


def batch_norm_vjp(dy, x, g, b):
    n, std = len(x), np.sqrt(np.var(x, axis=0) + 1e-5)
    x_hat = (x - x.mean(axis=0)) / std
    dx_hat = dy * g
    dx = (n * dx_hat - dx_hat.sum(0) - x_hat * (dx_hat * x_hat).sum(0)) / (n * std)
    return dx, (dy * x_hat).sum(0), dy.sum(0)


def log_softmax(x):
    shifted = x - x.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def cross_entropy(x):
    return -log_softmax(x)[np.arange(len(LABELS)), LABELS].mean()


def cross_entropy_vjp(dy, x):
    d = softmax(x)
    d[np.arange(len(LABELS)), LABELS] -= 1
    return dy * d / len(LABELS)


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


def max_pool(x):
    return np.stack([x[:2].max(axis=0), x[2:].max(axis=0)])


def max_pool_vjp(dy, x):
    dx = np.zeros_like(x)
    for i, rows in enumerate((slice(0, 2), slice(2, None))):
        at = x[rows].argmax(axis=0)
        dx[rows][at, np.arange(x.shape[1])] += dy[i]
    return dx


def cosine(a, b):
    return np.sum(a * b, axis=1) / (np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1))


def cosine_vjp(dy, a, b):
    na, nb = np.linalg.norm(a, axis=1, keepdims=True), np.linalg.norm(b, axis=1, keepdims=True)
    c = cosine(a, b)[:, None]
    return dy[:, None] * (b / (na * nb) - c * a / na**2), dy[:, None] * (a / (na * nb) - c * b / nb**2)


def attention(q, k, v):
    return softmax(np.einsum("id,jd->ij", q, k) / np.sqrt(q.shape[1])) @ v


def attention_vjp(dy, q, k, v):
    p = softmax(q @ k.T / math.sqrt(q.shape[1]))
    dp = dy @ v.T
    ds = p * (dp - np.einsum("ij,ij->i", dp, p)[:, None]) / math.sqrt(q.shape[1])
    return ds @ k, ds.T @ q, p.T @ dy


def rms_norm(x, g):
    return x * g / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6)


def rms_norm_vjp(dy, x, g):
    r = (np.mean(np.square(x), axis=-1, keepdims=True) + 1e-6) ** -0.5
    return r * (g * dy - x * np.mean(g * dy * x, -1, keepdims=True) * r**2), (dy * x * r).sum(axis=0)


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def gelu_vjp(dy, x):
    t = np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))
    return dy * (0.5 * (1 + t) + 0.5 * x * (1 - t**2) * np.sqrt(2 / np.pi) * (1 + 3 * 0.044715 * x**2))


def huber(x):
    return np.where(np.abs(x) < 1, 0.5 * x * x, np.abs(x) - 0.5).sum()


def smoothed(x):
    soft = np.full(x.shape, 0.1 / 3)
    soft[np.arange(len(LABELS)), LABELS] += 0.9
    return -(soft * np.log(softmax(x))).sum(axis=1).mean()


def smoothed_vjp(dy, x):
    soft = 0.9 * np.eye(4)[LABELS] + 0.1 / 3
    return dy * (soft.sum(1, keepdims=True) * softmax(x) - soft) / len(x)


PAIRS = {
    "affine": (lambda x, w, b: x @ w + b, lambda dy, x, w, b: (dy @ w.T, x.T @ dy, dy.sum(axis=0)), (X, W, B)),
    "affine with dot and tensordot": (
        lambda x, w, b: np.dot(x, w) + b,
        lambda dy, x, w, b: (np.tensordot(dy, w, axes=([1], [1])), np.dot(x.T, dy), np.add.reduce(dy)),
        (X, W, B),
    ),
    "ReLU, maximum": (lambda x: np.maximum(x, 0), lambda dy, x: dy * (x > 0), (X,)),
    "ReLU, in place": (lambda x: np.where(x > 0, x, 0.01 * x), lambda dy, x: np.where(x > 0, dy, 0.01 * dy), (X,)),
    "sigmoid": (sigmoid, lambda dy, x: dy * sigmoid(x) * (1 - sigmoid(x)), (X,)),
    "SiLU": (lambda x: x * sigmoid(x), lambda dy, x: dy * sigmoid(x) * (1 + x * (1 - sigmoid(x))), (X,)),
    "softplus": (lambda x: np.log1p(np.exp(x)), lambda dy, x: dy / (1 + np.exp(-x)), (X,)),
    "ELU": (
        lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
        lambda dy, x: dy * np.where(x > 0, 1.0, np.exp(np.minimum(x, 0))),
        (X,),
    ),
    "tanh by exp": (
        lambda x: (np.exp(x) - np.exp(-x)) / (np.exp(x) + np.exp(-x)),
        lambda dy, x: dy * (1 - ((np.exp(x) - np.exp(-x)) / (np.exp(x) + np.exp(-x))) ** 2),
        (X,),
    ),
    "log_softmax": (
        log_softmax,
        lambda dy, x: dy - np.exp(log_softmax(x)) * dy.sum(axis=1, keepdims=True),
        (X,),
    ),
    "cross-entropy": (cross_entropy, cross_entropy_vjp, (X,)),
    "label smoothing": (smoothed, smoothed_vjp, (X,)),
    "batch norm by np.var": (batch_norm, batch_norm_vjp, (X, X[0] + 2, X[1])),
    "RMSNorm": (rms_norm, rms_norm_vjp, (X, X[0] + 2)),
    "standard deviation": (
        lambda x: np.std(x, axis=1),
        lambda dy, x: dy[:, None] * (x - x.mean(1, keepdims=True)) / (x.shape[1] * np.std(x, axis=1, keepdims=True)),
        (X,),
    ),
    "convolution in loops": (convolution, convolution_vjp, (X, rng.standard_normal((2, 4, 3)))),
    "max pooling": (max_pool, max_pool_vjp, (X,)),
    "cosine by norm": (cosine, cosine_vjp, (X, X[::-1] + 0.5)),
    "attention by einsum": (attention, attention_vjp, (X, X[:3] + 1, X[2:])),
    "bilinear": (
        lambda x, w, z: np.einsum("ni,ij,nj->n", x, w, z),
        lambda dy, x, w, z: (dy[:, None] * (z @ w.T), (x * dy[:, None]).T @ z, dy[:, None] * (x @ w)),
        (X, W, rng.standard_normal((5, 3))),
    ),
    "GELU by tanh": (gelu, gelu_vjp, (X,)),
    "L1 norm": (lambda x: np.abs(x).sum(axis=0), lambda dy, x: np.sign(x) * dy, (X,)),
    "Huber loss": (huber, lambda dy, x: dy * np.clip(x, -1, 1), (X,)),
    "a power of 3/2": (lambda x: np.abs(x) ** 1.5, lambda dy, x: dy * 1.5 * np.sqrt(np.abs(x)) * np.sign(x), (X,)),
    "a power of 0.3": (lambda x: np.abs(x) ** 0.3, lambda dy, x: dy * 0.3 * np.abs(x) ** -0.7 * np.sign(x), (X,)),
    "cumulative sum": (lambda x: np.cumsum(x, axis=0), lambda dy, x: np.cumsum(dy[::-1], axis=0)[::-1], (X,)),
    "sine and cosine": (lambda x: np.sin(x) * x, lambda dy, x: dy * (np.sin(x) + x * np.cos(x)), (X,)),
    "rotary": (
        lambda x: np.concatenate([x[:, :2] * 0.6 - x[:, 2:] * 0.8, x[:, :2] * 0.8 + x[:, 2:] * 0.6], axis=1),
        lambda dy, x: np.hstack([dy[:, :2] * 0.6 + dy[:, 2:] * 0.8, -dy[:, :2] * 0.8 + dy[:, 2:] * 0.6]),
        (X,),
    ),
    "GLU": (
        lambda x: x[:, :2] * sigmoid(x[:, 2:]),
        lambda dy, x: np.concatenate(
            [dy * sigmoid(x[:, 2:]), dy * x[:, :2] * sigmoid(x[:, 2:]) * (1 - sigmoid(x[:, 2:]))], axis=1
        ),
        (X,),
    ),
}
"""All of them are proved."""

UNPROVED = {
    "a law of exp": (lambda x: np.exp(x) * np.exp(x), lambda dy, x: dy * 2 * np.exp(2 * x), (X,)),
    "sin² + cos² = 1": (lambda x: np.tan(x), lambda dy, x: dy / np.cos(x) ** 2, (X,)),
    "a cast": (lambda x: x.astype(np.float64) ** 2, lambda dy, x: 2 * dy * x, (X,)),
    "no rule": (lambda x: np.arcsinh(x), lambda dy, x: dy / np.sqrt(1 + x * x), (X,)),
    "a rounded constant": (lambda x: x / 0.123456789123, lambda dy, x: dy * (1 / 0.123456789123), (X,)),
}
"""Right, and beyond what the proof knows."""
