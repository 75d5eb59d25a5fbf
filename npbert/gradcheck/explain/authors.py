"""Finds the author's functions that a layer runs through, in any file, and replaces one of them for all callers.

The layer is run and its calls are recorded. So methods, methods of parts, helpers and functions of other files are
found alike, for every Form.
"""

from __future__ import annotations

import ast
import gc
import sys
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple

import npbert
from npbert.gradcheck.explain.code import Code

_LIBRARIES = tuple(sysconfig.get_paths()[name] for name in ("stdlib", "purelib", "platlib"))
_OURS = str(Path(npbert.__file__).parent)
_TWIN = "__twin__"


class Called(NamedTuple):
    """A call of an author's function. owner: the object of a method, or None"""

    code: CodeType
    owner: Any


def calls_in(run: Callable[[], Any], home: str = "") -> list[Called]:
    """Return the calls of functions outside libraries while this runs, in order.

    home: a file whose functions also count
    """
    calls: list[Called] = []

    def watch(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        is_theirs = not code.co_filename.startswith((*_LIBRARIES, _OURS, "<frozen"))
        if event == "call" and (is_theirs or code.co_filename == home):
            calls.append(Called(code, frame.f_locals.get("self")))

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        run()
    finally:
        sys.setprofile(before if callable(before) else None)
    return calls


def functions_of(calls: list[Called]) -> list[FunctionType]:
    """Return the called functions with a source, the longest first, without those created in the call itself."""
    holders: dict[CodeType, list[FunctionType]] = {called.code: [] for called in calls}
    for each in gc.get_referrers(*holders) if holders else ():
        if isinstance(each, FunctionType) and each.__code__ in holders:
            holders[each.__code__].append(each)
    lengths = {found[0]: _length(found[0]) for found in holders.values() if len(found) == 1}
    return sorted(filter(lengths.get, lengths), key=lambda each: lengths[each], reverse=True)


def _length(function: FunctionType) -> int:
    """Return the length of a function's code, which differs from its bytecode's between versions of Python; 0 without a
    source, as for a function typed at a prompt, or a lambda."""
    try:
        return sum(1 for _ in ast.walk(Code.of(function).functions[0]))
    except (OSError, TypeError, ValueError, SyntaxError):
        return 0


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
