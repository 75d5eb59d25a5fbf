"""The Forms of an author's forward and backward: methods of an object, two functions, or one that returns a loss.

Authors differ in these ways. Another way is another name here:

| what differs | in authors' code |
|---|---|
| forward is called | forward, compute, calculate, call, loss, `__call__` (also if it calls forward); or longer |
| backward is called | backward, gradient, `_backward`, backprop, back_propagate; or longer, as backward_propagation |
| y is | forward's results before a cache; self.output; of a loss, the number that moves, beside an accuracy |
| backward takes | dy, or several; none, or an unused dout=1, for a loss; forward's inputs; a cache; a learning rate |
| an argument is | a rate, a cache or a later input by its name; else a dy, as a function's first is |
| a loss's slope | is a function of the loss's inputs by name, and perhaps of a cache, or by place, without a dy |
| a cache is | of an object by its name; of a function, which has no other memory, the last of several results |
| gradients are | in backward's result, or in the object (`gradients.py`) |
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from npbert.gradcheck.forms import Form, is_number, plain
from npbert.gradcheck.inputs import Function, as_list, as_tuple, asked, names_given
from npbert.gradcheck.restoring import attributes_of, is_of_library

WANTED = (
    "wanted a layer with forward and backward; a function of an autograd engine's values; a jax.custom_vjp; a class "
    "with forward(ctx, …) and backward(ctx, …); a function and a class with apply(grad); two functions, (forward, "
    "backward) or (f, vjp); a function that returns (loss, gradients)"
)
_FORWARDS = "forward", "compute", "calculate", "call", "loss", "__call__"
_BACKWARDS = "backward", "gradient", "_backward", "backprop", "back_prop"
_LONGER = "forward", "backward", "backprop", "back_prop"  # names that may go on
_OUTPUTS = "output", "outputs", "out", "y"  # the attributes with y, if forward returns nothing
_CACHES = {"cache", "caches", "ctx", "context", "memory"}
_OF_GRADIENTS = "d", "g", "up"  # how the names of a dy begin
_RATES = {"lr", "learning_rate", "alpha", "eta", "step_size", "_"}


def is_stateful(given: Any) -> bool:
    """True for an object with a forward and a backward, or with a `loss` that also returns the gradients."""
    if isinstance(given, type) or is_of_library(type(given)):
        return False
    return bool(_method(given, _FORWARDS) and _method(given, (*_BACKWARDS, "loss")))


def _method(given: Any, names: Sequence[str]) -> str:
    """Return the first of these names that the object has as a method, or a longer one; or ""."""
    longer = [name for name in dir(given) if name.startswith(tuple(each for each in _LONGER if each in names))]
    return next((name for name in (*names, *longer) if callable(getattr(given, name, None))), "")


def form_of_object(given: Any, inputs: Sequence[Any]) -> Form:
    """Return the Form of an object with state."""
    forward, backward = _method(given, _FORWARDS), _method(given, _BACKWARDS)
    return _form_by_names(forward, backward, inputs, given) if backward else form_of_loss(forward, inputs, given)


def _of(thing: Any, function: Any) -> Any:
    """Return the object's method of this name, or the function itself."""
    return getattr(thing, function) if isinstance(function, str) else function


def _door(thing: Any, forward: Any) -> Any:
    """Return `__call__` for forward, if it calls that: it may keep what backward needs."""
    called = getattr(type(thing).__call__, "__code__", None) if callable(thing) else None
    return "__call__" if called and forward in called.co_names else forward


