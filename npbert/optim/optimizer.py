"""Optimizer: the base class of all optimizers, with the parameters, each once, and the learning rate."""

import math
from collections.abc import Iterable
from numbers import Real

from npbert.compute import Array
from npbert.core import Parameter


class Optimizer:
    """Base class: changes the values of `parameters` in place, by their gradients.

    A subclass writes `step`, which also counts: `self.steps += 1`. Only to save and restore a run, it needs `moments`,
    too; without other state, it returns {}.

    A parameter given twice (a tied weight) takes one step. A schedule may set `lr` before every step.

    Raises: ValueError without parameters or for a negative lr; TypeError for anything but a Parameter.
    """

    def __init__(self, parameters: Iterable[Parameter], lr: float) -> None:
        if hasattr(parameters, "parameters"):
            name = type(self).__name__
            raise TypeError(f"parameters is a model, wanted its parameters; use {name}(model.parameters())")
        self.steps = 0
        self.parameters = list(dict.fromkeys(parameters))
        self.lr = check_range("lr", lr)
        if not self.parameters:
            raise ValueError("parameters is empty, wanted at least one Parameter")
        for parameter in self.parameters:
            if not isinstance(parameter, Parameter):
                raise TypeError(
                    f"parameters has a {type(parameter).__name__}, wanted Parameters; use model.parameters()"
                )

    def __repr__(self) -> str:
        return f"{type(self).__name__}(lr={self.lr}, steps={self.steps}, {len(self.parameters)} parameters)"

    def moments(self) -> dict[str, list[Array]]:
        """Return the moments of past gradients by name, an array for each parameter, changed in place."""
        raise NotImplementedError

    def step(self, scale: float = 1.0) -> None:
        """Change every value in place by its gradient times `scale`, and count the step in `steps`.

        The scale clips without another pass over the gradients."""
        raise NotImplementedError


def check_range(name: str, value: float, below: float = math.inf) -> float:
    """Return `value`. Raises: ValueError unless 0 ≤ value < below."""
    if not isinstance(value, Real) or not 0 <= value < below:
        raise ValueError(f"{name} is {value!r}, wanted from 0 up to, but not including, {below}")
    return value
