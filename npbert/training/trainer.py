"""Trainer: the loop that turns batches into a better model, and that can stop and go on at any step."""

from __future__ import annotations

import copy
import json
import math
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from npbert.blocks import Encoder
from npbert.compute import keep_freed_memory
from npbert.core import named_parts
from npbert.data.batch import Batch
from npbert.data.place import START, Place
from npbert.files import FileError
from npbert.models.hugging_face.checkpoint import find_weights, load_model
from npbert.models.hugging_face.stored import stored_parameters
from npbert.optim import AdamW, clip_factor, global_norm, linear_warmup_decay
from npbert.training.accumulate import accumulate
from npbert.training.averages import Averages
from npbert.training.bar import Bar, held_out_line
from npbert.training.finite import NotFiniteError, first_not_finite, parameter_not_finite
from npbert.training.goal import Goal
from npbert.training.interrupt import stop_when_asked
from npbert.training.log import METRICS_FILE, Log
from npbert.training.plot import PLOT_FILE, plot_curves
from npbert.training.progress import Progress
from npbert.training.rows import read_rows
from npbert.training.run_folder import FREE, MODEL_FOLDER, run_folder
from npbert.training.settings import TrainerSettings, evaluation_interval
from npbert.training.state import STATE_FILE, drop_tensors, has_tensors, load_state, read_progress, save_state
from npbert.training.watch import Watch


class Data(Protocol):
    """What a Trainer learns from: PretrainingData, TaskData, or anything else with these batches."""

    def batches(self, epoch_seed: int, place: Place = START) -> Iterator[tuple[Place, Batch]]:
        """The batches of an epoch from `place` on, each with its place; the same ones for the same seed."""


