"""The watchers of a run: files of rows, event files for TensorBoard, and what a person sees."""

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import Layer, Parameter
from npbert.io import (
    LAYERS_FILE,
    LOGGER,
    METRICS_FILE,
    SHOWN_FILE,
    JsonLines,
    import_extra,
    is_quiet,
    naming,
)
from npbert.models import parameters_by_layer
from npbert.optim import global_norm
from npbert.training.progress import Step

EVENTS_FOLDER = "tensorboard"
_SAMPLE, _LINES = 4096, 20


class Log:
    """The numbers of a run by step, in `folder`:

        metrics.jsonl   losses, metrics, learning rate …
        layers.jsonl    of each layer, its gradient and its update
        shown.jsonl     what the model says of some examples

    A file is created with its first row. The numbers of the last two have six digits. A resumed run has the same rows:
    numbers that depend on the clock go only to TensorBoard.

    after_step: rows of later steps, from a run that was killed after its last saved state, are dropped.
    """

    def __init__(self, folder: Path, *, after_step: int) -> None:
        digits = {METRICS_FILE: 17, LAYERS_FILE: 6, SHOWN_FILE: 6}
        self._files = [JsonLines(folder / name, after_step=after_step, digits=digits[name]) for name in digits]

    def after(self, step: Step) -> None:
        rows_of: list[list[dict[str, Any]]] = [[step.row, step.judged], [step.layers], [step.shown]]
        for file, rows in zip(self._files, rows_of, strict=True):
            for row in filter(None, rows):
                file.write(step.number, row)
            if step.is_saved:
                file.sync()


class TensorBoard:
    """Writes the same numbers, and the speed, to a new event file in `folder`. TensorBoard ignores older files from
    `first_step` on.

    Each event is a protocol buffer in TensorFlow's record format, written at once. (TensorBoard's writer uses a thread,
    whose errors are lost.) Extra: train. Raises: OSError with the file.
    """

    def __init__(self, folder: Path, *, first_step: int) -> None:
        self._events = import_extra("tensorboard.compat.proto.event_pb2")
        self._records = import_extra("tensorboard.summary.writer.record_writer")
        folder.mkdir(exist_ok=True)
        self._path = folder / f"events.out.tfevents.{time.time_ns()}"  # it reads files in the order of their names
        self._add(0, file_version="brain.Event:2")
        self._add(first_step, session_log={"status": self._events.SessionLog.START})

    def after(self, step: Step) -> None:
        speed = {"tokens_per_second": step.tokens_per_second} if step.row else {}
        numbers = {**step.row, **speed, **step.judged}
        if numbers:
            values = [{"tag": name, "simple_value": value} for name, value in numbers.items()]
            self._add(step.number, summary={"value": values})

    def _add(self, step: int, **content: Any) -> None:
        event = self._events.Event(wall_time=time.time(), step=step, **content)
        with naming(self._path), self._path.open("ab") as file:
            self._records.RecordWriter(file).write(event.SerializeToString())


class Bar:
    """The progress of a run of `total` steps: a bar on a terminal; in a file or a notebook, about 20 lines in
    all; and nothing if npbert is quiet.

    done: the number of earlier steps. asked: what asks the run to stop, as the bar does when its output is closed,
    after `head` or a lost terminal. (Extra: train.)
    """

    def __init__(self, total: int, *, done: int, asked: list[object]) -> None:
        tqdm = import_extra("tqdm").tqdm
        form = "{n_fmt}/{total_fmt} |{bar}| {remaining} left{postfix}"
        self._bar = tqdm(total=total, initial=done, disable=is_quiet() or None, dynamic_ncols=True, bar_format=form)
        self._total, self._done, self._lines, self._start = total, done, -1, time.perf_counter()
        self._asked = asked

    def after(self, step: Step) -> None:
        self._bar.update(1)
        if step.row:
            numbers = [f"loss {step.row['loss']:.3f}"]
            for name, value in step.row.items():
                if "accuracy" in name:
                    numbers.append(f"{name.removesuffix('_accuracy')} {value:.0%}")
            line = ", ".join([*numbers, f"{step.tokens_per_second:,.0f} tok/s"])
            self._bar.set_postfix_str(line)
            lines = _LINES * step.number // self._total
            if self._bar.disable and lines > self._lines:
                self._lines = lines
                for_one = (time.perf_counter() - self._start) / (step.number - self._done)  # by this process alone
                left = self._bar.format_interval(for_one * (self._total - step.number))
                self.say(f"step {step.number} of {self._total}: {line}, {left} left")
        if step.evaluation:
            line = f"step {step.number}: held out: {in_words(step.evaluation)}"
            self.say(fill(line, 79, subsequent_indent=" " * 4))

    def say(self, line: str) -> None:
        """Print a line above the bar."""
        if is_quiet() or self in self._asked:
            return
        try:
            self._bar.write(line)
            sys.stdout.flush()
        except OSError as error:
            self._asked.append(self)
            LOGGER.warning("standard output is closed (%s): the run stops", error.strerror)

    def close(self) -> None:
        """End the line of the bar."""
        self._bar.close()


@contextmanager
def layer_statistics(model: Layer, step: Step) -> Iterator[None]:
    """Within it, a step updates the model. A logged step gets `layers`: by layer, the norm of the gradient, ‖g‖, and of
    the update relative to the values, ‖Δw‖ / ‖w‖.

    The second is an estimate, from at most 4,096 evenly spaced values of each parameter. It is not finite if all are 0.
    """
    layers = parameters_by_layer(model) if step.is_logged else {}
    before, norms, ratios = _samples(layers), {}, {}
    yield
    for name, after in _samples(layers).items():
        norms[name] = global_norm(layers[name].values())
        ratios[name] = float(np.linalg.norm(after - before[name]) / np.linalg.norm(before[name]))
    step.layers = {"gradient_norms": norms, "update_ratios": ratios} if layers else {}


def _samples(layers: Mapping[str, Mapping[str, Parameter]]) -> dict[str, Array]:
    """Return every n-th value of each parameter, times √n, by layer."""
    found = {}
    for name, parameters in layers.items():
        samples = []
        for parameter in parameters.values():
            flat = parameter.value.reshape(-1)
            every = -(-len(flat) // _SAMPLE) | 1  # odd, to visit all columns
            sample = flat[::every].astype(float)
            samples.append(sample * np.sqrt(flat.size / len(sample)))
        found[name] = np.concatenate(samples)
    return found


def in_words(numbers: dict[str, float]) -> str:
    """Return numbers with their names."""
    return ", ".join(f"{name.replace('_', ' ')} {value:.3g}" for name, value in numbers.items())
