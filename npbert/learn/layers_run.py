"""layer_numbers: what comes out of a layer, alone, twice, with another call between, and when nothing is dropped."""

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

from npbert.catalogue import Setting
from npbert.core import Init, Tape, named_parameters, named_parts
from npbert.gradcheck import GradientError, check_directions, check_gradients, randomize
from npbert.gradcheck.inputs import as_tuple, copy_of, different, float_inputs_of, read_only
from npbert.layers import Dropout
from npbert.learn.numbers import Numbers

ADDED = "after two backwards"
BETWEEN = "when another call comes between"
OTHER = "of a later call"
RESTING = "when nothing is dropped"
UNTAPED = "without a tape"

MANY = 100
"""Parameters that are so many that they are not checked one by one."""


def make(setting: Setting, layer_class: type[Any], seed: int) -> tuple[Any, tuple[Any, ...], np.random.Generator]:
    """As setting.make, at another random point for each seed."""
    layer = setting.build(layer_class, Init(np.random.default_rng([seed, 0]), 1.0, np.float64))
    randomize(layer, np.random.default_rng([seed, 1]))
    return layer, setting.inputs(np.random.default_rng([seed, 2])), np.random.default_rng([seed, 3])


def given_of(setting: Setting) -> str:
    """The name that backward has for the gradient that it is given: `dy`, `dc`, `dloss`."""
    return list(inspect.signature(setting.layer_class.backward).parameters)[1]


def check_of(layer: Any) -> Any:
    """One by one, or along directions where there are many derivatives."""
    return check_gradients if sum(p.value.size for _, p in named_parameters(layer)) <= MANY else check_directions


def layer_numbers(setting: Setting, layer_class: type[Any], seed: int, names: Mapping[str, str]) -> Numbers:
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
    called = [names.get(name, f"d{name}") for name in float_inputs_of(layer, inputs, ())]
    numbers |= _backward(layer, y, dy, tape, called)
    parameters = {names.get(name, f"the gradient of {name}"): part for name, part in named_parameters(layer)}
    numbers |= {name: part.grad.copy() for name, part in parameters.items()}
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
    numbers |= _backward(layer, y, dy, tape, called, BETWEEN)
    for _, part in named_parameters(layer):  # a part of dy that was handed over is one that nothing can be added to
        copied = part.grad.copy()
        part.zero_grad()
        part.add_grad(copied)
    other_dy = tuple(read_only(drawn.standard_normal(part.shape)) for part in dy)
    numbers |= _backward(layer, other_y, other_dy, other_tape, called, OTHER)
    numbers |= {f"{name} {ADDED}": part.grad.copy() for name, part in parameters.items()}

    if setting.layer_class is Dropout or any(isinstance(part, Dropout) for _, part in named_parts(layer)):
        tape = Tape()
        layer.forward(*frozen, tape=tape)
        numbers |= _backward(layer, y, dy, tape, called, RESTING)
    return numbers


def _backward(layer: Any, y: Any, dy: tuple[Any, ...], tape: Tape, called: list[str], when: str = "") -> Numbers:
    """The gradients by backward, by name: `dx when …`. Raises: GradientError if there is not one for each input."""
    dx = layer.backward(dy if isinstance(y, tuple) else dy[0], tape)
    found = () if dx is None else as_tuple(dx)
    if len(found) != len(called):
        given = f"{len(found)} things" if len(found) > 1 else "one thing"
        if not called:
            hint = ", and that of a parameter is handed over with add_grad" if list(named_parameters(layer)) else ""
            raise GradientError(f"backward returns {given}, wanted nothing: no input has a gradient{hint}")
        wanted = " and ".join(called)
        if not found:
            try:
                is_forked = bool(when) or "if " in inspect.getsource(type(layer).backward)
            except (OSError, TypeError):
                is_forked = False
            hint = "is there a `return` on every way past the `if`?" if is_forked else "does it end with a `return`?"
            raise GradientError(f"backward returns nothing{when and f' {when}'}, wanted {wanted}: {hint}")
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
    return {f"{name} {when}".rstrip(): np.copy(part) for name, part in zip(called, found, strict=True)}


def returning(cls: type[Any], method: str, like: dict[str, int]) -> type[Any]:
    """The class, whose method says so when it does not return these arrays, before anything is done with them.

    like: by the name of an array, the number of the argument that it is like, self being 0.
    """

    def looked_at(*arguments: Any, **options: Any) -> Any:
        found = getattr(cls, method)(*arguments, **options)
        if not isinstance(found, tuple | list) or len(found) != len(like):
            count = len(found) if isinstance(found, tuple | list) else 1
            given = "nothing" if found is None else "one thing" if count == 1 else f"{count} things"
            raise GradientError(f"{method} returns {given}, wanted {len(like)} arrays: return {', '.join(like)}")
        for (name, number), part in zip(like.items(), found, strict=True):
            shape, wanted, dtype = np.shape(part), arguments[number].shape, arguments[number].dtype
            if shape != wanted:
                is_turned = len(wanted) > 1 and shape == (*wanted[:-2], wanted[-1], wanted[-2])
                swapped = ": the last two axes are swapped" if is_turned else ""
                raise GradientError(f"the {name} of {method} has the shape {shape}, wanted {wanted}{swapped}")
            if np.asarray(part).dtype.itemsize < dtype.itemsize:
                raise GradientError(f"the {name} of {method} is {np.asarray(part).dtype}, and what it is given {dtype}")
        return tuple(found)

    return type(cls.__name__, (cls,), {method: looked_at, "__module__": "checked"})
