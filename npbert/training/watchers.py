"""The events of a run, its steps with their evaluations; and the watchers of them: files of rows, event files for
TensorBoard, and what a person sees."""

import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import fill
from typing import Any, Protocol

from npbert.data import Batch
from npbert.data.batch import START, Position
from npbert.io import (
    LAYERS_FILE,
    LOGGER,
    METRICS_FILE,
    SHOWN_FILE,
    append_row,
    drop_rows,
    import_extra,
    is_quiet,
    naming,
    one_of,
)

EVENTS_FOLDER = "tensorboard"
_LINES = 20


class Data(Protocol):
    """Data for a Trainer: PretrainingData, TaskData, or any class with these batches."""

    def batches(self, epoch_seed: int, place: Position = START) -> Iterator[tuple[Position, Batch]]:
        """Yield the batches of an epoch from `place` on, each with its place; the same for the same seed."""


@dataclass
class Step:
    """A step, with its number, from 1 on.

    is_logged, is_saved: what follows the step. tokens_per_second: without padding. row: its numbers for metrics.jsonl,
    the means since the last row, and the results of an evaluation as eval_…. layers: numbers of each layer.
    evaluation, shown: the results of an evaluation.
    """

    number: int
    is_logged: bool
    is_saved: bool = False
    tokens_per_second: float = 0.0
    row: dict[str, float] = field(default_factory=dict)
    layers: dict[str, object] = field(default_factory=dict)
    evaluation: dict[str, float] = field(default_factory=dict)
    shown: dict[str, object] = field(default_factory=dict)


@dataclass
class Evaluation:
    """The evaluation of a Trainer's model, after some of its steps and after the last.

    evaluate: returns the metrics on a held-out set by name, or nothing.
    goal: the metric that chooses the best model; of a loss, less is better, of all others more; "": the last model is
    the best.
    show: called after `evaluate`; returns predictions for a few examples, as a row for shown.jsonl.
    cost: its time, in forward passes of a batch; a longer evaluation runs less often.
    kinds: a name for each loss of the model, such as ("mlm", "nsp").
    inputs: the inputs of the run by name, a path or a text. A resumed run, and each of several processes, must have the
    same.
    """

    evaluate: Callable[[], dict[str, float]] = dict
    goal: str = ""
    show: Callable[[], dict[str, object]] = dict
    cost: float = 0.0
    kinds: tuple[str, ...] = ("",)
    inputs: Mapping[str, Path | str] = field(default_factory=dict)

    def is_better(self, numbers: Mapping[str, float], best: Mapping[str, float]) -> bool:
        """True if a model with these numbers is better than the best so far, or there are no numbers, or no goal.

        Raises: InputError if the goal's metric is missing.
        """
        return not (numbers and self.goal) or self._rank(numbers) > self._rank(best)

    def _rank(self, numbers: Mapping[str, float]) -> tuple[float, ...]:
        """Return a rank for the numbers of an evaluation, larger for a better model, and least for none.

        NaN, as a correlation may be, is worse than any number. Of equal ones, the one with the smaller loss is best.
        """
        if not numbers:
            return ()
        one_of(numbers).check("metric", self.goal)
        value = -numbers[self.goal] if self.goal.endswith("loss") else numbers[self.goal]
        return -math.inf if math.isnan(value) else value, -numbers.get("loss", 0.0)


Watcher = Callable[[Step], None]
"""It writes, draws or shows a step, and does not change the model."""


def log(folder: Path, *, after_step: int) -> Watcher:
    """Return a watcher that writes the numbers of a run by step, in `folder`:

        metrics.jsonl   losses, metrics, learning rate …
        layers.jsonl    of each layer, its gradient and its update
        shown.jsonl     what the model says of some examples

    A resumed run has the same rows: numbers that depend on the clock go only to TensorBoard.

    after_step: rows of later steps, from a run that was killed after its last saved state, are dropped.
    """
    paths = [folder / name for name in (METRICS_FILE, LAYERS_FILE, SHOWN_FILE)]
    for path in paths:
        drop_rows(path, after_step=after_step)

    def watch(step: Step) -> None:
        rows: Any = step.row, step.layers, step.shown
        for path, row in zip(paths, rows, strict=True):
            if row or step.is_saved:
                append_row(path, step.number, row, sync=step.is_saved)

    return watch


