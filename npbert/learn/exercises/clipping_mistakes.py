"""Exercise 13, part two: what goes wrong with the factor of clipping, and with what is returned."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from npbert.core import Parameter
from npbert.learn.exercise import Mistakes
from npbert.learn.exercises.clipping import joint_norm
from npbert.optim import clip_by_global_norm

CLIPS = Mistakes(clip_by_global_norm)


def scaled(parameters: Iterable[Parameter], max_norm: float, norm: float) -> None:
    """Scale each gradient as is right for this norm."""
    for parameter in parameters:
        parameter.grad[...] *= min(1.0, max_norm / norm)


@CLIPS(
    "Each gradient is clipped by itself, so the step is turned.",
    "Large gradients shrink and small ones do not: together they point elsewhere. There is one norm over all numbers "
    "of all gradients, and one factor for all.",
)
def clipped_each_by_itself(parameters: Iterable[Parameter], max_norm: float) -> float:
    parameters = list(dict.fromkeys(parameters))
    norm = joint_norm(parameters)
    for parameter in parameters:
        scaled([parameter], max_norm, joint_norm([parameter]))
    return norm


@CLIPS(
    "Every number is clipped by itself, to between −max_norm and max_norm.",
    "That turns the step: large numbers shrink and small ones do not. There is one norm over all numbers of all "
    "gradients, and one factor for all.",
)
def each_number_clipped(parameters: Iterable[Parameter], max_norm: float) -> float:
    parameters = list(dict.fromkeys(parameters))
    norm = joint_norm(parameters)
    for parameter in parameters:
        np.clip(parameter.grad, -max_norm, max_norm, out=parameter.grad)
    return norm


@CLIPS(
    "A gradient that is short enough is made longer: it is scaled to max_norm, too.",
    "Clipping only shortens. Where the norm is not above max_norm, nothing is changed: the factor is at most 1.",
)
def always_scaled(parameters: Iterable[Parameter], max_norm: float) -> float:
    parameters = list(dict.fromkeys(parameters))
    norm = joint_norm(parameters)
    for parameter in parameters:
        parameter.grad[...] *= max_norm / norm
    return norm


@CLIPS(
    "Every number that is above max_norm is set to it, by itself.",
    "That turns the step: large numbers shrink and small ones do not. There is one norm over all numbers of all "
    "gradients, and one factor for all.",
)
def each_number_at_most(parameters: Iterable[Parameter], max_norm: float) -> float:
    parameters = list(dict.fromkeys(parameters))
    norm = joint_norm(parameters)
    for parameter in parameters:
        np.minimum(parameter.grad, max_norm, out=parameter.grad)
    return norm


@CLIPS(
    "The norms of the gradients are added up, but it is their squares that add up.",
    "The joint norm is that of all numbers in one row: √(Σ grad²). Of several norms that is √(a² + b²), and not a + b.",
)
def norms_added(parameters: Iterable[Parameter], max_norm: float) -> float:
    parameters = list(dict.fromkeys(parameters))
    norm = sum(joint_norm([parameter]) for parameter in parameters)
    scaled(parameters, max_norm, norm)
    return norm


@CLIPS(
    "The root is missing: the sum of squares is taken for the norm.",
    "The norm is the length of the vector: √(Σ grad²).",
)
def root_forgotten(parameters: Iterable[Parameter], max_norm: float) -> float:
    parameters = list(dict.fromkeys(parameters))
    norm = joint_norm(parameters) ** 2
    scaled(parameters, max_norm, norm)
    return norm


@CLIPS(
    "A parameter that is given twice counts twice, in the norm and when it is scaled.",
    "It is one parameter, with one gradient (a tied table, say). list(dict.fromkeys(parameters)) has each once, in "
    "order.",
)
def given_twice_counts_twice(parameters: Iterable[Parameter], max_norm: float) -> float:
    parameters = list(parameters)
    norm = joint_norm(parameters)
    scaled(parameters, max_norm, norm)
    return norm


@CLIPS(
    "A parameter that is given twice is scaled twice.",
    "It is one parameter, with one gradient (a tied table, say). list(dict.fromkeys(parameters)) has each once, in "
    "order.",
)
def given_twice_is_scaled_twice(parameters: Iterable[Parameter], max_norm: float) -> float:
    parameters = list(parameters)
    norm = joint_norm(dict.fromkeys(parameters))
    scaled(parameters, max_norm, norm)
    return norm


@CLIPS(
    "The norm that is returned is the one after clipping, and should be the one before.",
    "It is written into the log, to see how large the gradients were.",
)
def returns_the_norm_after(parameters: Iterable[Parameter], max_norm: float) -> float:
    parameters = list(dict.fromkeys(parameters))
    scaled(parameters, max_norm, joint_norm(parameters))
    return joint_norm(parameters)


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
    "The factor is upside down: it is min(1, norm / max_norm), and should be min(1, max_norm / norm).",
    "What is longer than max_norm has to shrink, and what is short enough stays as it is: that is the other way round.",
)
def upside_down_and_at_most_1(parameters: Iterable[Parameter], max_norm: float) -> float:
    parameters = list(dict.fromkeys(parameters))
    norm = joint_norm(parameters)
    for parameter in parameters:
        parameter.grad[...] *= min(1.0, norm / max_norm)
    return norm


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
    norm = joint_norm(parameters)
    for parameter in parameters if norm <= max_norm else ():
        parameter.grad[...] *= max_norm / norm
    return norm


@CLIPS(
    "Nothing is scaled: the norm is returned, and the gradients stay as they are.",
    "`grad = parameter.grad * factor` makes a new array. parameter.grad[...] *= factor changes the one that is there.",
)
def nothing_scaled(parameters: Iterable[Parameter], max_norm: float) -> float:
    return joint_norm(dict.fromkeys(parameters))


def _by(parameters: Iterable[Parameter], max_norm: float, factor: Callable[[float], float]) -> float:
    parameters = list(dict.fromkeys(parameters))
    norm = joint_norm(parameters)
    for parameter in parameters if norm > max_norm else ():
        parameter.grad[...] *= factor(norm)
    return norm


@CLIPS(
    "It is the values that are scaled, and should be the gradients.",
    "A long gradient would make too large a step. The values, which take that step, stay as they are: "
    "parameter.grad[...] *= max_norm / norm.",
)
def values_scaled(parameters: Iterable[Parameter], max_norm: float) -> float:
    parameters = list(dict.fromkeys(parameters))
    norm = joint_norm(parameters)
    for parameter in parameters:
        parameter.value[...] *= min(1.0, max_norm / norm)
    return norm


@CLIPS(
    "Only the first gradient is scaled.",
    "One factor for all of them: is there a `return` in the loop? It stands after it.",
)
def only_the_first_scaled(parameters: Iterable[Parameter], max_norm: float) -> float:
    parameters = list(dict.fromkeys(parameters))
    norm = joint_norm(parameters)
    scaled(parameters[:1], max_norm, norm)
    return norm


@CLIPS(
    "Only the last gradient is scaled.",
    "One factor for all of them: the line that scales belongs inside of the loop.",
)
def only_the_last_scaled(parameters: Iterable[Parameter], max_norm: float) -> float:
    parameters = list(dict.fromkeys(parameters))
    norm = joint_norm(parameters)
    scaled(parameters[-1:], max_norm, norm)
    return norm


_LOG = "The norm before clipping is written into the log, to see how large the gradients were."


@CLIPS("What is returned is the factor, and should be the norm before clipping.", _LOG)
def returns_the_factor(parameters: Iterable[Parameter], max_norm: float) -> float:
    return max_norm / _clipped(parameters, max_norm)


@CLIPS("What is returned is at most 1: the factor, and should be the norm before clipping.", _LOG)
def returns_the_factor_at_most_1(parameters: Iterable[Parameter], max_norm: float) -> float:
    return min(1.0, max_norm / _clipped(parameters, max_norm))


@CLIPS("What is returned is the sum of squares, and should be its root, the norm.", _LOG)
def returns_the_square(parameters: Iterable[Parameter], max_norm: float) -> float:
    return _clipped(parameters, max_norm) ** 2


@CLIPS("What is returned is max_norm, and should be the norm before clipping.", _LOG)
def returns_max_norm(parameters: Iterable[Parameter], max_norm: float) -> float:
    _clipped(parameters, max_norm)
    return max_norm


def _clipped(parameters: Iterable[Parameter], max_norm: float) -> float:
    """The right clipping."""
    return _by(parameters, max_norm, lambda norm: max_norm / norm)
