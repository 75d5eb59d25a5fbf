"""Exercise 7, LayerNorm: the wrong dx that people give."""

from __future__ import annotations

import numpy as np

from npbert.compute import Array
from npbert.core import Tape
from npbert.layers import LayerNorm
from npbert.learn.exercise import Mistakes
from npbert.learn.exercises.layer_norm_answer import Row, add, backward_with, mean

ROADS = Mistakes(LayerNorm, "backward")


@ROADS(
    "γ stands outside the means: yours is γ (dy − mean(dy) − x̂ mean(dy · x̂)) / σ.",
    "It is right as long as γ is the same everywhere, as in a fresh layer, so nobody notices at first. But γ weighs "
    "each x̂ⱼ differently, so it belongs inside: take the means of dx̂ = γ dy.",
)
def gamma_out_of_the_sums(self: LayerNorm, dy: Array, tape: Tape) -> Array:
    return backward_with(
        self, dy, tape, dx=lambda r: r.gamma * (r.dy - mean(r.dy) - r.x_hat * mean(r.dy * r.x_hat)) / r.sigma
    )


add(
    ROADS,
    "gamma_forgotten",
    "γ is missing in dx: the means and all else are taken of dy, and should be of dx̂ = γ dy.",
    "Between y and x̂ stands the factor γ: y = γ x̂ + β. So the first step back is dx̂ = γ dy.",
    dx=lambda r: (r.dy - mean(r.dy) - r.x_hat * mean(r.dy * r.x_hat)) / r.sigma,
)
add(
    ROADS,
    "mean_forgotten",
    "The road through μ is missing in dx: mean(dx̂) was not subtracted.",
    "Raising one x raises the mean of its row, and that lowers every x̂ of the row, each by 1/(D σ). Together that "
    "brings back −mean(dx̂)/σ.",
    dx=lambda r: (r.dx_hat - r.x_hat * mean(r.dx_hat * r.x_hat)) / r.sigma,
)
add(
    ROADS,
    "deviation_forgotten",
    "The road through σ is missing in dx: there is no x̂ · mean(dx̂ · x̂) in it.",
    "Raising an x that lies above the mean raises σ, too, and that brings every x̂ of the row nearer to 0. Together "
    "that brings back −x̂ · mean(dx̂ · x̂)/σ. (It is the mean of the product: mean(dx̂) · mean(x̂) is 0, as the mean of "
    "x̂ is.)",
    dx=lambda r: (r.dx_hat - mean(r.dx_hat)) / r.sigma,
)
add(
    ROADS,
    "direct_road_alone",
    "dx has the direct road alone, dx̂/σ: those through μ and through σ are missing.",
    "Each x moves every x̂ of its row, because it has a share in the mean and in σ of the row. Both bring something "
    "back: −mean(dx̂)/σ and −x̂ · mean(dx̂ · x̂)/σ.",
    dx=lambda r: r.dx_hat / r.sigma,
)
add(
    ROADS,
    "sigma_forgotten",
    "dx is not divided by σ.",
    "x̂ = (x − μ) / σ: a step in x is a step 1/σ times as large in x̂, on each of the three roads.",
    dx=lambda r: r.dx_hat - mean(r.dx_hat) - r.x_hat * mean(r.dx_hat * r.x_hat),
)
add(
    ROADS,
    "sigma_squared",
    "dx is divided by σ² instead of σ.",
    "sigma is the standard deviation already, with its root, and x̂ = (x − μ) / σ divides by it once.",
    dx=lambda r: (r.dx_hat - mean(r.dx_hat) - r.x_hat * mean(r.dx_hat * r.x_hat)) / r.sigma**2,
)
add(
    ROADS,
    "root_of_sigma",
    "dx is divided by √σ, and should be divided by σ.",
    "sigma is the standard deviation, and not the variance: the root was taken already.",
    dx=lambda r: (r.dx_hat - mean(r.dx_hat) - r.x_hat * mean(r.dx_hat * r.x_hat)) / np.sqrt(r.sigma),
)
add(
    ROADS,
    "times_sigma",
    "dx is multiplied by σ, and should be divided by it.",
    "x̂ = (x − μ) / σ: a step in x is a step 1/σ times as large in x̂, on each of the three roads.",
    dx=lambda r: (r.dx_hat - mean(r.dx_hat) - r.x_hat * mean(r.dx_hat * r.x_hat)) * r.sigma,
)


@ROADS(
    "The two means are sums: the 1/D is missing.",
    "An x has only a share of 1/D in μ and in σ² of its row: ∂μ/∂xᵢ = 1/D. So Σⱼ dx̂ⱼ/D is the mean of dx̂.",
)
def sums_for_means(self: LayerNorm, dy: Array, tape: Tape) -> Array:
    def dx(r: Row) -> Array:
        features = r.dy.shape[1]
        return (r.dx_hat - features * mean(r.dx_hat) - r.x_hat * features * mean(r.dx_hat * r.x_hat)) / r.sigma

    return backward_with(self, dy, tape, dx=dx)


