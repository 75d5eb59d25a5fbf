"""as_layer: turns the code to check into a layer, and finds the inputs with a gradient."""

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np

from npbert.core import Layer
from npbert.gradcheck.calls import form_of_object, is_stateful
from npbert.gradcheck.engine import EngineForm, values_in
from npbert.gradcheck.forms import Form, is_tensor, own, plain
from npbert.gradcheck.forward import check_moves
from npbert.gradcheck.function_forms import form_of
from npbert.gradcheck.gradients import Grads, find
from npbert.gradcheck.inputs import Outputs, is_float_array, mapped, names_given


def as_layer(
    given: Any, inputs: Sequence[Any], wrt: Sequence[str] | None = None, grads: Grads | None = None
) -> tuple[Any, Outputs]:
    """Return a layer for the given code, and its inputs as float64 arrays. An npbert layer stays unchanged.

    given: see `check_gradients`; two functions may also be two arguments.
    wrt: the names of the inputs with a gradient. By default they follow from backward's result: a gradient for each
    input (or None), for each array of floats, or for each array and float; for a loss, for the first inputs with these
    shapes.

    Raises: TypeError for an unknown form; ValueError if the inputs of the gradients are ambiguous.
    """
    if _has_tape(given):
        return given, tuple(inputs)
    form = _form(given, inputs)
    find(form, grads or {}, wrt)
    values = mapped(_as_array, list(form.values.values()))
    check_moves(form, values)
    return form, tuple(values)


def _form(given: Any, inputs: Sequence[Any]) -> Form:
    """Return the first Form that fits: of an engine, of an object with state, or of functions."""
    if _is_of_engine(given, inputs):
        return EngineForm(given, names_given(given, len(inputs)), inputs)
    if is_stateful(given):
        return form_of_object(given, mapped(_as_array, list(inputs)))
    parts, rest = list(given) if isinstance(given, tuple | list) else [given], list(inputs)
    while len(parts) == 1 and rest and callable(rest[0]) and not hasattr(given, "fwd"):
        parts.append(rest.pop(0))
    tensor = next((type(value) for value in rest if is_tensor(value)), None)
    return form_of(parts, mapped(lambda value: own(_as_array(value)), rest), tensor)


def _has_tape(given: Any) -> bool:
    """True for a layer of npbert's kind. Raises: TypeError for its class, or for a forward without the tape of its
    backward."""
    name, is_class = getattr(given, "__name__", type(given).__name__), isinstance(given, type)
    forward, backward = (getattr(given, method, None) for method in ("forward", "backward"))
    is_layer = _takes_tape(forward) or isinstance(given, Layer)
    if is_class and (is_layer or _takes_tape(backward)):
        raise TypeError(f"{name} is a class, wanted a layer, such as {name}()")
    is_alone = inspect.isroutine(forward) and not (is_layer or is_class)
    if is_alone and (_takes_tape(backward) or not is_stateful(given)):
        if backward is None:
            raise TypeError(f"{name} has a forward and no backward, wanted both")
        raise TypeError(f"{name}.forward takes no tape, wanted forward(x, tape=NO_TAPE) and backward(dy, tape)")
    return is_layer


def _takes_tape(function: Any) -> bool:
    return inspect.isroutine(function) and "tape" in inspect.signature(function).parameters


def _is_of_engine(given: Any, inputs: Sequence[Any]) -> bool:
    """True for a function of an engine's values, or a model that holds some. (A function's globals may be
    unrelated.)"""
    if not callable(given) or isinstance(given, type) or any(map(callable, inputs)):
        return False
    holds_nothing = is_stateful(given) or inspect.isfunction(given)
    return any(values_in(list(inputs) if holds_nothing else [given, *inputs]))


def _as_array(value: Any) -> Any:
    """Return an array of other floats, or a tensor, as an array of float64."""
    if isinstance(value, np.matrix):
        raise TypeError("an input is an np.matrix, wanted an array; use np.asarray(it)")
    is_other_float = is_float_array(value) and value.dtype != np.float64
    return plain(value) if is_other_float or is_tensor(value) else value
