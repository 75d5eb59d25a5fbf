"""as_layer: turns the code to check into a layer, and finds the inputs with a gradient."""

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np

from npbert.core import Layer
from npbert.gradcheck.engine import EngineForm, values_in
from npbert.gradcheck.exact.number_modules import told
from npbert.gradcheck.forms import Form, is_tensor, own, plain
from npbert.gradcheck.forward import check_moves, check_written
from npbert.gradcheck.function_forms import Given, form_of
from npbert.gradcheck.inputs import Outputs, as_list, is_float_array, mapped, names_given
from npbert.gradcheck.paths import Grads, Values, is_numeric, whose
from npbert.gradcheck.stateful import StatefulForm, is_stateful
from npbert.io import counted


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
    form: Any
    if _is_of_engine(given, inputs):
        form = EngineForm(given, names_given(given, len(inputs)), inputs)
        values = form.values
    elif is_stateful(given):
        form = StatefulForm(given, mapped(_as_array, list(inputs)), grads or {}, wrt)
        values = mapped(_as_array, list(form.values.values()))
    else:
        parts, rest = list(given) if isinstance(given, tuple | list) else [given], list(inputs)
        while len(parts) == 1 and rest and callable(rest[0]) and not hasattr(given, "fwd"):
            parts.append(rest.pop(0))
        arrays = mapped(_as_array, rest)
        form = form_of(Given(parts, arrays, next((type(value) for value in rest if is_tensor(value)), None)))
        named = dict(zip(form.input_names, arrays, strict=True))
        _find_moved(form, named, wrt)
        values = [np.array(value, dtype=float) if name in form.moved else value for name, value in named.items()]
    check_moves(form, values)
    return form, tuple(values)


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


def _find_moved(form: Form, inputs: Values, wrt: Sequence[str] | None) -> None:
    """Set the inputs that have a gradient, and their index in backward's result, by running it once."""
    form.moved = [name for name, value in inputs.items() if is_float_array(value)]
    if unknown := set(wrt or ()) - set(form.input_names):
        raise ValueError(f"wrt has {', '.join(sorted(unknown))}, wanted inputs: {', '.join(form.input_names)}")
    if wrt is not None:
        form.moved = list(wrt)
    try:
        with told("forward"):
            y, kept = form.ran(list(map(own, inputs.values())))
        with told("backward"):
            found = form.returned(mapped(lambda part: np.ones(np.shape(plain(part))), y), kept)
    except Exception as error:  # the author's error, which the check reports
        if isinstance(error.__cause__, NotImplementedError):
            raise
        return
    check_written("forward", y)
    check_written("backward", found)
    keys = whose(found, inputs, wrt)
    if keys is not None:
        form.moved, form.pick = list(keys), list(keys.values())
    elif form.moved and wrt is None and not isinstance(y, tuple | list) and np.ndim(plain(y)) == 0:  # a loss
        form.moved = _of_these_shapes(as_list(found), inputs)


def _of_these_shapes(returned: list[Any], inputs: Values) -> list[str]:
    """Return the first inputs, in order, with the shapes of these gradients."""
    moved: list[str] = []
    rest = iter(inputs.items())
    for gradient in map(np.shape, returned):
        found = next((name for name, value in rest if is_numeric(value) and np.shape(value) == gradient), None)
        if found is None:
            raise ValueError(
                f"backward returns {counted(len(returned), 'gradient')}, one of shape {gradient}, which no "
                f"remaining input has; name their inputs, as in wrt=('x',)"
            )
        moved.append(found)
    return moved
