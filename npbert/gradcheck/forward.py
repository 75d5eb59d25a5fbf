"""Checks of a forward: it is written, agrees with a reference, and does not overflow."""

import contextlib
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from npbert.gradcheck.exact.digits import decimals
from npbert.gradcheck.exact.run import named
from npbert.gradcheck.forms import Form, plain
from npbert.gradcheck.function import ScalarFunction
from npbert.gradcheck.inputs import Function, as_tuple, is_float_array, magnitude, mapped
from npbert.gradcheck.report import GradientError, largest_at, placed

_SAME = 1e-9  # relative to the largest number of y
_SIZES, _BEYOND = (8.0, 80.0, 800.0), 1e6  # e^800 overflows, and e^80 does not
_FAR, _LOST = 1e8, 0.1  # its square has no digits left for numbers of size 1; an error without a right digit


def check_written(which: str, returned: Any) -> None:
    """Raise GradientError for an unfilled template, which returns only None."""
    if not as_tuple([*returned.values()] if isinstance(returned, dict) else returned):
        raise GradientError(f"{which} returns None: it is not written yet, or lacks a `return`")


def check_moves(form: Form, inputs: Sequence[Any]) -> None:
    """Raise GradientError for a template that returns 0 for every input."""
    drawn = np.random.default_rng(0)
    for size in (0, 1, 10, 100):
        moved = [
            value + size * drawn.standard_normal(value.shape) if is_float_array(value) else value for value in inputs
        ]
        if any(map(np.any, as_tuple(form.forward(*moved)))):
            return
    raise GradientError("forward returns 0 for every input: it is not written yet")


def check_reference(function: ScalarFunction, given: Sequence[Any], reference: Function) -> None:
    """Raise GradientError if y differs from the reference for the same inputs."""
    ys = function.layer.forward(*function.inputs.values()), reference(*given)
    theirs, wanted = (named("y", mapped(plain, y)) for y in ys)
    for name, right in wanted.items():
        y = theirs[name]
        if y.shape != right.shape:
            raise GradientError(f"forward returns {name} of shape {y.shape}, but the reference {right.shape}")
        errors = np.abs(y - right)
        if not (errors <= _SAME * max(1.0, magnitude(right))).all():
            at = largest_at(errors)
            values = f"{placed(name, at)} is {y[at]:.9g}, but the reference has {right[at]:.9g}"
            raise GradientError(f"forward is wrong: {values}")


@np.errstate(all="ignore")
def unsteady(function: ScalarFunction) -> str:
    """Return a sentence if forward overflows for a large input without need, or loses all digits of y for an input far
    from 0, as a variance E[x²] − E[x]² does; or "". Only a Form is tried."""

    def moved(name: str, value: Any) -> ScalarFunction:
        return ScalarFunction(function.layer, (function.inputs | {name: value}).values(), None, 0)

    for name in [*function.inputs][: function.layer.given] if function.is_form else ():
        value = function.inputs[name]
        if is_float_array(value) and 0 < magnitude(value) < np.inf:
            for unit in np.stack([value, -value]) / magnitude(value):
                sizes = [_largest(moved(name, size * unit)) for size in _SIZES]
                if any(less < _BEYOND and not np.isfinite(more) for less, more in itertools.pairwise(sizes)):
                    return f"Forward returns NaN or ∞ if {name} is as large as 800: exp overflows, or log gets 0."
            if _loses_digits(moved(name, value + _FAR)):
                return f"Forward loses all digits if {name} is near 10⁸: close numbers are subtracted."
    return ""


def _loses_digits(function: ScalarFunction) -> bool:
    """True if y in floats differs from y with many digits; False if forward refuses exact numbers."""
    with contextlib.suppress(Exception):  # the author's own, for such numbers
        run, _ = decimals(function, backward=False)
        for y in run.y.values():
            right = y.value.astype(float)
            if magnitude(y.seen - right) > _LOST * magnitude(right):
                return True
    return False


def _largest(function: ScalarFunction) -> float:
    """Return the largest number of y; 0 if forward raises."""
    with contextlib.suppress(Exception):  # the author's code may fail for such numbers
        return float(np.max([magnitude(y) for y in function.outputs()]))
    return 0.0