def tensorboard(folder: Path, *, first_step: int) -> Watcher:
    """Return a watcher that writes the same numbers, and the speed, to a new event file in `folder`.

    TensorBoard ignores older files from `first_step` on.

    Each event is a protocol buffer in TensorFlow's record format, written at once. (TensorBoard's writer uses a thread,
    whose errors are lost.) Extra: train. Raises: OSError with the file.
    """
    events = import_extra("tensorboard.compat.proto.event_pb2")
    records = import_extra("tensorboard.summary.writer.record_writer")
    folder.mkdir(exist_ok=True)
    path = folder / f"events.out.tfevents.{time.time_ns()}"  # it reads files in the order of their names

    def add(step: int, **content: Any) -> None:
        event = events.Event(wall_time=time.time(), step=step, **content)
        with naming(path), path.open("ab") as file:
            records.RecordWriter(file).write(event.SerializeToString())

    def watch(step: Step) -> None:
        if step.row:
            numbers = {**step.row, "tokens_per_second": step.tokens_per_second}
            values = [{"tag": name, "simple_value": value} for name, value in numbers.items()]
            add(step.number, summary={"value": values})

    add(0, file_version="brain.Event:2")
    add(first_step, session_log={"status": events.SessionLog.START})
    return watch


@contextmanager
def progress_bar(total: int, *, done: int, asked: list[object], news: str = "") -> Iterator[Watcher]:
    """Give a watcher that shows the progress of a run of `total` steps: a bar on a terminal; in a file or a notebook,
    about 20 lines in all; and nothing if npbert is quiet.

    done: the number of earlier steps. asked: what asks the run to stop, as the watcher does when its output is closed,
    after `head` or a lost terminal. news: the first line. (Extra: train.)
    """
    start, lines = time.perf_counter(), -1
    form = "{n_fmt}/{total_fmt} |{bar}| {remaining} left{postfix}"
    tqdm = import_extra("tqdm").tqdm

    def say(line: str) -> None:
        if is_quiet() or say in asked:
            return
        try:
            bar.write(line)  # above the bar
            sys.stdout.flush()
        except OSError as error:
            asked.append(say)
            LOGGER.warning("standard output is closed (%s): the run stops", error.strerror)

    def watch(step: Step) -> None:
        nonlocal lines
        bar.update(1)
        if "loss" in step.row:
            names = [name for name in step.row if name.endswith("accuracy") and not name.startswith("eval_")]
            right = [f"{name.removesuffix('_accuracy')} {step.row[name]:.0%}" for name in names]
            line = ", ".join([f"loss {step.row['loss']:.3f}", *right, f"{step.tokens_per_second:,.0f} tok/s"])
            bar.set_postfix_str(line)
            before, lines = lines, _LINES * step.number // total
            if bar.disable and lines > before:
                for_one = (time.perf_counter() - start) / (step.number - done)  # by this process alone
                left = bar.format_interval(for_one * (total - step.number))
                say(f"step {step.number} of {total}: {line}, {left} left")
        if step.evaluation:
            line = f"step {step.number}: held out: {in_words(step.evaluation)}"
            say(fill(line, 79, subsequent_indent=" " * 4))

    with tqdm(total=total, initial=done, disable=is_quiet() or None, dynamic_ncols=True, bar_format=form) as bar:
        if news:
            say(news)
        yield watch


def in_words(numbers: dict[str, float]) -> str:
    """Return numbers with their names."""
    return ", ".join(f"{name.replace('_', ' ')} {value:.3g}" for name, value in numbers.items())
