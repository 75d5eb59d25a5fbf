"""check_gradients: every derivative, proved where it can be. check_directions: estimates, along random directions."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from npbert.core import NO_TAPE, Layer, Tape, named_parameters
from npbert.gradcheck.exact import prove
from npbert.gradcheck.explain.finding import Finding
from npbert.gradcheck.explain.findings import explained, gradients_of
from npbert.gradcheck.forms import Form
from npbert.gradcheck.forward import check_reference, overflow
from npbert.gradcheck.function import ScalarFunction
from npbert.gradcheck.layer_of import as_layer
from npbert.gradcheck.places import Grads
from npbert.gradcheck.report import (
    EXACT,
    NOT_PROVED,
    ROUGHLY,
    ROUNDING,
    TOLERANCES,
    Gradients,
    Proof,
    Report,
)
from npbert.gradcheck.restoring import kept
from npbert.io.messages import counted

_NEGLIGIBLE = 1e-3  # the relative error that may come of a small constant which backward leaves out


class LossOf(Layer):
    """A model's loss as a layer with one output, so that a whole model can be checked, from the loss to every table."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def forward(self, *inputs: Any, tape: Tape = NO_TAPE) -> Any:
        return self.model.loss(*inputs, tape=tape).loss

    def backward(self, dloss: Any, tape: Tape) -> None:
        """As the model's own."""
        self.model.loss_backward(float(dloss), tape)


def check_gradients(
    layer: Any,
    *inputs: Any,
    rng: np.random.Generator | None = None,
    seed: int = 0,
    tolerances: dict[str, float] = TOLERANCES,
    wrt: Sequence[str] | None = None,
    grads: Grads | None = None,
    forward: Callable[..., Any] | None = None,
) -> Report:
    """Check every derivative that `layer.backward` computes.

    layer: what others wrote, in the forms of docs/check_your_own.md; or any object with
    `forward(*inputs, tape=…) -> y`, `backward(dy, tape) -> dx`, and Parameters among its attributes or those of the
    layers it holds. y is an array or a tuple of them; dx holds a gradient for each float array among the inputs: an
    array, a tuple in their order, or None for none.
    inputs: float arrays are moved, all else is handed on. rng: for dropout; it is copied for every call, so that each
    call sees the same. seed: for dy. tolerances: the estimates to use, with the relative error that each accepts.
    wrt: the names of the inputs that have a gradient, where what others wrote does not show it. grads: where the
    gradients of an object's parameters are, {"W": "dW"}, for those that its names do not show; None for a constant.
    forward: a reference for y, which is given the same inputs.

    First come the promises of a layer (`contract.py`); then the proof (`prove`). Where it holds, estimates along two
    directions look at the values, and one of them has to agree: a kink may be near, or complex numbers may not flow.
    Where the gradients are refuted, exact arithmetic says what is right. Where neither is possible, or floats
    contradict the proof, each derivative is compared with each estimate.

    The program is left as it was (`restoring.py`).

    Raises: TypeError when a float is not float64; ValueError when there is nothing to check (no number, method or
    direction), or for an array with a number that is not finite; GradientError when y is not finite, when two
    parameters share memory, or when the layer breaks a promise. (One that does not refuse a wrong dy is told so last,
    after what its derivative lacks.)
    """
    _check_methods(tolerances)
    given = layer, *inputs
    with kept(*given):
        theirs = [value for value in inputs if not callable(value)]
        layer, inputs = as_layer(layer, inputs, wrt, grads)
        if forward is not None:
            check_reference(layer, inputs, theirs, forward)
        function = ScalarFunction(layer, inputs, rng, seed)
        analytic, broken = gradients_of(function)
        proof = prove(layer, *inputs, rng=rng, seed=seed)
        report = explained(_compared(function, analytic, proof, tolerances), function, broken)
        if isinstance(layer, Form):
            report = replace(report, unchecked=f"{report.unchecked} {overflow(layer, inputs)}".strip())
    if hidden := len(set(function.parameters) - set(dict(named_parameters(layer)))):
        says = (
            f"{counted(hidden, 'parameter')} checked that `parameters()` does not find, so no optimizer would change it"
        )
        hold = "keep it as an attribute, or in a list, tuple or dict"
        report = replace(report, unchecked=f"{report.unchecked} {says}: {hold}.".strip())
    diagnose = report.diagnose

    def diagnosed() -> list[Finding]:
        with kept(*given):
            return diagnose()

    return replace(report, diagnose=diagnosed)


def _compared(function: ScalarFunction, analytic: Gradients, proof: Proof, tolerances: dict[str, float]) -> Report:
    """The report on the gradients, with what is right by the strongest method that there is."""
    sizes = {name: gradient.size for name, gradient in analytic.items()}
    if proof:
        along = function.compared_along(analytic, tolerances, 2, 1, must_flow=False, rounding=proof.rounding)
        if along.believed or not along.worst:
            worst = {method: along.worst[method] for method in along.believed}
            return replace(along, sizes=sizes, wrong=dict.fromkeys(sizes, 0), worst=worst, proof=proof)
    right = function.exact() if proof.wrong or proof.dropped else {}
    if right:
        report = Report.compare(EXACT, analytic, right, _NEGLIGIBLE if proof.dropped else ROUNDING)
        if not proof.wrong:
            return replace(report, proof=proof)
        wrong = {array.name: array.count for array in proof.wrong}  # however little, and no rounding of others
        largest = max(proof.wrong, key=lambda array: array.relative_error)
        worst = report.worst if report.worst[EXACT].count else {EXACT: largest}
        return replace(report, wrong=dict.fromkeys(sizes, 0) | wrong, worst=worst, proof=proof)
    report, accepted = Report.on(analytic), {**ROUGHLY, **TOLERANCES, **tolerances}
    for method, gradients, doubts in function.estimated(analytic, tolerances):
        report |= Report.compare(method, analytic, gradients, accepted[method], doubts=doubts)
    if proof and not report.ok:
        reason = "the equality holds, but finite differences of your floats contradict it"
        proof = replace(proof, verdict=NOT_PROVED, reason=reason)
    return replace(report, proof=proof)


def check_directions(
    layer: Any,
    *inputs: Any,
    rng: np.random.Generator | None = None,
    directions: int = 8,
    seed: int = 0,
    tolerances: dict[str, float] = TOLERANCES,
) -> Report:
    """Compare derivatives along random directions, in which all parameters and inputs move at once, with estimates.

    For models that are too large to be proved: a wrong gradient anywhere shows in almost every direction, but not where
    it is. Arguments and errors are those of `check_gradients`.
    """
    _check_methods(tolerances)
    if directions < 1:
        raise ValueError(f"directions is {directions}, wanted at least 1")
    with kept(layer, *inputs):
        layer, inputs = as_layer(layer, inputs)
        function = ScalarFunction(layer, inputs, rng, seed)
        gradients, broken = gradients_of(function)
        return explained(function.compared_along(gradients, tolerances, directions, seed + 1), function, broken)


def _check_methods(tolerances: dict[str, float]) -> None:
    if not tolerances or not set(tolerances) <= set(TOLERANCES):
        raise ValueError(f"tolerances is for {list(tolerances)}, wanted one or both of {list(TOLERANCES)}")


def randomize(layer: Any, rng: np.random.Generator) -> None:
    """Set every parameter to numbers between −1 and 1, so that no check is blind.

    Fresh layers have γ = 1, zero biases and weights so small that attention is even: many a wrong backward is right
    there.
    """
    for _, parameter in named_parameters(layer):
        parameter.value[...] = rng.uniform(-1, 1, parameter.value.shape)
