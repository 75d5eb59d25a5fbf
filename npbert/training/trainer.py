"""Trainer: the loop that turns batches into a better model, and that can stop and go on at any step."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from npbert.data.batch import Batch
from npbert.data.tokenizer import Tokenizer
from npbert.display import titled
from npbert.models import TaskModel
from npbert.optim import clip_factor
from npbert.training.accumulate import gradients_of
from npbert.training.agreement import check_same_batch
from npbert.training.finite import check_parameters, check_step
from npbert.training.live import progress_in_words
from npbert.training.progress import Averages, Step, Watcher
from npbert.training.session import session
from npbert.training.state import Run


class Trainer(Run):
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

    def __repr__(self) -> str:
        return progress_in_words(self)

    def train(self, *, changed_data: bool = False, overwrite: bool = False) -> dict[str, float]:
        """Train to the last step, or until patience ends; return what the evaluation gave for the model in model/.

        changed_data: go on with a run even if its files, vocabulary, labels or configuration are not those that it has
        read so far. What was measured with those does not count any more. overwrite: begin anew, in place of the run in
        the folder.

        Raises: KeyboardInterrupt, after saving the state, when asked to stop (Ctrl-C, SIGTERM, or a terminal or pipe
        that is closed); NotFiniteError with the step and the first layer to blame when the loss, a gradient or a
        parameter is not finite; ValueError for data without a batch, or an evaluation without the goal's number;
        FileError for a folder of another run or process, a damaged state, or other data; OSError when the disk is full,
        say: the last saved state stays whole.
        """
        with session(self, changed_data=changed_data, overwrite=overwrite) as (watchers, is_asked):
            batches = self.progress.batches(self.data, self.rng)
            while not self.is_finished:
                step = self._update(next(batches), watchers)
                self._judge(step)
                for watcher in watchers:
                    watcher.after(step)
                self._keep(step, watchers, is_asked)
        return self.progress.best_evaluation

    def _update(self, batch: Batch, watchers: Sequence[Watcher]) -> Step:
        """Forward, backward and a step of the optimizer."""
        check_same_batch(self.communicator, batch)
        start, settings, number = time.perf_counter(), self.settings, self.step + 1
        seed = [self.progress.epoch_seed, self.step]
        with np.errstate(all="ignore"):  # what comes of an overflow is refused
            self.shares.zero_grad()
            losses, sums = gradients_of(self.model, batch, seed, self.shares, parts=settings.parts)
            norm = self.shares.add_up(sums)
            step = Step(number, batch, seed, losses, norm, self.learning_rate(settings.steps))
            if settings.is_logged(number) or settings.is_judged(number):
                self.shares.spread_gradients()
            for watcher in watchers:
                watcher.before_update(step)
            check_step(self, step)
            self.optimizer.lr = step.learning_rate
            self.optimizer.step(clip_factor(norm, settings.max_grad_norm))
            self.shares.spread_values()
        step.seconds = time.perf_counter() - start
        check_parameters(self.model, number)
        return step

    def _judge(self, step: Step) -> None:
        """Add to the step the row of the log, if it has one; evaluate, and save the model if it is the best so far.

        Several processes judge together, and go by the numbers of process 0. Raises: ValueError when the evaluation
        does not give the goal's number.
        """
        progress, evaluation = self.progress, self.evaluation
        progress.averages.add(evaluation.kinds, step.losses)
        if self.settings.is_logged(step.number):
            of_step = {"learning_rate": step.learning_rate, "gradient_norm": step.gradient_norm}
            step.row = {**progress.averages.means(), "epoch": progress.epoch, **of_step}
            progress.averages = Averages()
        step.is_judged = self.settings.is_judged(step.number)
        if not step.is_judged:
            return
        if evaluation.evaluate is not None:
            numbers = {name: float(number) for name, number in evaluation.evaluate().items()}
            step.evaluation = progress.evaluation = self.communicator.gather(numbers)[0]
        progress.evaluations_since_best += 1
        if evaluation.is_better(progress.evaluation, progress.best_evaluation):
            progress.best_step, progress.best_evaluation = step.number, progress.evaluation
            progress.best = progress.evaluation.get(evaluation.goal.name) if evaluation.goal else None
            progress.evaluations_since_best = 0
            self.save_best()
        with np.errstate(all="ignore"):  # where a model falls apart, the next step says so
            shown = evaluation.show() if evaluation.show and self.communicator.is_first else {}
        step.shown = {**shown, "best_step": progress.best_step} if shown else {}

    def _keep(self, step: Step, watchers: Sequence[Watcher], is_asked: Callable[[], bool]) -> None:
        """Save the state every so many steps, at the end, and when any process was asked to stop.

        Raises: KeyboardInterrupt when asked, on all processes: one would wait for the others.
        """
        stops = any(self.communicator.gather(is_asked()))
        if self.is_finished or stops or step.number % self.settings.save_every == 0:
            for watcher in watchers:
                watcher.before_save()
            self.save()
        if stops and not self.is_finished:
            where, kept = f"step {step.number} of {self.settings.steps}", f"saved in {self.folder}"
            raise KeyboardInterrupt(f"stopped at {where}: {kept}; start the same run again to continue from here")


class ShownRun:
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

    def __repr__(self) -> str:
        return titled(type(self).__name__, self.summary(), progress_in_words(self.trainer))
