"""mended: the edits of an author's functions that make the gradients those that forward shows, on several samples."""

import contextlib
import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from npbert.gradcheck.contract import Call, promised_gradients
from npbert.gradcheck.explain.authors import Called, by_suspicion, calls_in, code_of, functions_of, in_place_of
from npbert.gradcheck.explain.finding import Finding, d
from npbert.gradcheck.explain.mend import TRIES, EditStep, Mending
from npbert.gradcheck.explain.reasons import CHEAP, KINDS
from npbert.gradcheck.explain.samples import Sample, samples_of
from npbert.gradcheck.explain.trial import FAILED, OTHER_VALUES, RAISES, Outlook, quiet
from npbert.gradcheck.forms import Form
from npbert.gradcheck.function import ScalarFunction
from npbert.gradcheck.inputs import as_tuple
from npbert.gradcheck.report import PromiseError, compared

MOST_NUMBERS = 3000
"""A layer with more numbers is not searched for an edit: that would take minutes."""

_MOST_NAMED = 6


class LayerOracle:
    """Runs a layer with another function in the place of one of its author's, and compares each gradient. Where all of
    them are right, the promises of a layer are outputs, too; the first sample is enough for them."""

    def __init__(self, samples: Sequence[Sample], function: FunctionType) -> None:
        self.samples, self.function = samples, function

    def look(self, function: Callable[..., Any], k: int) -> Outlook:
        """As the Protocol says."""
        sample = self.samples[k]
        try:
            with sample.function.unchanged(), in_place_of(self.function, function):
                return self._seen(sample, tries_promises=k == 0)
        except Exception:  # the layer's own: what is edited is called by its other methods
            return FAILED

    def _seen(self, sample: Sample, *, tries_promises: bool) -> Outlook:
        call = Call(sample.function)
        if not all(map(np.array_equal, as_tuple(call.y), sample.y)):
            return OTHER_VALUES
        given = call.backward()
        arrays = {d(name): (given[name], right) for name, right in sample.right.items()}
        wrong = {d(each.name) for each in compared("", given, sample.right, sample.accuracy) if each.count}
        right = set(arrays) - wrong
        if tries_promises and not wrong:
            try:
                promised_gradients(sample.function)
            except PromiseError as error:
                wrong = set(error.subjects)
        return Outlook(wrong, right, arrays)


def mended(function: ScalarFunction, tries: int = TRIES) -> list[Finding]:
    """The edits of the author's functions that make the layer right, or as much of it as they can, in so many tries."""
    best: list[EditStep] = []
    fewest, its_file = (np.inf, np.inf), ""
    with quiet():
        samples = samples_of(function) if function.size <= MOST_NUMBERS else []
        theirs = _functions_of(samples[0].function) if samples else {}
    searches: dict[FunctionType, Mending] = {}
    for most in (CHEAP, np.inf):
        for count, (each, forward) in enumerate(theirs.items()):
            code = code_of(each)
            if code is None or tries <= 0 or fewest[0] == 0:
                continue
            if each not in searches:
                searches[each] = Mending(code, LayerOracle(samples, each), forward=forward)
            search, share = searches[each], tries // (len(theirs) - count)
            search.run(share, most)
            tries -= share - search.trial.left
            rank = len(search.left), sum(KINDS[step.finding.kind].cost for step in search.steps)
            if search.steps and rank < fewest:
                best, fewest, its_file = search.steps, rank, _file_of(each)
    return [replace(_briefly(step), file=its_file) for step in best]


def _briefly(step: EditStep) -> Finding:
    count = len(step.outputs)
    if step.outputs == (RAISES,):
        return replace(step.finding, subject="what backward gives")
    return step.finding if count <= _MOST_NAMED else replace(step.finding, subject=f"each of {count} gradients")


def _functions_of(function: ScalarFunction) -> dict[FunctionType, str]:
    """Those that backward runs through, each with the source of the forward that belongs to it; where it runs through
    none of the author's, those of forward. Where nothing is the author's, npbert itself is being changed."""
    own = "" if isinstance(function.layer, Form) else inspect.getsourcefile(type(function.layer)) or ""
    forwards, backwards = _calls_of(function, "")
    if not (forwards or backwards):
        forwards, backwards = _calls_of(function, own)
    found = functions_of(by_suspicion(forwards, backwards) or forwards)
    sources = {each: code.source for each in functions_of(forwards) if (code := code_of(each))}
    return {each: _of_same_owner(each, sources) for each in found}


def _calls_of(function: ScalarFunction, home: str) -> tuple[list[Called], list[Called]]:
    """Those of forward, and those of backward, as far as it goes."""
    made: list[Call] = []

    def undo() -> None:
        with contextlib.suppress(Exception):  # the author's own
            made[0].undone(made[0].dy)

    with function.unchanged():
        return calls_in(lambda: made.append(Call(function)), home), calls_in(undo, home)


def _file_of(function: FunctionType) -> str:
    """Its name; "" for what was typed."""
    name = Path(function.__code__.co_filename).name
    return "" if name.startswith("<") else name


def _of_same_owner(function: FunctionType, sources: dict[FunctionType, str]) -> str:
    """The sources of those that belong to the same class, or to the same module."""
    owner = function.__module__, function.__qualname__.rpartition(".")[0]
    alike = (text for each, text in sources.items() if (each.__module__, each.__qualname__.rpartition(".")[0]) == owner)
    return "".join(alike)
