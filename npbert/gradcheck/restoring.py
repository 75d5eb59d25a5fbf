"""kept: a program is left as it was, however often its code is run."""

import collections
import dis
import functools
import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from npbert.gradcheck.exact.arrays import Numbers
from npbert.gradcheck.exact.number import Number

_ABSENT = object()
_MADE_IN_PYTHON = 1 << 9  # CPython's flag of classes made at run time
_CONTAINERS = (dict, list, tuple, set, frozenset, collections.deque)
_ATOMS = (
    int,
    float,
    complex,
    str,
    bytes,
    type(None),
    range,
    slice,
    ModuleType,
    CodeType,
    BuiltinFunctionType,
    np.generic,
)
_HOLDERS = {"argparse", "collections", "functools", "types", "_thread"}  # whose objects hold what others put in
_LIBRARIES = {
    *sys.stdlib_module_names - _HOLDERS,
    "numpy",
    "scipy",
    "torch",
    "jax",
    "jaxlib",
    "hypothesis",
    "pytest",
    "_pytest",
}


@contextmanager
def kept(*roots: Any) -> Iterator[list[Any]]:
    """While it lasts, whatever can be reached from the roots may change; afterwards it is as before: attributes, slots,
    lists, dicts, sets, arrays in place, generators, variables of closures, and the globals that functions name.

    Gives all that can be reached. What `functools.cache` holds cannot be given back: it is cleared where an exact
    number is in it.
    """
    things = list(reachable(roots))
    undo = [step for thing in things for step in _to_undo(thing)]
    drawn = np.random.get_state()
    try:
        yield things
    finally:
        np.random.set_state(drawn)
        for step, given in undo:
            step(*given)
        for thing in things:
            if hasattr(thing, "cache_clear") and any(map(_is_exact, reachable([thing]))):
                thing.cache_clear()


def reachable(roots: Any) -> Iterator[Any]:
    """Everything that the roots hold, directly or not, each once: not modules, nor what libraries hold."""
    seen: set[int] = set()
    waiting = list(roots)
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen or isinstance(thing, _ATOMS) or _is_namespace(thing):
            continue
        seen.add(id(thing))
        yield thing
        waiting.extend(_held_by(thing))


def _held_by(thing: Any) -> Iterator[Any]:
    if isinstance(thing, dict):
        yield from thing.values()
    elif isinstance(thing, _CONTAINERS):
        yield from thing
    elif isinstance(thing, np.ndarray):
        yield from thing.flat if thing.dtype == object else ()
    elif isinstance(thing, CellType):
        yield None if is_empty(thing) else thing.cell_contents
    elif isinstance(thing, MethodType):
        yield from (thing.__self__, thing.__func__)
    elif isinstance(thing, functools.partial):
        yield from (thing.func, thing.args, thing.keywords)
    elif isinstance(thing, property | classmethod | staticmethod):
        yield from (getattr(thing, name, None) for name in ("fget", "fset", "__func__"))
    elif hasattr(thing, "cache_clear") and hasattr(thing, "__wrapped__"):
        held = (each for each in gc.get_referents(thing) if not isinstance(each, type))
        yield from (part for each in held for part in (each.values() if isinstance(each, dict) else (each,)))
    elif isinstance(thing, FunctionType) and not _is_ours(thing):
        yield from (thing.__defaults__, thing.__kwdefaults__, thing.__dict__, thing.__closure__)
        yield from (thing.__globals__[name] for name in _names_in(thing.__code__) if name in thing.__globals__)
    elif isinstance(thing, type) and not _is_ours(thing):
        yield from (*vars(thing).values(), *thing.__mro__[1:])
    elif not isinstance(thing, type | FunctionType) and not is_of_library(type(thing)):
        yield from (type(thing), getattr(thing, "__dict__", None), *_slots(thing).values())


def _is_namespace(thing: Any) -> bool:
    """True for the globals of a module, of which a function only has those that it names."""
    return type(thing) is dict and "__builtins__" in thing


def attributes_of(thing: Any) -> dict[str, Any]:
    """The attributes of an object that is none of a library's, and no class, function or module."""
    if isinstance(thing, (type, FunctionType, MethodType, *_ATOMS)) or is_of_library(type(thing)):
        return {}
    slots = {name: value for name, value in _slots(thing).items() if value is not _ABSENT}
    return {**getattr(thing, "__dict__", {}), **slots}


