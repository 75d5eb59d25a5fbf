"""Runs a layer forward and backward on Numbers instead of floats, and bridges the gap between them.

The bridge tests that the user's floats compute the proved formula: `ExactRun.check_like` compares values. Two formulas
may agree at one point, such as z² and 2z at 2. So they are also compared at a point beside it, and backward for several
dy.
"""

import copy
import threading
from typing import Any, NamedTuple

import numpy as np

from npbert.gradcheck.exact.arrays import Components, components_of, seen, unknowns_like
from npbert.gradcheck.exact.field import Field, P
from npbert.gradcheck.exact.number import Number, World
from npbert.gradcheck.exact.number_modules import room_for_numbers
from npbert.gradcheck.function import ScalarFunction
from npbert.gradcheck.inputs import as_tuple, magnitude, mapped
from npbert.gradcheck.paths import listed
from npbert.gradcheck.report import GradientError, Gradients, PromiseError, compared, placed

_SMALLEST = np.finfo(np.float32).tiny
_SLACK = 4.0  # times the first-order bound on rounding
_TRIED = (0.0, 1.0), (-(2.0**13), 0.0), (2.0**-13, 0.0), (0.0, 0.0)  # dy as a multiple of the given one, plus a number
_ROUGHLY = 0.4  # the power of epsilon that is the allowed relative error
_NEAR = 1e-3  # the allowed change of gradients beside a tie, relative to the largest


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
        return self.growth - sum(
            np.sum(self.gradients[name].value * moved, dtype=object) for name, moved in self.tangents.items()
        )

    @property
    def holds(self) -> bool:
        """True if the equality holds in GF(P)."""
        return not self.difference % P

    def check_like(self, function: ScalarFunction, gradients: Gradients) -> None:
        """Raise PromiseError if a number of y, or of these gradients on floats, differs beyond rounding."""
        for parts, own in ((self.y, named("y", function.outputs())), (self.gradients, gradients)):
            exact = {name: each.seen for name, each in parts.items()}
            room = {name: _SLACK / 2 * function.epsilon * each.error + _SMALLEST for name, each in parts.items()}
            for each in compared("", own, exact, 0, doubts=room):
                if each.count:
                    values = f"{each.analytic:.9g} on your floats, and {each.numeric:.9g} on exact numbers"
                    raise PromiseError(f"the code takes another path on exact numbers: {each.place} is {values}")


_one_at_a_time = threading.RLock()


def run_on_numbers(world: World, function: ScalarFunction, *, backward: bool = True) -> ExactRun:
    """Run a layer once in this world, while other threads wait. backward: False runs only forward.

    Raises: GradientError unless backward returns one gradient for each float input; the layer's errors on exact
    numbers.
    """
    dy = function.dy  # in floats
    with _one_at_a_time:
        Number.world = world
        values = function.made(unknowns_like)
        tangents = mapped(lambda value: components_of(value).tangent, values)
        with function.unchanged(values), room_for_numbers(world, function.things):  # it copies a Batch in floats
            y, tape = function.forward()
            parts_y = {name: _finite(name, each) for name, each in named("y", y).items()}
            dys = tuple(unknowns_like(each) if np.ndim(each) else float(each) for each in dy)
            both = zip(dys, parts_y.values(), strict=True)
            growth = sum(np.sum(components_of(d).value * parts.tangent, dtype=object) for d, parts in both)
            world.is_forward = False
            found = function.backward(y, dys, tape) if backward else {}
        gradients = {name: _finite(f"the gradient of {name}", each) for name, each in found.items()}
        return ExactRun(parts_y, gradients, tangents, growth)


def named(name: str, y: Any) -> dict[str, Any]:
    """Return each part of a result that is not None by name: `y`, or `y[0]`, `y[1]`, …"""
    parts = as_tuple(y)
    return listed(parts[0] if len(parts) == 1 else parts, name)


def _finite(name: str, array: Any) -> Components:
    """Return the parts of Numbers; the error is 0 if its bound overflows. Raises: TypeError for a number that is not
    finite."""
    floats = seen(array)
    for at in map(tuple, np.argwhere(~np.isfinite(floats))):
        raise TypeError(f"{placed(name, at)} is {floats[at]}, which has no derivative")
    parts = components_of(array)
    return parts._replace(error=np.nan_to_num(parts.error, posinf=0.0))


def check_beside(function: ScalarFunction, sign: int = 1) -> tuple[bool, Gradients]:
    """Run beside the point. The step is small, but larger than rounding.

    Returns: whether backward is proved there, and its gradients. Raises: PromiseError if y or a gradient on exact
    numbers differs from that on floats."""
    for power in (0.25, 0.5):  # the smaller step where a function is not defined beyond
        with function.moved(function.random_step(0), sign * function.epsilon**power):
            gradients, field = function.gradients(), Field(function.seed)
            if all(np.isfinite(part).all() for part in function.outputs()):
                run = run_on_numbers(field, function)
                run.check_like(function, gradients)
                return run.holds and not field.ties, gradients
    raise PromiseError("y is not finite beside your numbers")


def check_linear(function: ScalarFunction, gradients: Gradients) -> None:
    """Raise PromiseError unless backward maps a multiple of dy to the same multiple of the gradients, and a sum to the
    sum."""

    def made(times: float, plus: float) -> Gradients:
        """Return the gradients for times · dy + plus."""
        another = copy.copy(function)
        another.dy = tuple(times * dy + plus for dy in function.dy)
        try:
            return another.gradients()
        except GradientError as error:
            raise PromiseError(f"for another dy, {error}") from error

    rest, sizes = made(-1, 1), function.scales()
    for times, plus in _TRIED:
        found = made(times, plus)
        for name, gradient in gradients.items():
            wanted = times * gradient + plus * (gradient + rest[name])
            scale = max(magnitude(wanted), magnitude(rest[name])) + sizes[name]
            if not (np.abs(found[name] - wanted) <= function.epsilon**_ROUGHLY * scale).all():
                said = f"the gradient of {name} for {'a dy of 1' if plus else f'{times:g} dy'}"
                raise PromiseError(f"backward is not linear in dy: {said} does not follow from the others", said)


def is_right_on_both_sides(function: ScalarFunction, gradients: Gradients) -> bool:
    """True if backward is proved on both sides of a tie, and the gradients at the tie lie between those of the
    sides."""
    (is_right, above), (is_right_below, below) = (check_beside(function, sign) for sign in (1, -1))
    for name, at in gradients.items():
        one, other = above[name], below[name]
        room = _NEAR * max(magnitude(one), magnitude(other))
        if not (np.abs(at - one) + np.abs(at - other) <= np.abs(one - other) + room).all():
            return False
    return is_right and is_right_below
