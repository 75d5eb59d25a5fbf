"""The derivatives of a layer, as forward shows them: exactly, or estimated for each number or along directions in which
all numbers move."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.exact import gradients_with_digits
from npbert.gradcheck.function import ScalarFunction
from npbert.gradcheck.report import Gradients


def exact_gradients(function: ScalarFunction) -> Gradients:
    """∂S/∂value for each number, right to the last digit of a float; {} where exact arithmetic has no rule."""
    try:
        _, right = gradients_with_digits(function.layer, tuple(function.inputs), function.rng, function.dy)
    except (TypeError, ValueError, AttributeError, ArithmeticError, LookupError):
        return {}
    return {name: decimals.astype(np.float64) for name, decimals in right.items()}


def by_number(function: ScalarFunction, method: str) -> Gradients:
    """∂S/∂value for each number in the parameters and the float inputs."""
    with function.movable(method) as variables:
        return {
            name: np.reshape(
                [function.derivative(method, [(array, index, 1.0)]) for index in np.ndindex(array.shape)], array.shape
            )
            for name, array in variables.items()
        }


def by_direction(function: ScalarFunction, method: str, steps: list[Gradients]) -> Array:
    """∂S/∂t at t = 0 for each step, in which every value is value + t · step."""
    with function.movable(method) as variables:
        moves = [[(variables[name], ..., step[name]) for name in variables] for step in steps]
        return np.array([function.derivative(method, move) for move in moves])


def estimates_along(function: ScalarFunction, steps: list[Gradients], methods: Iterable[str]) -> dict[str, Gradients]:
    """by_direction of each method, but for the complex step where complex numbers do not flow."""
    found = {}
    for method in methods:
        with contextlib.suppress(TypeError):
            found[method] = {"direction": by_direction(function, method, steps)}
    return found


def size_along(gradients: Gradients, steps: list[Gradients]) -> Array:
    """The size that the derivative along each step would have if its terms had signs at random: √Σ(g · step)². What
    rounding does is in proportion to it, even where the terms cancel."""
    return np.sqrt([sum(((gradients[name] * step[name]) ** 2).sum() for name in gradients) for step in steps])


def random_steps(gradients: Gradients, count: int, seed: int) -> list[Gradients]:
    """Random directions over all the variables together, each of length 1."""
    rng = np.random.default_rng(seed)
    return [_unit_step(gradients, rng) for _ in range(count)]


def along(gradients: Gradients, steps: list[Gradients]) -> Array:
    """The derivative along each step that the gradients imply."""
    return np.array([sum((gradients[name] * step[name]).sum() for name in gradients) for step in steps])


def _unit_step(gradients: Gradients, rng: np.random.Generator) -> Gradients:
    step = {name: rng.standard_normal(gradient.shape) for name, gradient in gradients.items()}
    length = np.sqrt(sum((part * part).sum() for part in step.values()))
    return {name: part / length for name, part in step.items()}
