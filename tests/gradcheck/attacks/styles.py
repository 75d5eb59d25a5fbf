"""Right layers in other people's styles, at all scales of their inputs: none may be called wrong.

A style is a function of two that draw: inputs at the scale that is tried, and weights of the size 1.
"""

from types import SimpleNamespace

import numpy as np

from tests.gradcheck.attacks import contexts, nets
from tests.gradcheck.attacks.formulas import cosine, cosine_vjp, of_x, sigmoid
from tests.gradcheck.attacks.laws import ALPHA, SCALE


def rms_vjp(dy, x, g):
    r = np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-6)
    d = dy * g
    return d / r - x * (d * x).mean(axis=1, keepdims=True) / r**3, (dy * x / r).sum(axis=0)


def swiglu(x, w, v):
    a = x @ w
    return a * sigmoid(a) * (x @ v)


def swiglu_vjp(dy, x, w, v):
    a, b = x @ w, x @ v
    s = sigmoid(a)
    da, db = dy * b * (s + a * s * (1 - s)), dy * a * s
    return da @ w.T + db @ v.T, x.T @ da, x.T @ db


def rotary(x, sign=1):
    angle = np.arange(len(x))[:, None] / 10.0 ** np.arange(x.shape[1] // 2)
    even, odd = x[:, ::2], x[:, 1::2]
    cos, sin = np.cos(angle), sign * np.sin(angle)
    return np.stack([even * cos - odd * sin, even * sin + odd * cos], axis=2).reshape(x.shape)


TARGET = np.array([1.0, 0.0, 1.0, 0.0])


def bce(x):
    loss = (np.maximum(x, 0) - x * TARGET + np.log1p(np.exp(-np.abs(x)))).mean()
    return loss, (sigmoid(x) - TARGET) / x.size


def focal(x):
    """−(1 − p)² log p of the right class, by its logit."""
    log_p, p = -np.logaddexp(0, -x), sigmoid(x)
    return (-((1 - p) ** 2) * log_p).sum(), {"dx": 2 * p * (1 - p) ** 2 * log_p - (1 - p) ** 3}


def huber(x):
    return np.where(np.abs(x) < 1, x * x / 2, np.abs(x) - 0.5).mean(), np.clip(x, -1, 1) / x.size


def triplet_vjp(dy, a, p, n):
    on = dy * (((a - p) ** 2).sum(1) - ((a - n) ** 2).sum(1) + 0.2 > 0)
    on = 2 * on[:, None]
    return on * (n - p), on * (p - a), on * (a - n)


def upsampling(size):
    """The matrix of linear interpolation to twice the size."""
    at = np.linspace(0, size - 1, 2 * size)[:, None]
    return np.maximum(0, 1 - np.abs(at - np.arange(size)))


def crf_forward(emissions, transitions):
    alphas = [emissions[0]]
    for emission in emissions[1:]:
        scores = alphas[-1][:, None] + transitions
        top = scores.max(axis=0)
        alphas.append(top + np.log(np.exp(scores - top).sum(axis=0)) + emission)
    top = alphas[-1].max()
    total = top + np.log(np.exp(alphas[-1] - top).sum())
    return total, SimpleNamespace(alphas=alphas, transitions=transitions, total=total)


def crf_backward(dout, cache):
    dalpha = dout * np.exp(cache.alphas[-1] - cache.total)
    demissions, dtransitions = [dalpha], np.zeros(cache.transitions.shape)
    for alpha in cache.alphas[-2::-1]:
        scores = alpha[:, None] + cache.transitions
        p = np.exp(scores - scores.max(axis=0))
        p = p / p.sum(axis=0) * dalpha
        dtransitions += p
        demissions.append(dalpha := p.sum(axis=1))
    return np.stack(demissions[::-1]), dtransitions


def gaussian(mean, log_var):
    square = (mean - TARGET) ** 2 * np.exp(-log_var)
    return 0.5 * (log_var + square).sum(), {"mean": (mean - TARGET) * np.exp(-log_var), "log_var": 0.5 * (1 - square)}


def weight_norm_vjp(dy, x, v, g):
    n = np.linalg.norm(v, axis=0)
    dw = x.T @ dy
    along = (dw * v).sum(axis=0) / n
    return dy @ (g * v / n).T, g / n * (dw - v * along / n), along


GRAPH = np.array([[0.5, 0.5, 0], [0.25, 0.5, 0.25], [0, 0.5, 0.5]])
ALL = (1e-6, 1e-3, 1.0, 1e3, 1e6)
IDS = np.array([[0, 2, 2], [1, 0, 2]])


def batch(mode):
    return {"mode": mode, "running_mean": np.array([0.1, -0.2, 0.3]), "running_var": np.array([0.5, 1.5, 2.0])}


def styled(make, *scales):
    return SimpleNamespace(make=make, scales=scales or ALL)


STYLES = {
    "affine": styled(lambda n, u: (nets.affine_forward, nets.affine_backward, n(2, 2, 2), u(4, 3), u(3))),
    "conv2d in loops": styled(lambda n, u: (nets.conv_forward, nets.conv_backward, n(1, 2, 3, 2), u(2, 2, 3, 3), u(2))),
    "conv2d by im2col": styled(lambda n, u: (nets.im2col_forward, nets.im2col_backward, n(2, 2, 3, 4), u(2, 2, 2, 2))),
    "max pool": styled(lambda n, u: (nets.max_pool_forward, nets.max_pool_backward, n(1, 2, 4, 4))),
    "average pool": styled(lambda n, u: (nets.avg_pool_forward, nets.avg_pool_backward, n(1, 2, 4, 4))),
    "batch norm": styled(
        lambda n, u: (nets.batchnorm_forward, nets.batchnorm_backward, n(4, 3), u(3), u(3), batch("train"))
    ),
    "batch norm in test": styled(
        lambda n, u: (nets.batchnorm_forward, nets.batchnorm_backward, n(4, 3), u(3), u(3), batch("test"))
    ),
    "group norm": styled(lambda n, u: (nets.groupnorm_forward, nets.groupnorm_backward, n(2, 6), u(6), u(6), 2)),
    "layer norm": styled(lambda n, u: (nets.groupnorm_forward, nets.groupnorm_backward, n(2, 5), u(5), u(5), 1)),
    "RNN": styled(lambda n, u: (nets.rnn_forward, nets.rnn_backward, n(3, 2, 2), u(2, 3), u(2, 3), u(3, 3))),
    "LSTM": styled(lambda n, u: (nets.lstm_forward, nets.lstm_backward, n(2, 2), u(2, 3), u(2, 3), u(5, 12))),
    "GRU": styled(lambda n, u: (nets.gru_forward, nets.gru_backward, n(2, 2), u(2, 3), u(3, 2, 3), u(3, 3, 3))),
    "SVM loss": styled(lambda n, u: (nets.svm_loss, n(3, 4), np.array([0, 3, 1]))),
    "softmax loss": styled(lambda n, u: (nets.softmax_loss, n(3, 4), np.array([0, 3, 1]))),
    "dropout": styled(
        lambda n, u: (nets.dropout_forward, nets.dropout_backward, n(3, 4), {"p": 0.7, "seed": 3}),
    ),
    "embedding": styled(lambda n, u: (nets.embedding_forward, nets.embedding_backward, IDS, n(3, 2))),
    "GELU": styled(lambda n, u: (nets.gelu_forward, nets.gelu_backward, n(3, 4))),
    "causal attention": styled(lambda n, u: (nets.attention_forward, nets.attention_backward, n(3, 4), u(4, 12), 2)),
    "SiLU": styled(lambda n, u: (contexts.Silu, n(3, 4))),
    "softplus": styled(lambda n, u: (contexts.Softplus, n(3, 4))),
    "mish": styled(lambda n, u: (contexts.Mish, n(3, 4))),
    "matmul of stacks": styled(lambda n, u: (contexts.MatMul, n(2, 2, 3), u(2, 3, 2))),
    "log softmax": styled(lambda n, u: (contexts.LogSoftmax, n(3, 4))),
    "PReLU": styled(lambda n, u: (contexts.Prelu(np.abs(u(4))), n(3, 4))),
    "MLP": styled(lambda n, u: (contexts.Mlp(u(3, 4), u(4, 2)), n(3, 3))),
    "RMS norm": styled(
        lambda n, u: (
            lambda x, g: g * x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + 1e-6),
            rms_vjp,
            n(3, 4),
            u(4),
        )
    ),
    "SwiGLU": styled(lambda n, u: (swiglu, swiglu_vjp, n(3, 2), u(2, 4), u(2, 4))),
    "rotary": styled(lambda n, u: (rotary, lambda dy, x: rotary(dy, -1), n(3, 4))),
    "BCE": styled(lambda n, u: (bce, n(4))),
    "focal loss": styled(lambda n, u: (focal, n(4))),
    "Huber": styled(lambda n, u: (huber, n(3, 4))),
    "hinge": styled(
        lambda n, u: (lambda x: np.maximum(0, 1 - x).sum(), lambda dy, x: -dy * np.where(x < 1, 1.0, 0.0), n(5))
    ),
    "triplet": styled(
        lambda n, u: (
            lambda a, p, n: np.maximum(((a - p) ** 2).sum(1) - ((a - n) ** 2).sum(1) + 0.2, 0),
            triplet_vjp,
            *(n(3, 2) for _ in range(3)),
        )
    ),
    "cosine similarity": styled(lambda n, u: (cosine, cosine_vjp, n(3, 4), u(3, 4))),
    "SELU": styled(
        lambda n, u: (
            lambda x: SCALE * np.where(x > 0, x, ALPHA * np.expm1(np.minimum(x, 0))),
            of_x(lambda x: SCALE * np.where(x > 0, 1, ALPHA * np.exp(np.minimum(x, 0)))),
            n(3, 4),
        )
    ),
    "bilinear upsampling": styled(
        lambda n, u: (
            lambda x: np.einsum("ih,chw,jw->cij", upsampling(2), x, upsampling(3)),
            lambda dy, x: np.einsum("ih,cij,jw->chw", upsampling(2), dy, upsampling(3)),
            n(2, 2, 3),
        )
    ),
    "pixel shuffle": styled(
        lambda n, u: (
            lambda x: x.reshape(2, 2, 2, 3).transpose(2, 0, 3, 1).reshape(4, 6),
            lambda dy, x: dy.reshape(2, 2, 3, 2).transpose(1, 3, 0, 2).reshape(4, 2, 3),
            n(4, 2, 3),
        )
    ),
    "cumulative sum": styled(
        lambda n, u: (lambda x: np.cumsum(x, axis=1), lambda dy, x: np.cumsum(dy[:, ::-1], axis=1)[:, ::-1], n(3, 4))
    ),
    "CRF": styled(lambda n, u: (crf_forward, crf_backward, n(3, 3), u(3, 3))),
    "Poisson NLL": styled(
        lambda n, u: (lambda x: ((np.exp(x) - TARGET * x).sum(), np.exp(x) - TARGET), n(4)), *ALL[:3]
    ),
    "Gaussian NLL": styled(lambda n, u: (gaussian, n(4), u(4))),
    "weight norm": styled(
        lambda n, u: (lambda x, v, g: x @ (g * v / np.linalg.norm(v, axis=0)), weight_norm_vjp, n(3, 2), u(2, 3), u(3))
    ),
    "Gram matrix": styled(lambda n, u: (lambda x: x @ x.T / x.size, lambda dy, x: (dy + dy.T) @ x / x.size, n(3, 4))),
    "GCN": styled(
        lambda n, u: (
            lambda x, w: np.maximum(GRAPH @ x @ w, 0),
            lambda dy, x, w: (GRAPH.T @ (d := dy * (GRAPH @ x @ w > 0)) @ w.T, (GRAPH @ x).T @ d),
            n(3, 2),
            u(2, 4),
        )
    ),
}


def at(name, scale):
    """What check_gradients is given for a style, at a scale of its inputs; a function that makes it anew."""

    def make():
        rng = np.random.default_rng(len(name))
        return STYLES[name].make(
            lambda *shape: scale * rng.standard_normal(shape), lambda *shape: rng.standard_normal(shape)
        )

    return make
