"""Each displayed formula of a chapter is computed as it is written, and compared with an independent value."""

import math
import re

import numpy as np
import pytest

from npbert import (
    Adam,
    DotProductAttention,
    Dropout,
    EncoderLayer,
    Init,
    LayerNorm,
    Parameter,
    PreNormEncoderLayer,
    Tape,
    randomize,
)
from tests.test_docs import BLOCK, CHAPTERS, read

rng = np.random.default_rng(0)
s, x, dy = rng.standard_normal((3, 4))
p = np.exp(s) / np.exp(s).sum()
dp = rng.standard_normal(4)


def slopes(function, at):
    """∂y/∂x of a function of a vector: a row for each y, by the complex step."""
    steps = 1e-30j * np.eye(len(at))
    return np.array([function(at + step).imag / 1e-30 for step in steps]).T


def softmax(scores):
    return np.exp(scores) / np.exp(scores).sum()


def chain_rule():
    J = slopes(lambda x: np.array([x[0] * x[1], np.sin(x[2]), x[3] ** 2 + x[0]]), x)
    dy = np.array([1.0, 2.0, 3.0])
    by_formula = [sum(dy[j] * J[j, i] for j in range(3)) for i in range(4)]
    loss = slopes(lambda x: np.array([x[0] * x[1] + 2 * np.sin(x[2]) + 3 * (x[3] ** 2 + x[0])]), x)[0]
    return by_formula, loss


def product():
    a, W = rng.standard_normal((3, 2)), rng.standard_normal((2, 4))
    return [[sum(a[n, i] * W[i, o] for i in range(2)) for o in range(4)] for n in range(3)], a @ W


def jacobian_of_softmax():
    return [[p[j] * ((i == j) - p[i]) for i in range(4)] for j in range(4)], slopes(softmax, s)


def softmax_backward():
    forms = [
        [sum(dp[j] * p[j] * ((i == j) - p[i]) for j in range(4)) for i in range(4)],
        dp * p - p * (dp @ p),
        p * (dp - dp @ p),
    ]
    return forms, [dp @ slopes(softmax, s)] * 3


def layer_norm():
    layer, rows, drows = LayerNorm(4, Init(rng, dtype=np.float64), eps=1e-3), *rng.standard_normal((2, 3, 4))
    randomize(layer, rng)
    tape, gamma, beta = Tape(), layer.gamma.value, layer.beta.value
    y, dx = layer(rows, tape), layer.backward(drows, tape)
    mu = rows.mean(axis=1, keepdims=True)
    sigma = np.sqrt(((rows - mu) ** 2).mean(axis=1, keepdims=True) + 1e-3)
    x_hat = (rows - mu) / sigma
    dx_hat = gamma * drows
    shift, stretch = (each.mean(axis=1, keepdims=True) for each in (dx_hat, dx_hat * x_hat))
    return {
        "y": (gamma * x_hat + beta, y),
        "parameters": (
            [sum(drows[n] * x_hat[n] for n in range(3)), sum(drows[n] for n in range(3))],
            [layer.gamma.grad, layer.beta.grad],
        ),
        "dx": ((dx_hat - shift - x_hat * stretch) / sigma, dx),
    }


def attention(backward):
    Q, K, V, dC = rng.standard_normal((4, 5, 3))
    S = Q @ K.T / math.sqrt(3)
    P = np.array([softmax(row) for row in S])
    if not backward:
        return P @ V, DotProductAttention(1)(Q, K, V)
    dP = dC @ V.T
    dS = P * (dP - (dP * P).sum(axis=1, keepdims=True))
    return dS @ K / math.sqrt(3), DotProductAttention(1).attend_backward(dC, Q, K, V, P)[0]


def dropout():
    rate, layer, tape = 0.3, Dropout(0.3), Tape(np.random.default_rng(1))
    ones = np.ones((4, 5))
    y, dx = layer(ones, tape), layer.backward(2 * ones, tape)
    mask = y > 0
    return [ones * mask / (1 - rate), 2 * ones * mask / (1 - rate)], [y, dx]


def adam():
    parameter, theta, m, v = Parameter(np.ones(3)), np.ones(3), 0, 0
    optimizer = Adam([parameter], lr=0.1, betas=(0.8, 0.9), eps=1e-3)
    for t in (1, 2, 3):
        g = rng.standard_normal(3)
        m, v = 0.8 * m + (1 - 0.8) * g, 0.9 * v + (1 - 0.9) * g**2
        theta = theta - 0.1 * (m / (1 - 0.8**t)) / (np.sqrt(v / (1 - 0.9**t)) + 1e-3)
        parameter.zero_grad()
        parameter.add_grad(g)
        optimizer.step()
    return theta, parameter.value


def bias_correction():
    m, g, t = 0.0, 3.0, 7
    for _ in range(t):
        m = 0.9 * m + (1 - 0.9) * g
    return [(1 - 0.9) * sum(0.9**power for power in range(t)) * g, (1 - 0.9**t) * g], [m, m]


