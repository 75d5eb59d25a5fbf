"""Exercise 14: Adam and AdamW."""

from __future__ import annotations

from typing import Any

import numpy as np

from npbert.core import Parameter
from npbert.learn.chapters import chapter
from npbert.learn.exercise import Exercise, Mistakes
from npbert.learn.exercises import adam_moves, adam_step, adam_variants
from npbert.learn.exercises.adam_decay import DECAY, explain_decay, prove_kept, returned_by_kept
from npbert.learn.exercises.adam_explained import explain_step
from npbert.learn.exercises.adam_proved import prove_optimizer
from npbert.learn.numbers import Numbers, NumbersPart
from npbert.learn.source import Blank, class_source, exercise_file
from npbert.optim import Adam, AdamW

OPTIONS: dict[str, Any] = {"lr": 0.1, "betas": (0.8, 0.95), "eps": 1e-2}
STEPS = (1, 2, 5)

TEXT = """
Backward has found the gradients; the optimiser takes the step. Adam remembers two things for each number: m, the mean
of its recent gradients, and v, the mean of their squares. A step is m̂ / (√v̂ + eps), times lr: large gradients and small
ones take steps of about the same size.

m and v start as 0, so after the first step they are far too small: m is (1 − β₁) g. Dividing by 1 − β₁ᵗ makes good for
that: after the first step, m̂ is g. AdamW also shrinks the weights a little in each step.
"""
BLANK = Blank(
    "step",
    """Change the value of each parameter, in place, by the formulas of the class. t counts steps from 1.

    Each parameter has its value and its grad, an m in self.first_moments and a v in self.second_moments. self.lr,
    self.betas, self.eps and self.steps are there. scale: g is the gradient times scale; the gradient itself stays
    as it is.

    Before its step, each value is multiplied by self.kept(parameter), which is 1 here, and less in AdamW.
    """,
    given=0,
)
KEPT_BLANK = Blank(
    "kept",
    """By what a value is multiplied before its step: 1 − lr · λ for a matrix, and 1 for all else.

    λ is self.weight_decay. parameter.value.ndim says how many axes it has: biases, γ and β have one.
    """,
    given=0,
)
HINTS = (
    "Begin with self.steps += 1: that is t. Then for each parameter with its m and v: g is parameter.grad * scale.",
    "m[...] = β₁ m + (1 − β₁) g and v[...] = β₂ v + (1 − β₂) g², in place, so that they are remembered. Then m̂ = m / "
    "(1 − β₁ᵗ) and v̂ = v / (1 − β₂ᵗ), in arrays of their own.",
    "parameter.value *= self.kept(parameter), then parameter.value -= lr * m̂ / (np.sqrt(v̂) + eps). In AdamW: "
    "1 - self.lr * self.weight_decay if parameter.value.ndim > 1 else 1.0.",
)


def _numbers(optimizer: Any, seed: int, **options: float) -> Numbers:
    """The values after some steps, of two parameters."""
    rng = np.random.default_rng(seed)
    shapes = {"the weight": (3, 5), "the bias": (7,), "the second weight": (2, 3)}
    parameters = {name: Parameter(rng.standard_normal(shape)) for name, shape in shapes.items()}
    adam, numbers = optimizer(list(parameters.values()), **OPTIONS, **options), {}
    for step in range(1, max(STEPS) + 1):
        for parameter in parameters.values():
            parameter.zero_grad()
            parameter.add_grad(rng.standard_normal(parameter.value.shape) * 10.0 ** rng.integers(-2, 2))
        adam.lr = 0.1 / step
        adam.step(*([0.5] if step == 4 else []))
        if step in STEPS:
            for name, parameter in parameters.items():
                numbers[f"{name} after step {step}"] = parameter.value.copy()
    return numbers


def _numbers_of_decay(optimizer: Any, seed: int) -> Numbers:
    if seed == 0:
        returned_by_kept(optimizer, OPTIONS)
    return _numbers(optimizer, seed, weight_decay=DECAY)


WRONG_DECAY = Mistakes(AdamW, "kept")


@WRONG_DECAY(
    "Vectors are decayed, too: biases, γ and β should keep their size.",
    "Decay keeps the weights of the products small. A bias, or the γ of a LayerNorm, is not made better by being near "
    "0: only parameters with two axes are decayed.",
)
def vectors_decayed(self: AdamW, parameter: Parameter) -> float:
    return 1 - self.lr * self.weight_decay


