"""Every public thing says what it is, and every layer is called in the same way."""

import importlib
import inspect
import pkgutil
import re
from typing import Any, get_origin

import pytest

import npbert
from npbert import NO_TAPE, Layer

MODULES = [
    importlib.import_module(info.name)
    for info in pkgutil.walk_packages(npbert.__path__, "npbert.")
    if not info.name.endswith("__main__")
]
THINGS = {
    f"{thing.__module__}.{name}": thing
    for module in [npbert, *MODULES]
    for name in getattr(module, "__all__", [])
    if (inspect.isclass(thing := getattr(module, name)) or inspect.isfunction(thing))
    and get_origin(thing) is None  # to Python 3.10 an alias such as list[int] is a class, too
}


def descendants(base):
    for child in base.__subclasses__():
        yield child
        yield from descendants(child)


OURS = re.compile(r"npbert\.(?!learn\.exercises)")  # exercises hold mistakes, which nobody explains
LAYERS = sorted(
    {layer for layer in descendants(Layer) if OURS.match(layer.__module__) and layer.forward is not Layer.forward},
    key=lambda layer: layer.__name__,
)


@pytest.mark.parametrize("thing", THINGS.values(), ids=THINGS)
def test_it_says_what_it_is(thing):
    """Dataclasses and named tuples that say nothing get a docstring made up by Python, which begins with a call."""
    made_up = f"{thing.__name__}(" if inspect.isclass(thing) else "\0"
    assert thing.__doc__ and not thing.__doc__.startswith(made_up)
    for name, member in vars(thing).items():
        if inspect.isfunction(member) or isinstance(member, property | classmethod | staticmethod):
            documented = name.startswith("_") or inspect.getdoc(getattr(thing, name))
            assert documented, f"{thing.__name__}.{name}"


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.__name__)
def test_forward_takes_a_tape_last_and_backward_a_gradient_and_the_tape(layer):
    *_, last = inspect.signature(layer.forward).parameters.values()
    assert (last.name, last.default) == ("tape", NO_TAPE)
    _, gradient, tape = inspect.signature(layer.backward).parameters.values()
    assert gradient.name.startswith("d") and gradient.default is inspect.Parameter.empty
    assert (tape.name, tape.default) == ("tape", inspect.Parameter.empty)
    assert layer.backward.__doc__, "the derivative, and why"


@pytest.mark.parametrize("called", [npbert.Answer, npbert.Classify, npbert.FillMask, npbert.Tag, npbert.Embed, Layer])
def test_an_editor_knows_what_a_call_gives(called):
    assert inspect.signature(called.__call__).return_annotation not in ("Any", Any, inspect.Parameter.empty)
