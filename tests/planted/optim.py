"""Adam and clipping gone wrong."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from npbert.layers import Array, Parameter
from npbert.optim import Adam, clip_by_global_norm


class _AdamByHand(Adam):
    """Adam as in the paper, in pieces that a twin can get wrong."""

    def moments(self, m: Array, v: Array, g: Array) -> None:
        beta1, beta2 = self.betas
        m += (1 - beta1) * (g - m)
        v += (1 - beta2) * (g * g - v)

    def corrections(self) -> tuple[float, float]:
        beta1, beta2 = self.betas
        return 1 - beta1**self.steps, 1 - beta2**self.steps

    def count(self) -> None:
        self.steps += 1

    def count_parameter(self) -> None:
        pass

    def step(self) -> None:
        self.count()
        for parameter, m, v in zip(self.parameters, self.first_moments, self.second_moments, strict=True):
            self.count_parameter()
            self.moments(m, v, parameter.grad)
            first, second = self.corrections()
            parameter.value -= self.lr * (m / first) / (np.sqrt(v / second) + self.eps)


class BetaOneInTheSecondMoment(_AdamByHand):
    def moments(self, m: Array, v: Array, g: Array) -> None:
        beta1, _ = self.betas
        m += (1 - beta1) * (g - m)
        v += (1 - beta1) * (g * g - v)


class NoBiasCorrection(_AdamByHand):
    def corrections(self) -> tuple[float, float]:
        return 1.0, 1.0


class StepsCountedForEachParameter(_AdamByHand):
    """The counter runs on within one step, so later parameters are corrected less."""

    def count(self) -> None:
        pass

    def count_parameter(self) -> None:
        self.steps += 1


class StepsSharedByAllOptimizers(_AdamByHand):
    """The counter belongs to the class, so a second optimiser goes on where the first one is."""

    shared_steps = 0

    def count(self) -> None:
        StepsSharedByAllOptimizers.shared_steps += 1
        self.steps = StepsSharedByAllOptimizers.shared_steps


class StepsWhatItIsGiven(Adam):
    """A parameter that is listed twice is stepped twice."""

    def __init__(self, parameters: Iterable[Parameter], **options: Any) -> None:
        listed = list(parameters)
        super().__init__(listed, **options)
        self.parameters = listed
        self.first_moments = [np.zeros_like(parameter.value) for parameter in listed]
        self.second_moments = [np.zeros_like(parameter.value) for parameter in listed]


def clip_each_by_itself(parameters: Iterable[Parameter], max_norm: float) -> None:
    """Every gradient gets a norm of its own."""
    for parameter in parameters:
        clip_by_global_norm([parameter], max_norm)
