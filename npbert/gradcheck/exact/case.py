"""Case: a layer with its inputs, run on the user's floats."""

import copy
import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import Parameter, Tape, TapeError
from npbert.gradcheck.exact.number_modules import Swap, swaps_for
from npbert.gradcheck.gradients_by_name import gradients_by_name
from npbert.gradcheck.inputs import as_tuple, copied, copy_of, float_inputs_of, is_float_array, parameters_of, replaced
from npbert.gradcheck.report import GradientError
from npbert.gradcheck.restoring import reachable

_DECADES, _LARGE = 3, 1e4


@dataclass(frozen=True)
class Floats:
    """A forward and a backward on the user's floats.

    y, dy: forward's output, and backward's input. gradients: by name. epsilon: of the coarsest dtype.
    """

    y: tuple[Any, ...]
    dy: tuple[Any, ...]
    gradients: dict[str, Array]
    epsilon: float

    @property
    def factor(self) -> float:
        """The factor of dy for exact numbers, and so of their gradients: −1, as some functions treat negative numbers
        differently. The dy of a loss becomes a short fraction, as its backward may compute with it in floats."""
        if len(self.dy) > 1 or np.ndim(self.dy[0]):
            return -1.0
        return float(-(2 * math.floor(self.dy[0]) + 1) / 2**7 / self.dy[0])

    @property
    def dy_of_numbers(self) -> tuple[Any, ...]:
        """The dy of exact numbers."""
        return tuple(each * self.factor for each in self.dy)


class Case:
    """A layer with its inputs, and its dotted name if it is a part of another one.

    rng: for dropout. things: all objects that the layer holds, if known. parameters: by name. float_inputs: the
    positions of the inputs with a gradient, by name. swaps: see `room_for_numbers`.
    """

    def __init__(
        self,
        layer: Any,
        inputs: Iterable[Any],
        rng: np.random.Generator | None,
        name: str = "",
        things: Iterable[Any] | None = None,
    ) -> None:
        self.layer, self.inputs, self.rng, self.name, self._things = layer, list(inputs), rng, name, things

    @cached_property
    def things(self) -> list[Any]:
        """All objects that the layer holds."""
        return list(reachable([self.layer]) if self._things is None else self._things)

    @cached_property
    def parameters(self) -> dict[str, Parameter]:
        """The layer's parameters by name, including hidden ones."""
        return parameters_of(self.layer, self.things)

    @cached_property
    def float_inputs(self) -> dict[str, int]:
        """The positions of the inputs that have a gradient, by name."""
        return float_inputs_of(self.layer, self.inputs, self.parameters)

    @cached_property
    def swaps(self) -> list[Swap]:
        """The names to exchange for exact numbers."""
        return swaps_for(self.things)

    @property
    def variables(self) -> dict[str, Array]:
        """All variables: the parameters' values and the float inputs, by name."""
        values = {name: parameter.value for name, parameter in self.parameters.items()}
        return values | {name: self.inputs[position] for name, position in self.float_inputs.items()}

    @property
    def size(self) -> int:
        """The number of all variables' elements."""
        return sum(array.size for array in self.variables.values())

    def leave_out(self, names: set[str]) -> None:
        """Make these inputs constants, as backward returns None for them."""
        self.float_inputs = {name: position for name, position in self.float_inputs.items() if name not in names}

    def made(self, make: Callable[[Array], Any]) -> Any:
        """A context: see `replaced`."""
        return replaced(self.parameters, self.inputs, self.float_inputs, make)

    @contextmanager
    def moved(self, make: Callable[[Array], Any]) -> "Iterator[Case]":
        """Within it, the parameters are replaced. Gives the case with the inputs replaced, too."""
        with self.made(make) as (given, _):
            there = copy.copy(self)
            there.inputs = list(map(copied, given))
            yield there

    def outputs(self) -> tuple[Array, ...]:
        """Return y, always with the same dropout."""
        y = self.layer.forward(*self.inputs, tape=Tape(copy_of(self.rng)))
        return tuple(map(np.copy, as_tuple(y)))  # y may be x itself, which changes again

    def run_on_floats(self, dy: tuple[Any, ...] | np.random.Generator) -> Floats:
        """Run the layer on floats. Inputs for which backward returns None become constants. dy: an array, or its
        generator.

        Raises: forward's errors; GradientError if backward raises, or does not return one gradient for each float
        input."""
        with self.made(np.copy) as (given, variables):
            tape = Tape(copy_of(self.rng))
            y = self.layer.forward(*map(copied, given), tape=tape)
            ys = tuple(np.copy(part) for part in as_tuple(y))
            if isinstance(dy, np.random.Generator):
                dy = tuple(_drawn_like(part, dy) for part in ys)
            try:
                dx = self.layer.backward(dy if isinstance(y, tuple | list) else dy[0], tape)
            except TapeError:
                raise
            except Exception as error:
                raise GradientError(f"backward raises {type(error).__name__}: {error}") from error
            found = gradients_by_name(self.parameters, list(self.float_inputs), dx, tape)
            for name in found.keys() & self.float_inputs.keys():
                if np.shape(found[name]) != variables[name].shape:
                    shapes = f"has shape {np.shape(found[name])}, and {name} {variables[name].shape}"
                    raise GradientError(f"the gradient of {name} {shapes}")
            gradients = {name: np.copy(gradient) for name, gradient in found.items()}
            values = (parameter.value for parameter in self.parameters.values())
            dtypes = {array.dtype for array in (*ys, *gradients.values(), *values, *given) if is_float_array(array)}
        epsilon = max((float(np.finfo(dtype).eps) for dtype in dtypes), default=2.0**-52)
        self.leave_out(self.float_inputs.keys() - gradients.keys())
        return Floats(ys, dy, gradients, epsilon)


def _drawn_like(part: Array, drawn: np.random.Generator) -> Any:
    """Return a dy for this part of y with all sizes and signs, to detect code that treats some differently."""
    sizes = 10.0 ** drawn.uniform(-_DECADES, _DECADES, np.shape(part))
    if not np.ndim(part):
        return float(sizes * _LARGE)
    return (sizes * drawn.standard_normal(np.shape(part))).astype(part.dtype)
