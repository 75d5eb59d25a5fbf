"""Trainer: the loop that turns batches into a better model, and that can stop and go on at any step."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from npbert.blocks import Encoder
from npbert.compute import keep_freed_memory
from npbert.core import named_parts
from npbert.data.batch import Batch
from npbert.data.place import START, Place
from npbert.models.hugging_face.stored import stored_parameters
from npbert.optim import AdamW, clip_factor, linear_warmup_decay
from npbert.training.accumulate import accumulate, part_rng, split
from npbert.training.averages import Averages
from npbert.training.bar import Bar
from npbert.training.finite import NotFiniteError, first_not_finite, parameter_not_finite
from npbert.training.goal import Goal
from npbert.training.interrupt import stop_when_asked
from npbert.training.judge import Judge
from npbert.training.log import Log
from npbert.training.parallel import (
    ALONE,
    SILENT,
    Communicator,
    Shares,
    check_parts,
    check_same_batch,
    check_same_folder,
    check_same_run,
    done_by_the_first,
)
from npbert.training.plot import Example, Pictures, draw_curves
from npbert.training.progress import Progress
from npbert.training.run_folder import run_folder
from npbert.training.saved import SavedRun
from npbert.training.settings import TrainerSettings
from npbert.training.state import STATE_FILE
from npbert.training.watch import Watch, histograms


class Data(Protocol):
    """What a Trainer learns from: PretrainingData, TaskData, or anything else with these batches."""

    def batches(self, epoch_seed: int, place: Place = START) -> Iterator[tuple[Place, Batch]]:
        """The batches of an epoch from `place` on, each with its place; the same ones for the same seed."""


class Trainer:
    """Trains `model` on `data`, in `folder`:

        state.safetensors   all that is needed to go on     model/        the best model so far, for Hugging Face
        metrics.jsonl       numbers by step                 tensorboard/  the same and more     curves.png  at the end
        layers.jsonl        of each layer, its gradient     settings.toml how it was set up
        shown.jsonl         what it says of a few examples

    With `keep_state` off, a run that is finished keeps of its state only that it is, and its numbers.

    kinds: a name for each loss of the model, ("mlm", "nsp") say. evaluate: gives numbers by name for a held-out set, of
    which `goal` names the one that counts; without it the last model is the best. show: what the model says of a few
    examples, as a row for shown.jsonl, asked after each evaluation. example: a text, whose attention TensorBoard shows
    where the model has a `bert`. save_model: writes the model to a folder. rng:
    where dropout and the order of the data are drawn from. recorded: the settings that are written down, when they say
    more than `settings`, which are those of the loop.

    When `folder` holds the state of a run with the same settings, training goes on from there, bit for bit, if all else
    is as it was. (Extra: train.)

    communicator: several processes that train together, each on its parts of every batch: `world()` where a launcher
    has started them. Each makes the same Trainer; process 0 writes the files. Their number changes nothing.

    Raises: ValueError for no steps at all, for gradient_checkpointing of a model that has no Encoder, for more
    processes than parts, and for a model that could not be saved, as two of its parameters would have one name in the
    file.
    """

    def __init__(
        self,
        model: Any,
        data: Data,
        folder: str | Path,
        settings: TrainerSettings,
        *,
        rng: np.random.Generator,
        kinds: tuple[str, ...] = ("",),
        evaluate: Callable[[], dict[str, float]] | None = None,
        goal: Goal | None = None,
        show: Callable[[], dict[str, Any]] | None = None,
        example: Example | None = None,
        save_model: Callable[[Path], None] | None = None,
        recorded: TrainerSettings | None = None,
        communicator: Communicator = ALONE,
    ) -> None:
        settings.check("steps", 1)
        settings, recorded = (
            replace(each, parts=each.parts or communicator.size) for each in (settings, recorded or settings)
        )
        begun = Path(folder) if (Path(folder) / STATE_FILE).is_file() else None
        check_parts(communicator, settings.parts, begun=begun)
        self.model, self.data, self.folder, self.settings = model, data, Path(folder), settings
        self.rng, self.kinds, self.recorded, self.communicator = rng, kinds, recorded, communicator
        self.evaluate, self.goal, self.show = evaluate, goal, show
        stored_parameters(model)  # what cannot be saved is found now, and not after the last step
        if settings.gradient_checkpointing:
            _checkpoint_layers(model)
        self.shares = Shares(model, communicator, shared_out=settings.share_state)
        self.optimizer = AdamW(self.shares.parameters, lr=settings.learning_rate, weight_decay=settings.weight_decay)
        self.progress = Progress(0, int(rng.integers(2**63)))
        self._judge = Judge(settings, evaluate, goal, communicator)
        self._saved = SavedRun(
            self.folder,
            model,
            self.optimizer,
            self.shares,
            rng,
            settings=recorded,
            save_model=save_model or model.save_pretrained,
        )
        self._pictures = Pictures(self.folder, model, example)

    @property
    def step(self) -> int:
        """How many updates have been made."""
        return self.optimizer.steps

    def train(self) -> dict[str, float]:
        """Train to the last step, or until patience ends; return what the evaluation gave for the model in model/.

        Raises: KeyboardInterrupt, after saving the state, when asked to stop (Ctrl-C, SIGTERM); NotFiniteError when the
        loss, a gradient or a parameter is not finite, which says the step and the first layer to blame; ValueError for
        data without a batch, or an evaluation without the goal's number; what run_folder and load_state raise; OSError
        when the disk is full, say: the last saved state stays whole.
        """
        keep_freed_memory()
        saved, is_first = self._saved, self.communicator.is_first
        with self.communicator.ending_together(), ExitStack() as folder:
            check_same_run(self.communicator, self.model, self.recorded)
            done_by_the_first(self.communicator, lambda: folder.enter_context(run_folder(self.folder, self.recorded)))
            check_same_folder(self.communicator, self.folder)
            if saved.path.is_file():
                self.progress = saved.restore()
            self._train()
            saved.finish(self.progress, keep_state=self.settings.keep_state)
            if is_first:
                draw_curves(self.folder)
        return self.progress.best_evaluation

    def _train(self) -> None:
        """From the step that is reached to the last one."""
        settings, progress, is_first = self.settings, self.progress, self.communicator.is_first
        with (
            stop_when_asked() as interrupt,
            Log(self.folder, after_step=self.step, every=settings.log_every) if is_first else SILENT as log,
            Bar(settings.steps, done=self.step) if is_first else SILENT as bar,
        ):
            if self.step:
                over = f"the run in {self.folder} ended at step {self.step}; a new run needs another folder"
                bar.say(over if self._is_finished() else f"going on from step {self.step}")
            batches = self._batches()
            while not self._is_finished():
                batch = next(batches)
                start = time.perf_counter()
                numbers, layers = self._update(batch)
                seconds = time.perf_counter() - start
                bar.update()
                if self._is_logged(self.step):
                    means, tokens = progress.averages.means(), int(batch.attention_mask.sum()) / seconds
                    log.write(self.step, {**means, "epoch": progress.epoch, **numbers}, tokens_per_second=tokens)
                    log.write_layers(self.step, layers)
                    bar.show(means, tokens)
                    progress.averages = Averages()
                if self._judge.is_due(self.step):
                    if self._judge.judge(self.step, progress, log, bar):
                        self._saved.save_best()
                    if is_first:
                        self._show(log)
                if self._is_finished() or self._any(interrupt.asked) or self.step % settings.save_every == 0:
                    log.sync()  # a state is never ahead of its log
                    self._saved.save(progress)
                    if self._any(interrupt.asked) and not self._is_finished():
                        raise KeyboardInterrupt

    def _batches(self) -> Iterator[Batch]:
        """Batches without end, epoch after epoch; `progress.place` is where the next one is."""
        progress = self.progress
        while True:
            is_empty = progress.place == START
            for place, batch in self.data.batches(progress.epoch_seed, progress.place):
                is_empty = False
                progress.place = place._replace(batch=place.batch + 1)
                check_same_batch(self.communicator, batch)
                yield batch
            if is_empty:
                raise ValueError("the training data has no batches")
            progress.epoch, progress.place = progress.epoch + 1, START
            progress.epoch_seed = int(self.rng.integers(2**63))

    def _update(self, batch: Batch) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
        """One step of the optimiser; returns what is to be known of it besides the losses, and what Watch saw."""
        settings = self.settings
        self.optimizer.lr = linear_warmup_decay(
            self.step,
            lr=settings.learning_rate,
            warmup_steps=int(settings.warmup * settings.steps),
            total_steps=settings.steps,
        )
        seed, parts = [self.progress.epoch_seed, self.step], min(settings.parts, len(batch.input_ids))
        self.shares.zero_gradients()
        with np.errstate(all="ignore"):  # what comes of an overflow is found below
            losses = accumulate(self.model, batch, seed, parts=parts, communicator=self.communicator)
            self.shares.sum_gradients()
            norm = self.shares.global_norm()
        if not math.isfinite(losses.total + norm):
            own = self.communicator.own([(part, part_rng(seed, i)) for i, part in enumerate(split(batch, parts))])
            gradients = [(piece.name, piece.parameter) for piece in self.shares.own]
            raise NotFiniteError(
                f"step {self.step + 1}: the loss is {losses.total} and the norm of the gradient {norm}; "
                f"{first_not_finite(self.model, own, gradients, self.communicator)}. A smaller learning rate may help."
            )
        if self._is_logged(self.step + 1) or self._judge.is_due(self.step + 1):
            self.shares.spread_gradients()
        with np.errstate(all="ignore"):
            watch = Watch(self.model) if self._is_logged(self.step + 1) else None
            self.optimizer.step(clip_factor(norm, settings.max_grad_norm))
        self.shares.spread_values()
        name = parameter_not_finite(self.model)
        if name:
            raise NotFiniteError(
                f"step {self.step}: the parameter {name} is not finite after it. A smaller learning rate may help."
            )
        self.progress.averages.add(self.kinds, losses)
        numbers = {"learning_rate": self.optimizer.lr, "gradient_norm": norm}
        return numbers, watch.numbers() if watch else {}

    def _is_logged(self, step: int) -> bool:
        return step % self.settings.log_every == 0 or step == self.settings.steps

    def _show(self, log: Any) -> None:
        """Write down what a person would look at."""
        with np.errstate(all="ignore"):  # where a model falls apart, the next step says so
            shown = self.show() if self.show else {}
        if shown:
            log.write_shown(self.step, {**shown, "best_step": self.progress.best_step})
        log.write_histograms(self.step, histograms(self.model))
        log.write_images(self.step, self._pictures.draw(shown))

    def _any(self, is_so: bool) -> bool:
        """Whether it is so on any process: what all do next, all decide alike, or one would wait for the others."""
        return any(self.communicator.gather(is_so))

    def _is_finished(self) -> bool:
        return self._judge.is_finished(self.step, self.progress)


def _checkpoint_layers(model: Any) -> None:
    """Have every encoder in the model compute its layers again on the way back."""
    encoders = [part for _, part in named_parts(model) if isinstance(part, Encoder)]
    if not encoders:
        raise ValueError(f"gradient_checkpointing needs a model with an Encoder, and {type(model).__name__} has none")
    for encoder in encoders:
        encoder.gradient_checkpointing = True