def _form_by_names(forward: Any, backward: Any, inputs: Sequence[Any], thing: Any = None) -> Form:
    """Return the Form of two methods of an object, or of a loss and its slope (`_of`). Backward gets all but dy by its
    name."""
    names = names_given(_of(thing, forward), len(inputs))
    words, required = asked(_of(thing, backward)), asked(_of(thing, backward), required=True)
    others = _CACHES.intersection(words) | _RATES.intersection(words[1:])
    known = others | {*(names if len(words) > 1 + len(others) or backward == "gradient" else names[1:])}
    dys = [word for word in required or words if word not in known]

    def run(thing: Any, arguments: list[Any]) -> tuple[Any, Function]:
        y = _of(thing, _door(thing, forward))(*arguments)
        if y is None:
            held = attributes_of(thing)
            y = next((held[name] for name in _OUTPUTS if name in held), None)
        again: dict[str, Any] = dict.fromkeys(_RATES, 1.0)
        if isinstance(y, tuple if dys else tuple | list):
            again |= dict.fromkeys(_CACHES, y[-1])
            y = tuple(y[: len(dys) or None])
        again |= zip(names, arguments, strict=True)
        known_again = {word: again[word] for word in words if word in known & again.keys()}
        return y, lambda dy: _of(thing, backward)(**dict(zip(dys, as_tuple(dy), strict=False)), **known_again)

    form = Form(names, inputs, run, thing)
    form.takes_dy, form.takes_step = bool(dys), bool(_RATES & others)
    form.may_ignore_dy = not required
    return form


def form_of_functions(f: Function, backward: Function, inputs: Sequence[Any]) -> Form:
    """Return the Form of `y = f(…)` and backward(dy, …), with inputs by place or by name; or of `out, cache = f(…)` and
    backward(dout, cache), with inputs by name. Several y have a tuple dy, or several dy.

    When it runs, it raises TypeError if f returns neither numbers nor a cache."""
    names, words = names_given(f, len(inputs)), asked(backward)
    if len({*names}.intersection(words)) > 1 and {*words} <= {*names, *_CACHES}:
        return _form_by_names(f, backward, inputs)
    needed = [word for word in asked(backward, required=True) if word in words[:1] or word not in names]

    def run(_: Any, arguments: list[Any]) -> tuple[Any, Function]:
        y = f(*arguments)
        given = dict(zip(names, arguments, strict=True))
        by_place, by_name = list[Any](), {name: value for name, value in given.items() if name in words[1:]}
        is_as_many = isinstance(y, tuple) and len(words) == len(y) and given.get(words[-1], y[-1]) is y[-1]
        dys = words if is_as_many else needed
        is_last_new = is_as_many or words[-len(names) :] != names or not is_number(as_list(y)[-1])
        if isinstance(y, tuple) and 1 < len(dys) <= len(y) and is_last_new:
            *dys, cache = dys
            by_name[cache] = y[-1]
            y = y[0] if len(dys) == 1 else y[: len(dys)]
        elif not all(part is None or is_number(part) for part in as_list(y)):
            kinds = ", ".join(type(each).__name__ for each in as_list(y))
            raise TypeError(
                f"{getattr(f, '__name__', f)} returns ({kinds}), wanted an array, or a tuple of them; or (out, "
                "cache), with a backward that names what it is given: backward(dout, cache), and not backward(*args)"
            )
        elif words[1:] == names or not 0 < len(by_name) == len(words) - 1:
            by_place, by_name = arguments, {}
        if is_number(y) and not np.ndim(y) and len(words) == len(names) and not words[0].startswith(_OF_GRADIENTS):
            form.takes_dy = False
            return y, lambda _: backward(*arguments)

        def back(dy: Any) -> Any:
            is_each = isinstance(dy, tuple) and len(words) == len(dy) + len(by_place) + len(by_name)
            return backward(*(dy if is_each else [dy]), *by_place, **by_name)

        return y, back

    form = Form(names, inputs, run)
    return form


def form_of_loss(f: Any, inputs: Sequence[Any], thing: Any = None) -> Form:
    """Return the Form of `loss, gradients = f(…)`, in one call (CS231n's losses). f: see `_of`.

    When it runs, it raises TypeError if f returns something else."""

    def run(thing: Any, arguments: list[Any]) -> tuple[Any, Function]:
        loss, *found = as_list(_of(thing, f)(*arguments))
        if not found or np.size(plain(loss)) != 1:
            raise TypeError(f"{getattr(f, '__name__', f)} alone gives no gradients: {WANTED}")
        return loss, lambda _: found[0] if len(found) == 1 else tuple(found)

    form = Form(names_given(_of(thing, f), len(inputs)), inputs, run, thing)
    form.takes_dy = False
    return form
