"""LayerOracle: the judge of edits of a layer's method, by the derivatives that its forward shows."""

from __future__ import annotations

import contextlib
import copy
import time
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import Tape, named_parameters, named_parts
from npbert.gradcheck.derivatives import by_number, exact_gradients
from npbert.gradcheck.explain.breaking import nearness
from npbert.gradcheck.explain.code import Code
from npbert.gradcheck.explain.finding import Finding
from npbert.gradcheck.explain.mend import Step, mend
from npbert.gradcheck.explain.names import d, name_of_dy, names_of_gradients
from npbert.gradcheck.explain.trial import FAILED, RAISES, Outlook, Trial, quiet, wrong_in
from npbert.gradcheck.function import ScalarFunction
from npbert.gradcheck.inputs import as_tuple, copied, copy_of, is_float_array
from npbert.gradcheck.report import FINITE_DIFFERENCES, Gradients

MOST_NUMBERS = 3000
"""A layer with more numbers is not searched for an edit: that would take minutes."""

Called = Callable[[str], str]
_EXACT, _ESTIMATED = 1e-9, 1e-6  # the relative errors up to which a gradient is right, by how its own was found
_MOST_NAMED = 6
_LIMIT = 3.0  # seconds for all the methods of a layer together


@dataclass(frozen=True)
class Method:
    """A method that the author wrote. name: of the method.   path: of the part that it belongs to; "" for the layer."""

    path: str
    name: str
    code: Code
    forward: str


@dataclass
class Sample:
    """A copy of the layer, what it is given, and what its gradients should be."""

    layer: Any
    function: ScalarFunction
    right: Gradients
    y: tuple[Array, ...]
    accuracy: float

    @classmethod
    def of(cls, function: ScalarFunction) -> Sample:
        """With right gradients from exact arithmetic, or else from finite differences."""
        right = exact_gradients(function)
        if right:
            return cls(function.layer, function, right, function.outputs(), _EXACT)
        right = by_number(function, FINITE_DIFFERENCES)
        return cls(function.layer, function, right, function.outputs(), _ESTIMATED)


class LayerOracle:
    """Runs a layer with an edited method, and compares each gradient, on samples of other numbers and sizes.

    Promises are outputs, too: that gradients are added, and that nothing of the caller's is written into.
    """

    def __init__(self, function: ScalarFunction, method: Method, called: Called, dy: str) -> None:
        self.method, self.called, self.dy = method, called, dy
        self.samples: Sequence[Any] = list(_samples(function))

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


def _samples(function: ScalarFunction) -> Iterator[Sample]:
    """The layer as it is given, and with other numbers and, where it allows that, other sizes."""
    try:
        made = [_copied(function, function.inputs, None)]
    except Exception:  # the layer's own, which cannot be copied
        return
    for inputs in _resized(function):
        with contextlib.suppress(Exception):  # the layer's own: it does not allow this size
            made.append(_copied(function, inputs, np.random.default_rng(len(made))))
        if len(made) > 1:
            break
    with contextlib.suppress(Exception):  # as above
        made.append(_copied(function, function.inputs, np.random.default_rng(7), is_positive=True))
    yield from map(Sample.of, made)


def _copied(
    function: ScalarFunction, inputs: list[Any], rng: np.random.Generator | None, *, is_positive: bool = False
) -> ScalarFunction:
    layer = copy.deepcopy(function.layer)
    if rng is not None:
        for _, parameter in named_parameters(layer):
            parameter.value = _redrawn(parameter.value, rng)
        inputs = [_redrawn(value, rng) if is_float_array(value) else value for value in inputs]
    for _, parameter in named_parameters(layer):
        parameter.zero_grad()
    made = ScalarFunction(layer, tuple(inputs), function.rng, 0 if rng is None else 1)
    if rng is None:
        made.dy = function.dy
    elif is_positive:  # so that no edit lives on the sign of what comes in
        made.dy = tuple(map(np.abs, made.dy))
    if not all(np.isfinite(y).all() for y in made.outputs()):
        raise ValueError("y is not finite")
    return made


def _redrawn(array: Array, rng: np.random.Generator) -> Array:
    """Others of the same kind: positive where all are, 0 and 1 where there is nothing else."""
    if np.isin(array, (0, 1)).all() and array.any():
        return np.roll(array, 1)
    if (array > 0).all():
        return np.asarray(array * rng.uniform(0.6, 1.4, array.shape))
    return np.asarray(rng.standard_normal(array.shape) * max(float(np.abs(array).max(initial=0)) / 2, 0.1))


def _resized(function: ScalarFunction) -> Iterator[list[Any]]:
    """The inputs larger by one along every axis, or those of the rows, or the first; and at last as they are."""
    arrays = [value for value in function.inputs if isinstance(value, np.ndarray) and value.ndim]
    rows = max((len(value) for value in arrays if value.dtype.kind == "f"), default=0)
    inner = next((value.shape[1] for value in arrays if value.ndim > 2), 0)
    for grown in ({size for value in arrays for size in value.shape}, {rows, inner} - {0}, {rows}):
        yield [_grown(value, lambda axis, size, grown=grown: size in grown) for value in function.inputs]  # type: ignore[misc]
    yield [_grown(value, lambda axis, size: axis == 0 and size == rows) for value in function.inputs]
    yield list(function.inputs)


def _grown(value: Any, grows: Callable[[int, int], bool]) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    for axis, size in enumerate(value.shape):
        if grows(axis, size):
            value = np.take(value, np.arange(size + 1) % size, axis=axis)
    return value
