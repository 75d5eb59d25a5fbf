"""Exercise 14: Adam and AdamW."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import Parameter
from npbert.gradcheck.explain import in_manner
from npbert.learn.exercise import CHAPTERS, Exercise, Numbers, Part, returned
from npbert.optim import Adam, AdamW

TEXT = """
Backward has found the gradients; the optimizer takes the step. Adam remembers two things for each number: m, the mean
of its recent gradients, and v, the mean of their squares. A step is m̂ / (√v̂ + eps), times lr: large gradients and
small ones take steps of about the same size.

m and v start as 0, so they are far too small at first: after one step, m is (1 − β₁) g. Dividing by 1 − β₁ᵗ corrects
that: after one step, m̂ is g. AdamW also shrinks the weights a little in each step.
"""
ASKED_FOR_STEP = """
Change the value of each parameter, in place, by the formulas of the class. t counts steps from 1.

Each parameter has a value and a grad, an m in self.first_moments and a v in self.second_moments. You have
self.lr, self.betas, self.eps and self.steps. scale: g is the gradient times scale; the gradient itself stays
unchanged.

Before its step, each value is multiplied by self.kept(parameter), which is 1 here, and less in AdamW.
"""
ASKED_FOR_KEPT = """
The factor for a value before its step: 1 − lr · λ for a matrix, and 1 for all else.

λ is self.weight_decay. parameter.value.ndim is the number of axes: biases, γ and β have one.
"""
HINTS = """
Begin with self.steps += 1: that is t. Then for each parameter with its m and v: g is parameter.grad * scale.

m[...] = β₁ m + (1 − β₁) g and v[...] = β₂ v + (1 − β₂) g², in place, so that they last. Then m̂ = m / (1 − β₁ᵗ) and v̂
= v / (1 − β₂ᵗ), in new arrays.

parameter.value *= self.kept(parameter), then parameter.value -= lr * m̂ / (np.sqrt(v̂) + eps). In AdamW:
1 - self.lr * self.weight_decay if parameter.value.ndim > 1 else 1.0.
"""
PLAIN = """
def step(self, scale=1.0):
    self.steps += 1
    beta1, beta2 = self.betas
    for parameter, m, v in zip(self.parameters, self.first_moments, self.second_moments):
        g = parameter.grad * scale
        new1 = 1 - beta1
        new2 = 1 - beta2
        m[...] = (1 - new1) * m + new1 * g
        v[...] = (1 - new2) * v + new2 * g**2
        m_hat = m / (1 - beta1**self.steps)
        v_hat = v / (1 - beta2**self.steps)
        root = np.sqrt(v_hat)
        step = m_hat / (root + self.eps)
        kept = self.kept(parameter)
        parameter.value *= kept
        parameter.value -= self.lr * step
"""
KEPT_PLAIN = """
def kept(self, parameter):
    decay = self.lr * self.weight_decay
    if parameter.value.ndim > 1:
        return 1 - decay
    return 1.0
"""
MEAN = (
    "the weights of the new number and of the old mean add up to 1, and it changes in place, to last from step to step"
)
STEP = """
First a value is multiplied by self.kept(parameter). Then it moves downhill, by the formula of the class. v starts as 0
and is too small at first, as m is, so both are corrected.
""".strip().replace("\n", " ")
COUNT, LARGE = "the count of steps", "the step with a large eps"
GRADIENTS, NEW = "the gradients after each step", "the count of values that are a new array"
REASONS = {
    "m": f"m is the mean of recent g, and g is the gradient times scale. It is a mean with β₁: {MEAN}, in "
    "self.first_moments.",
    "v": f"v is the mean of recent g², and g is the gradient times scale. It is a mean with β₂: {MEAN}, in "
    "self.second_moments.",
    COUNT: "self.steps is t, the number of this step: the same for all parameters, and 1 in the first.",
    LARGE: "With very large eps and lr, a step is m̂ itself. m starts as 0 and is too small at first; m̂ corrects "
    "that, with t, which is self.steps.",
    "the bias, the weight": STEP,
    GRADIENTS: "step does not change the gradients: the training loop may read them until it calls zero_grad, before "
    "the next backward. `g = parameter.grad` is the gradient itself, and `g *= scale` changes it; "
    "parameter.grad * scale is a new array.",
    NEW: "A value changes in place: parameter.value -= …, or parameter.value[...] = …, and not parameter.value = …. "
    "Other code may hold the array. With several processes, all values are in one long array, each "
    "parameter.value is a part of it, and a new array is not.",
    f"the bias, {LARGE}, the weight": STEP,
}
KEPT_REASONS = {
    "kept for a matrix": "lr · λ is the share of a value that each step removes, and kept is the rest. As the steps "
    "become smaller towards the end, so does the decay.",
    "kept for a vector": "Decay keeps the weights of products small. Biases, γ and β, which have one axis, keep their "
    "size.",
}
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


PARTS = (
    Part(
        right=Adam,
        method="step",
        asked=ASKED_FOR_STEP,
        without=("moments",),
        run=steps,
        plain=PLAIN,
        reasons=REASONS,
    ),
    Part(right=AdamW, method="kept", asked=ASKED_FOR_KEPT, run=with_decay, plain=KEPT_PLAIN, reasons=KEPT_REASONS),
)
EXERCISE = Exercise("Adam and AdamW", CHAPTERS[8], TEXT, HINTS, PARTS)
