"""Exercise 14: what is true of a decay that is no known mistake: of what kept returns, and of where step uses it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import Parameter
from npbert.gradcheck import GradientError
from npbert.learn.attempt import Failure, attempt
from npbert.learn.exercise import Finding
from npbert.learn.exercises.adam_explained import IN_THE_GRADIENT, Taken, taken
from npbert.learn.exercises.adam_formulas import Settings, same, written_for_m
from npbert.optim import AdamW

DECAY = 0.3
_SHAPES = ((3, 5), (7,))
_L2 = "The decay is added to the gradient: m is made with g + λ θ."


def returned_by_kept(thing: Any, options: dict[str, Any]) -> tuple[float, float]:
    """What kept returns for a matrix, and for a vector. Raises: GradientError where it is no number, or where kept
    changes the value."""
    optimizer, found = thing([Parameter(np.ones((3, 5)))], weight_decay=DECAY, **options), []
    optimizer.steps = 2
    for what, shape in zip(("matrix", "vector"), _SHAPES, strict=True):
        parameter = Parameter(np.random.default_rng(0).standard_normal(shape))
        before = parameter.value.copy()
        returned = optimizer.kept(parameter)
        if not np.array_equal(parameter.value, before):
            raise GradientError(
                "the value is changed by kept, which should only return the factor: step multiplies by it"
            )
        if returned is None:
            raise GradientError(
                f"for a {what}, kept returns nothing, wanted a number: is there a `return` on every way past the `if`?"
            )
        if isinstance(returned, np.ndarray) and returned.ndim:
            break
        found.append(float(returned))
    else:
        return found[0], found[1]
    return float("nan"), float("nan")  # an array, which is told of by its numbers


def explain_decay(thing: Any, options: dict[str, Any]) -> list[tuple[str, str]]:
    """What kept returns, for a matrix and for a vector; or what step makes of it."""
    found = attempt(lambda: returned_by_kept(thing, options))
    if isinstance(found, Failure):
        return []
    if np.isnan(found).any():
        return [("", "kept returns an array, and should return one number: 1 − lr · λ for a matrix, 1 for all else.")]
    lr = options["lr"]
    wanted, why = 1 - lr * DECAY, f", which is 1 − lr · λ with lr {lr:g} and λ {DECAY:g}"
    wrong = [
        f"For {what}, kept returns {given:.6g}, and should return {right:.6g}{because}."
        for what, given, right, because in (
            ("a matrix", found[0], wanted, why + _how_much(found[0], lr)),
            ("a vector", found[1], 1.0, ""),
        )
        if not np.isclose(given, right, rtol=1e-9)
    ]
    says = " ".join(wrong) or _where_it_is_used(thing, options)
    return [("", says), *([("", IN_THE_GRADIENT)] if says == _L2 else [])]


def _how_much(kept: float, lr: float) -> str:
    """How many times too large the decay is, if that is a whole number or a part."""
    times = (1 - kept) / (lr * DECAY)
    for count in (2.0, 3.0, 0.5):
        if np.isclose(times, count):
            return f": the decay, 1 − kept, is {count:g} times what it should be"
    return ""


def _where_it_is_used(thing: Any, options: dict[str, Any]) -> str:
    """What step does with kept, which returns what is right."""
    of_another_shape = prove_kept(thing, options)
    if of_another_shape:
        return of_another_shape.says
    calls: list[int] = []

    class Counting(thing):  # type: ignore[misc]
        def kept(self, parameter: Parameter) -> Any:
            calls.append(1)
            return super().kept(parameter)

    steps = [each for each in taken(Counting, AdamW, weight_decay=DECAY, **options) if each.scale == 1]
    if not steps:
        return "What kept returns is right: look at step."
    never = "What kept returns is right, but step never asks for it: each value is multiplied by self.kept(parameter)."
    in_gradient = _in_the_gradient(steps)
    if in_gradient:
        return in_gradient
    if not calls:
        return never
    return _move(steps) or "What kept returns is right: look at where step uses it."


def prove_kept(thing: Any, options: dict[str, Any]) -> Finding | None:
    """Whether kept tells a matrix from all else by its axes, and not by anything else."""
    own, right = (cls([Parameter(np.ones(2))], weight_decay=DECAY, **options) for cls in (thing, AdamW))
    for shape in ((1, 2), (2, 3, 4), (50,), (1,)):
        given, wanted = (float(optimizer.kept(Parameter(np.ones(shape)))) for optimizer in (own, right))
        if not np.isclose(given, wanted, rtol=1e-9):
            return Finding(
                f"For a value of shape {shape}, kept returns {given:.6g}, and should return {wanted:.6g}.",
                "What has more than one axis is decayed, parameter.value.ndim > 1, of any size; a vector never is.",
            )
    return None


def _in_the_gradient(steps: list[Taken]) -> str:
    own = steps[0].own
    beta1, beta2 = own.betas
    settings = Settings(own.lr, beta1, beta2, own.eps, DECAY)
    if "λ θ" in written_for_m([each.of for each in steps], settings):
        return _L2
    return ""


def _move(steps: list[Taken]) -> str:
    """Another formula for the new value."""
    right = "θ · kept − step"
    forms: dict[str, Callable[[Array, float, Array], Array]] = {
        "θ · kept² − step": lambda old, kept, step: old * kept**2 - step,
        "θ · √kept − step": lambda old, kept, step: old * kept**0.5 - step,
        "(θ − step) · kept": lambda old, kept, step: (old - step) * kept,
        "θ − step · kept": lambda old, kept, step: old - step * kept,
        "θ · kept − step · kept²": lambda old, kept, step: (old - step * kept) * kept,
        "θ − kept − step": lambda old, kept, step: old - kept - step,
        "θ + kept − step": lambda old, kept, step: old + kept - step,
        "θ / kept − step": lambda old, kept, step: old / kept - step,
        "θ · kept": lambda old, kept, step: old * kept,
        "θ · (1 − kept) − step": lambda old, kept, step: old * (1 - kept) - step,
        "θ · (1 + kept) − step": lambda old, kept, step: old * (1 + kept) - step,
    }
    for text, form in forms.items():
        if all(same(form(each.old, *_kept_and_step(each)), each.new) for each in steps):
            return f"The new value is {text}, and should be {right}."
    return ""


def _kept_and_step(each: Taken) -> tuple[float, Any]:
    own, of = each.own, each.of
    beta1, beta2 = own.betas
    step = own.lr * of.new_m / (1 - beta1**of.t) / (np.sqrt(of.new_v / (1 - beta2**of.t)) + own.eps)
    return 1 - own.lr * DECAY, step
