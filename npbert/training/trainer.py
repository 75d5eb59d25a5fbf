"""Trainer: the loop that turns batches into a better model, and that can stop and go on at any step."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from npbert.blocks import Encoder
from npbert.core import named_parts
from npbert.data.batch import Batch
from npbert.data.tokenizer import Tokenizer
from npbert.display import Sheet, Shown
from npbert.io.errors import at_least
from npbert.models import TaskModel
from npbert.optim import AdamW, clip_factor, linear_warmup_decay
from npbert.training.accumulate import gradients_of
from npbert.training.evaluation import Evaluation
from npbert.training.live import sheet_of
from npbert.training.parallel import ALONE, Communicator, check_same_batch
from npbert.training.progress import Data, Progress, Step, Watcher
from npbert.training.session import session
from npbert.training.settings import TrainerSettings
from npbert.training.shares import Shares
from npbert.training.state import RunFolder


class Trainer(Shown):
    """Trains `model` on `data`, in `folder`:

        state.safetensors   all that is needed to go on     model/        the best model so far, for Hugging Face
        metrics.jsonl       numbers by step                 tensorboard/  the same and more     curves.png  at the end
        layers.jsonl        of each layer, its gradient     settings.toml how it was set up
        shown.jsonl         what it says of a few examples

    With `keep_state` off, a run that is finished keeps of its state only that it is, and its numbers.

    rng: where dropout and the order of the data are drawn from. evaluation: how the model is judged along the way, and
    what the run reads; without it, the last model is kept. save_model: writes the model to a folder.

    When `folder` holds the state of a run with the same settings, training goes on from there, bit for bit, if all else
    is as it was. With more steps, or more patience, it is a longer run: it goes on where it was, also from its end,
    with the learning rate that a run of that length has there. (Extra: train.)

    communicator: several processes that train together, each on its parts of every batch: `world()` where a launcher
    has started them. Each makes the same Trainer; process 0 writes the files. Neither their number nor that of threads
    changes a bit.

    Raises: ValueError for no steps at all, for gradient_checkpointing of a model that has no Encoder, and for a model
    that could not be saved, as two of its parameters would have one name in the file.
    """

    def __init__(
        self,
        model: TaskModel,
        data: Data,
        folder: str | Path,
        settings: TrainerSettings,
        *,
        rng: np.random.Generator,
        evaluation: Evaluation | None = None,
        save_model: Callable[[Path], None] | None = None,
        communicator: Communicator = ALONE,
    ) -> None:
        self.recorded, self.evaluation = settings, evaluation or Evaluation()
        settings = replace(settings, steps=settings.steps_for(data))
        at_least(1).check("steps", settings.steps)
        self.settings = settings.with_interval(self.evaluation.cost, is_judged=evaluation is not None)
        self.model, self.data, self.folder, self.rng = model, data, Path(folder), rng
        self.communicator = communicator
        if settings.gradient_checkpointing:
            _checkpoint_layers(model)
        self.shares = Shares(model, communicator)
        self.optimizer = AdamW(self.shares.parameters, lr=settings.learning_rate, weight_decay=settings.weight_decay)
        self.progress = Progress(0, int(rng.integers(2**63)), total_steps=settings.steps)
        self.run = RunFolder(self, save_model or partial(model.save_pretrained, overwrite=True))

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

    def _sheet(self) -> Sheet:
        return sheet_of(self)

    def train(self) -> dict[str, float]:
        """Train to the last step, or until patience ends; return what the evaluation gave for the model in model/.

        Raises: KeyboardInterrupt, after saving the state, when asked to stop (Ctrl-C, SIGTERM, or a terminal or pipe
        that is closed); NotFiniteError with the step and the first layer to blame when the loss, a gradient or a
        parameter is not finite; ValueError for data without a batch, or an evaluation without the goal's number;
        FileError for a folder of another run or process, or a damaged state; OSError when the disk is full, say: the
        last saved state stays whole.
        """
        with session(self) as watchers:
            batches = self.progress.batches(self.data, self.rng)
            while not self.is_finished:
                step = self._update(next(batches), watchers)
                for watcher in watchers:
                    watcher.after(step)
        return self.progress.best_evaluation

    def _update(self, batch: Batch, watchers: Sequence[Watcher]) -> Step:
        """Forward, backward and a step of the optimizer."""
        check_same_batch(self.communicator, batch)
        start, settings, number = time.perf_counter(), self.settings, self.step + 1
        seed = [self.progress.epoch_seed, self.step]
        with np.errstate(all="ignore"):  # a watcher finds what comes of an overflow
            self.shares.zero_grad()
            losses, sums = gradients_of(self.model, batch, seed, self.shares, parts=settings.parts)
            norm = self.shares.add_up(sums)
            lr = self.learning_rate(settings.steps)
            step = Step(number, batch, seed, losses, norm, lr)
            if settings.is_logged(number) or settings.is_judged(number):
                self.shares.spread_gradients()
            for watcher in watchers:
                watcher.before_update(step)
            self.optimizer.lr = lr
            self.optimizer.step(clip_factor(norm, settings.max_grad_norm))
            self.shares.spread_values()
        return step._replace(seconds=time.perf_counter() - start)


def _checkpoint_layers(model: TaskModel) -> None:
    """Have every Encoder of a model compute its layers again on the way back. Raises: ValueError without one."""
    encoders = [part for _, part in named_parts(model) if isinstance(part, Encoder)]
    if not encoders:
        raise ValueError(f"gradient_checkpointing needs a model with an Encoder, and {type(model).__name__} has none")
    for encoder in encoders:
        encoder.gradient_checkpointing = True


class ShownRun(Shown):
    """A run with a summary of its text, model and length, and the Trainer that makes it."""

    model: TaskModel
    tokenizer: Tokenizer
    trainer: Trainer

    def summary(self) -> str:
        """A few lines about the run."""
        raise NotImplementedError(f"{type(self).__name__} has no summary()")

    def save(self, folder: Path) -> None:
        """Write the model and its tokenizer."""
        self.tokenizer.save_pretrained(folder, overwrite=True)
        self.model.save_pretrained(folder, overwrite=True)

    def _sheet(self) -> Sheet:
        return Sheet(type(self).__name__, self.summary(), parts=[sheet_of(self.trainer)])
