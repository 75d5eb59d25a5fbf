"""mended: the edits of a layer's methods that make its gradients those that its forward shows, on several samples."""

import contextlib
import copy
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.core import named_parameters, named_parts
from npbert.gradcheck.contract import Call, promised_gradients
from npbert.gradcheck.explain.code import Code
from npbert.gradcheck.explain.finding import Finding, d
from npbert.gradcheck.explain.manners import in_manner, resized
from npbert.gradcheck.explain.mend import TRIES, EditStep, Mending
from npbert.gradcheck.explain.reasons import CHEAP, KINDS
from npbert.gradcheck.explain.trial import FAILED, OTHER_VALUES, RAISES, Outlook, quiet
from npbert.gradcheck.forms import Form, function_of
from npbert.gradcheck.function import ScalarFunction
from npbert.gradcheck.inputs import as_tuple, is_float_array
from npbert.gradcheck.report import Gradients, PromiseError, compared

MOST_NUMBERS = 3000
"""A layer with more numbers is not searched for an edit: that would take minutes."""

_MOST_NAMED = 6


class Method(NamedTuple):
    """A method that the author wrote. path: of the part that it belongs to; "" for the layer.   forward: the source
    file: that it stands in, where it is no method of a layer"""

    path: str
    name: str
    code: Code
    forward: str
    file: str = ""


class Sample(NamedTuple):
    """A copy of the layer with what it is given, what its gradients should be, and to which relative error; and y."""

    function: ScalarFunction
    right: Gradients
    accuracy: float
    y: tuple[Array, ...]


class LayerOracle:
    """Runs a layer with an edited method, and compares each gradient. Where all of them are right, the promises of a
    layer are outputs, too; the first sample is enough for them."""

    def __init__(self, samples: Sequence[Sample], method: Method) -> None:
        self.samples, self.method = samples, method

    def look(self, function: Callable[..., Any], k: int) -> Outlook:
        """As the Protocol says."""
        sample = self.samples[k]
        owner = dict(named_parts(sample.function.layer))[self.method.path]
        try:
            with sample.function.unchanged():
                if isinstance(owner, Form):
                    owner.edited = {**owner.edited, self.method.name: function}
                else:
                    setattr(owner, self.method.name, types.MethodType(function, owner))
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
    """The edits of the author's methods that make the layer right, or as much of it as they can, in so many tries."""
    with quiet():
        samples = samples_of(function) if function.size <= MOST_NUMBERS else []
    all_ = [
        (Mending(method.code, LayerOracle(samples, method), forward=method.forward), method.file)
        for method in (methods_of(function.layer) if samples else ())
    ]
    best: list[EditStep] = []
    fewest, its_file = (np.inf, np.inf), ""
    for most in (CHEAP, np.inf):
        for count, (mending, file) in enumerate(all_):
            if tries <= 0 or fewest[0] == 0:
                break
            share = tries // min(2, len(all_) - count)
            mending.run(share, most)
            tries -= share - mending.trial.left
            rank = len(mending.left), sum(KINDS[step.finding.kind].cost for step in mending.steps)
            if mending.steps and rank < fewest:
                best, fewest, its_file = mending.steps, rank, file
    return [replace(_briefly(step), file=its_file) for step in best]


def _briefly(step: EditStep) -> Finding:
    count = len(step.outputs)
    if step.outputs == (RAISES,):
        return replace(step.finding, subject="what backward gives")
    return step.finding if count <= _MOST_NAMED else replace(step.finding, subject=f"each of {count} gradients")


def methods_of(layer: Any) -> Iterator[Method]:
    """The methods of the layer and its parts that are not npbert's own, backward before others; or, where there are
    none, those of the layer's own class: then somebody changes npbert itself."""
    if isinstance(layer, Form):
        forward = _source(layer.theirs["forward"])
        functions = [*layer.theirs.items(), *((name, function_of(now)) for name, now, _ in layer.helpers)]
        for name, function in sorted(functions, key=lambda each: each[0] == "forward" and len(layer.theirs) > 1):
            if code := _source(function):
                file = Path(function.__code__.co_filename).name
                yield Method("", name, code, forward.source if forward else "", file)
        return
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


