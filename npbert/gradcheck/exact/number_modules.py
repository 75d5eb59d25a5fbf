"""room_for_numbers: within it, Numbers have a world, and the modules of a layer's code create arrays for them."""

import contextvars
import gc
import math
import sys
import traceback
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from types import CellType, FunctionType, SimpleNamespace
from typing import Any

import numpy as np

from npbert.gradcheck.exact.arrays import Numbers, as_numbers, is_double
from npbert.gradcheck.exact.number import Number, World
from npbert.gradcheck.exact.rules import MATH
from npbert.gradcheck.inputs import Function
from npbert.gradcheck.report import GradientError
from npbert.gradcheck.restoring import reachable

_MOST_PLACES = 3
_makes_room = contextvars.ContextVar("makes_room", default=False)


def is_exact() -> bool:
    """True within `room_for_numbers` in this thread."""
    return _makes_room.get()


@contextmanager
def room_for_numbers(world: World, things: Collection[Any]) -> Iterator[None]:
    """Within it, Numbers belong to this world, and names are exchanged: in npbert, in the modules of all functions
    among these things, and in variables of closures. On other threads, each exchanged function behaves as the
    original. A `functools.cache` that has exact numbers afterwards is cleared."""
    scopes = [vars(module) for name, module in sys.modules.items() if name.startswith("npbert.")]
    scopes += [each.__globals__ for each in things if isinstance(each, FunctionType)]
    exact = _exchanged()
    places = [
        (scope.__setitem__, name, value)
        for scope in scopes
        if not is_ours_or_numpys(scope.get("__name__"))
        for name, value in scope.items()
    ]
    places += [
        (cell.__setattr__, "cell_contents", value)
        for cell in things
        if isinstance(cell, CellType)
        for value in gc.get_referents(cell)
    ]
    exchanged = [place for place in places if id(place[2]) in exact]
    Number.world, token = world, _makes_room.set(True)
    try:
        for put, name, value in exchanged:
            put(name, exact[id(value)])
        yield
    finally:
        _makes_room.reset(token)
        for put, name, value in exchanged:
            put(name, value)
        for thing in things:
            if hasattr(thing, "cache_clear") and any(isinstance(each, Number | Numbers) for each in reachable([thing])):
                thing.cache_clear()


def is_ours_or_numpys(module: str | None) -> bool:
    """True for the names of modules of NumPy, of SciPy and of the check."""
    return f"{module}.".startswith(("numpy.", "scipy.", "npbert.gradcheck."))


def place_of(error: BaseException) -> str:
    """Return the last place in the user's code, and the calls that lead to it, such as ", at line 7 of parts.py, called
    at line 31 of model.py"."""
    places = [
        f"at line {line} of {frame.f_code.co_filename}"
        for frame, line in traceback.walk_tb(error.__traceback__)
        if not is_ours_or_numpys(frame.f_globals.get("__name__")) and frame.f_code.co_filename[:1] != "<"
    ]
    innermost_first = places[-_MOST_PLACES:][::-1]
    return f", {', called '.join(innermost_first)}" if innermost_first else ""


@contextmanager
def told(which: str) -> Iterator[None]:
    """Within it, turn errors of the author's forward or backward into messages: an unfilled template, or backward's
    error with its place."""
    try:
        yield
    except Exception as error:
        line = traceback.extract_tb(error.__traceback__)[-1].line or ""
        if isinstance(error, NotImplementedError) and line.startswith("raise"):  # not by Python itself
            raise GradientError(f"{which} is not written yet{place_of(error)}") from error
        if which == "forward" or isinstance(error, GradientError):
            raise
        raise GradientError(f"backward raises {type(error).__name__}{place_of(error)}: {error}") from error


def _for_numbers(make: Function) -> Function:
    """Return np.zeros, np.array or another creator, that makes arrays for Numbers instead of float64."""

    def made(*args: Any, **options: Any) -> Any:
        if not is_exact():
            return make(*args, **options)
        if "dtype" in options:
            options["dtype"] = _objects_for_double(options["dtype"])
        array = make(*map(_objects_for_double, args), **options)
        return as_numbers(array.astype(object) if array.dtype == np.float64 else array)

    return made


def _objects_for_double(x: Any) -> Any:
    """Return the dtype of objects for that of float64, and anything else as it is."""
    return object if isinstance(x, type | np.dtype | str) and is_double(x) else x


def _or_of_number(function: Function, rule: Function) -> Function:
    """Return the function with a rule for exact numbers."""

    def either(x: Any, *more: Any, **options: Any) -> Any:
        return (rule if isinstance(x, Number | Numbers) else function)(x, *more, **options)

    return either


_MAKERS = ["zeros", "ones", "empty", "full", "eye", "identity", "array", "asarray", "ascontiguousarray"]
_MAKERS += ["zeros_like", "ones_like", "empty_like", "full_like"]
_NUMPY = {name: _for_numbers(getattr(np, name)) for name in _MAKERS}
_NUMPY["issubdtype"] = lambda dtype, kind: np.issubdtype(
    np.float64 if is_exact() and str(dtype) == "object" else dtype, kind
)
_MATH = {name: _or_of_number(getattr(math, name), rule) for name, rule in MATH.items() if hasattr(math, name)}


def _as_it_is(x: Any, dtype: Any = None, **options: Any) -> Any:
    if str(dtype) not in ("None", "torch.float64"):
        raise TypeError(f"an exact number is turned into {dtype} here")
    return x


def _exchanged() -> dict[int, Any]:
    """Return modules, and functions imported from them, by id."""
    modules: dict[Any, dict[str, Any]] = {np: _NUMPY, math: _MATH}
    if torch := sys.modules.get("torch"):
        makers = ("from_numpy", "as_tensor", "tensor")
        modules[torch] = {name: _or_of_number(getattr(torch, name), _as_it_is) for name in makers}
    table = {}
    for module, functions in modules.items():
        table[id(module)] = SimpleNamespace(**vars(module) | functions)
        table |= {id(getattr(module, name)): ours for name, ours in functions.items()}
    return table
