"""The Form of an object that keeps backward's values on itself: its parameters are inputs, too.

The rule for finding gradients: a parameter is an array of floats in the object, or in an object within it, as an
attribute or in a list or dict, that forward does not change. Its gradient is an array that backward writes or adds to
in the same object: the one named for it (dW, grad_W, W_grad, dLdW, or W in another dict or list), or the only one of
its shape. Results of backward besides the inputs' gradients count as written. If backward takes a learning rate, so
does its change of the parameter. `grads={"W": "dW"}` overrides the rule.

Each call runs a copy of the object, so it stays unchanged, and calls are independent. In the copy, gradients are 0.
"""

import copy
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.exact.number_modules import told
from npbert.gradcheck.forms import Form, own
from npbert.gradcheck.forward import check_written
from npbert.gradcheck.inputs import as_list, as_tuple, asked, is_float_array, mapped, names_given
from npbert.gradcheck.paths import (
    Grads,
    Values,
    arrays_given,
    changed,
    is_named_for,
    leaves,
    once,
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
    if isinstance(given, type) or is_of_library(type(given)):
        return False
    return bool(_method(given, _FORWARDS) and _method(given, (*_BACKWARDS, "loss")))


def _method(given: Any, names: Sequence[str]) -> str:
    """Return the first of these names that the object has as a method, or a longer form of the first one, such as
    forward_propagation; or ""."""
    longer = [name for name in dir(given) if name.startswith(names[0])]
    return next((name for name in (*names, *longer) if callable(getattr(given, name, None))), "")


class StatefulForm(Form):
    """The Form of an object with state. Its inputs are those of the author's forward, and the values of parameters.

    values: of the inputs, by name. sizes: whole numbers that it holds. note: a sentence on the gradients found.
    Raises: ValueError for an ambiguous gradient; GradientError for a backward that changes a parameter; errors of the
    author's code.
    """

    def __init__(self, given: Any, inputs: Sequence[Any], grads: Grads, wrt: Sequence[str] | None) -> None:
        self._forward, self._backward = _method(given, _FORWARDS), _method(given, _BACKWARDS)
        self._names = names_given(getattr(given, self._forward), len(inputs))
        backward = getattr(given, self._backward or self._forward)
        words = asked(backward)
        self._rates = _RATES & set(words)
        is_dy = len(words) == 1 and self._backward != "gradient"  # under any name
        self._again = set() if is_dy else self._rates | set(words) & set(self._names)
        others = [name for name in words if name not in self._again]
        self._wants = [name for name in asked(backward, required=True) if name in others] or others[:1]
        self._inputs, self._arrays = inputs, arrays_given(self._names, inputs)
        self.values = dict(once(self._arrays.items()))
        self._copy_from(given)
        super().__init__(list(self.values), self._run, self._undo)
        self.note = self._find(grads, wrt)
        self.sizes = {size for _, size in leaves(given, lambda each: type(each) is int)}
        self.input_names = list(self.values)
        self.moved = list(self._gradients)

    def _copy_from(self, thing: Any, zeros: Iterable[str] = ()) -> None:
        """Copy this object from now on, with arrays of float64, and with 0 at these paths."""
        self._object, self._held = thing, dict[int, Any]()
        for path, value in values_at(thing).items():
            held = value.astype(float) * (path not in zeros) if is_float_array(value) else value
            self._held.setdefault(id(value), held)

    def _forwarded(self, others: dict[int, Any]) -> tuple[Any, Any, Any]:
        """Run forward on a copy of the object and of the author's inputs, with other arrays, by the ids of its own.
        Returns y, the object, and what backward takes again: arguments of forward by name, or a loss's gradients."""
        held = {key: own(value) if isinstance(value, np.ndarray) else value for key, value in self._held.items()}
        thing, given = copy.deepcopy((self._object, self._inputs), held | others)
        named = dict(zip(self._names, given, strict=True)) | dict.fromkeys(_RATES, 1.0)
        again = {name: value for name, value in named.items() if name in self._again}
        y = getattr(thing, self._forward)(*given)
        if y is None:
            y = next((vars(thing)[name] for name in _OUTPUTS if name in getattr(thing, "__dict__", {})), None)
        if not self._backward:
            return y[0], thing, y[1] if len(y) == 2 else y[1:]
        if isinstance(y, tuple):  # without a dy, backward is that of a loss
            y = y[: len(self._wants)] if self._wants else next((part for part in y if np.ndim(part) == 0), y)
        return y, thing, again

    def _run(self, inputs: list[Any]) -> tuple[Any, Any]:
        before = dict(zip(self.values, map(np.copy, inputs), strict=True))
        y, *kept = self._forwarded(dict(zip(map(id, self.values.values()), inputs, strict=True)))
        return y, (*kept, before)

    def _undone(self, dy: Any, thing: Any, again: Any) -> tuple[Any, Values]:
        """Return backward's result, and all values after it, including those in the result."""
        returned = again
        if self._backward:
            returned = getattr(thing, self._backward)(**dict(zip(self._wants, as_tuple(dy), strict=False)), **again)
        shapes = [(self.given, *value.shape) for value in self.values.values()]
        if self.given > 1 and isinstance(returned, np.ndarray) and returned.shape == shapes[0]:
            returned = list(returned)  # a gradient for each input
        returned = mapped(_as_float, returned)
        return returned, values_at(thing) | values_at(returned, "returned")

    def _undo(self, dy: Any, kept: Any) -> Any:
        """Return the gradients of the inputs that have one."""
        thing, again, before = kept
        _, values = self._undone(dy, thing, again)
        found = []
        for path, gradients in self._gradients.items():
            if gradients == (path,):  # backward takes a step
                found.append(before[path] - values[path])
            else:
                there = [values[each] for each in gradients if values.get(each) is not None]
                found.append(sum(there) if there else np.zeros(before[path].shape))
        return tuple(found if self._wants else [dy * gradient for gradient in found])  # a loss returns those for 1

    def _find(self, grads: Grads, wrt: Sequence[str] | None) -> str:
        """Find the parameters, and all gradients. Returns the note. In this order:

        1. Forward runs, which may create the parameters.
        2. Forward and backward run. The candidates for a gradient are the arrays that backward writes or returns.
        3. `_of_inputs` takes those of the inputs.
        4. Forward runs with each array moved alone. Those that it leaves may be parameters.
        5. `pairs_of` finds the gradients of the parameters among the remaining candidates.
        """
        with told("forward"):
            y, (thing, *_) = self._ran_once()
        check_written("forward", y)
        self._copy_from(thing)
        y, (thing, again, _) = self._ran_once()
        before = snapshot(thing)
        with told("backward"):
            dy = mapped(lambda part: np.random.default_rng(0).standard_normal(np.shape(part)), y)
            returned, after = self._undone(dy, thing, again)
        candidates = changed(after, before)
        self._gradients = _of_inputs(returned, candidates, self._arrays, wrt)
        taken = {id(after[path]) for paths in self._gradients.values() for path in paths if path in candidates}
        candidates = [path for path in candidates if id(after[path]) not in taken]
        if not candidates and not taken:
            check_written("backward", returned)
        left, used = self._moved_alone(y)
        stepped = [path for path in used if path in candidates]
        if stepped and not self._rates:
            raise GradientError(f"backward changes the value of {stepped[0]}: only an optimizer may")
        others = {path: value for path, value in left.items() if path not in candidates}
        pairs, constants = pairs_of(others, after, candidates, grads, used)
        pairs = {path: (path,) for path in stepped} | pairs
        floats = [name for name, value in self.values.items() if is_float_array(value)]
        note = _note(pairs, [name for name in floats if name not in self._gradients] + constants)
        self.values |= {path: left[path] for path in pairs}
        self._gradients |= pairs
        self._copy_from(self._object, {path for paths in self._gradients.values() for path in paths})
        return note

    def _ran_once(self) -> tuple[Any, Any]:
        return self.ran(list(map(own, self.values.values())))

    def _moved_alone(self, y: Any) -> tuple[Values, list[str]]:
        """Run forward with each array of floats moved alone. Returns the arrays that it leaves, and the paths of those
        that y depends on."""
        left, used = Values(), list[str]()
        for path, value in values_at(self._object).items():
            if is_float_array(value):
                other = np.asarray(value * 1.25 + np.random.default_rng(1).uniform(0.1, 0.2, value.shape))
                np.random.seed(0)
                now, thing, _ = self._forwarded({id(value): np.copy(other)})
                now_there: Any = values_at(thing).get(path)
                if np.array_equal(now_there, other):
                    left[path] = value
                    if not all(map(np.array_equal, as_tuple(now), as_tuple(y))):
                        used.append(path)
        return left, used


def _as_float(value: Any) -> Any:
    """Return a whole number or truth value, or an array of them, as an array of floats."""
    kind = getattr(value, "dtype", np.dtype(type(value))).kind
    return np.asarray(value, float) if kind in "iub" else value


def _of_inputs(
    returned: Any, written: list[str], given: dict[str, Array], wrt: Sequence[str] | None
) -> dict[str, tuple[str, ...]]:
    """Return the paths of the inputs' gradients by input: backward's results in their order, several for an array that
    is given several times; or, if it returns a dict or nothing, the arrays named for them."""
    parts, distinct = as_list(returned), dict(once(given.items()))
    moved = [name for name, value in distinct.items() if is_float_array(value) and (wrt is None or name in wrt)]
    if isinstance(returned, dict) or all(part is None for part in parts):
        aliases = _INPUTS if len(moved) == 1 else ()
        found = {name: _named([name, *aliases], written) for name in moved}
        return {name: paths for name, paths in found.items() if paths}
    keys = whose(returned, given, wrt)
    if keys is None:
        keys = whose(returned, distinct, wrt)
    if keys is None:  # with the parameters' gradients after them
        keys = dict(zip(moved, range(len(parts)), strict=False))
    paths = {name: f"returned[{key}]" if returned is not parts[0] else "returned" for name, key in keys.items()}
    both = {name: [paths[each] for each in paths if given[each] is value] for name, value in distinct.items()}
    return {name: tuple(found) for name, found in both.items() if found}


def _named(names: Sequence[str], written: Iterable[str]) -> tuple[str, ...]:
    """Return the first path that is named for one of these names, or ()."""
    return tuple(path for path in written if any(is_named_for(path, name) for name in names))[:1]


def _note(pairs: dict[str, tuple[str, ...]], constants: list[str]) -> str:
    """Return sentences on the pairs found."""
    says = []
    if pairs:
        gradients = [f"{path} -=" if found == (path,) else " + ".join(found) or "none" for path, found in pairs.items()]
        says.append(f"Parameters {_some(list(pairs))}; their gradients {_some(gradients)}.")
    for path in [path for path, found in pairs.items() if not found]:
        says.append(f"Backward writes no gradient for {path}; if it is a constant, give grads={{{path!r}: None}}.")
    if constants:
        says.append(f"Taken for constants: {_some(constants)}.")
    return " ".join(says)


def _some(names: list[str]) -> str:
    return ", ".join(names if len(names) <= _MOST_NAMED else [*names[:3], "…", names[-1]])
