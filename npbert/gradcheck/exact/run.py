"""Runs a layer forward and backward on Numbers instead of floats."""

import copy
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.core import Tape
from npbert.gradcheck.exact.arrays import Components, components_of, seen, unknowns_like
from npbert.gradcheck.exact.field import P
from npbert.gradcheck.exact.number import NoRuleError, Number, World
from npbert.gradcheck.exact.number_modules import room_for_numbers
from npbert.gradcheck.function import Floats, ScalarFunction
from npbert.gradcheck.inputs import as_tuple
from npbert.gradcheck.report import Gradients, PromiseError, compared, largest_at, placed

_SMALLEST = np.finfo(np.float32).tiny
_SLACK = 4.0  # times the first-order bound on rounding


class ExactRun(NamedTuple):
    """A forward and a backward on Numbers.

    y, gradients: by name. tangents: of the parameters and float inputs by name. growth: ⟨dy, ẏ⟩.
    """

    y: dict[str, Components]
    gradients: dict[str, Components]
    tangents: Gradients
    growth: Any

    @property
    def difference(self) -> Any:
        """⟨dy, ẏ⟩ − ⟨dx, ẋ⟩ − Σ ⟨dW, Ẇ⟩, which is 0 for a right backward."""
        return self.growth - sum(_inner(self.gradients[name].value, moved) for name, moved in self.tangents.items())

    @property
    def holds(self) -> bool:
        """True if the equality holds in GF(P)."""
        return bool(self.difference % P == 0)

    def check_like(self, floats: Floats) -> None:
        """Raise PromiseError if a number of y, or of a gradient, differs on floats beyond rounding."""
        for parts, own in ((self.y, named(floats.y)), (self.gradients, floats.gradients)):
            exact = {name: each.seen for name, each in parts.items()}
            room = {name: _SLACK / 2 * floats.epsilon * each.error + _SMALLEST for name, each in parts.items()}
            for each in compared("", own, exact, 0, doubts=room):
                if each.count:
                    values = f"{each.analytic:.9g} on your floats, and {each.numeric:.9g} on exact numbers"
                    raise PromiseError(f"the code takes another path on exact numbers: {each.place} is {values}")


def run_on_numbers(world: World, function: ScalarFunction, *, backward: bool = True) -> ExactRun:
    """Run a layer once in this world. backward: False runs only forward.

    Raises: GradientError unless backward returns one gradient for each float input; the layer's errors on exact
    numbers.
    """
    dy = function.dy  # in floats
    with inhabited(world):
        values = function.made(unknowns_like)
        tangents = {name: components_of(value).tangent for name, value in values.items()}
        with function.holding(values) as there, room_for_numbers(function.things):
            tape = Tape(copy.deepcopy(function.rng))
            y = there.forward(tape)
            ys = as_tuple(y)
            parts_y = {name: _finite(name, each) for name, each in named(ys).items()}
            dys = tuple(unknowns_like(each) if np.ndim(each) else float(each) for each in dy)
            both = zip(dys, parts_y.values(), strict=True)
            growth: Any = sum(_inner(components_of(d).value, parts.tangent) for d, parts in both)
            world.is_forward = False
            found = there.backward(y, dys, tape) if backward else {}
        gradients = {name: _finite(f"the gradient of {name}", each) for name, each in found.items()}
        return ExactRun(parts_y, gradients, tangents, growth)


def named(ys: Sequence[Any]) -> dict[str, Any]:
    """Return each output by name: `y`, or `y[0]`, `y[1]`, …"""
    return {"y": ys[0]} if len(ys) == 1 else {f"y[{position}]": y for position, y in enumerate(ys)}


def _finite(name: str, array: Any) -> Components:
    """Return the parts of Numbers; the error is 0 if its bound overflows. Raises: NoRuleError for a number that is not
    finite."""
    floats = seen(array)
    if not np.isfinite(floats).all():
        at = largest_at(~np.isfinite(floats))
        raise NoRuleError(f"{placed(name, at)} is {floats[at]}, which has no derivative")
    parts = components_of(array)
    return parts._replace(error=np.nan_to_num(parts.error, nan=0.0, posinf=0.0))


def _inner(a: Array, b: Array) -> Any:
    """Return Σ a b."""
    return np.ravel(a) @ np.ravel(b)


_one_at_a_time = threading.RLock()


@contextmanager
def inhabited(world: World) -> Iterator[None]:
    """Within it, Numbers belong to this world. Other threads wait."""
    with _one_at_a_time:
        Number.world = world
        yield
