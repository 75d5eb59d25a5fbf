"""ScalarFunction: a layer as one scalar function of all its numbers, run on the user's floats."""

import copy
import itertools
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import Parameter, Tape, TapeError, named_parameters, named_parts
from npbert.gradcheck.exact.number_modules import told
from npbert.gradcheck.forms import Form
from npbert.gradcheck.inputs import (
    Function,
    Outputs,
    Rng,
    as_list,
    as_tuple,
    copied,
    is_float_array,
    magnitude,
    mapped,
    names_given,
)
from npbert.gradcheck.report import GradientError, Gradients, WrongShapeError
from npbert.gradcheck.restoring import reachable, saved
from npbert.io import counted

_STREAM = 20220  # keeps dy and steps apart from the caller's draws with the same seed, which would hide mistakes
_FRACTIONS = 64


class ScalarFunction:
    """S = Σ dy · y as a function of the parameters and the float inputs of a layer.

    inputs: all of them, by forward's names, with `input` before a name that a parameter has. rng: for dropout. seed:
    for dy. things: all objects that the layer and the inputs hold.
    """

    def __init__(self, layer: Any, inputs: Iterable[Any], rng: Rng, seed: int) -> None:
        self.layer, self.rng, self.seed, given = layer, rng, seed, list(inputs)
        self.things = list(reachable([layer, *given]))
        names = [*layer.values] if self.is_form else names_given(layer.forward, len(given))
        names = [f"input {name}" if name in self.parameters else name for name in names]
        self.inputs = dict(zip(names, given, strict=True))

    @property
    def is_form(self) -> bool:
        """True for other people's code, of which each call runs a copy."""
        return isinstance(self.layer, Form)

    @cached_property
    def parameters(self) -> dict[str, Parameter]:
        """The layer's parameters by name, and those that `named_parameters` does not find, in a slot, a set or an
        object that is not a layer."""
        found = dict(named_parameters(self.layer))
        hidden = [each for each in self.things if isinstance(each, Parameter) and each not in found.values()]
        return found | {f"hidden parameter {number}": each for number, each in enumerate(hidden, 1)}

    @cached_property
    def moved_inputs(self) -> list[str]:
        """The names of the inputs with a gradient: those of a Form, or the float arrays that are not `constant_inputs`
        of the layer, such as the target of a loss."""
        if self.is_form:
            return [name for name in self.inputs if name in self.layer.gradients]
        constant = getattr(self.layer, "constant_inputs", ())
        return [
            name
            for name, value in self.inputs.items()
            if is_float_array(value) and name.removeprefix("input ") not in constant
        ]

    @property
    def variables(self) -> Gradients:
        """All variables by name: the parameters' values and the float inputs."""
        return mapped(attrgetter("value"), self.parameters) | {name: self.inputs[name] for name in self.moved_inputs}

    @property
    def size(self) -> int:
        """The number of all variables' elements."""
        return sum(self.made(np.size).values())

    def made(self, make: Function) -> dict[str, Any]:
        """Return make(array) for each variable, by name."""
        return mapped(make, self.variables)

    def checked(self) -> "ScalarFunction":
        """Return itself. Raises: ValueError, TypeError or GradientError if its derivatives cannot be checked."""
        for name, array in self.variables.items():
            if array.dtype != np.float64:
                raise TypeError(
                    f"{name} is {array.dtype}, wanted float64; use Init(rng, dtype=np.float64) and float64 inputs"
                )
            if not np.isfinite(array).all():
                raise ValueError(f"{name} has a number that is not finite, which has no derivative")
        for (name, one), (other_name, other) in itertools.combinations(self.parameters.items(), 2):
            if np.may_share_memory(one.value, other.value):
                raise GradientError(
                    f"{name} and {other_name} share memory; tie weights with one Parameter in both places"
                )
        for part in self.outputs():
            if part.dtype != np.float64:
                raise GradientError(f"forward turns float64 into {part.dtype}")
            if not np.isfinite(part).all():
                raise GradientError("forward returns a number that is not finite, which has no derivative")
        return self

    @contextmanager
    def unchanged(self, values: Mapping[str, Any] | None = None) -> Iterator[None]:
        """Within it, the variables have these values (by default copies of their own), all inputs are copies, and
        gradients start at 0; afterwards the layer is restored."""
        given, values = self.inputs, values or self.made(np.copy)
        parts = dict(named_parts(self.layer)) | self.parameters
        restore = saved(parts.values())
        try:
            for name, parameter in self.parameters.items():
                parameter.value = values[name]
                parameter.zero_grad()
            self.inputs = mapped(copied, given) | {name: values[name] for name in self.moved_inputs}
            yield
        finally:
            self.inputs = given
            restore()

    def scales(self) -> dict[str, float]:
        """Return, for each array, the derivative of Σ dy · y that changes it by its own size."""
        size = float(np.abs(self.terms({}, 0.0)).sum())
        return self.made(lambda array: size / spread(array))

    def random_step(self, number: int) -> Gradients:
        """Return the random step of this number for each variable, relative to its spread."""
        drawn = np.random.default_rng([self.seed + 1, _STREAM, number])
        return self.made(lambda array: spread(array) * drawn.standard_normal(array.shape))

    def moved(self, step: Gradients, t: complex) -> AbstractContextManager[None]:
        """The same as `unchanged`, with t · step added to the arrays named in `step`; all complex for a complex t."""
        values = self.made(lambda array: np.array(array, dtype=np.result_type(array, t)))  # with the same memory order
        for name, by in step.items():
            values[name][...] += t * by
        return self.unchanged(values)

    def forward(self, *inputs: Any, **options: Any) -> tuple[Any, Tape]:
        """Return y and the tape, always with the same dropout. inputs: instead of its own. options: of the tape."""
        tape = Tape(**{"rng": copy.deepcopy(self.rng), **options})
        return self.layer.forward(*(inputs or self.inputs.values()), tape=tape), tape

    def outputs(self) -> Outputs:
        """Return a copy of y."""
        y, _ = self.forward(*map(copied, self.inputs.values()))
        return tuple(map(np.copy, as_tuple(y)))  # y may be x, which changes again

    def terms(self, step: Gradients, t: complex) -> Array:
        """Return the terms dy · y of S at value + t · step."""
        with self.moved(step, t):
            return np.concatenate([(dy * y).ravel() for dy, y in zip(self.dy, self.outputs(), strict=True)])

    @cached_property
    def dy(self) -> Outputs:
        """A random dy, by seed: for a loss a short fraction, as its backward may compute with it in floats."""
        drawn = np.random.default_rng([self.seed, _STREAM])

        def like(part: Array) -> Any:
            dy = drawn.standard_normal(part.shape)
            return dy.astype(part.dtype) if part.ndim else (np.floor(_FRACTIONS * dy) + 0.5) / _FRACTIONS

        return tuple(map(like, self.outputs()))

    def backward(self, y: Any, dy: Outputs, tape: Tape) -> dict[str, Any]:
        """Return the gradients of the parameters, and of the float inputs; those with None become constants.

        y: forward's, with this tape.

        Raises: GradientError if a gradient is missing or has another shape, or something is left on the tape.
        """
        dx, names = self.layer.backward(dy if isinstance(y, tuple | list) else dy[0], tape), self.moved_inputs
        try:
            tape.check_empty()
        except TapeError as error:
            raise GradientError(str(error)) from error
        returned = as_list(dx)
        if dx is None or len(returned) != len(names):
            returned = list(as_tuple(dx))
        if len(returned) != len(names):
            hint = "add the missing `return`"
            if returned:
                hint = "return one for each NumPy array of floats, or None without a gradient"
            raise GradientError(f"backward returns {counted(len(returned), 'gradient')}, for inputs {names}: {hint}")
        found = mapped(attrgetter("grad"), self.parameters)
        moved = {name: each for name, each in zip(names, returned, strict=True) if each is not None}
        self.moved_inputs = [*moved]
        found |= moved
        for name, array in self.variables.items():
            if np.shape(found[name]) != array.shape:
                raise WrongShapeError(name, found, array.shape)
        return found

    @cached_property
    def epsilon(self) -> float:
        """Of the coarsest dtype of variables and inputs."""
        arrays = filter(is_float_array, [*self.variables.values(), *self.inputs.values()])
        return max([2.0**-52, *(float(np.finfo(array.dtype).eps) for array in arrays)])

    def gradients(self) -> Gradients:
        """Run the layer on floats. Returns backward's gradients by name.

        Raises: forward's errors; GradientError if backward raises, or does not return one gradient for each float
        input."""
        with self.unchanged():
            y, tape = self.forward()
            with told("backward"):
                found = self.backward(y, tuple(map(copied, self.dy)), tape)  # it may write into dy
            return mapped(np.copy, found)


def spread(array: Array) -> float:
    """Return the spread of an array's numbers, or their size if all are equal: the scale of a step."""
    return float(np.ptp(array) or magnitude(array) or 1.0) if array.size else 1.0
