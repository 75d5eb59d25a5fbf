"""saved: puts objects back as they were. everything_restored: the same for every object that code can reach.
in_place_of: replaces a function for all of its callers, for a time.

This is the only place that restores state: of the program after a check, of a layer's parts and parameters between two
runs (`ScalarFunction.unchanged`), of the values of an engine before each run, and of functions that are replaced: one
that is tried in another form, and `as_strided`, which cannot end the program then.
"""

import collections
import copyreg
import dis
import functools
import gc
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds
from numpy.lib.stride_tricks import as_strided

from npbert.compute import Array
from npbert.gradcheck.inputs import Function, Outputs

_MADE_IN_PYTHON = 1 << 9  # CPython's flag for classes created at run time
_CONTAINERS = (dict, list, tuple, set, frozenset, collections.deque)
_TRANSPARENT = (CellType, MethodType, property, classmethod, staticmethod)
_ATOMS = (int, float, str, type(None), ModuleType)
_OF_CODE = ("__defaults__", "__kwdefaults__", "__dict__", "__closure__", "__mro__")
_HOLDERS = {"argparse", "collections", "functools", "types", "_thread"}  # their objects hold other code's values
_LIBRARIES = {"numpy", "scipy", "torch", "jax", "jaxlib", "hypothesis", "pytest", "_pytest"}
_LIBRARIES |= sys.stdlib_module_names - _HOLDERS
_TWIN = "the place of the twin"
_MOST_NUMBERS = 10_000_000  # of a view


@contextmanager
def everything_restored(*roots: Any) -> Iterator[None]:
    """Within it, objects reachable from the roots may change, and NumPy's global generator; afterwards they are
    restored, except for a `functools.cache` (which loses exact numbers: `room_for_numbers`). Within it, views stay in
    their arrays' memory, too."""
    restore = saved([*reachable(roots), np.random.mtrand._rand])
    try:
        with in_place_of(_STRIDED, _within_the_array):
            yield
    finally:
        restore()


def saved(things: Iterable[Any]) -> Function:
    """Return a function that gives each of these objects its present state again: the attributes of an object or class,
    the contents of a list, dict, set or array, the state of a generator, and a function's globals and closure
    variables. What they hold is restored only if it is among them."""
    in_turn = sorted(things, key=lambda thing: not isinstance(thing, type))  # classes have the slots
    undo = [step for thing in in_turn for step in _to_undo(thing)]

    def restore() -> None:
        for step, *given in undo:
            step(*given)

    return restore


def reachable(roots: Any) -> Iterator[Any]:
    """Return every object that the roots hold, directly or not, each once; not modules, and not the contents of
    libraries."""
    seen: set[int] = set()
    waiting = list(roots)
    while waiting:
        thing = waiting.pop()
        is_namespace = type(thing) is dict and "__builtins__" in thing  # a function holds only the globals it names
        if id(thing) in seen or isinstance(thing, _ATOMS) or is_namespace:
            continue
        seen.add(id(thing))
        yield thing
        waiting.extend(_held_by(thing))


def _held_by(thing: Any) -> Iterable[Any]:
    if isinstance(thing, np.ndarray):
        return thing.flat if thing.dtype == object else ()
    if isinstance(thing, _CONTAINERS):  # for the collector, the contents of a __dict__ may be the object's alone
        return _items(thing)
    if _is_of_others(thing):
        return getattr(thing, "__closure__", None) or ()
    if isinstance(thing, FunctionType | type):
        return [*_named_in(thing).values(), *(getattr(thing, name, None) for name in _OF_CODE)]
    if hasattr(thing, "cache_clear") and hasattr(thing, "__wrapped__"):
        return (
            part for each in gc.get_referents(thing) for part in (_items(each) if isinstance(each, dict) else [each])
        )
    return gc.get_referents(thing)


def attributes_of(thing: Any) -> dict[str, Any]:
    """Return the attributes of an object, unless it belongs to a library, or is a class, function or module."""
    if isinstance(thing, type) or is_of_library(type(thing)):
        return {}
    return getattr(thing, "__dict__", {}) | _named_in(thing)


def is_of_library(thing: Any) -> bool:
    """True for the functions and classes of Python's own modules and of known libraries."""
    module = str(getattr(thing, "__module__", None)).partition(".")[0]
    if module == "builtins" and isinstance(thing, type):
        return not thing.__flags__ & _MADE_IN_PYTHON  # classes made without __name__ also have this module
    return module in _LIBRARIES


