"""Right backwards that agree with forward by a law, or as far as floats can."""

import math

import numpy as np

from tests.gradcheck.attacks.formulas import (
    INF,
    SOME,
    UP,
    W,
    X,
    Z,
    cosine,
    cosine_vjp,
    length,
    normed,
    normed_vjp,
    of_x,
    sigmoid,
    softmax,
    softmax_vjp,
)

ALPHA, SCALE = 1.6732632423543772, 1.0507009873554805


def stable_bce(x):
    return (np.maximum(x, 0) - x * SOME + np.log1p(np.exp(-np.abs(x)))).sum()


def log_softmax(x):
    s = x - x.max(axis=1, keepdims=True)
    return s - np.log(np.exp(s).sum(axis=1, keepdims=True))


def scaled(scale):
    return {
        f"LayerNorm at {scale:g}": (lambda x: normed(x, 0), lambda dy, x: normed_vjp(dy, x, 0), scale * X),
        f"a root at {scale:g}": (lambda x: np.sqrt(1 + x * x), of_x(lambda x: x / np.sqrt(1 + x * x)), scale * X),
        f"a direction at {scale:g}": (
            lambda x: x / length(x),
            lambda dy, x: (dy - x * (dy * x).sum(1, keepdims=True) / length(x) ** 2) / length(x),
            scale * X,
        ),
        f"a power at {scale:g}": (lambda x: x**1.7, of_x(lambda x: 1.7 * x**0.7), scale * UP),
    }


def scaled_beyond(scale):
    return {
        f"a power by logs at {scale:g}": (
            lambda x: np.exp(1.7 * np.log(x)),
            of_x(lambda x: 1.7 * x**0.7),
            scale * UP,
        ),
        f"arcsinh at {scale:g}": (np.arcsinh, of_x(lambda x: 1 / np.sqrt(1 + x * x)), scale * X),
        f"log(1 + x²) at {scale:g}": (
            lambda x: np.log((x + 1j).real ** 2 + 1),
            of_x(lambda x: 2 * x / (1 + x * x)),
            scale * X,
        ),
    }


SCALES = (1e-6, 1e-5, 1e-3, 1e3, 1e6)
FLOATS = {
    "LayerNorm over 2": (normed, normed_vjp, X[:, :2]),
    "LayerNorm over 2 without ε": (lambda x: normed(x, 0), lambda dy, x: normed_vjp(dy, x, 0), X[:, :2]),
    "LayerNorm at a mean of 1e6": (normed, normed_vjp, X + 1e6),
    "tanh at 18": (np.tanh, of_x(lambda x: 1 - np.tanh(x) ** 2), np.array([0.5, 18.0, -17.0])),
    "tanh at 18 alone": (np.tanh, of_x(lambda x: 1 - np.tanh(x) ** 2), np.array([18.0])),
    "dy/cosh² at 70": (np.tanh, of_x(lambda x: 1 / np.cosh(x) ** 2), np.array([0.5, 70.0])),
    "sigmoid at ±40": (sigmoid, of_x(lambda x: sigmoid(x) * (1 - sigmoid(x))), np.array([40.0, -40.0, 1.0])),
    "sigmoid at 40 alone": (sigmoid, of_x(lambda x: sigmoid(x) * (1 - sigmoid(x))), np.array([40.0])),
    "softmax at ±1000": (softmax, softmax_vjp, 1000 * X),
    "a saturated row": (softmax, softmax_vjp, np.array([[0.5, 1.0, 0.0], [60.0, 0.0, -9.0]])),
    "log softmax at 700": (
        log_softmax,
        lambda dy, x: dy - np.exp(log_softmax(x)) * dy.sum(axis=1, keepdims=True),
        700 * X,
    ),
    "softplus at 800": (
        lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))),
        of_x(lambda x: np.where(x > 0, 1 / (1 + np.exp(-np.abs(x))), (e := np.exp(-np.abs(x))) / (1 + e))),
        np.array([800.0, -800.0, 1.0]),
    ),
    "BCE at ±50": (stable_bce, lambda dy, x: dy * (sigmoid(x) - SOME), np.array([50.0, -50.0, 1.0, 30.0])),
    "e^(−x²) at 20": (lambda x: np.exp(-x * x), of_x(lambda x: -2 * x * np.exp(-x * x)), np.array([1.0, 20.0])),
    "E[x²] − E[x]²": (
        lambda x: (x * x).mean(1) - x.mean(1) ** 2,
        lambda dy, x: dy[:, None] * 2 * (x - x.mean(1, keepdims=True)) / x.shape[1],
        X + 1e3,
    ),
    "nearly parallel": (
        cosine,
        cosine_vjp,
        X,
        X * (1 + 1e-5 * Z),
    ),
    "beside 1e-8": (lambda x: x / (np.abs(x) + 1e-8), of_x(lambda x: 1e-8 / (np.abs(x) + 1e-8) ** 2), X),
    "√(x² + ε)": (lambda x: np.sqrt(x * x + 1e-12), of_x(lambda x: x / np.sqrt(x * x + 1e-12)), X),
    "x¹⁰ at 1e-3": (lambda x: x**10, of_x(lambda x: 10 * x**9), 1e-3 * X),
    "1e-200 x²": (lambda x: 1e-200 * x * x, of_x(lambda x: 2e-200 * x), X),
    "tan near π/2": (np.tan, of_x(lambda x: 1 + np.tan(x) ** 2), np.array([1.5707, 0.3])),
    "a product of 1e-5": (np.prod, lambda dy, x: dy * np.prod(x) / x, 1e-5 * UP),
    **{name: case for scale in SCALES for name, case in scaled(scale).items()},
}
"""What floats lose at large, small and saturated numbers is told from a mistake by the conditioning of the formula."""