def samples_of(function: ScalarFunction) -> list[Sample]:
    """The layer as it is given; and, as far as it allows that, with other numbers, other sizes, and in other manners.
    None if it cannot be copied."""
    made: list[ScalarFunction] = []
    with contextlib.suppress(Exception):  # the layer's own
        made.append(_varied(function, function.inputs, np.copy, 0))
        made[0].dy = function.dy
    is_exact = bool(made and made[0].exact())  # differences are no judge of numbers that are large, or at a kink
    others = [*((more, None) for more in (1, 0, 0, 2, 0)), *((0, mark) for mark in _marks_of(function.layer))]
    for number, (more, mark) in enumerate(others if made else ()):
        for inputs in resized(function.inputs, more):
            with contextlib.suppress(Exception):  # the layer's own: it does not allow this size, or these numbers
                given = [_marked(value, mark) for value in inputs]
                made.append(_redrawn(function, given, number, number * is_exact))
                break
    return [Sample(each, *each.right(), each.outputs()) for each in made if made[0].dy is function.dy]


def _marks_of(layer: Any) -> list[int]:
    """The whole numbers in forward that are no class and no axis, such as IGNORED: those below −1."""
    forward = layer.theirs["forward"] if isinstance(layer, Form) else getattr(type(layer), "forward", None)
    if not isinstance(forward, types.FunctionType):
        return []
    named = (forward.__globals__.get(name) for name in forward.__code__.co_names)
    return sorted({each for each in (*named, *forward.__code__.co_consts) if type(each) is int and each < -1})


def _marked(value: Any, mark: int | None) -> Any:
    """Whole numbers with the mark in the place of the first, where there is a mark."""
    if mark is None or not isinstance(value, np.ndarray) or value.dtype.kind != "i":
        return value
    return np.where(np.arange(value.size).reshape(value.shape), value, mark)


def _varied(function: ScalarFunction, inputs: list[Any], change: Callable[[Array], Array], seed: int) -> ScalarFunction:
    """A copy of the layer with other values, with these inputs and, by its seed, another dy."""
    layer = copy.deepcopy(function.layer)
    for _, parameter in named_parameters(layer):
        parameter.value = change(parameter.value)
        parameter.zero_grad()
    return ScalarFunction(layer, tuple(inputs), function.rng, seed)


def _redrawn(function: ScalarFunction, inputs: list[Any], seed: int, manner: int) -> ScalarFunction:
    """Other numbers of the same kind, in one of the manners: positive where all are, 0 and 1 where there is nothing
    else. Whole numbers repeat, but for those in ascending order, which may have to be."""
    rng, is_even = np.random.default_rng(seed), manner == 2

    def change(array: Array, manner: int = 0) -> Array:
        if array.dtype.kind in "iu":
            is_drawn = is_even and (np.diff(array, axis=0) < 0).any()
            return rng.choice(array.ravel(), array.shape) if is_drawn else array
        if np.isin(array, (0, 1)).all() and array.any():
            return np.roll(array, 1)
        if array.dtype.kind != "f":
            return array
        if (array > 0).all():
            return np.asarray(array * rng.uniform(0.6, 1.4, array.shape))
        drawn = np.asarray(rng.standard_normal(array.shape))
        return in_manner(drawn, manner) * max(float(np.abs(array).max(initial=0)) / 2, 0.1)

    given = [change(value, manner) if isinstance(value, np.ndarray) else value for value in inputs]
    made = _varied(function, given, change, seed + 1)
    if not all(np.isfinite(y).all() for y in made.outputs()):
        raise ValueError("y is not finite")
    if is_even:
        _check_smooth(made)
    return made


def _check_smooth(function: ScalarFunction) -> None:
    """Raise ValueError where the derivative jumps: on which side of a kink it is taken there is a matter of taste."""
    exact = function.exact()
    for h in (1e-9, -1e-9):
        moved = [value + h if is_float_array(value) else value for value in function.inputs]
        near = _varied(function, moved, np.copy, 0)
        near.dy = function.dy
        if not exact or any(each.count for each in compared("", near.exact(), exact, 1e-4)):
            raise ValueError("there may be a kink")
