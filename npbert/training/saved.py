"""SavedRun: what a run leaves on disk to go on from, and its best model."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from npbert.files import FileError
from npbert.models.hugging_face.checkpoint import find_weights, load_model
from npbert.optim import Optimizer
from npbert.training.parallel import Shares
from npbert.training.progress import Progress
from npbert.training.run_folder import FREE, MODEL_FOLDER
from npbert.training.settings import Settings
from npbert.training.state import STATE_FILE, drop_tensors, has_tensors, load_state, read_progress, save_state


class SavedRun:
    """The state and the best model of a run in `folder`. Several processes call it together, and process 0 writes.

    settings: those of which it is to be the same run. save_model: writes the model to a folder.
    """

    def __init__(
        self,
        folder: Path,
        model: Any,
        optimizer: Optimizer,
        shares: Shares,
        rng: np.random.Generator,
        *,
        settings: Settings,
        save_model: Callable[[Path], None],
    ) -> None:
        self.path, self._model_folder = folder / STATE_FILE, folder / MODEL_FOLDER
        self._model, self._optimizer, self._shares, self._rng = model, optimizer, shares, rng
        self._save_model = save_model
        known = {name: value for name, value in asdict(settings).items() if name not in FREE}
        self._settings = json.loads(json.dumps(known))  # as they come back

    def save(self, progress: Progress) -> None:
        """Write the state."""
        known = {"rng": self._rng.bit_generator.state, "settings": self._settings}
        save_state(self.path, self._model, self._optimizer, {**progress.stored(), **known}, self._shares)

    def restore(self) -> Progress:
        """Go on from the state: the arrays, the progress and the generator, or, if it is wrong, nothing of it."""
        path, stored = self.path, read_progress(self.path)
        settings = stored.pop("settings", None)
        if settings is not None and settings != self._settings:
            raise FileError(f"{path} is the state of another run: its settings are not those in {path.parent}")
        rng = stored.pop("rng", None)
        try:
            progress = Progress.from_stored(stored)
            self._rng.bit_generator.state = rng
        except (ValueError, TypeError, LookupError, OverflowError, AttributeError) as error:
            raise FileError(f"{path} is damaged, or of another version of npbert: {error}") from error
        load_state(path, self._model, self._optimizer, self._shares)
        if not has_tensors(path):  # a finished run whose state was dropped: there is the model in model/
            load_model(lambda _: self._model, find_weights(self._model_folder), rng=self._rng, new_head=False)
        return progress

    def save_best(self) -> None:
        """Write the model, which is the best so far."""
        if self._shares.communicator.is_first:
            self._save_model(self._model_folder)

    def finish(self, progress: Progress, *, keep_state: bool) -> None:
        """Make sure that there is a model in model/, which somebody may have moved away, and drop the state if it is
        not to be kept."""
        if not self._shares.communicator.is_first:
            return
        if progress.best_step and not self._model_folder.is_dir():
            if progress.best_step == self._optimizer.steps:
                self.save_best()
            else:
                warnings.warn(
                    f"{self._model_folder} is gone: it held the best model, that of step {progress.best_step}, which "
                    "the state does not hold",
                    stacklevel=4,
                )
        if not keep_state and has_tensors(self.path):
            drop_tensors(self.path)
