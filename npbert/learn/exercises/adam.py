"""Exercise 14: Adam and AdamW."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from npbert.core import Parameter
from npbert.gradcheck.explain import in_manner
from npbert.learn.blank import Blank, Numbers, in_one_row, returned
from npbert.optim import Adam, AdamW

SCALES = (0.5, 1.0, 0.3)
"""The scale of the gradients in each step."""
KINDS = {"matrix": ((3, 5), (1, 2), (6, 4)), "vector": ((7,), (1,), (50,))}
"""Shapes of parameters."""
OPTIONS = {"lr": 0.107, "betas": (0.73, 0.92), "eps": 0.018}


def after_steps(optimizer: Any, seed: int, **options: float) -> Numbers:
    """Return m, v and t, the values of two parameters, and the numbers that a step should not change, after the
    steps."""
    rng, odd = np.random.default_rng(seed), seed % 2
    weight, bias = parameters = [Parameter(rng.standard_normal(shape)) for shape in ((3 - odd, 5 + odd), (7 + odd,))]
    arrays = weight.value, bias.value
    adam = optimizer(parameters, **OPTIONS | options)
    lr = adam.lr
    for number, scale in enumerate(SCALES, start=1):
        for parameter in parameters:
            parameter.zero_grad()
            grad = rng.standard_normal(parameter.value.shape) * 10.0 ** rng.integers(-2, 2)
            parameter.add_grad(in_manner(grad, seed // 2))
        adam.lr = lr / number**0.5
        adam.step(*([scale] if scale != 1 else []))
    new = sum(each.value is not array for each, array in zip(parameters, arrays, strict=True))
    return {
        "m": in_one_row(adam.first_moments),
        "v": in_one_row(adam.second_moments),
        "the count of steps": np.array(float(adam.steps)),
        "the weight": weight.value,
        "the bias": bias.value,
        "the gradients after a step": in_one_row(parameter.grad for parameter in parameters),
        "the count of values that are a new array": np.array(float(new)),
    }


def steps(optimizer: Any, seed: int) -> Iterator[Numbers]:
    """Return the numbers after steps that multiply a matrix by 0.9."""

    class Decaying(optimizer):  # type: ignore[misc]
        def kept(self, parameter: Parameter) -> float:
            return 0.9 if parameter.value.ndim > 1 else 1.0

    after = after_steps(Decaying, seed)
    yield {name: after.pop(name) for name in ("m", "v", "the count of steps")}
    large = after_steps(optimizer, seed, lr=1e12, eps=1e12)  # a step is m̂, up to rounding
    yield {"the step with a large eps": large["the weight"]} | after


def decays(optimizer: Any, seed: int) -> Iterator[Numbers]:
    """Return the results of kept after a change of lr, and the values, which it should not change."""
    adam = optimizer([Parameter(np.ones(1))], weight_decay=0.3 + 0.1 * seed, **OPTIONS)
    adam.lr *= 0.7
    numbers = Numbers()
    for what, shapes in KINDS.items():
        name, parameters = f"kept for a {what}", [Parameter(np.ones(shape)) for shape in shapes]
        numbers[name] = in_one_row(returned(adam.kept(parameter), name) for parameter in parameters)
        numbers[f"the value of a {what}"] = in_one_row(parameter.value for parameter in parameters)
    yield numbers


STEP = Blank(right=Adam, method="step", without=("moments",), numbers=steps)
KEPT = Blank(right=AdamW, method="kept", numbers=decays)
