"""The bridge: tests that the user's floats compute the proved formula.

`ExactRun.check_like` compares values. Two formulas may agree at one point, such as z² and 2z at 2. So here they are
also compared at a point beside it, and backward for several dy.
"""

import copy

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.exact.field import Field
from npbert.gradcheck.exact.run import run_on_numbers
from npbert.gradcheck.function import Floats, ScalarFunction
from npbert.gradcheck.inputs import magnitude
from npbert.gradcheck.report import GradientError, Gradients, PromiseError

_TRIED = (0.0, 1.0), (-(2.0**13), 0.0), (2.0**-13, 0.0), (0.0, 0.0)  # dy as a multiple of the given one, plus a number
_ROUGHLY = 0.4  # the power of epsilon that is the allowed relative error
_ASIDE, _NEAR = 1e-5, 1e-3  # the step away from a tie, and the allowed change of gradients, relative to the largest


def check_beside(function: ScalarFunction, floats: Floats) -> None:
    """Raise PromiseError if y on exact numbers differs from y on floats beside the point. The step is small, but larger
    than rounding."""
    step, field = function.random_step(0), Field(function.seed)
    for size in (floats.epsilon**0.25, floats.epsilon**0.5):  # the smaller one where a function is not defined beyond
        with function.moved(step, size) as there:
            y = there.outputs()
            if all(np.isfinite(part).all() for part in y):
                run = run_on_numbers(field, there, backward=False)
                return run.check_like(floats._replace(y=y))
    raise PromiseError("y is not finite beside your numbers")


def check_linear(function: ScalarFunction, floats: Floats) -> None:
    """Raise PromiseError unless backward maps a multiple of dy to the same multiple of the gradients, and a sum to the
    sum."""

    def gradients(times: float, plus: float) -> Gradients:
        """Return the gradients for times · dy + plus."""
        another = copy.copy(function)
        another.dy = tuple(times * dy + plus for dy in function.dy)
        try:
            return another.run_on_floats().gradients
        except GradientError as error:
            raise PromiseError(f"for another dy, {error}") from error

    rest, sizes = gradients(-1, 1), function.scales()
    for times, plus in _TRIED:
        found = gradients(times, plus)
        for name, gradient in floats.gradients.items():
            wanted = times * gradient + plus * (gradient + rest[name])
            scale = max(magnitude(wanted), magnitude(rest[name])) + sizes[name]
            if not (np.abs(found[name] - wanted) <= floats.epsilon**_ROUGHLY * scale).all():
                said = f"the gradient of {name} for {'a dy of 1' if plus else f'{times:g} dy'}"
                raise PromiseError(f"backward is not linear in dy: {said} does not follow from the others", said)


def is_right_on_both_sides(function: ScalarFunction, floats: Floats) -> bool:
    """True if backward is proved on both sides of a tie, and the gradients at the tie lie between those of the
    sides."""
    sides = []
    for sign in (1, -1):
        with function.moved(function.random_step(0), sign * _ASIDE) as side:
            there, field = side.run_on_floats(), Field(function.seed)
            run = run_on_numbers(field, side)
            run.check_like(there)
            if not run.holds or field.ties:
                return False
            sides.append(there.gradients)
    return all(_is_between(at, sides[0][name], sides[1][name]) for name, at in floats.gradients.items())


def _is_between(at: Array, one: Array, other: Array) -> bool:
    low, high = np.minimum(one, other), np.maximum(one, other)
    room = _NEAR * max(magnitude(low), magnitude(high))
    return bool(((low - room <= at) & (at <= high + room)).all())
