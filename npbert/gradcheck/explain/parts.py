"""Which part of a layer is wrong: each is proved by itself, on what it was given when the whole layer ran."""

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
from npbert.gradcheck.derivatives import along, estimates_along, random_steps, size_along
from npbert.gradcheck.exact import NOT_PROVED, prove
from npbert.gradcheck.function import DTYPE, ScalarFunction
from npbert.gradcheck.inputs import copy_of, is_float_array
from npbert.gradcheck.report import COMPLEX_STEP, FINITE_DIFFERENCES, TOLERANCES, Report

_BELIEVED = 1e-6
_MOST_NUMBERS = 2000


@dataclass
class Call:
    """One forward of a part. number: how many of the same part came before; is_own: the layer itself made it."""

    name: str
    part: Any
    number: int
    inputs: tuple[Any, ...]
    rng: np.random.Generator | None
    is_own: bool
    y: Any = None
    dy: Any = None
    is_undone: bool = False


@dataclass(frozen=True)
class Parts:
    """The parts of a layer. wrong: the innermost, with what they were given.   right: the outermost."""

    wrong: list[tuple[str, ScalarFunction]] = field(default_factory=list)
    right: list[str] = field(default_factory=list)


def parts_of(function: ScalarFunction) -> Parts:
    """Each part judged by itself, the inner ones first; what holds a wrong part is left out."""
    found, first = Parts(), {call.name: call for call in reversed(_calls(function))}
    named = [name for name, _ in named_parts(function.layer) if name in first]
    for name in reversed(named):  # a part comes after what holds it
        if any(wrong == name or wrong.startswith(f"{name}.") for wrong, _ in found.wrong):
            continue
        try:
            here = ScalarFunction(first[name].part, first[name].inputs, first[name].rng, 0)
            is_right = _is_right(here)
        except Exception:  # the part's own: it does not work alone, or has nothing to move
            continue
        if is_right:
            found.right[:] = [name, *(other for other in found.right if not other.startswith(f"{name}."))]
        else:
            found.wrong.insert(0, (name, here))
    return found


def _is_right(function: ScalarFunction) -> bool:
    """Proved; or right along a few directions, where there is no proof."""
    proof = prove(function.layer, *function.inputs, rng=function.rng)
    if proof.verdict != NOT_PROVED:
        return bool(proof)
    gradients = function.gradients(tried=False)
    steps = random_steps(gradients, 3, 1)
    numeric = estimates_along(function, steps, TOLERANCES)
    sizes = {"direction": size_along(gradients, steps)}
    return Report.compare({"direction": along(gradients, steps)}, numeric, TOLERANCES, sizes).ok


def handed_on(function: ScalarFunction) -> tuple[str, str] | None:
    """(the part, in words what its backward is given wrongly), where a gradient goes wrong between the parts."""
    right_so_far: list[str] = []
    calls = [call for call in _calls(function, backward=True) if call.is_own]
    for call in reversed(calls):
        if (
            not is_float_array(call.y)
            or call.y.size > _MOST_NUMBERS
            or (call.is_undone and np.shape(call.dy) != call.y.shape)
        ):
            continue
        right = _gradient_of_output(function, call, calls)
        given = call.dy if call.is_undone else np.zeros_like(right)
        so_far = f" (what {' and '.join(right_so_far)} got is right)" if right_so_far else ""
        if np.abs(given - right).max(initial=0) > _BELIEVED * max(np.abs(right).max(initial=0), 1e-3):
            if call.is_undone:
                return call.name, f"what {call.name}.backward is given is wrong: look at what comes between{so_far}"
            return (
                call.name,
                f"{call.name}.backward is never called, though y moves with what {call.name} gives{so_far}",
            )
        if call.is_undone:
            right_so_far = [call.name]
    return None


def _gradient_of_output(function: ScalarFunction, call: Call, calls: list[Call]) -> Array:
    """∂S/∂y of a call: a number is added to what it gives, while the layer runs forward."""
    forward, count, total = call.part.forward, itertools.count(), sum(each.part is call.part for each in calls)

    def by(method: str) -> Array:
        added: Array = np.zeros(call.y.shape, DTYPE[method])

        def moved(*inputs: Any, **options: Any) -> Any:
            y = forward(*inputs, **options)
            return y + added if next(count) % total == call.number else y

        with function.movable(method), _replaced(call.part, "forward", moved):
            moves = [[(added, index, 1.0)] for index in np.ndindex(added.shape)]
            return np.reshape([function.derivative(method, move) for move in moves], added.shape)

    try:
        return by(COMPLEX_STEP)
    except TypeError:  # complex numbers do not flow
        count = itertools.count()
        return by(FINITE_DIFFERENCES)


def _calls(function: ScalarFunction, *, backward: bool = False) -> list[Call]:
    """The calls of all parts in the order in which they end, while the layer runs once, and is undone."""
    calls: list[Call] = []
    counts: Counter[str] = Counter()
    depth = [0]

    def watched_forward(name: str, part: Any, forward: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*inputs: Any, **options: Any) -> Any:
            tape = next((value for value in [*inputs, *options.values()] if isinstance(value, Tape)), None)
            values = tuple(value for value in inputs if not isinstance(value, Tape))
            call = Call(name, part, counts[name], values, copy_of(tape.rng) if tape else None, depth[0] == 0)
            counts[name] += 1
            depth[0] += 1
            try:
                call.y = forward(*inputs, **options)
            finally:
                depth[0] -= 1
            if all(isinstance(value, Tape) for value in options.values()):
                calls.append(call)
            return call.y

        return watched

    def watched_backward(part: Any, undo: Callable[..., Any]) -> Callable[..., Any]:
        def watched(dy: Any, *others: Any, **options: Any) -> Any:
            waiting = [call for call in calls if call.part is part and not call.is_undone]
            if waiting:
                waiting[-1].dy, waiting[-1].is_undone = np.copy(dy) if is_float_array(dy) else dy, True
            return undo(dy, *others, **options)

        return watched

    with ExitStack() as stack:
        for name, part in named_parts(function.layer):
            if name and hasattr(part, "forward") and hasattr(part, "backward"):
                stack.enter_context(_replaced(part, "forward", watched_forward(name, part, part.forward)))
                stack.enter_context(_replaced(part, "backward", watched_backward(part, part.backward)))
        tape = Tape(copy_of(function.rng))
        y = function.layer.forward(*function.inputs, tape=tape)
        if backward:
            function.layer.backward(function.dy if isinstance(y, tuple | list) else function.dy[0], tape)
    return calls


@contextmanager
def _replaced(part: Any, name: str, method: Callable[..., Any]) -> Iterator[None]:
    setattr(part, name, method)
    try:
        yield
    finally:
        delattr(part, name)
