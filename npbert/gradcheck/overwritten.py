"""Which array of the caller's a layer writes into, when NumPy says only that something is read-only."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from npbert.core import Tape
from npbert.gradcheck.inputs import arrays_in, as_tuple, copied, copy_of, is_float_array, names_of_inputs


@contextmanager
def overwriting_named(layer: Any, inputs: tuple[Any, ...], rng: np.random.Generator | None) -> Iterator[None]:
    """Have NumPy's "read-only" say which array it is. Raises: ValueError, then."""
    try:
        yield
    except ValueError as error:
        if "read-only" not in str(error):
            raise
        try:
            found = _overwritten(copy.deepcopy(layer), inputs, rng)
        except Exception:  # a layer that fails with writable arrays, too, or cannot be copied
            found = ""
        if not found:
            raise
        raise ValueError(
            f"{found}, which is the caller's, and read-only here: compute in an array of its own "
            "(z = a * b, not a *= b, and no out=)"
        ) from error


def _overwritten(layer: Any, inputs: tuple[Any, ...], rng: np.random.Generator | None) -> str:
    """Whether forward or backward writes, and into what: tried on copies that may be written to."""
    given = [copied(value) for value in inputs]
    tape = Tape(copy_of(rng))
    y = layer.forward(*given, tape=tape)
    name = _changed(layer, given, inputs)
    if name:
        return f"forward writes into {name}"
    drawn = np.random.default_rng(0)
    dy = tuple(drawn.standard_normal(np.shape(part)) for part in as_tuple(y))
    kept = [part.copy() for part in dy]
    layer.backward(dy if isinstance(y, tuple | list) else dy[0], tape)
    if not all(map(np.array_equal, dy, kept)):
        return "backward writes into dy"
    name = _changed(layer, given, inputs)
    return f"backward writes into {name}" if name else ""


def _changed(layer: Any, given: list[Any], inputs: tuple[Any, ...]) -> str:
    """The first input, or array in one, that is another one now."""
    for name, value, before in zip(names_of_inputs(layer, len(inputs)), given, inputs, strict=True):
        for (field, array), (_, old) in zip(arrays_in(value), arrays_in(before), strict=True):
            if not np.array_equal(array, old, equal_nan=is_float_array(array)):
                return f"{name}.{field}" if field else name
    return ""
