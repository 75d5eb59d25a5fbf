"""Exercise 14: what is true of a step that is no known mistake, from what it leaves in m, v and t, and in the value."""

from __future__ import annotations

from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import Parameter
from npbert.learn.attempt import Failure, attempt
from npbert.learn.numbers import described
from npbert.optim import Adam

_STEPS, _SCALE = 5, 0.5  # the last step has this scale
_PLACES = {"m": "self.first_moments", "v": "self.second_moments"}


def explain_step(thing: Any, options: dict[str, Any]) -> list[tuple[str, str]]:
    """Which of m, v, self.steps and the value is wrong first, after the same gradients, and how."""
    rng = np.random.default_rng(0)
    value = rng.standard_normal((3, 5))
    own, right = (optimizer([Parameter(value.copy())], **options) for optimizer in (thing, Adam))
    for step in range(1, _STEPS + 1):
        gradient = rng.standard_normal(value.shape)
        for optimizer in (own, right):
            optimizer.parameters[0].zero_grad()
            optimizer.parameters[0].add_grad(gradient.copy())
        old = own.parameters[0].value.copy()
        scale = _SCALE if step == _STEPS else 1.0
        if isinstance(attempt(lambda scale=scale: own.step(scale)), Failure):  # type: ignore[misc]
            return []
        right.step(scale)
        new = own.parameters[0].value.copy()
        found = _wrong_memory(own, right, step) or _wrong_move(old, new, right, step)
        if _same(new, old):
            found = f"{found} {_what_moves_later(own, new)}"
        if found:
            with_scale = f"The steps without a scale are right; but with scale {_SCALE}: " if scale != 1 else ""
            return [("", with_scale + found)]
    return []


def _what_moves_later(own: Any, value: Array) -> str:
    """Of an optimizer whose step left the value as it was: whether the next one does, too."""
    attempt(own.step)
    if _same(own.parameters[0].value, value):
        return "The value does not change: parameter.value is what it was. Change it in place: parameter.value -= …."
    return "This step leaves the value as it is, and the next one changes it: is it made with m and v as they were?"


def _wrong_memory(own: Any, right: Any, step: int) -> str:
    """What is wrong with what the learner's optimizer remembers after this step, if anything is."""
    pairs = {"m": (own.first_moments[0], right.first_moments[0]), "v": (own.second_moments[0], right.second_moments[0])}
    wrong = {name: pair for name, pair in pairs.items() if not _same(*pair)}
    if not wrong:
        return "" if own.steps == step else f"After step {step}, self.steps is {own.steps}, and should be {step}."
    texts = []
    for name, (one, wanted) in wrong.items():
        nothing = f"After step {step}, {_PLACES[name]} still holds nothing but 0: that is where {name} is kept."
        text = described(name, one, wanted)
        texts.append(nothing if not np.any(one) else f"After step {step}, {text[:1].lower()}{text[1:]}")
    fine = [f"{name} is right." for name in pairs if name not in wrong]
    return " ".join([*texts, *fine])


def _wrong_move(old: Array, new: Array, right: Any, step: int) -> str:
    """What is wrong with the move from the old value to the new one, where m, v and t are right."""
    beta1, beta2 = right.betas
    m_hat = right.first_moments[0] / (1 - beta1**step)
    root = np.sqrt(right.second_moments[0] / (1 - beta2**step))
    wanted = -right.lr * m_hat / (root + right.eps)
    if np.shape(new) != np.shape(old) or _same(new - old, wanted):
        return ""
    so_far = f"m, v and self.steps are right, but not step {step}, which is made of them"
    if _same(new, old):
        return f"{so_far}."
    if _same(np.abs(new), np.abs(wanted)):
        return "The new value is the step alone: the step has to be subtracted from the old value."
    with np.errstate(all="ignore"):
        below = -right.lr * m_hat / (new - old)
        factors, added = (new - old) / wanted, below - root
    if _is_constant(factors):
        factor = float(factors.flat[0])
        cause = next(
            (text for value, text in _causes(right, step) if np.isclose(factor, value)),
            "",
        )
        return f"{so_far}: it is {factor:.6g} times what it should be{cause}."
    if _is_constant(added):
        return f"{so_far}: it is lr · m̂ / (√v̂ + {added.flat[0]:.6g}), and should be with eps, which is {right.eps:g}."
    return f"{so_far}: look at m̂, v̂, the root, eps and lr.{' The steps before are right.' if step > 1 else ''}"


def _causes(right: Any, step: int) -> list[tuple[float, str]]:
    """Factors of a step, and what each may come from."""
    lr, beta1 = right.lr, right.betas[0]
    of_lr = [(1 / lr, "left out"), (lr, "used twice"), (1 / lr**2, "a divisor")]
    others = [t for t in range(1, step + 2) if t != step]
    of_t = [((1 - beta1**step) / (1 - beta1**t), f", as if m was corrected with t = {t}") for t in others]
    return [*((factor, f", as if lr, which is {lr:g}, was {text}") for factor, text in of_lr), *of_t]


def _is_constant(array: Array) -> bool:
    return bool(np.isfinite(array).all() and np.ptp(array) <= 1e-9 * np.abs(array).max())


def _same(one: Any, wanted: Any) -> bool:
    return np.shape(one) == np.shape(wanted) and bool(np.allclose(one, wanted, rtol=1e-9, atol=1e-12))


def explain_decay(thing: Any, options: dict[str, Any]) -> list[tuple[str, str]]:
    """What kept returns, for a matrix and for a vector."""
    optimizer = thing([Parameter(np.ones((3, 5)))], weight_decay=0.3, **options)
    optimizer.steps = 2
    found = [attempt(lambda shape=shape: optimizer.kept(Parameter(np.ones(shape)))) for shape in ((3, 5), (7,))]  # type: ignore[misc]
    if any(isinstance(each, np.ndarray) and each.ndim for each in found):
        return [("", "kept returns an array, and should return one number: 1 − lr · λ for a matrix, 1 for all else.")]
    if not all(isinstance(each, int | float | np.number) for each in found):
        return []
    lr, wanted = optimizer.lr, 1 - optimizer.lr * 0.3
    why = f", which is 1 − lr · λ with lr {lr:g} and λ 0.3"
    said = [("a matrix", found[0], wanted, why), ("a vector", found[1], 1.0, "")]
    wrong = [
        f"For {what}, kept returns {float(given):.6g}, and should return {right:.6g}{because}."
        for what, given, right, because in said
        if not np.isclose(given, right, rtol=1e-9)
    ]
    return [("", " ".join(wrong) or "What kept returns is right: look at where step uses it.")]
