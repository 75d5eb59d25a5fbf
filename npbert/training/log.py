"""The log of a run: files of rows, and event files for TensorBoard."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.io.extras import import_extra
from npbert.io.files import naming
from npbert.io.json_lines import LAYERS_FILE, METRICS_FILE, SHOWN_FILE, JsonLines
from npbert.training.progress import Step, Watcher

EVENTS_FOLDER = "tensorboard"
_BINS = 30


class Log(Watcher):
    """The numbers of a run by step, in `folder`:

        metrics.jsonl   losses, metrics, learning rate …        layers.jsonl   of each layer: gradient and update
        shown.jsonl     what the model says of some examples    tensorboard/   scalars and histograms

    These are its attributes `metrics`, `layers`, `shown` and `events`. A file of rows is created with its first row. A
    resumed run has the same rows: numbers that depend on the clock go only to TensorBoard.

    after_step: rows of later steps, from a run that was killed after its last saved state, are dropped. (Extra: train.)
    """

    def __init__(self, folder: Path, *, after_step: int) -> None:
        self.metrics, self.layers, self.shown = (
            JsonLines(folder / name, after_step=after_step) for name in (METRICS_FILE, LAYERS_FILE, SHOWN_FILE)
        )
        self.events = EventFile(folder / EVENTS_FOLDER, first_step=after_step + 1)

    def before_update(self, step: Step) -> None:
        """Add a row for a step that stops the run, to show its end in the curves."""
        if not step.is_finite:
            self.metrics.write(step.number, {"loss": step.losses.total, "gradient_norm": step.gradient_norm})

    def after(self, step: Step) -> None:
        if step.row:
            self.metrics.write(step.number, step.row)
            self.events.scalars(step.number, {**step.row, "tokens_per_second": step.tokens_per_second})
        if step.evaluation:
            numbers = {f"eval_{name}": value for name, value in step.evaluation.items()}
            self.metrics.write(step.number, numbers)
            self.events.scalars(step.number, numbers)
        if step.shown:
            self.shown.write(step.number, step.shown)
        if step.is_saved:
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
        records = import_extra("tensorboard.summary.writer.record_writer", extra="train")
        folder.mkdir(exist_ok=True)
        seconds, rest = divmod(time.time_ns(), 10**9)  # TensorBoard reads files in the order of their names
        self._path = folder / f"events.out.tfevents.{seconds:010d}.{rest:09d}.{socket.gethostname()}.{os.getpid()}"
        self._file = self._path.open("xb")
        self._records = records.RecordWriter(self._file)
        self._add(0, file_version="brain.Event:2")
        self._add(first_step, session_log={"status": self._events.SessionLog.START})

    def scalars(self, step: int, numbers: dict[str, float]) -> None:
        """Add numbers by name."""
        self._add_summary(step, [{"tag": name, "simple_value": value} for name, value in numbers.items()])

    def histograms(self, step: int, samples: dict[str, Array]) -> None:
        """Add a histogram of each sample."""
        values = []
        for name, sample in samples.items():
            low, high = float(sample.min()), float(sample.max())
            room = 1e-6 * max(abs(low), abs(high)) + 1e-200  # so that 30 bins between close numbers have a width
            counts, edges = np.histogram(sample, _BINS, (low - room, high + room))
            sums = {"min": low, "max": high, "num": len(sample), "sum": sample.sum(), "sum_squares": sample @ sample}
            values.append({"tag": name, "histo": {**sums, "bucket_limit": edges[1:], "bucket": counts}})
        self._add_summary(step, values)

    def close(self) -> None:
        """End the file."""
        with naming(self._path):
            self._file.close()

    def _add_summary(self, step: int, values: list[dict[str, Any]]) -> None:
        self._add(step, summary={"value": values})

    def _add(self, step: int, **content: Any) -> None:
        event = self._events.Event(wall_time=time.time(), step=step, **content)
        with naming(self._path):
            self._records.write(event.SerializeToString())
            self._records.flush()
