"""Known: right numbers of a backward without a right code: those of forward, and the gradient of each of its values.

So the first line of backward with other numbers can be told, in code of any form. Forward runs with each value moved
along random directions; an array of backward is the gradient of a value if it has its slopes.
"""

import ast
import contextlib
from collections import Counter, defaultdict
from collections.abc import Sequence
from types import FunctionType
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.explain.code import Code
from npbert.gradcheck.explain.places import CodePlace, places_in
from npbert.gradcheck.explain.trace import Trace, watched
from npbert.gradcheck.explain.trial import Failed, Sample, Trial
from npbert.gradcheck.function import ScalarFunction
from npbert.gradcheck.inputs import Function

_TINY = 1e-30  # the complex step
_DIRECTIONS = 2
_SAME = 1e-9


class Known(Trace):
    """The numbers of the functions of forward on a sample of the layer as it is, and their gradients, as far as complex
    numbers pass through forward. backward: functions whose numbers are those of forward only if y depends on them"""

    def __init__(
        self,
        function: ScalarFunction,
        sample: Sample,
        forward: Sequence[FunctionType],
        backward: Sequence[FunctionType],
    ) -> None:
        values: list[Any] = [*function.inputs.values(), *function.dy]
        self._slopes = defaultdict[int, list[Array]](list)  # of each value, by its size
        for each in forward:
            code, trial = Code.of(each), Trial(each, [sample])
            seen = watched(trial, code, places_in(code), 0)
            times = Counter((place, call) for place, _, call in seen)
            for place, value, call in seen:
                is_used = each not in backward
                if place.is_float and not (place.is_target or place.hidden) and times[place, call] == 1:
                    hooked, size = code.hooked(place.expr), np.size(value)
                    slopes = [_slope(function, sample, trial, hooked, call, by) for by in _directions(size)]
                    if any(slopes):
                        is_used = True
                        self._slopes[size].append(np.array(slopes))
                if is_used:
                    values.append(value)
        anywhere = CodePlace(None, ast.Pass())
        super().__init__([(anywhere, value, 0) for value in values])

    @property
    def has_gradients(self) -> bool:
        """False if complex numbers do not pass through forward."""
        return bool(self._slopes)

    def names_of(self, array: Array, *others: Array, call: int = 0) -> set[str]:
        """Return {""} for numbers of forward, and for a gradient of them; otherwise none."""
        return {""} if super().names_of(array, *others, call=call) or self._is_gradient(array) else set()

    def _is_gradient(self, array: Array) -> bool:
        slopes, largest = _directions(array.size) @ array.ravel(), _SAME * np.linalg.norm(array)
        return any(np.allclose(slopes, of_value, rtol=0, atol=largest) for of_value in self._slopes.get(array.size, ()))


def _directions(size: int) -> Array:
    return np.random.default_rng(0).standard_normal((_DIRECTIONS, size))


def _slope(function: ScalarFunction, sample: Sample, trial: Trial, hooked: Code, call: int, by: Array) -> float:
    """Return the slope of S for a value of this call along a direction, by the complex step; 0 if forward raises."""

    def moved(_: Any, computed: Function) -> Any:
        value = computed()
        return value + 1j * _TINY * by.reshape(np.shape(value)) if trial.calls == call else value

    with contextlib.suppress(Exception, Failed), trial.calling(trial.compiled(hooked, moved)):  # the author's
        ys = next(iter(sample.run())).values()
        dys = function.dy if getattr(function.layer, "takes_dy", True) else (1.0,)
        return float(sum(np.sum(dy * y.imag) for dy, y in zip(dys, ys, strict=True)) / _TINY)
    return 0.0
