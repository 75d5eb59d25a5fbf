"""ScalarFunction: a layer as one scalar function of all its numbers."""

import contextlib
import itertools
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import named_parts
from npbert.gradcheck.exact.case import Case
from npbert.gradcheck.exact.witness import right_gradients
from npbert.gradcheck.forms import Form
from npbert.gradcheck.inputs import Rng, copied
from npbert.gradcheck.report import GradientError, Gradients
from npbert.gradcheck.restoring import restored

FLOAT64, FLOAT32 = 2.0**-52, 2.0**-23
_WITHIN, _BEYOND = 1e-10, 1e-5  # steps relative to x: within the rounding of float32, and beyond it


class ScalarFunction(Case):
    """S = Σ dy · y as a function of the parameters and the float inputs of a layer.

    dy: random, by seed.
    """

    def __init__(self, layer: Any, inputs: Sequence[Any], rng: Rng, seed: int) -> None:
        super().__init__(layer, map(copied, inputs), rng)
        self._check_variables()
        for part in self.outputs():
            if part.dtype != np.float64:
                raise GradientError(f"forward turns float64 into {part.dtype}")
            if not np.isfinite(part).all():
                raise GradientError("forward returns a number that is not finite, which has no derivative")
        self.dy = self.drawn_dy(seed)

    def _check_variables(self) -> None:
        if not self.size:
            raise ValueError("nothing to check: the layer has no parameters, and no input is a float array")
        for name, array in self.variables.items():
            if array.dtype != np.float64:
                raise TypeError(
                    f"{name} is {array.dtype}, wanted float64; use Init(rng, dtype=np.float64) and float64 inputs"
                )
            if not np.isfinite(array).all():
                raise ValueError(f"{name} has a number that is not finite, which has no derivative")
        for (name, one), (other_name, other) in itertools.combinations(self.parameters.items(), 2):
            if np.may_share_memory(one.value, other.value):
                raise GradientError(
                    f"{name} and {other_name} share memory; tie weights with one Parameter in both places"
                )

    @contextlib.contextmanager
    def unchanged(self) -> Iterator[None]:
        """Within it, values are copies, and gradients start at 0; afterwards the layer is restored."""
        parts = [part for _, part in named_parts(self.layer)]
        with restored(parts), self.holding(self.made(np.copy)):
            yield

    @cached_property
    def exact(self) -> Gradients:
        """∂S/∂value of each number, right to the last digit of a float; {} if exact arithmetic has no rule."""
        try:
            return right_gradients(self, self.dy)
        except Exception:  # the code cannot run on exact numbers
            return {}

    @cached_property
    def epsilon(self) -> float:
        """The epsilon of the code's floats: that of float32 if it casts to them, which shows as steps where float64 is
        smooth. (Exact numbers allow no casts.)"""

        def values(t: float) -> list[Array]:
            with self.moved(self.variables, t) as there:
                floats = there.run_on_floats(self.dy)
            return [*floats.y, *floats.gradients.values()]

        if isinstance(self.layer, Form):
            with contextlib.suppress(Exception):  # an error of the author's code
                for here, near, far in zip(values(0), values(_WITHIN), values(_BEYOND), strict=True):
                    changes = here != far
                    if changes.any() and np.mean((here == near)[changes]) > 1 / 2 and not self.exact:
                        return FLOAT32
        return FLOAT64
