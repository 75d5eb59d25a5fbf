"""A layer, run forward and backward on Numbers instead of floats."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import Tape, named_parameters
from npbert.gradcheck.exact.arrays import as_numbers, room_for_numbers, tangents_of, unknowns_like, values_of
from npbert.gradcheck.exact.number import Number
from npbert.gradcheck.inputs import as_tuple, copy_of, float_inputs_of, is_float_array


class WrongGradientsError(ValueError):
    """Backward does not return one gradient, of the same shape, for each float input."""


@dataclass(frozen=True)
class Run:
    """One forward and one backward.

    tangents: of the parameters and float inputs by name, arrays of the world's objects. growth: ⟨dy, ẏ⟩.
    gradients: what backward says, values by name.
    """

    tangents: dict[str, Array]
    growth: Any
    gradients: dict[str, Array]


def run_on_numbers(
    layer: Any, inputs: tuple[Any, ...], rng: np.random.Generator | None, dy: tuple[Array, ...] | np.random.Generator
) -> Run:
    """Run the layer once in the world that is there. rng: for dropout. dy: as it is, or where it is drawn from.

    Raises: WrongGradientsError; what the layer raises, which may be that it has no rule for Numbers.
    """
    with _parameters_as_numbers(layer) as parameters:
        given = [unknowns_like(value) if is_float_array(value) else value for value in inputs]
        variables = {name: parameter.value for name, parameter in parameters.items()}
        variables |= {name: given[position] for name, position in float_inputs_of(layer, inputs, parameters).items()}
        with room_for_numbers():
            tape = Tape(copy_of(rng))
            y = layer.forward(*given, tape=tape)
            parts = as_tuple(y)
            if isinstance(dy, np.random.Generator):
                drawn = dy
                dy = tuple(_drawn_like(part, drawn) for part in parts)
            else:
                dy = tuple(map(_exactly, dy))
            growth: Any = 0
            for of_part, part in zip(dy, parts, strict=True):
                growth = growth + inner(values_of(of_part), tangents_of(part))
            Number.keeps_tangents = False
            try:
                dx = layer.backward(dy if isinstance(y, tuple | list) else dy[0], tape)
            except ZeroDivisionError as error:
                raise WrongGradientsError("backward divides by a number that is 0, at whatever point") from error
        tape.check_empty()
        found = {name: parameter.grad for name, parameter in parameters.items()}
        found |= _by_name(() if dx is None else as_tuple(dx), [name for name in variables if name not in parameters])
        for name, gradient in found.items():
            if np.shape(gradient) != variables[name].shape:
                raise WrongGradientsError(
                    f"the gradient of {name} has shape {np.shape(gradient)}, and {name} {variables[name].shape}"
                )
        tangents = {name: tangents_of(value) for name, value in variables.items()}
        return Run(tangents, growth, {name: values_of(gradient) for name, gradient in found.items()})


def inner(a: Array, b: Array) -> Any:
    """Σ a b."""
    return (np.ravel(a) * np.ravel(b)).sum()


def _by_name(dx: tuple[Any, ...], names: list[str]) -> dict[str, Any]:
    if len(dx) != len(names):
        raise WrongGradientsError(f"backward returns {len(dx)} gradients, for the inputs {names}")
    return dict(zip(names, dx, strict=True))


def _drawn_like(part: Any, drawn: np.random.Generator) -> Any:
    """A dy for this part of y. One number stays a float, since the backward of a loss may ask for one."""
    if np.ndim(part) == 0:
        return float(drawn.integers(2**16, 2**20))
    return _exactly(drawn.standard_normal(np.shape(part)))


def _exactly(dy: Any) -> Any:
    if np.ndim(dy) == 0:
        return float(dy)
    world = Number.world
    return as_numbers(np.frompyfunc(lambda x: Number(world.draw(x), 0, x), 1, 1)(np.asarray(dy, float)))


@contextmanager
def _parameters_as_numbers(layer: Any) -> Iterator[dict[str, Any]]:
    """The parameters by name, with Numbers as their values and no gradient; as they were, afterwards."""
    parameters = dict(named_parameters(layer))
    before = [dict(vars(parameter)) for parameter in parameters.values()]
    try:
        for parameter in parameters.values():
            parameter.zero_grad()
            parameter.value = unknowns_like(parameter.value)
        yield parameters
    finally:
        for parameter, state in zip(parameters.values(), before, strict=True):
            vars(parameter).update(state)
