"""Trainer: the training loop, which can stop and continue at any step."""

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from npbert.compute import Array
from npbert.core import Layer, Parameter, Tape, named_parts
from npbert.data import Batch
from npbert.display import titled
from npbert.io import counted
from npbert.models import AnyBatch, TaskModel, parameters_by_layer
from npbert.optim import clip_factor, global_norm
from npbert.training.accumulate import gradients_of, mean_over_targets, part_rng, parts_of
from npbert.training.parallel import check_same_batch
from npbert.training.session import session
from npbert.training.state import MODEL_FOLDER, NotFiniteError, Resumable, check_parameters
from npbert.training.watchers import Evaluation, Step, in_words

_SAMPLE = 4096


class Trainer(Resumable):
    """Trains `model` on `data`, in `folder`:

        state.safetensors all that is needed to continue     model/        the best model so far, for Hugging Face
        metrics.jsonl       numbers by step                 tensorboard/  the same
        layers.jsonl        of each layer, its gradient     settings.toml how it was set up
        shown.jsonl predictions for a few examples

    rng: draws the seed of dropout and of the order of the data. evaluation: the evaluations during the run, and its
    sources; without it, the last model is kept. save_model: writes the model to a folder.

    If `folder` has the state of a run with the same settings and data, training continues from it, bit for bit. With
    more steps or patience, it continues even a finished run, with the learning rate of the longer run. (Extra: train.)

    communicator: several processes that train together, each on its parts of every batch: `world()` if a launcher has
    started them. Each makes the same Trainer; process 0 writes the files. The numbers of processes and threads change
    no bit.

    Raises: ValueError for a model with two parameters of one name in the file.
    """

    def __repr__(self) -> str:
        progress = self.progress
        best = f"best: step {progress.best_step}: {in_words(progress.best_evaluation)}"
        title = f"{type(self).__name__} of {type(self.model).__name__}: step {self.step} of {self.progress.total_steps}"
        return titled(title, best if progress.best_evaluation else "")

    def train(self, *, changed_data: bool = False, overwrite: bool = False) -> dict[str, float]:
        """Train to the last step, or until patience ends; return the evaluation of the model in model/.

        changed_data: continue a run even if its files, vocabulary, labels, configuration or npbert itself differ.
        Earlier measurements no longer count. overwrite: replace the run in the folder.

        Raises: KeyboardInterrupt, after saving the state, for Ctrl-C, SIGTERM, or a closed terminal or pipe;
        NotFiniteError with the step and the first wrong layer if the loss, a gradient or a parameter is not finite;
        ValueError for data without a batch, or an evaluation without the goal's number; FileError for a folder of
        another run or process, a damaged state, or other data; OSError, as for a full disk: the last saved state stays
        whole.
        """
        no_warning = np.errstate(all="ignore")  # the results of an overflow are errors
        with no_warning, session(self, changed_data=changed_data, overwrite=overwrite) as asked:
            batches = self.progress.batches(self.data)
            while not self.is_finished:
                step = self._update(next(batches))
                self._judge(step)
                stops = any(self.communicator.gather(bool(asked)))
                step.is_saved = self.is_finished or stops or step.number % self.settings.save_every == 0
                for watcher in self.watchers:
                    watcher(step)
                if step.is_saved:
                    self.save()
                if stops and not self.is_finished:  # all processes, as the others would wait for one
                    where = f"step {step.number} of {self.progress.total_steps}, saved in {self.folder}"
                    again = "start the same run again (on the command line: with --resume)"
                    raise KeyboardInterrupt(f"stopped at {where}; to continue, {again}")
        return self.progress.best_evaluation

    def _update(self, batch: Batch) -> Step:
        """Make a step: forward, backward and the optimizer. A logged one has the losses since the last, averaged."""
        check_same_batch(self.communicator, batch)
        start, settings, progress, number = time.perf_counter(), self.settings, self.progress, self.step + 1
        seed = [progress.seed, self.step]
        self.shares.zero_grad()
        losses, sums = gradients_of(self.model, batch, seed, self.shares, parts=settings.parts)
        norm = self.shares.add_up(sums)
        step = Step(number, is_logged=number % settings.log_every == 0 or number == progress.total_steps)
        if not math.isfinite(losses.total + norm):
            step.row = {"loss": losses.total, "gradient_norm": norm}
            self._fail(step, batch, seed)
        progress.losses.append(losses)
        if step.is_logged:
            self.shares.spread("grad")
            means = mean_over_targets(progress.losses).by_name(self.evaluation.kinds)
            of_step = {"learning_rate": self.learning_rate, "gradient_norm": norm}
            step.row, progress.losses = {**means, "epoch": progress.epoch, **of_step}, []
        with layer_statistics(self.model, step):
            self.optimizer.lr = self.learning_rate
            self.optimizer.step(clip_factor(norm, settings.max_grad_norm))
            self.shares.spread("value")
            step.tokens_per_second = int(batch.attention_mask.sum()) / (time.perf_counter() - start)
        return step

    def _fail(self, step: Step, batch: Batch, seed: Sequence[int]) -> None:
        """Raise NotFiniteError, on all processes, for a parameter, or for the loss or a gradient, with the first wrong
        layer."""
        for watcher in self.watchers:
            watcher(step)  # to show the end in the curves
        check_parameters(self.model, self.step)
        layers = layers_not_finite(self.model, parts_of(self.model, batch, self.settings.parts), seed)
        self.shares.spread("grad")
        wrong = [name for name, each in self.model.named_parameters() if not np.isfinite(each.grad).all()]
        found = "all values and gradients are finite, but their sum is not"
        if layers:
            found = f"the first values that are not finite come from {layers[0]}"
        elif wrong:  # the last, as it is nearest to the loss
            found = f"all values are finite, but the gradient of {wrong[-1]} is not"
        numbers = f"the loss is {step.row['loss']} and the norm of the gradient {step.row['gradient_norm']}"
        raise NotFiniteError(f"step {step.number}: {numbers}; {found}; try a smaller learning rate")

    def _judge(self, step: Step) -> None:
        """Evaluate the model, if it is time to; save it if it is the best so far.

        Several processes evaluate together, and use the numbers of process 0. Raises: ValueError if the evaluation
        lacks the goal's number.
        """
        progress, evaluation = self.progress, self.evaluation
        if step.number != progress.total_steps and step.number % self.evaluate_every:
            return
        check_parameters(self.model, step.number)
        numbers = {name: float(number) for name, number in evaluation.evaluate().items()}
        step.evaluation = self.communicator.gather(numbers)[0]
        step.row |= {f"eval_{name}": number for name, number in step.evaluation.items()}
        progress.evaluations_since_best += 1
        if evaluation.is_better(step.evaluation, progress.best_evaluation):
            progress.best_step, progress.best_evaluation = step.number, step.evaluation
            progress.evaluations_since_best = 0
            if self.communicator.is_first:
                self.save_model(self.folder / MODEL_FOLDER)
        step.shown = {**evaluation.show(), "best_step": progress.best_step}


