"""Runs a layer forward and backward on Numbers instead of floats."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.core import Tape
from npbert.gradcheck.exact.arrays import ERROR, TANGENT, VALUE, part_of_numbers, seen, unknowns_like
from npbert.gradcheck.exact.case import Case, Floats
from npbert.gradcheck.exact.number import NoRuleError, Number
from npbert.gradcheck.exact.number_modules import room_for_numbers
from npbert.gradcheck.inputs import Outputs, as_tuple, copy_of
from npbert.gradcheck.report import Gradients, placed

SLACK = 4.0  # times the first-order bound on rounding


class Seen(NamedTuple):
    """The floats of exact numbers, with bounds on rounding in halves of an epsilon (0 if the bound overflows)."""

    floats: Array
    error: Array

    def room(self, floats: Floats) -> Array:
        """Return the rounding error allowed for these floats."""
        return SLACK * floats.epsilon / 2 * self.error


@dataclass(frozen=True)
class ExactRun:
    """A forward and a backward on Numbers.

    y: values of the outputs. tangents: of the parameters and float inputs by name, arrays of the world's objects.
    growth: ⟨dy, ẏ⟩. gradients: backward's values by name. seen_y, seen: the floats of outputs and gradients by name.
    ties: the comparisons of different numbers with equal floats.
    """

    y: list[Array]
    tangents: Gradients
    growth: Any
    gradients: Gradients
    seen_y: dict[str, Seen]
    seen: dict[str, Seen]
    ties: int

    @property
    def difference(self) -> Any:
        """⟨dy, ẏ⟩ − ⟨dx, ẋ⟩ − Σ ⟨dW, Ẇ⟩, which is 0 for a right backward."""
        return self.growth - sum(_inner(self.gradients[name], moved) for name, moved in self.tangents.items())

    def parting(self, floats: Floats) -> str:
        """Return a sentence for the first number of y that differs on floats beyond rounding, or ""."""
        return _first_apart(self.seen_y, dict(zip(names_of(floats.y), floats.y, strict=True)), floats)

    def backward_parting(self, floats: Floats) -> str:
        """Return the same for the gradients."""
        return _first_apart(self.seen, floats.gradients, floats, floats.factor)


def _first_apart(seen: dict[str, Seen], own: dict[str, Any], floats: Floats, factor: float = 1.0) -> str:
    for name, array in own.items():
        exact, room = seen[name].floats / factor, seen[name].room(floats) / abs(factor)
        apart = ~(np.abs(array - exact) <= room + np.finfo(array.dtype).tiny)
        if np.any(apart):
            at = tuple(map(int, np.argwhere(apart)[0]))
            return f"{placed(name, at)} is {array[at]:.9g} on your floats, and {exact[at]:.9g} on exact numbers"
    return ""


def run_on_numbers(world: Any, part: Case, dy: Outputs, *, backward: bool = True) -> ExactRun:
    """Run a layer once in this world. backward: False runs only forward.

    Raises: GradientError unless backward returns one gradient for each float input; the layer's errors on exact
    numbers.
    """
    with inhabited(world):
        values = part.made(unknowns_like)
        tangents = {name: part_of_numbers(value, TANGENT) for name, value in values.items()}
        with part.holding(values) as there, room_for_numbers(part.swaps):
            tape = Tape(copy_of(part.rng))
            y = there.forward(tape)
            ys = as_tuple(y)
            seen_y = {name: _seen(name, each) for name, each in zip(names_of(ys), ys, strict=True)}
            dys = tuple(unknowns_like(each) if np.ndim(each) else float(each) for each in dy)
            growth: Any = sum(
                _inner(part_of_numbers(d, VALUE), part_of_numbers(each, TANGENT))
                for d, each in zip(dys, ys, strict=True)
            )
            Number.keeps_tangents = False
            found = there.backward(y, dys, tape) if backward else {}
        seens = {name: _seen(f"the gradient of {name}", each) for name, each in found.items()}
        gradients = {name: part_of_numbers(each, VALUE) for name, each in found.items()}
        values_y = [part_of_numbers(each, VALUE) for each in ys]
        return ExactRun(values_y, tangents, growth, gradients, seen_y, seens, Number.ties)


def names_of(ys: Sequence[Any]) -> list[str]:
    """Return `y`, or `y[0]`, `y[1]`, …"""
    return ["y"] if len(ys) == 1 else [f"y[{position}]" for position in range(len(ys))]


def _seen(name: str, array: Any) -> Seen:
    """Return the floats of Numbers. Raises: NoRuleError for one that is not finite."""
    floats = np.asarray(seen(array))
    if not np.isfinite(floats).all():
        at = tuple(map(int, np.argwhere(~np.isfinite(floats))[0]))
        raise NoRuleError(f"{placed(name, at)} is {floats[at]}, which has no derivative")
    return Seen(floats, np.nan_to_num(np.asarray(part_of_numbers(array, ERROR), float), nan=0.0, posinf=0.0))


def _inner(a: Array, b: Array) -> Any:
    """Return Σ a b."""
    return (np.ravel(a) * np.ravel(b)).sum()


_one_at_a_time = threading.RLock()


@contextmanager
def inhabited(world: Any) -> Iterator[None]:
    """Within it, Numbers belong to this world. Other threads wait."""
    with _one_at_a_time:
        Number.world, Number.keeps_tangents, Number.ties, Number.constants = world, True, 0, {}
        yield
