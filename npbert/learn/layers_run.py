"""layer_numbers: what comes out of a layer, alone, twice, with another call between, and when nothing is dropped."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from npbert.catalogue import Setting
from npbert.core import Tape, named_parameters, named_parts
from npbert.gradcheck import GradientError
from npbert.gradcheck.inputs import as_tuple, copy_of, different, is_float_array, read_only
from npbert.layers import Dropout
from npbert.learn.layers_made import given_of, make
from npbert.learn.numbers import Numbers

ADDED = "after two backwards"
BETWEEN = "when another call comes between"
OTHER = "of a later call"
RESTING = "when nothing is dropped"
UNTAPED = "without a tape"


def layer_numbers(setting: Setting, layer_class: type[Any], seed: int, names: dict[str, str]) -> Numbers:
    """y and all gradients of one call; and again when another call comes between its forward and its backward."""
    layer, inputs, rng = make(setting, layer_class, seed)
    frozen = tuple(map(read_only, inputs))
    others = tuple(read_only(different(value)) for value in inputs)
    drawn = np.random.default_rng([seed, 4])

    without = layer.forward(*frozen, tape=Tape(copy_of(rng), keeps=False))
    tape = Tape(copy_of(rng))
    y = layer.forward(*frozen, tape=tape)
    dy = tuple(read_only(drawn.standard_normal(np.shape(part))) for part in as_tuple(y))
    y_name, values = given_of(setting)[1:], {name: part.value.copy() for name, part in named_parameters(layer)}
    numbers: Numbers = {y_name: np.copy(as_tuple(y)[0]), f"{y_name} {UNTAPED}": np.copy(as_tuple(without)[0])}
    called = _input_names(layer, inputs, names)
    numbers.update(zip(called, _backward(layer, y, dy, tape, called), strict=True))
    parameters = {names.get(name, f"the gradient of {name}"): part for name, part in named_parameters(layer)}
    numbers.update({name: part.grad.copy() for name, part in parameters.items()})
    for name, part in named_parameters(layer):
        if not np.array_equal(part.value, values[name], equal_nan=True):
            raise GradientError(
                f"backward changes the value of {name}, which only an optimiser may: what backward finds out belongs "
                f"in the gradient, self.{name}.grad, to which self.{name}.add_grad(…) adds"
            )

    layer.zero_grad()
    tape, other_tape = Tape(copy_of(rng)), Tape(np.random.default_rng(seed))
    layer.forward(*frozen, tape=tape)
    other_y = layer.forward(*others, tape=other_tape)
    again = _backward(layer, y, dy, tape, called)
    for _, part in named_parameters(layer):  # a part of dy that was handed over is one that nothing can be added to
        copied = part.grad.copy()
        part.zero_grad()
        part.add_grad(copied)
    other_dy = tuple(read_only(drawn.standard_normal(part.shape)) for part in dy)
    numbers.update({f"{name} {BETWEEN}": dx for name, dx in zip(called, again, strict=True)})
    of_other = _backward(layer, other_y, other_dy, other_tape, called)
    numbers.update({f"{name} {OTHER}": dx for name, dx in zip(called, of_other, strict=True)})
    numbers.update({f"{name} {ADDED}": part.grad.copy() for name, part in parameters.items()})

    if setting.layer_class is Dropout or any(isinstance(part, Dropout) for _, part in named_parts(layer)):
        tape = Tape()
        layer.forward(*frozen, tape=tape)
        resting = _backward(layer, y, dy, tape, called, f" {RESTING}")
        numbers.update({f"{name} {RESTING}": dx for name, dx in zip(called, resting, strict=True)})
    return numbers


def _input_names(layer: Any, inputs: tuple[Any, ...], names: dict[str, str]) -> list[str]:
    variables = type(layer).forward.__code__.co_varnames[1 : 1 + len(inputs)]
    floats = [name for name, value in zip(variables, inputs, strict=True) if is_float_array(value)]
    return [names.get(name, f"d{name}") for name in floats]


def _backward(layer: Any, y: Any, dy: tuple[Any, ...], tape: Tape, called: list[str], when: str = "") -> list[Any]:
    """Copies of what backward returns. Raises: GradientError where it is not a gradient for each input."""
    dx = layer.backward(dy if isinstance(y, tuple) else dy[0], tape)
    found = () if dx is None else as_tuple(dx)
    if len(found) != len(called):
        given = f"{len(found)} things" if len(found) > 1 else "one thing"
        if not called:
            hint = ", and that of a parameter is handed over with add_grad" if list(named_parameters(layer)) else ""
            raise GradientError(f"backward returns {given}, wanted nothing: no input has a gradient{hint}")
        wanted = " and ".join(called)
        if not found:
            is_forked = when or "if " in _source(layer)
            hint = "is there a `return` on every way past the `if`?" if is_forked else "does it end with a `return`?"
            raise GradientError(f"backward returns nothing{when}, wanted {wanted}: {hint}")
        own = [name for name, _ in named_parameters(layer) if "." not in name]
        add = ", ".join(f"self.{name}.add_grad(…)" for name in own)
        hint = f": a parameter's gradient is not returned, but handed over: {add}" if own and len(found) > 1 else ""
        raise GradientError(f"backward returns {given}, wanted {wanted}{hint}")
    for name, part in zip(called, found, strict=True):
        if not isinstance(part, np.ndarray):
            kind = type(part).__name__
            raise GradientError(
                f"backward returns {'an' if kind[0] in 'aeiou' else 'a'} {kind} for {name}, wanted an array"
            )
    tape.check_empty()
    return [np.copy(part) for part in found]


def _source(layer: Any) -> str:
    try:
        return inspect.getsource(type(layer).backward)
    except (OSError, TypeError):
        return ""
