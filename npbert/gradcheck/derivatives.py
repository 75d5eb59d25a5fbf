"""The derivatives of a layer, as forward shows them: of each number, or along directions in which all numbers move."""

from __future__ import annotations

import numpy as np

from npbert.compute import Array
from npbert.gradcheck.function import ScalarFunction
from npbert.gradcheck.report import Gradients


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
