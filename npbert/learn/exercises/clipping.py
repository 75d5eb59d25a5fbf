"""Exercise 13, part two: clipping, and what goes wrong with it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import Parameter
from npbert.learn.attempt import Failure, attempt
from npbert.learn.exercise import Mistakes
from npbert.learn.numbers import Numbers
from npbert.optim import clip_by_global_norm

CLIPS = Mistakes(clip_by_global_norm)


def clipped(thing: Any, seed: int) -> Numbers:
    rng, numbers = np.random.default_rng(seed), {}
    for when, max_norm in (("where they are too long", 1.3), ("where they are short enough", 99.0)):
        parameters = [Parameter(rng.standard_normal(shape)) for shape in ((3, 5), (7,), (2,))]
        for parameter, size in zip(parameters, (1.0, 3.0, 1.7), strict=True):
            parameter.add_grad(size * rng.standard_normal(parameter.value.shape))
        norm = thing([*parameters, parameters[1]], max_norm)
        for number, parameter in enumerate(parameters, start=1):
            numbers[f"gradient {number} {when}"] = parameter.grad
        if norm is not None:
            numbers[f"the norm that is returned {when}"] = np.asarray(norm, float)
    return numbers


def _scaled(parameters: Iterable[Parameter], max_norm: float, norm: float) -> None:
    for parameter in parameters:
        parameter.grad[...] *= min(1.0, max_norm / norm)


def _norm(parameters: Iterable[Parameter]) -> float:
    return math.sqrt(sum((parameter.grad**2).sum() for parameter in parameters))


@CLIPS(
    "Each gradient is clipped by itself, so the step is turned.",
    "Large gradients shrink and small ones do not: together they point elsewhere. There is one norm over all numbers "
    "of all gradients, and one factor for all.",
)
def clipped_each_by_itself(parameters: Iterable[Parameter], max_norm: float) -> float:
    parameters = list(dict.fromkeys(parameters))
    norm = _norm(parameters)
    for parameter in parameters:
        _scaled([parameter], max_norm, _norm([parameter]))
    return norm


@CLIPS(
    "Every number is clipped by itself, to between −max_norm and max_norm.",
    "That turns the step: large numbers shrink and small ones do not. There is one norm over all numbers of all "
    "gradients, and one factor for all.",
)
def each_number_clipped(parameters: Iterable[Parameter], max_norm: float) -> float:
    parameters = list(dict.fromkeys(parameters))
    norm = _norm(parameters)
    for parameter in parameters:
        np.clip(parameter.grad, -max_norm, max_norm, out=parameter.grad)
    return norm


@CLIPS(
    "A gradient that is short enough is made longer: it is scaled to max_norm in any case.",
    "Clipping only shortens. Where the norm is not above max_norm, nothing is changed: the factor is at most 1.",
)
def always_scaled(parameters: Iterable[Parameter], max_norm: float) -> float:
    parameters = list(dict.fromkeys(parameters))
    norm = _norm(parameters)
    for parameter in parameters:
        parameter.grad[...] *= max_norm / norm
    return norm


@CLIPS(
    "The norms of the gradients are added up, but it is their squares that add up.",
    "The joint norm is that of all numbers in one row: √(Σ grad²). Of several norms that is √(a² + b²), and not a + b.",
)
def norms_added(parameters: Iterable[Parameter], max_norm: float) -> float:
    parameters = list(dict.fromkeys(parameters))
    norm = sum(_norm([parameter]) for parameter in parameters)
    _scaled(parameters, max_norm, norm)
    return norm


@CLIPS(
    "The root is missing: the sum of squares is taken for the norm.",
    "The norm is the length of the vector: √(Σ grad²).",
)
def root_forgotten(parameters: Iterable[Parameter], max_norm: float) -> float:
    parameters = list(dict.fromkeys(parameters))
    norm = _norm(parameters) ** 2
    _scaled(parameters, max_norm, norm)
    return norm


@CLIPS(
    "A parameter that is given twice counts twice, in the norm and when it is scaled.",
    "It is one parameter, with one gradient (a tied table, say). list(dict.fromkeys(parameters)) has each once, in "
    "order.",
)
def given_twice_counts_twice(parameters: Iterable[Parameter], max_norm: float) -> float:
    parameters = list(parameters)
    norm = _norm(parameters)
    _scaled(parameters, max_norm, norm)
    return norm


@CLIPS(
    "A parameter that is given twice is scaled twice.",
    "It is one parameter, with one gradient (a tied table, say). list(dict.fromkeys(parameters)) has each once, in "
    "order.",
)
def given_twice_is_scaled_twice(parameters: Iterable[Parameter], max_norm: float) -> float:
    parameters = list(parameters)
    norm = _norm(dict.fromkeys(parameters))
    _scaled(parameters, max_norm, norm)
    return norm


@CLIPS(
    "The norm that is returned is the one after clipping, and should be the one before.",
    "It is written into the log, to see how large the gradients were.",
)
def returns_the_norm_after(parameters: Iterable[Parameter], max_norm: float) -> float:
    parameters = list(dict.fromkeys(parameters))
    _scaled(parameters, max_norm, _norm(parameters))
    return _norm(parameters)


@CLIPS(
    "max_norm is missing in the factor: the gradients are divided by the norm, so that their norm is 1.",
    "The factor is max_norm / norm: what is longer than max_norm becomes just as long.",
)
def divided_by_the_norm(parameters: Iterable[Parameter], max_norm: float) -> float:
    return _by(parameters, max_norm, lambda norm: 1 / norm)


@CLIPS(
    "The factor is upside down: the gradients are multiplied by norm / max_norm, and become longer.",
    "The factor is max_norm / norm, which is below 1 where the norm is above max_norm.",
)
def upside_down(parameters: Iterable[Parameter], max_norm: float) -> float:
    return _by(parameters, max_norm, lambda norm: norm / max_norm)


@CLIPS(
    "The factor is squared: it is (max_norm / norm)², and should be max_norm / norm.",
    "The norm is a root. max_norm² / Σ grad² is the square of the factor that is wanted.",
)
def factor_squared(parameters: Iterable[Parameter], max_norm: float) -> float:
    return _by(parameters, max_norm, lambda norm: (max_norm / norm) ** 2)


@CLIPS(
    "The gradients are divided by the norm twice: the factor is max_norm / norm², and should be max_norm / norm.",
    "The norm is the root of the sum of squares; the sum itself is the norm's square.",
)
def divided_by_the_square(parameters: Iterable[Parameter], max_norm: float) -> float:
    return _by(parameters, max_norm, lambda norm: max_norm / norm**2)


@CLIPS(
    "The gradients are multiplied by max_norm, but not divided by their norm.",
    "The factor is max_norm / norm: what is longer than max_norm becomes just as long.",
)
def multiplied_by_max_norm(parameters: Iterable[Parameter], max_norm: float) -> float:
    return _by(parameters, max_norm, lambda norm: max_norm)


@CLIPS(
    "Only what is short enough is scaled: the comparison is the wrong way round.",
    "It is `if norm > max_norm`: a gradient that is too long is made shorter, and all others stay as they are.",
)
def the_short_scaled(parameters: Iterable[Parameter], max_norm: float) -> float:
    parameters = list(dict.fromkeys(parameters))
    norm = _norm(parameters)
    for parameter in parameters if norm <= max_norm else ():
        parameter.grad[...] *= max_norm / norm
    return norm


@CLIPS(
    "Nothing is scaled: the norm is returned, and the gradients stay as they are.",
    "`grad = parameter.grad * factor` makes a new array. parameter.grad[...] *= factor changes the one that is there.",
)
def nothing_scaled(parameters: Iterable[Parameter], max_norm: float) -> float:
    return _norm(dict.fromkeys(parameters))


def _by(parameters: Iterable[Parameter], max_norm: float, factor: Callable[[float], float]) -> float:
    parameters = list(dict.fromkeys(parameters))
    norm = _norm(parameters)
    for parameter in parameters if norm > max_norm else ():
        parameter.grad[...] *= factor(norm)
    return norm


def _all(parameters: Iterable[Parameter]) -> Array:
    return np.concatenate([parameter.grad.ravel() for parameter in parameters])


_NORM = "The joint norm is √(Σ grad²), over all numbers of all gradients."
_NORMS: dict[str, tuple[str, Callable[[list[Parameter]], float]]] = {
    "largest": ("The largest number is taken for the norm.", lambda given: float(np.abs(_all(given)).max())),
    "sizes_added": (
        "The sizes of the numbers are added up, without squares.",
        lambda given: float(np.abs(_all(given)).sum()),
    ),
    "numbers_added": ("The numbers are added up, without squares.", lambda given: float(_all(given).sum())),
    "mean_square": (
        "The mean of all squares is taken, and not their sum.",
        lambda given: float(np.sqrt((_all(given) ** 2).mean())),
    ),
    "means_of_squares": (
        "The mean of the squares of each gradient is taken, and not their sum.",
        lambda given: math.sqrt(sum(float((parameter.grad**2).mean()) for parameter in given)),
    ),
    "largest_norm": (
        "The largest of the norms of the gradients is taken, and not their joint norm.",
        lambda given: max(_norm([parameter]) for parameter in given),
    ),
    "mean_norm": (
        "The mean of the norms of the gradients is taken, and not their joint norm.",
        lambda given: sum(_norm([parameter]) for parameter in given) / len(given),
    ),
    "of_values": (
        "The norm is that of the values, and should be that of the gradients.",
        lambda given: math.sqrt(sum(float((parameter.value**2).sum()) for parameter in given)),
    ),
    "first_alone": ("The norm is that of the first gradient alone.", lambda given: _norm(given[:1])),
    "last_alone": ("The norm is that of the last gradient alone.", lambda given: _norm(given[-1:])),
}


def _with_norm(name: str, says: str, norm_of: Callable[[list[Parameter]], float]) -> None:
    def clipped_by(parameters: Iterable[Parameter], max_norm: float) -> float:
        parameters = list(dict.fromkeys(parameters))
        norm = norm_of(parameters)
        _scaled(parameters, max_norm, norm)
        return norm

    clipped_by.__name__ = f"norm_{name}"
    CLIPS(says, _NORM)(clipped_by)


for _name, (_says, _norm_of) in _NORMS.items():
    _with_norm(_name, _says, _norm_of)


def explain_clipping(thing: Any) -> list[tuple[str, str]]:
    """By what each gradient is multiplied, and what is returned, beside what they should be."""
    rng = np.random.default_rng(0)
    parameters = [Parameter(rng.standard_normal(shape)) for shape in ((3, 5), (7,), (2,))]
    for parameter in parameters:
        parameter.add_grad(rng.standard_normal(parameter.value.shape))
    before, norm = [parameter.grad.copy() for parameter in parameters], _norm(parameters)
    returned = attempt(lambda: thing(list(parameters), 1.3))
    if isinstance(returned, Failure):
        return []
    factors = [float((new.grad * old).sum() / (old * old).sum()) for new, old in zip(parameters, before, strict=True)]
    are_factors = all(
        np.allclose(new.grad, factor * old, rtol=1e-6)
        for new, old, factor in zip(parameters, before, factors, strict=True)
    )
    told = []
    if are_factors and not np.allclose(factors, 1.3 / norm, rtol=1e-5):
        first, second, third = (f"{factor:.4g}" for factor in factors)
        said = f"by {first}, {second} and {third}" if len({first, second, third}) > 1 else f"each by {first}"
        told.append(
            f"Three gradients whose joint norm is {norm:.4g} are multiplied {said}, where max_norm is 1.3; it should "
            f"be {1.3 / norm:.4g} for all, which is max_norm / norm."
        )
    if not are_factors:
        told.append("The numbers of one gradient are not all multiplied by the same factor.")
    if returned is not None and np.ndim(returned) == 0 and not np.isclose(float(returned), norm, rtol=1e-5):
        told.append(f"What is returned is {float(returned):.4g} where the joint norm is {norm:.4g}.")
    return [("", " ".join(told))] if told else []
