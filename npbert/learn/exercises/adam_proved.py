"""Exercise 14: what is still asked of an optimiser whose values are right."""

from __future__ import annotations

from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import Parameter
from npbert.learn.exercise import Finding
from npbert.optim import Adam

NEW_ARRAY = Finding(
    "The numbers are right, but parameter.value is a new array: a value changes in place.",
    "Others may hold the array: on several processes the values of all parameters lie in one row, of which each "
    "parameter.value is a part, and a new array is no part of it any more. So it is parameter.value -= …, or "
    "parameter.value[...] = …, and not parameter.value = ….",
)
CLEARED = Finding(
    "The values are right, but step clears the gradients, and should leave them as they are.",
    "zero_grad is called by whoever trains, before the next backward; until then the gradients may be looked at.",
)
CHANGED = Finding(
    "The values are right, but step changes the gradients, and should leave them as they are.",
    "`g = parameter.grad` is the gradient itself, and `g *= scale` changes it; parameter.grad * scale is a new array.",
)


_FOUND = "They are saved with a run, by these names, so that one can go on with them."
SWAPPED = Finding("The values are right, but m is kept in self.second_moments, and v in self.first_moments.", _FOUND)
ELSEWHERE = Finding(
    "The values are right, but what is in self.first_moments and self.second_moments is not m and v.", _FOUND
)


def prove_optimizer(thing: Any, **options: Any) -> Finding | None:
    """Whether values change in place, gradients stay, and steps are counted."""
    rng = np.random.default_rng(0)
    parameters = [Parameter(rng.standard_normal(shape)) for shape in ((3, 5), (7,))]
    for parameter in parameters:
        parameter.add_grad(rng.standard_normal(parameter.value.shape))
    arrays, gradients = [p.value for p in parameters], [p.grad.copy() for p in parameters]
    optimizer = thing(parameters, **options)
    other = Adam([Parameter(p.value.copy()) for p in parameters], lr=optimizer.lr, betas=optimizer.betas)
    for copy, p in zip(other.parameters, parameters, strict=True):
        copy.add_grad(p.grad.copy())
    optimizer.step(0.5)
    other.step(0.5)
    if any(p.value is not array for p, array in zip(parameters, arrays, strict=True)):
        return NEW_ARRAY
    if any(not np.array_equal(p.grad, old) for p, old in zip(parameters, gradients, strict=True)):
        return CHANGED if any(p.grad.any() for p in parameters) else CLEARED
    if optimizer.steps != 1:
        return Finding(
            f"The values are right, but after one step self.steps is {optimizer.steps}, and should be 1.",
            "It counts the steps that are done: it is saved with a run, so that one can go on with the right t.",
        )
    return _wrong_places(optimizer, other)


def _wrong_places(own: Any, right: Any) -> Finding | None:
    """Whether m and v are where they should be, and where a run that goes on will look for them."""
    m, v = right.first_moments[0], right.second_moments[0]
    if _is(own.first_moments, m) and _is(own.second_moments, v):
        return None
    return SWAPPED if _is(own.first_moments, v) and _is(own.second_moments, m) else ELSEWHERE


def _is(moments: Any, of: Array) -> bool:
    return np.shape(moments[0]) == of.shape and bool(np.allclose(moments[0], of, rtol=1e-7))
