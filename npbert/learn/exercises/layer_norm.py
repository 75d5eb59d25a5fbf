"""Exercise 7: LayerNorm."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from npbert.catalogue import Setting
from npbert.compute import Array
from npbert.core import Tape
from npbert.layers import LayerNorm
from npbert.learn.chapters import chapter
from npbert.learn.exercise import Exercise, Mistakes
from npbert.learn.layers import layer_part
from npbert.learn.source import Blank, class_source, exercise_file

SETTING = Setting(LayerNorm, lambda cls, init: cls(5, init, eps=1e-2), lambda rng: (rng.standard_normal((7, 5)) + 0.3,))
WRONG = Mistakes(LayerNorm, "backward")

TEXT = """
LayerNorm brings every row to mean 0 and variance 1, then scales and shifts it: y = γ x̂ + β with x̂ = (x − μ) / σ.

The gradients of γ and β are like those of a weight and a bias. The one of x is the most famous trap in backpropagation,
because an xᵢ moves its row by three roads: its own x̂ᵢ directly; every x̂ⱼ through the mean μ; and every x̂ⱼ through σ.
Begin with dx̂ = γ dy. For each road, work out how fast x̂ⱼ moves with xᵢ, multiply by dx̂ⱼ, and sum over j. Then add up
the three.
"""
BLANK = Blank(
    "backward",
    """Add dγ to the gradient of self.gamma and dβ to that of self.beta; return dx.

    dy, dx (N, D)   dγ, dβ (D,)   x_hat (N, D): x̂   sigma (N, 1): σ, with eps inside
    """,
)
HINTS = (
    "Directly: ∂x̂ᵢ/∂xᵢ = 1/σ. Through μ: ∂x̂ⱼ/∂μ = −1/σ and ∂μ/∂xᵢ = 1/D, for every j. Through σ: ∂x̂ⱼ/∂σ = −x̂ⱼ/σ "
    "and ∂σ/∂xᵢ = x̂ᵢ/D, for every j.",
    "Σⱼ dx̂ⱼ · (−1/σ) · 1/D is −mean(dx̂)/σ. And Σⱼ dx̂ⱼ · (−x̂ⱼ/σ) · x̂ᵢ/D is −x̂ᵢ mean(dx̂ · x̂)/σ. The means are "
    "over the row: axis=-1, keepdims=True.",
    "dγ = Σₙ dy x̂, dβ = Σₙ dy, dx̂ = γ dy, dx = (dx̂ − mean(dx̂) − x̂ · mean(dx̂ · x̂)) / σ.",
)


class Row(NamedTuple):
    """What backward has: dy, x̂, dx̂ = γ dy, γ and σ."""

    dy: Array
    x_hat: Array
    dx_hat: Array
    gamma: Array
    sigma: Array


def mean(x: Array) -> Array:
    """Of each row (N, 1)."""
    return x.mean(axis=-1, keepdims=True)


def _backward(
    layer: LayerNorm,
    dy: Array,
    tape: Tape,
    *,
    dx: Callable[[Row], Array] = lambda r: (r.dx_hat - mean(r.dx_hat) - r.x_hat * mean(r.dx_hat * r.x_hat)) / r.sigma,
    dgamma: Callable[[Row], Array] = lambda r: (r.dy * r.x_hat).sum(axis=0),
    dbeta: Callable[[Row], Array] = lambda r: r.dy.sum(axis=0),
) -> Array:
    """The right backward, but for the gradients that are given in another way."""
    x_hat, sigma = tape.take(layer)
    row = Row(dy, x_hat, layer.gamma.value * dy, layer.gamma.value, sigma)
    layer.gamma.add_grad(dgamma(row))
    layer.beta.add_grad(dbeta(row))
    return dx(row)


@WRONG(
    "γ stands outside the means: dx is γ (dy − mean(dy) − x̂ mean(dy · x̂)) / σ.",
    "It is right as long as γ is the same everywhere, as in a fresh layer, so nobody notices at first. But γ weighs "
    "each x̂ⱼ differently, so it belongs inside: take the means of dx̂ = γ dy.",
)
def gamma_out_of_the_sums(self: LayerNorm, dy: Array, tape: Tape) -> Array:
    return _backward(
        self, dy, tape, dx=lambda r: r.gamma * (r.dy - mean(r.dy) - r.x_hat * mean(r.dy * r.x_hat)) / r.sigma
    )


@WRONG(
    "γ is missing in dx: the means and all else are taken of dy, and should be of dx̂ = γ dy.",
    "Between y and x̂ stands the factor γ: y = γ x̂ + β. So the first step back is dx̂ = γ dy.",
)
def gamma_forgotten(self: LayerNorm, dy: Array, tape: Tape) -> Array:
    return _backward(self, dy, tape, dx=lambda r: (r.dy - mean(r.dy) - r.x_hat * mean(r.dy * r.x_hat)) / r.sigma)


@WRONG(
    "The road through μ is missing in dx: mean(dx̂) was not subtracted.",
    "Raising one x raises the mean of its row, and that lowers every x̂ of the row, each by 1/(D σ). Together that "
    "brings back −mean(dx̂)/σ.",
)
def mean_forgotten(self: LayerNorm, dy: Array, tape: Tape) -> Array:
    return _backward(self, dy, tape, dx=lambda r: (r.dx_hat - r.x_hat * mean(r.dx_hat * r.x_hat)) / r.sigma)


@WRONG(
    "The road through σ is missing in dx: x̂ · mean(dx̂ · x̂) was not subtracted.",
    "Raising an x that lies above the mean raises σ, too, and that brings every x̂ of the row nearer to 0. Together "
    "that brings back −x̂ · mean(dx̂ · x̂)/σ.",
)
def deviation_forgotten(self: LayerNorm, dy: Array, tape: Tape) -> Array:
    return _backward(self, dy, tape, dx=lambda r: (r.dx_hat - mean(r.dx_hat)) / r.sigma)


@WRONG(
    "dx has the direct road alone, dx̂/σ: those through μ and through σ are missing.",
    "Each x moves every x̂ of its row, because it has a share in the mean and in σ of the row. Both bring something "
    "back: −mean(dx̂)/σ and −x̂ · mean(dx̂ · x̂)/σ.",
)
def direct_road_alone(self: LayerNorm, dy: Array, tape: Tape) -> Array:
    return _backward(self, dy, tape, dx=lambda r: r.dx_hat / r.sigma)


@WRONG(
    "dx is not divided by σ.",
    "x̂ = (x − μ) / σ: a step in x is a step 1/σ times as large in x̂, on each of the three roads.",
)
def sigma_forgotten(self: LayerNorm, dy: Array, tape: Tape) -> Array:
    return _backward(self, dy, tape, dx=lambda r: r.dx_hat - mean(r.dx_hat) - r.x_hat * mean(r.dx_hat * r.x_hat))


@WRONG(
    "dx is divided by σ² instead of σ.",
    "sigma is the standard deviation already, with its root, and x̂ = (x − μ) / σ divides by it once.",
)
def sigma_squared(self: LayerNorm, dy: Array, tape: Tape) -> Array:
    return _backward(
        self, dy, tape, dx=lambda r: (r.dx_hat - mean(r.dx_hat) - r.x_hat * mean(r.dx_hat * r.x_hat)) / r.sigma**2
    )


@WRONG(
    "The two means are sums: the 1/D is missing.",
    "An x has only a share of 1/D in μ and in σ² of its row: ∂μ/∂xᵢ = 1/D. So Σⱼ dx̂ⱼ/D is the mean of dx̂.",
)
def sums_for_means(self: LayerNorm, dy: Array, tape: Tape) -> Array:
    def dx(r: Row) -> Array:
        features = r.dy.shape[1]
        return (r.dx_hat - features * mean(r.dx_hat) - r.x_hat * features * mean(r.dx_hat * r.x_hat)) / r.sigma

    return _backward(self, dy, tape, dx=dx)


@WRONG(
    "The means are taken down the columns (axis 0), over the batch.",
    "That would be batch normalisation. LayerNorm treats each row by itself: its means run along the row, axis=-1.",
)
def means_over_the_batch(self: LayerNorm, dy: Array, tape: Tape) -> Array:
    return _backward(
        self,
        dy,
        tape,
        dx=lambda r: (r.dx_hat - r.dx_hat.mean(axis=0) - r.x_hat * (r.dx_hat * r.x_hat).mean(axis=0)) / r.sigma,
    )


@WRONG(
    "The road through σ has the wrong sign in dx.",
    "A larger σ makes every x̂ smaller: ∂x̂ⱼ/∂σ = −x̂ⱼ/σ. So x̂ · mean(dx̂ · x̂) is subtracted, like the mean.",
)
def sign_of_the_deviation(self: LayerNorm, dy: Array, tape: Tape) -> Array:
    return _backward(
        self, dy, tape, dx=lambda r: (r.dx_hat - mean(r.dx_hat) + r.x_hat * mean(r.dx_hat * r.x_hat)) / r.sigma
    )


@WRONG(
    "The road through σ lacks its factor x̂ᵢ: mean(dx̂ · x̂) alone was subtracted.",
    "How far σ moves with xᵢ depends on where xᵢ lies: ∂σ/∂xᵢ = x̂ᵢ/D. An x at the mean does not move σ at all.",
)
def deviation_without_x_hat(self: LayerNorm, dy: Array, tape: Tape) -> Array:
    return _backward(self, dy, tape, dx=lambda r: (r.dx_hat - mean(r.dx_hat) - mean(r.dx_hat * r.x_hat)) / r.sigma)


@WRONG(
    "eps is left out going back: dx is divided by the standard deviation without it.",
    "forward divided by σ = √(variance + eps), and sigma is just that: use it as it was kept.",
)
def eps_out_of_the_derivative(self: LayerNorm, dy: Array, tape: Tape) -> Array:
    def dx(r: Row) -> Array:
        sigma = np.sqrt(r.sigma**2 - self.eps)
        return (r.dx_hat - mean(r.dx_hat) - r.x_hat * mean(r.dx_hat * r.x_hat)) / sigma

    return _backward(self, dy, tape, dx=dx)


@WRONG(
    "dγ lacks the factor x̂: it is Σₙ dyₙ, which is dβ.",
    "y = γ x̂ + β: a step in γ moves y x̂ times as far. So dγ = Σₙ dyₙ x̂ₙ.",
)
def gamma_like_beta(self: LayerNorm, dy: Array, tape: Tape) -> Array:
    return _backward(self, dy, tape, dgamma=lambda r: r.dy.sum(axis=0))


@WRONG(
    "dγ has a factor γ too many: it is Σₙ γ dyₙ x̂ₙ.",
    "dx̂ = γ dy is for the way to x. What γ is multiplied by is x̂, so dγ = Σₙ dyₙ x̂ₙ, of dy itself.",
)
def gamma_of_dx_hat(self: LayerNorm, dy: Array, tape: Tape) -> Array:
    return _backward(self, dy, tape, dgamma=lambda r: (r.dx_hat * r.x_hat).sum(axis=0))


@WRONG(
    "dγ and dβ are means over the rows, but they are sums.",
    "γ and β move every row, and what comes back adds up. (The mean over the batch is inside dy already.)",
)
def parameters_averaged(self: LayerNorm, dy: Array, tape: Tape) -> Array:
    return _backward(self, dy, tape, dgamma=lambda r: (r.dy * r.x_hat).mean(axis=0), dbeta=lambda r: r.dy.mean(axis=0))


@WRONG(
    "dγ or dβ still has a row for each row of dy: it was not summed over the rows.",
    "One γ and one β serve all rows. What forward stretches to N rows, backward sums over them: .sum(axis=0).",
)
def parameters_not_summed(self: LayerNorm, dy: Array, tape: Tape) -> Array:
    return _backward(self, dy, tape, dgamma=lambda r: r.dy * r.x_hat, dbeta=lambda r: r.dy)


EXERCISE = Exercise(
    number=7,
    slug="layer_norm",
    title="LayerNorm",
    chapter=chapter(5),
    hints=HINTS,
    parts=(layer_part(SETTING, WRONG, names={"gamma": "dγ", "beta": "dβ"}),),
    source=lambda: exercise_file(
        7, "LayerNorm", chapter(5), TEXT, [class_source(LayerNorm, BLANK, without=("three_roads",))]
    ),
    blanks=("LayerNorm.backward",),
)
