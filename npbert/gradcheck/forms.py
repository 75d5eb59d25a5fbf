"""Form: what others write, as a layer. Whatever form it has, it comes to two things: forward values, and a vjp.

What checks, proves and explains a layer then serves what others wrote: see `function_forms.py` and `stateful.py`.
"""

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import CodeType
from typing import Any

import numpy as np
from numpy.random.mtrand import get_bit_generator, set_bit_generator

from npbert.core import NO_TAPE, Layer, Tape
from npbert.gradcheck.exact.arrays import Numbers, as_numbers, constants_like
from npbert.gradcheck.exact.number import Number
from npbert.gradcheck.exact.number_modules import is_exact
from npbert.gradcheck.inputs import is_float_array

Function = Callable[..., Any]


class Form(Layer):
    """theirs: the author's forward, by that name.

    run(inputs): y, and what backward will need.   back(dy, kept): what the author's backward says.
    input_names: of what forward is given.   moved: the positions of those inputs that have a gradient; None for all
    arrays of floats.   pick: which of the gradients that come back are theirs; None for all.   note: for the report.
    given: how many of the inputs are those of the author's forward.
    """

    def __init__(self, forward: Function, names: Sequence[str], run: Function, back: Function) -> None:
        self.theirs, self.input_names, self._run, self._back = {"forward": forward}, list(names), run, back
        self.moved: list[int] | None = None
        self.pick: list[Any] | None = None
        self.note, self.given = "", len(names)
        self._draws, self._bits = 0, np.random.MT19937(0)

    def __deepcopy__(self, memo: Any) -> Any:
        return copy.copy(self)

    def forward(self, *inputs: Any, tape: Tape = NO_TAPE) -> Any:
        """The author's, on copies."""
        y, kept = self._ran([own(value, position in (self.moved or ())) for position, value in enumerate(inputs)])
        tape.keep(self, kept=kept)
        return each(plain, y)

    def backward(self, dy: Any, tape: Tape) -> Any:
        """The author's, on copies; the gradients of those inputs that have one."""
        found = each(plain, self._returned(each(own, dy), tape.take(self)))
        found = found if isinstance(found, tuple | dict) else (found,)
        return found if self.pick is None else tuple(found[key] for key in self.pick)

    def is_glue(self, code: CodeType, owner: Any) -> bool:
        """True for the code of a function, a method of the owner, that only calls what is checked."""
        return False

    def once(self, inputs: Sequence[Any]) -> tuple[Any, Callable[[], Any]]:
        """What the author's forward gives, and a function for what backward returns then, for a dy of ones."""
        y, kept = self._ran(list(map(own, inputs)))
        return y, lambda: self._returned(each(lambda part: np.ones(np.shape(plain(part))), y), kept)

    def _ran(self, inputs: list[Any]) -> tuple[Any, Any]:
        with self._as_written(0):
            return self._run(inputs)

    def _returned(self, dy: Any, kept: Any) -> Any:
        self._draws += 1  # so that what backward draws is another one each time
        with self._as_written(self._draws):
            return self._back(dy, kept)

    @contextmanager
    def _as_written(self, seed: int) -> Iterator[None]:
        """The same draws from NumPy's global generator in each forward, and others in backward."""
        theirs = get_bit_generator()
        set_bit_generator(self._bits)  # in a hundredth of the time of get_state and set_state
        np.random.seed(seed)
        try:
            yield
        finally:
            set_bit_generator(theirs)


def each(change: Function, value: Any) -> Any:
    """The change made to a value, or to each in a tuple, list or dict."""
    if isinstance(value, dict):
        return {key: change(part) for key, part in value.items()}
    return tuple(map(change, value)) if isinstance(value, tuple | list) else change(value)


def own(value: Any, is_moved: bool = False) -> Any:
    """A copy; of an array without axes that is moved, its number. Floats that stay where they are become exact ones
    among such, or their sums would be rounded."""
    if isinstance(value, np.ndarray):
        value = value[()] if is_moved and not value.ndim else np.copy(value)
        return constants_like(value) if is_exact() and is_float_array(value) else value
    return {key: own(part) for key, part in value.items()} if type(value) is dict else copy.deepcopy(value)


def plain(value: Any) -> Any:
    """An array of float64, of complex numbers or of exact ones, for whatever tensor or number it is."""
    if value is None or isinstance(value, Number | Numbers):
        return value
    if hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    elif not isinstance(value, np.ndarray | np.generic) and isinstance(getattr(value, "data", None), np.ndarray):
        return plain(value.data)
    array = np.asarray(value)
    if array.dtype == object:
        return as_numbers(array)
    return array.astype(complex if array.dtype.kind == "c" else float)
