"""Form: other people's code as a layer, run on copies of what it is given.

Forms differ by data: the function that calls the author's forward and returns its backward, the object with their
state, and whether backward takes a dy. `gradients.py` finds the gradients by one rule, for all of them. Those in
backward's result belong to inputs by their order: authors return one for each input (None for a constant), or for each
array of floats.
"""

import copy
import itertools
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from npbert.core import NO_TAPE, Layer, Tape
from npbert.gradcheck.exact.arrays import as_numbers, constants_like
from npbert.gradcheck.exact.number import Number
from npbert.gradcheck.exact.number_modules import is_exact, place_of
from npbert.gradcheck.inputs import Function, as_tuple, is_float_array, mapped
from npbert.gradcheck.paths import Values, is_in_dict, listed, once, values_at
from npbert.io import counted

_LITTLE = 1e-6


class Kept(NamedTuple):
    """What a forward returns and leaves: y, the object, its backward, and the inputs of the Form."""

    y: Any
    thing: Any
    back: Function
    inputs: Collection[Any]


class Form(Layer):
    """Another author's code as a layer. Each call runs a copy of the object and of the inputs.

    names, arguments: the inputs of the author's forward; arrays of floats, and tensors, become arrays of float64.
    thing: the object with their state, or None.
    run(thing, arguments): y, and the author's backward for it, as a function of dy.
    takes_dy: False for the gradients of a loss, whose dy is 1.   takes_step: True if backward changes parameters.
    may_ignore_dy: True for a backward with a default for dy, as that of a loss.

    `gradients.find` sets these:
    values: the inputs of the layer by path: arrays among the author's inputs, and parameters.
    gradients: of each variable, the paths of the arrays that add up to its gradient after backward, in the object or in
    backward's result; its own path if backward takes a step; None to return backward's result as it is.
    given: the number of values from the author's inputs.
    loss: its place, if forward returns it in a tuple.   note: for the report.
    is_glue(code, owner), of an engine: True for code that only calls what is checked.
    """

    note, takes_dy, takes_step, may_ignore_dy = "", True, False, False
    loss: int | None = None
    is_glue: Function

    def __init__(self, names: Sequence[str], arguments: Sequence[Any], run: Function, thing: Any = None) -> None:
        self._run, self._draws = run, itertools.count(1)
        self.gradients: dict[str, Any] = {}
        self.hold(thing)
        arrays = mapped(as_array, list(arguments))
        if thing is None:
            arrays = mapped(own, arrays)  # an array that is given twice is two inputs
        self.take(dict(zip(names, arrays, strict=True)))

    def __deepcopy__(self, memo: Any) -> Any:
        return copy.copy(self)

    def take(self, arguments: Values) -> None:
        """Take these inputs of the author's forward, by name. A function's floats become arrays, which may move."""
        kind = float | np.floating if self.thing is None else ()
        self.numbers = [name for name, value in arguments.items() if isinstance(value, kind)]
        self.arguments = arguments | {name: np.array(arguments[name], float) for name in self.numbers}
        self.values = dict(once(pair for pair in self.inputs().items() if isinstance(pair[1], np.ndarray)))
        self.given = len(self.values)

    def inputs(self) -> Values:
        """Return the author's inputs, those in lists and dicts one by one."""
        return {path: each for name, value in self.arguments.items() for path, each in listed(value, name).items()}

    def is_in_dict(self, name: str) -> bool:
        """True if an input is in a dict, where it has a name and no place."""
        return is_in_dict(name) and name not in self.arguments

    def hold(self, thing: Any, zeros: Iterable[str] = ()) -> None:
        """Run copies of this object from now on, with arrays of float64, and with 0 at these paths."""
        self.thing = thing
        self._held = {
            id(value): value.astype(float) * (path not in zeros) if is_float_array(value) else value
            for path, value in reversed(values_at(thing).items())
        }

    def ran(self, inputs: Collection[Any] = (), others: dict[int, Any] | None = None) -> Kept:
        """Run the author's forward. NumPy's global generator draws the same numbers in each.

        inputs: by default its own. others: more arrays of the object, by id of its own."""
        np.random.seed(0)
        inputs = inputs or self.values.values()
        held = {key: own(value) for key, value in self._held.items()}
        for (name, value), now in zip(self.values.items(), inputs, strict=True):
            is_constant = name in self.numbers and name not in self.gradients
            held[id(value)] = now.item() if is_constant else own(now, name in self.gradients)
        thing, arguments = copy.deepcopy((self.thing, [*self.arguments.values()]), held | (others or {}))
        y, back = self._run(thing, arguments)
        return Kept(y if self.loss is None else y[self.loss], thing, back, inputs)

    def undone(self, dy: Any, kept: Kept) -> tuple[Any, Values]:
        """Run the author's backward, each of which draws other numbers. Returns its result, and all values after it, by
        path."""
        np.random.seed(next(self._draws))
        returned = mapped(plain, kept.back(mapped(own, dy)))
        if self.given > 1 and isinstance(returned, np.ndarray):
            first, *_ = self.values.values()
            if returned.shape == (self.given, *first.shape):
                returned = list(returned)  # a gradient for each input
        return returned, values_at(kept.thing) | values_at(returned, "returned")

    def place_of_change(self, path: str, dy: Any) -> str:
        """Return where backward writes into an array of the object, in words; "" if it puts another in its place."""
        kept = self.ran()
        values_at(kept.thing)[path].flags.writeable = False
        try:
            self.undone(dy, kept)
        except Exception as error:  # NumPy's, for an array that is only read
            return place_of(error)
        return ""

    def forward(self, *inputs: Any, tape: Tape = NO_TAPE) -> Any:
        """Run the author's forward with these values."""
        kept = self.ran(inputs)
        tape.keep(self, kept=kept)
        return mapped(plain, kept.y)

    def backward(self, dy: Any, tape: Tape) -> Any:
        """Run the author's backward. Returns the gradients of the variables."""
        kept = tape.take(self)
        returned, after = self.undone(dy, kept)
        if None in self.gradients.values():
            return returned
        found = []
        for (name, value), before in zip(self.values.items(), kept.inputs, strict=True):
            if name in self.gradients:
                paths = self.gradients[name]
                written = as_tuple([after.get(path) for path in paths])
                gradient = sum(written) if written else np.zeros(value.shape)
                gradient = before - gradient if paths == (name,) else gradient
                found.append(plain(gradient if self.takes_dy else dy * gradient))
        return tuple(found)

    def place_of_loss(self, here: Sequence[Any]) -> int:
        """Return the place of a loss among forward's results: the first number that moves a little with all floats, as
        an accuracy does not."""

        def near(value: Any) -> Any:
            return value * (1 + _LITTLE) if is_float_array(value) else value

        others = {key: near(value) for key, value in self._held.items()}
        there = self.ran([*map(near, self.values.values())], others).y
        both = enumerate(zip(here, there, strict=True))
        return next((place for place, (one, other) in both if is_number(one) and not np.ndim(one) and one != other), 0)

    def places_of(self, y: Any, returned: Any, wrt: Sequence[str]) -> dict[str, str] | None:
        """Return the input of each part of backward's result that has one by its place; None if no reading fits. Lists
        and tuples count one by one, on both sides. What is in dicts has names, and no place.

        In the first reading that fits there is a part for each input in wrt; for each input; for each array of floats
        and number; for each array of floats; for an object, for each array once, and for parameters after them; or, for
        a loss, for some inputs alone. A function's None do not count, except in the first two readings."""
        parts = {path: part for path, part in listed(returned, "returned").items() if not is_in_dict(path)}
        every, given = [*parts], [path for path, part in parts.items() if part is not None]
        those = given if self.thing is None else every
        inputs = {name: value for name, value in self.inputs().items() if not self.is_in_dict(name)}
        able = [name for name, value in inputs.items() if is_float_array(value)]
        arrays = [name for name in able if name not in self.numbers]
        for names, paths in ([*wrt], every), ([*inputs], every), (able, those), (arrays, those):
            pairs = zip(paths, names, strict=False)
            if len(names) == len(paths) and all(name in able for path, name in pairs if path in given):
                break
        else:
            if self.thing is not None:
                names = [name for name in able if name in self.values and name in (wrt or able)]
            elif wrt or not is_number(y) or np.ndim(plain(y)):
                return None
            else:
                names = _of_these_shapes(parts, {name: inputs[name] for name in able})
            paths = every
        first = {id(value): name for name, value in self.values.items()}
        pairs = zip(paths, names, strict=False)
        return {path: first[id(inputs[name])] for path, name in pairs if path in given and name in (wrt or able)}


