"""The log of a run: files of rows, event files for TensorBoard, and a progress bar."""

from __future__ import annotations

import os
import socket
import sys
import time
import warnings
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.io.extras import import_extra
from npbert.io.files import naming
from npbert.io.json_lines import LAYERS_FILE, METRICS_FILE, SHOWN_FILE, JsonLines
from npbert.io.messages import LOGGER, is_quiet
from npbert.training.progress import Step, Watcher

EVENTS_FOLDER = "tensorboard"
_BINS, _RED_GREEN_BLUE_ALPHA = 30, 4
_LINES = 20
_NO_BREAK = "\u00a0"


class Log(Watcher):
    """The numbers of a run by step, in `folder`:

        metrics.jsonl   losses, metrics, learning rate …        layers.jsonl   of each layer: gradient and update
        shown.jsonl     what the model says of some examples    tensorboard/   scalars, histograms and images

    These are its attributes `metrics`, `layers`, `shown` and `events`. A file of rows is created with its first row. A
    resumed run has the same rows: numbers that depend on the clock go only to TensorBoard.

    after_step: rows of later steps, from a run that was killed after its last saved state, are dropped.
    every: the steps between rows. (Extra: train.)

    Warns: if there are rows but no state, or rows are missing before it.
    """

    def __init__(self, folder: Path, *, after_step: int, every: int = 1) -> None:
        self.metrics, self.layers, self.shown = (
            JsonLines(folder / name, after_step=after_step) for name in (METRICS_FILE, LAYERS_FILE, SHOWN_FILE)
        )
        path, reached = self.metrics.path, self.metrics.reached
        if reached and not after_step:
            warnings.warn(f"{path} has steps up to {reached}, but no state was saved: it starts again", stacklevel=4)
        elif reached < after_step // every * every:
            warnings.warn(f"{path} ends at step {reached}, but the state is of step {after_step}", stacklevel=4)
        self.events = EventFile(folder / EVENTS_FOLDER, first_step=after_step + 1)

    def write(self, step: int, numbers: dict[str, float], **timed: float) -> None:
        """Add a row of metrics: `numbers` to both, and numbers that depend on the clock only to TensorBoard."""
        self.metrics.write(step, numbers)
        self.events.scalars(step, {**numbers, **timed})

    def before_update(self, step: Step) -> None:
        """Add a row for a step that stops the run, to show its end in the curves."""
        if not step.is_finite:
            self.metrics.write(step.number, {"loss": step.losses.total, "gradient_norm": step.gradient_norm})

    def after(self, step: Step) -> None:
        if step.row:
            self.write(step.number, step.row, tokens_per_second=step.tokens_per_second)
        if step.evaluation:
            self.write(step.number, {f"eval_{name}": value for name, value in step.evaluation.items()})
        if step.shown:
            self.shown.write(step.number, step.shown)

    def before_save(self) -> None:
        for rows in (self.metrics, self.layers, self.shown):
            rows.sync()

    def __enter__(self) -> Log:
        return self

    def __exit__(self, *_: object) -> None:
        self.events.close()


def short(number: float) -> float:
    """Return the number with four digits, for rows of many numbers."""
    return float(f"{number:.4g}")


