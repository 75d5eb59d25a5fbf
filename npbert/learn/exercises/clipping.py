"""Exercise 13, part two: the numbers that clipping is judged by, and what is true of those that are wrong."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import Parameter
from npbert.gradcheck import GradientError
from npbert.learn.attempt import Failure, attempt
from npbert.learn.numbers import Numbers

LONG, SHORT = 1.3, 99.0
"""A max_norm above which the gradients are, and one below which they are."""

_SHAPES = ((3, 5), (7,), (2,))


def joint_norm(parameters: Iterable[Parameter]) -> float:
    """√(Σ grad²)"""
    return math.sqrt(sum((parameter.grad**2).sum() for parameter in parameters))


def clipped(thing: Any, seed: int) -> Numbers:
    """All gradients, values and norms of one clipping of gradients that are too long, and one of such that are not."""
    rng = np.random.default_rng(seed)
    gradients, values, norms = [], [], []
    for max_norm in (LONG, SHORT):
        parameters = [Parameter(rng.standard_normal(shape)) for shape in _SHAPES]
        for parameter, size in zip(parameters, (1.0, 3.0, 1.7), strict=True):
            parameter.add_grad(size * rng.standard_normal(parameter.value.shape))
        norms.append(thing([*parameters, parameters[1]], max_norm))
        gradients += [parameter.grad.ravel() for parameter in parameters]
        values += [parameter.value.ravel() for parameter in parameters]
    if any(norm is None for norm in norms):
        where = ("", " where nothing is scaled", " where the gradients are too long")[
            0 if norms == [None, None] else 1 if norms[1] is None else 2
        ]
        raise GradientError(f"nothing is returned{where}, wanted the norm before: is there a `return` on every way?")
    return {
        "what becomes of the gradients": np.concatenate(gradients),
        "what becomes of the values": np.concatenate(values),
        "what is returned": np.array(norms, float),
    }


def explain_clipping(thing: Any) -> list[tuple[str, str]]:
    """By what each gradient is multiplied, and what is returned, beside what they should be."""
    told = dict.fromkeys([*_explained(thing, LONG), *_explained(thing, SHORT)])
    return [("", " ".join(told))] if told else []


def _explained(thing: Any, max_norm: float) -> list[str]:
    rng = np.random.default_rng(0)
    parameters = [Parameter(rng.standard_normal(shape)) for shape in _SHAPES]
    for parameter in parameters:
        parameter.add_grad(rng.standard_normal(parameter.value.shape))
    before, norm = [parameter.grad.copy() for parameter in parameters], joint_norm(parameters)
    returned = attempt(lambda: thing(list(parameters), max_norm))
    if isinstance(returned, Failure) or np.ndim(returned) > 0:
        return []
    factor, three = min(1.0, max_norm / norm), f"Three gradients whose joint norm is {norm:.4g}"
    factors = [_factor(parameter.grad, old) for parameter, old in zip(parameters, before, strict=True)]
    is_returned = bool(np.isclose(float(returned), norm, rtol=1e-5))
    wanted = f"{factor:.4g} for all, which is max_norm / norm" if factor < 1 else "1, as they are short enough"
    told = []
    if None in factors:
        told.append(
            f"The numbers of one gradient are not all multiplied by the same factor{_moved(parameters, before)}."
        )
    elif not np.allclose(np.array(factors, float), factor, rtol=1e-5):
        said = " and ".join([", ".join(f"{each:.4g}" for each in factors[:2]), f"{factors[2]:.4g}"])
        said = f"by {said}" if len({f"{each:.4g}" for each in factors}) > 1 else f"each by {factors[0]:.4g}"
        told.append(f"{three} are multiplied {said}, where max_norm is {max_norm:g}; it should be {wanted}.")
        told += _causes(factors, norm, max_norm, before)
        if not is_returned and np.allclose(np.array(factors, float), max_norm / float(returned), rtol=1e-5):
            told.append("That is max_norm divided by what is returned: so look at how the norm is made.")
    if not is_returned:
        told.append(f"What is returned is {float(returned):.4g} where the joint norm is {norm:.4g}.")
    return told


def _causes(factors: list[float | None], norm: float, max_norm: float, before: list[Array]) -> list[str]:
    """What the factors come from, if that has a name."""
    found = np.array(factors, float)
    powers = {"1": 1.0, "max_norm": max_norm, "norm": norm, "max_norm²": max_norm**2, "norm²": norm**2}
    powers |= {"√max_norm": max_norm**0.5, "√norm": norm**0.5}
    causes = {
        (above if below == "1" else f"{above} / {below}"): one / other
        for (above, one), (below, other) in itertools.product(powers.items(), repeat=2)
        if above != below
    }
    causes |= {
        "1 − max_norm / norm": 1 - max_norm / norm,
        "max_norm / (norm + 1)": max_norm / (norm + 1),
        "(norm − max_norm) / norm": (norm - max_norm) / norm,
        "√(max_norm / norm)": (max_norm / norm) ** 0.5,
    }
    told = next((f"That is {text}." for text, cause in causes.items() if np.allclose(found, cause, rtol=1e-6)), "")
    anew, squares = [], [float((grad**2).sum()) for grad in before]
    for place in range(len(before)):
        anew.append(max_norm / math.sqrt(sum(squares)))
        squares[place] *= anew[-1] ** 2
    if np.allclose(found, anew, rtol=1e-6):
        told = "As if the norm was computed anew for each, when those before it were scaled: compute it once, before."
    return [told] if told else []


def _factor(new: Array, old: Array) -> float | None:
    """By what an array was multiplied, if it was."""
    factor = float((new * old).sum() / (old * old).sum())
    return factor if np.allclose(new, factor * old, rtol=1e-6) else None


def _moved(parameters: list[Parameter], before: list[Array]) -> str:
    """Whether it is a number that was added, or subtracted."""
    by = np.concatenate([(old - parameter.grad).ravel() for parameter, old in zip(parameters, before, strict=True)])
    return f": {by[0]:.4g} is subtracted from each" if np.ptp(by) <= 1e-9 * np.abs(by).max() else ""
