"""Form: other people's code as a layer: a forward, and a vjp.

Then the check, the proof and the explanation work for it, too: see `function_forms.py` and `stateful.py`.
"""

import copy
from collections.abc import Sequence
from types import CodeType
from typing import Any

import numpy as np

from npbert.core import NO_TAPE, Layer, Tape
from npbert.gradcheck.exact.arrays import as_numbers, constants_like
from npbert.gradcheck.exact.number_modules import is_exact
from npbert.gradcheck.inputs import Function, is_float_array, mapped


class Form(Layer):
    """Another author's code as a layer.

    input_names: of forward's inputs.
    run(inputs): y, and the values for backward.   back(dy, kept): the author's backward.
    moved: the names of the inputs with a gradient.
    pick: the indices of their gradients in backward's result; None: all.
    note: for the report.   given: the number of inputs of the author's forward.
    """

    note = ""

    def __init__(self, names: Sequence[str], run: Function, back: Function) -> None:
        self.input_names, self._run, self._back = list(names), run, back
        self.moved, self.given = list[str](), len(names)
        self.pick: list[Any] | None = None
        self._draws = 0

    def __deepcopy__(self, memo: Any) -> Any:
        return copy.copy(self)

    def forward(self, *inputs: Any, tape: Tape = NO_TAPE) -> Any:
        """Run the author's forward on copies."""
        named = zip(self.input_names, inputs, strict=True)
        y, kept = self.ran([own(value, name in self.moved) for name, value in named])
        tape.keep(self, kept=kept)
        return mapped(plain, y)

    def backward(self, dy: Any, tape: Tape) -> Any:
        """Run the author's backward on copies. Returns the gradients of the inputs that have one."""
        found = mapped(plain, self.returned(mapped(own, dy), tape.take(self)))
        found = found if isinstance(found, tuple | list | dict) else (found,)
        return found if self.pick is None else tuple(found[key] for key in self.pick)

    def is_glue(self, code: CodeType, owner: Any) -> bool:
        """True for the code of a function, a method of the owner, that only calls what is checked."""
        return False

    def ran(self, inputs: list[Any]) -> tuple[Any, Any]:
        """Return y, and the values for backward. NumPy's global generator draws the same numbers in each forward."""
        np.random.seed(0)
        return self._run(inputs)

    def returned(self, dy: Any, kept: Any) -> Any:
        """Return the result of the author's backward, each of which draws other numbers."""
        self._draws += 1
        np.random.seed(self._draws)
        return self._back(dy, kept)


def own(value: Any, is_moved: bool = False) -> Any:
    """Return a copy, or the number of a varied array without axes. Constant floats among exact numbers become exact, to
    keep sums exact."""
    if isinstance(value, np.ndarray):
        value = value[()] if is_moved and not value.ndim else np.copy(value)
        return constants_like(value) if is_exact() and is_float_array(value) else value
    return {key: own(part) for key, part in value.items()} if type(value) is dict else copy.deepcopy(value)


def plain(value: Any) -> Any:
    """Return a tensor or number as an array of float64, complex or exact numbers."""
    if value is None:
        return value
    if hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    elif isinstance(getattr(value, "data", None), np.ndarray):
        return plain(value.data)
    array = np.asarray(value)
    if array.dtype == object:
        return as_numbers(array)
    return array.astype(complex if array.dtype.kind == "c" else float)


def is_tensor(value: Any) -> bool:
    """True for a tensor of any library except NumPy."""
    is_numpy = isinstance(value, np.ndarray | np.generic)
    return not is_numpy and (hasattr(value, "__array__") or isinstance(getattr(value, "data", None), np.ndarray))
