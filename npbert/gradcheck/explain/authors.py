"""Finds the author's functions that a layer runs through, in any file, and replaces one of them for all callers.

The layer is run and its calls are recorded. So methods, methods of parts, helpers and functions of other files are
found alike, for every Form.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import gc
import sys
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import numpy as np

import npbert
from npbert.gradcheck.explain.code import Code
from npbert.gradcheck.explain.places import copied
from npbert.gradcheck.inputs import is_float_array

_LIBRARIES = tuple(sysconfig.get_paths()[name] for name in ("stdlib", "purelib", "platlib"))
_OURS = str(Path(npbert.__file__).parent)
_TWIN = "__twin__"
_STEP, _NEAR = 1e-5, 1e-6


@dataclass(eq=False)
class Called:
    """A call of an author's function.

    owner: the object of a method, or None   around: the enclosing calls and itself"""

    code: CodeType
    owner: Any
    given: list[Any]
    around: list[Called]

    @property
    def is_from_outside(self) -> bool:
        """True if a method is not called by another method of the same object."""
        return self.owner is not None and not any(each.owner is self.owner for each in self.around[:-1])


def calls_in(run: Callable[[], Any], home: str = "") -> list[Called]:
    """Return the calls of functions outside libraries while this runs, in the order of their ends.

    home: a file whose functions also count
    """
    ended: list[Called] = []
    open_: list[Called] = []

    def watch(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event not in ("call", "return") or not (code.co_filename == home or _is_theirs(code.co_filename)):
            return
        if event == "call":
            names = code.co_varnames[: code.co_argcount]
            given = [copied(frame.f_locals.get(name)) for name in names]
            owner = frame.f_locals.get(names[0]) if names[:1] == ("self",) else None
            called = Called(code, owner, given, [])
            open_.append(called)
            called.around = list(open_)
        elif open_:
            ended.append(open_.pop())

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        run()
    finally:
        sys.setprofile(before if callable(before) else None)
    return ended


def _is_theirs(file: str) -> bool:
    return not file.startswith((*_LIBRARIES, _OURS, "<frozen"))


def functions_of(calls: list[Called]) -> list[FunctionType]:
    """Return the called functions with a source, in this order, without those created in the call itself."""
    holders: dict[CodeType, list[FunctionType]] = {called.code: [] for called in calls}
    for each in gc.get_referrers(*holders) if holders else ():
        if isinstance(each, FunctionType) and each.__code__ in holders:
            holders[each.__code__].append(each)
    return [found[0] for found in holders.values() if len(found) == 1 and _is_readable(found[0])]


def by_suspicion(forwards: list[Called], backwards: list[Called]) -> list[list[FunctionType]]:
    """Return the functions of a backward, longer ones first: those outside right parts, and the others."""
    known = {each.__code__: each for each in functions_of([*forwards, *backwards])}
    parts = [called for called in backwards if len(called.around) > 1]  # the whole is known to be wrong
    right = {id(called.owner) for called in parts if _is_right(called, forwards, known)}
    inside = [called for called in backwards if any(id(each.owner) in right for each in called.around)]
    outside = [called for called in backwards if called not in inside]
    return [sorted(functions_of(calls), key=_length, reverse=True) for calls in (outside, inside)]


def _length(function: FunctionType) -> int:
    """Return the length of a function's source without its docstring; bytecode differs between versions of Python."""
    return sum(1 for _ in ast.walk(Code.of(function).tree))


def _is_right(backward: Called, forwards: list[Called], known: dict[CodeType, FunctionType]) -> bool:
    """True if a part's backward agrees with its forward, along one direction of its input."""
    own = [each for each in forwards if each.owner is backward.owner and each.is_from_outside]
    if len(own) != 1 or len(backward.given) != 2 or not backward.is_from_outside:
        return False
    forward, undo = known.get(own[0].code), known.get(backward.code)
    given, dy = own[0].given[1:], backward.given[1]
    inputs = [each for each in given if is_float_array(each)]
    if len(inputs) != 1 or forward is None or undo is None:
        return False
    direction = np.random.default_rng(0).standard_normal(inputs[0].shape)

    def run(step: float) -> tuple[Any, Any]:
        made = copy.deepcopy(backward.owner)
        there = [each + step * direction if is_float_array(each) else each for each in given]
        np.random.seed(0)
        return made, forward(made, *there)

    drawn = np.random.get_state()
    with contextlib.suppress(Exception):  # errors of the author's code
        shown = dy * (run(_STEP)[1] - run(-_STEP)[1]) / (2 * _STEP)
        off = (undo(run(0)[0], dy) * direction).sum() - shown.sum()
        np.random.set_state(drawn)
        return bool(abs(off) <= _NEAR * abs(shown).sum())
    np.random.set_state(drawn)
    return False


def _is_readable(function: FunctionType) -> bool:
    """False without a source, as for a function typed at a prompt, or a lambda."""
    try:
        return bool(Code.of(function).tree.body)
    except (OSError, TypeError, ValueError, SyntaxError):
        return False


@contextmanager
def in_place_of(function: FunctionType, twin: Callable[..., Any]) -> Iterator[None]:
    """Within it, every call of the function calls the twin."""
    code, scope = function.__code__, function.__globals__
    scope[_TWIN] = twin
    function.__code__ = _call_of_twin(code.co_freevars)
    try:
        yield
    finally:
        function.__code__ = code
        del scope[_TWIN]


@lru_cache
def _call_of_twin(free: tuple[str, ...]) -> CodeType:
    """Return the code of a function that passes its arguments to the twin, with these free variables."""
    called = (
        f"    def call(*args, **more):\n        if 0: {', '.join(free) or 0}\n        return {_TWIN}(*args, **more)\n"
    )
    scope: dict[str, Any] = {}
    exec(f"def maker({', '.join(free)}):\n{called}    return call", scope)
    made: FunctionType = scope["maker"](*free)
    return made.__code__
