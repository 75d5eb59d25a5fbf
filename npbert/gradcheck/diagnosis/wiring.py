"""What a layer does with its parts: which gradient it hands to each, and by which parts a gradient comes back.

A number is added to what a part is given, or gives, while the layer runs forward: so the right gradient is known at
every place between the parts, and can be compared with what backward hands on there.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import Tape, named_parts
from npbert.gradcheck.function import DTYPE, ScalarFunction
from npbert.gradcheck.inputs import copy_of, is_float_array

_BELIEVED = 1e-6  # the relative error up to which a gradient between the parts counts as right
_MOST_NUMBERS = 2000
_ORDINALS = ("first", "second", "third", "fourth", "fifth")


@dataclass
class Step:
    """One call that a layer made of one of its parts: what went in and came out, and what its backward was given.

    number: how many calls of this part, by whomever, came before in the same run.
    """

    name: str
    part: Any
    number: int
    inputs: tuple[Any, ...]
    y: Any = None
    dy: Any = None
    dx: Any = None
    is_undone: bool = False


@dataclass
class Trace:
    """The calls that a layer itself makes of its parts, in order; not those that its parts make of theirs."""

    function: ScalarFunction
    method: str
    steps: list[Step] = field(default_factory=list)
    calls: Counter[str] = field(default_factory=Counter)
    depth: int = 0
    is_forward: bool = True

    @classmethod
    def of(cls, function: ScalarFunction, method: str) -> Trace:
        """Run the layer forward and backward once, and watch."""
        trace = cls(function, method)
        with ExitStack() as stack:
            for name, part in named_parts(function.layer):
                if name and hasattr(part, "forward") and hasattr(part, "backward"):
                    stack.enter_context(_replaced(part, "forward", trace._forward(name, part)))
                    stack.enter_context(_replaced(part, "backward", trace._backward(part)))
            tape = Tape(copy_of(function.rng))
            y = function.layer.forward(*function.inputs, tape=tape)
            trace.is_forward = False
            function.layer.backward(function.dy if isinstance(y, tuple | list) else function.dy[0], tape)
        return trace

    @property
    def given(self) -> dict[str, Array]:
        """What the layer's backward was given, and what that of each part gave back and was given, in words."""
        found = {"y": self.function.dy[0]} if len(self.function.dy) == 1 else {}
        for step in reversed(self.steps):
            if is_float_array(step.dx):
                found[f"what {step.name}.backward returns{self._time(step)}"] = step.dx
            elif isinstance(step.dx, tuple):
                several = zip(_ORDINALS, step.dx, strict=False)
                found |= {
                    f"the {which} that {step.name}.backward returns{self._time(step)}": part
                    for which, part in several
                    if is_float_array(part)
                }
        found |= {self.called(step): step.dy for step in reversed(self.steps) if is_float_array(step.dy)}
        return found

    def called(self, step: Step) -> str:
        """What the backward of a call is given, in words."""
        return f"what {step.name}.backward is given{self._time(step)}"

    def _time(self, step: Step) -> str:
        """Which of several calls of a part it is, in the order of backward."""
        alike = [other for other in reversed(self.steps) if other.part is step.part]
        number = next(place for place, other in enumerate(alike) if other is step)
        return f" the {_ORDINALS[number]} time" if 1 < len(alike) <= len(_ORDINALS) else ""

    def gradient_of_output(self, step: Step) -> Array:
        """∂S/∂y of a call."""
        return self._gradient(step, step.y.shape, None)

    def roads_from(self, source: Step | None, array: Array, right: Array) -> dict[str, Array]:
        """By which parts the gradient of an array comes back, and what comes back past them.

        source: the call that gave the array, None for an input of the layer. right: the gradient of the array.
        """
        roads: dict[str, Array] = {}
        for place, step in enumerate(self.steps):
            for position, value in enumerate(step.inputs):
                if value is array and self._source(place, value) is source:
                    name = f"through {step.name}"
                    road = self._gradient(step, array.shape, position)
                    roads[name] = roads[name] + road if name in roads else road
        if not roads:
            return {}
        past = right - sum(roads.values())
        is_some = np.abs(past).max(initial=0) > _BELIEVED * np.abs(right).max(initial=0)
        beside = "past them" if len(roads) > 1 else next(iter(roads)).replace("through", "past", 1)
        return {**roads, beside: past} if is_some else roads

    def _source(self, place: int, value: Any) -> Step | None:
        """The last call before that gave this very value: one that rests may give what it was given."""
        return next((step for step in reversed(self.steps[:place]) if step.y is value), None)

    def _gradient(self, step: Step, shape: tuple[int, ...], position: int | None) -> Array:
        """∂S/∂(what is added to the input at this position of a call, or to its output)."""
        added: Array = np.zeros(shape, DTYPE[self.method])
        forward, calls, total = step.part.forward, itertools.count(), self.calls[step.name]

        def moved(*inputs: Any, **options: Any) -> Any:
            is_it = next(calls) % total == step.number
            if is_it and position is not None:
                inputs = (*inputs[:position], inputs[position] + added, *inputs[position + 1 :])
            y = forward(*inputs, **options)
            return y + added if is_it and position is None else y

        with self.function.movable(self.method), _replaced(step.part, "forward", moved):
            slopes = [self.function.derivative(self.method, [(added, index, 1.0)]) for index in np.ndindex(shape)]
        return np.reshape(slopes, shape)

    def _forward(self, name: str, part: Any) -> Callable[..., Any]:
        forward = part.forward

        def watched(*inputs: Any, **options: Any) -> Any:
            step = Step(name, part, self.calls[name], inputs)
            self.calls[name] += self.is_forward
            if self.depth == 0 and self.is_forward:
                self.steps.append(step)
            with self._inside():
                step.y = forward(*inputs, **options)
            return step.y

        return watched

    def _backward(self, part: Any) -> Callable[..., Any]:
        backward = part.backward

        def watched(dy: Any, *others: Any, **options: Any) -> Any:
            waiting = [step for step in self.steps if step.part is part and not step.is_undone]
            is_own = self.depth == 0 and bool(waiting)
            if is_own:
                waiting[-1].dy, waiting[-1].is_undone = np.copy(dy) if is_float_array(dy) else dy, True
            with self._inside():
                dx = backward(dy, *others, **options)
            if is_own:
                waiting[-1].dx = np.copy(dx) if is_float_array(dx) else dx
            return dx

        return watched

    @contextmanager
    def _inside(self) -> Iterator[None]:
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1


def wrong_between(trace: Trace) -> Iterator[tuple[Step, Array, list[str]]]:
    """The calls whose backward is never reached, or is given a wrong gradient, the last first; with the right one, and
    the names of the later ones that were given theirs."""
    given_right: list[str] = []
    for step in reversed(trace.steps):
        is_array = is_float_array(step.y) and (step.dy is None or is_float_array(step.dy))
        if not is_array or step.y.size > _MOST_NUMBERS:
            continue
        right = trace.gradient_of_output(step)
        given = np.zeros_like(right) if step.dy is None else step.dy
        if given.shape != right.shape:
            continue
        if np.abs(given - right).max(initial=0) > _BELIEVED * max(np.abs(right).max(initial=0), 1e-3):
            yield step, right, given_right
        elif step.is_undone:
            given_right = list(dict.fromkeys([step.name, *given_right]))


@contextmanager
def _replaced(part: Any, name: str, method: Callable[..., Any]) -> Iterator[None]:
    setattr(part, name, method)
    try:
        yield
    finally:
        delattr(part, name)