def _of_these_shapes(parts: Values, inputs: Values) -> list[str]:
    """Return the first inputs, in order, with the shapes of the gradients of a loss."""
    names, rest = list[str](), iter(inputs.items())
    for shape in map(np.shape, parts.values()):
        for name, value in rest:
            if np.shape(value) == shape:
                names.append(name)
                break
        else:
            raise ValueError(
                f"backward returns {counted(len(parts), 'gradient')}, one of shape {shape}, which no remaining input "
                "has; name their inputs, as in wrt=('x',)"
            )
    return names


def own(value: Any, is_moved: bool = False) -> Any:
    """Return a copy of an array, or the number of a varied one without axes. Constant floats among exact numbers become
    exact, to keep sums exact."""
    if isinstance(value, np.ndarray):
        value = value[()] if is_moved and not value.ndim else np.copy(value)
    return constants_like(value) if is_exact() and is_float_array(value) else value


def plain(value: Any) -> Any:
    """Return a tensor or number as an array of float64, complex or exact numbers; anything else as it is."""
    if not is_number(value):
        return value
    if hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    elif isinstance(getattr(value, "data", None), np.ndarray):
        return plain(value.data)
    array = np.asarray(value)
    if array.dtype == object:
        return as_numbers(array)
    return array.astype(complex if array.dtype.kind == "c" else float, copy=False)


def as_array(value: Any) -> Any:
    """Return an array of floats, or a tensor, as an array of float64: itself, if it is one."""
    if isinstance(value, np.matrix):
        raise TypeError("an input is an np.matrix, wanted an array; use np.asarray(it)")
    return plain(value) if is_float_array(value) or is_tensor(value) else value


def is_tensor(value: Any) -> bool:
    """True for a tensor of any library except NumPy."""
    is_numpy = isinstance(value, np.ndarray | np.generic)
    return not is_numpy and (hasattr(value, "__array__") or isinstance(getattr(value, "data", None), np.ndarray))


def is_number(value: Any) -> bool:
    """True for a number, an array or a tensor."""
    return isinstance(value, np.ndarray | np.generic | int | float | complex | Number) or is_tensor(value)
