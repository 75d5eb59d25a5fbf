"""authored: the functions that somebody wrote and that a layer runs through, wherever they are; and how one is
replaced for a while, whoever calls it and by whatever name.

They are found by running the layer and looking at what is called. So methods, methods of parts, helpers and modules of
other files are all alike, and no form needs a rule of its own.
"""

import gc
import sys
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import npbert
from npbert.gradcheck.explain.code import Code

_LIBRARIES = tuple(sysconfig.get_paths()[name] for name in ("stdlib", "purelib", "platlib"))
_OURS = str(Path(npbert.__file__).parent)
_TWIN = "__twin__"


def authored(run: Callable[[], Any], home: str = "") -> list[FunctionType]:
    """The functions of nobody's library that are called while this runs, those that end first before others.

    home: a file whose functions count, too
    """
    codes: dict[CodeType, None] = {}

    def watch(frame: FrameType, event: str, _: Any) -> None:
        file = frame.f_code.co_filename
        if event == "return" and (file == home or not file.startswith((*_LIBRARIES, _OURS, "<frozen"))):
            codes.setdefault(frame.f_code)

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        run()
    finally:
        sys.setprofile(before)
    holders: dict[CodeType, list[FunctionType]] = {code: [] for code in codes}
    for each in gc.get_referrers(*codes) if codes else ():
        if isinstance(each, FunctionType) and each.__code__ in holders:
            holders[each.__code__].append(each)
    return [found[0] for found in holders.values() if len(found) == 1]


def code_of(function: FunctionType) -> Code | None:
    """None where it cannot be read: typed in a prompt, or a lambda."""
    try:
        return Code.of(function)
    except (OSError, TypeError, ValueError, SyntaxError):
        return None


@contextmanager
def in_place_of(function: FunctionType, twin: Callable[..., Any]) -> Iterator[None]:
    """While it lasts, whoever calls the function calls the twin."""
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
    """The code of a function that hands all on; with these free variables, as a function keeps those that it has."""
    called = f"    def call(*args, **more):\n        if 0: {', '.join(free) or 0}\n        return {_TWIN}(*args, **more)\n"
    scope: dict[str, Any] = {}
    exec(f"def maker({', '.join(free)}):\n{called}    return call", scope)
    made: FunctionType = scope["maker"](*free)
    return made.__code__
