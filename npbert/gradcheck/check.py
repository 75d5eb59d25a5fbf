"""check_gradients: checks every derivative, by proof where possible. assert_proved: the same for a test.
check_directions: estimates along random directions."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from npbert.core import NO_TAPE, Layer, Tape, named_parameters
from npbert.gradcheck.estimates import compared_along, estimated, exact_gradients
from npbert.gradcheck.exact.prove import proved
from npbert.gradcheck.explain.findings import explained, gradients_of
from npbert.gradcheck.forward import check_reference, unsteady
from npbert.gradcheck.function import ScalarFunction
from npbert.gradcheck.gradients import Grads
from npbert.gradcheck.inputs import Function, Rng
from npbert.gradcheck.layer_of import function_of
from npbert.gradcheck.report import EXACT, NOT_PROVED, GradientError, Gradients, Proof, Report, compared
from npbert.gradcheck.restoring import everything_restored

_NEGLIGIBLE = 1e-3  # the allowed relative error from a small constant that backward leaves out


class LossOf(Layer):
    """A model's loss as a layer with one output, to check a whole model."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def forward(self, *inputs: Any, tape: Tape = NO_TAPE) -> Any:
        return self.model.loss(*inputs, tape=tape).loss

    def backward(self, dloss: Any, tape: Tape) -> None:
        """Run the model's own backward."""
        self.model.loss_backward(float(dloss), tape)


def check_gradients(
    layer: Any,
    *inputs: Any,
    rng: Rng = None,
    seed: int = 0,
    wrt: Sequence[str] | None = None,
    grads: Grads | None = None,
    forward: Function | None = None,
) -> Report:
    """Check every derivative that `layer.backward` computes.

    layer: your own code in a form of docs/check_your_own.md; or an object with `forward(*inputs, tape=…) -> y` and
    `backward(dy, tape) -> dx`, and Parameters among its attributes or those of its layers. y is an array or a tuple; dx
    has a gradient for each float array among the inputs: an array, a tuple in their order, or None.
    inputs: float arrays are varied, all others are constant.
    rng: for dropout; each call gets a copy.
    seed: for dy.
    wrt: the names of the inputs with a gradient, in the order of backward's result, if your code does not show it.
    grads: the names of an object's gradients, such as {"W": "dW"}, if they do not follow from its names; None: a
    constant.
    forward: a reference for y, called with the same inputs.

    The steps: the promises of a layer (`contract.py`); the proof (`prove`); and the two estimates along two directions:
    one estimate has to agree (a kink may be near, or complex numbers may not work). For refuted gradients, exact
    arithmetic gives the right ones. Without an answer of the proof, or if floats contradict it, each derivative is
    compared with each estimate.

    The program is left unchanged (`restoring.py`).

    Raises: TypeError for a float that is not float64; ValueError without a number to check, or for a number that is not
    finite; GradientError if y is not finite, if two parameters share memory, or if the layer breaks a promise that its
    derivative needs; PromiseError for another broken promise, such as to refuse a wrong dy, if all derivatives are
    right (otherwise it is a part of the diagnosis).
    """
    with function_of(layer, inputs, rng, seed, wrt or (), grads) as function:
        if forward is not None:
            check_reference(function, [value for value in inputs if not callable(value)], forward)
        analytic, broken = gradients_of(function.checked())
        proof = proved(function)  # after which the layer is as before
        report = explained(_compared(function, analytic, proof), function, broken)
    later = everything_restored(layer, *inputs)  # of their state then
    return replace(report, diagnose=later(report.diagnose), remark=later(partial(unsteady, function)))


def assert_proved(given: Any, *inputs: Any, **options: Any) -> Report:
    """Raise GradientError, an AssertionError that shows the wrong line, unless every derivative is right.

    Arguments and options: as `check_gradients`.

    Returns: the report. `report.proof` tells whether the derivatives are proved. Without a proof, as with PyTorch's own
    code or casts to float32, they are right by the estimates in `str(report)`.

    Raises: TypeError and ValueError as `check_gradients`.
    """
    __tracebackhide__ = True  # for pytest
    try:
        report = check_gradients(given, *inputs, **options)
        report.raise_if_wrong()
    except GradientError as error:
        raise GradientError(str(error)) from None
    return report


def _compared(function: ScalarFunction, analytic: Gradients, proof: Proof) -> Report:
    """Return the report on the gradients, compared with the strongest available method."""
    found = list(proof.wrong)
    if proof:
        found = [array for array in compared_along(function, analytic, 2).comparisons if not array.count]
    if proof.dropped:
        found = compared(EXACT, analytic, exact_gradients(function), _NEGLIGIBLE)
    report = Report(function.made(np.size), found or estimated(function, analytic), proof)
    if proof and not report.ok:
        reason = "the equality holds, but finite differences of your floats contradict it"
        return replace(report, proof=replace(proof, verdict=NOT_PROVED, reason=reason))
    return report


def check_directions(
    layer: Any,
    *inputs: Any,
    rng: Rng = None,
    directions: int = 8,
    seed: int = 0,
) -> Report:
    """Compare derivatives with estimates along random directions, in which all parameters and inputs move at once.

    For models that are too large for the proof: a wrong gradient shows in almost every direction, but not its place.
    Arguments and errors: as `check_gradients`.
    """
    if directions < 1:
        raise ValueError(f"directions is {directions}, wanted at least 1")
    with function_of(layer, inputs, rng, seed) as function:
        gradients, broken = gradients_of(function.checked())
        report = compared_along(function, gradients, directions)
        return explained(report, function, broken)


def randomize(layer: Any, rng: np.random.Generator) -> None:
    """Set every parameter to numbers between −1 and 1, which hide no mistake.

    New layers have γ = 1, zero biases and small weights, so attention is uniform: many wrong backwards are right there.
    """
    for _, parameter in named_parameters(layer):
        parameter.value[...] = rng.uniform(-1, 1, parameter.value.shape)
