"""Finds the first number that is not finite, when training breaks down."""

from collections.abc import Iterable

import numpy as np

from npbert.core import Layer, Tape, named_parts
from npbert.models import AnyBatch, TaskModel


class NotFiniteError(FloatingPointError):
    """The loss, a gradient or a parameter is not finite."""


def check_parameters(model: Layer, step: int) -> None:
    """Raise NotFiniteError for the first parameter that is not finite after the update of this step."""
    for name, parameter in model.named_parameters():
        if not np.isfinite(parameter.value).all():
            raise NotFiniteError(f"the parameter {name} is not finite after step {step}; try a smaller learning rate")


def layers_not_finite(model: TaskModel, parts: Iterable[tuple[AnyBatch, Tape]]) -> list[str]:
    """Return the names of the layers with a value that is not finite, in the order of their calls.

    parts: each with a tape for the same dropout.
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
    return found