class EventFile:
    """A new event file in `folder`. TensorBoard ignores older files from `first_step` on.

    Each event is a protocol buffer in TensorFlow's record format, written at once. (TensorBoard's writer uses a thread,
    whose errors are lost.) Extra: train. Raises: OSError with the file.
    """

    def __init__(self, folder: Path, *, first_step: int) -> None:
        self._events = import_extra("tensorboard.compat.proto.event_pb2", extra="train")
        self._summaries = import_extra("tensorboard.compat.proto.summary_pb2", extra="train")
        records = import_extra("tensorboard.summary.writer.record_writer", extra="train")
        folder.mkdir(exist_ok=True)
        seconds, rest = divmod(time.time_ns(), 10**9)  # TensorBoard reads files in the order of their names
        self._path = folder / f"events.out.tfevents.{seconds:010d}.{rest:09d}.{socket.gethostname()}.{os.getpid()}"
        self._file = self._path.open("xb")
        self._records = records.RecordWriter(self._file)
        log = self._events.SessionLog
        self._add(0, file_version="brain.Event:2")
        self._add(first_step, session_log=log(status=log.START))

    def scalars(self, step: int, numbers: dict[str, float]) -> None:
        """Add numbers by name."""
        self._summary(step, [{"tag": name, "simple_value": value} for name, value in numbers.items()])

    def histograms(self, step: int, samples: dict[str, Array]) -> None:
        """Add a histogram of each sample."""
        values = []
        for name, sample in samples.items():
            counts, edges = np.histogram(sample, _BINS, _ends(sample))
            bounds = {"min": sample.min(), "max": sample.max(), "bucket_limit": edges[1:], "bucket": counts}
            sums = {"num": len(sample), "sum": sample.sum(), "sum_squares": sample @ sample}
            values.append({"tag": name, "histo": self._summaries.HistogramProto(**bounds, **sums)})
        self._summary(step, values)

    def images(self, step: int, pictures: dict[str, bytes]) -> None:
        """Add pictures by name, each a PNG file."""
        values = []
        for name, png in pictures.items():
            width, height = (int.from_bytes(png[start : start + 4], "big") for start in (16, 20))  # as in PNG
            how = {"width": width, "height": height, "colorspace": _RED_GREEN_BLUE_ALPHA}
            values.append({"tag": name, "image": self._summaries.Summary.Image(encoded_image_string=png, **how)})
        self._summary(step, values)

    def close(self) -> None:
        """End the file."""
        with naming(self._path):
            self._file.close()

    def _summary(self, step: int, values: list[dict[str, Any]]) -> None:
        if values:
            summary = self._summaries.Summary(value=[self._summaries.Summary.Value(**value) for value in values])
            self._add(step, summary=summary)

    def _add(self, step: int, **content: Any) -> None:
        event = self._events.Event(wall_time=time.time(), step=step, **content)
        with naming(self._path):
            self._records.write(event.SerializeToString())
            self._records.flush()


def _ends(sample: Array) -> tuple[float, float]:
    """Return the least and the largest number, widened if 30 bins between them would be empty."""
    low, high = float(sample.min()), float(sample.max())
    largest = max(abs(low), abs(high), 1e-200)
    room = 0.0 if high - low > 1e-9 * largest else max(0.5, 1e-6 * largest)
    return low - room, high + room


class Bar(Watcher):
    """The progress of a run of `total` steps: a bar on a terminal; otherwise, as in a file, about 20 lines in all; and
    nothing if npbert is quiet.

    done: the number of earlier steps. (Extra: train.)
    """

    def __init__(self, total: int, *, done: int) -> None:
        tqdm = import_extra("tqdm", extra="train").tqdm
        form = "{n_fmt}/{total_fmt} |{bar}| {remaining} left{postfix}"
        self._bar = tqdm(total=total, initial=done, disable=is_quiet() or None, dynamic_ncols=True, bar_format=form)
        self._total, self._done, self._before, self._lines = total, done, done, -1
        self._start = time.perf_counter()
        self.is_closed = False

    def after(self, step: Step) -> None:
        self.update()
        if step.row:
            self.show(step.row, step.tokens_per_second)
        if step.evaluation:
            self.say(held_out_line(step.number, step.evaluation))

    def update(self) -> None:
        """Count a step."""
        self._done += 1
        self._bar.update(1)

    def show(self, numbers: dict[str, float], tokens_per_second: float) -> None:
        """Show the loss, the accuracies and the speed of the last steps."""
        shares = {name.removesuffix("_accuracy"): value for name, value in numbers.items() if "accuracy" in name}
        parts = [f"{name} {value:.0%}" for name, value in shares.items()]
        line = ", ".join([f"loss {numbers['loss']:.3f}", *parts, f"{tokens_per_second:,.0f} tok/s"])
        self._bar.set_postfix_str(line)
        lines = _LINES * self._done // self._total
        if self._bar.disable and lines > self._lines:
            self._lines = lines
            left = (time.perf_counter() - self._start) / (self._done - self._before) * (self._total - self._done)
            self.say(f"step {self._done} of {self._total}: {line}, {self._bar.format_interval(left)} left")

    def say(self, line: str) -> None:
        """Print a line above the bar. If standard output is closed, as after `head` or a lost terminal, set
        `is_closed`."""
        if is_quiet() or self.is_closed:
            return
        try:
            self._bar.write(line)
            sys.stdout.flush()
        except OSError as error:
            self.is_closed = True
            LOGGER.warning("standard output is closed (%s): the run stops", error.strerror)

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()


def held_out_line(step: int, numbers: dict[str, float]) -> str:
    """Return the numbers of an evaluation in a line, or in several of at most 79 characters."""
    parts = [f"{name.replace('_', ' ')} {value:.3g}".replace(" ", _NO_BREAK) for name, value in numbers.items()]
    line = fill(f"step {step}: held out: {', '.join(parts)}", 79, subsequent_indent=" " * 4)
    return line.replace(_NO_BREAK, " ")
