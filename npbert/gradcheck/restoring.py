"""restored: puts objects back as they were. everything_restored: the same for every object that code can reach.

This is the only place that restores state: of the program after a check, of a layer's parts and parameters between two
runs (`ScalarFunction.unchanged`), and of the values of an engine before each run.
"""

import collections
import dis
import functools
import gc
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any

import numpy as np

from npbert.gradcheck.exact.arrays import Numbers
from npbert.gradcheck.exact.number import Number
from npbert.gradcheck.inputs import Function, Outputs
from npbert.gradcheck.replacing import views_in_memory

_MADE_IN_PYTHON = 1 << 9  # CPython's flag for classes created at run time
_CONTAINERS = (dict, list, tuple, set, frozenset, collections.deque)
_TRANSPARENT = (CellType, MethodType, property, classmethod, staticmethod)
_NUMBERS = (int, float, complex, np.generic)
_ATOMS = (*_NUMBERS, str, bytes, type(None), range, slice, ModuleType, CodeType, BuiltinFunctionType)
_HOLDERS = {"argparse", "collections", "functools", "types", "_thread"}  # their objects hold other code's values
_LIBRARIES = {"numpy", "scipy", "torch", "jax", "jaxlib", "hypothesis", "pytest", "_pytest"}
_LIBRARIES |= sys.stdlib_module_names - _HOLDERS


@contextmanager
def everything_restored(*roots: Any) -> Iterator[None]:
    """Within it, objects reachable from the roots may change, and NumPy's global generator; afterwards they are
    restored. A `functools.cache` cannot be restored: it is cleared if it has an exact number. Within it,
    views stay in their arrays' memory, too.
    """
    things = [*reachable(roots), np.random.mtrand._rand]
    try:
        with restored(things), views_in_memory():
            yield
    finally:
        for thing in things:
            if hasattr(thing, "cache_clear") and any(isinstance(each, Number | Numbers) for each in reachable([thing])):
                thing.cache_clear()


@contextmanager
def restored(things: Iterable[Any]) -> Iterator[None]:
    """Within it, these objects may change; afterwards they are as before."""
    restore = saved(things)
    try:
        yield
    finally:
        restore()


def saved(things: Iterable[Any]) -> Callable[[], None]:
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
    if isinstance(thing, FunctionType | type):
        return getattr(thing, "__closure__", None) or () if _is_ours(thing) else _named_by(thing)
    if hasattr(thing, "cache_clear") and hasattr(thing, "__wrapped__"):
        return (
            part for each in gc.get_referents(thing) for part in (_items(each) if isinstance(each, dict) else [each])
        )
    if is_of_library(type(thing)) and not isinstance(thing, _TRANSPARENT):
        return ()
    return gc.get_referents(thing)


def _named_by(thing: Any) -> list[Any]:
    """Return the contents of a class or function, with the globals that it names."""
    if isinstance(thing, type):
        return [*vars(thing).values(), *thing.__mro__[1:]]
    scope = thing.__globals__
    named = [scope[name] for name in _names_in(thing.__code__) if name in scope]
    return [thing.__defaults__, thing.__kwdefaults__, thing.__dict__, thing.__closure__, *named]


def attributes_of(thing: Any) -> dict[str, Any]:
    """Return the attributes of an object, unless it belongs to a library, or is a class, function or module."""
    if isinstance(thing, type) or is_of_library(type(thing)):
        return {}
    return getattr(thing, "__dict__", {}) | _slots(thing)


def is_of_library(thing: Any) -> bool:
    """True for the functions and classes of Python's own modules and of known libraries."""
    module = str(getattr(thing, "__module__", None)).partition(".")[0]
    if module == "builtins" and isinstance(thing, type):
        return not thing.__flags__ & _MADE_IN_PYTHON  # classes made without __name__ also have this module
    return module in _LIBRARIES


def _is_ours(thing: Any) -> bool:
    """True for functions and classes of libraries and of npbert, which keep state only in layers."""
    return is_of_library(thing) or str(getattr(thing, "__module__", None)).startswith("npbert.")


@functools.lru_cache(1000)
def _names_in(code: CodeType) -> set[str]:
    """Return the names of globals that are read or set; `co_names` also has attributes."""
    names = {each.argval for each in dis.get_instructions(code) if each.opname.endswith(("_GLOBAL", "_NAME"))}
    return names.union(*(_names_in(constant) for constant in code.co_consts if isinstance(constant, CodeType)))


def is_empty(cell: CellType) -> bool:
    """True for a variable that has no value yet."""
    return not gc.get_referents(cell)


def _slots(thing: Any) -> dict[str, Any]:
    """Return the values of an object that are in slots."""
    own = (vars(kind) for kind in type(thing).__mro__ if "__slots__" in vars(kind))
    slots = (name for held in own for name, slot in held.items() if isinstance(slot, MemberDescriptorType))
    return {name: getattr(thing, name) for name in slots if hasattr(thing, name)}


def _to_undo(thing: Any) -> Iterator[Outputs]:
    """Return functions, each before its arguments, that restore the current state of an object."""
    if isinstance(thing, np.ndarray):
        if thing.flags.writeable:
            yield np.copyto, thing, thing.copy()
    elif isinstance(thing, dict | set | list | collections.deque):
        yield _refill, thing, dict(thing) if isinstance(thing, dict) else list(thing)
    elif isinstance(thing, CellType):
        if not is_empty(thing):
            yield setattr, thing, "cell_contents", thing.cell_contents
    elif isinstance(thing, np.random.Generator):
        yield setattr, thing.bit_generator, "state", thing.bit_generator.state
    elif isinstance(thing, np.random.RandomState):
        yield thing.set_state, thing.get_state()
    else:
        yield from _to_undo_code(thing)


def _to_undo_code(thing: Any) -> Iterator[Outputs]:
    """Return the same for a function, a class, or an object."""
    if isinstance(thing, FunctionType):
        if not _is_ours(thing):
            scope, names = thing.__globals__, _names_in(thing.__code__)
            yield _rebind, scope, names, {name: scope[name] for name in names & scope.keys()}
    elif isinstance(thing, type):
        if not _is_ours(thing):
            yield _reset, type, thing, vars, dict(vars(thing))
    elif not is_of_library(type(thing)):
        if hasattr(thing, "__dict__"):
            yield _refill, vars(thing), vars(thing).copy()
        yield _reset, object, thing, _slots, _slots(thing)


def _rebind(scope: dict[str, Any], names: set[str], before: dict[str, Any]) -> None:
    """Restore these globals."""
    scope.update(before)
    for name in names - before.keys():
        scope.pop(name, None)


def _reset(base: Any, owner: Any, attributes: Function, before: dict[str, Any]) -> None:
    """Restore the attributes of a class (`vars`), or those of an object in slots (`_slots`)."""
    now = attributes(owner)
    for name in now.keys() - before.keys():
        base.__delattr__(owner, name)
    for name, value in before.items():
        if name not in now or now[name] is not value:
            base.__setattr__(owner, name, value)


def _refill(thing: Any, before: Any) -> None:
    """Restore the contents of a container, if they have changed."""
    if list(map(id, _items(thing))) != list(map(id, _items(before))):
        thing.clear()
        fill = thing.extend if hasattr(thing, "extend") else thing.update
        fill(before)


def _items(thing: Any) -> list[Any]:
    """Return the contents of a container; for a dict: key, value, key, value, …"""
    return [part for item in thing.items() for part in item] if isinstance(thing, dict) else list(thing)
