"""check_gradients: every derivative, one by one. check_directions: all at once, along random directions."""

from __future__ import annotations

from typing import Any

import numpy as np

from npbert.core import NO_TAPE, Layer, Tape, named_parameters
from npbert.gradcheck.derivatives import along, by_direction, by_number, random_steps
from npbert.gradcheck.diagnosis.diagnose import explained, gradients_of
from npbert.gradcheck.function import ScalarFunction
from npbert.gradcheck.overwritten import overwriting_named
from npbert.gradcheck.report import TOLERANCES, Report


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
) -> Report:
    """Compare every derivative that `layer.backward` computes, one by one.

    layer: any object with `forward(*inputs, tape=…) -> y`, `backward(dy, tape) -> dx`, and Parameters among its
    attributes or those of the layers it holds. y is an array or a tuple of them; dx holds a gradient for each float
    array among the inputs: an array, a tuple in their order, or None for none.
    inputs: float arrays are moved, all else is handed on. rng: for dropout; it is copied for every call, so that each
    call sees the same. seed: for dy. tolerances: the methods to use, with the relative error that each accepts.

    Nothing is left changed.

    Raises: TypeError when a float is not float64, or when complex numbers do not flow through forward; ValueError when
    there is nothing to check (no number, method or direction), for an array with a number that is not finite, or when
    the layer writes into its inputs, which are read-only; GradientError when two parameters share memory, or when the
    layer breaks its `Contract`. (One that does not refuse a wrong dy is told so last, after what its derivative lacks.)
    """
    _check_methods(tolerances)
    with overwriting_named(layer, inputs, rng):
        function = ScalarFunction(layer, inputs, rng, seed)
        analytic, broken = gradients_of(function, next(iter(tolerances)))
    numeric = {method: by_number(function, method) for method in tolerances}
    return explained(Report.compare(analytic, numeric, tolerances), function, analytic, numeric, broken)


def check_directions(
    layer: Any,
    *inputs: Any,
    rng: np.random.Generator | None = None,
    directions: int = 8,
    seed: int = 0,
    tolerances: dict[str, float] = TOLERANCES,
) -> Report:
    """Compare derivatives along random directions, in which all parameters and inputs move at once.

    Takes seven forwards a direction where `check_gradients` takes seven a number, so it serves for whole models: a
    wrong gradient anywhere shows in almost every direction, but not where it is. Arguments and errors are the same.
    """
    _check_methods(tolerances)
    if directions < 1:
        raise ValueError(f"directions is {directions}, wanted at least 1")
    with overwriting_named(layer, inputs, rng):
        function = ScalarFunction(layer, inputs, rng, seed)
        gradients, broken = gradients_of(function, next(iter(tolerances)))
    steps = random_steps(gradients, directions, seed + 1)
    analytic = {"direction": along(gradients, steps)}
    numeric = {method: {"direction": by_direction(function, method, steps)} for method in tolerances}
    return explained(Report.compare(analytic, numeric, tolerances), function, analytic, numeric, broken)


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
