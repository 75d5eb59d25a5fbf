"""Finds the first number that is not finite, when training breaks down."""

from collections.abc import Iterable

import numpy as np

from npbert.compute import run
from npbert.core import Layer, Parameter, Tape, named_parts
from npbert.models import TaskModel
from npbert.models.packed_batch import AnyBatch
from npbert.training.accumulate import part_rng, parts_of
from npbert.training.progress import Step
from npbert.training.state import Run


class NotFiniteError(FloatingPointError):
    """The loss, a gradient or a parameter is not finite."""


def check_step(trainer: Run, step: Step) -> None:
    """Raise NotFiniteError, on all processes, for the loss or a gradient, before the update."""
    if step.is_finite:
        return
    parts = enumerate(parts_of(trainer.model, step.batch, trainer.settings.parts))
    own = trainer.communicator.own([(part, part_rng(step.seed, number)) for number, part in parts])
    gradients = zip(trainer.shares.names, trainer.shares.parameters, strict=True)
    _, found = min(trainer.communicator.gather(first_not_finite(trainer.model, own, gradients)))
    raise NotFiniteError(
        f"step {step.number}: the loss is {step.losses.total} and the norm of the gradient {step.gradient_norm}; "
        f"{found}; try a smaller learning rate"
    )


def check_parameters(model: Layer, number: int) -> None:
    """Raise NotFiniteError for a parameter after the update of this step."""
    name = parameter_not_finite(model)
    if name:
        raise NotFiniteError(f"step {number}: the parameter {name} is not finite after it; try a smaller learning rate")


def parameter_not_finite(model: Layer) -> str | None:
    """Return the name of the first parameter with a value that is not finite, or None."""
    found = set()

    def look(named: tuple[str, Parameter]) -> None:
        name, parameter = named
        # A finite sum, a fast test, has finite terms; an infinite one may also come from large terms.
        with np.errstate(all="ignore"):
            if not (np.isfinite(parameter.value.sum()) or np.isfinite(parameter.value).all()):
                found.add(name)

    run(look, model.named_parameters())
    return next((name for name, _ in model.named_parameters() if name in found), None)


def first_not_finite(
    model: TaskModel,
    parts: Iterable[tuple[AnyBatch, np.random.Generator | None]],
    gradients: Iterable[tuple[str, Parameter]],
) -> tuple[int, str]:
    """Return a sentence on the first parameter, or else the first layer, with a value that is not finite; or else on a
    parameter with such a gradient. Before it, a number that is smaller the nearer it is to the cause.

    parts, gradients: of this process; each part with the generator of the same dropout.
    """
    parameter_name = parameter_not_finite(model)
    if parameter_name:
        return 0, f"the parameter {parameter_name} is not finite"
    names = {id(part): name or "model" for name, part in named_parts(model)}
    found: list[str] = []

    def look(layer: object, _: object, output: object) -> None:
        outputs = output if isinstance(output, tuple) else (output,)
        numbers = [each for each in outputs if isinstance(each, np.ndarray | np.floating | float)]
        if id(layer) in names and not all(np.isfinite(each).all() for each in numbers):
            found.append(names[id(layer)])

    for batch, rng in parts:
        with np.errstate(all="ignore"):
            model.loss(batch, Tape(rng, watcher=look))
        if found:
            return 1, f"the first values that are not finite come from {found[0]}"
    for name, parameter in reversed(list(gradients)):  # the last ones are closest to the loss
        if not np.isfinite(parameter.grad).all():
            return 2, f"all values are finite, but the gradient of {name} is not"
    return 3, "all values and gradients are finite, but their sum is not"
