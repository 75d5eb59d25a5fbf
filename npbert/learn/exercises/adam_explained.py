"""Exercise 14: what is true of a step that is no known mistake, from what it leaves in m, v and t, and in the value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from npbert.compute import Array
from npbert.core import Parameter
from npbert.learn.attempt import Failure, attempt
from npbert.learn.exercises.adam_formulas import (
    RIGHT_M,
    RIGHT_STEP,
    RIGHT_V,
    Moment,
    Settings,
    same,
    written_for_m,
    written_for_the_step,
    written_for_v,
)
from npbert.learn.wrong_arrays import described
from npbert.optim import Adam

_LR, _STEPS, _SCALE = 0.07, 5, 0.5  # lr² is not eps; the last step has this scale
_PLACES = {"m": "self.first_moments", "v": "self.second_moments"}
_WHERE_EPS_IS = (
    "As if eps was added to √v, and the correction came later: √(1 − β₂ᵗ)/(1 − β₁ᵗ) · m / (√v + eps) is not the same. "
    "In that order eps has to be multiplied by √(1 − β₂ᵗ), too."
)
IN_THE_GRADIENT = (
    "AdamW keeps the decay out of the gradient, so that m and v do not see it: g is the gradient alone, and each value "
    "is multiplied by self.kept(parameter). (In the gradient it would be divided by √v̂ like all else.)"
)


class Taken(NamedTuple):
    """A step of a learner's optimiser and of the right one after the same gradients: what it left, and its move."""

    own: Any
    right: Any
    of: Moment
    old: Array
    new: Array
    scale: float


def taken(thing: Any, right: Any, shape: tuple[int, ...] = (3, 5), **options: Any) -> Iterator[Taken]:
    """Some steps of one parameter of this shape, until one cannot be made."""
    rng = np.random.default_rng(0)
    value = rng.standard_normal(shape)
    own, other = (optimizer([Parameter(value.copy())], **{**options, "lr": _LR}) for optimizer in (thing, right))
    largest = np.zeros(value.shape)
    for step in range(1, _STEPS + 1):
        gradient = rng.standard_normal(value.shape)
        for optimizer in (own, other):
            optimizer.parameters[0].zero_grad()
            optimizer.parameters[0].add_grad(gradient.copy())
        old, m, v = (np.copy(of) for of in (own.parameters[0].value, own.first_moments[0], own.second_moments[0]))
        scale = _SCALE if step == _STEPS else 1.0
        if isinstance(attempt(lambda scale=scale: own.step(scale)), Failure):  # type: ignore[misc]
            return
        other.step(scale)
        new_m, new_v = np.copy(own.first_moments[0]), np.copy(own.second_moments[0])
        if not value.shape == new_m.shape == new_v.shape == np.shape(own.parameters[0].value):
            return
        largest = np.maximum(largest, new_v / (1 - own.betas[1] ** step))
        of = Moment(step, gradient * scale, old, m, v, new_m, new_v, largest)
        yield Taken(own, other, of, old, np.copy(own.parameters[0].value), scale)


def explain_step(thing: Any, options: dict[str, Any]) -> list[tuple[str, str]]:
    """Which of m, v, self.steps and the step is wrong, and by which formula it is made, if that can be told."""
    found = _explained(thing, (3, 5), options)
    if found:
        return found
    return [("", f"Matrices take the right step; of a vector: {text}") for _, text in _explained(thing, (7,), options)]


def _explained(thing: Any, shape: tuple[int, ...], options: dict[str, Any]) -> list[tuple[str, str]]:
    """Of one parameter of this shape."""
    for each in taken(thing, Adam, shape, **options):
        if each.own.steps != each.of.t:
            return [("", f"After step {each.of.t}, self.steps is {each.own.steps}, and should be {each.of.t}.")]
        found = _wrong_memory(each) or _wrong_move(each)
        if same(each.new, each.old):
            found = f"{found} {_what_moves_later(each.own)}"
            return [("", found)]
        if found and each.scale != 1:
            return [("", f"The steps without a scale are right; but with scale {_SCALE}: {_scaled(each) or found}")]
        if found:
            every = [one for one in taken(thing, Adam, shape, **options) if one.scale == 1]
            return [("", text) for text in _formulas(every) or [found]]
    return []


def _scaled(each: Taken) -> str:
    """By what the gradient is multiplied in m and in v, in a step with a scale."""
    beta1, beta2 = each.right.betas
    gradient = each.of.g / each.scale
    in_m = (each.of.new_m - beta1 * each.of.m) / (1 - beta1) / gradient
    squares = (each.of.new_v - beta2 * each.of.v) / (1 - beta2) / gradient**2
    if not (_is_constant(in_m) and _is_constant(squares) and squares.min() > 0):
        return ""
    of_m, of_v = float(in_m.flat[0]), float(np.sqrt(squares.flat[0]))
    if np.allclose([of_m, of_v], each.scale):
        return ""
    return f"m is made with {of_m:.4g} · grad, and v with ({of_v:.4g} · grad)²; both are of g = {each.scale:g} · grad."


