"""Arrays of Numbers, in which layers compute as they are written.

NumPy does nearly everything with arrays of objects. What it cannot do with them, or not fast, is here.
"""

import contextvars
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.exact.number import RULES, Number, as_number, seen_of


class Held(np.ndarray):
    """An array that answers to what a tensor is asked on its way to NumPy: x.detach().cpu().numpy(), x.data."""

    requires_grad = True

    def numpy(self) -> Any:
        """Itself."""
        return self

    detach = cpu = numpy
    data = property(numpy)


class Numbers(Held):
    """An array of Numbers, or of whatever else NumPy makes of them."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        inputs = tuple(_plain(x) for x in inputs)
        if out:
            options["out"] = tuple(_plain(x) for x in out)
        result = _by_hand(ufunc, inputs) if method == "__call__" else None
        if result is None:
            result = getattr(ufunc, method)(*inputs, **options)
        elif out:
            options["out"][0][...] = result
        return out[0] if out else as_numbers(result)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return as_numbers(super().__array_function__(function, types, args, kwargs))


def as_numbers(result: Any) -> Any:
    """Arrays of objects as Numbers, those in a tuple or list too."""
    if isinstance(result, tuple | list):
        parts = [as_numbers(part) for part in result]
        return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)
    return result.view(Numbers) if type(result) is np.ndarray and result.dtype == object else result


def _plain(x: Any) -> Any:
    return x.view(np.ndarray) if isinstance(x, Numbers) else x


_seen = np.frompyfunc(seen_of, 1, 1)


def _by_hand(ufunc: Any, inputs: tuple[Any, ...]) -> Any:
    """The result where NumPy has no loop over objects, or a slow one; None for all else."""
    if ufunc is np.matmul:
        return _product(*inputs)
    if ufunc in (np.isfinite, np.isnan, np.isinf):
        return ufunc(np.asarray(_seen(inputs[0]), float))
    if ufunc.__name__ in RULES:  # NumPy's or SciPy's, of integers too
        return np.frompyfunc(lambda x: RULES[ufunc.__name__](as_number(x)), 1, 1)(*inputs)
    return None


def _parts_of(x: Any) -> tuple[Any, Any, float]:
    number = as_number(x)
    return number.value, number.tangent, number.seen


_parts = np.frompyfunc(_parts_of, 1, 3)
_joined = np.frompyfunc(Number, 3, 1)


def _product(a: Array, b: Array) -> Any:
    """a b, as products of arrays of integers, which take a tenth of the time."""
    (a, da, seen_a), (b, db, seen_b) = _parts(a), _parts(b)
    modulus = Number.world.modulus
    tangent = (np.matmul(a, db) + np.matmul(da, b)) % modulus if Number.keeps_tangents else 0
    seen = np.matmul(np.asarray(seen_a, float), np.asarray(seen_b, float))
    return _joined(np.matmul(a, b) % modulus, tangent, seen)


def unknowns_like(array: Array, *, moved: bool = True) -> Any:
    """Numbers at random that are seen as those of the array; moved: each with a tangent at random."""
    world = Number.world
    make = np.frompyfunc(lambda x: Number(world.draw(x), world.draw_tangent() if moved else 0, x), 1, 1)
    return as_numbers(np.asarray(make(np.asarray(array, float)), object))


def constants_like(array: Array) -> Any:
    """Numbers for the floats that the array holds."""
    return as_numbers(np.asarray(np.frompyfunc(as_number, 1, 1)(array), object))


def values_of(array: Any) -> Array:
    """The values of Numbers, as objects."""
    return np.asarray(np.frompyfunc(lambda x: as_number(x).value, 1, 1)(array), object)


def tangents_of(array: Any) -> Array:
    """The tangents of Numbers, as objects."""
    return np.asarray(np.frompyfunc(lambda x: as_number(x).tangent, 1, 1)(array), object)


_makes_room = contextvars.ContextVar("makes_room", default=False)


def _with_room(make: Any) -> Any:
    """np.zeros, say, that makes an array of objects where it would make one of floats, into which no Number goes."""

    def made(*args: Any, **options: Any) -> Any:
        array = make(*args, **options)
        if not _makes_room.get() or array.dtype != np.float64:
            return array
        return as_numbers(np.zeros(array.shape, object) if make is np.empty else array.astype(object))

    return made


_MAKERS = {name: _with_room(getattr(np, name)) for name in ("zeros", "ones", "empty", "full")}


class _NumPyWithRoom:
    """numpy, with those four in their place."""

    def __getattr__(self, name: str) -> Any:
        return _MAKERS.get(name) or getattr(np, name)


_NUMPY_WITH_ROOM = _NumPyWithRoom()
_SWAPPED = [(name, np, _NUMPY_WITH_ROOM) for name in ("np", "numpy")]
_SWAPPED += [(name, getattr(np, name), maker) for name, maker in _MAKERS.items()]
_SWAPPED_NAMES = {name for name, *_ in _SWAPPED}


def _or_of_number(function: Any, rule: Any) -> Any:
    """The function, and a rule for what is exact."""
    return lambda x, *more, **options: (rule if isinstance(x, Number | Numbers) else function)(x, *more, **options)


_OF_MATH = {name: _or_of_number(getattr(math, name), rule) for name, rule in RULES.items() if hasattr(math, name)}


def _as_it_is(x: Any, *more: Any, **options: Any) -> Any:
    return x


def is_exact() -> bool:
    """True while there is `room_for_numbers`."""
    return _makes_room.get()


@contextmanager
def room_for_numbers() -> Iterator[None]:
    """While it lasts, `math.exp` and its like take Numbers; and `np` and `zeros` mean ours in every module that has
    them, for this thread, but for those of NumPy and SciPy, the C of which would break, and the check's own."""
    replaced = []
    for module_name, module in list(sys.modules.items()):
        names = getattr(module, "__dict__", {})
        if not names.keys() & _SWAPPED_NAMES:  # as in most of the thousands that a program may have
            continue
        if module_name.partition(".")[0] in ("numpy", "scipy") or module_name.startswith("npbert.gradcheck."):
            continue
        for name, original, ours in _SWAPPED:
            if names.get(name) is original:
                replaced.append((names, name, original))
                names[name] = ours
    functions = [(vars(math), name, function) for name, function in _OF_MATH.items()]
    if torch := vars(sys.modules["torch"]) if "torch" in sys.modules else {}:
        makers = ("from_numpy", "as_tensor", "tensor")
        functions += [(torch, name, _or_of_number(torch[name], _as_it_is)) for name in makers]
    for names, name, ours in functions:
        replaced.append((names, name, names[name]))
        names[name] = ours
    token = _makes_room.set(True)
    try:
        yield
    finally:
        _makes_room.reset(token)
        for names, name, original in replaced:
            names[name] = original
