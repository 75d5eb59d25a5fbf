"""Right layers in many styles, as courses and libraries have them, at all scales of their first input."""

import numpy as np

from npbert.gradcheck.inputs import is_float_array
from tests.gradcheck import courses
from tests.gradcheck.test_prove import PAIRS


def batchnorm_forward(x, gamma, beta, bn_param):
    mean, var = x.mean(axis=0), x.var(axis=0)
    bn_param["running_mean"] = 0.9 * bn_param.get("running_mean", np.zeros(x.shape[1])) + 0.1 * mean
    std = np.sqrt(var + 1e-5)
    x_hat = (x - mean) / std
    return gamma * x_hat + beta, (x_hat, std, gamma)


def batchnorm_backward(dout, cache):
    x_hat, std, gamma = cache
    n, dx_hat = len(dout), dout * gamma
    dx = (n * dx_hat - dx_hat.sum(0) - x_hat * (dx_hat * x_hat).sum(0)) / (n * std)
    return dx, (dout * x_hat).sum(axis=0), dout.sum(axis=0)


def embedding_backward(dout, cache):
    ids, shape = cache
    dw = np.zeros(shape)
    np.add.at(dw, ids, dout)
    return None, dw


def causal_forward(x, wqkv, heads):
    t, d = x.shape
    q, k, v = ((x @ w).reshape(t, heads, -1).swapaxes(0, 1) for w in np.split(wqkv, 3, axis=1))
    scores = q @ k.swapaxes(1, 2) / np.sqrt(d // heads)
    scores = np.where(np.tril(np.ones((t, t))) == 1, scores, -np.inf)
    p = np.exp(scores - scores.max(axis=-1, keepdims=True))
    p = p / p.sum(axis=-1, keepdims=True)
    return (p @ v).swapaxes(0, 1).reshape(t, d), {"x": x, "w": wqkv, "q": q, "k": k, "v": v, "p": p}


def causal_backward(dout, cache):
    q, k, v, p = (cache[key] for key in "qkvp")
    t, d = dout.shape
    do = dout.reshape(t, len(q), -1).swapaxes(0, 1)
    dp = do @ v.swapaxes(1, 2)
    ds = p * (dp - (dp * p).sum(axis=-1, keepdims=True)) / np.sqrt(d // len(q))
    found = ds @ k, ds.swapaxes(1, 2) @ q, p.swapaxes(1, 2) @ do
    dqkv = np.concatenate([each.swapaxes(0, 1).reshape(t, d) for each in found], axis=1)
    return dqkv @ cache["w"].T, cache["x"].T @ dqkv


class MatMul:
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a @ b

    @staticmethod
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        return grad @ b.swapaxes(-1, -2), a.swapaxes(-1, -2) @ grad


TARGET = np.array([1.0, 0.0, 1.0, 0.0])
LABELS = np.array([0, 3, 1])


def gaussian(mean, log_var):
    square = (mean - TARGET) ** 2 * np.exp(-log_var)
    return 0.5 * (log_var + square).sum(), {"mean": (mean - TARGET) * np.exp(-log_var), "log_var": 0.5 * (1 - square)}


def n(*shape):
    return np.random.default_rng(len(shape) + sum(shape)).standard_normal(shape)


STYLES = {
    **{name: (f, vjp, *inputs) for name, (f, vjp, inputs) in PAIRS.items()},
    "affine, ReLU": (courses.sandwich_forward, courses.sandwich_backward, n(2, 4), n(4, 3), n(3)),
    "dropout": (courses.dropout_forward, courses.dropout_backward, n(4, 5), {"p": 0.7, "seed": 3}),
    "LSTM": (courses.lstm_forward, courses.lstm_backward, n(3, 2), n(3, 4)),
    "batch norm": (batchnorm_forward, batchnorm_backward, n(4, 3), n(3), n(3), {}),
    "embedding": (lambda ids, w: (w[ids], (ids, w.shape)), embedding_backward, LABELS, n(4, 2)),
    "causal attention": (causal_forward, causal_backward, n(3, 4), n(4, 12), 2),
    "matmul of stacks": (MatMul, n(2, 2, 3), n(2, 3, 2)),
    "Gaussian NLL": (gaussian, n(4), n(4)),
}


def at(scale):
    """What check_gradients is given for each style, with its first array of floats at a scale."""
    return {name: _scaled(case, scale) for name, case in STYLES.items()}


def _scaled(case, scale):
    first = next(number for number, each in enumerate(case) if is_float_array(each))
    return *case[:first], scale * case[first], *case[first + 1 :]
