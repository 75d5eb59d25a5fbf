"""The Form of an object that keeps backward's values on itself: its parameters are inputs, too.

The rule for finding gradients: a parameter is an array of floats in the object, or in an object within it, as an
attribute or in a list or dict, that forward does not change. Its gradient is an array that backward writes or adds to
in the same object: the one named for it (dW, grad_W, W_grad, dLdW, or W in another dict or list), or the only one of
its shape. Results of backward besides the inputs' gradients count as written. If backward takes a learning rate, so
does its change of the parameter. `grads={"W": "dW"}` overrides the rule.

Each call runs a copy of the object with the arrays in it. So the object stays unchanged, and calls are independent.
"""

import copy
from collections.abc import Sequence
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.forms import Form, each, own
from npbert.gradcheck.forward import check_written, told
from npbert.gradcheck.inputs import as_tuple, asked, is_float_array, names_given
from npbert.gradcheck.places import (
    Grads,
    Pair,
    Place,
    arrays_given,
    as_list,
    changed,
    pairs_of,
    places_in,
    snapshot,
    whose,
)
from npbert.gradcheck.report import GradientError
from npbert.gradcheck.restoring import is_of_library

_FORWARDS = "forward", "compute", "calculate", "call", "loss", "__call__"
_BACKWARDS = "backward", "gradient", "_backward"
_OUTPUTS = "output", "outputs", "out", "y"  # the attributes with y, if forward returns nothing
_INPUTS = "inputs", "input", "x"  # the names in the input's gradient, if backward returns nothing
_RATES = {"lr", "learning_rate", "alpha", "eta", "step_size"}
_MOST_NAMED = 6


def is_stateful(given: Any) -> bool:
    """True for an object with a forward and a backward, or with a `loss` that also returns the gradients."""
    if isinstance(given, type | FunctionType | MethodType | ModuleType) or is_of_library(type(given)):
        return False
    return bool(_method(given, _FORWARDS) and _method(given, (*_BACKWARDS, "loss")))


def _method(given: Any, names: Sequence[str]) -> str:
    """Return the first of these names that the object has as a method, or ""."""
    return next((name for name in names if callable(getattr(given, name, None))), "")


