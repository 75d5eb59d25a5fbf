"""as_layer: turns the code to check into a layer, and finds the inputs with a gradient."""

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np

from npbert.core import Layer
from npbert.gradcheck.engine import EngineForm, values_in
from npbert.gradcheck.forms import Form, each, is_tensor, own, plain
from npbert.gradcheck.forward import check_moves, check_written, told
from npbert.gradcheck.function_forms import applied, cached, loss, residuals, vjp, with_context
from npbert.gradcheck.inputs import Function, Outputs, asked, is_float_array, names_given
from npbert.gradcheck.paths import Grads, as_list, is_number, whose
from npbert.gradcheck.stateful import StatefulForm, is_stateful
from npbert.io.messages import counted

_HOW = (
    "wanted a layer with forward and backward; two functions, (forward, backward) or (f, vjp); a class with "
    "forward(ctx, …) and backward(ctx, …); a function and a class with apply(grad); a jax.custom_vjp; a function of an "
    "autograd engine's values; or a function that returns (loss, gradients)"
)
_NUMBERS = np.ndarray, np.generic, float, int, complex, type(None)


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
        form = StatefulForm(given, list(map(_as_array, inputs)), grads or {}, wrt)
        values = list(map(_as_array, form.values.values()))
    else:
        parts, rest = list(given) if isinstance(given, tuple | list) else [given], list(inputs)
        while len(parts) == 1 and rest and callable(rest[0]) and not hasattr(given, "fwd"):
            parts.append(rest.pop(0))
        values = list(map(_as_array, rest))
        form = _form_of(parts, values, next((type(value) for value in rest if is_tensor(value)), None))
        _find_moved(form, values, wrt)
        for position in form.moved:
            values[position] = np.array(values[position], dtype=float)
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
        raise TypeError(f"{name}.forward takes no tape, wanted forward(x, tape=NO_TAPE) and backward(dy, tape)")
    return is_layer or _takes_tape(backward)


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
    if type(value) in (list, tuple):
        return type(value)(map(_as_array, value))
    is_other_float = is_float_array(value) and value.dtype != np.float64
    return plain(value) if is_other_float or is_tensor(value) else value


def _form_of(parts: list[Any], inputs: list[Any], tensor: type | None) -> Form:
    first, last = parts[0], parts[-1]
    if len(parts) == 1 and hasattr(first, "fwd") and hasattr(first, "bwd"):
        return residuals(first, names_given(first.fun, len(inputs)))
    if len(parts) == 1 and isinstance(first, type) and hasattr(first, "forward") and hasattr(first, "backward"):
        has_ctx = "setup_context" not in vars(first)
        return with_context(first, names_given(first.forward, len(inputs), skip=has_ctx))
    if len(parts) == 2 and callable(first) and isinstance(last, type) and hasattr(last, "apply"):
        return applied(first, last, names_given(first, len(inputs)), tensor)
    if not all(map(callable, parts)) or len(parts) > 2:
        kinds = ", ".join(getattr(part, "__name__", type(part).__name__) for part in parts)
        called = "" if all(map(callable, parts)) else "; pass the function itself, not its result"
        raise TypeError(f"({kinds}) is not a known form: {_HOW}{called}")
    names = names_given(first, len(inputs))
    form = vjp(first, last, names)
    with told("forward"):
        y, _ = form.ran(list(map(own, inputs)))
    if len(parts) == 2:
        return _form_of_two(first, last, names, y) or form
    if not isinstance(y, tuple) or len(y) < 2 or np.size(plain(y[0])) != 1:
        raise TypeError(f"{getattr(first, '__name__', first)} alone gives no gradients: {_HOW}")
    return loss(first, names)


def _form_of_two(f: Function, backward: Function, names: list[str], y: Any) -> Form | None:
    """Return the Form of two functions if f also returns a cache: backward takes a dy for each output, the cache, and
    inputs by name. None: it takes dy and the inputs."""
    wanted = asked(backward)
    if isinstance(y, tuple) and len(y) > 1:
        outs = sum(name not in names for name in asked(backward, required=True)[1:])
        if len(wanted) == len(y):
            outs = len(y) - 1
        if len(wanted) == len(y) or (wanted[-len(names) :] != names and 0 < outs < len(y)):
            return cached(f, backward, names, outs)
    outputs = as_list(y)
    if not all(isinstance(part, _NUMBERS) or is_tensor(part) for part in outputs):
        kinds = ", ".join(type(each).__name__ for each in outputs)
        raise TypeError(
            f"{getattr(f, '__name__', f)} returns ({kinds}), wanted an array, or a tuple of them; or (out, "
            "cache), with a backward that names what it is given: backward(dout, cache), and not backward(*args)"
        )
    return None


def _find_moved(form: Form, inputs: list[Any], wrt: Sequence[str] | None) -> None:
    """Set the inputs that have a gradient, and their index in backward's result, by running it once."""
    form.moved = [position for position, value in enumerate(inputs) if is_float_array(value)]
    if unknown := set(wrt or ()) - set(form.input_names):
        raise ValueError(f"wrt has {', '.join(sorted(unknown))}, wanted inputs: {', '.join(form.input_names)}")
    if wrt is not None:
        form.moved = [form.input_names.index(name) for name in wrt]
    try:
        with told("forward"):
            y, kept = form.ran(list(map(own, inputs)))
        with told("backward"):
            found = form.returned(each(lambda part: np.ones(np.shape(plain(part))), y), kept)
    except Exception as error:  # the author's error, which the check reports
        if isinstance(error.__cause__, NotImplementedError):
            raise
        return
    check_written("forward", y)
    check_written("backward", found)
    keys = whose(found, form.input_names, inputs, wrt)
    if keys is not None:
        form.moved, form.pick = list(keys), list(keys.values())
    elif form.moved and wrt is None and not isinstance(y, tuple | list) and np.ndim(plain(y)) == 0:  # a loss
        form.moved = _of_these_shapes(as_list(found), inputs)


def _of_these_shapes(returned: list[Any], inputs: list[Any]) -> list[int]:
    """Return the first inputs, in order, with the shapes of these gradients."""
    moved: list[int] = []
    for gradient in returned:
        after = range(moved[-1] + 1 if moved else 0, len(inputs))
        alike = [p for p in after if is_number(inputs[p]) and np.shape(inputs[p]) == np.shape(gradient)]
        if not alike:
            raise ValueError(
                f"backward returns {counted(len(returned), 'gradient')}, one of shape {np.shape(gradient)}, which no "
                f"remaining input has; name their inputs, as in wrt=('x',)"
            )
        moved.append(alike[0])
    return moved
