"""Statistics of a model's layers: the size of the gradient, and of the update, in each step."""

from pathlib import Path

import numpy as np

from npbert.compute import Array
from npbert.core import Layer
from npbert.io.json_lines import LAYERS_FILE, JsonLines
from npbert.models import parameters_by_layer
from npbert.optim import global_norm
from npbert.training.progress import Step, Watcher, short

_SAMPLE = 4096


class LayerStatistics(Watcher):
    """Writes a row of layers.jsonl for each logged step: by layer, the norm of the gradient, ‖g‖, and of the update
    relative to the values, ‖Δw‖ / ‖w‖, with four digits.

    The second is an estimate, from at most 4,096 evenly spaced values of each parameter. It is not finite if all are 0.
    """

    def __init__(self, model: Layer, folder: Path, *, after_step: int) -> None:
        self._layers = parameters_by_layer(model)
        self._rows = JsonLines(folder / LAYERS_FILE, after_step=after_step)

    def before_update(self, step: Step) -> None:
        if step.is_logged:
            self._before = self._samples()

    def after(self, step: Step) -> None:
        if step.is_logged:
            after, ratios = self._samples(), {}
            for name, before in self._before.items():
                ratios[name] = short(float(np.linalg.norm(after[name] - before) / np.linalg.norm(before)))
            norms = {name: short(global_norm(parameters)) for name, parameters in self._layers.items()}
            self._rows.write(step.number, {"gradient_norms": norms, "update_ratios": ratios})
        if step.is_saved:
            self._rows.sync()

    def _samples(self) -> dict[str, Array]:
        """Return every n-th value of each parameter, times √n, by layer."""
        found = {}
        for name, parameters in self._layers.items():
            samples = []
            for parameter in parameters:
                flat = parameter.value.reshape(-1)
                every = -(-len(flat) // _SAMPLE) | 1  # odd, to visit all columns
                sample = flat[::every].astype(float)
                samples.append(sample * np.sqrt(flat.size / len(sample)))
            found[name] = np.concatenate(samples)
        return found