class StatefulForm(Form):
    """The Form of an object with state. Its inputs are those of the author's forward, and the values of parameters.

    note: a sentence on the pairs found.

    Raises: ValueError if a gradient's parameter is ambiguous; GradientError for a backward that changes a parameter;
    errors of the author's code.
    """

    def __init__(self, given: Any, inputs: Sequence[Any], grads: Grads, wrt: Sequence[str] | None) -> None:
        self._forward, self._backward = _method(given, _FORWARDS), _method(given, _BACKWARDS)
        backward = getattr(given, self._backward or self._forward)
        self._names, self._inputs = names_given(getattr(given, self._forward), len(inputs)), list(inputs)
        self._given = arrays_given(self._names, inputs)
        self._again = set(asked(backward)) & {*self._names, *_RATES}
        others = [name for name in asked(backward) if name not in self._again]
        self._asks = [name for name in asked(backward, required=True) if name in others] or others[:1]
        self._object, self.pairs = copy.deepcopy(given), list[Pair]()
        super().__init__(list(self._given), self._forwarded, self._gradients)
        constants = self._find(grads, wrt)
        self.input_names = [*self._given, *(pair.parameter.path for pair in self.pairs)]
        self.note = self._note(constants)

    @property
    def values(self) -> list[Any]:
        """Return the inputs, and the values of the parameters."""
        return [*self._given.values(), *(np.array(pair.parameter.value, dtype=float) for pair in self.pairs)]

    def _copied(self, others: dict[int, Any]) -> Any:
        """Return a copy of the object with these arrays replaced, by id, and gradients of 0."""
        gradients = {path for pair in self.pairs for path in pair.gradients}
        memo = dict[int, Any]()
        for place in self._places:
            if isinstance(place.value, ModuleType):
                memo[id(place.value)] = place.value
            elif is_float_array(place.value) and id(place.value) not in others:
                memo[id(place.value)] = own(place.value.astype(float) * (place.path not in gradients))
        return copy.deepcopy(self._object, memo | others)

    def _forwarded(self, inputs: list[Any], made: Any = None) -> tuple[Any, Any]:
        """Return y, and the values for backward: the object, its repeated arguments, and the parameters' values."""
        arrays = [*self._given.values(), *(pair.parameter.value for pair in self.pairs)]
        others = dict(zip(map(id, arrays), inputs, strict=True))
        made = self._copied(others) if made is None else made
        given = copy.deepcopy(self._inputs, others)
        before = list(map(np.copy, inputs[len(self._given) :]))
        named = dict(zip(self._names, given, strict=True)) | dict.fromkeys(_RATES, 1.0)
        again = {name: value for name, value in named.items() if name in self._again}
        y = getattr(made, self._forward)(*given)
        if y is None:
            y = next((vars(made)[name] for name in _OUTPUTS if name in getattr(made, "__dict__", {})), None)
        if not self._backward:
            y, *gradients = y
            return y, (made, gradients, before)
        if isinstance(y, tuple) and self._asks:
            y = y[0] if len(self._asks) == 1 else y[: len(self._asks)]
        elif isinstance(y, tuple):  # from a loss
            y = next((part for part in y if np.ndim(part) == 0), y)
        return y, (made, again, before)

    def _undone(self, dy: Any, made: Any, again: Any) -> tuple[Any, list[Place]]:
        """Return backward's result, and all places after it, including those in the result."""
        if not self._backward:
            returned = again[0] if len(again) == 1 else tuple(again)
        else:
            given = dict(zip(self._asks, as_tuple(dy), strict=False))
            returned = getattr(made, self._backward)(**given, **again)
        if _is_one_for_each(returned, list(self._given.values())):
            returned = list(returned)
        return returned, [*places_in(made), *places_in(returned, "returned")]

    def _gradients(self, dy: Any, kept: Any) -> Any:
        """Return the gradients of the inputs that have one, and of the parameters."""
        made, again, before = kept
        _, places = self._undone(dy, made, again)
        there = {place.path: place.value for place in places}
        found = [there.get(path) for path in self._paths]
        for pair, value in zip(self.pairs, before, strict=True):
            if pair.gradients == (pair.parameter.path,):
                found.append(value - there[pair.parameter.path])
            else:
                found.append(_sum([there.get(path) for path in pair.gradients], value))
        if not self._asks:  # a loss returns the gradients for dy = 1
            found = [None if gradient is None else dy * gradient for gradient in found]
        return tuple(found)

    def _find(self, grads: Grads, wrt: Sequence[str] | None) -> list[str]:
        """Run forward and backward once, and find the parameters, their gradients, and the inputs with a gradient.
        Returns the names of arrays without one."""
        inputs, drawn = list(self._given.values()), np.random.default_rng(0)

        def forwarded(made: Any) -> tuple[Any, Any]:
            np.random.seed(0)
            with told("forward"):
                return self._forwarded(list(map(own, inputs)), made)

        check_written("forward", forwarded(self._object)[0])  # it may create the parameters
        self._places = places_in(self._object)
        made = self._copied({})
        start = snapshot(made)
        y, (_, again, _) = forwarded(made)
        cached = {place.path for place in changed(places_in(made), start)}
        between = snapshot(made)
        np.random.seed(1)
        with told("backward"):
            dy = each(lambda part: drawn.standard_normal(np.shape(part)), y)
            returned, places = self._undone(dy, made, again)
        written = changed(places, between)
        self._paths, self.moved = _of_inputs(returned, written, list(self._given), inputs, wrt)
        of_inputs = {id(place.value) for place in written if place.path in self._paths}
        written = [place for place in written if id(place.value) not in of_inputs]
        if not written and not of_inputs:
            check_written("backward", returned)

        def moves(some: list[Place]) -> bool:
            now, _ = forwarded(self._copied({id(place.value): _moved(place.value) for place in some}))
            return not all(map(np.array_equal, as_tuple(now), as_tuple(y)))

        steady = [place for place in self._places if is_float_array(place.value) and place.path not in cached]
        by_backward = {place.path for place in written}
        kept = [place for place in steady if place.path not in by_backward]
        taken = [place for place in steady if place.path in by_backward]
        taken = [place for place in taken if moves([place])] if moves(taken) else []
        if taken and not self._again & _RATES:
            raise GradientError(f"backward changes the value of {taken[0].path}: only an optimizer may")
        pairs, constants = pairs_of(kept, places, written, grads, moves)
        self.pairs = [*(Pair(place, (place.path,)) for place in taken), *pairs]
        forgotten = [name for p, name in enumerate(self._given) if is_float_array(inputs[p]) and p not in self.moved]
        self.moved += range(len(inputs), len(inputs) + len(self.pairs))
        return [*forgotten, *(place.path for place in constants)]

    def _note(self, constants: list[str]) -> str:
        """Return sentences on the pairs found."""
        says = []
        if self.pairs:
            names = [pair.parameter.path for pair in self.pairs]
            gradients = [" + ".join(pair.gradients) or "none" for pair in self.pairs]
            gradients = [f"{name} -=" if name == said else said for name, said in zip(names, gradients, strict=True)]
            says.append(f"Parameters {_some(names)}; their gradients {_some(gradients)}.")
        says += [
            f"Backward writes no gradient for {pair.parameter.path}; if it is a constant, give "
            f"grads={{{pair.parameter.path!r}: None}}."
            for pair in self.pairs
            if not pair.gradients
        ]
        if constants:
            says.append(f"Taken for constants: {_some(constants)}.")
        return " ".join(says)