@WRONG_DECAY(
    "The decay is not multiplied by lr.",
    "θ ← θ − lr · λ θ: as the steps become smaller towards the end, so does the decay.",
)
def decay_without_lr(self: AdamW, parameter: Parameter) -> float:
    return 1 - self.weight_decay if parameter.value.ndim > 1 else 1.0


@WRONG_DECAY(
    "kept returns the decay itself, lr · λ, and should return what is left, 1 − lr · λ.",
    "A value is multiplied by what kept returns: nearly 1, so that it shrinks a little.",
)
def decay_returned(self: AdamW, parameter: Parameter) -> float:
    return self.lr * self.weight_decay if parameter.value.ndim > 1 else 1.0


@WRONG_DECAY(
    "The weights grow: it is 1 + lr · λ, and should be 1 − lr · λ.",
    "Decay takes a little off in each step, so that only those weights stay large that the gradients keep so.",
)
def growth(self: AdamW, parameter: Parameter) -> float:
    return 1 + self.lr * self.weight_decay if parameter.value.ndim > 1 else 1.0


@WRONG_DECAY(
    "Only the vectors are decayed, and the matrices are not: it is the wrong way round.",
    "Matrices, with two axes, are decayed; biases, γ and β, with one, keep their size.",
)
def matrices_spared(self: AdamW, parameter: Parameter) -> float:
    return 1.0 if parameter.value.ndim > 1 else 1 - self.lr * self.weight_decay


@WRONG_DECAY(
    "No matrix is decayed.",
    "For a matrix, kept is 1 − lr · λ, with λ = self.weight_decay; and step multiplies each value by "
    "self.kept(parameter).",
)
def no_decay(self: AdamW, parameter: Parameter) -> float:
    return 1.0


@WRONG_DECAY(
    "kept returns the value that is left, and should return the factor alone, 1 − lr · λ.",
    "step multiplies the value by what kept returns: it is one number, and 1 where nothing is decayed.",
)
class ValueReturned(adam_step.Worked, AdamW):
    def kept(self, parameter: Parameter) -> Any:
        return parameter.value * super().kept(parameter)


@WRONG_DECAY(
    "The decay comes after the step, and should come before it.",
    "θ ← (1 − lr · λ) θ, and then the step: the step itself is not decayed. The order is the one of the class: first "
    "parameter.value *= self.kept(parameter), then parameter.value -= ….",
)
class DecayedAfterTheStep(adam_moves.StepChanged, AdamW):
    one = adam_moves.kept_after


@WRONG_DECAY(
    "λ is divided by lr, and should be multiplied with it: 1 − lr · λ.",
    "θ ← θ − lr · λ θ: as the steps become smaller towards the end, so does the decay.",
)
def decay_over_lr(self: AdamW, parameter: Parameter) -> float:
    return 1 - self.weight_decay / self.lr if parameter.value.ndim > 1 else 1.0


@WRONG_DECAY(
    "kept is the decay itself with a minus, −lr · λ, and should be 1 − lr · λ.",
    "A value is multiplied by what kept returns: nearly 1, so that it shrinks a little.",
)
def one_forgotten(self: AdamW, parameter: Parameter) -> float:
    return -self.lr * self.weight_decay if parameter.value.ndim > 1 else 1.0


@WRONG_DECAY(
    "λ is missing: kept is 1 − lr, and should be 1 − lr · λ.",
    "λ is self.weight_decay.",
)
def decay_by_lr(self: AdamW, parameter: Parameter) -> float:
    return 1 - self.lr if parameter.value.ndim > 1 else 1.0


EXERCISE = Exercise(
    number=14,
    slug="adam",
    title="Adam and AdamW",
    chapter=chapter(8),
    hints=HINTS,
    parts=(
        NumbersPart(
            "Adam",
            Adam,
            _numbers,
            adam_variants.WRONG,
            explain=lambda thing: explain_step(thing, OPTIONS),
            pairs=adam_moves.two_at_once,
            prove=lambda thing: prove_optimizer(thing, **OPTIONS),
        ),
        NumbersPart(
            "AdamW",
            AdamW,
            _numbers_of_decay,
            WRONG_DECAY,
            explain=lambda thing: explain_decay(thing, OPTIONS),
            prove=lambda thing: prove_optimizer(thing, weight_decay=DECAY, **OPTIONS) or prove_kept(thing, OPTIONS),
        ),
    ),
    source=lambda: exercise_file(
        14,
        "Adam and AdamW",
        chapter(8),
        TEXT,
        [class_source(Adam, BLANK, without=("moments",)), class_source(AdamW, KEPT_BLANK)],
    ),
    blanks=("Adam.step", "AdamW.kept"),
)
