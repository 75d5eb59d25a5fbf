"""Exercises 13 and 14, from gradients to steps: a batch in parts, gradients that are clipped, Adam and AdamW."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import IGNORED, NO_TAPE, Init, Parameter, Tape
from npbert.gradcheck.explain.variations import in_manner
from npbert.layers import Linear, SoftmaxCrossEntropy
from npbert.learn.blank import Blank, Numbers, returned
from npbert.optim import Adam, AdamW, clip_by_global_norm

ROWS = (7, 3, 2), (2, 5, 4, 3)
"""The rows of the pieces, for each of two samples. Not each piece has the same share of targets."""
SCALES = (0.5,), (), (0.3,)
"""The arguments of each step: the scale of the gradients, or its default."""
KINDS = {"matrix": ((3, 5), (1, 2), (6, 4)), "vector": ((7,), (1,), (50,))}
"""Shapes of parameters."""
OPTIONS = {"lr": 0.107, "betas": (0.73, 0.92), "eps": 0.018}

in_one_row = partial(np.concatenate, axis=None)
"""in_one_row(arrays): all their numbers, in one array."""


def accumulate(layer: Linear, loss: SoftmaxCrossEntropy, pieces: Sequence[tuple[Array, Array]]) -> float:
    """Return the mean loss over all targets of all pieces, and add its gradient; a piece with n of N targets counts
    n/N."""
    total = sum(np.count_nonzero(labels != IGNORED) for _, labels in pieces)
    mean = 0.0
    for x, labels in pieces:
        share = np.count_nonzero(labels != IGNORED) / total
        tape = Tape()
        its_mean = loss(layer(x, tape), labels, tape)
        mean += share * its_mean
        layer.backward(loss.backward(share, tape), tape)
    return mean


class Watched(Linear):
    """A layer that records the most rows in one call."""

    most_rows = 0

    def forward(self, x: Array, tape: Tape = NO_TAPE) -> Array:
        self.most_rows = max(self.most_rows, len(x))
        return super().forward(x, tape)


def accumulated(thing: Any, seed: int) -> Iterator[Numbers]:
    """Return the gradients, added to one of the bias, the result, and the most rows that ran at once."""
    rng, odd = np.random.default_rng(seed), seed % 2
    layer = Watched(3 + odd, 5 + odd, Init(rng, 1.0, np.float64))
    layer.bias.add_grad(np.ones(5 + odd))
    pieces = []
    for rows in ROWS[odd]:
        labels = rng.integers(5 + odd, size=rows)
        labels[::3] = IGNORED
        pieces.append((in_manner(rng.standard_normal((rows, 3 + odd)), seed // 2), labels))
    weight, bias = layer.parameters()
    mean = returned(thing(layer, SoftmaxCrossEntropy(), pieces), "the mean")
    yield {
        "the gradient of weight": weight.grad,
        "the gradient of bias": bias.grad,
        "the returned mean": mean,
        "the most rows at once": np.array(max(layer.most_rows, *ROWS[odd])),
    }


def clipped(thing: Any, seed: int) -> Iterator[Numbers]:
    """Return all gradients, values and norms after clipping gradients above max_norm, and others below it."""
    odd = seed % 2
    long, enough = 1.3 + odd, 99.0

    def clip(max_norm: float, scale: float = 1.0) -> tuple[Array, Array, Array]:
        """Return the result, the gradients and the values of three parameters with gradients of this scale."""
        rng = np.random.default_rng(seed)
        parameters = [Parameter(rng.standard_normal(shape)) for shape in ((3 + odd, 5), (7 + odd,), (2 + odd,))]
        for parameter in parameters:
            parameter.add_grad(in_manner(scale * rng.standard_normal(parameter.value.shape), seed // 2))
        norm = returned(thing([parameters[1], *parameters], max_norm), "the norm before")
        return norm, in_one_row([each.grad for each in parameters]), in_one_row([each.value for each in parameters])

    norms, gradients, values = map(np.stack, zip(clip(long), clip(enough), strict=True))
    yield {"the result": norms}
    yield {"the gradient afterwards": gradients, "the value afterwards": values}
    nearly = 1.001 * float(np.linalg.norm(gradients[1]))
    yield {"a short gradient afterwards": np.stack([clip(long, 0.0)[1], clip(nearly)[1]])}


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
        adam.step(*scale)
    new = sum(each.value is not array for each, array in zip(parameters, arrays, strict=True))
    return {
        "m": in_one_row(adam.first_moments),
        "v": in_one_row(adam.second_moments),
        "the count of steps": np.array(adam.steps),
        "the weight": weight.value,
        "the bias": bias.value,
        "the gradients after a step": in_one_row([parameter.grad for parameter in parameters]),
        "the count of values that are a new array": np.array(new),
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
        numbers[name] = in_one_row([returned(adam.kept(parameter), name) for parameter in parameters])
        numbers[f"a {what} after kept"] = in_one_row([parameter.value for parameter in parameters])
    yield numbers


ACCUMULATE = Blank(right=accumulate, numbers=accumulated)
CLIP = Blank(right=clip_by_global_norm, numbers=clipped, tolerance=1e-5)
STEP = Blank(right=Adam, method="step", without=("moments",), numbers=steps)
KEPT = Blank(right=AdamW, method="kept", numbers=decays)
