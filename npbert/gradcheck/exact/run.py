"""A layer, run forward and backward on Numbers instead of floats."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.core import Parameter, Tape, TapeError, named_parameters
from npbert.gradcheck.exact.arrays import room_for_numbers, tangents_of, unknowns_like, values_of
from npbert.gradcheck.exact.number import Number, World
from npbert.gradcheck.inputs import as_tuple, copy_of, float_inputs_of, replaced
from npbert.gradcheck.report import GradientError
from npbert.messages import counted

# SystemError: np.add.at into an array of floats does not look whether a Number could be made a float, and goes on.
UNKNOWN = (TypeError, ValueError, AttributeError, ArithmeticError, LookupError, SystemError)
"""The errors of a layer that does what exact numbers cannot."""


class Part(NamedTuple):
    """A layer with what its forward is given, and its dotted name, if it is a part of another one. rng: for dropout."""

    layer: Any
    inputs: tuple[Any, ...]
    rng: np.random.Generator | None
    name: str = ""


@dataclass(frozen=True)
class Run:
    """One forward and one backward.

    tangents: of the parameters and float inputs by name, arrays of the world's objects. growth: ⟨dy, ẏ⟩.
    gradients: what backward says, values by name.
    """

    tangents: dict[str, Array]
    growth: Any
    gradients: dict[str, Array]

    @property
    def difference(self) -> Any:
        """⟨dy, ẏ⟩ − ⟨dx, ẋ⟩ − Σ ⟨dW, Ẇ⟩, which is 0 where backward is right."""
        return self.growth - sum(_inner(self.gradients[name], moved) for name, moved in self.tangents.items())


def run_on_numbers(world: World, part: Part, dy: tuple[Array, ...] | np.random.Generator) -> Run:
    """Run a layer once in this world. dy: as it is, or where it is drawn from.

    Raises: GradientError when backward does not return one gradient, of its shape, for each float input; what the layer
    raises, which may be that it has no rule for Numbers.
    """
    parameters = dict(named_parameters(part.layer))
    moved = float_inputs_of(part.layer, part.inputs, parameters)
    with inhabited(world), replaced(part.layer, part.inputs, moved, unknowns_like) as (given, variables):
        tangents = {name: tangents_of(value) for name, value in variables.items()}
        with room_for_numbers():
            tape = Tape(copy_of(part.rng))
            y = part.layer.forward(*given, tape=tape)
            ys = as_tuple(y)
            if isinstance(dy, np.random.Generator):
                dy = tuple(_drawn_like(each, dy) for each in ys)
            dys: list[Any] = [unknowns_like(each, moved=False) if np.ndim(each) else float(each) for each in dy]
            growth: Any = sum(_inner(values_of(d), tangents_of(each)) for d, each in zip(dys, ys, strict=True))
            Number.keeps_tangents = False
            try:
                dx = part.layer.backward(tuple(dys) if isinstance(y, tuple | list) else dys[0], tape)
            except ZeroDivisionError as error:
                raise GradientError("backward divides by a number that is 0, at whatever point") from error
        found = gradients_by_name(parameters, list(moved), dx, tape)
        for name, gradient in found.items():
            if np.shape(gradient) != variables[name].shape:
                raise GradientError(
                    f"the gradient of {name} has shape {np.shape(gradient)}, and {name} {variables[name].shape}"
                )
        return Run(tangents, growth, {name: values_of(gradient) for name, gradient in found.items()})


def gradients_by_name(
    parameters: Mapping[str, Parameter], float_inputs: list[str], dx: Any, tape: Tape
) -> dict[str, Any]:
    """The gradients of the parameters, and of the float inputs as backward returned them.

    Raises: GradientError unless there is one for each of these, or when something is left on the tape.
    """
    try:
        tape.check_empty()
    except TapeError as error:
        raise GradientError(str(error)) from error
    returned = () if dx is None else as_tuple(dx)
    if len(returned) != len(float_inputs):
        hint = "there is one for each NumPy array of floats" if returned else "is `return` forgotten?"
        hint += ", and a list is none" if len(returned) > len(float_inputs) else ""
        raise GradientError(f"backward returns {counted(len(returned), 'gradient')}, for inputs {float_inputs}: {hint}")
    return {name: parameter.grad for name, parameter in parameters.items()} | dict(
        zip(float_inputs, returned, strict=True)
    )


def _inner(a: Array, b: Array) -> Any:
    """Σ a b."""
    return (np.ravel(a) * np.ravel(b)).sum()


def _drawn_like(part: Any, drawn: np.random.Generator) -> Any:
    """A dy for this part of y. One number is a whole one, since the backward of a loss may ask for a float."""
    return drawn.standard_normal(np.shape(part)) if np.ndim(part) else drawn.integers(2**16, 2**20)


_one_at_a_time = threading.RLock()


@contextmanager
def inhabited(world: World) -> Iterator[None]:
    """While it lasts, Numbers are of this world. Other threads wait for their turn."""
    with _one_at_a_time:
        Number.world, Number.keeps_tangents = world, True
        yield
