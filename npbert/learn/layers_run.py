"""layer_numbers: what comes out of a layer, alone, twice, with another call between, and when nothing is dropped."""

import inspect
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from npbert.catalogue import Setting
from npbert.core import Init, Tape, named_parameters, named_parts
from npbert.gradcheck import GradientError, check_directions, check_gradients, randomize
from npbert.gradcheck.explain import in_manner
from npbert.gradcheck.inputs import as_tuple, copy_of, different, float_inputs_of, is_float_array, read_only
from npbert.layers import Dropout
from npbert.learn.compared import Numbers

ADDED = "after two backwards"
BETWEEN = "when another call comes between"
OTHER = "of a later call"
RESTING = "when nothing is dropped"
UNTAPED = "without a tape"

_INIT = Init(np.random.default_rng(0), 1.0, np.float64)
MANY = 100
"""Parameters that are so many that they are not checked one by one."""


def make(setting: Setting, layer_class: type[Any], seed: int) -> tuple[Any, tuple[Any, ...], np.random.Generator]:
    """As setting.make, at another random point for each seed."""
    layer, inputs = _layer(setting, layer_class, seed), setting.inputs(np.random.default_rng([seed, 2]))
    return layer, inputs, np.random.default_rng([seed, 3])


def _layer(setting: Setting, layer_class: type[Any], seed: int) -> Any:
    layer = setting.build(layer_class, _INIT)
    randomize(layer, np.random.default_rng([seed, 1]))
    return layer


def given_of(setting: Setting) -> str:
    """The name that backward has for the gradient that it is given: `dy`, `dc`, `dloss`."""
    return list(inspect.signature(setting.layer_class.backward).parameters)[1]


def check_of(layer: Any) -> Any:
    """One by one, or along directions where there are many derivatives."""
    return check_gradients if sum(p.value.size for _, p in named_parameters(layer)) <= MANY else check_directions


class _Given(NamedTuple):
    """What a layer is given. inputs, others: of a call, and of another one, read-only, in the manner of the seed
    y: the name of what comes out.   called: the names of the float inputs, whose gradients are asked for"""

    inputs: tuple[Any, ...]
    others: tuple[Any, ...]
    y: str
    called: tuple[str, ...]


@cache
def _given(setting: Setting, seed: int) -> _Given:
    layer, inputs, _ = make(setting, setting.layer_class, seed)
    others = (_frozen(different(value), seed) for value in inputs)
    called = tuple(float_inputs_of(layer, inputs, ()))
    return _Given(tuple(_frozen(value, seed) for value in inputs), tuple(others), given_of(setting)[1:], called)


def layer_numbers(setting: Setting, layer_class: type[Any], seed: int, names: Mapping[str, str]) -> Iterator[Numbers]:
    """y and all gradients of one call; then when another call comes between its forward and its backward, and those of
    that other call; then without a tape, and when nothing is dropped."""
    layer, given, rng = _layer(setting, layer_class, seed), _given(setting, seed), np.random.default_rng([seed, 3])
    drawn, called = np.random.default_rng([seed, 4]), [names.get(name, f"d{name}") for name in given.called]
    parameters = dict(named_parameters(layer))
    values = {name: part.value.copy() for name, part in parameters.items()}

    tape = Tape(copy_of(rng))
    y = layer(*given.inputs, tape=tape)
    dy = tuple(_frozen(drawn.standard_normal(np.shape(part)), seed) for part in as_tuple(y))
    found = _backward(layer, y, dy, tape, called)
    for name, part in parameters.items():
        if not np.array_equal(part.value, values[name], equal_nan=True):
            raise GradientError(
                f"backward changes the value of {name}, which only an optimiser may: what backward finds out belongs "
                f"in the gradient, self.{name}.grad, to which self.{name}.add_grad(…) adds"
            )
    parameters = {names.get(name, f"the gradient of {name}"): part for name, part in parameters.items()}
    yield {given.y: np.copy(as_tuple(y)[0])} | found | {name: part.grad.copy() for name, part in parameters.items()}

    layer.zero_grad()
    tape, other_tape = Tape(copy_of(rng)), Tape(np.random.default_rng(seed))
    layer(*given.inputs, tape=tape)
    other_y = layer(*given.others, tape=other_tape)
    found = _backward(layer, y, dy, tape, called, BETWEEN)
    for part in parameters.values():  # a part of dy that was handed over is one that nothing can be added to
        copied = part.grad.copy()
        part.zero_grad()
        part.add_grad(copied)
    other_dy = tuple(_frozen(drawn.standard_normal(part.shape), seed) for part in dy)
    found |= _backward(layer, other_y, other_dy, other_tape, called, OTHER)
    yield found | {f"{name} {ADDED}": part.grad.copy() for name, part in parameters.items()}

    without = layer(*given.inputs, tape=Tape(copy_of(rng), keeps=False))
    found = {f"{given.y} {UNTAPED}": np.copy(as_tuple(without)[0])}
    if setting.layer_class is Dropout or any(isinstance(part, Dropout) for _, part in named_parts(layer)):
        tape = Tape()
        layer(*given.inputs, tape=tape)
        found |= _backward(layer, y, dy, tape, called, RESTING)
    yield found


def _frozen(value: Any, seed: int) -> Any:
    """A copy that cannot be written to; of floats, in the manner of the seed."""
    if not is_float_array(value):
        return read_only(value)
    made = in_manner(value, seed // 2)
    made.flags.writeable = False
    return made


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
