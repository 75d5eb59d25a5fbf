"""Finds the author's functions that a layer runs through, in any file.

The layer is run and its calls are recorded. So methods, methods of parts, helpers and functions of other files are
found alike, for every Form.
"""

from __future__ import annotations

import gc
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import npbert
from npbert.gradcheck.explain.code import Code

_LIBRARIES = tuple(sysconfig.get_paths()[name] for name in ("stdlib", "purelib", "platlib"))
_OURS = str(Path(npbert.__file__).parent)


def functions_called(
    run: Callable[[], Any], home: str, is_glue: Callable[[CodeType, Any], bool]
) -> tuple[list[FunctionType], int]:
    """Return the functions outside libraries that this calls, and the number of calls: functions with a source, the
    shortest first, without those created in the call itself.

    home: a file whose functions also count. is_glue: True for code that does not, as a method of its owner
    """
    calls: list[tuple[CodeType, Any]] = []

    def watch(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        is_theirs = not code.co_filename.startswith((*_LIBRARIES, _OURS, "<frozen"))
        if event == "call" and (is_theirs or code.co_filename == home):
            calls.append((code, frame.f_locals.get("self")))

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        run()
    finally:
        sys.setprofile(before if callable(before) else None)
    theirs = [code for code, owner in calls if not is_glue(code, owner)]
    holders: dict[CodeType, list[FunctionType]] = {code: [] for code in theirs}
    for each in gc.get_referrers(*holders) if holders else ():
        if isinstance(each, FunctionType) and each.__code__ in holders:
            holders[each.__code__].append(each)
    lengths = {found[0]: _length(found[0]) for found in holders.values() if len(found) == 1}
    return sorted(filter(lengths.get, lengths), key=lengths.__getitem__), len(theirs)


def _length(function: FunctionType) -> int:
    """Return the length of a function's source; 0 without one, as for a function typed at a prompt, or a lambda."""
    try:
        return len(Code.of(function).text)
    except (OSError, TypeError, ValueError, SyntaxError):
        return 0
