"""Optimizer: the base of all optimisers, with the parameters, each once, and the learning rate of the next step."""

from collections.abc import Iterable

from npbert.compute import Array
from npbert.core import Parameter


class Optimizer:
    """Changes the values of `parameters` in place, following their gradients.

    A parameter given twice (a tied weight) is stepped once. `lr` may be set before every step, by a schedule. `steps`
    counts the steps done, and `moments()` is all else that an optimiser remembers.

    Raises: ValueError for no parameters at all or a negative lr, TypeError for anything that is not a Parameter.
    """

    def __init__(self, parameters: Iterable[Parameter], lr: float) -> None:
        if hasattr(parameters, "parameters"):
            name = type(self).__name__
            raise TypeError(f"parameters is a model, wanted its parameters; use {name}(model.parameters())")
        self.steps = 0
        self.parameters = list(dict.fromkeys(parameters))
        self.lr = check_range("lr", lr, 0, float("inf"))
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
        """The memory of past gradients: by name, an array for each parameter, changed in place."""
        raise NotImplementedError

    def step(self, scale: float = 1.0) -> None:
        """Change every value by its gradient times `scale`. So clipping needs no pass over the gradients of its own."""
        raise NotImplementedError


def check_range(name: str, value: float, low: float, high: float) -> float:
    """`value`, if it is from `low` up to, but not including, `high`; else raise ValueError."""
    if isinstance(value, str) or not low <= value < high:
        raise ValueError(f"{name} is {value!r}, wanted from {low} up to, but not including, {high}")
    return value


def is_decayed(value: Array) -> bool:
    """True for a matrix. Vectors (biases, and γ and β of LayerNorm) do not decay."""
    return value.ndim > 1
