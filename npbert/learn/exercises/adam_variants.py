"""Exercise 14: more that goes wrong in the step of Adam, each one part of the formula written in another way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.learn.exercises.adam_step import WRONG, Worked

_HATS = "m̂ = m / (1 − β₁ᵗ) and v̂ = v / (1 − β₂ᵗ)"


def _wrong(method: str, name: str, says: str, because: str, change: Callable[..., Any]) -> None:
    change.__name__ = name
    WRONG(says, because, method=method)(change)


def _corrected(name: str, says: str, because: str, of_m: Callable[..., float], of_v: Callable[..., float]) -> None:
    """m̂ = m · of_m(β₁, t, β₂) and v̂ = v · of_v(β₂, t, β₁)."""

    def corrected(self: Worked, m: Array, v: Array) -> tuple[Array, Array]:
        beta1, beta2 = self.betas
        return m * of_m(beta1, self.steps, beta2), v * of_v(beta2, self.steps, beta1)

    _wrong("corrected", name, says, because, corrected)


def _right(beta: float, t: int, _: float) -> float:
    return 1 / (1 - beta**t)


def _one(*_: float) -> float:
    return 1.0


def _swapped(beta: float, t: int, other: float) -> float:
    return 1 / (1 - other**t)


_corrected("only_m_corrected", "v is not corrected: the step is made with v, and should be made with v̂.", f"{_HATS}.",
           _right, _one)  # fmt: skip
_corrected("only_v_corrected", "m is not corrected: the step is made with m, and should be made with m̂.", f"{_HATS}.",
           _one, _right)  # fmt: skip
_corrected("corrections_swapped", "The corrections are swapped: m is corrected with β₂, and v with β₁.", f"{_HATS}.",
           _swapped, _swapped)  # fmt: skip
_corrected("v_corrected_with_beta1", "v is corrected with β₁, and should be corrected with β₂.", f"{_HATS}.",
           _right, _swapped)  # fmt: skip
_corrected("m_corrected_with_beta2", "m is corrected with β₂, and should be corrected with β₁.", f"{_HATS}.",
           _swapped, _right)  # fmt: skip
_corrected(
    "power_of_the_difference",
    "The power is at the wrong place: it is (1 − β)ᵗ, and should be 1 − βᵗ.",
    "In Python ** comes before −: 1 - beta1**self.steps, without brackets around 1 - beta1.",
    lambda beta, t, _: 1 / (1 - beta) ** t,
    lambda beta, t, _: 1 / (1 - beta) ** t,
)
_corrected(
    "beta_times_t",
    "β is multiplied by t, and should be raised to it: it is 1 − β t, and should be 1 − βᵗ.",
    "In Python a power is **: 1 - beta1**self.steps. (1 − β t is below 0 soon, and a root of that is no number.)",
    lambda beta, t, _: 1 / (1 - beta * t),
    lambda beta, t, _: 1 / (1 - beta * t),
)
_corrected(
    "multiplied_by_the_correction",
    "m and v are multiplied by the correction, and should be divided by it.",
    f"They are too small at first, and dividing by 1 − βᵗ, which is less than 1, makes them larger. {_HATS}.",
    lambda beta, t, _: 1 - beta**t,
    lambda beta, t, _: 1 - beta**t,
)
_corrected(
    "counted_ahead",
    "t is one too large: the first step is corrected by 1 − β², as if it was the second.",
    "Add 1 to self.steps once in each step, before it is used: in the first step, t is 1.",
    lambda beta, t, _: 1 / (1 - beta ** (t + 1)),
    lambda beta, t, _: 1 / (1 - beta ** (t + 1)),
)
_corrected(
    "root_before_the_correction",
    "The root is taken of v alone: it is √v / (1 − β₂ᵗ), and should be √(v / (1 − β₂ᵗ)).",
    "v̂ is formed first, and then its root is taken.",
    _right,
    lambda beta, t, _: 1 / (1 - beta**t) ** 2,
)


def _remembered(name: str, says: str, because: str, change: Callable[..., tuple[Any, Any]]) -> None:
    """change(β₁, β₂, m, v, g) -> the new m and v."""

    def remember(self: Worked, m: Array, v: Array, g: Array) -> None:
        m[...], v[...] = change(*self.betas, m.copy(), v.copy(), g)

    _wrong("remember", name, says, because, remember)


_MEANS = "m ← β₁ m + (1 − β₁) g and v ← β₂ v + (1 − β₂) g²: what was there has the share β, what is new the rest."
_remembered(
    "betas_swapped_in_the_means",
    "The βs are swapped in the means: m is made with β₂, and v with β₁.",
    _MEANS,
    lambda b1, b2, m, v, g: (b2 * m + (1 - b2) * g, b1 * v + (1 - b1) * g * g),
)
_remembered(
    "beta2_for_m",
    "m is made with β₂, and should be made with β₁.",
    _MEANS,
    lambda b1, b2, m, v, g: (b2 * m + (1 - b2) * g, b2 * v + (1 - b2) * g * g),
)
_remembered(
    "shares_swapped",
    "The shares are swapped: m is (1 − β₁) m + β₁ g, and v in the same way.",
    _MEANS,
    lambda b1, b2, m, v, g: ((1 - b1) * m + b1 * g, (1 - b2) * v + b2 * g * g),
)
_remembered(
    "new_square_not_weighted",
    "The new square is not weighted: v is β₂ v + g², and should be β₂ v + (1 − β₂) g².",
    _MEANS,
    lambda b1, b2, m, v, g: (b1 * m + (1 - b1) * g, b2 * v + g * g),
)
_remembered(
    "nothing_new_weighted",
    "What is new is not weighted: m is β₁ m + g and v is β₂ v + g², without 1 − β.",
    _MEANS,
    lambda b1, b2, m, v, g: (b1 * m + g, b2 * v + g * g),
)
_remembered(
    "what_was_there_not_weighted",
    "What was there is not weighted: m is m + (1 − β₁) g, and v in the same way, without β.",
    _MEANS,
    lambda b1, b2, m, v, g: (m + (1 - b1) * g, v + (1 - b2) * g * g),
)
_remembered(
    "square_of_the_mean",
    "v is made of m², and should be made of g².",
    "v is the mean of the squares of the gradients, and not of the square of their mean.",
    lambda b1, b2, m, v, g: (
        new := b1 * m + (1 - b1) * g,
        b2 * v + (1 - b2) * new * new,
    ),
)
_remembered(
    "share_squared",
    "1 − β₂ is squared together with g: v is β₂ v + ((1 − β₂) g)².",
    "Only g is squared: (1 - beta2) * g**2.",
    lambda b1, b2, m, v, g: (b1 * m + (1 - b1) * g, b2 * v + ((1 - b2) * g) ** 2),
)
_remembered(
    "v_forgotten",
    "v is forgotten from step to step.",
    "v has to change in place, as m does: v[...] = β₂ v + (1 − β₂) g².",
    lambda b1, b2, m, v, g: (b1 * m + (1 - b1) * g, (1 - b2) * g * g),
)
_remembered(
    "m_forgotten",
    "m is forgotten from step to step.",
    "m has to change in place, as v does: m[...] = β₁ m + (1 − β₁) g.",
    lambda b1, b2, m, v, g: ((1 - b1) * g, b2 * v + (1 - b2) * g * g),
)


def _directed(name: str, says: str, because: str, change: Callable[[Array, Array, float], Array]) -> None:
    """change(m̂, v̂, eps)."""
    _wrong("direction", name, says, because, lambda self, m_hat, v_hat: change(m_hat, v_hat, self.eps))


_directed(
    "eps_subtracted",
    "eps is subtracted, and should be added: m̂ / (√v̂ + eps).",
    "It keeps the division from being one by 0.",
    lambda m, v, eps: m / (np.sqrt(v) - eps),
)
_directed(
    "eps_outside_the_fraction",
    "eps is added to the whole fraction, and should be added to the root: m̂ / (√v̂ + eps).",
    "/ comes before +: m_hat / (np.sqrt(v_hat) + eps) needs its brackets.",
    lambda m, v, eps: m / np.sqrt(v) + eps,
)
_directed(
    "larger_of_root_and_eps",
    "The larger of √v̂ and eps is taken, and should be their sum: m̂ / (√v̂ + eps).",
    "eps is added everywhere, not only where the root is small.",
    lambda m, v, eps: m / np.maximum(np.sqrt(v), eps),
)
_directed(
    "not_divided",
    "In the step the division by √v̂ + eps is missing.",
    "It gives large and small gradients steps of about the same size.",
    lambda m, v, eps: m,
)

__all__ = ["WRONG"]
