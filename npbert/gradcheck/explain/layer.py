"""mended: finds the edits of an author's functions that make the gradients right on several samples.

The layer is run and its calls are recorded. So methods, methods of parts, helpers and functions of other files are
found alike, for every Form.
"""

import contextlib
import gc
import inspect
import sys
import sysconfig
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import numpy as np

import npbert
from npbert.gradcheck.contract import Call
from npbert.gradcheck.explain.code import Code
from npbert.gradcheck.explain.finding import Finding
from npbert.gradcheck.explain.grammar import CHEAP, KINDS
from npbert.gradcheck.explain.known import known_numbers
from npbert.gradcheck.explain.repair import TRIES, Mending
from npbert.gradcheck.explain.samples import samples_of
from npbert.gradcheck.explain.trace import Trace
from npbert.gradcheck.explain.trial import Sample, quiet
from npbert.gradcheck.forms import Form
from npbert.gradcheck.function import ScalarFunction

MOST_NUMBERS = 3000
"""A larger layer is not searched for an edit, as that takes minutes."""

_MOST_NAMED = 6  # a sentence with more names is not read
_LIBRARIES = tuple(sysconfig.get_paths()[name] for name in ("stdlib", "purelib", "platlib"))
_OURS = str(Path(npbert.__file__).parent)
_CALLS = 200_000  # the most calls of the author's functions: a large model runs less often


@quiet()
def mended(function: ScalarFunction, tries: int = TRIES) -> list[Finding]:
    """Return the edits of the author's functions that make the layer right, or as much of it as possible, within the
    tries; without any, the place to look at, if there is one function."""
    samples = samples_of(function) if function.size <= MOST_NUMBERS else []
    if not samples:
        return []
    theirs, forward, calls = _functions_of(function)
    searches = _searches(samples, theirs, forward, min(tries, _CALLS // max(calls, 1)))
    best = min(searches, key=lambda each: _rank(searches[each]), default=None)
    if not best:
        return []
    if found := searches[best].findings:
        return [_finding(each, best) for each in found]
    known = known_numbers(function, samples[0], [each for each in forward if each not in theirs])
    alone = [each for each in theirs if each not in forward] or theirs
    return _suspect(alone, searches, known)


def _suspect(among: list[FunctionType], searches: dict[FunctionType, Mending], known: Trace) -> list[Finding]:
    """Return the first place to look at in the first of these functions that has one; in the function that its
    statement calls, if that is another of them."""
    for number, each in enumerate(among):
        others = among[number + 1 :]
        for place in searches[each].suspects(known):
            called = [other for other in others if f"{other.__name__}(" in place.place]
            found = _suspect(called, searches, known)
            if found or not called:
                return found or [_finding(place, each)]
    return []


def _rank(search: Mending) -> tuple[bool, int, float]:
    """A sort key: the fewest wrong gradients, then the lowest cost."""
    return not search.findings, len(search.left), sum(KINDS[found.kind].cost for found in search.findings)


def _finding(found: Finding, function: FunctionType) -> Finding:
    """Return the finding with the file of the function, unless it was typed, and with a short subject."""
    file, subject = Path(function.__code__.co_filename).name, found.subject
    if len(found.names) > _MOST_NAMED:
        subject = f"each of {len(found.names)} gradients"
    return replace(found, subject=subject, file="" if file.startswith("<") else file)


def _searches(
    samples: list[Sample], theirs: list[FunctionType], forward: list[FunctionType], tries: float
) -> dict[FunctionType, Mending]:
    """Return the search of each function, until one succeeds. Those that move only wrong outputs come first; changes of
    existing code come before additions."""
    searches: dict[FunctionType, Mending] = {}
    for each in sorted(theirs, key=_length):
        code = replace(Code.of(each), leaves_functions=each in forward)
        near = [other for other in forward if other.__module__ == each.__module__]
        alike = "".join(textwrap.dedent(inspect.getsource(other)) for other in near)
        searches[each] = Mending(code, each, samples, forward=alike)
    groups: tuple[list[Mending], list[Mending]] = ([], [])
    for search in searches.values():
        groups[not search.is_to_blame(int(tries))].append(search)
    for group in groups:
        in_turn = [(search, most) for most in (CHEAP, np.inf) for search in group]
        for count, (search, most) in enumerate(in_turn):
            share = int(tries) // min(4, len(in_turn) - count)
            search.run(share, most)
            tries -= share - search.trial.left
            if tries <= 0 or not search.left:
                return searches
    return searches


def _functions_of(function: ScalarFunction) -> tuple[list[FunctionType], list[FunctionType], int]:
    """Return the functions of backward (or of forward, if backward has none), the functions of forward, and the number
    of calls. If no function is an author's, npbert itself is being changed."""
    own = "" if isinstance(function.layer, Form) else inspect.unwrap(type(function.layer).backward).__code__.co_filename
    is_glue = getattr(function.layer, "is_glue", lambda code, owner: False)
    for home in ("", own):
        with function.unchanged():
            with _calls(home) as forward:
                call = Call(function)
            with _calls(home) as backward, contextlib.suppress(Exception):  # of the author's code
                call.backward()
        of_forward, of_backward = (
            _with_source([code for code, owner in calls if not is_glue(code, owner)]) for calls in (forward, backward)
        )
        if of_forward or of_backward:
            break
    return of_backward or of_forward, of_forward, len(forward) + len(backward)


@contextlib.contextmanager
def _calls(home: str) -> Iterator[list[tuple[CodeType, Any]]]:
    """Give the code of each call within it of a function outside libraries, in any file, such as a helper, with its
    `self`. home: a file whose functions also count"""
    calls: list[tuple[CodeType, Any]] = []

    def watch(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        is_theirs = not code.co_filename.startswith((*_LIBRARIES, _OURS, "<frozen"))
        if event == "call" and (is_theirs or code.co_filename == home):
            calls.append((code, frame.f_locals.get("self")))

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        yield calls
    finally:
        sys.setprofile(before if callable(before) else None)


def _with_source(codes: list[CodeType]) -> list[FunctionType]:
    """Return the functions with a source that have this code, without those created in the call itself."""
    holders: dict[CodeType, list[FunctionType]] = {code: [] for code in codes}
    for each in gc.get_referrers(*holders) if holders else ():
        if isinstance(each, FunctionType) and each.__code__ in holders:
            holders[each.__code__].append(each)
    return [found[0] for found in holders.values() if len(found) == 1 and _length(found[0])]


def _length(function: FunctionType) -> int:
    """Return the length of a function's source; 0 without one, as for a function typed at a prompt, or a lambda."""
    try:
        return len(Code.of(function).text)
    except (OSError, TypeError, ValueError, SyntaxError):
        return 0