@contextmanager
def layer_statistics(model: Layer, step: Step) -> Iterator[None]:
    """Within it, a step updates the model. A logged step gets `layers`: by layer, the norm of the gradient, ‖g‖, and of
    the update relative to the values, ‖Δw‖ / ‖w‖.

    The second is an estimate, from at most 4,096 evenly spaced values of each parameter. It is not finite if all are 0.
    """
    layers = parameters_by_layer(model) if step.is_logged else {}
    before, norms, ratios = {name: _sample(layer.values()) for name, layer in layers.items()}, {}, {}
    yield
    for name, layer in layers.items():
        norms[name] = global_norm(layer.values())
        ratios[name] = float(np.linalg.norm(_sample(layer.values()) - before[name]) / np.linalg.norm(before[name]))
    if layers:
        step.layers = {"gradient_norms": norms, "update_ratios": ratios}


def _sample(parameters: Iterable[Parameter]) -> Array:
    """Return every n-th value of each parameter, times √n."""
    samples = []
    for parameter in parameters:
        flat = parameter.value.reshape(-1)
        every = -(-len(flat) // _SAMPLE) | 1  # odd, to visit all columns
        sample = flat[::every].astype(float)
        samples.append(sample * np.sqrt(flat.size / len(sample)))
    return np.concatenate(samples)


def layers_not_finite(model: TaskModel, parts: Iterable[AnyBatch], seed: Sequence[int] | None) -> list[str]:
    """Return the names of the layers with a value that is not finite, in the order of their calls.

    seed: of the dropout, as in `gradients_of`.
    """
    names = {id(part): name or "model" for name, part in named_parts(model)}
    found: list[str] = []

    def look(layer: object, _: object, output: object) -> None:
        outputs = output if isinstance(output, tuple) else (output,)
        numbers = [each for each in outputs if isinstance(each, np.ndarray | np.floating | float)]
        if id(layer) in names and not all(np.isfinite(each).all() for each in numbers):
            found.append(names[id(layer)])

    for number, batch in enumerate(parts):
        model.loss(batch, Tape(part_rng(seed, number), watcher=look))
    return found


class TrainingRun(Evaluation):
    """A run: the evaluation of its model, a summary of its text, model and length, and the Trainer that makes it."""

    trainer: Trainer

    @property
    def when(self) -> str:
        """Return the steps of the evaluations in words."""
        every = self.trainer.evaluate_every
        return f"every {counted(every, 'step')}" if every < self.trainer.progress.total_steps else "at the end"

    def summary(self) -> str:
        """Return a few lines about the run."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return titled(type(self).__name__, self.summary(), repr(self.trainer))
