"""LayerOracle: the judge of edits of a layer's method, by the derivatives that its forward shows."""

from __future__ import annotations

import time
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import Tape, named_parts
from npbert.gradcheck.explain.breaking import nearness
from npbert.gradcheck.explain.code import Code
from npbert.gradcheck.explain.finding import Finding
from npbert.gradcheck.explain.mend import Step, mend
from npbert.gradcheck.explain.names import d, name_of_dy, names_of_gradients
from npbert.gradcheck.explain.samples import Sample, samples_of
from npbert.gradcheck.explain.trial import FAILED, RAISES, Outlook, Trial, quiet, wrong_in
from npbert.gradcheck.function import ScalarFunction
from npbert.gradcheck.inputs import as_tuple, copied, copy_of
from npbert.gradcheck.report import Gradients

MOST_NUMBERS = 3000
"""A layer with more numbers is not searched for an edit: that would take minutes."""

Called = Callable[[str], str]
_MOST_NAMED = 6
_LIMIT = 3.0  # seconds for all the methods of a layer together


@dataclass(frozen=True)
class Method:
    """A method that the author wrote. name: of the method.   path: of the part that it belongs to; "" for the layer."""

    path: str
    name: str
    code: Code
    forward: str


class LayerOracle:
    """Runs a layer with an edited method, and compares each gradient, on samples of other numbers and sizes.

    Promises are outputs, too: that gradients are added, and that nothing of the caller's is written into.
    """

    def __init__(self, function: ScalarFunction, method: Method, called: Called, dy: str) -> None:
        self.method, self.called, self.dy = method, called, dy
        self.samples: Sequence[Any] = list(samples_of(function))

    def look(self, function: Callable[..., Any], k: int) -> Outlook:
        """As the Protocol says."""
        sample = self.samples[k]
        owner = dict(named_parts(sample.layer))[self.method.path]
        parameters = sample.function.parameters
        states = [(part, dict(vars(part))) for _, part in named_parts(sample.layer) if hasattr(part, "__dict__")]
        values = {name: parameter.value.copy() for name, parameter in parameters.items()}
        setattr(owner, self.method.name, types.MethodType(function, owner))
        try:
            return self._seen(sample, values)
        except Exception:  # the layer's own: what is edited is called by its other methods
            return FAILED
        finally:
            for part, state in states:
                vars(part).clear()
                vars(part).update(state)
            for name, parameter in parameters.items():
                parameter.value[...] = values[name]
                parameter.zero_grad()

    def _seen(self, sample: Sample, values: Gradients) -> Outlook:
        function = sample.function
        for parameter in function.parameters.values():
            parameter.zero_grad()
        given, y, broken = _run(function)
        if given is None or not all(map(np.array_equal, y, sample.y)):
            return FAILED
        if any(given[name].shape != right.shape for name, right in sample.right.items()):
            return FAILED
        if any(given[name].dtype != right.dtype for name, right in sample.right.items()):
            return FAILED
        arrays = {self.called(name): (given[name], right) for name, right in sample.right.items()}
        wrong = {name: nearness(*pair) for name, pair in arrays.items() if not self._is_right(*pair, sample)}
        promises = {f"{self.dy if name == 'dy' else name}, which is the caller's,": 0.0 for name in broken}
        if not wrong:
            again, _, _ = _run(function)
            for name in function.parameters:
                if again is None or not self._is_right(again[name], 2 * sample.right[name], sample):
                    promises[f"{self.called(name)} after two backwards"] = 0.0
            changed = [name for name, value in values.items() if (function.parameters[name].value != value).any()]
            promises |= {f"the value of {name}, after backward,": 0.0 for name in changed}
        return Outlook({**wrong, **promises}, frozenset(arrays) - set(wrong), arrays)

    def _is_right(self, given: Array, right: Array, sample: Sample) -> bool:
        largest = max((float(np.abs(each).max(initial=0)) for each in sample.right.values()), default=0.0)
        scale = max(float(np.abs(right).max(initial=0)), 1e-2 * largest, 1e-300)
        return bool(np.abs(given - right).max(initial=0) <= sample.accuracy * scale)


