"""Watch: how large the gradient of a step is in each layer of a model, and how far the step moves each layer."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.models.layers_of import layers_of
from npbert.optim import global_norm

_SAMPLE = 4096


class Watch:
    """Looks at one step: made when the gradients are whole, and asked for its `numbers` after the update."""

    def __init__(self, model: Any) -> None:
        self._layers = layers_of(model)
        self._norms = {name: global_norm(parameters) for name, parameters in self._layers.items()}
        self._before = self._samples()

    def numbers(self) -> dict[str, dict[str, float]]:
        """By layer: the norm of its gradient, ‖g‖, and that of the update beside that of the values, ‖Δw‖ / ‖w‖.

        The second is an estimate, from at most 4,096 evenly spaced values of each parameter, so that it costs next to
        nothing. It is NaN where all values are 0. Both have four digits.
        """
        after = self._samples()
        ratios = {
            name: _ratio(_size([new - old for new, old in zip(after[name], before, strict=True)]), _size(before))
            for name, before in self._before.items()
        }
        return {"gradient_norms": _short(self._norms), "update_ratios": _short(ratios)}

    def _samples(self) -> dict[str, list[Array]]:
        """By layer, for each parameter, values of it: each times √n, where every n-th value was taken."""
        return {name: [_sample(p.value, weighted=True) for p in of_one] for name, of_one in self._layers.items()}


def histograms(model: Any) -> dict[str, Array]:
    """By layer, values of its parameters and of their gradients: at most 4,096 of each parameter, evenly spaced."""
    found = {}
    for name, parameters in layers_of(model).items():
        found[f"values/{name}"] = np.concatenate([_sample(parameter.value) for parameter in parameters])
        found[f"gradients/{name}"] = np.concatenate([_sample(parameter.grad) for parameter in parameters])
    return found


def _sample(values: Array, *, weighted: bool = False) -> Array:
    flat = values.reshape(-1)
    step = -(-len(flat) // _SAMPLE) | 1  # odd, so that it does not stay in one column
    sample = flat[::step].astype(float)
    return sample * math.sqrt(len(flat) / len(sample)) if weighted else sample


def _size(arrays: list[Array]) -> float:
    return math.sqrt(sum(float(array @ array) for array in arrays))


def _ratio(update: float, size: float) -> float:
    return update / size if size else math.nan


def _short(numbers: dict[str, float]) -> dict[str, float]:
    return {name: float(f"{number:.4g}") for name, number in numbers.items()}
