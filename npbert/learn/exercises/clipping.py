"""Exercise 13, part two: clipping, and what goes wrong with it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from npbert.core import Parameter
from npbert.learn.exercise import Mistakes
from npbert.learn.numbers import Numbers
from npbert.optim import clip_by_global_norm

CLIPS = Mistakes(clip_by_global_norm)


def clipped(thing: Any, seed: int) -> Numbers:
    rng, numbers = np.random.default_rng(seed), {}
    for what, max_norm in (("too long a gradient", 1.3), ("a gradient that is short enough", 99.0)):
        parameters = [Parameter(rng.standard_normal(shape)) for shape in ((3, 5), (7,), (2,))]
        for parameter, size in zip(parameters, (1.0, 3.0, 0.01), strict=True):
            parameter.add_grad(size * rng.standard_normal(parameter.value.shape))
        norm = thing([*parameters, parameters[1]], max_norm)
        for number, parameter in enumerate(parameters, start=1):
            numbers[f"{what}, parameter {number}"] = parameter.grad
        numbers[f"{what}, the norm that is returned"] = np.asarray(np.nan if norm is None else norm, float)
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
