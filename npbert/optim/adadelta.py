"""Adadelta: steps in the units of the parameters, without a learning rate to choose."""

from collections.abc import Iterable

import numpy as np

from npbert.compute import Array
from npbert.core import Parameter
from npbert.optim.optimizer import Optimizer, check_range


class Adadelta(Optimizer):
    """At each step, with gradient g, for each value θ:

        v ← ρ v + (1 − ρ) g²        Δ = g · √(u + eps) / √(v + eps)        u ← ρ u + (1 − ρ) Δ²
        θ ← θ − lr · Δ

    u, the mean square of past steps, starts as 0, so the first steps are tiny, at most √(eps / (1 − ρ)), and grow. The
    paper has no lr: it is 1. (Zeiler 2012, algorithm 1.)

    Raises: ValueError for no parameters, a negative lr or eps, or rho outside [0, 1).
    """

    def __init__(self, parameters: Iterable[Parameter], lr: float = 1.0, rho: float = 0.9, eps: float = 1e-6) -> None:
        super().__init__(parameters, lr)
        self.rho = check_range("rho", rho, 1)
        self.eps = check_range("eps", eps)
        self.square_gradients = [np.zeros_like(parameter.value) for parameter in self.parameters]
        self.square_steps = [np.zeros_like(parameter.value) for parameter in self.parameters]

    def moments(self) -> dict[str, list[Array]]:
        return {"square_gradients": self.square_gradients, "square_steps": self.square_steps}

    def step(self, scale: float = 1.0) -> None:
        self.steps += 1
        for parameter, v, u in zip(self.parameters, self.square_gradients, self.square_steps, strict=True):
            g = scale * parameter.grad
            v *= self.rho
            v += (1 - self.rho) * (g * g)
            delta = g * np.sqrt(u + self.eps) / np.sqrt(v + self.eps)
            u *= self.rho
            u += (1 - self.rho) * (delta * delta)
            parameter.value -= self.lr * delta
