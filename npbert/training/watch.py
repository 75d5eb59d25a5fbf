"""Watch: how large the gradients of a step are in each part of a model, and how far the step moves each part."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from npbert.core import Parameter, named_parameters

_SAMPLE = 4096


class Watch:
    """Looks at one step: made when the gradients are whole, and asked for its `numbers` after the update.

    parameters: by their names in the model; `model.named_parameters()` has them.
    """

    def __init__(self, model: Any) -> None:
        self._parameters = dict(named_parameters(model))
        self._before = {name: _sample(parameter) for name, parameter in self._parameters.items()}

    def numbers(self) -> dict[str, dict[str, float]]:
        """By the name of each parameter: the norm of its gradient, and that of the update beside that of its values.

        The second is taken from at most 4,096 values of each, evenly spaced, so that it costs next to nothing.
        """
        norms, ratios = {}, {}
        for name, parameter in self._parameters.items():
            norms[name] = float(np.linalg.norm(parameter.grad))
            before = self._before[name]
            size = float(np.linalg.norm(before))
            ratios[name] = float(np.linalg.norm(_sample(parameter) - before)) / size if size else math.nan
        return {"gradient_norms": norms, "update_ratios": ratios}


def _sample(parameter: Parameter) -> np.ndarray[Any, Any]:
    values = parameter.value.reshape(-1)
    return values[:: -(-len(values) // _SAMPLE)].copy()
