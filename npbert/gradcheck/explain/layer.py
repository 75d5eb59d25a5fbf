"""mended: finds the edits of an author's functions that make the gradients right on several samples, or else the place
to look at.

The layer is run and its calls are recorded. So methods, methods of parts, helpers and functions of other files are
found alike, for every Form. The search goes through the functions in this order: first the one with the first number
that is no gradient of a value of forward (`known.py`); then those that move wrong gradients and no right one; then all
others; in each group first the changes of existing code, then additions.
"""

import contextlib
import gc
import inspect
import itertools
import sys
import sysconfig
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple

import numpy as np

import npbert
from npbert.gradcheck.contract import Call
from npbert.gradcheck.explain.code import Code
from npbert.gradcheck.explain.finding import Finding
from npbert.gradcheck.explain.grammar import CHEAP, KINDS
from npbert.gradcheck.explain.known import Known
from npbert.gradcheck.explain.repair import Mending
from npbert.gradcheck.explain.samples import samples_of
from npbert.gradcheck.explain.trace import Trace
from npbert.gradcheck.explain.trial import Sample, quiet
from npbert.gradcheck.function import ScalarFunction

TRIES = 8000
"""The most runs of the code, with any edits: some seconds for a layer."""

MOST_NUMBERS = 3000
"""A larger layer is not searched for an edit, as that takes minutes."""

_MOST_NAMED = 6  # a sentence with more names is not read
_LIBRARIES = tuple(sysconfig.get_paths()[name] for name in ("stdlib", "purelib", "platlib"))
_OURS = str(Path(npbert.__file__).parent)
_CALLS = 200_000  # the most calls of the author's functions: a large model runs less often


class Called(NamedTuple):
    """A call of a function, with its `self`, from a line of another."""

    code: CodeType
    owner: Any
    caller: CodeType
    line: int


@quiet()
def mended(function: ScalarFunction, tries: int = TRIES) -> list[Finding]:
    """Return the edits of the author's functions that make the layer right, or as much of it as possible, within the
    tries; without any, the place to look at, if one is known."""
    samples = samples_of(function) if function.size <= MOST_NUMBERS else []
    if not samples:
        return []
    theirs, forward, calls = _functions_of(function)
    tries = min(tries, _CALLS // max(len(calls), 1))
    searches = [_search_of(each, samples, forward) for each in theirs]
    innocent = [each for each in searches if not each.is_to_blame(tries)]
    known = Known(function, samples[0], forward, theirs)
    among = [each for each in searches if each.trial.function not in forward] or searches
    suspect = _suspect(among, calls, known) if known.has_gradients or len(theirs) == 1 else []
    if not suspect and len(theirs) == 1:  # all of its numbers are known, from elsewhere
        suspect = _suspect(searches, calls, Trace([]))
    searches.sort(key=lambda each: _length(each.trial.function))
    innocent.sort(key=searches.index)
    first = [each for _, each in suspect]
    to_blame = dict.fromkeys(each for each in (*first, *searches) if each not in innocent)
    for group in (to_blame, innocent):
        in_turn = list(itertools.product((CHEAP, np.inf), group))
        for count, (most, search) in enumerate(in_turn):
            share = tries // min(2, len(in_turn) - count)
            search.run(share, most)
            tries -= share - int(search.trial.left)
            if not search.left:
                return [_finding(found, search) for found in search.findings]
    best = min(searches, key=_rank, default=None)
    found = [_finding(each, best) for each in best.findings] if best else []
    return found or [_finding(*each) for each in suspect]


def _search_of(function: FunctionType, samples: list[Sample], forward: list[FunctionType]) -> Mending:
    """Return the search in a function, for which expressions of forward may be missing."""
    code = replace(Code.of(function), leaves_functions=function in forward)
    near = [each for each in forward if each.__module__ == function.__module__]
    return Mending(code, function, samples, forward="".join(textwrap.dedent(inspect.getsource(each)) for each in near))


def _suspect(among: list[Mending], calls: list[Called], known: Trace) -> list[tuple[Finding, Mending]]:
    """Return the first place to look at in the first of these searches that has one; in the function that its statement
    calls, if that has one, too."""
    for number, each in enumerate(among):
        place = next(each.suspects(known), None)
        if place:
            lines, code = range(place.line, place.line + len(place.place.splitlines())), each.trial.function.__code__
            inside = {call.code for call in calls if call.caller is code and call.line in lines}
            called = [other for other in among[number + 1 :] if other.trial.function.__code__ in inside]
            return _suspect(called, calls, known) or [(place, each)]
    return []


def _rank(search: Mending) -> tuple[bool, int, float]:
    """A sort key: the fewest wrong gradients, then the lowest cost."""
    return not search.findings, len(search.left), sum(KINDS[found.kind].cost for found in search.findings)


def _finding(found: Finding, search: Mending) -> Finding:
    """Return the finding with the file of the function, unless it was typed, and with a short subject."""
    file, subject = Path(search.trial.function.__code__.co_filename).name, found.subject
    if len(found.names) > _MOST_NAMED:
        subject = f"each of {len(found.names)} gradients"
    return replace(found, subject=subject, file="" if file.startswith("<") else file)


def _functions_of(function: ScalarFunction) -> tuple[list[FunctionType], list[FunctionType], list[Called]]:
    """Return the functions of backward (or of forward, if backward has none), the functions of forward, and the calls.
    If no function is an author's, npbert itself is being changed."""
    own = "" if function.is_form else inspect.unwrap(type(function.layer).backward).__code__.co_filename
    is_glue = getattr(function.layer, "is_glue", lambda code, owner: False)
    for home in ("", own):
        with function.unchanged():
            with _calls(home) as forward:
                call = Call(function)
            with _calls(home) as backward, contextlib.suppress(Exception):  # of the author's code
                call.backward()
        of_forward, of_backward = (
            _with_source([call.code for call in calls if not is_glue(call.code, call.owner)])
            for calls in (forward, backward)
        )
        if of_forward or of_backward:
            break
    return of_backward or of_forward, of_forward, forward + backward


@contextlib.contextmanager
def _calls(home: str) -> Iterator[list[Called]]:
    """Give each call within it of a function outside libraries, in any file, such as a helper. home: a file whose
    functions also count"""
    calls: list[Called] = []

    def watch(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        is_theirs = not code.co_filename.startswith((*_LIBRARIES, _OURS, "<frozen"))
        if event == "call" and (is_theirs or code.co_filename == home):
            caller: Any = frame.f_back
            calls.append(Called(code, frame.f_locals.get("self"), caller.f_code, caller.f_lineno))

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