class Trainer:
    """Trains `model` on `data`, in `folder`:

        state.safetensors   all that is needed to go on     model/        the best model so far, for Hugging Face
        metrics.jsonl       numbers by step                 tensorboard/  the same and more     curves.png  at the end
        settings.toml       how it was set up

    With `keep_state` off, a run that is finished keeps of its state only that it is, and its numbers.

    kinds: a name for each loss of the model, ("mlm", "nsp") say. evaluate: gives numbers by name for a held-out set, of
    which `goal` names the one that counts; without it the last model is the best. show: what the model says of a few
    examples, as rows for shown.jsonl, asked at each evaluation. save_model: writes the model to a
    folder. rng: where dropout and the order of the data are drawn from. recorded: the settings that are written down,
    when they say more than `settings`, which are those of the loop.

    When `folder` holds the state of a run with the same settings, training goes on from there, bit for bit, if all else
    is as it was. (Extra: train.)

    Raises: ValueError for no steps at all, for gradient_checkpointing of a model that has no Encoder, and for a model
    that could not be saved, as two of its parameters would have one name in the file.
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
        show: Callable[[], list[dict[str, Any]]] | None = None,
        save_model: Callable[[Path], None] | None = None,
        recorded: TrainerSettings | None = None,
    ) -> None:
        settings.check("steps", 1)
        self.model, self.data, self.folder, self.settings, self.rng = model, data, Path(folder), settings, rng
        self.kinds, self.evaluate, self.goal, self.show = kinds, evaluate, goal, show
        self.save_model, self.recorded = save_model or model.save_pretrained, recorded or settings
        stored_parameters(model)  # what cannot be saved is found now, and not after the last step
        if settings.gradient_checkpointing:
            _checkpoint_layers(model)
        self.optimizer = AdamW(model.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay)
        self.progress = Progress(0, int(rng.integers(2**63)))
        every = settings.evaluate_every if evaluate else max(0, settings.evaluate_every)
        self._interval = evaluation_interval(every, settings.steps)

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
        with run_folder(self.folder, self.recorded):
            path = self.folder / STATE_FILE
            if path.is_file():
                self._restore(path)
            self._train()
            self._check_best()
            if not self.settings.keep_state and has_tensors(path):
                drop_tensors(path)
            plot_curves(read_rows(self.folder / METRICS_FILE), self.folder / PLOT_FILE)
        return self.progress.best_evaluation

    def _train(self) -> None:
        """From the step that is reached to the last one."""
        settings, progress = self.settings, self.progress
        with (
            stop_when_asked() as interrupt,
            Log(self.folder, after_step=self.step, every=settings.log_every) as log,
            Bar(settings.steps, done=self.step) as bar,
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
                self._evaluate(log, bar)
                if self._is_finished() or interrupt.asked or self.step % settings.save_every == 0:
                    log.sync()  # a state is never ahead of its log
                    self._save(self.folder / STATE_FILE)
                if interrupt.asked and not self._is_finished():
                    raise KeyboardInterrupt

    def _batches(self) -> Iterator[Batch]:
        """Batches without end, epoch after epoch; `progress.place` is where the next one is."""
        progress = self.progress
        while True:
            is_empty = progress.place == START
            for place, batch in self.data.batches(progress.epoch_seed, progress.place):
                is_empty = False
                progress.place = place._replace(batch=place.batch + 1)
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
        rng_before = copy.deepcopy(self.rng)
        self.model.zero_grad()
        with np.errstate(all="ignore"):  # what comes of an overflow is found below
            losses = accumulate(self.model, batch, self.rng, parts=min(settings.parts, len(batch.input_ids)))
            norm = global_norm(self.optimizer.parameters)
        if not math.isfinite(losses.total + norm):
            raise NotFiniteError(
                f"step {self.step + 1}: the loss is {losses.total} and the norm of the gradient {norm}; "
                f"{first_not_finite(self.model, batch, rng_before)}. A smaller learning rate may help."
            )
        watch = Watch(self.model) if self._is_logged(self.step + 1) else None
        with np.errstate(all="ignore"):
            self.optimizer.step(clip_factor(norm, settings.max_grad_norm))
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

    def _evaluate(self, log: Log, bar: Bar) -> None:
        """Evaluate where it is time, and keep the model if it is the best so far."""
        settings, progress = self.settings, self.progress
        if self.step != settings.steps and (self._interval == 0 or self.step % self._interval != 0):
            return
        if self.evaluate is not None:
            progress.evaluation = self.evaluate()
            log.write(self.step, {f"eval_{name}": value for name, value in progress.evaluation.items()})
            bar.say(held_out_line(self.step, progress.evaluation))
        if self.show is not None:
            log.write_shown(self.step, self.show())
        value = None
        if self.goal and self.evaluate:
            if self.goal.name not in progress.evaluation:
                raise ValueError(
                    f"there is no metric {self.goal.name!r}, by which the best model is chosen: the evaluation gives "
                    f"{', '.join(progress.evaluation)}"
                )
            value = progress.evaluation[self.goal.name]
        if value is None or self._is_better(value):
            progress.best, progress.evaluations_since_best = value, 0
            progress.best_step, progress.best_evaluation = self.step, progress.evaluation
            self.save_model(self.folder / MODEL_FOLDER)
        else:
            progress.evaluations_since_best += 1

    def _is_better(self, value: float) -> bool:
        """Whether the evaluation is the best so far; of equal ones, as of a metric that does not move yet, that with
        the smaller loss."""
        progress = self.progress
        if self.goal is None:
            return True
        if value == progress.best and {"loss"} <= progress.evaluation.keys() & progress.best_evaluation.keys():
            return progress.evaluation["loss"] < progress.best_evaluation["loss"]
        return self.goal.is_reached(value, progress.best)

    def _is_finished(self) -> bool:
        patience = self.settings.patience
        return self.step >= self.settings.steps or 0 < patience <= self.progress.evaluations_since_best

    def _save(self, path: Path) -> None:
        known = {"rng": self.rng.bit_generator.state, "settings": self._settings()}
        save_state(path, self.model, self.optimizer, {**self.progress.stored(), **known})

    def _settings(self) -> dict[str, Any]:
        """The settings of which it is to be the same run."""
        return {name: value for name, value in asdict(self.recorded).items() if name not in FREE}

    def _load_best(self) -> None:
        """Of a finished run whose state was dropped, there is the model in model/."""
        path = find_weights(self.folder / MODEL_FOLDER)
        load_model(lambda _: self.model, path, rng=self.rng, new_head=False)

    def _restore(self, path: Path) -> None:
        """Go on from the state: the arrays, the progress and the generator, or, if it is wrong, nothing of it."""
        stored = read_progress(path)
        settings = stored.pop("settings", None)
        if settings is not None and settings != json.loads(json.dumps(self._settings())):
            raise FileError(f"{path} is the state of another run: its settings are not those in {self.folder}")
        rng = stored.pop("rng", None)
        try:
            self.progress = Progress.from_stored(stored)
            self.rng.bit_generator.state = rng
        except (ValueError, TypeError, LookupError, OverflowError, AttributeError) as error:
            raise FileError(f"{path} is damaged, or of another version of npbert: {error}") from error
        load_state(path, self.model, self.optimizer)
        if not has_tensors(path):
            self._load_best()

    def _check_best(self) -> None:
        """Make sure that there is a model in model/: somebody may have moved it away."""
        folder, best_step = self.folder / MODEL_FOLDER, self.progress.best_step
        if folder.is_dir() or not best_step:
            return
        if best_step == self.step:
            self.save_model(folder)
        else:
            warnings.warn(
                f"{folder} is gone: it held the best model, that of step {best_step}, which the state does not hold",
                stacklevel=3,
            )


def _checkpoint_layers(model: Any) -> None:
    """Have every encoder in the model compute its layers again on the way back."""
    encoders = [part for _, part in named_parts(model) if isinstance(part, Encoder)]
    if not encoders:
        raise ValueError(f"gradient_checkpointing needs a model with an Encoder, and {type(model).__name__} has none")
    for encoder in encoders:
        encoder.gradient_checkpointing = True