def attention(x, mask):
    return softmax(x @ x.T + mask)


def attention_vjp(dy, x, mask):
    ds = softmax_vjp(dy, x @ x.T + mask)
    return (ds + ds.T) @ x, None


SECOND = np.array([[0, -INF, 0]])


LAWS = {
    "a mask of −∞": (attention, attention_vjp, W, SECOND),
    "a mask of log 0": (
        lambda x: softmax(x + np.log(np.array([1.0, 0.0, 1.0]))),
        lambda dy, x: softmax_vjp(dy, x + np.log(np.array([1.0, 0.0, 1.0]))),
        X,
    ),
    "where −∞": (
        lambda x: softmax(np.where(SOME[:3], x, -INF)),
        lambda dy, x: SOME[:3] * softmax_vjp(dy, np.where(SOME[:3], x, -INF)),
        X,
    ),
    "√a √a": (lambda x: np.sqrt(x) * x, of_x(lambda x: 1.5 * x / np.sqrt(x)), UP),
    "x = √x √x": (lambda x: x * x, of_x(lambda x: 2 * np.sqrt(x) * np.sqrt(x)), UP),
    "x√x": (lambda x: x**1.5, of_x(lambda x: 1.5 * np.sqrt(x)), UP),
    "√(x²)": (lambda x: np.sqrt(x * x), of_x(lambda x: x / np.sqrt(x * x)), X),
    "SELU by y + λα": (
        lambda x: SCALE * np.where(x > 0, x, ALPHA * (np.exp(x) - 1)),
        of_x(lambda x: np.where(x > 0, SCALE, SCALE * ALPHA * (np.exp(x) - 1) + SCALE * ALPHA)),
        X,
    ),
    "ELU by y + α": (
        lambda x: np.where(x > 0, x, 1.5 * (np.exp(x) - 1)),
        of_x(lambda x: np.where(x > 0, 1, 1.5 * (np.exp(x) - 1) + 1.5)),
        X,
    ),
    "a maximum on one side": (
        softmax,
        lambda dy, x: (p := (e := np.exp(x)) / e.sum(1, keepdims=True)) * (dy - (dy * p).sum(1, keepdims=True)),
        X,
    ),
    "sigmoid by two halves": (
        lambda x: np.where(x > 0, 1 / (1 + np.exp(-np.abs(x))), (e := np.exp(-np.abs(x))) / (1 + e)),
        of_x(lambda x: sigmoid(x) * (1 - sigmoid(x))),
        X,
    ),
    "1 − σ(x) = σ(−x)": (sigmoid, of_x(lambda x: sigmoid(x) * sigmoid(-x)), X),
    "log(1 + eˣ)": (lambda x: np.log1p(np.exp(x)), of_x(lambda x: 1 - np.exp(-np.log1p(np.exp(x)))), X),
    "e^(log softmax)": (
        lambda x: np.exp(log_softmax(x)),
        softmax_vjp,
        X,
    ),
    "swish by y": (
        lambda x: x * sigmoid(x),
        of_x(lambda x: (y := x * sigmoid(x)) + sigmoid(x) * (1 - y)),
        X,
    ),
    "tanh by sigmoid": (lambda x: 2 * sigmoid(2 * x) - 1, of_x(lambda x: 1 - (2 * sigmoid(2 * x) - 1) ** 2), X),
    "1/x by logs": (lambda x: np.log(x) * 3, of_x(lambda x: 3 * np.exp(-np.log(x))), UP),
    "an odd function": (np.tanh, of_x(lambda x: 1 - np.tanh(-x) ** 2), X),
}
"""Small laws: of roots, exponentials and their logarithms."""