def mended(function: ScalarFunction, limit: float = _LIMIT) -> tuple[list[Finding], set[str]]:
    """The edits of the author's methods that make the layer right, and the outputs that stay wrong in spite of them."""
    end = time.monotonic() + limit
    methods = list(methods_of(function.layer))
    called, dy = words_of(function.layer, list(function.float_inputs))
    best: tuple[list[Finding], set[str]] = [], set()
    if function.size > MOST_NUMBERS:
        return best
    for count, method in enumerate(methods):
        left = (end - time.monotonic()) / min(2, len(methods) - count)
        if left < limit / 10:
            break
        with quiet():
            oracle = LayerOracle(function, method, called, dy)
            if not oracle.samples:
                break
            wrong = wrong_in(Trial(oracle, left).looks(method.code))
        found = mend(method.code, oracle, forward=method.forward, limit=left)
        if found.steps and (not best[0] or len(found.left) < len(best[1])):
            best = [_briefly(step) for step in found.steps], set(found.left)
        if wrong and found.steps and not found.left:
            break
    return best


def _briefly(step: Step) -> Finding:
    count = len(step.outputs)
    if step.outputs == (RAISES,):
        return replace(step.finding, subject="what backward gives")
    return step.finding if count <= _MOST_NAMED else replace(step.finding, subject=f"each of {count} gradients")


def words_of(layer: Any, inputs: list[str]) -> tuple[Called, str]:
    """What the author's backward calls each gradient, by parameter or input; and the one that it is given."""
    own = (each.code for each in methods_of(layer) if each.name == "backward" and not each.path)
    backward = next(own, None)
    names = names_of_gradients(backward, inputs)
    return (lambda name: names.get(name, d(name))), name_of_dy(backward)


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
    theirs = [each for each in found if not each[3].__module__.startswith("npbert.")] or found
    for path, part, name, function in sorted(
        theirs, key=lambda each: ("backward" not in each[2], each[2] == "forward")
    ):
        code = _source(function)
        if code is not None:
            forward = _source(getattr(type(part), "forward", None))
            yield Method(path, name, code, forward.source if forward and name != "forward" else "")


def _source(function: Any) -> Code | None:
    """None where it cannot be read: typed in a prompt, a lambda, or compiled."""
    try:
        return Code.of(function)
    except (OSError, TypeError, ValueError, SyntaxError):
        return None


def _run(function: ScalarFunction) -> tuple[dict[str, Array] | None, list[Array], list[str]]:
    """The gradients by name, None where they are not as many as inputs; y; and which of the caller's arrays changed."""
    inputs, dy = [copied(value) for value in function.inputs], [each.copy() for each in function.dy]
    tape = Tape(copy_of(function.rng))
    y = function.layer.forward(*inputs, tape=tape)
    kept = [np.copy(part) for part in as_tuple(y)]
    dx = function.layer.backward(tuple(dy) if isinstance(y, tuple | list) else dy[0], tape)
    tape.check_empty()
    returned = () if dx is None else as_tuple(dx)
    if len(returned) != len(function.float_inputs):
        return None, kept, []
    found = {name: np.asarray(parameter.grad) for name, parameter in function.parameters.items()}
    found |= {name: np.asarray(each) for name, each in zip(function.float_inputs, returned, strict=True)}
    pairs: list[tuple[str, Any, Any]] = [
        *(("dy", one, other) for one, other in zip(dy, function.dy, strict=True)),
        *(("y", one, other) for one, other in zip(as_tuple(y), kept, strict=True)),
        *((name, inputs[at], function.inputs[at]) for name, at in function.float_inputs.items()),
    ]
    broken = [name for name, one, other in pairs if not np.array_equal(one, other, equal_nan=True)]
    held = [("dy", each) for each in dy] + [(d(name), found[name]) for name in function.float_inputs]
    for name, parameter in function.parameters.items():
        broken += [f"{d(name)} is {other}, and " for other, array in held if np.shares_memory(parameter.grad, array)]
    return {name: each.copy() for name, each in found.items()}, kept, broken
