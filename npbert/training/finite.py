"""Finds the first number that is not finite, when training breaks down."""

from collections.abc import Iterable

import numpy as np

from npbert.core import Layer, Tape, named_parts
from npbert.models import AnyBatch, TaskModel
from npbert.training.shares import Shares


class NotFiniteError(FloatingPointError):
    """The loss, a gradient or a parameter is not finite."""


def check_parameters(model: Layer, step: int) -> None:
    """Raise NotFiniteError for the first parameter that is not finite after the update of this step."""
    for name, parameter in model.named_parameters():
        if not np.isfinite(parameter.value).all():
            raise NotFiniteError(f"the parameter {name} is not finite after step {step}; try a smaller learning rate")


def first_not_finite(model: TaskModel, parts: Iterable[tuple[AnyBatch, Tape]], shares: Shares) -> tuple[int, str]:
    """Return a sentence on the first layer with a value that is not finite, or else on a parameter with such a
    gradient. Before it, a number that is smaller the nearer it is to the cause.

    parts: of this process; each with a tape for the same dropout.
    """
    names = {id(part): name or "model" for name, part in named_parts(model)}
    found: list[str] = []

    def look(layer: object, _: object, output: object) -> None:
        outputs = output if isinstance(output, tuple) else (output,)
        numbers = [each for each in outputs if isinstance(each, np.ndarray | np.floating | float)]
        if id(layer) in names and not all(np.isfinite(each).all() for each in numbers):
            found.append(names[id(layer)])

    for batch, tape in parts:
        tape.watcher = look
        model.loss(batch, tape)
    if found:
        return 0, f"the first values that are not finite come from {found[0]}"
    for name, parameter in reversed(list(zip(shares.names, shares.parameters, strict=True))):  # nearest to the loss
        if not np.isfinite(parameter.grad).all():
            return 1, f"all values are finite, but the gradient of {name} is not"
    return 2, "all values and gradients are finite, but their sum is not"
