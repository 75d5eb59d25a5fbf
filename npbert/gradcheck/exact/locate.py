"""Where a backward is wrong: the gradients of every number with 50 digits, and which of the parts is to blame."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from decimal import Decimal, DecimalException, localcontext
from fractions import Fraction
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import Tape, named_parameters, named_parts
from npbert.gradcheck.exact.arrays import Numbers, tangents_of, values_of
from npbert.gradcheck.exact.constants import simplest
from npbert.gradcheck.exact.digits import CONTEXT, Digits, slopes_of
from npbert.gradcheck.exact.field import Field
from npbert.gradcheck.exact.number import inhabited
from npbert.gradcheck.exact.run import inner, run_on_numbers
from npbert.gradcheck.inputs import as_tuple

_ROUNDED_CONSTANTS = 2e-15
"""Beside the largest gradient of an array, what may come of constants in the code that are floats, and so rounded."""

_SMALLEST_SCALE = Decimal("1e-2")


@dataclass(frozen=True)
class WrongArray:
    """A gradient that is wrong: in `count` of its `size` numbers, the worst at `index`, where backward says `said` and
    forward shows `right`. factor: how many times too large all of its numbers are, "7/3" or "√3"; "" if not alike."""

    name: str
    count: int
    size: int
    index: tuple[int, ...]
    said: float
    right: float
    factor: str

    def __str__(self) -> str:
        many = f"{self.count} of {self.size} wrong" if self.size > 1 else "wrong"
        if self.factor:
            return f"{self.name}: {many}, {'each of them ' if self.count > 1 else ''}{self.factor} times the right one"
        place = f"[{', '.join(map(str, self.index))}]" if self.index else ""
        return f"{self.name}: {many}; {self.name}{place} is {self.said:.17g}, and {self.right:.17g} is right"


def gradients_with_digits(
    layer: Any,
    inputs: tuple[Any, ...],
    rng: np.random.Generator | None,
    dy: tuple[Array, ...] | np.random.Generator,
    *,
    near: np.random.Generator | None = None,
) -> tuple[dict[str, Array], dict[str, Array]]:
    """By name, what backward says and what forward shows: arrays of Decimals.

    near: draws a point near the given one, where nothing is 1 or 0 by chance; None takes the very point.
    """
    with localcontext(CONTEXT), inhabited(Digits(near)):
        run = run_on_numbers(layer, inputs, rng, dy)
        slopes = slopes_of(run.growth) if run.growth else {}
        of_slope = np.frompyfunc(lambda slope: slopes.get(slope, Decimal(0)), 1, 1)
        right = {name: np.asarray(of_slope(tangents), object) for name, tangents in run.tangents.items()}
        decimals = np.frompyfunc(Decimal, 1, 1)
        return {name: np.asarray(decimals(said), object) for name, said in run.gradients.items()}, right


def wrong_arrays(layer: Any, inputs: tuple[Any, ...], rng: np.random.Generator | None, seed: int) -> list[WrongArray]:
    """The arrays of which the gradient is wrong by more than a rounded constant explains.

    Raises: what the layer raises on Numbers.
    """
    try:
        said, right = gradients_with_digits(
            layer, inputs, rng, np.random.default_rng(seed), near=np.random.default_rng([seed, 1])
        )
    except (DecimalException, ZeroDivisionError):  # near the point there is no √, say
        said, right = gradients_with_digits(layer, inputs, rng, np.random.default_rng(seed))
    with localcontext(CONTEXT):
        largest = max(map(_largest, right.values()), default=Decimal(0))
        found = (_compared(name, said[name], right[name], largest) for name in said)
        return [array for array in found if array is not None]


def _largest(array: Array) -> Decimal:
    return max(map(abs, array.ravel()), default=Decimal(0))


def _compared(name: str, said: Array, right: Array, largest: Decimal) -> WrongArray | None:
    scale = max(_largest(right), _SMALLEST_SCALE * largest) * Decimal(_ROUNDED_CONSTANTS)
    error = np.abs(said - right)
    is_wrong = np.asarray(~(error <= scale), bool)
    if not is_wrong.any():
        return None
    worst = tuple(int(i) for i in np.unravel_index(int(np.argmax(error)), error.shape))
    count = int(is_wrong.sum())
    return WrongArray(
        name, count, said.size, worst, float(said[worst]), float(right[worst]), _factor(said.ravel(), right.ravel())
    )


def _factor(said: Array, right: Array) -> str:
    """The number that all of `said` are of `right`, if it is a short one, or the root of one."""
    ratios = [s / r for s, r in zip(said, right, strict=True) if r]
    if len(ratios) < len(said) or max(ratios) - min(ratios) > abs(ratios[0]) * Decimal("1e-30"):
        return ""
    if not ratios[0]:
        return "0"
    sign = "−" if ratios[0] < 0 else ""
    for root, ratio in (("", abs(ratios[0])), ("√", ratios[0] * ratios[0])):
        short = simplest(Fraction(ratio), 2**40, 1e-28)
        if short is not None:
            text = str(short)
            return f"{sign}{root}({text})" if root and "/" in text else f"{sign}{root}{text}"
    return f"{ratios[0]:.17g}"


@dataclass
class _Call:
    """One forward of a part, on one tape."""

    tape: Any
    given: list[Any]
    y: Any


def wrong_parts(layer: Any, inputs: tuple[Any, ...], rng: np.random.Generator | None, seed: int) -> tuple[str, ...]:
    """The names of the innermost parts whose own identity fails; () when every part is right by itself."""
    verdicts: dict[str, bool] = {}
    with ExitStack() as stack:
        drawn = np.random.default_rng(seed)
        stack.enter_context(inhabited(Field(drawn)))
        for name, part in named_parts(layer):
            if name and hasattr(part, "forward") and hasattr(part, "backward"):
                stack.enter_context(_judged(name, part, verdicts))
        run_on_numbers(layer, inputs, rng, drawn)
    wrong = [name for name, is_right in verdicts.items() if not is_right]
    return tuple(name for name in wrong if not any(other.startswith(f"{name}.") for other in wrong))


@contextmanager
def _judged(name: str, part: Any, verdicts: dict[str, bool]) -> Iterator[None]:
    """While it lasts, each backward of the part is held against its forward: ⟨dy, ẏ⟩ = ⟨dx, ẋ⟩ + Σ ⟨dW, Ẇ⟩."""
    forward, backward = part.forward, part.backward
    parameters = [parameter for _, parameter in named_parameters(part)]
    calls: list[_Call] = []

    def watched_forward(*inputs: Any, **options: Any) -> Any:
        values = [*inputs, *options.values()]
        tape = next((value for value in values if isinstance(value, Tape)), None)
        y = forward(*inputs, **options)
        if tape is not None and tape.keeps:
            calls.append(_Call(tape, [value for value in values if _is_numbers(value)], y))
        return y

    def watched_backward(dy: Any, tape: Any) -> Any:
        before = [values_of(parameter.grad) for parameter in parameters]
        dx = backward(dy, tape)
        last = next((number for number in reversed(range(len(calls))) if calls[number].tape is tape), None)
        if last is not None:
            call = calls.pop(last)
            grads = [values_of(parameter.grad) - old for parameter, old in zip(parameters, before, strict=True)]
            found = [*grads, *map(values_of, () if dx is None else as_tuple(dx))]
            moved = [tangents_of(value) for value in (*(parameter.value for parameter in parameters), *call.given)]
            grown = [(values_of(a), tangents_of(b)) for a, b in zip(as_tuple(dy), as_tuple(call.y), strict=True)]
            is_right = [np.shape(a) for a in found] == [np.shape(b) for b in moved]
            is_right = is_right and _total(zip(found, moved, strict=True)) == _total(iter(grown))
            verdicts[name] = verdicts.get(name, True) and is_right
        return dx

    part.forward, part.backward = watched_forward, watched_backward
    try:
        yield
    finally:
        del part.forward, part.backward


def _is_numbers(value: Any) -> bool:
    return isinstance(value, Numbers) or (isinstance(value, np.ndarray) and value.dtype == object)


def _total(pairs: Iterator[tuple[Array, Array]]) -> int:
    return int(sum(inner(a, b) for a, b in pairs)) % Field.modulus
