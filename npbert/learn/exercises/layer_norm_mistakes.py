"""Exercise 7, LayerNorm: the wrong answers that people give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.core import Tape
from npbert.layers import LayerNorm
from npbert.learn.exercise import Mistakes

WRONG = Mistakes(LayerNorm, "backward")


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
    dgamma: Callable[[Row], Array | None] = lambda r: (r.dy * r.x_hat).sum(axis=0),
    dbeta: Callable[[Row], Array | None] = lambda r: r.dy.sum(axis=0),
) -> Array:
    """The right backward, but for the gradients that are given in another way."""
    x_hat, sigma = tape.take(layer)
    row = Row(dy, x_hat, layer.gamma.value * dy, layer.gamma.value, sigma)
    for parameter, found in ((layer.gamma, dgamma(row)), (layer.beta, dbeta(row))):
        if found is not None:
            parameter.add_grad(found)
    return dx(row)


def _wrong(name: str, says: str, because: str, **changes: Any) -> None:
    def backward(self: LayerNorm, dy: Array, tape: Tape) -> Array:
        return _backward(self, dy, tape, **changes)

    backward.__name__ = name
    WRONG(says, because)(backward)


def _setting(names: list[str], says: str, because: str) -> None:
    """A mistake in which these gradients are set, and not added to."""

    def backward(self: LayerNorm, dy: Array, tape: Tape) -> Array:
        for name in names:
            getattr(self, name).zero_grad()
        return _backward(self, dy, tape)

    backward.__name__ = "_".join([*names, "set"])
    WRONG(says, because)(backward)


@WRONG(
    "γ stands outside the means: yours is γ (dy − mean(dy) − x̂ mean(dy · x̂)) / σ.",
    "It is right as long as γ is the same everywhere, as in a fresh layer, so nobody notices at first. But γ weighs "
    "each x̂ⱼ differently, so it belongs inside: take the means of dx̂ = γ dy.",
)
def gamma_out_of_the_sums(self: LayerNorm, dy: Array, tape: Tape) -> Array:
    return _backward(
        self, dy, tape, dx=lambda r: r.gamma * (r.dy - mean(r.dy) - r.x_hat * mean(r.dy * r.x_hat)) / r.sigma
    )


_wrong(
    "gamma_forgotten",
    "γ is missing in dx: the means and all else are taken of dy, and should be of dx̂ = γ dy.",
    "Between y and x̂ stands the factor γ: y = γ x̂ + β. So the first step back is dx̂ = γ dy.",
    dx=lambda r: (r.dy - mean(r.dy) - r.x_hat * mean(r.dy * r.x_hat)) / r.sigma,
)
_wrong(
    "mean_forgotten",
    "The road through μ is missing in dx: mean(dx̂) was not subtracted.",
    "Raising one x raises the mean of its row, and that lowers every x̂ of the row, each by 1/(D σ). Together that "
    "brings back −mean(dx̂)/σ.",
    dx=lambda r: (r.dx_hat - r.x_hat * mean(r.dx_hat * r.x_hat)) / r.sigma,
)
_wrong(
    "deviation_forgotten",
    "The road through σ is missing in dx: there is no x̂ · mean(dx̂ · x̂) in it.",
    "Raising an x that lies above the mean raises σ, too, and that brings every x̂ of the row nearer to 0. Together "
    "that brings back −x̂ · mean(dx̂ · x̂)/σ. (It is the mean of the product: mean(dx̂) · mean(x̂) is 0, as the mean of "
    "x̂ is.)",
    dx=lambda r: (r.dx_hat - mean(r.dx_hat)) / r.sigma,
)
_wrong(
    "direct_road_alone",
    "dx has the direct road alone, dx̂/σ: those through μ and through σ are missing.",
    "Each x moves every x̂ of its row, because it has a share in the mean and in σ of the row. Both bring something "
    "back: −mean(dx̂)/σ and −x̂ · mean(dx̂ · x̂)/σ.",
    dx=lambda r: r.dx_hat / r.sigma,
)
_wrong(
    "sigma_forgotten",
    "dx is not divided by σ.",
    "x̂ = (x − μ) / σ: a step in x is a step 1/σ times as large in x̂, on each of the three roads.",
    dx=lambda r: r.dx_hat - mean(r.dx_hat) - r.x_hat * mean(r.dx_hat * r.x_hat),
)
_wrong(
    "sigma_squared",
    "dx is divided by σ² instead of σ.",
    "sigma is the standard deviation already, with its root, and x̂ = (x − μ) / σ divides by it once.",
    dx=lambda r: (r.dx_hat - mean(r.dx_hat) - r.x_hat * mean(r.dx_hat * r.x_hat)) / r.sigma**2,
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


_wrong(
    "means_over_the_batch",
    "The means are taken down the columns (axis 0), over the batch.",
    "That would be batch normalisation. LayerNorm treats each row by itself: its means run along the row, axis=-1.",
    dx=lambda r: (r.dx_hat - r.dx_hat.mean(axis=0) - r.x_hat * (r.dx_hat * r.x_hat).mean(axis=0)) / r.sigma,
)
_wrong(
    "sign_of_the_deviation",
    "The road through σ has the wrong sign in dx.",
    "A larger σ makes every x̂ smaller: ∂x̂ⱼ/∂σ = −x̂ⱼ/σ. So x̂ · mean(dx̂ · x̂) is subtracted, like the mean.",
    dx=lambda r: (r.dx_hat - mean(r.dx_hat) + r.x_hat * mean(r.dx_hat * r.x_hat)) / r.sigma,
)
_wrong(
    "deviation_without_x_hat",
    "The road through σ lacks its factor x̂ᵢ: mean(dx̂ · x̂) alone was subtracted.",
    "How far σ moves with xᵢ depends on where xᵢ lies: ∂σ/∂xᵢ = x̂ᵢ/D. An x at the mean does not move σ at all.",
    dx=lambda r: (r.dx_hat - mean(r.dx_hat) - mean(r.dx_hat * r.x_hat)) / r.sigma,
)


@WRONG(
    "eps is left out going back: dx is divided by the standard deviation without it.",
    "forward divided by σ = √(variance + eps), and sigma is just that: use it as it was kept.",
)
def eps_out_of_the_derivative(self: LayerNorm, dy: Array, tape: Tape) -> Array:
    def dx(r: Row) -> Array:
        sigma = np.sqrt(r.sigma**2 - self.eps)
        return (r.dx_hat - mean(r.dx_hat) - r.x_hat * mean(r.dx_hat * r.x_hat)) / sigma

    return _backward(self, dy, tape, dx=dx)


_wrong(
    "gamma_like_beta",
    "dγ lacks the factor x̂: yours is Σₙ dyₙ, which is dβ.",
    "y = γ x̂ + β: a step in γ moves y x̂ times as far. So dγ = Σₙ dyₙ x̂ₙ.",
    dgamma=lambda r: r.dy.sum(axis=0),
)
_wrong(
    "gamma_of_dx_hat",
    "dγ has a factor γ too many: yours is Σₙ γ dyₙ x̂ₙ, right is Σₙ dyₙ x̂ₙ.",
    "dx̂ = γ dy is for the way to x. What γ is multiplied by is x̂, so dγ = Σₙ dyₙ x̂ₙ, of dy itself.",
    dgamma=lambda r: (r.dx_hat * r.x_hat).sum(axis=0),
)
_wrong(
    "parameters_averaged",
    "dγ and dβ are means over the rows, but they are sums.",
    "γ and β move every row, and what comes back adds up. (The mean over the batch is inside dy already.)",
    dgamma=lambda r: (r.dy * r.x_hat).mean(axis=0),
    dbeta=lambda r: r.dy.mean(axis=0),
)
_wrong(
    "parameters_not_summed",
    "dγ or dβ still has a row for each row of dy: it was not summed over the rows.",
    "One γ and one β serve all rows. What forward stretches to N rows, backward sums over them: .sum(axis=0).",
    dgamma=lambda r: r.dy * r.x_hat,
    dbeta=lambda r: r.dy,
)
_BRACKET = (
    "All three roads end with a step from x̂ to x, which is 1/σ. So the bracket is around all of them: (… − … − …) / σ."
)
_wrong(
    "last_term_alone_divided",
    "Of the three terms of dx only the last is divided by σ: a bracket is missing.",
    _BRACKET,
    dx=lambda r: r.dx_hat - mean(r.dx_hat) - r.x_hat * mean(r.dx_hat * r.x_hat) / r.sigma,
)
_wrong(
    "first_term_alone_divided",
    "Of the three terms of dx only the first is divided by σ.",
    _BRACKET,
    dx=lambda r: r.dx_hat / r.sigma - mean(r.dx_hat) - r.x_hat * mean(r.dx_hat * r.x_hat),
)
_wrong(
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
    _wrong(
        _name,
        _says,
        _VARIANCE,
        dx=lambda r, times=_times: (
            (r.dx_hat - mean(r.dx_hat) - times(r) * r.x_hat * mean(r.dx_hat * r.x_hat)) / r.sigma
        ),
    )
_wrong(
    "means_over_everything",
    "The two means are taken over everything, but each row has its own.",
    "x.mean() is one number. LayerNorm treats each row by itself: .mean(axis=-1, keepdims=True).",
    dx=lambda r: (r.dx_hat - r.dx_hat.mean() - r.x_hat * (r.dx_hat * r.x_hat).mean()) / r.sigma,
)
_wrong(
    "divided_by_the_rows",
    "The two sums are divided by N, the number of rows, but a mean over a row is divided by D, how long a row is.",
    "An x has a share of 1/D in μ and in σ² of its row; the other rows have no part in it.",
    dx=lambda r: (
        (r.dx_hat - (mean(r.dx_hat) + r.x_hat * mean(r.dx_hat * r.x_hat)) * r.dy.shape[1] / len(r.dy)) / r.sigma
    ),
)
_NOT_ADDED = (
    "Backward has two jobs: it returns dx, and it hands over what it finds out about the layer's own parameters, with "
    "self.gamma.add_grad(dγ) and self.beta.add_grad(dβ). Without that they never learn."
)
_wrong(
    "nothing_added",
    "Nothing was added to the gradients of γ and β, as if add_grad was never called.",
    _NOT_ADDED,
    dgamma=lambda r: None,
    dbeta=lambda r: None,
)
_wrong("gamma_not_added", "Nothing was added to the gradient of γ: dγ is 0.", _NOT_ADDED, dgamma=lambda r: None)
_wrong("beta_not_added", "Nothing was added to the gradient of β: dβ is 0.", _NOT_ADDED, dbeta=lambda r: None)
_ADDS = (
    "Before the optimiser takes a step, several backwards may have something to say about γ and β. So backward adds: "
)
for _name, _cleared in (("γ", ["gamma"]), ("β", ["beta"]), ("γ and β", ["gamma", "beta"])):
    _verb = "gradients of {} are" if len(_cleared) > 1 else "gradient of {} is"
    _add = "self.gamma.add_grad(dγ), self.beta.add_grad(dβ)."
    _setting(_cleared, f"The {_verb.format(_name)} set, and should be added to what is there.", f"{_ADDS}{_add}")
_wrong(
    "parameters_swapped",
    "dγ and dβ are swapped: each was added to the gradient of the other.",
    "γ is multiplied by x̂, so dγ = Σₙ dyₙ x̂ₙ; β is only added, so dβ = Σₙ dyₙ.",
    dgamma=lambda r: r.dy.sum(axis=0),
    dbeta=lambda r: (r.dy * r.x_hat).sum(axis=0),
)
_wrong(
    "beta_of_dx_hat",
    "dβ has a factor γ too many: yours is Σₙ γ dyₙ, right is Σₙ dyₙ.",
    "dx̂ = γ dy is for the way to x. β is added after γ, so dβ = Σₙ dyₙ, of dy itself.",
    dbeta=lambda r: r.dx_hat.sum(axis=0),
)
_wrong(
    "parameters_of_dx_hat",
    "dγ and dβ have a factor γ too many: they are sums of dx̂ = γ dy, and should be of dy.",
    "dx̂ is for the way to x. γ and β stand after x̂, so their gradients are sums of dy itself: Σₙ dyₙ x̂ₙ and Σₙ dyₙ.",
    dgamma=lambda r: (r.dx_hat * r.x_hat).sum(axis=0),
    dbeta=lambda r: r.dx_hat.sum(axis=0),
)
