"""in_place_of: replaces a function for all of its callers. views_in_memory: so `as_strided` cannot end the program."""

import functools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import CodeType, FunctionType
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds
from numpy.lib.stride_tricks import as_strided

from npbert.compute import Array

_TWIN = "__twin__"
_MOST_NUMBERS = 10_000_000


@contextmanager
def in_place_of(function: FunctionType, twin: Callable[..., Any]) -> Iterator[None]:
    """Within it, every call of the function calls the twin."""
    code, scope = function.__code__, function.__globals__
    before = scope.get(_TWIN)
    scope[_TWIN] = twin
    function.__code__ = _call_of_twin(code.co_freevars)
    try:
        yield
    finally:
        function.__code__ = code
        del scope[_TWIN]
        if before:
            scope[_TWIN] = before


@functools.lru_cache
def _call_of_twin(free: tuple[str, ...]) -> CodeType:
    """Return the code of a function that passes its arguments to the twin, with these free variables."""
    called = (
        f"    def call(*args, **more):\n        if 0: {', '.join(free) or 0}\n        return {_TWIN}(*args, **more)\n"
    )
    scope: dict[str, Any] = {}
    exec(f"def maker({', '.join(free)}):\n{called}    return call", scope)
    return scope["maker"](*free).__code__


def views_in_memory() -> AbstractContextManager[None]:
    """Within it, `as_strided` raises ValueError for a view that reads outside its array's memory."""
    return in_place_of(_STRIDED, _within_the_array)


def _within_the_array(x: Any, *args: Any, **options: Any) -> Array:
    """Return the view of `as_strided`. Raises: ValueError if it reads outside the array's memory, which would end the
    program if it holds objects; or if it is so large that an operation takes seconds, as after an edit."""
    view = _UNGUARDED(x, *args, **options)
    if not isinstance(x, np.ndarray):  # np.vectorize makes a view of the number 0, for its shape alone
        return view
    owner = x
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    (first, last), (start, end) = byte_bounds(view), byte_bounds(owner)
    if view.size > _MOST_NUMBERS:
        raise ValueError(f"as_strided makes an array of {view.size} numbers, wanted at most {_MOST_NUMBERS}")
    if view.size and not start <= first < last <= end:
        raise ValueError(f"as_strided reads outside an array of shape {x.shape}")
    return view


_STRIDED: Any = as_strided
_UNGUARDED = FunctionType(_STRIDED.__code__, _STRIDED.__globals__, argdefs=_STRIDED.__defaults__)
_UNGUARDED.__kwdefaults__ = _STRIDED.__kwdefaults__