def is_of_library(thing: Any) -> bool:
    """True for the functions and classes of Python's own modules and of known libraries."""
    module = str(getattr(thing, "__module__", None)).partition(".")[0]
    if module == "builtins" and isinstance(thing, type):
        return not thing.__flags__ & _MADE_IN_PYTHON  # a class has this module, too, where a namespace has no name
    return module in _LIBRARIES


def _is_ours(thing: Any) -> bool:
    """True for functions and classes of libraries, and for npbert's own, which keep nothing outside of layers."""
    return is_of_library(thing) or str(getattr(thing, "__module__", None)).startswith("npbert.")


def _names_in(code: CodeType) -> Iterator[str]:
    """The names of globals that are read or set; `co_names` has those of attributes, too."""
    yield from (each.argval for each in dis.get_instructions(code) if each.opname.endswith(("_GLOBAL", "_NAME")))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in(constant)


def is_empty(cell: CellType) -> bool:
    """True for a variable that has no value yet."""
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return True
    return False


def _slots(thing: Any) -> dict[str, Any]:
    names = (name for kind in type(thing).__mro__ for name in np.atleast_1d(vars(kind).get("__slots__", ())))
    return {str(name): getattr(thing, name, _ABSENT) for name in names if name not in ("__dict__", "__weakref__")}


def _is_exact(thing: Any) -> bool:
    return isinstance(thing, Number | Numbers)


def _to_undo(thing: Any) -> Iterator[tuple[Callable[..., Any], tuple[Any, ...]]]:
    """Functions, with their arguments, that make a thing what it is now."""
    if isinstance(thing, np.ndarray):
        if thing.flags.writeable:
            yield np.copyto, (thing, thing.copy())
    elif isinstance(thing, dict | set | list | collections.deque):
        yield _refill, (thing, _items(thing))
    elif isinstance(thing, CellType):
        if not is_empty(thing):
            yield setattr, (thing, "cell_contents", thing.cell_contents)
    elif isinstance(thing, FunctionType) and not _is_ours(thing):
        named = set(_names_in(thing.__code__))
        yield _rebind, (thing.__globals__, {name: thing.__globals__.get(name, _ABSENT) for name in named})
    elif isinstance(thing, type) and not _is_ours(thing):
        yield _reset, (thing, dict(vars(thing)))
    elif isinstance(thing, np.random.Generator):
        yield setattr, (thing.bit_generator, "state", thing.bit_generator.state)
    elif isinstance(thing, np.random.RandomState):
        yield thing.set_state, (thing.get_state(),)
    elif not isinstance(thing, type) and not is_of_library(type(thing)):
        for name, value in _slots(thing).items():
            yield _set, (thing, name, value)


def _set(thing: Any, name: str, value: Any) -> None:
    """Give a slot what it had."""
    if value is not _ABSENT:
        object.__setattr__(thing, name, value)
    elif hasattr(thing, name):
        object.__delattr__(thing, name)


def _rebind(scope: dict[str, Any], before: dict[str, Any]) -> None:
    """Let these globals mean what they meant."""
    for name, value in before.items():
        if value is _ABSENT:
            scope.pop(name, None)
        else:
            scope[name] = value


def _reset(kind: type, before: dict[str, Any]) -> None:
    """Give a class the attributes that it had."""
    for name in {*vars(kind), *before}:
        if vars(kind).get(name, _ABSENT) is not before.get(name, _ABSENT):
            if name in before:
                setattr(kind, name, before[name])
            else:
                delattr(kind, name)


def _refill(thing: Any, before: list[Any]) -> None:
    """Give a container what it held, if it holds anything else now."""
    if list(map(id, _items(thing))) != list(map(id, before)):
        thing.clear()
        fill = thing.extend if hasattr(thing, "extend") else thing.update
        fill(zip(before[::2], before[1::2], strict=True) if isinstance(thing, dict) else before)


def _items(thing: Any) -> list[Any]:
    """What a container holds; of a dict, key, value, key, value, …"""
    return [part for item in thing.items() for part in item] if isinstance(thing, dict) else list(thing)
