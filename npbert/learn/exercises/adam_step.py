"""Exercise 14, the step of Adam: what goes wrong with it."""

from __future__ import annotations

import numpy as np

from npbert.compute import Array
from npbert.core import Parameter
from npbert.learn.exercise import Mistakes
from npbert.optim import Adam


class Worked(Adam):
    """Adam as the paper writes it, for the mistakes to change: each of these is one part of the formula."""

    def step(self, scale: float = 1.0) -> None:
        self.steps += 1
        for parameter, m, v in zip(self.parameters, self.first_moments, self.second_moments, strict=True):
            g = self.gradient(parameter) * scale
            self.remember(m, v, g)
            m_hat, v_hat = self.corrected(m, v)
            parameter.value *= self.kept(parameter)
            parameter.value -= self.lr * self.direction(m_hat, v_hat)

    def gradient(self, parameter: Parameter) -> Array:
        """g"""
        return parameter.grad

    def remember(self, m: Array, v: Array, g: Array) -> None:
        """m and v, in place."""
        beta1, beta2 = self.betas
        m[...] = beta1 * m + (1 - beta1) * g
        v[...] = beta2 * v + (1 - beta2) * g * g

    def corrected(self, m: Array, v: Array) -> tuple[Array, Array]:
        """m̂ and v̂."""
        beta1, beta2 = self.betas
        return m / (1 - beta1**self.steps), v / (1 - beta2**self.steps)

    def direction(self, m_hat: Array, v_hat: Array) -> Array:
        """The step, but for lr."""
        return m_hat / (np.sqrt(v_hat) + self.eps)


WRONG = Mistakes(Worked, "step")


@WRONG(
    "There is no bias correction: the step is made with m and v, and should be made with m̂ and v̂.",
    "m and v start as 0, so at first they are too small, and not alike. Divided by 1 − β₁ᵗ and 1 − β₂ᵗ they are the "
    "means of the gradients that there have been.",
    method="corrected",
)
def no_bias_correction(self: Worked, m: Array, v: Array) -> tuple[Array, Array]:
    return m, v


@WRONG(
    "t is counted from 0: the first step is corrected by 1 − β⁰, which is 0.",
    "self.steps counts the steps that are done. Add 1 before it is used: in the first step, t is 1.",
    method="corrected",
)
def counted_from_zero(self: Worked, m: Array, v: Array) -> tuple[Array, Array]:
    beta1, beta2 = self.betas
    return m / (1 - beta1 ** (self.steps - 1)), v / (1 - beta2 ** (self.steps - 1))


@WRONG(
    "Every step is corrected like the first, by 1 − β₁ and 1 − β₂, as if t stayed 1.",
    "At step t it is 1 − β₁ᵗ, (1 - beta1**self.steps), so that the correction fades. And self.steps has to be kept: "
    "self.steps += 1 at the beginning of each step.",
    method="corrected",
)
def not_counted(self: Worked, m: Array, v: Array) -> tuple[Array, Array]:
    return m / (1 - self.betas[0]), v / (1 - self.betas[1])


@WRONG(
    "t is counted once for each parameter, and not once for each step.",
    "self.steps += 1 stands before the loop over the parameters: all of them are at the same step.",
)
def counted_for_each_parameter(self: Worked, scale: float = 1.0) -> None:
    steps, values = self.steps, list(zip(self.parameters, self.first_moments, self.second_moments, strict=True))
    for number, (parameter, m, v) in enumerate(values, start=1):
        self.steps = steps + number
        self.remember(m, v, parameter.grad * scale)
        parameter.value -= self.lr * self.direction(*self.corrected(m, v))


@WRONG(
    "v is made with β₁, and should be made with β₂.",
    "m and v have a β each: the squares are remembered much longer than the gradients.",
    method="remember",
)
def beta1_for_both(self: Worked, m: Array, v: Array, g: Array) -> None:
    beta1, _ = self.betas
    m[...] = beta1 * m + (1 - beta1) * g
    v[...] = beta1 * v + (1 - beta1) * g * g


