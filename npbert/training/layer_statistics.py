"""Statistics of a model's layers: the size of the gradient, and of the update, in each step."""

import numpy as np

from npbert.compute import Array
from npbert.core import Layer
from npbert.models import parameters_by_layer
from npbert.optim import global_norm
from npbert.training.log import Log, short
from npbert.training.progress import Step, Watcher

_SAMPLE = 4096


class LayerStatistics(Watcher):
    """Writes a row of layers.jsonl for each logged step: by layer, the norm of the gradient, ‖g‖, and of the update
    relative to the values, ‖Δw‖ / ‖w‖, with four digits; and histograms at evaluations.

    The second is an estimate, from at most 4,096 evenly spaced values of each parameter. It is not finite if all are 0.
    """

    def __init__(self, model: Layer, log: Log) -> None:
        self._layers, self._log = parameters_by_layer(model), log

    def before_update(self, step: Step) -> None:
        if step.is_logged:
            self._before = self._weighted()

    def after(self, step: Step) -> None:
        if step.is_judged:
            self._log.events.histograms(step.number, self.histograms())
        if not step.is_logged:
            return
        after, ratios = self._weighted(), {}
        for name, before in self._before.items():
            with np.errstate(all="ignore"):
                moved = np.linalg.norm(after[name] - before) / np.linalg.norm(before)
            ratios[name] = short(float(moved))
        norms = {name: short(global_norm(parameters)) for name, parameters in self._layers.items()}
        self._log.layers.write(step.number, {"gradient_norms": norms, "update_ratios": ratios})

    def histograms(self) -> dict[str, Array]:
        """Return values of the parameters and gradients by layer: at most 4,096 of each parameter, evenly spaced."""
        found = {}
        for name, parameters in self._layers.items():
            found[f"values/{name}"] = np.concatenate([_sample(parameter.value) for parameter in parameters])
            found[f"gradients/{name}"] = np.concatenate([_sample(parameter.grad) for parameter in parameters])
        return found

    def _weighted(self) -> dict[str, Array]:
        """Return every n-th value of each parameter, times √n, by layer."""
        found = {}
        for name, parameters in self._layers.items():
            samples = [_sample(each.value) * np.sqrt(each.value.size) for each in parameters]
            found[name] = np.concatenate([sample / np.sqrt(len(sample)) for sample in samples])
        return found


def _sample(values: Array) -> Array:
    flat = values.reshape(-1)
    every = -(-len(flat) // _SAMPLE) | 1  # odd, to visit all columns
    return flat[::every].astype(float)
