"""Right backwards that agree with forward by a law, or as far as floats can."""

import numpy as np

from tests.gradcheck.attacks.formulas import (
    INF,
    UP,
    W,
    X,
    Z,
    attention,
    attention_vjp,
    cosine,
    cosine_vjp,
    length,
    log_softmax,
    normed,
    normed_vjp,
    of_each,
    of_x,
    sigmoid,
    softmax_vjp,
)

SCALES = (1e-6, 1e-3, 1e6)


def at_scales(forms):
    """The cases (f, vjp, x), each at all scales of x."""
    return {f"{name} at {scale:g}": (f, vjp, scale * x) for name, (f, vjp, x) in forms.items() for scale in SCALES}


FLOATS = {
    "LayerNorm over 2": (normed, normed_vjp, X[:, :2]),
    "tanh at 18": (np.tanh, of_x(lambda x: 1 - np.tanh(x) ** 2), np.array([18.0, -17.0])),
    "dy/cosh² at 70": (np.tanh, of_x(lambda x: 1 / np.cosh(x) ** 2), np.array([0.5, 70.0])),
    "sigmoid at 40": (sigmoid, of_x(lambda x: sigmoid(x) * (1 - sigmoid(x))), np.array([40.0, -40.0])),
    "log softmax at 700": (log_softmax, lambda dy, x: dy - np.exp(log_softmax(x)) * dy.sum(1, keepdims=True), 700 * X),
    "nearly parallel": (cosine, cosine_vjp, X, X * (1 + 1e-5 * Z)),
    "tan near π/2": (np.tan, of_x(lambda x: 1 + np.tan(x) ** 2), np.array([1.5707, 0.3])),
    **at_scales(
        {
            "LayerNorm": (lambda x: normed(x, 0), lambda dy, x: normed_vjp(dy, x, 0), X),
            "a root": (lambda x: np.sqrt(1 + x * x), of_x(lambda x: x / np.sqrt(1 + x * x)), X),
            "a direction": (
                lambda x: x / length(x),
                lambda dy, x: (dy - x * (dy * x).sum(1, keepdims=True) / length(x) ** 2) / length(x),
                X,
            ),
            "a power": (lambda x: x**1.7, of_x(lambda x: 1.7 * x**0.7), UP),
        }
    ),
}
"""What floats lose at large, small and saturated numbers is told from a mistake by the conditioning of the formula."""

LAWS = {
    "a mask of −∞": (attention, attention_vjp, W, np.array([[0, -INF, 0]])),
    "a mask of −1e9": (attention, attention_vjp, W, np.array([[0, -1e9, 0]])),
    "powers of a root": (lambda x: x**-1.5 * x**0.5, of_x(lambda x: -(x**-2.0)), UP),
    "1/x by logs": (np.log, of_x(lambda x: np.exp(-np.log(x))), UP),
    **of_each(
        {
            "√(x²)": (lambda x: np.sqrt(x * x), lambda x: x / np.sqrt(x * x)),
            "ELU by y + α": (
                lambda x: np.where(x > 0, x, 1.5 * (np.exp(x) - 1)),
                lambda x: np.where(x > 0, 1, 1.5 * (np.exp(x) - 1) + 1.5),
            ),
            "1 + tan² = 1/cos²": (np.tan, lambda x: 1 / np.cos(x) ** 2),
            "sin(−x) = −sin x": (np.cos, lambda x: np.sin(-x)),
            "cos(−x) = cos x": (np.sin, lambda x: np.cos(-x)),
            "tanh x = 2 σ(x + x) − 1": (lambda x: 2 * sigmoid(x + x) - 1, lambda x: 1 - np.tanh(x) ** 2),
            "log e^x = x": (lambda x: x * np.log(np.exp(x)), lambda x: 2 * x),
            "1 − σ(x) = σ(−x)": (sigmoid, lambda x: sigmoid(x) * sigmoid(-x)),
        },
        X,
    ),
    "e^(log softmax)": (lambda x: np.exp(log_softmax(x)), softmax_vjp, X),
}
"""Small laws: of roots, exponentials and their logarithms."""


BEYOND = {
    **of_each(
        {
            "e^a e^b": (lambda x: np.exp(x) * np.exp(x), lambda x: 2 * np.exp(2 * x)),
            "σ by tanh": (sigmoid, lambda x: (1 - np.tanh(x / 2) ** 2) / 4),
            "a rounded constant": (lambda x: x / 0.123456789123, lambda x: 1 / 0.123456789123 + 0 * x),
            "0/0 made 0": (
                lambda x: np.maximum(x, 0) ** 2,
                lambda x: np.nan_to_num(2 * (r := np.maximum(x, 0)) ** 2 / r),
            ),
        },
        X,
    ),
    "a loss of Python's": (lambda x: float((x * x).sum()), lambda dy, x: 2 * dy * x, X),
    **at_scales(
        {
            "log(1 + x²)": (lambda x: np.log((x + 1j).real ** 2 + 1), of_x(lambda x: 2 * x / (1 + x * x)), X),
        }
    ),
}
"""What small laws do not cover: not proved, perhaps, and never called wrong."""
