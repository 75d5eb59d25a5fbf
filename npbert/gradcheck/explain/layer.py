"""mended: finds the edits of an author's functions that make the gradients right on several samples."""

import contextlib
import copy
import inspect
import itertools
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from npbert.gradcheck.contract import Call, promised_gradients
from npbert.gradcheck.explain.authors import functions_called
from npbert.gradcheck.explain.code import Code
from npbert.gradcheck.explain.finding import Finding, d
from npbert.gradcheck.explain.reasons import CHEAP, KINDS
from npbert.gradcheck.explain.repair import TRIES, Mending
from npbert.gradcheck.explain.samples import Sample, samples_of
from npbert.gradcheck.explain.trial import FAILED, RAISES, Outlook, outlook_of, quiet
from npbert.gradcheck.forms import Form
from npbert.gradcheck.function import ScalarFunction
from npbert.gradcheck.inputs import as_tuple
from npbert.gradcheck.replacing import in_place_of
from npbert.gradcheck.report import PromiseError

MOST_NUMBERS = 3000
"""A larger layer is not searched for an edit, as that takes minutes."""

_MOST_NAMED = 6  # a sentence with more names is not read
_CALLS = 200_000  # the most calls of the author's functions: a large model runs less often


class LayerOracle:
    """Runs a layer with one of its author's functions replaced, and compares each gradient. If all are right, the
    promises of a layer are outputs, too, on the first sample."""

    def __init__(self, samples: Sequence[Sample], function: FunctionType) -> None:
        self.samples, self.function = samples, function

    def look(self, function: Callable[..., Any], k: int) -> Outlook:
        """Run the function on sample k, as in Oracle."""
        sample = self.samples[k]
        names = set(sample.right)
        tried = copy.copy(sample.function)  # an edit that returns None makes an input a constant, of this copy alone
        try:
            with in_place_of(self.function, function), tried.unchanged():
                call = Call(tried)
                if not all(map(np.array_equal, as_tuple(call.y), sample.y)):
                    return Outlook({"y", *names})
                gradients, error = call.as_far_as_it_runs()
                given = {d(name): each for name, each in gradients.items()}
                found = outlook_of(given, sample.right, sample.accuracy, error)
                if k == 0 and not found.wrong:
                    promised_gradients(tried)
                return found
        except PromiseError as broken:
            return Outlook(set(broken.subjects), names)
        except Exception:  # an error of the layer, which calls the edited function
            return FAILED


def mended(function: ScalarFunction, tries: int = TRIES) -> list[Finding]:
    """Return the edits of the author's functions that make the layer right, or as much of it as possible, within the
    tries; without any, the place to look at, if there is one function."""
    with quiet():
        samples = samples_of(function) if function.size <= MOST_NUMBERS else []
        if not samples:
            return []
        theirs, forward, calls = _functions_of(samples[0].function)
        searches = _searches(samples, theirs, forward, min(tries, _CALLS // max(calls, 1)))
    best = min(searches, key=lambda each: _rank(searches[each]), default=None)
    if not best:
        return []
    found = [step.finding for step in searches[best].steps]
    if not found and len(searches) == 1:
        found = [place for place in [searches[best].suspect()] if place]
    return [_finding(each, best) for each in found]


def _rank(search: Mending) -> tuple[bool, int, float]:
    """A sort key: the fewest wrong gradients, then the lowest cost."""
    return not search.steps, len(search.left), sum(KINDS[step.finding.kind].cost for step in search.steps)


def _finding(found: Finding, function: FunctionType) -> Finding:
    """Return the finding with the file of the function, unless it was typed, and with a short subject."""
    file, subject = Path(function.__code__.co_filename).name, found.subject
    count = subject.count(", ") + 1
    if subject == RAISES:
        subject = "what backward gives"
    elif count > _MOST_NAMED:
        subject = f"each of {count} gradients"
    return replace(found, subject=subject, file="" if file.startswith("<") else file)


def _searches(
    samples: list[Sample], theirs: list[FunctionType], forward: list[FunctionType], tries: float
) -> dict[FunctionType, Mending]:
    """Return the search of each function, until one succeeds. Changes of existing code come before additions."""
    searches: dict[FunctionType, Mending] = {}
    for most, (count, each) in itertools.product((CHEAP, np.inf), enumerate(theirs)):
        if each not in searches:
            oracle = LayerOracle(samples, each)
            code = replace(Code.of(each), leaves_functions=each in forward)
            near = [other for other in forward if other.__module__ == each.__module__]
            alike = "".join(textwrap.dedent(inspect.getsource(other)) for other in near)
            searches[each] = Mending(code, oracle, forward=alike)
        search, share = searches[each], int(tries) // min(2, len(theirs) - count)
        search.run(share, most)
        tries -= share - search.trial.left
        if tries <= 0 or not search.left:
            break
    return searches


def _functions_of(function: ScalarFunction) -> tuple[list[FunctionType], list[FunctionType], int]:
    """Return the functions of backward (or of forward, if backward has none), the functions of forward, and the number
    of calls. If no function is an author's, npbert itself is being changed."""
    made: list[Call] = []

    def undo() -> None:
        with contextlib.suppress(Exception):  # errors of the author's code
            made[-1].backward()

    own = "" if isinstance(function.layer, Form) else inspect.unwrap(type(function.layer).backward).__code__.co_filename
    is_glue = getattr(function.layer, "is_glue", lambda code, owner: False)
    for home in ("", own):
        with function.unchanged():
            forward, count = functions_called(lambda: made.append(Call(function)), home, is_glue)
            backward, more = functions_called(undo, home, is_glue)
        if forward or backward:
            break
    return backward or forward, forward, count + more
