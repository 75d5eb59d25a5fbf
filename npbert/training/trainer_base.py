"""TrainerBase: all that a Trainer holds, and what its watchers see of it; the loop is in trainer.py."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from npbert.blocks import Encoder
from npbert.core import Layer, named_parts
from npbert.io.errors import at_least
from npbert.models import TaskModel
from npbert.optim import AdamW, linear_warmup_decay
from npbert.training.evaluation import Evaluation
from npbert.training.parallel import ALONE, Communicator, Shares
from npbert.training.progress import Data, Progress
from npbert.training.settings import TrainerSettings
from npbert.training.state import SavedRun


class TrainerBase:
    """The model, the data, the folder, the settings and the progress of a run. Arguments and errors: as of Trainer."""

    def __init__(
        self,
        model: TaskModel,
        data: Data,
        folder: str | Path,
        settings: TrainerSettings,
        *,
        rng: np.random.Generator,
        kinds: tuple[str, ...] = ("",),
        evaluation: Evaluation | None = None,
        save_model: Callable[[Path], None] | None = None,
        steps: int = 0,
        communicator: Communicator = ALONE,
    ) -> None:
        self.recorded = settings
        settings = replace(settings, steps=steps or settings.steps)
        at_least(1).check("steps", settings.steps)
        self.evaluation = evaluation or Evaluation()
        self.settings = settings.with_interval(self.evaluation.cost, is_judged=evaluation is not None)
        self.model, self.data, self.folder, self.rng, self.kinds = model, data, Path(folder), rng, kinds
        self.communicator = communicator
        if settings.gradient_checkpointing:
            _checkpoint_layers(model)
        self.shares = Shares(model, communicator)
        self.optimizer = AdamW(self.shares.parameters, lr=settings.learning_rate, weight_decay=settings.weight_decay)
        self.progress = Progress(0, int(rng.integers(2**63)), total_steps=self.settings.steps)
        save_model = save_model or partial(model.save_pretrained, overwrite=True)
        self.saved = SavedRun(self.folder, model, self.optimizer, self.shares, rng, self.recorded, save_model)

    @property
    def step(self) -> int:
        """The count of updates so far."""
        return self.optimizer.steps

    @property
    def is_finished(self) -> bool:
        """True when the last step is done, or patience is at its end."""
        patience = self.settings.patience
        return self.step >= self.settings.steps or 0 < patience <= self.progress.evaluations_since_best

    def learning_rate(self, total_steps: int) -> float:
        """The learning rate of the next step in a run of that many."""
        peak, warmup = self.settings.learning_rate, int(self.settings.warmup * total_steps)
        return linear_warmup_decay(self.step, lr=peak, warmup_steps=warmup, total_steps=total_steps)


def _checkpoint_layers(model: Layer) -> None:
    """Have every Encoder of a model compute its layers again on the way back. Raises: ValueError without one."""
    encoders = [part for _, part in named_parts(model) if isinstance(part, Encoder)]
    if not encoders:
        raise ValueError(f"gradient_checkpointing needs a model with an Encoder, and {type(model).__name__} has none")
    for encoder in encoders:
        encoder.gradient_checkpointing = True
