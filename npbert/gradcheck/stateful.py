"""form_of_object: the Form of an object that keeps on itself what backward needs.

Authors differ in what the methods are called, in what backward takes, and in where y and the gradients are:

| what differs | in the authors' code |
|---|---|
| forward is called | forward, compute, calculate, call, loss, `__call__`; longer, as forward_propagation |
| backward is called | backward, gradient, `_backward`, back_propagate, backprop; longer, as backward_propagation |
| y is | the result; the results that backward takes a dy for; the first number that moves, for a loss; self.output |
| backward takes | dy, under any name; several; none for a loss; forward's inputs again, by name; a learning rate; a cache |
| gradients are | in the result, in attributes, lists and dicts (`gradients.py`); a step of a parameter |
| one method | loss(X, y) returns loss, gradients |
"""

from collections.abc import Sequence
from typing import Any

from npbert.gradcheck.forms import Form
from npbert.gradcheck.inputs import as_tuple, asked, names_given
from npbert.gradcheck.restoring import is_of_library

_FORWARDS = "forward", "compute", "calculate", "call", "loss", "__call__"
_BACKWARDS = "backward", "gradient", "_backward", "backprop", "back_prop"
_LONGER = "forward", "backward", "backprop", "back_prop"  # names that may go on
_OUTPUTS = "output", "outputs", "out", "y"  # the attributes with y, if forward returns nothing
_CACHES = {"cache", "caches", "ctx", "context", "memory"}
_RATES = {"lr", "learning_rate", "alpha", "eta", "step_size"}


def is_stateful(given: Any) -> bool:
    """True for an object with a forward and a backward, or with a `loss` that also returns the gradients."""
    if isinstance(given, type) or is_of_library(type(given)):
        return False
    return bool(_method(given, _FORWARDS) and _method(given, (*_BACKWARDS, "loss")))


def _method(given: Any, names: Sequence[str]) -> str:
    """Return the first of these names that the object has as a method, or a longer form such as forward_propagation;
    or ""."""
    longer = [name for name in dir(given) if name.startswith(tuple(each for each in _LONGER if each in names))]
    return next((name for name in (*names, *longer) if callable(getattr(given, name, None))), "")


def form_of_object(given: Any, inputs: Sequence[Any]) -> Form:
    """Return the Form of an object with state."""
    forward, backward = _method(given, _FORWARDS), _method(given, _BACKWARDS)
    names, method = names_given(getattr(given, forward), len(inputs)), getattr(given, backward or forward)
    words = asked(method)
    known = {*names, *_RATES, *_CACHES}
    if len(words) == 1 and backward != "gradient":  # dy, under any name
        known = set()
    others = [name for name in words if name not in known]
    wants = [name for name in asked(method, required=True) if name in others] or others[:1]

    def run(thing: Any, given: list[Any]) -> tuple[Any, Any]:
        y = getattr(thing, forward)(*given)
        if y is None:
            y = next((vars(thing)[name] for name in _OUTPUTS if name in getattr(thing, "__dict__", {})), None)
        if not backward:
            return y[0], y[1] if len(y) == 2 else y[1:]
        again = dict(zip(names, given, strict=True)) | dict.fromkeys(_RATES, 1.0)
        if isinstance(y, tuple):
            again |= dict.fromkeys(_CACHES, y[-1])
            y = y[: len(wants) or None]
        return y, (thing, {name: again[name] for name in words if name in known & again.keys()})

    def back(dy: Any, left: Any) -> Any:
        if not backward:
            return left
        thing, again = left
        return getattr(thing, backward)(**dict(zip(wants, as_tuple(dy), strict=False)), **again)

    takes_dy, takes_step = bool(backward and wants), not _RATES.isdisjoint(known & set(words))
    return Form(names, inputs, run, back, thing=given, takes_dy=takes_dy, takes_step=takes_step)