def _of_inputs(
    returned: Any, written: list[Place], names: list[str], inputs: list[Any], wrt: Sequence[str] | None
) -> tuple[list[str], list[int]]:
    """Return the paths of the inputs' gradients, and these inputs: backward's results in their order; or, if it returns
    a dict or nothing, the arrays named for them."""
    moved = [p for p, value in enumerate(inputs) if is_float_array(value) and (wrt is None or names[p] in wrt)]
    parts = as_list(returned)
    if isinstance(returned, dict) or all(part is None for part in parts):
        aliases = _INPUTS if len(moved) == 1 else ()
        called = {p: [Place("", "", name, None) for name in (names[p], *aliases)] for p in moved}
        named = {p: [each.path for one in called[p] for each in written if each.is_named_for(one)] for p in moved}
        return [paths[0] for paths in named.values() if paths], [p for p in moved if named[p]]
    keys = whose(returned, names, inputs, wrt)
    if keys is None:  # with the parameters' gradients after them
        keys = dict(zip(moved, range(len(parts)), strict=False))
    return [f"returned[{key}]" if returned is not parts[0] else "returned" for key in keys.values()], list(keys)


def _is_one_for_each(returned: Any, inputs: list[Any]) -> bool:
    """True for an array with a gradient for each of several inputs."""
    is_array = isinstance(returned, np.ndarray) and len(inputs) > 1
    return is_array and returned.shape == (len(inputs), *np.shape(inputs[0]))


def _moved(array: Array) -> Array:
    return np.asarray(array * 1.25 + np.random.default_rng(1).uniform(0.1, 0.2, array.shape))


def _sum(gradients: list[Any], parameter: Any) -> Any:
    """Return the sum of the existing gradients, each once, or 0."""
    there = list({id(gradient): gradient for gradient in gradients if gradient is not None}.values())
    return sum(there[1:], there[0]) if there else np.zeros(np.shape(parameter))


def _some(names: list[str]) -> str:
    return ", ".join(names if len(names) <= _MOST_NAMED else [*names[:3], "…", names[-1]])
