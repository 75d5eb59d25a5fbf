"""Exercise 14: Adam and AdamW."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import Parameter
from npbert.gradcheck.explain import in_manner
from npbert.learn.exercise import Numbers, Part, returned
from npbert.optim import Adam, AdamW

COUNT, LARGE = "the count of steps", "the step with a large eps"
GRADIENTS, NEW = "the gradients after each step", "the count of values that are a new array"
SETTINGS: tuple[dict[str, Any], ...] = (
    {"lr": 0.07, "betas": (0.8, 0.95), "eps": 1e-2},
    {"lr": 0.13, "betas": (0.7, 0.9), "eps": 3e-2},
)
SHAPES = (((3, 5), (7,)), ((2, 11), (13,)))
SCALES = (0.5, 1.0, 0.3)
"""The scale of the gradients in each step."""
VALUES = ("the weight", "the bias")
MATRICES, VECTORS = ((3, 5), (1, 2), (6, 4)), ((7,), (1,), (50,))


def after_steps(optimizer: Any, seed: int, **options: float) -> Numbers:
    """Return m, v and t, the values of two parameters, and the numbers that step should not change, after each step:
    the first index is the step."""
    rng = np.random.default_rng(seed)
    parameters = [Parameter(rng.standard_normal(shape)) for shape in SHAPES[seed % 2]]
    arrays, settings = [parameter.value for parameter in parameters], SETTINGS[seed % 2] | options
    adam = optimizer(parameters, **settings)
    after: dict[str, list[Any]] = {name: [] for name in ("m", "v", COUNT, *VALUES, GRADIENTS, NEW)}
    for number, scale in enumerate(SCALES, start=1):
        for parameter in parameters:
            parameter.zero_grad()
            grad = rng.standard_normal(parameter.value.shape) * 10.0 ** rng.integers(-2, 2)
            parameter.add_grad(in_manner(grad, seed // 2))
        adam.lr = settings["lr"] / number**0.5
        adam.step(*([scale] if scale != 1 else []))
        for name, moments in (("m", adam.first_moments), ("v", adam.second_moments)):
            after[name].append(in_one_row(moments))
        after[COUNT].append(float(adam.steps))
        for name, parameter in zip(VALUES, parameters, strict=True):
            after[name].append(parameter.value.copy())
        after[GRADIENTS].append(in_one_row([parameter.grad for parameter in parameters]))
        is_new = [parameter.value is not array for parameter, array in zip(parameters, arrays, strict=True)]
        after[NEW].append(float(sum(is_new)))
    return {name: np.array(found) for name, found in after.items()}


def in_one_row(arrays: Iterable[Any]) -> Array:
    """Return all their numbers in one array."""
    return np.concatenate([np.ravel(array) for array in arrays])


def steps(optimizer: Any, seed: int) -> Iterator[Numbers]:
    """Return the numbers after steps that multiply a matrix by 0.9."""

    class Decaying(optimizer):  # type: ignore[misc]
        def kept(self, parameter: Parameter) -> float:
            return 0.9 if parameter.value.ndim > 1 else 1.0

    after = after_steps(Decaying, seed)
    yield {name: after[name] for name in ("m", "v", COUNT)}
    large = after_steps(optimizer, seed, lr=1e12, eps=1e12)  # a step is m̂, up to rounding
    yield {LARGE: large["the weight"]} | {name: after[name] for name in (*VALUES, GRADIENTS, NEW)}


def with_decay(optimizer: Any, seed: int) -> Iterator[Numbers]:
    """Return the results of kept, and the values after some steps with it."""
    decay = 0.3 + 0.1 * seed
    adam, numbers = optimizer([Parameter(np.ones(1))], weight_decay=decay, **SETTINGS[seed % 2]), {}
    for what, shapes in (("matrix", MATRICES), ("vector", VECTORS)):
        kept = [returned(adam.kept(Parameter(np.ones(shape))), f"kept for a {what}") for shape in shapes]
        numbers[f"kept for a {what}"] = in_one_row(kept)
    after = after_steps(optimizer, seed, weight_decay=decay)
    yield numbers | {name: after[name] for name in VALUES}


STEP = Part(right=Adam, method="step", without=("moments",), numbers=steps)
KEPT = Part(right=AdamW, method="kept", numbers=with_decay)
