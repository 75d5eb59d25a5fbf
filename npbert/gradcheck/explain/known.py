"""known_numbers: right numbers of a backward without a right code: those of forward, and the gradient of each.

So the first line of backward with other numbers can be told, in code of any form.
"""

import ast
import contextlib
from collections import Counter
from collections.abc import Sequence
from types import FunctionType
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.explain.code import Code
from npbert.gradcheck.explain.places import CodePlace, is_float, places_in
from npbert.gradcheck.explain.trace import Trace, watched
from npbert.gradcheck.explain.trial import Sample, Trial
from npbert.gradcheck.function import ScalarFunction
from npbert.gradcheck.inputs import Function
from npbert.gradcheck.replacing import in_place_of

_TINY = 1e-30  # the complex step
_MOST_RUNS = 3000  # of forward: one for each number


def known_numbers(function: ScalarFunction, sample: Sample, forward: Sequence[FunctionType]) -> Trace:
    """Return dy, the inputs, the numbers of the functions of forward, and the gradients of what they compute, as far as
    complex numbers pass through them. sample: of the layer as it is."""
    values, left = [*function.inputs.values(), *function.dy], _MOST_RUNS
    for each in forward:
        code, trial = Code.of(each), Trial(each, [sample])
        seen = watched(trial, code, places_in(code), 0)
        times = Counter((place, call) for place, _, call in seen)
        for place, value, call in seen:
            values.append(value)
            is_computed = place.is_whole and not (place.is_name or place.is_target or place.hidden)
            if is_computed and is_float(value) and times[place, call] == 1 and np.size(value) <= left:
                left -= np.size(value)
                hooked = code.hooked(place.expr)
                slopes = [_slope(function, sample, trial, hooked, call, at) for at in np.ndindex(np.shape(value))]
                values.append(np.reshape(slopes, np.shape(value)))
    anywhere = CodePlace(None, ast.Pass())
    return Trace([(anywhere, value, 0) for value in values])


def _slope(
    function: ScalarFunction, sample: Sample, trial: Trial, hooked: Code, call: int, at: tuple[int, ...]
) -> float:
    """Return the derivative of S by one number of a value, by the complex step; 0 if forward takes no complex
    numbers."""

    def moved(_: Any, computed: Function) -> Any:
        value: Array = computed()
        if trial.calls == call:
            value = np.array(value, complex)
            value[at] += 1j * _TINY
        return value

    trial.calls = 0
    with in_place_of(trial.function, trial.compiled(hooked, moved)), contextlib.suppress(Exception):  # of the author's
        ys = next(iter(sample.run())).values()
        return float(sum(np.sum(dy * y.imag) for dy, y in zip(function.dy, ys, strict=True)) / _TINY)
    return 0.0