def one_equation():
    x, dx_dt, dy = rng.integers(9, size=(3, 2, 2))
    W, dW_dt = rng.integers(9, size=(2, 2, 2))
    dy_dt = x @ dW_dt + dx_dt @ W
    return (dy * dy_dt).sum(), (dy @ W.T * dx_dt).sum() + (x.T @ dy * dW_dt).sum()


def rotation():
    pair, i = np.array([0.5, -2.0]), 3  # ω is 1 for the first pair
    turned = [pair[0] * math.cos(i) - pair[1] * math.sin(i), pair[1] * math.cos(i) + pair[0] * math.sin(i)]
    rotated = complex(*pair) * np.exp(1j * i)
    return turned, [rotated.real, rotated.imag]


def norms():
    found = []
    rows = rng.standard_normal((5, 4))
    for kind in (EncoderLayer, PreNormEncoderLayer):
        layer = kind(4, 2, 6, Init(np.random.default_rng(1), std=1.0, dtype=np.float64))
        randomize(layer, np.random.default_rng(2))
        if kind is EncoderLayer:
            h = layer.attention_norm(rows + layer.attention(rows, rows))
            by_hand = layer.output_norm(h + layer.feed_forward(h))
        else:
            normed = layer.attention_norm(rows)
            h = rows + layer.attention(normed, normed)
            by_hand = h + layer.feed_forward(layer.output_norm(h))
        found.append((by_hand, layer(rows, rows)))
    return tuple(zip(*found, strict=True))


def replaced_or_not():
    """Beside −log σ(s) of a token that was replaced, and −log (1 − σ(s)) of one that was not."""
    label, found = np.array([1.0, 0.0, 0.0, 1.0]), 1 / (1 + np.exp(-s))
    return np.log(1 + np.exp(s)) - label * s, -np.log(np.where(label == 1, found, 1 - found))


FORMULAS = {
    "dxᵢ = Σⱼ dyⱼ · ∂yⱼ/∂xᵢ": chain_rule,
    "y[n, o] = Σᵢ x[n, i] W[i, o]": product,
    "pⱼ = e^(sⱼ) / Σₖ e^(sₖ)": lambda: ([math.e**each / sum(math.e**other for other in s) for each in s], p),
    "∂pⱼ/∂sᵢ = pⱼ (δᵢⱼ − pᵢ)": jacobian_of_softmax,
    "dsᵢ = Σⱼ dpⱼ pⱼ (δᵢⱼ − pᵢ) = dpᵢ pᵢ − pᵢ Σⱼ dpⱼ pⱼ = pᵢ (dpᵢ − Σⱼ dpⱼ pⱼ)": softmax_backward,
    "loss = −s[label] + log Σₖ e^(sₖ)": lambda: (-s[2] + np.log(np.exp(s).sum()), -np.log(p[2])),
    "dsᵢ = pᵢ − onehotᵢ": lambda: (p - np.eye(4)[2], slopes(lambda s: -np.log(softmax(s)[[2]]), s)[0]),
    "μ = mean(x)    σ = √(mean((x − μ)²) + eps)    x̂ = (x − μ) / σ    y = γ x̂ + β": lambda: layer_norm()["y"],
    "dγ = Σₙ dyₙ x̂ₙ    dβ = Σₙ dyₙ    dx̂ = γ dy": lambda: layer_norm()["parameters"],
    "dx = (dx̂ − mean(dx̂) − x̂ mean(dx̂ · x̂)) / σ": lambda: layer_norm()["dx"],
    "S = Q Kᵀ/√dₖ    P = softmax(S), row by row    C = P V": lambda: attention(backward=False),
    "dS = P · (dP − Σₖ dPₖ Pₖ)": lambda: attention(backward=True),
    "y = x · mask / (1 − rate)    dx = dy · mask / (1 − rate)": dropout,
    "m ← β₁ m + (1 − β₁) g    v ← β₂ v + (1 − β₂) g²    θ ← θ − lr · m̂ / (√v̂ + eps)": adam,
    "m = (1 − β₁) (1 + β₁ + β₁² + … + β₁ᵗ⁻¹) g = (1 − β₁ᵗ) g": bias_correction,
    "Σ dy ẏ = Σ dx ẋ + Σ dW Ẇ": one_equation,
    "(x₁ cos(iω) − x₂ sin(iω),  x₂ cos(iω) + x₁ sin(iω))": rotation,
    "post-norm: y = LayerNorm(x + f(x))    pre-norm: y = x + f(LayerNorm(x))": norms,
    "loss = log(1 + eˢ) − label · s": replaced_or_not,
}


def test_every_displayed_formula_is_here():
    shown = [line for page in CHAPTERS for line in re.findall(r"^    (\S.*)$", BLOCK.sub("", read(page)), re.MULTILINE)]
    assert shown == list(FORMULAS)


@pytest.mark.parametrize("formula", FORMULAS)
def test_a_formula_gives_what_is_computed_independently(formula):
    by_formula, independent = FORMULAS[formula]()
    np.testing.assert_allclose(by_formula, independent, rtol=1e-12)