def _formulas(steps: list[Taken]) -> list[str]:
    """By which formulas m, v and the step are made, where they are not the right ones and can be told."""
    moments, first = [each.of for each in steps], steps[0].own
    beta1, beta2 = first.betas
    settings = Settings(_LR, beta1, beta2, first.eps)
    betas = {"m": f", where β₁ is {beta1:g}", "v": f", where β₂ is {beta2:g}"}
    told = []
    for name, written, right in (
        ("m", written_for_m(moments, settings), RIGHT_M),
        ("v", written_for_v(moments, settings), RIGHT_V),
        ("The step", written_for_the_step(moments, settings, [each.old - each.new for each in steps]), RIGHT_STEP),
    ):
        if written and written != right:
            where = "" if "β" in written or "lr" in written else betas.get(name, "")
            first = ", with 1 for t − 1 in step 1," if "ᵗ⁻¹" in written else ","  # where it would be a division by 0
            told.append(f"{name} is {written}{first} and should be {right}{where}.")
            told += [_WHERE_EPS_IS] if "eps/√" in written else []
    return told


def _what_moves_later(own: Any) -> str:
    """Of an optimizer whose step left the value as it was: whether the next one does, too."""
    value = own.parameters[0].value.copy()
    attempt(own.step)
    if same(own.parameters[0].value, value):
        return "The value does not change: parameter.value is what it was. Change it in place: parameter.value -= …."
    return "This step leaves the value as it is, and the next one changes it: is it made with m and v as they were?"


def _wrong_memory(each: Taken) -> str:
    """What is wrong with what the learner's optimizer remembers after this step, if anything is."""
    right_m, right_v = each.right.first_moments[0], each.right.second_moments[0]
    pairs = {"m": (each.of.new_m, right_m), "v": (each.of.new_v, right_v)}
    wrong = {name: pair for name, pair in pairs.items() if not same(*pair)}
    texts = []
    for name, (one, wanted) in wrong.items():
        nothing = f"After step {each.of.t}, {_PLACES[name]} still holds nothing but 0: that is where {name} is kept."
        text = described(name, one, wanted)
        texts.append(nothing if not np.any(one) else f"After step {each.of.t}, {text[:1].lower()}{text[1:]}")
    fine = [f"{name} is right." for name in pairs if name not in wrong] if wrong else []
    return " ".join([*texts, *fine])


def _wrong_move(each: Taken) -> str:
    """What is wrong with the move from the old value to the new one, where m, v and t are right."""
    right, step = each.right, each.of.t
    beta1, beta2 = right.betas
    m_hat = right.first_moments[0] / (1 - beta1**step)
    root = np.sqrt(right.second_moments[0] / (1 - beta2**step))
    wanted = -right.lr * m_hat / (root + right.eps)
    if same(each.new - each.old, wanted):
        return ""
    so_far = f"m, v and self.steps are right, but not step {step}, which is made of them"
    if same(each.new, each.old):
        return f"{so_far}."
    if same(np.abs(each.new), np.abs(wanted)):
        return "The new value is the step alone: the step has to be subtracted from the old value."
    with np.errstate(all="ignore"):
        factors, added = (each.new - each.old) / wanted, -right.lr * m_hat / (each.new - each.old) - root
    if _is_constant(factors):
        factor, others = float(factors.flat[0]), [t for t in range(1, step + 2) if t != step]
        causes = (f", as if m was corrected with t = {t}" for t in others if _is_of_t(factor, beta1, step, t))
        as_if = next(causes, f", as if lr was {factor * right.lr:.6g}, and it is {right.lr:g}" if step == 1 else "")
        return f"{so_far}: it is {factor:.6g} times what it should be{as_if}."
    kept = (each.new - wanted) / each.old
    if _is_constant(kept):
        of_lr = ", which is 1 − lr" if np.isclose(kept.flat[0], 1 - right.lr) else ""
        by = f"{kept.flat[0]:.6g}{of_lr}, and should be multiplied by self.kept(parameter), which is 1 here"
        return f"The step itself is right, but before it the value is multiplied by {by}."
    if np.ptp(added) <= 1e-12 * root.max():
        return f"{so_far}: it is lr · m̂ / (√v̂ + {added.flat[0]:.6g}), and should be with eps, which is {right.eps:g}."
    return f"{so_far}: look at m̂, v̂, the root, eps and lr.{' The steps before are right.' if step > 1 else ''}"


def _is_of_t(factor: float, beta: float, step: int, other: int) -> bool:
    """Whether it is that of a mean corrected with another t."""
    return bool(np.isclose(factor, (1 - beta**step) / (1 - beta**other)))


def _is_constant(array: Array) -> bool:
    return bool(np.isfinite(array).all() and np.ptp(array) <= 1e-9 * np.abs(array).max())
