"""What is done to the inputs of a layer before a call, each kind of value in its own way; and to the layer after it."""

import dataclasses
import inspect
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from npbert.core import Parameter, Sequences, named_parameters, named_parts


@contextmanager
def attributes_kept(*things: Any) -> Iterator[None]:
    """While it lasts, attributes of these things may be set; afterwards they are as before."""
    states = [(thing, dict(vars(thing))) for thing in things if hasattr(thing, "__dict__")]
    try:
        yield
    finally:
        for part, state in states:
            vars(part).clear()
            vars(part).update(state)


def parameters_of(layer: Any, things: Iterable[Any]) -> dict[str, Parameter]:
    """The parameters of a layer by name; and those among the things that it holds in a place where `named_parameters`
    does not look, such as a slot, a set or an object that is no layer."""
    found = dict(named_parameters(layer))
    known = set(map(id, found.values()))
    hidden = [each for each in things if isinstance(each, Parameter) and id(each) not in known]
    return found | {f"hidden parameter {number}": each for number, each in enumerate(hidden, 1)}


@contextmanager
def replaced(
    parameters: Mapping[str, Parameter],
    inputs: Sequence[Any],
    float_inputs: Mapping[str, int],
    make: Callable[[np.ndarray], Any],
) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    """While it lasts, the value of every parameter is make(value), and its gradient 0; afterwards they are as before.

    Gives the inputs, with make(array) for the float arrays, and all that was made, by name: of the parameters first.
    """
    made, given = {}, list(inputs)
    with attributes_kept(*parameters.values()):
        for name, parameter in parameters.items():
            made[name] = parameter.value = make(parameter.value)
            parameter.zero_grad()
        for name, position in float_inputs.items():
            made[name] = given[position] = make(inputs[position])
        yield given, made


def as_tuple(value: Any) -> tuple[Any, ...]:
    """The parts of a tuple or list that are there (a model may lack an output: None), or the value alone."""
    return tuple(part for part in value if part is not None) if isinstance(value, tuple | list) else (value,)


def copy_of(rng: np.random.Generator | None) -> np.random.Generator | None:
    """A generator that will draw the same. (In a third of the time of copy.deepcopy.)"""
    if not isinstance(rng, np.random.Generator):
        return rng  # None, or what a Tape refuses
    bits = type(rng.bit_generator)(0)
    bits.state = rng.bit_generator.state
    return np.random.Generator(bits)


def copied(value: Any) -> Any:
    """A copy of the arrays, those in a dataclass (a Batch) too."""
    return _with_arrays(value, np.copy)


def different(value: Any) -> Any:
    """Another value that fits in the place of this one: other floats, the rows of ids and masks in other places, and
    the sequences in the reverse order.

    Floats are not only moved to other rows, as there may be only one, and not only shifted or scaled, as a layer such
    as LayerNorm would not notice. Whole numbers in ascending order stay: they may have to be.
    """

    def change(array: np.ndarray) -> np.ndarray:
        moved = np.roll(array, 1, axis=0) if array.ndim else array
        if array.dtype.kind != "f":
            is_ascending = array.ndim == 1 and (np.diff(array) >= 0).all()
            return array if is_ascending else moved
        return np.asarray(moved * 1.5 + (np.arange(array.size) % 3 + 1).reshape(array.shape))

    if isinstance(value, Sequences):
        return value.reversed()
    return _with_arrays(value, change)


def is_float_array(value: Any) -> bool:
    """True if the value is an array of real floating-point numbers, which have derivatives."""
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"


def arrays_in(name: str, value: Any) -> list[tuple[str, np.ndarray]]:
    """An array with its name, or those in a dataclass (a Batch): `batch.labels`."""
    if isinstance(value, np.ndarray):
        return [(name, value)]
    fields = dataclasses.fields(value) if _is_dataclass(value) else ()
    return [each for field in fields for each in arrays_in(f"{name}.{field.name}", getattr(value, field.name))]


def arrays_held_by(layer: Any) -> list[str]:
    """The names of the float arrays among the attributes of a layer and its parts. They are no Parameters."""
    layers = {path: part for path, part in named_parts(layer) if hasattr(part, "forward") and hasattr(part, "__dict__")}
    named = (
        (f"{path}.{name}".lstrip("."), value) for path, part in layers.items() for name, value in vars(part).items()
    )
    return [name for name, value in named if is_float_array(value)]


def names_of_inputs(layer: Any, count: int) -> list[str]:
    """The names that forward gives its first inputs."""
    return list(layer.input_names) if hasattr(layer, "input_names") else names_given(layer.forward, count)  # a Form


def names_given(function: Any, count: int, *, skip: int = 0) -> list[str]:
    """The names that a function gives to the first things that it is given."""
    names = asked(function)[skip:]
    return [*names[:count], *(f"input {position}" for position in range(len(names), count))]


def asked(function: Any, *, required: bool = False) -> list[str]:
    """The names of what a function asks for; `required` without those that have a default."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a ufunc has no signature
        return []
    named = [one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    return [one.name for one in named if not required or one.default is one.empty]


def float_inputs_of(layer: Any, inputs: Sequence[Any], parameters: Collection[str]) -> dict[str, int]:
    """The positions of the float arrays among the inputs, by the names that forward gives them; with `input` before it
    where a parameter has that name. Without those that the layer names as `constant_inputs`, such as the target of a
    loss. A Form says its own."""
    names, moved = names_of_inputs(layer, len(inputs)), getattr(layer, "moved", None)
    constant = getattr(layer, "constant_inputs", ())
    return {
        f"input {names[position]}" if names[position] in parameters else names[position]: position
        for position, value in enumerate(inputs)
        if (is_float_array(value) and names[position] not in constant if moved is None else position in moved)
    }


def _with_arrays(value: Any, change: Callable[[np.ndarray], np.ndarray]) -> Any:
    if isinstance(value, np.ndarray):
        return change(value)
    if not _is_dataclass(value):
        return value
    fields = [field.name for field in dataclasses.fields(value) if field.init]
    return dataclasses.replace(value, **{name: _with_arrays(getattr(value, name), change) for name in fields})


def _is_dataclass(value: Any) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type)
