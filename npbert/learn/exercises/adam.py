"""Exercise 14: Adam and AdamW."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from npbert.core import Parameter
from npbert.gradcheck.explain import in_manner
from npbert.learn.blank import Blank, Numbers, in_one_row, returned
from npbert.optim import Adam, AdamW

SETTINGS: tuple[dict[str, Any], ...] = (
    {"lr": 0.07, "betas": (0.8, 0.95), "eps": 1e-2},
    {"lr": 0.13, "betas": (0.7, 0.9), "eps": 3e-2},
)
SHAPES = (((3, 5), (7,)), ((2, 11), (13,)))
SCALES = (0.5, 1.0, 0.3)
"""The scale of the gradients in each step."""
KINDS = {"matrix": ((3, 5), (1, 2), (6, 4)), "vector": ((7,), (1,), (50,))}
"""Shapes of parameters."""
FIRST, LATER = ("m", "v", "the count of steps"), ("the weight", "the bias")
UNCHANGED = ("the gradients after each step", "the count of values that are a new array")


def after_steps(optimizer: Any, seed: int, **options: float) -> Numbers:
    """Return m, v and t, the values of two parameters, and the numbers that step should not change, after each step:
    the first index is the step."""
    rng = np.random.default_rng(seed)
    weight, bias = parameters = [Parameter(rng.standard_normal(shape)) for shape in SHAPES[seed % 2]]
    arrays, settings = [parameter.value for parameter in parameters], SETTINGS[seed % 2] | options
    adam, steps = optimizer(parameters, **settings), list[tuple[Any, ...]]()
    for number, scale in enumerate(SCALES, start=1):
        for parameter in parameters:
            parameter.zero_grad()
            grad = rng.standard_normal(parameter.value.shape) * 10.0 ** rng.integers(-2, 2)
            parameter.add_grad(in_manner(grad, seed // 2))
        adam.lr = settings["lr"] / number**0.5
        adam.step(*([scale] if scale != 1 else []))
        first = in_one_row(adam.first_moments), in_one_row(adam.second_moments), float(adam.steps)
        new = sum(each.value is not array for each, array in zip(parameters, arrays, strict=True))
        gradients = in_one_row(parameter.grad for parameter in parameters)
        steps.append((*first, weight.value.copy(), bias.value.copy(), gradients, float(new)))
    names = *FIRST, *LATER, *UNCHANGED
    return {name: np.array(found) for name, found in zip(names, zip(*steps, strict=True), strict=True)}


def steps(optimizer: Any, seed: int) -> Iterator[Numbers]:
    """Return the numbers after steps that multiply a matrix by 0.9."""

    class Decaying(optimizer):  # type: ignore[misc]
        def kept(self, parameter: Parameter) -> float:
            return 0.9 if parameter.value.ndim > 1 else 1.0

    after = after_steps(Decaying, seed)
    yield {name: after[name] for name in FIRST}
    large = after_steps(optimizer, seed, lr=1e12, eps=1e12)  # a step is m̂, up to rounding
    yield {"the step with a large eps": large["the weight"]} | {name: after[name] for name in (*LATER, *UNCHANGED)}


def with_decay(optimizer: Any, seed: int) -> Iterator[Numbers]:
    """Return the results of kept, and the values after some steps with it."""
    decay, numbers = 0.3 + 0.1 * seed, Numbers()
    adam = optimizer([Parameter(np.ones(1))], weight_decay=decay, **SETTINGS[seed % 2])
    for what, shapes in KINDS.items():
        name = f"kept for a {what}"
        numbers[name] = in_one_row(returned(adam.kept(Parameter(np.ones(shape))), name) for shape in shapes)
    after = after_steps(optimizer, seed, weight_decay=decay)
    yield numbers | {name: after[name] for name in LATER}


STEP = Blank(right=Adam, method="step", without=("moments",), numbers=steps)
KEPT = Blank(right=AdamW, method="kept", numbers=with_decay)