@WRONG(
    "v is the mean of the gradients, and should be that of their squares.",
    "v says how large the gradients are, whatever their sign: v ← β₂ v + (1 − β₂) g².",
    method="remember",
)
def not_squared(self: Worked, m: Array, v: Array, g: Array) -> None:
    beta1, beta2 = self.betas
    m[...] = beta1 * m + (1 - beta1) * g
    v[...] = beta2 * v + (1 - beta2) * g


@WRONG(
    "The new gradient is not weighted: m is β₁ m + g, and should be β₁ m + (1 − β₁) g.",
    "m is a mean of gradients: what is new has the share 1 − β₁, and what was there the share β₁.",
    method="remember",
)
def new_gradient_not_weighted(self: Worked, m: Array, v: Array, g: Array) -> None:
    beta1, beta2 = self.betas
    m[...] = beta1 * m + g
    v[...] = beta2 * v + (1 - beta2) * g * g


@WRONG(
    "m and v are forgotten from step to step.",
    "`m = β₁ m + …` makes a new array and leaves the old one in self.first_moments as it is. Change it in place: "
    "m[...] = β₁ m + …, or m *= β₁ and m += ….",
    method="remember",
)
def moments_forgotten(self: Worked, m: Array, v: Array, g: Array) -> None:
    beta1, beta2 = self.betas
    m[...] = (1 - beta1) * g
    v[...] = (1 - beta2) * g * g


@WRONG(
    "eps is inside the root: the step is m̂ / √(v̂ + eps), and should be m̂ / (√v̂ + eps).",
    "Inside, √eps is what counts, which is ten thousand times as much for the usual 1e-8.",
    method="direction",
)
def eps_inside_the_root(self: Worked, m_hat: Array, v_hat: Array) -> Array:
    return m_hat / np.sqrt(v_hat + self.eps)


@WRONG(
    "The root is missing: the step is m̂ / (v̂ + eps), and should be m̂ / (√v̂ + eps).",
    "v̂ is a mean of squares, so its root is of the size of a gradient, and the step is about 1 in size.",
    method="direction",
)
def root_forgotten(self: Worked, m_hat: Array, v_hat: Array) -> Array:
    return m_hat / (v_hat + self.eps)


@WRONG(
    "eps is left out.",
    "It keeps the step finite where all gradients have been 0, and damps those that were nearly 0: m̂ / (√v̂ + eps).",
    method="direction",
)
def eps_forgotten(self: Worked, m_hat: Array, v_hat: Array) -> Array:
    return m_hat / np.sqrt(v_hat)


@WRONG(
    "The step goes uphill: it is added, and should be subtracted.",
    "The gradient points to where the loss grows.",
    method="direction",
)
def uphill(self: Worked, m_hat: Array, v_hat: Array) -> Array:
    return -m_hat / (np.sqrt(v_hat) + self.eps)


@WRONG(
    "β₁ and β₂ are swapped throughout: self.betas is (β₁, β₂), in this order.",
    "m is made and corrected with the first of them, and v with the second.",
)
def betas_swapped(self: Worked, scale: float = 1.0) -> None:
    betas = self.betas
    self.betas = betas[::-1]
    Worked.step(self, scale)
    self.betas = betas


@WRONG(
    "`scale` is not used.",
    "step(scale) is how clipping works without a pass over all gradients: each g is parameter.grad * scale.",
)
def scale_ignored(self: Worked, scale: float = 1.0) -> None:
    Worked.step(self)


@WRONG(
    "The gradient is divided by `scale`, and should be multiplied by it.",
    "step(scale) is how clipping works without a pass over all gradients: each g is parameter.grad * scale.",
)
def divided_by_scale(self: Worked, scale: float = 1.0) -> None:
    Worked.step(self, 1 / scale)
