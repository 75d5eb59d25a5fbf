"""The promises of a layer, in addition to a right derivative, each tested."""

import contextlib
import copy
import itertools
import traceback
from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np

from npbert.core import Parameter
from npbert.gradcheck.exact.run import check_linear, named
from npbert.gradcheck.function import ScalarFunction
from npbert.gradcheck.inputs import Function, copied, different, mapped
from npbert.gradcheck.paths import changed, leaves, snapshot
from npbert.gradcheck.report import GradientError, Gradients, PromiseError, WrongShapeError

_SET = (
    "is overwritten by backward, wanted a sum: after two backwards only the last is left, as with = instead "
    "of += (use add_grad)"
)
_BETWEEN = "differs after a call in between (is a value kept on self instead of the tape, or np.empty not filled?)"
_OWN = "which is the caller's: compute in a new array (z = a * b, not a *= b, and no out=)"


class Call:
    """A forward on a new tape, which sets gradients to 0, and its backward, with copies of all arguments."""

    def __init__(self, function: ScalarFunction) -> None:
        self.function, self.dy = function, tuple(map(copied, function.dy))
        for parameter in function.parameters.values():
            parameter.zero_grad()
        inputs = mapped(copied, function.inputs)
        held = SimpleNamespace(**inputs | named("dy", self.dy))
        self.given = snapshot(dict(leaves(held, lambda each: isinstance(each, np.ndarray))))
        self.y, self.tape = function.forward(*inputs.values())
        if names := changed(self.given):
            raise GradientError(f"forward writes into {names[0]}, {_OWN}")
        self.returned = snapshot(named("y", self.y))

    def backward(self) -> Gradients:
        """Return copies of the gradients by name. Raises: GradientError unless there is one for each variable, and the
        tape is empty."""
        function = self.function
        try:
            found = function.backward(self.y, self.dy, self.tape)
        except (ValueError, TypeError) as error:
            *_, (frame, _) = traceback.walk_tb(error.__traceback__)
            if frame.f_code is not Parameter.add_grad.__code__:
                raise
            refused, grad = frame.f_locals["self"], frame.f_locals["grad"]
            name = next(name for name, each in function.parameters.items() if each is refused)
            raise WrongShapeError(name, {name: grad}, refused.value.shape) from error
        self.returned |= snapshot({f"d{name}": found[name] for name in function.moved_inputs})
        for name, value in function.variables.items():
            if found[name].dtype != np.float64:
                raise WrongShapeError(name, found, value.shape)
        return mapped(np.copy, found)

    def check_memory(self) -> None:
        """Raise PromiseError if a parameter's gradient shares memory with another array."""
        parameters = self.function.parameters
        grads = [(f"the gradient of {name}", parameter.grad) for name, parameter in parameters.items()]
        others = [(f"the value of {name}", parameter.value) for name, parameter in parameters.items()]
        others += [(name, array) for name, (array, _) in [*self.given.items(), *self.returned.items()]]
        for (name, grad), (other, array) in [*itertools.product(grads, others), *itertools.combinations(grads, 2)]:
            if np.shares_memory(grad, array):
                says = f"{name} shares memory with {other}: give add_grad an array that is not used elsewhere"
                raise PromiseError(says, f"the memory of {name}")


def numbers_of(function: ScalarFunction, shown: Function, *, are_promised: bool) -> Iterator[Gradients]:
    """Yield y, then the gradients by their shown names; and test the promises, if the gradients are `are_promised`.

    Of a backward that raises, the gradients of parameters by then come before its error. A wrong shape is no error, and
    gradients after it may be missing.
    """
    function = copy.copy(function)  # a backward that returns None makes an input a constant, of this copy alone
    with function.unchanged():
        call = Call(function)
        yield mapped(np.copy, named("y", call.y))
        try:
            found = call.backward()
        except WrongShapeError as error:
            found = {name: np.array(each) for name, each in error.gradients.items()}
        except Exception:  # of the author's code
            yield {shown(name): each.grad.copy() for name, each in function.parameters.items() if each.grad.any()}
            raise
        yield {shown(name): each for name, each in found.items()}
    if are_promised:
        with contextlib.suppress(WrongShapeError):  # which the numbers show
            promised_gradients(function)