def _is_of_others(thing: Any) -> bool:
    """True for functions and classes of libraries and of npbert, which keep state only in layers, and for objects of
    libraries."""
    if isinstance(thing, FunctionType | type):
        return is_of_library(thing) or str(thing.__module__).startswith("npbert.")
    return is_of_library(type(thing)) and not isinstance(thing, _TRANSPARENT)


def _named_in(thing: Any) -> dict[str, Any]:
    """Return by name the value of a variable, the globals that a function names, the attributes of a class, or those
    of an object in slots."""
    if isinstance(thing, CellType):
        return dict(zip(["cell_contents"], gc.get_referents(thing), strict=False))  # which may have no value yet
    if isinstance(thing, FunctionType):
        scope = thing.__globals__
        return {name: scope[name] for name in _names_in(thing.__code__) & scope.keys()}
    if isinstance(thing, type):
        return dict(vars(thing))
    slots = copyreg._slotnames(type(thing))  # type: ignore[attr-defined]  # as `copy` finds them
    return {name: getattr(thing, name) for name in slots if hasattr(thing, name)}


@functools.lru_cache(1000)
def _names_in(code: CodeType) -> set[str]:
    """Return the names of globals that are read or set; `co_names` also has attributes."""
    names = {each.argval for each in dis.get_instructions(code) if each.opname.endswith(("_GLOBAL", "_NAME"))}
    return names.union(*(_names_in(constant) for constant in code.co_consts if isinstance(constant, CodeType)))


def _to_undo(thing: Any) -> Iterator[Outputs]:
    """Return functions, each before its arguments, that restore the current state of an object."""
    if isinstance(thing, np.ndarray):
        if thing.flags.writeable:
            yield np.copyto, thing, thing.copy()
    elif isinstance(thing, dict | set | list | collections.deque):
        yield _refill, thing, dict(thing) if isinstance(thing, dict) else list(thing)
    elif isinstance(thing, np.random.Generator):
        yield setattr, thing.bit_generator, "state", thing.bit_generator.state
    elif isinstance(thing, np.random.RandomState):
        yield thing.set_state, thing.get_state()
    elif not _is_of_others(thing):
        if hasattr(thing, "__dict__") and not isinstance(thing, FunctionType | type):
            yield from _to_undo(vars(thing))
        yield _reset, thing, _named_in(thing)


def _reset(thing: Any, before: dict[str, Any]) -> None:
    """Restore what is named in an object."""
    kind: Any = type if isinstance(thing, type) else object
    owner, put, drop, now = thing, kind.__setattr__, kind.__delattr__, _named_in(thing)
    if isinstance(thing, FunctionType):
        owner, put, drop = thing.__globals__, dict.__setitem__, dict.__delitem__
    for name in now.keys() - before.keys():
        drop(owner, name)
    for name, value in before.items():
        if name not in now or now[name] is not value:
            put(owner, name, value)


def _refill(thing: Any, before: Any) -> None:
    """Restore the contents of a container, if they have changed."""
    if list(map(id, _items(thing))) != list(map(id, _items(before))):
        thing.clear()
        fill = thing.extend if hasattr(thing, "extend") else thing.update
        fill(before)


def _items(thing: Any) -> list[Any]:
    """Return the contents of a container; for a dict: key, value, key, value, …"""
    return [part for item in thing.items() for part in item] if isinstance(thing, dict) else list(thing)


@contextmanager
def in_place_of(function: FunctionType, twin: Function) -> Iterator[None]:
    """Within it, every call of the function calls the twin, a constant of the code in its place."""
    code = function.__code__
    free = ", ".join(code.co_freevars)  # which the code in its place must have, too
    maker = eval(f"lambda {free}: lambda *args, **more: {_TWIN!r}.__call__(*args, **more) if 1 else [{free}]")
    call = maker(*code.co_freevars).__code__
    function.__code__ = call.replace(co_consts=tuple(twin if each == _TWIN else each for each in call.co_consts))
    try:
        yield
    finally:
        function.__code__ = code


def _within_the_array(x: Any, *args: Any, **options: Any) -> Array:
    """Return the view of `as_strided`, in its place. Raises: ValueError if it reads outside the array's memory, which
    would end the program if it holds objects; or if it is so large that an operation takes seconds, as after an edit.
    """
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
