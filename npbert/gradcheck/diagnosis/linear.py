"""Every gradient is proportional to dy: one that is not lacks dy as a factor, or has it twice, or adds something."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.diagnosis.finding import ACCURACY, Finding, d
from npbert.gradcheck.function import ScalarFunction
from npbert.gradcheck.report import Gradients

_CHAIN_RULE = "by the chain rule, each gradient is multiplied by dy once"
_BY_POWER = {
    0: f"is the same for any dy: {_CHAIN_RULE}",
    2: f"is four times as large for a dy twice as large: {_CHAIN_RULE}, and here it is multiplied twice",
    -1: f"is half as large for a dy twice as large: {_CHAIN_RULE}, and not divided by it",
}


class Power(NamedTuple):
    """With which power of dy a gradient grows; None for one that is no power of it."""

    name: str
    power: int | None

    @property
    def finding(self) -> Finding:
        """In words."""
        if self.power is None:
            text = "is not proportional to dy: where dy is twice as large it should be, too, and is not"
        else:
            text = _BY_POWER[self.power]
        return Finding("linear", self.name, f"{d(self.name)} {text}")


def powers_of_dy(function: ScalarFunction, wrong: Gradients, names: list[str]) -> Iterator[Power]:
    """Of the gradients that are not proportional to dy."""
    again, twice = (_with_dy(function, tuple(factor * dy for dy in function.dy)) for factor in (1, 2))
    drawn = np.random.default_rng(1)
    another = _with_dy(function, tuple(drawn.standard_normal(np.shape(dy)) for dy in function.dy))
    for name in names:
        one, other = wrong[name], twice[name]
        if not _same(again[name], one) or _same(other, 2 * one):  # not the same is not finite, or left to chance
            continue
        if _same(other, one):
            yield Power(name, 0 if _same(another[name], one) else None)
        else:
            yield Power(name, next((power for power in (2, -1) if _same(other, 2.0**power * one)), None))


def _with_dy(function: ScalarFunction, dy: tuple[Array, ...]) -> Gradients:
    changed = copy.copy(function)
    changed.dy = dy
    return changed.gradients(tried=False)


def _same(one: Array, other: Array) -> bool:
    return bool(np.abs(one - other).max(initial=0) <= ACCURACY * 1e-3 * np.abs(other).max(initial=0))
