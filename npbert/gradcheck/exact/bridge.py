"""The bridge: tests that the user's floats compute the proved formula.

`ExactRun.check_like` compares values. Two formulas may agree at one point, such as z² and 2z at 2. So here they are
also compared at a point beside it, and backward for several dy.
"""

import copy

import numpy as np

from npbert.gradcheck.exact.field import Field
from npbert.gradcheck.exact.run import run_on_numbers
from npbert.gradcheck.function import Floats, ScalarFunction
from npbert.gradcheck.inputs import magnitude
from npbert.gradcheck.report import GradientError, Gradients, PromiseError

_TRIED = (0.0, 1.0), (-(2.0**13), 0.0), (2.0**-13, 0.0), (0.0, 0.0)  # dy as a multiple of the given one, plus a number
_ROUGHLY = 0.4  # the power of epsilon that is the allowed relative error
_NEAR = 1e-3  # the allowed change of gradients beside a tie, relative to the largest


def check_beside(function: ScalarFunction, epsilon: float, sign: int = 1) -> tuple[bool, Gradients]:
    """Run beside the point. The step is small, but larger than rounding: epsilon is that of the floats.

    Returns: whether backward is proved there, and its gradients. Raises: PromiseError if y or a gradient on exact
    numbers differs from that on floats."""
    for size in (epsilon**0.25, epsilon**0.5):  # the smaller one where a function is not defined beyond
        with function.moved(function.random_step(0), sign * size) as there:
            floats, field = there.run_on_floats(), Field(function.seed)
            if all(np.isfinite(part).all() for part in floats.y):
                run = run_on_numbers(field, there)
                run.check_like(floats)
                return run.holds and not field.ties, floats.gradients
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
    (is_right, above), (is_right_below, below) = (check_beside(function, floats.epsilon, sign) for sign in (1, -1))
    for name, at in floats.gradients.items():
        one, other = above[name], below[name]
        room = _NEAR * max(magnitude(one), magnitude(other))
        if not (np.abs(at - one) + np.abs(at - other) <= np.abs(one - other) + room).all():
            return False
    return is_right and is_right_below