add(
    ROADS,
    "means_over_the_batch",
    "The means are taken down the columns (axis 0), over the batch.",
    "That would be batch normalisation. LayerNorm treats each row by itself: its means run along the row, axis=-1.",
    dx=lambda r: (r.dx_hat - r.dx_hat.mean(axis=0) - r.x_hat * (r.dx_hat * r.x_hat).mean(axis=0)) / r.sigma,
)
add(
    ROADS,
    "sign_of_the_deviation",
    "The road through σ has the wrong sign in dx.",
    "A larger σ makes every x̂ smaller: ∂x̂ⱼ/∂σ = −x̂ⱼ/σ. So x̂ · mean(dx̂ · x̂) is subtracted, like the mean.",
    dx=lambda r: (r.dx_hat - mean(r.dx_hat) + r.x_hat * mean(r.dx_hat * r.x_hat)) / r.sigma,
)
add(
    ROADS,
    "deviation_without_x_hat",
    "The road through σ lacks its factor x̂ᵢ: mean(dx̂ · x̂) alone was subtracted.",
    "How far σ moves with xᵢ depends on where xᵢ lies: ∂σ/∂xᵢ = x̂ᵢ/D. An x at the mean does not move σ at all.",
    dx=lambda r: (r.dx_hat - mean(r.dx_hat) - mean(r.dx_hat * r.x_hat)) / r.sigma,
)


@ROADS(
    "eps is left out going back: dx is divided by the standard deviation without it.",
    "forward divided by σ = √(variance + eps), and sigma is just that: use it as it was kept.",
)
def eps_out_of_the_derivative(self: LayerNorm, dy: Array, tape: Tape) -> Array:
    def dx(r: Row) -> Array:
        sigma = np.sqrt(r.sigma**2 - self.eps)
        return (r.dx_hat - mean(r.dx_hat) - r.x_hat * mean(r.dx_hat * r.x_hat)) / sigma

    return backward_with(self, dy, tape, dx=dx)


_BRACKET = (
    "All three roads end with a step from x̂ to x, which is 1/σ. So the bracket is around all of them: (… − … − …) / σ."
)
add(
    ROADS,
    "last_term_alone_divided",
    "Of the three terms of dx only the last is divided by σ: a bracket is missing.",
    _BRACKET,
    dx=lambda r: r.dx_hat - mean(r.dx_hat) - r.x_hat * mean(r.dx_hat * r.x_hat) / r.sigma,
)
add(
    ROADS,
    "first_term_alone_divided",
    "Of the three terms of dx only the first is divided by σ.",
    _BRACKET,
    dx=lambda r: r.dx_hat / r.sigma - mean(r.dx_hat) - r.x_hat * mean(r.dx_hat * r.x_hat),
)
add(
    ROADS,
    "deviation_divided_twice",
    "The road through σ is divided by σ once too often: yours is −x̂ · mean(dx̂ · x̂)/σ², right is −x̂ · mean(dx̂ · x̂)/σ.",
    "∂x̂ⱼ/∂σ = −x̂ⱼ/σ has the one 1/σ that there is, and ∂σ/∂xᵢ = x̂ᵢ/D has none. In (dx̂ − mean(dx̂) − …) / σ the whole "
    "bracket is divided by σ already, so the last term in it is x̂ · mean(dx̂ · x̂), with no σ of its own.",
    dx=lambda r: (r.dx_hat - mean(r.dx_hat) - r.x_hat * mean(r.dx_hat * r.x_hat) / r.sigma) / r.sigma,
)
_VARIANCE = (
    "By way of the variance v = σ²: ∂x̂ⱼ/∂v = −½ (xⱼ − μ) v^(−3/2), which is −½ x̂ⱼ/σ², and ∂v/∂xᵢ = 2 (xᵢ − μ)/D, which "
    "is 2 σ x̂ᵢ/D. Together that is −x̂ · mean(dx̂ · x̂)/σ. (sigma is the root of v, so v^(−3/2) is sigma ** -3.)"
)
for _name, _says, _times in (
    ("root_underived", "The road through σ is there twice, as if the ½ of the root was missing.", lambda r: 2.0),
    ("square_underived", "The road through σ is there by half, as if the 2 of the square was missing.", lambda r: 0.5),
    (
        "sigma_for_the_variance",
        "The road through σ is σ^(3/2) times too large, as if σ^(−3/2) stood where σ^(−3) belongs.",
        lambda r: r.sigma**1.5,
    ),
):
    add(
        ROADS,
        _name,
        _says,
        _VARIANCE,
        dx=lambda r, times=_times: (
            (r.dx_hat - mean(r.dx_hat) - times(r) * r.x_hat * mean(r.dx_hat * r.x_hat)) / r.sigma
        ),
    )
add(
    ROADS,
    "means_over_everything",
    "The two means are taken over everything, but each row has its own.",
    "x.mean() is one number. LayerNorm treats each row by itself: .mean(axis=-1, keepdims=True).",
    dx=lambda r: (r.dx_hat - r.dx_hat.mean() - r.x_hat * (r.dx_hat * r.x_hat).mean()) / r.sigma,
)
add(
    ROADS,
    "divided_by_the_rows",
    "The two sums are divided by N, the number of rows, but a mean over a row is divided by D, how long a row is.",
    "An x has a share of 1/D in μ and in σ² of its row; the other rows have no part in it.",
    dx=lambda r: (
        (r.dx_hat - (mean(r.dx_hat) + r.x_hat * mean(r.dx_hat * r.x_hat)) * r.dy.shape[1] / len(r.dy)) / r.sigma
    ),
)
