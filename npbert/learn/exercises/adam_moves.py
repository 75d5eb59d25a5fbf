"""Exercise 14: what goes wrong with the step of Adam as a whole: its order, its lr, and where scale is used."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from npbert.compute import Array
from npbert.learn.exercise import Mistake, both
from npbert.learn.exercises.adam_step import WRONG, Worked


class StepChanged(Worked):
    """A step in which more than one part of the formula is seen: order, scale, or lr."""

    def step(self, scale: float = 1.0) -> None:
        self.steps += 1
        for parameter, m, v in zip(self.parameters, self.first_moments, self.second_moments, strict=True):
            self.one(parameter, m, v, scale)

    def one(self, parameter: Any, m: Array, v: Array, scale: float) -> None:
        """The step of one parameter."""


def _stepped(name: str, says: str, because: str, one: Callable[..., None]) -> None:
    """one(self, parameter, m, v, scale)"""
    WRONG(says, because)(type(name, (StepChanged,), {"one": one, "__module__": "mistakes"}))


def _moved(self: Worked, m: Array, v: Array, g: Array) -> Array:
    self.remember(m, v, g)
    return self.direction(*self.corrected(m, v))


def _lr_forgotten(self: Worked, parameter: Any, m: Array, v: Array, scale: float) -> None:
    parameter.value *= self.kept(parameter)
    parameter.value -= _moved(self, m, v, parameter.grad * scale)


def _value_lost(self: Worked, parameter: Any, m: Array, v: Array, scale: float) -> None:
    parameter.value -= self.kept(parameter) * parameter.value
    parameter.value -= self.lr * _moved(self, m, v, parameter.grad * scale)


def _value_set(self: Worked, parameter: Any, m: Array, v: Array, scale: float) -> None:
    parameter.value[...] = self.lr * _moved(self, m, v, parameter.grad * scale)


def _g_for_m_hat(self: Worked, parameter: Any, m: Array, v: Array, scale: float) -> None:
    self.remember(m, v, parameter.grad * scale)
    parameter.value *= self.kept(parameter)
    parameter.value -= self.lr * self.direction(parameter.grad * scale, self.corrected(m, v)[1])


def _step_scaled(self: Worked, parameter: Any, m: Array, v: Array, scale: float) -> None:
    parameter.value *= self.kept(parameter)
    parameter.value -= self.lr * scale * _moved(self, m, v, parameter.grad)


def _scale_in_m_alone(self: Worked, parameter: Any, m: Array, v: Array, scale: float) -> None:
    held = v.copy()
    self.remember(m, v, parameter.grad * scale)
    self.remember(m.copy(), held, parameter.grad)
    v[...] = held
    parameter.value *= self.kept(parameter)
    parameter.value -= self.lr * self.direction(*self.corrected(m, v))


def _scale_in_v_alone(self: Worked, parameter: Any, m: Array, v: Array, scale: float) -> None:
    held = m.copy()
    self.remember(m, v, parameter.grad * scale)
    self.remember(held, v.copy(), parameter.grad)
    m[...] = held
    parameter.value *= self.kept(parameter)
    parameter.value -= self.lr * self.direction(*self.corrected(m, v))


def _scale_once_in_v(self: Worked, parameter: Any, m: Array, v: Array, scale: float) -> None:
    held = v.copy()
    self.remember(m, v, parameter.grad * scale)
    self.remember(m.copy(), held, parameter.grad * scale**0.5)
    v[...] = held
    parameter.value *= self.kept(parameter)
    parameter.value -= self.lr * self.direction(*self.corrected(m, v))


def _moved_too_early(self: Worked, parameter: Any, m: Array, v: Array, scale: float) -> None:
    parameter.value *= self.kept(parameter)
    parameter.value -= self.lr * self.direction(*self.corrected(m, v))
    self.remember(m, v, parameter.grad * scale)


def _hats_kept(self: Worked, parameter: Any, m: Array, v: Array, scale: float) -> None:
    self.remember(m, v, parameter.grad * scale)
    m[...], v[...] = self.corrected(m, v)
    parameter.value *= self.kept(parameter)
    parameter.value -= self.lr * self.direction(m, v)


def kept_after(self: Worked, parameter: Any, m: Array, v: Array, scale: float) -> None:
    """The value is shrunk after its step."""
    parameter.value -= self.lr * _moved(self, m, v, parameter.grad * scale)
    parameter.value *= self.kept(parameter)


def _one_beta_for_both(number: int) -> Callable[..., None]:
    def one(self: Worked, parameter: Any, m: Array, v: Array, scale: float) -> None:
        betas = self.betas
        self.betas = (betas[number],) * 2
        parameter.value *= self.kept(parameter)
        parameter.value -= self.lr * _moved(self, m, v, parameter.grad * scale)
        self.betas = betas

    return one


for _number, _beta, _other in ((0, "β₁", "β₂"), (1, "β₂", "β₁")):
    _stepped(
        f"one_beta_{_number + 1}",
        f"{_beta} stands for both: {_other} is not used, neither in the mean nor in its correction.",
        "m is made and corrected with β₁, and v with β₂.",
        _one_beta_for_both(_number),
    )
_stepped("lr_forgotten", "lr is missing in the step.", "θ ← θ − lr · m̂ / (√v̂ + eps), with self.lr.", _lr_forgotten)
_stepped(
    "value_lost",
    "The old value is lost: after the step there is only the step.",
    "As if kept · θ was subtracted from θ, or the step was set and not subtracted. A value is multiplied by "
    "self.kept(parameter), which is 1 here, and then the step is subtracted from it.",
    _value_lost,
)
_stepped(
    "value_set",
    "The value is set to the step, which should be subtracted from it.",
    "θ ← θ − lr · m̂ / (√v̂ + eps): parameter.value -= …, and not parameter.value = ….",
    _value_set,
)
_stepped(
    "g_for_m_hat",
    "The step is made with g, and should be made with m̂.",
    "m̂ is the mean of the recent gradients: a single one may point anywhere.",
    _g_for_m_hat,
)
_stepped(
    "step_scaled",
    "`scale` multiplies the step, and should multiply the gradient.",
    "Adam divides the size of the gradient out, so the two are not the same: g = parameter.grad * scale comes first.",
    _step_scaled,
)
_stepped(
    "scale_in_m_alone",
    "`scale` is used in m, and not in v.",
    "g = parameter.grad * scale comes first, and both m and v are made of this g.",
    _scale_in_m_alone,
)
_stepped(
    "scale_in_v_alone",
    "`scale` is used in v, and not in m.",
    "g = parameter.grad * scale comes first, and both m and v are made of this g.",
    _scale_in_v_alone,
)
_stepped(
    "scale_once_in_v",
    "`scale` is used once in v, and should be squared with the gradient: v is made of (scale · grad)².",
    "g = parameter.grad * scale comes first, and both m and v are made of this g.",
    _scale_once_in_v,
)
_stepped(
    "moved_too_early",
    "The step is made before m and v are changed, so it does not know the new gradient.",
    "First m and v take in the new g; then m̂ and v̂ are made of them, and then the step. (The first step would do "
    "nothing: m is still 0.)",
    _moved_too_early,
)
_stepped(
    "hats_kept",
    "m̂ and v̂ are kept in the place of m and v: what is remembered was corrected already.",
    "The next step then adds to a mean that is too large, and corrects it again. m̂ and v̂ are arrays of their own, "
    "m_hat = m / (1 - beta1**t), and m and v stay as they are.",
    _hats_kept,
)

__all__ = ["StepChanged", "kept_after"]


@WRONG(
    "Only the first parameter takes its step.",
    "Is there a `return` in the loop, or no loop? Each of self.parameters has its m and v at the same place of "
    "self.first_moments and self.second_moments: a loop with zip goes through all three.",
)
class OnlyTheFirst(Worked):
    def step(self, scale: float = 1.0) -> None:
        all_of_them, self.parameters = self.parameters, self.parameters[:1]
        moments = self.first_moments, self.second_moments
        self.first_moments, self.second_moments = ([first] for first, *_ in moments)
        super().step(scale)
        self.parameters, (self.first_moments, self.second_moments) = all_of_them, moments


def two_at_once() -> Iterator[Mistake]:
    """Two mistakes, each in another of the four parts of the formula."""
    parts = ("gradient", "remember", "corrected", "direction", "one")
    found = [(mistake, part) for mistake in WRONG for part in parts if part in vars(mistake.thing)]
    for (one, part), (other, other_part) in itertools.combinations(found, 2):
        if part != other_part:
            bases = (StepChanged,) if "one" in (part, other_part) else (Worked,)
            changed = {part: vars(one.thing)[part], other_part: vars(other.thing)[other_part], "__module__": "mistakes"}
            yield both(one, other, type("two", bases, changed))
