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
    Values,
    arrays_given,
    as_list,
    changed,
    is_named_for,
    pairs_of,
    snapshot,
    values_at,
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
        self.input_names = [*self._given, *(pair.parameter for pair in self.pairs)]
        self.note = self._note(constants)

    @property
    def values(self) -> list[Any]:
        """Return the inputs, and the values of the parameters."""
        return [*self._given.values(), *(np.array(self._held[pair.parameter], dtype=float) for pair in self.pairs)]

    def _copied(self, others: dict[int, Any]) -> Any:
        """Return a copy of the object with these arrays replaced, by id, and gradients of 0."""
        gradients = {path for pair in self.pairs for path in pair.gradients}
        memo = dict[int, Any]()
        for path, value in self._held.items():
            if isinstance(value, ModuleType):
                memo[id(value)] = value
            elif is_float_array(value):
                memo[id(value)] = own(value.astype(float) * (path not in gradients))
        return copy.deepcopy(self._object, memo | others)

    def _forwarded(self, inputs: list[Any], made: Any = None) -> tuple[Any, Any]:
        """Return y, and the values for backward: the object, its repeated arguments, and the parameters' values."""
        arrays = [*self._given.values(), *(self._held[pair.parameter] for pair in self.pairs)]
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

    def _undone(self, dy: Any, made: Any, again: Any) -> tuple[Any, Values]:
        """Return backward's result, and all values after it, including those in the result."""
        if not self._backward:
            returned = again[0] if len(again) == 1 else tuple(again)
        else:
            given = dict(zip(self._asks, as_tuple(dy), strict=False))
            returned = getattr(made, self._backward)(**given, **again)
        if _is_one_for_each(returned, list(self._given.values())):
            returned = list(returned)
        return returned, values_at(made) | values_at(returned, "returned")

    def _gradients(self, dy: Any, kept: Any) -> Any:
        """Return the gradients of the inputs that have one, and of the parameters."""
        made, again, before = kept
        _, there = self._undone(dy, made, again)
        found = [there.get(path) for path in self._paths]
        for (path, gradients), value in zip(self.pairs, before, strict=True):
            if gradients == (path,):
                found.append(value - there[path])
            else:
                found.append(_sum([there.get(each) for each in gradients], value))
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
        self._held = values_at(self._object)
        made = self._copied({})
        start = snapshot(made)
        y, (_, again, _) = forwarded(made)
        cached = changed(values_at(made), start)
        between = snapshot(made)
        np.random.seed(1)
        with told("backward"):
            dy = each(lambda part: drawn.standard_normal(np.shape(part)), y)
            returned, values = self._undone(dy, made, again)
        written = changed(values, between)
        self._paths, self.moved = _of_inputs(returned, written, list(self._given), inputs, wrt)
        of_inputs = {id(values[path]) for path in written if path in self._paths}
        written = [path for path in written if id(values[path]) not in of_inputs]
        if not written and not of_inputs:
            check_written("backward", returned)

        def moves(some: Values) -> bool:
            now, _ = forwarded(self._copied({id(value): _moved(value) for value in some.values()}))
            return not all(map(np.array_equal, as_tuple(now), as_tuple(y)))

        steady = {path: value for path, value in self._held.items() if is_float_array(value) and path not in cached}
        kept = {path: value for path, value in steady.items() if path not in written}
        taken = {path: value for path, value in steady.items() if path in written}
        taken = {path: value for path, value in taken.items() if moves({path: value})} if moves(taken) else {}
        if taken and not self._again & _RATES:
            raise GradientError(f"backward changes the value of {next(iter(taken))}: only an optimizer may")
        pairs, constants = pairs_of(kept, values, written, grads, moves)
        self.pairs = [*(Pair(path, (path,)) for path in taken), *pairs]
        forgotten = [name for p, name in enumerate(self._given) if is_float_array(inputs[p]) and p not in self.moved]
        self.moved += range(len(inputs), len(inputs) + len(self.pairs))
        return [*forgotten, *constants]

    def _note(self, constants: list[str]) -> str:
        """Return sentences on the pairs found."""
        says = []
        if self.pairs:
            gradients = [
                f"{path} -=" if found == (path,) else " + ".join(found) or "none" for path, found in self.pairs
            ]
            names = _some([path for path, _ in self.pairs])
            says.append(f"Parameters {names}; their gradients {_some(gradients)}.")
        says += [
            f"Backward writes no gradient for {path}; if it is a constant, give grads={{{path!r}: None}}."
            for path, found in self.pairs
            if not found
        ]
        if constants:
            says.append(f"Taken for constants: {_some(constants)}.")
        return " ".join(says)


def _of_inputs(
    returned: Any, written: list[str], names: list[str], inputs: list[Any], wrt: Sequence[str] | None
) -> tuple[list[str], list[int]]:
    """Return the paths of the inputs' gradients, and these inputs: backward's results in their order; or, if it returns
    a dict or nothing, the arrays named for them."""
    moved = [p for p, value in enumerate(inputs) if is_float_array(value) and (wrt is None or names[p] in wrt)]
    parts = as_list(returned)
    if isinstance(returned, dict) or all(part is None for part in parts):
        aliases = _INPUTS if len(moved) == 1 else ()
        named = {
            p: [path for name in (names[p], *aliases) for path in written if is_named_for(path, name)] for p in moved
        }
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
