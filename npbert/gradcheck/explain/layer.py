"""mended: finds the edits of an author's functions that make the gradients right on several samples."""

import contextlib
import copy
import inspect
import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from npbert.gradcheck.contract import Call, promised_gradients
from npbert.gradcheck.explain.authors import Called, calls_in, functions_of, in_place_of
from npbert.gradcheck.explain.code import Code
from npbert.gradcheck.explain.finding import Finding, d
from npbert.gradcheck.explain.reasons import CHEAP, KINDS
from npbert.gradcheck.explain.repair import TRIES, EditStep, Mending
from npbert.gradcheck.explain.samples import Sample, samples_of
from npbert.gradcheck.explain.trial import FAILED, OTHER_VALUES, RAISES, Outlook, quiet
from npbert.gradcheck.forms import Form
from npbert.gradcheck.function import ScalarFunction
from npbert.gradcheck.inputs import as_tuple
from npbert.gradcheck.report import PromiseError

MOST_NUMBERS = 3000
"""A larger layer is not searched for an edit, as that takes minutes."""

_MOST_NAMED = 6
_CALLS = 150_000  # the most calls of the author's functions: a large model runs less often


class LayerOracle:
    """Runs a layer with one of its author's functions replaced, and compares each gradient. If all are right, the
    promises of a layer are outputs, too, on the first sample."""

    def __init__(self, samples: Sequence[Sample], function: FunctionType) -> None:
        self.samples, self.function = samples, function

    def look(self, function: Callable[..., Any], k: int) -> Outlook:
        """Run the function on sample k, as in Oracle."""
        sample = self.samples[k]
        tried = copy.copy(sample.function)  # an edit that returns None makes an input a constant, of this copy alone
        try:
            with in_place_of(self.function, function), tried.unchanged():
                call = Call(tried)
                if not all(map(np.array_equal, as_tuple(call.y), sample.y)):
                    return OTHER_VALUES
                given = call.backward()
                wrong = sample.wrong(given)
                if k == 0 and not wrong:
                    promised_gradients(tried)
        except PromiseError as error:
            return Outlook(set(error.subjects), set(map(d, sample.right)))
        except Exception:  # an error of the layer, which calls the edited function
            return FAILED
        arrays = {d(name): (given[name], right) for name, right in sample.right.items()}
        return Outlook(set(map(d, wrong)), set(map(d, sample.right.keys() - wrong)), arrays)


def mended(function: ScalarFunction, tries: int = TRIES) -> list[Finding]:
    """Return the edits of the author's functions that make the layer right, or as much of it as possible, within the
    tries."""
    with quiet():
        samples = samples_of(function) if function.size <= MOST_NUMBERS else []
        if not samples:
            return []
        theirs, forward, calls = _functions_of(samples[0].function)
        searches = _searches(samples, theirs, forward, min(tries, _CALLS // max(calls, 1)))
    found = [each for each in searches if searches[each].steps]
    if not found:
        return []
    best = min(found, key=lambda each: _rank(searches[each]))
    return [replace(_briefly(step), file=_file_of(best)) for step in searches[best].steps]


def _rank(search: Mending) -> tuple[int, float]:
    """A sort key: the fewest wrong gradients, then the lowest cost."""
    return len(search.left), sum(KINDS[step.finding.kind].cost for step in search.steps)


def _searches(
    samples: list[Sample], theirs: list[FunctionType], forward: list[FunctionType], tries: float
) -> dict[FunctionType, Mending]:
    """Return the search of each function, until one succeeds. Changes of existing code come before additions."""
    searches: dict[FunctionType, Mending] = {}
    for most, (count, each) in itertools.product((CHEAP, np.inf), enumerate(theirs)):
        if each not in searches:
            oracle = LayerOracle(samples, each)
            code = replace(Code.of(each), leaves_functions=each in forward)
            searches[each] = Mending(code, oracle, forward=_of_same_owner(each, forward))
        search, share = searches[each], int(tries) // min(2, len(theirs) - count)
        search.run(share, most)
        tries -= share - search.trial.left
        if tries <= 0 or not search.left:
            break
    return searches


def _briefly(step: EditStep) -> Finding:
    count = len(step.outputs)
    if step.outputs == (RAISES,):
        return replace(step.finding, subject="what backward gives")
    return step.finding if count <= _MOST_NAMED else replace(step.finding, subject=f"each of {count} gradients")


def _functions_of(function: ScalarFunction) -> tuple[list[FunctionType], list[FunctionType], int]:
    """Return the functions of backward (or of forward, if backward has none), the functions of forward, and the number
    of calls. If no function is an author's, npbert itself is being changed."""
    own = "" if isinstance(function.layer, Form) else inspect.unwrap(type(function.layer).backward).__code__.co_filename
    for home in ("", own):
        forwards, backwards = _calls_of(function, home)
        forward, theirs = functions_of(forwards), functions_of(backwards)
        if forward or theirs:  # without the __new__ of a namedtuple, which has no source
            break
    return theirs or forward, forward, len(forwards) + len(backwards)


def _calls_of(function: ScalarFunction, home: str) -> tuple[list[Called], list[Called]]:
    """Return the calls of forward, and of backward until it fails."""
    made: list[Call] = []

    def undo() -> None:
        with contextlib.suppress(Exception):  # errors of the author's code
            made[0].undone(made[0].dy)

    with function.unchanged():
        both = calls_in(lambda: made.append(Call(function)), home), calls_in(undo, home)
    is_glue = getattr(function.layer, "is_glue", lambda code, owner: False)
    forwards, backwards = ([each for each in calls if not is_glue(each.code, each.owner)] for calls in both)
    return forwards, backwards


def _file_of(function: FunctionType) -> str:
    """Return the file name of a function, or "" if it was typed."""
    name = Path(function.__code__.co_filename).name
    return "" if name.startswith("<") else name


def _of_same_owner(function: FunctionType, forward: list[FunctionType]) -> str:
    """Return the sources of functions of the same class or module."""
    alike = [each for each in forward if _owner_of(each) == _owner_of(function)]
    return "".join(map(inspect.getsource, alike))


def _owner_of(function: FunctionType) -> tuple[str, str]:
    return function.__module__, function.__qualname__.rpartition(".")[0]
