"""Exercise 7, LayerNorm: the wrong dγ and dβ that people give."""

from __future__ import annotations

from npbert.compute import Array
from npbert.core import Tape
from npbert.layers import LayerNorm
from npbert.learn.exercise import Mistakes
from npbert.learn.exercises.layer_norm_answer import add, backward_with

PARAMETERS = Mistakes(LayerNorm, "backward")


def _setting(names: list[str], says: str, because: str) -> None:
    """A mistake in which these gradients are set, and not added to."""

    def backward(self: LayerNorm, dy: Array, tape: Tape) -> Array:
        for name in names:
            getattr(self, name).zero_grad()
        return backward_with(self, dy, tape)

    backward.__name__ = "_".join([*names, "set"])
    PARAMETERS(says, because)(backward)


add(
    PARAMETERS,
    "gamma_like_beta",
    "dγ lacks the factor x̂: yours is Σₙ dyₙ, which is dβ.",
    "y = γ x̂ + β: a step in γ moves y x̂ times as far. So dγ = Σₙ dyₙ x̂ₙ.",
    dgamma=lambda r: r.dy.sum(axis=0),
)
add(
    PARAMETERS,
    "gamma_of_dx_hat",
    "dγ has a factor γ too many: yours is Σₙ γ dyₙ x̂ₙ, right is Σₙ dyₙ x̂ₙ.",
    "dx̂ = γ dy is for the way to x. What γ is multiplied by is x̂, so dγ = Σₙ dyₙ x̂ₙ, of dy itself.",
    dgamma=lambda r: (r.dx_hat * r.x_hat).sum(axis=0),
)
add(
    PARAMETERS,
    "parameters_averaged",
    "dγ and dβ are means over the rows, but they are sums.",
    "γ and β move every row, and what comes back adds up. (The mean over the batch is inside dy already.)",
    dgamma=lambda r: (r.dy * r.x_hat).mean(axis=0),
    dbeta=lambda r: r.dy.mean(axis=0),
)
add(
    PARAMETERS,
    "parameters_not_summed",
    "dγ or dβ still has a row for each row of dy: it was not summed over the rows.",
    "One γ and one β serve all rows. What forward stretches to N rows, backward sums over them: .sum(axis=0).",
    dgamma=lambda r: r.dy * r.x_hat,
    dbeta=lambda r: r.dy,
)
_NOT_ADDED = (
    "Backward has two jobs: it returns dx, and it hands over what it finds out about the layer's own parameters, with "
    "self.gamma.add_grad(dγ) and self.beta.add_grad(dβ). Without that they never learn."
)
add(
    PARAMETERS,
    "nothing_added",
    "dγ and dβ are 0, as if add_grad was never called.",
    _NOT_ADDED,
    dgamma=lambda r: None,
    dbeta=lambda r: None,
)
add(
    PARAMETERS,
    "gamma_not_added",
    "dγ is 0, as if nothing was added to the gradient of γ.",
    _NOT_ADDED,
    dgamma=lambda r: None,
)
add(
    PARAMETERS,
    "beta_not_added",
    "dβ is 0, as if nothing was added to the gradient of β.",
    _NOT_ADDED,
    dbeta=lambda r: None,
)
_ADDS = (
    "Before the optimiser takes a step, several backwards may have something to say about γ and β. So backward adds: "
)
for _name, _cleared in (("γ", ["gamma"]), ("β", ["beta"]), ("γ and β", ["gamma", "beta"])):
    _verb = "gradients of {} are" if len(_cleared) > 1 else "gradient of {} is"
    _add = "self.gamma.add_grad(dγ), self.beta.add_grad(dβ)."
    _setting(_cleared, f"The {_verb.format(_name)} set, and should be added to what is there.", f"{_ADDS}{_add}")
add(
    PARAMETERS,
    "parameters_swapped",
    "dγ and dβ are swapped: each was added to the gradient of the other.",
    "γ is multiplied by x̂, so dγ = Σₙ dyₙ x̂ₙ; β is only added, so dβ = Σₙ dyₙ.",
    dgamma=lambda r: r.dy.sum(axis=0),
    dbeta=lambda r: (r.dy * r.x_hat).sum(axis=0),
)
add(
    PARAMETERS,
    "beta_of_dx_hat",
    "dβ has a factor γ too many: yours is Σₙ γ dyₙ, right is Σₙ dyₙ.",
    "dx̂ = γ dy is for the way to x. β is added after γ, so dβ = Σₙ dyₙ, of dy itself.",
    dbeta=lambda r: r.dx_hat.sum(axis=0),
)
add(
    PARAMETERS,
    "parameters_of_dx_hat",
    "dγ and dβ have a factor γ too many: they are sums of dx̂ = γ dy, and should be of dy.",
    "dx̂ is for the way to x. γ and β stand after x̂, so their gradients are sums of dy itself: Σₙ dyₙ x̂ₙ and Σₙ dyₙ.",
    dgamma=lambda r: (r.dx_hat * r.x_hat).sum(axis=0),
    dbeta=lambda r: r.dx_hat.sum(axis=0),
)
