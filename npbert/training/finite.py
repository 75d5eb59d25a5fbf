"""Where a number first stopped being finite: for the message when training breaks down."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import Layer, Parameter, Tape, named_parts
from npbert.data.batch import Batch
from npbert.training.parallel.communicator import ALONE, Communicator


class NotFiniteError(ArithmeticError):
    """The loss, a gradient or a parameter is infinite or not a number."""


def parameter_not_finite(model: Layer) -> str | None:
    """The name of the first parameter with a value that is not finite, if there is one."""
    return next((name for name, p in model.named_parameters() if not _all_finite(p.value)), None)


def _all_finite(values: Array) -> bool:
    """A finite sum, which is quickly made, has finite terms; an infinite one may be of terms that are only large."""
    with np.errstate(all="ignore"):
        return bool(np.isfinite(values.sum()) or np.isfinite(values).all())


def first_not_finite(
    model: Any,
    parts: Iterable[tuple[Batch, np.random.Generator | None]],
    gradients: Iterable[tuple[str, Parameter]],
    communicator: Communicator = ALONE,
) -> str:
    """A sentence that names the first parameter, or else the first layer in the order of computation, with a value that
    is not finite; or else the parameter whose gradient has one.

    parts: those of the batch that this process has, each with the generator of the same dropout. gradients: those that
    it has, by name. All processes look at theirs, and say the same.
    """
    everyone = communicator.gather(_first(model, parts, gradients))
    return min(everyone)[1]


def _first(
    model: Any,
    parts: Iterable[tuple[Batch, np.random.Generator | None]],
    gradients: Iterable[tuple[str, Parameter]],
) -> tuple[int, str]:
    """What is found, and how near to the cause: the smaller the nearer."""
    parameter_name = parameter_not_finite(model)
    if parameter_name:
        return 0, f"the parameter {parameter_name} is not finite"
    for batch, rng in parts:
        found: list[str] = []
        with _watched(model, found), np.errstate(all="ignore"):
            model.loss(batch, Tape(rng))
        if found:
            return 1, f"the first values that are not finite come out of {found[0]}"
    for name, parameter in gradients:
        if not np.isfinite(parameter.grad).all():
            return 2, f"all values are finite, but the gradient of {name} is not"
    return 3, "all values and gradients are finite, but their sum is not"


@contextmanager
def _watched(model: Layer, found: list[str]) -> Iterator[None]:
    """While it lasts, the name of every layer whose output is not finite is added to `found`; parts come first."""
    layers = [(name or "model", part) for name, part in named_parts(model) if hasattr(part, "forward")]
    try:
        for name, layer in layers:
            vars(layer)["forward"] = _watch(layer.forward, name, found)
        yield
    finally:
        for _, layer in layers:
            vars(layer).pop("forward", None)


def _watch(forward: Any, name: str, found: list[str]) -> Any:
    def watched(*args: Any, **options: Any) -> Any:
        y = forward(*args, **options)
        parts = y if isinstance(y, tuple) else (y,)
        numbers = [part for part in parts if isinstance(part, np.ndarray | np.floating | float)]
        if not all(np.isfinite(part).all() for part in numbers):
            found.append(name)
        return y

    return watched
