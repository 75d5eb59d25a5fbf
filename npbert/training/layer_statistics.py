"""Statistics of a model's layers: the size of the gradient, and of the update, in each step."""

import math

import numpy as np

from npbert.compute import Array
from npbert.core import Layer
from npbert.models import parameters_by_layer
from npbert.optim import global_norm
from npbert.training.log import Log, short
from npbert.training.progress import Step, Watcher
from npbert.training.settings import TrainerSettings

_SAMPLE = 4096


class LayerStatistics(Watcher):
    """Writes a row of layers.jsonl for each logged step: by layer, the norm of the gradient, ‖g‖, and of the update
    relative to the values, ‖Δw‖ / ‖w‖, with four digits; and histograms at evaluations.

    The second is an estimate, from at most 4,096 evenly spaced values of each parameter. It is NaN if all are 0.
    """

    def __init__(self, model: Layer, settings: TrainerSettings, log: Log) -> None:
        self._layers, self._settings, self._log = parameters_by_layer(model), settings, log

    def before_update(self, step: Step) -> None:
        if self._settings.is_logged(step.number):
            self._norms = {name: short(global_norm(parameters)) for name, parameters in self._layers.items()}
            self._before = self._samples()

    def after(self, step: Step) -> None:
        if step.is_judged:
            self._log.events.histograms(step.number, self.histograms())
        if not step.row:
            return
        ratios, after = {}, self._samples()
        for name, before in self._before.items():
            moved = _size([new - old for new, old in zip(after[name], before, strict=True)])
            ratios[name] = short(moved / _size(before)) if _size(before) else math.nan
        self._log.layers.write(step.number, {"gradient_norms": self._norms, "update_ratios": ratios})

    def histograms(self) -> dict[str, Array]:
        """Return values of the parameters and gradients by layer: at most 4,096 of each parameter, evenly spaced."""
        found = {}
        for name, parameters in self._layers.items():
            found[f"values/{name}"] = np.concatenate([_sample(parameter.value) for parameter in parameters])
            found[f"gradients/{name}"] = np.concatenate([_sample(parameter.grad) for parameter in parameters])
        return found

    def _samples(self) -> dict[str, list[Array]]:
        """Return every n-th value of each parameter, times √n, by layer."""
        return {name: [_sample(p.value, weighted=True) for p in layer] for name, layer in self._layers.items()}


def _sample(values: Array, *, weighted: bool = False) -> Array:
    flat = values.reshape(-1)
    step = -(-len(flat) // _SAMPLE) | 1  # odd, to visit all columns
    sample = flat[::step].astype(float)
    return sample * math.sqrt(len(flat) / len(sample)) if weighted else sample


def _size(arrays: list[Array]) -> float:
    return math.sqrt(sum(float(array @ array) for array in arrays))