def logistic(x):
    slope = 1
    for _ in range(30):
        x, slope = 3.7 * x * (1 - x), slope * 3.7 * (1 - 2 * x)
    return x, slope


BEYOND = {
    "masks of −1e9": (attention, attention_vjp, W, np.array([[0, -1e9, 0]])),
    "masks of −1e4": (
        lambda x: softmax(x - 1e4 * ~SOME[:3]),
        lambda dy, x: SOME[:3] * softmax_vjp(dy, np.where(SOME[:3], x, -1e4)),
        X,
    ),
    "e^a e^b": (lambda x: np.exp(x) * np.exp(x), of_x(lambda x: 2 * np.exp(2 * x)), X),
    "1 + tan² = 1/cos²": (np.tan, of_x(lambda x: 1 / np.cos(x) ** 2), X),
    "log(ab)": (lambda x: np.log(3 * x) * x, of_x(lambda x: np.log(x) + math.log(3) + 1), UP),
    "sin 2x": (lambda x: np.sin(x) ** 2, of_x(lambda x: np.sin(2 * x)), X),
    "1 − tanh² = 1/cosh²": (np.tanh, of_x(lambda x: 1 / np.cosh(x) ** 2), X),
    "σ by tanh": (sigmoid, of_x(lambda x: (1 - np.tanh(x / 2) ** 2) / 4), X),
    "a rounded constant": (lambda x: x / 0.123456789123, lambda dy, x: dy * (1 / 0.123456789123), X),
    "powers by logs": (lambda x: x**2.5, of_x(lambda x: 2.5 * np.exp(1.5 * np.log(x))), UP),
    "a loss of Python's": (lambda x: float((x * x).sum()), lambda dy, x: 2 * dy * x, X),
    "float32": (lambda x: np.tanh(x.astype(np.float32)), of_x(lambda x: 1 - np.tanh(x) ** 2), X),
    "a table": (
        lambda x: np.interp(x, [-2.0, 0.1, 3.0], [1.0, 0.0, 2.0]),
        of_x(lambda x: np.where(x < 0.1, -1 / 2.1, 2 / 2.9)),
        X,
    ),
    "a spectrum": (
        lambda x: np.fft.rfft(x).real,
        lambda dy, x: dy @ np.cos(np.outer([0, 1], np.arange(3)) * 2 * np.pi / 3),
        X,
    ),
    "a quantile": (lambda x: np.quantile(x, 0.25), lambda dy, x: dy * np.array([0.25, 0.75, 0, 0]), UP),
    **{name: case for scale in SCALES for name, case in scaled_beyond(scale).items()},
    "arctan2": (
        np.arctan2,
        lambda dy, x, z: (dy * z / (x * x + z * z), -dy * x / (x * x + z * z)),
        X,
        Z,
    ),
    "30 steps of a logistic map": (lambda x: logistic(x)[0], lambda dy, x: dy * logistic(x)[1], np.array([0.2, 0.35])),
}
"""What a small law does not cover: not proved, and never called wrong."""


EPSILONS = {
    "log(p + ε), with p − onehot": (
        lambda x: -np.log(softmax(x) + 1e-7)[[0, 1], [1, 2]].sum(),
        lambda dy, x: dy * (softmax(x) - np.eye(3)[[1, 2]]),
        X,
    ),
    "log(σ + ε), with σ − t": (
        lambda x: -(SOME * np.log(sigmoid(x) + 1e-7) + ~SOME * np.log(1 - sigmoid(x) + 1e-7)).sum(),
        lambda dy, x: dy * (sigmoid(x) - SOME),
        UP,
    ),
}
"""Right but for an ε that forward has and backward leaves out: what is told names it."""