def promised_gradients(function: ScalarFunction) -> Gradients:
    """Return the gradients, after a test of the layer's promises:

    - forward returns the same y with and without a tape, with and without dropout, all in float64;
    - neither forward nor backward changes its arguments;
    - backward returns a gradient of its shape for each float input, and leaves the tape empty;
    - it changes no value of a parameter, and no y or dx returned earlier;
    - another call before or in between, with other inputs on another tape, makes no difference;
    - gradients add up: after two backwards they are the sum of both;
    - no gradient of a parameter shares memory with dy, dx, y, or another gradient;
    - backward is linear in dy.

    A Form runs on copies. So of these it only has to return the same y in a second call and a gradient of each shape,
    and to be linear in dy. For a wrong dy, see `check_refusal`.

    Raises: PromiseError for a promise without which the derivative may still be right; GradientError for any other.
    """
    with function.unchanged():
        before = function.made(np.copy)
        alone = Call(function).backward()
        for options in ({}, {"rng": None}):
            both = (named("y", function.forward(**options, keeps=keeps)[0]) for keeps in (True, False))
            if _unlike(*both):
                other = "in a second call: give it a seed" if function.is_form else "without a tape than with one"
                raise GradientError(f"forward returns another y {other}")
        if not function.is_form:
            _check_repeated(function, alone, before)
        check_linear(function, alone)
        return alone


def _check_repeated(function: ScalarFunction, alone: Gradients, before: Gradients) -> None:
    """Raise an error unless two calls in turn give what each gives alone. before: the values before all calls."""
    another = copy.copy(function)
    another.inputs, another.dy = mapped(different, function.inputs), tuple(map(different, function.dy))
    another.rng = np.random.default_rng(0) if function.rng else None
    other_alone = Call(another).backward()
    for name, parameter in function.parameters.items():
        if not np.array_equal(parameter.value, before[name], equal_nan=True):
            raise GradientError(f"backward changes the value of {name}: only an optimizer may")

    call, other = Call(function), Call(another)
    if names := _unlike(call.backward(), alone):
        raise GradientError(f"the gradient of {names[0]} {_BETWEEN}")
    call.check_memory()  # first: add_grad itself writes into what it was given to keep
    if names := changed(call.given):
        text = f"backward writes into {names[0]}, {_OWN}"
        raise PromiseError(text, *(f"the caller's {name}" for name in names))
    both = other_alone | {name: alone[name] + other_alone[name] for name in function.parameters}
    found = other.backward()
    if names := _unlike(found, both):
        is_last = names[0] not in _unlike(found, other_alone)
        text = _SET if is_last else "is not the sum of two backwards: each should add to it"
        subjects = (f"the gradient of {name} after two backwards" for name in names)
        raise PromiseError(f"the gradient of {names[0]} {text}", *subjects)
    for name in changed(call.returned):
        raise GradientError(
            f"{name} is the caller's, but a later forward or backward changes it: the layer keeps it as a buffer, or "
            "writes into it in place"
        )
    for name in _unlike(Call(function).backward(), alone):
        raise GradientError(f"the gradient of {name} differs after a second backward has added its own")


def check_refusal(function: ScalarFunction) -> None:
    """Raise PromiseError for a layer that accepts a dy with more rows than y, the gradient of another output. (NumPy
    may broadcast a single row.)"""
    first = next((dy for dy in function.dy if dy.ndim > 1 and len(dy) > 1), None)
    if first is None or function.is_form:
        return
    longer = np.concatenate([first] * 3)
    with function.unchanged():
        try:
            call = Call(function)
            function.backward(call.y, tuple(longer if dy is first else dy for dy in function.dy), call.tape)
        except (ValueError, TypeError, IndexError):
            return
    raise PromiseError(
        f"backward accepts a dy of shape {longer.shape} for a y of shape {first.shape}: compare it with what forward "
        "kept, and raise an error"
    )


def _unlike(found: Gradients, wanted: Gradients) -> list[str]:
    """Return the names of the arrays that differ by more than rounding."""
    return [
        name
        for name, array in found.items()
        if not np.allclose(array, wanted[name], rtol=1e-9, atol=1e-9, equal_nan=True)
    ]
