"""LayerOracle: the judge of edits of a layer's method, by the derivatives that its forward shows."""

from __future__ import annotations

import time
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from npbert.core import named_parts
from npbert.gradcheck.contract import Call, promised_gradients
from npbert.gradcheck.explain.code import Code
from npbert.gradcheck.explain.finding import Finding, d
from npbert.gradcheck.explain.mend import Step, mend
from npbert.gradcheck.explain.samples import Sample, samples_of
from npbert.gradcheck.explain.trial import FAILED, RAISES, Outlook, quiet
from npbert.gradcheck.function import ScalarFunction
from npbert.gradcheck.inputs import as_tuple
from npbert.gradcheck.report import PromiseError, compared

MOST_NUMBERS = 3000
"""A layer with more numbers is not searched for an edit: that would take minutes."""

_MOST_NAMED = 6
_LIMIT = 3.0  # seconds for all the methods of a layer together


class Method(NamedTuple):
    """A method that the author wrote. path: of the part that it belongs to; "" for the layer.   forward: the source"""

    path: str
    name: str
    code: Code
    forward: str


class LayerOracle:
    """Runs a layer with an edited method, and compares each gradient, on samples of other numbers and sizes.

    Where all of them are right, the promises of a layer are outputs, too; the first sample is enough for them.
    """

    def __init__(self, samples: Sequence[Sample], method: Method) -> None:
        self.samples, self.method = samples, method

    def look(self, function: Callable[..., Any], k: int) -> Outlook:
        """As the Protocol says."""
        sample = self.samples[k]
        owner = dict(named_parts(sample.function.layer))[self.method.path]
        try:
            with sample.function.unchanged():
                setattr(owner, self.method.name, types.MethodType(function, owner))
                return self._seen(sample, tries_promises=k == 0)
        except Exception:  # the layer's own: what is edited is called by its other methods
            return FAILED

    def _seen(self, sample: Sample, *, tries_promises: bool) -> Outlook:
        call = Call(sample.function)
        if not all(map(np.array_equal, as_tuple(call.y), sample.y)):
            return FAILED
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


def mended(function: ScalarFunction, limit: float = _LIMIT) -> list[Finding]:
    """The edits of the author's methods that make the layer right, or as much of it as they can."""
    methods = list(methods_of(function.layer))
    with quiet():
        samples = samples_of(function) if function.size <= MOST_NUMBERS else []
    end = time.process_time() + limit
    best: tuple[Step, ...] = ()
    fewest = np.inf
    for count, method in enumerate(methods if samples else ()):
        seconds = (end - time.process_time()) / min(2, len(methods) - count)
        if seconds < limit / 10 or not fewest:
            break
        found = mend(method.code, LayerOracle(samples, method), forward=method.forward, limit=seconds)
        if found.steps and len(found.left) < fewest:
            best, fewest = found.steps, len(found.left)
    return list(map(_briefly, best))


def _briefly(step: Step) -> Finding:
    count = len(step.outputs)
    if step.outputs == (RAISES,):
        return replace(step.finding, subject="what backward gives")
    return step.finding if count <= _MOST_NAMED else replace(step.finding, subject=f"each of {count} gradients")


def methods_of(layer: Any) -> Iterator[Method]:
    """The methods of the layer and its parts that are not npbert's own, backward before others; or, where there are
    none, those of the layer's own class: then somebody changes npbert itself."""
    found = []
    for path, part in named_parts(layer):
        for kind in type(part).__mro__:
            for name, function in vars(kind).items():
                is_method = isinstance(function, types.FunctionType) and getattr(type(part), name) is function
                is_ours = f"{kind.__module__}.".startswith("npbert.") and not (path == "" and kind is type(layer))
                if is_method and not name.startswith("__") and not is_ours:
                    found.append((path, part, name, function))
    theirs = [each for each in found if not str(each[3].__module__).startswith("npbert.")] or found
    for path, part, name, function in sorted(
        theirs, key=lambda each: ("backward" not in each[2], each[2] == "forward")
    ):
        code, forward = _source(function), _source(getattr(type(part), "forward", None))
        if code is not None:
            yield Method(path, name, code, forward.source if forward and name != "forward" else "")


def _source(function: Any) -> Code | None:
    """None where it cannot be read: typed in a prompt, a lambda, or compiled."""
    try:
        return Code.of(function)
    except (OSError, TypeError, ValueError, SyntaxError):
        return None
