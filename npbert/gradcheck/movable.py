"""MovableLayer: a layer with variable parameters and float inputs, and the derivatives of its forward."""

import contextlib
import functools
import itertools
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import Tape, named_parts
from npbert.gradcheck.exact.bridge import spread
from npbert.gradcheck.exact.case import Case
from npbert.gradcheck.exact.digits import right_gradients
from npbert.gradcheck.forms import Form
from npbert.gradcheck.inputs import (
    as_tuple,
    attributes_kept,
    copied,
    names_of_inputs,
)
from npbert.gradcheck.report import FINITE_DIFFERENCES, IN_FLOAT32, GradientError, Gradients

_STREAM = 20220  # keeps dy apart from the caller's draws with the same seed, which would hide mistakes
_WITHIN, _BEYOND = 1e-10, 1e-5  # steps relative to x: within the rounding of float32, and beyond it


class MovableLayer(Case):
    """A layer with its inputs and a dy."""

    def __init__(self, layer: Any, inputs: Sequence[Any], rng: np.random.Generator | None, seed: int) -> None:
        super().__init__(layer, map(copied, inputs), rng)
        self._check_variables()
        drawn = np.random.default_rng([seed, _STREAM])
        y = self.outputs()
        if not all(np.isfinite(part).all() for part in y):
            raise GradientError("forward returns a number that is not finite, which has no derivative")
        self.dy = tuple(drawn.standard_normal(np.shape(part)) for part in y)
        self.inputs = list(map(copied, inputs))  # forward may have written into them

    def _check_variables(self) -> None:
        if not any(array.size for array in self.variables.values()):
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

    def named_inputs(self) -> list[tuple[str, Any]]:
        """Return all inputs by forward's names."""
        return list(zip(names_of_inputs(self.layer, len(self.inputs)), self.inputs, strict=True))

    @contextmanager
    def unchanged(self) -> Iterator[Gradients]:
        """Within it, values are copies, and gradients start at 0; afterwards the layer is restored. Gives the values by
        name, safe from changes by backward."""
        values = {name: parameter.value for name, parameter in self.parameters.items()}
        parts = dict(named_parts(self.layer)).values()
        with attributes_kept(*parts), self.made(np.copy):
            yield values

    def zero_grad(self) -> None:
        """Set every gradient to 0."""
        for parameter in self.parameters.values():
            parameter.zero_grad()

    def exact(self) -> Gradients:
        """Return ∂S/∂value for each number, right to the last digit of a float; {} if exact arithmetic has no rule."""
        try:
            return right_gradients(self, self.dy)
        except Exception:  # the code cannot run on exact numbers
            return {}

    @functools.cached_property
    def differences(self) -> str:
        """The method of finite differences: for float32 if the code casts to it, which shows as steps where float64 is
        smooth."""
        if not isinstance(self.layer, Form):
            return FINITE_DIFFERENCES

        def values(t: float) -> list[Array]:
            moved = [x * (1 + t) if p in self.float_inputs.values() else x for p, x in enumerate(self.inputs)]
            y = self.layer.forward(*moved, tape=(tape := Tape()))
            dy = self.dy if isinstance(y, tuple) else self.dy[0]
            return [*as_tuple(y), *self.layer.backward(dy, tape)]

        with contextlib.suppress(Exception):  # an error of the author's code
            for here, near, far in zip(values(0), values(_WITHIN), values(_BEYOND), strict=True):
                changes = here != far
                has_steps = changes.any() and np.mean((here == near)[changes]) > 1 / 2
                if has_steps and not self.exact():  # exact numbers allow no casts
                    return IN_FLOAT32
        return FINITE_DIFFERENCES

    def scales(self) -> dict[str, float]:
        """Return, for each array, the derivative that changes y by its own size."""
        size = sum(float(np.abs(dy * y).sum()) for dy, y in zip(self.dy, self.outputs(), strict=True))
        return {name: size / self.spread(name) for name in self.variables}

    def spread(self, name: str) -> float:
        """Return the spread of an array's numbers, or their size if all are equal: the scale of a step."""
        return spread(self.variables[name])

    @contextmanager
    def movable(self, dtype: Any) -> Iterator[Gradients]:
        """Give the variables by name as arrays to change, real or complex; afterwards the layer's own are restored."""
        inputs = self.inputs
        try:
            with (
                self.made(lambda array: array.astype(dtype)) as (self.inputs, variables),
                warnings.catch_warnings(),
            ):
                warnings.simplefilter("error", np.exceptions.ComplexWarning)
                yield variables
        except Exception as error:
            of_complex = isinstance(error, TypeError | np.exceptions.ComplexWarning) or isinstance(self.layer, Form)
            if dtype is np.float64 or not of_complex:
                raise
            wish = "write it without abs, var and the like, or leave the complex step out of `tolerances`"
            raise TypeError(f"complex numbers do not pass through forward ({error}); {wish}") from error
        finally:
            self.inputs = inputs

    def at(self, variables: Gradients, step: Gradients, t: complex) -> tuple[Array, ...]:
        """Return y with t · step added to the arrays named in `step`."""
        starts = {name: variables[name].copy() for name in step}
        for name, by in step.items():
            variables[name][...] += t * by
        y = self.outputs()
        for name, start in starts.items():
            variables[name][...] = start
        return y
